"""Many graphs at once, and large ones, give the same bits for any number of threads."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dovetail.errors import InputError
from dovetail.joint import Graph, Table, at_most_one, marginals_all, same_label, solve_all
from dovetail.threads import run_shards
from tests.joint.graphs import chain, segments, tokens_of

QUICK = {"gibbs": {"samples": 30}, "bp": {}, "dual": {"iterations": 20}, "ilp": {}, "brute": {}}


def graph_of(seed, threads=2):
    rng = np.random.default_rng(seed)
    graph = Graph()
    words = tokens_of(graph.add(replace(chain(rng, (2, 3), 3), threads=threads)), (2, 3))
    graph.couple(Table(rng.normal(size=(2, 3, 3)), own=True), words[:2], words[3:])
    if seed % 3 == 0:
        graph.couple_all(at_most_one(), graph.add(segments(rng, (3,))).spans([0, 0], [0, 1], [2, 3], [(0, 1)]))
    return graph


def corpus(threads, problems=60):
    """One graph of many documents that have nothing to do with each other."""
    rng = np.random.default_rng(1)
    lengths = rng.integers(1, 9, 2 * problems)
    graph = Graph()
    node = graph.add(replace(chain(rng, tuple(lengths), 4), threads=threads))
    even = np.arange(0, 2 * problems, 2)
    first, second = (node.tokens(s, np.zeros(problems, np.int64)) for s in (even, even + 1))
    third = node.tokens(even, lengths[even] - 1)
    graph.couple(same_label(4, -1.0, 1.0), first, second)
    graph.couple(Table(rng.normal(size=(problems, 4, 4)), own=True), third, second)
    return graph


def assert_same(left, right):
    for name in ("all_values", "scores", "bounds", "probability", "log_z", "converged"):
        if hasattr(left, name):
            np.testing.assert_array_equal(getattr(left, name), getattr(right, name))


@pytest.mark.parametrize("engine", QUICK)
def test_many_graphs_are_answered_in_order(engine):
    how = QUICK[engine]
    alone = [graph_of(seed).solve(engine, **how) for seed in range(7)]
    for threads in (1, 2, 3):
        found = solve_all([graph_of(seed) for seed in range(7)], engine, threads, **how)
        for each, own in zip(found, alone, strict=True):
            assert_same(each, own)
    assert solve_all([], engine) == []


@pytest.mark.parametrize("engine", ["bp", "gibbs"])
def test_probabilities_of_many_graphs(engine):
    how = {"samples": 20, "chains": 2} if engine == "gibbs" else {}
    alone = [graph_of(seed).marginals(engine, **how) for seed in range(5)]
    for threads in (1, 3):
        for each, own in zip(
            marginals_all([graph_of(s) for s in range(5)], engine, threads, **how), alone, strict=True
        ):
            assert_same(each, own)


def test_threads_within_threads_do_not_wait_for_each_other():
    def outer(i):
        return run_shards(lambda j: 10 * i + j, range(3), 2)

    assert run_shards(outer, range(4), 2) == [[10 * i + j for j in range(3)] for i in range(4)]


def test_errors_of_one_graph_are_raised():
    with pytest.raises(InputError, match="the graph is empty"):
        solve_all([graph_of(0), Graph(), graph_of(1)], threads=2)


@pytest.mark.parametrize("engine", ["bp", "dual", "gibbs"])
def test_threads_of_structures_change_nothing(engine):
    found = [corpus(threads).solve(engine, **QUICK[engine]) for threads in (1, 2, 3)]
    assert len(found[0].scores) == 60
    for other in found[1:]:
        assert_same(found[0], other)
    if engine != "dual":
        how = {"samples": 20, "chains": 2} if engine == "gibbs" else {}
        beliefs = [corpus(threads).marginals(engine, **how) for threads in (1, 3)]
        assert_same(*beliefs)
