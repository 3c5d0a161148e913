"""Segments within segments."""

from dovetail.rooms import open_room
from dovetail.structures.nested.batch import LONGEST, NestedBatch
from dovetail.structures.nested.grammar import nested_chart, segments_in
from dovetail.structures.nested.parts import TABLES, NestedPotentials, NestedSegments

__all__ = [
    "LONGEST",
    "TABLES",
    "NestedBatch",
    "NestedPotentials",
    "NestedSegments",
    "nested_chart",
    "segments_in",
]

open_room(__name__)
