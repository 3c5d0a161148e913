"""Trees of a weighted context-free grammar."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dovetail.rooms import modules_of
from dovetail.structures.grammar.single import (
    Derivation,
    Grammar,
    GrammarPotentials,
    ParseChart,
    SpanMarginals,
    cell_count,
    cells,
    count_parts,
    occupied,
    reachable,
    symbol_posteriors,
)

__all__ = [
    "Derivation",
    "Grammar",
    "GrammarPotentials",
    "ParseChart",
    "SpanMarginals",
    "cell_count",
    "cells",
    "count_parts",
    "occupied",
    "reachable",
    "symbol_posteriors",
]

if not TYPE_CHECKING:
    __getattr__ = modules_of(__name__)
