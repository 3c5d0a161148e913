"""The hypergraph of every structure, against all of its answers written out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import linprog
from scipy.sparse import csr_matrix

from dovetail.errors import InputError
from dovetail.structures.derivations import derivations
from tests.structures.cases import CASES, Enumerated

every = pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
some = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def answers_of(graph, item=None):
    """All derivations of an item, the root unless given: tuples of edges."""
    into = {i: np.flatnonzero(graph.head == i) for i in range(graph.items)}

    def of(i):
        for edge in into[i].tolist():
            left, right = ([()] if tail < 0 else list(of(tail)) for tail in graph.tails[edge].tolist())
            yield from ((edge, *a, *b) for a in left for b in right)

    return list(of(graph.items - 1 if item is None else item))


def program(graph):
    """The optimum of the linear program of a hypergraph."""
    edges, tails = np.arange(graph.edges), graph.tails
    owner, which = np.nonzero(tails >= 0)
    rows = np.concatenate([graph.head, tails[owner, which]])
    signs = np.concatenate([np.ones(graph.edges), -np.ones(len(owner))])
    matrix = csr_matrix((signs, (rows, np.concatenate([edges, owner]))), (graph.items, graph.edges))
    right = np.zeros(graph.items)
    right[-1] = 1.0
    return linprog(-graph.weight, A_eq=matrix, b_eq=right, bounds=(0, None))


@every
@some
@given(st.data())
def test_derivations_are_the_answers(case, data):
    batch, _ = data.draw(case.batches(max_scale=5.0))
    best = batch.score(batch.best())
    for n in range(len(batch)):
        graph, twin = derivations(batch, n), Enumerated(case, batch, n)
        assert (graph.tails < graph.head[:, None]).all()
        assert (np.diff(graph.head) >= 0).all()
        found = answers_of(graph)
        assert_allclose(
            sorted(graph.weight[list(each)].sum() for each in found), sorted(twin.scores[twin.scores > -np.inf])
        )
        assert_allclose(graph.inside()[-1], best[n])
        through = graph.through(graph.inside())
        for edge in range(graph.edges):
            ways = [graph.weight[list(each)].sum() for each in found if edge in each]
            assert_allclose(through[edge], max(ways, default=-np.inf))


@every
@some
@given(st.data())
def test_parts_are_the_edges_that_use_them(case, data):
    batch, _ = data.draw(case.batches(max_scale=5.0))
    for parts, has in case.parts(batch):
        for n in range(len(batch)):
            graph, twin = derivations(batch, n), Enumerated(case, batch, n)
            used = np.zeros((len(parts), graph.edges))
            np.add.at(used, graph.using(parts), 1.0)
            edges = [list(each) for each in answers_of(graph)]
            found = [(*used[:, each].sum(1), graph.weight[each].sum()) for each in edges]
            possible = np.flatnonzero(twin.scores > -np.inf)
            truth = [(*map(float, has(n, twin.keys[a])), twin.scores[a]) for a in possible]
            assert_allclose(sorted(found), sorted(truth), atol=1e-9)


@every
@settings(some, max_examples=8)
@given(st.data())
def test_the_linear_program_has_the_best_answer(case, data):
    batch, _ = data.draw(case.batches(max_scale=5.0))
    best = batch.score(batch.best())
    for n in range(len(batch)):
        graph = derivations(batch, n)
        if best[n] == -np.inf:
            assert graph.inside()[-1] == -np.inf
        else:
            assert_allclose(-program(graph).fun, best[n], atol=1e-6)


@every
def test_too_many_edges_are_refused(case):
    batch = case.large(np.random.default_rng(0))
    largest = max(range(len(batch)), key=lambda n: derivations(batch, n).edges)
    with pytest.raises(InputError, match="at most 1 are possible"):
        derivations(batch, largest, 1)


def test_structures_without_a_builder_say_so():
    with pytest.raises(InputError, match="a str has no hypergraph"):
        derivations("words", 0)
