"""Sums over trees: log Z, marginals, entropy and derivatives, against the brute-force twin."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from numpy.testing import assert_allclose

from dovetail.structures.grammar import Grammar, GrammarPotentials, ParseChart, cells
from tests.structures.enumerate_grammar import nodes
from tests.structures.grammar_cases import charts, random_direction, random_grammar, random_potentials

quick = settings(max_examples=150, deadline=None)


def assert_parts_equal(parts, truth, tolerance):
    for name, part, true in zip(parts._fields, parts, truth, strict=True):
        assert_allclose(part, true, rtol=tolerance, atol=tolerance, err_msg=name)


@quick
@given(charts())
def test_log_partition_and_marginals(case):
    chart, twin, _ = case
    log_z, marginals = chart.log_partition_and_marginals()
    assert_allclose(log_z, twin.log_partition(), rtol=1e-12, atol=1e-10)
    assert chart.log_partition() == log_z
    assert_parts_equal(marginals, twin.marginals(), 1e-9)


@quick
@given(charts())
def test_entropy(case):
    chart, twin, _ = case
    assert_allclose(chart.entropy(), twin.entropy(), rtol=1e-8, atol=1e-8)


@quick
@given(charts())
def test_jvp_is_a_covariance(case):
    chart, twin, rng = case
    direction = random_direction(rng, chart.potentials)
    assert_parts_equal(chart.jvp(direction), twin.covariance(direction), 1e-8)


@pytest.mark.parametrize("single", [0.0, 1.0])
@pytest.mark.parametrize("n", [1, 5])
def test_derivatives_by_finite_differences(n, single):
    rng = np.random.default_rng(n)
    grammar = random_grammar(rng, 3, 4, 40, 6)
    potentials = random_potentials(rng, grammar, n, single=single)
    direction = random_direction(rng, potentials)

    def moved(step):
        parts = (part + step * change for part, change in zip(potentials, direction, strict=True))
        return ParseChart(grammar, GrammarPotentials(*parts))

    step, chart = 1e-5, moved(0.0)
    slope = (moved(step).log_partition() - moved(-step).log_partition()) / (2 * step)
    inner = sum((a * b).sum() for a, b in zip(chart.marginals(), direction, strict=True))
    assert_allclose(slope, inner, rtol=1e-8)
    ahead, behind = moved(step).marginals(), moved(-step).marginals()
    for change, a, b in zip(chart.jvp(direction), ahead, behind, strict=True):
        assert_allclose(change, (a - b) / (2 * step), rtol=1e-6, atol=1e-8)


@quick
@given(charts(scales=(0.0, 1.0, 30.0)))
def test_probabilities_of_symbols_and_unary_rules_over_spans(case):
    chart, twin, _ = case
    n, grammar = len(chart), chart.grammar
    marginals = chart.span_marginals()
    truth = {name: np.zeros_like(part) for name, part in marginals._asdict().items()}
    for p, tree, uses in zip(twin.probabilities(), twin.trees, twin.uses, strict=True):
        for node in nodes(grammar, uses, n):
            truth["symbol"][node] += p
        for node in nodes(grammar, [use for use in uses if use[0] != "unary"], n):
            truth["lower"][node] += p
            truth["upper"][node] += p
        for rule, begin, end in tree.unary.tolist():
            c = cells(n, begin, end)
            truth["unary"][c, rule] += p
            truth["upper"][c, grammar.unary_parent[rule]] += p
            truth["upper"][c, grammar.unary_child[rule]] -= p
    for name, part in marginals._asdict().items():
        assert_allclose(part, truth[name], atol=1e-9, err_msg=name)
    assert_allclose(marginals.upper[n - 1].sum(), float(twin.log_partition() > -np.inf), atol=1e-9)


def test_potentials_that_lose_a_tree_to_underflow_are_summed_in_log_space():
    # Symbol 2 over the first two words is worse than 3 by 1000 and better by as much above; both trees weigh the same.
    grammar = Grammar.of(5, 1, binary=[(2, 0, 0), (3, 0, 0), (4, 2, 0), (4, 3, 0)])
    rules = {(p, b): r for r, (p, b) in enumerate(zip(grammar.parent.tolist(), grammar.left.tolist(), strict=True))}
    begin = np.zeros((4, 4))
    begin[0, rules[2, 0]], begin[0, rules[4, 3]] = -1000.0, -1000.0
    chart = ParseChart(grammar, GrammarPotentials.of(grammar, np.zeros((3, 1)), begin, root=[-np.inf] * 4 + [0]))
    log_z, marginals = chart.log_partition_and_marginals()
    assert_allclose(log_z, np.log(2) - 1000)
    assert_allclose(marginals.begin[0, [rules[2, 0], rules[3, 0]]], 0.5)
    assert_allclose(chart.entropy(), np.log(2))


@pytest.mark.parametrize("step", [-300.0, 300.0])
def test_small_losses_that_add_up_are_noticed(step):
    # As above, but no part alone is extreme: the symbol 2 loses (or wins) 300 a word, ten times, until the root.
    grammar = Grammar.of(4, 1, binary=[(2, 0, 0), (2, 2, 0), (3, 0, 0), (3, 3, 0)])
    n = 11
    potentials = GrammarPotentials.of(
        grammar,
        np.zeros((n, 1)),
        begin=np.where(grammar.parent == 2, step, 0.0),
        root=[-np.inf, -np.inf, -10 * step, 0],
    )
    chart = ParseChart(grammar, potentials)
    log_z, marginals = chart.log_partition_and_marginals()
    assert_allclose(log_z, np.log(2), atol=1e-9)
    assert_allclose(marginals.root, [0, 0, 0.5, 0.5], atol=1e-12)


def test_a_long_sentence_neither_underflows_nor_drifts():
    rng = np.random.default_rng(7)
    grammar = random_grammar(rng, 3, 4, 50, 5)
    n = 60
    potentials = random_potentials(rng, grammar, n, scale=3.0)
    chart = ParseChart(grammar, potentials)
    assert not chart._sums[2].lost[0]
    log_z, marginals = chart.log_partition_and_marginals()
    again = ParseChart(grammar, potentials)
    again._sums[2].lost[0] = 1  # sums in log space instead
    log_z_again, marginals_again = again.log_partition_and_marginals()
    assert_allclose(log_z, log_z_again, rtol=1e-12)
    assert_parts_equal(marginals, marginals_again, 1e-9)
    assert_allclose(marginals.tag.sum(), n, rtol=1e-9)
    assert_allclose(marginals.begin.sum(), n - 1, rtol=1e-9)
