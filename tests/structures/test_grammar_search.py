"""Best trees, k-best lists, scores, samples and maximum expected recall, against the brute-force twin."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from numpy.testing import assert_allclose

from dovetail.structures.grammar import Grammar, GrammarPotentials, ParseChart
from tests.structures.enumerate_grammar import EnumeratedChart, as_tuple
from tests.structures.grammar_cases import charts, random_grammar

quick = settings(max_examples=150, deadline=None)


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
