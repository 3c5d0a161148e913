"""Segments within segments."""

from dovetail.rooms import open_room
from dovetail.structures.nested.batch import LONGEST, NestedBatch
from dovetail.structures.nested.parts import TABLES, NestedPotentials, NestedSegments

__all__ = ["LONGEST", "TABLES", "NestedBatch", "NestedPotentials", "NestedSegments"]

open_room(__name__)
