"""The posteriors that prune, against those of exact charts."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from dovetail.errors import InputError
from dovetail.grammars.coarse import symbol_posteriors
from dovetail.structures.grammar import Grammar, GrammarPotentials, ParseChart
from tests.structures.grammar_cases import random_grammar, random_potentials


def single_rows(rng, n, scale=1.0, forbidden=0.0):
    grammar = random_grammar(rng, int(rng.integers(1, 4)), int(rng.integers(1, 6)), int(rng.integers(0, 40)), 6)
    return grammar, random_potentials(rng, grammar, n, single=1.0, scale=scale, forbidden=forbidden)


@pytest.mark.parametrize("seed", range(40))
def test_posteriors_of_symbols_by_the_coarse_pass(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 9))
    grammar, potentials = single_rows(rng, n, scale=[0.0, 1.0, 10.0][seed % 3], forbidden=[0.0, 0.2][seed % 2])
    if seed % 4 == 0:
        potentials = potentials._replace(span=rng.normal(size=(n * (n + 1) // 2, grammar.symbols)))
    exact = ParseChart(grammar, potentials).span_marginals().symbol
    assert_allclose(symbol_posteriors(grammar, potentials), exact, atol=1e-9)


def test_without_a_tree_there_are_no_posteriors():
    grammar = Grammar.of(3, 2, binary=[(2, 0, 1)])
    assert not symbol_posteriors(grammar, GrammarPotentials.of(grammar, np.zeros((3, 2)))).any()


def test_rules_that_weigh_differently_from_place_to_place_are_refused():
    grammar = Grammar.of(3, 2, binary=[(2, 0, 1)])
    with pytest.raises(InputError, match="single row"):
        symbol_posteriors(grammar, GrammarPotentials.of(grammar, np.zeros((3, 2)), begin=np.zeros((4, 1))))
