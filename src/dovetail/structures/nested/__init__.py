"""Segments within segments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dovetail.rooms import modules_of
from dovetail.structures.nested.batch import LONGEST, NestedBatch
from dovetail.structures.nested.parts import TABLES, NestedPotentials, NestedSegments

__all__ = ["LONGEST", "TABLES", "NestedBatch", "NestedPotentials", "NestedSegments"]

if not TYPE_CHECKING:
    __getattr__ = modules_of(__name__)
