"""Projective dependency trees."""

from dovetail.rooms import open_room
from dovetail.structures.projective.batch import Projective, ProjectiveBatch
from dovetail.structures.projective.parts import Places, ProjectivePotentials

__all__ = ["Places", "Projective", "ProjectiveBatch", "ProjectivePotentials"]

open_room(__name__)
