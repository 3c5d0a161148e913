"""Trees of a weighted context-free grammar."""

from dovetail.rooms import open_room
from dovetail.structures.grammar.coarse import symbol_posteriors
from dovetail.structures.grammar.parts import Derivation, Grammar, GrammarPotentials, Mask, cell_count, cells
from dovetail.structures.grammar.recall import SpanMarginals
from dovetail.structures.grammar.search import BestChart, follow, viterbi
from dovetail.structures.grammar.single import ParseChart, count_parts, occupied, reachable
from dovetail.structures.grammar.sums import Chart, GrammarWeights, Rules, cell, inside, outside

__all__ = [
    "BestChart",
    "Chart",
    "Derivation",
    "Grammar",
    "GrammarPotentials",
    "GrammarWeights",
    "Mask",
    "ParseChart",
    "Rules",
    "SpanMarginals",
    "cell",
    "cell_count",
    "cells",
    "count_parts",
    "follow",
    "inside",
    "occupied",
    "outside",
    "reachable",
    "symbol_posteriors",
    "viterbi",
]

open_room(__name__)
