"""Segmentations: stretches of tokens, each with a label."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dovetail.rooms import modules_of
from dovetail.structures.semimarkov.single import Segments, SemiMarkov, SemiMarkovBatch, SemiMarkovPotentials

__all__ = ["Segments", "SemiMarkov", "SemiMarkovBatch", "SemiMarkovPotentials"]

if not TYPE_CHECKING:
    __getattr__ = modules_of(__name__)
