"""Trees of a weighted context-free grammar."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dovetail.rooms import modules_of
from dovetail.structures.grammar.batch import GrammarBatch, ParseChart
from dovetail.structures.grammar.parts import (
    Derivation,
    Grammar,
    GrammarPotentials,
    Mask,
    Rules,
    cell_count,
    cells,
    check_size,
)
from dovetail.structures.grammar.search import BestChart, follow, viterbi
from dovetail.structures.grammar.sums import InsideChart, cell

__all__ = [
    "BestChart",
    "Derivation",
    "Grammar",
    "GrammarBatch",
    "GrammarPotentials",
    "InsideChart",
    "Mask",
    "ParseChart",
    "Rules",
    "cell",
    "cell_count",
    "cells",
    "check_size",
    "follow",
    "viterbi",
]

if not TYPE_CHECKING:
    __getattr__ = modules_of(__name__)
