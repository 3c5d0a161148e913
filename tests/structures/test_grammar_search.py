"""Best trees, k-best lists, scores, samples and maximum expected recall, against the brute-force twin."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from numpy.testing import assert_allclose

from dovetail.errors import InputError
from dovetail.structures.grammar import Grammar, GrammarPotentials, ParseChart
from tests.structures.enumerate_grammar import EnumeratedChart, as_tuple
from tests.structures.grammar_cases import charts, random_grammar, random_potentials

quick = settings(max_examples=150, deadline=None)


@quick
@given(charts())
def test_best_has_the_best_score(case):
    chart, twin, _ = case
    best, top = chart.best(), twin.scores.max(initial=-np.inf)
    assert (best is None) == (top == -np.inf)
    if best is not None:
        assert_allclose(chart.score(best), top, rtol=1e-12, atol=1e-10)


@quick
@given(charts())
def test_scores_and_indicators(case):
    chart, twin, _ = case
    for tree, score, counts in list(zip(twin.trees, twin.scores, twin.counts, strict=True))[:20]:
        assert_allclose(chart.score(tree), score, rtol=1e-12, atol=1e-10)
        assert all(np.array_equal(a, b) for a, b in zip(chart.indicator(tree), counts, strict=True))


@quick
@given(charts(masked=(0.6,)))
def test_trees_against_the_mask_have_no_score(case):
    chart, twin, _ = case
    allowed = set(map(as_tuple, twin.trees))
    for tree in EnumeratedChart(chart.grammar, chart.potentials).trees[:50]:
        if as_tuple(tree) not in allowed:
            assert chart.score(tree) == -np.inf


@quick
@given(charts())
def test_kbest_is_the_sorted_list_without_repeats(case):
    chart, twin, _ = case
    for k in (0, 1, 7, 300):
        found = chart.kbest(k)
        possible = np.sort(twin.scores[twin.scores > -np.inf])[::-1][:k]
        scores = [log_probability for _, log_probability in found]
        assert_allclose(scores, possible - twin.log_partition(), rtol=1e-12, atol=1e-9)
        assert len({as_tuple(tree) for tree, _ in found}) == len(found)
        for tree, log_probability in found[:20]:
            assert_allclose(chart.score(tree) - chart.log_partition(), log_probability, rtol=1e-12, atol=1e-9)


def test_kbest_begins_with_the_best_tree_where_scores_are_equal():
    rng = np.random.default_rng(4)
    grammar = random_grammar(rng, 2, 3, 12, 3)
    chart = ParseChart(grammar, GrammarPotentials.of(grammar, np.zeros((5, 2))))
    twin = EnumeratedChart(grammar, chart.potentials)
    found = chart.kbest(len(twin.trees) + 1)
    assert len(found) == len(twin.trees) > 100
    assert {as_tuple(tree) for tree, _ in found} == set(map(as_tuple, twin.trees))


def test_kbest_of_a_sentence_deeper_than_python_recurses():
    grammar = Grammar.of(3, 2, binary=[(2, 0, 2), (2, 1, 2)], unary=[(2, 0), (2, 1)])
    n = 1200
    tag = np.stack([np.arange(n) / n, np.zeros(n)], axis=1)
    mask = np.zeros((n * (n + 1) // 2, 3), np.uint8)
    spans = np.arange(n)
    first = spans * n - spans * (spans - 1) // 2
    mask[first, :2] = 1
    mask[first + n - 1 - spans, 2] = 1
    mask[first[:-1], 2] = 0
    found = ParseChart(grammar, GrammarPotentials.of(grammar, tag), mask).kbest(3)
    ones = [np.flatnonzero(tree.tags).tolist() for tree, _ in found]
    assert ones[0] in ([], [0])
    assert ones[2] == [1]
    assert_allclose(found[1][1] - found[2][1], 1 / n, rtol=1e-6)


@quick
@given(charts(scales=(1.0,)))
def test_samples_are_possible_trees(case):
    chart, twin, rng = case
    possible = {as_tuple(tree) for tree, score in zip(twin.trees, twin.scores, strict=True) if score > -np.inf}
    if possible:
        assert {as_tuple(tree) for tree in chart.sample(5, rng)} <= possible
    else:
        with pytest.raises(InputError, match="every tree is forbidden"):
            chart.sample(1, rng)


@pytest.mark.parametrize("scale", [1.0, 300.0])
def test_samples_have_the_right_frequencies(scale):
    rng = np.random.default_rng(3)
    grammar = random_grammar(rng, 2, 2, 6, 3)
    potentials = random_potentials(rng, grammar, 4)
    potentials.tag[:] -= scale * np.arange(4)[:, None]
    potentials.begin[2] -= scale
    chart, twin = ParseChart(grammar, potentials), EnumeratedChart(grammar, potentials)
    draws = 4000
    seen = Counter(map(as_tuple, chart.sample(draws, np.random.default_rng(5))))
    expected = draws * twin.probabilities()
    observed = np.array([seen[as_tuple(tree)] for tree in twin.trees])
    assert observed.sum() == draws
    common = expected > 5
    assert common.sum() > 10
    chi_square = ((observed - expected)[common] ** 2 / expected[common]).sum()
    # Mean is the degrees of freedom d, variance 2 d: five deviations off would be a bug.
    assert chi_square < common.sum() + 5 * np.sqrt(2 * common.sum())


def test_samples_are_reproducible():
    rng = np.random.default_rng(0)
    grammar = random_grammar(rng, 2, 3, 12, 3)
    chart = ParseChart(grammar, random_potentials(rng, grammar, 6))
    again = [list(map(as_tuple, chart.sample(9, np.random.default_rng(1)))) for _ in range(2)]
    assert again[0] == again[1]


def random_labels(rng, grammar):
    """Two labels or none for symbols, none for tags, and up to three for unary rules."""
    group = rng.integers(-1, 2, grammar.symbols)
    group[: grammar.tags] = -1
    return group, [rng.integers(-1, 2, rng.integers(0, 4)) for _ in range(grammar.unaries)]


@quick
@given(charts(scales=(0.0, 1.0, 30.0)))
def test_labelled_constituents_and_the_tree_with_most_of_them(case):
    chart, twin, rng = case
    group, unary_labels = random_labels(rng, chart.grammar)
    labels = [list(twin.constituents(uses, group, unary_labels)) for uses in twin.uses]
    p, marginals = twin.probabilities(), chart.label_marginals(group, unary_labels)
    truth = np.zeros_like(marginals)
    for weight, own in zip(p, labels, strict=True):
        for constituent in own:
            truth[constituent] += weight
    assert_allclose(marginals, truth, atol=1e-9)
    tags = twin.marginals().tag
    for cost in (0.0, 0.4):
        found = chart.max_recall(group, unary_labels, cost)
        assert (found is None) == (twin.log_partition() == -np.inf)
        if found is None:
            continue
        right = [tags[np.arange(len(chart)), tree.tags].sum() for tree in twin.trees]
        gains = [
            x + sum(truth[constituent] - cost for constituent in own) for x, own in zip(right, labels, strict=True)
        ]
        which = list(map(as_tuple, twin.trees)).index(as_tuple(found))
        assert p[which] > 0
        assert_allclose(gains[which], np.max(np.array(gains)[p > 0]), atol=1e-9)


def test_a_symbol_labels_the_unary_rules_above_it_unless_told_otherwise():
    grammar = Grammar.of(3, 1, binary=[(1, 0, 0)], unary=[(2, 1)])
    chart = ParseChart(grammar, GrammarPotentials.of(grammar, np.zeros((2, 1)), root=[-np.inf, 0.0, 0.0]))
    group = [-1, 0, 1]
    assert_allclose(chart.label_marginals(group)[1], [1.0, 0.5])
    assert_allclose(chart.label_marginals(group, [[1, 2, 2]])[1], [1.0, 0.5, 1.0])
    assert chart.max_recall(group).root == 2
    assert chart.max_recall(group, cost=0.6).root == 1
