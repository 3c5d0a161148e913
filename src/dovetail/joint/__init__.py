"""Structures coupled by factors over their parts: one graph, several engines.

>>> import numpy as np
>>> from dovetail.structures.chain import ChainBatch, ChainPotentials
>>> graph = Graph()
>>> words = graph.add(ChainBatch(ChainPotentials.of([[0.0, 1.0], [0.5, 0.0]], np.zeros((2, 2))), [0, 1, 2]))
>>> both = words.tokens([0, 1], [0, 0])
>>> graph.couple(same_label(2, penalty=-2.0), both[:1], both[1:])
>>> result = graph.solve("dual")
>>> result.values(both), round(result.score, 2), result.exact
(array([1, 1]), 1.0, True)
"""

from dovetail.joint.factors import (
    AtMostOne,
    Factor,
    Table,
    at_most_one,
    equals,
    exactly_one,
    implies,
    not_both,
    penalties,
    same_label,
    scored_by,
)
from dovetail.joint.graph import Graph, Node, Variables
from dovetail.joint.many import marginals_all, solve_all
from dovetail.joint.result import Beliefs, Result

__all__ = [
    "AtMostOne",
    "Beliefs",
    "Factor",
    "Graph",
    "Node",
    "Result",
    "Table",
    "Variables",
    "at_most_one",
    "equals",
    "exactly_one",
    "implies",
    "marginals_all",
    "not_both",
    "penalties",
    "same_label",
    "scored_by",
    "solve_all",
]
