"""Every engine on random graphs, against all answers written out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from numpy.testing import assert_allclose

from dovetail.joint import Graph, Table
from tests.joint.graphs import chain, graphs, tokens_of

some = settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.too_slow])
few = settings(some, max_examples=4, derandomize=True)


@some
@given(graphs())
def test_messages_are_exact_without_loops(graph):
    found, truth = graph.marginals("bp"), graph.marginals("brute")
    settled = ~graph.wiring.loops
    assert found.converged[settled].all()
    assert found.exact.tolist() == settled.tolist()
    exact = np.repeat(settled[graph.wiring.component[graph.wiring.block_of]], graph.wiring.sizes)
    assert_allclose(found.probability[exact], truth.probability[exact], atol=1e-8)
    assert_allclose(found.log_z[settled], truth.log_z[settled], atol=1e-8)


@some
@given(graphs())
@pytest.mark.parametrize(
    ("engine", "how"),
    [("dual", {}), ("dual", {"method": "subgradient"}), ("dual", {"method": "smooth"}), ("bp", {}), ("ilp", {})],
    ids=["both", "subgradient", "smooth", "bp", "ilp"],
)
def test_what_is_said_to_be_exact_is_the_best(engine, how, graph):
    truth, found = graph.solve("brute"), graph.solve(engine, **how)
    best = truth.scores
    assert (found.scores <= best + 1e-7).all()
    assert (found.bounds >= best - 1e-7).all()
    assert_allclose(found.scores[found.certain], best[found.certain], atol=1e-5)
    again = graph.wiring.scores(found.all_values, found.answers)
    assert_allclose(again, found.scores, atol=1e-7)
    spoken = np.concatenate([np.full(g.count, g.node >= 0) for g in graph.groups])
    assert_allclose(graph.wiring.values_of(found.answers)[spoken], found.all_values[spoken])


def coupled(seed, scale, easy=False):
    """Return a graph whose three couplings make a loop, with a component without loops beside it if ``easy``."""
    rng, graph = np.random.default_rng(seed), Graph()
    if easy:
        words = tokens_of(graph.add(chain(rng, (2, 2), 3)), (2, 2))
        graph.couple(Table(0.1 * rng.normal(size=(1, 3, 3)), own=True), words[[0]], words[[2]])
    words = tokens_of(graph.add(chain(rng, (2, 3), 3)), (2, 3))
    graph.couple(Table(scale * rng.normal(size=(3, 3, 3)), own=True), words[[0, 1, 0]], words[[2, 3, 4]])
    return graph


@pytest.mark.parametrize(("seed", "scale"), [(0, 2.0), (3, 1.0)])
def test_dual_decomposition_goes_on_until_the_hardest_component_is_settled(seed, scale):
    graph = coupled(seed, scale, easy=True)
    first = graph.solve("dual", method="smooth", temperatures=(0.3,))
    assert first.certain.tolist() == [True, False]
    assert graph.solve("dual", method="smooth").exact


@pytest.mark.parametrize("method", ["subgradient", "smooth", "both"])
def test_dual_decomposition_takes_a_single_iteration(method):
    graph = coupled(0, 2.0)
    result, truth = graph.solve("dual", method=method, iterations=1), graph.solve("brute")
    assert result.score <= truth.score <= result.bound + 1e-9


def test_the_answer_of_belief_propagation_is_repaired():
    # One round of messages leaves the answer at 16.89; when each structure answers the other, it is the best.
    graph = coupled(4, 4.0)
    result = graph.solve("bp", iterations=1, temperatures=(1.0,))
    assert result.score == pytest.approx(graph.solve("brute").score)


@some
@given(graphs(hard=False))
@pytest.mark.parametrize("engine", ["dual", "bp", "ilp"])
def test_graphs_without_loops_are_solved(engine, graph):
    settled = ~graph.wiring.loops
    found, truth = graph.solve(engine), graph.solve("brute")
    assert_allclose(found.scores[settled], truth.scores[settled], atol=1e-5)
    if engine != "bp":
        assert found.certain[settled].all()


@few
@given(graphs(hard=False))
def test_samples_come_as_often_as_they_are_probable(graph):
    found, truth = graph.marginals("gibbs", samples=300, chains=2, moves="blocks"), graph.marginals("brute")
    assert_as_frequent(graph, found, truth)


@few
@given(graphs(hard=False, chains=True))
def test_single_words_come_as_often_as_they_are_probable(graph):
    found, truth = graph.marginals("gibbs", samples=8000, chains=4, moves="sites"), graph.marginals("brute")
    assert_as_frequent(graph, found, truth)


def assert_as_frequent(graph, found, truth):
    """Only what the engine calls converged is compared: chains that move slowly say so."""
    component = graph.wiring.component[graph.wiring.block_of]
    mixed = np.repeat(found.converged[component], graph.wiring.sizes)
    assert_allclose(found.probability[mixed], truth.probability[mixed], atol=0.15)
    assert np.abs(found.probability - truth.probability)[mixed].sum() < 0.03 * max(mixed.sum(), 1)


@pytest.mark.parametrize("moves", ["sites", "blocks"])
@settings(some, max_examples=8)
@given(graphs(hard=False, chains=True))
def test_annealing_never_exceeds_the_best(moves, graph):
    found, truth = graph.solve("gibbs", samples=60, moves=moves), graph.solve("brute")
    assert (found.scores <= truth.scores + 1e-7).all()
    assert not np.isfinite(found.bounds).any()


@pytest.mark.parametrize(("moves", "samples"), [("sites", 300), ("blocks", 60)])
def test_annealing_mostly_finds_the_best(moves, samples):
    """A heuristic may miss: in at most two of twenty small graphs."""
    missed = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        graph = Graph()
        words = tokens_of(graph.add(chain(rng, (2, 3), 3)), (2, 3))
        graph.couple(Table(rng.normal(size=(3, 3, 3)), own=True), words[[0, 1, 0]], words[[2, 3, 4]])
        found, truth = graph.solve("gibbs", samples=samples, moves=moves), graph.solve("brute")
        missed += found.score < truth.score - 1e-6
    assert missed <= 2


def test_a_graph_that_grows_is_answered_anew():
    graph = Graph()
    one = graph.free(np.array([[0.0, 1.0]]))
    assert graph.solve("brute").all_values.tolist() == [1]
    graph.couple(Table(np.array([5.0, 0.0])), one)
    assert graph.solve("brute").all_values.tolist() == [0]
    graph.couple(Table(np.array([[0.0, 9.0], [0.0, 0.0]])), one, graph.free(np.zeros((1, 2))))
    assert graph.solve("brute").all_values.tolist() == [0, 1]


def test_what_couplings_say_of_a_variable_by_hand():
    graph, table, own = Graph(), np.arange(6.0).reshape(2, 3), np.array([10.0, 20.0])
    two, three = graph.free(np.zeros((1, 2))), graph.free(np.zeros((1, 3)))
    graph.couple(Table(table), two[[0]], three[[0]])
    graph.couple(Table(own), two[[0]])
    values = np.array([1, 2])
    assert_allclose(graph.wiring.given(values), [*(table[:, 2] + own), *table[1]])
    assert_allclose(graph.wiring.coupled(values), [table[1, 2] + own[1]])
