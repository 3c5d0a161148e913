"""Structures and factors of one's own in a graph, under every engine."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from dovetail.errors import InputError
from dovetail.joint import Factor, Graph, scored_by
from dovetail.joint.graph import ENGINES
from dovetail.structures.chain import Chain

every_engine = pytest.mark.parametrize("engine", ENGINES)
UNARY = np.random.default_rng(3).normal(size=(5, 3))


class Parity(Factor):
    """The values of two words differ by an even number, or it costs: so much in each factor, if it is told for each."""

    def __init__(self, cost: Any) -> None:
        self.cost = cost

    def sizes(self) -> tuple[int, ...]:
        return (3, 3)

    def scores(self, values: Any) -> Any:
        return np.where((values[:, 0] - values[:, 1]) % 2 == 0, 0.0, -self.cost)


class Each(Parity):
    name = "each has its cost"

    def some(self, which: Any) -> Each:
        return Each(self.cost[which])


def coupled(recipes: dict[str, Any], factor: Factor) -> tuple[Graph, Any]:
    """Two sentences of choices, of 3 and 2 words, in which words 0 and 3 and words 1 and 4 are coupled."""
    graph, choices = Graph(), recipes["choices"]
    node = graph.add(choices.ChoiceBatch(choices.ChoicePotentials(UNARY), np.array([0, 3, 5])))
    words = node.tokens([0, 0, 0, 1, 1], [0, 1, 2, 0, 1])
    graph.couple(factor, words[:2], words[3:])
    return graph, words


def enumerated(costs: tuple[float, float]) -> dict[tuple[int, ...], float]:
    """The score of every labelling."""
    found = {}
    for labels in product(range(3), repeat=5):
        off = [(labels[i] - labels[i + 3]) % 2 * cost for i, cost in enumerate(costs)]
        found[labels] = float(UNARY[np.arange(5), labels].sum()) - sum(off)
    return found


@every_engine
@pytest.mark.parametrize("factor", [Parity(1.5), Each(np.array([0.7, 2.5]))], ids=["one cost", "a cost each"])
def test_both_are_in_the_answer(recipes: dict[str, Any], engine: str, factor: Any) -> None:
    graph, words = coupled(recipes, factor)
    scores = enumerated(tuple(np.broadcast_to(factor.cost, 2)))
    best = max(scores, key=scores.__getitem__)
    found = graph.solve(engine)
    assert tuple(found.values(words)) == best
    assert np.sum(found.scores) == pytest.approx(scores[best])


@pytest.mark.parametrize("engine", ["bp", "gibbs", "brute"])
def test_both_are_in_the_probabilities(recipes: dict[str, Any], engine: str) -> None:
    graph, words = coupled(recipes, Parity(1.5))
    scores = enumerated((1.5, 1.5))
    labels, weight = np.array([*scores]), np.exp(np.array([*scores.values()]))
    exact = [[weight[labels[:, i] == y].sum() / weight.sum() for y in range(3)] for i in range(5)]
    np.testing.assert_allclose(graph.marginals(engine).of(words), exact, atol=0.05 if engine == "gibbs" else 1e-6)


def test_what_is_no_structure_is_refused_at_once() -> None:
    for wrong in ("hello", [UNARY], Chain(UNARY, np.zeros((3, 3)))):
        with pytest.raises(InputError, match="a node is a batch of structures, such as a ChainBatch, not "):
            Graph().add(wrong)  # type: ignore[arg-type]


def test_what_is_no_factor_is_refused_at_once() -> None:
    graph = Graph()
    one, two = graph.free(np.zeros((2, 3))), graph.free(np.zeros((2, 3)))
    for wrong in ("hello", lambda a, b: 0.0, np.zeros((3, 3))):
        with pytest.raises(InputError, match=r"a coupling is a Factor, such as scored_by\(function, 2, 2\), not "):
            graph.couple(wrong, one, two)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="own: couple variables of this graph"):
        graph.couple(scored_by(lambda a, b: 0.0, 3, 3, name="own"), one, [0, 1])  # type: ignore[arg-type]


class Whole(Parity):
    """One number for all factors."""

    def scores(self, values: Any) -> Any:
        return super().scores(values).sum()


class Unknown(Parity):
    def scores(self, values: Any) -> Any:
        return super().scores(values) * np.nan


class Unparted(Parity):
    """Factors that differ, and do not say so."""


@pytest.mark.parametrize("factor", [Whole(1.0), Unknown(1.0), Unparted(np.array([0.7, 2.5]))])
def test_a_factor_whose_scores_are_none_is_refused_at_once(recipes: dict[str, Any], factor: Factor) -> None:
    with pytest.raises(InputError, match=r"a factor without a name: scores must give numbers \[m\] for .*, of some"):
        coupled(recipes, factor)
