"""Projective dependency trees."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dovetail.rooms import modules_of
from dovetail.structures.projective.batch import Projective, ProjectiveBatch
from dovetail.structures.projective.parts import Places, ProjectivePotentials

__all__ = ["Places", "Projective", "ProjectiveBatch", "ProjectivePotentials"]

if not TYPE_CHECKING:
    __getattr__ = modules_of(__name__)
