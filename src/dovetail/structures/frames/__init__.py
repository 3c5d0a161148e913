"""Sets of labelled spans that share no word, some labels at most once: the arguments of a predicate."""

from dovetail.rooms import open_room
from dovetail.structures.frames.batch import FrameBatch
from dovetail.structures.frames.parts import FramePotentials

__all__ = ["FrameBatch", "FramePotentials"]

open_room(__name__)
