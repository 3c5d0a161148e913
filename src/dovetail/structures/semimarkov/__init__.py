"""Segmentations: stretches of tokens, each with a label."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dovetail.rooms import modules_of
from dovetail.structures.semimarkov.batch import SemiMarkov, SemiMarkovBatch
from dovetail.structures.semimarkov.parts import Segments, SemiMarkovPotentials

__all__ = ["Segments", "SemiMarkov", "SemiMarkovBatch", "SemiMarkovPotentials"]

if not TYPE_CHECKING:
    __getattr__ = modules_of(__name__)
