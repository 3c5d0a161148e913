"""Trees of a weighted context-free grammar."""

from dovetail.rooms import open_room
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

open_room(__name__)
