"""Segmentations: stretches of tokens, each with a label."""

from dovetail.rooms import open_room
from dovetail.structures.semimarkov.batch import SemiMarkov, SemiMarkovBatch
from dovetail.structures.semimarkov.parts import Segments, SemiMarkovPotentials

__all__ = ["Segments", "SemiMarkov", "SemiMarkovBatch", "SemiMarkovPotentials"]

open_room(__name__)
