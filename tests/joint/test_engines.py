"""Every engine on random graphs, against all answers written out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from numpy.testing import assert_allclose

from tests.joint.graphs import graphs

some = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


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
    [("dual", {}), ("dual", {"method": "subgradient"}), ("dual", {"method": "smooth"}), ("bp", {})],
    ids=["both", "subgradient", "smooth", "bp"],
)
def test_what_is_said_to_be_exact_is_the_best(engine, how, graph):
    truth, found = graph.solve("brute"), graph.solve(engine, **how)
    best = truth.scores
    assert (found.scores <= best + 1e-7).all()
    assert (found.bounds >= best - 1e-7).all()
    assert_allclose(found.scores[found.certain], best[found.certain], atol=1e-5)
    again = graph.wiring.scores(found.all_values, found.answers)
    assert_allclose(again, found.scores, atol=1e-7)
    assert_allclose(graph.wiring.values_of(found.answers)[:-2], found.all_values[:-2])


@some
@given(graphs(hard=False))
@pytest.mark.parametrize("engine", ["dual", "bp"])
def test_graphs_without_loops_are_solved(engine, graph):
    settled = ~graph.wiring.loops
    found, truth = graph.solve(engine), graph.solve("brute")
    assert_allclose(found.scores[settled], truth.scores[settled], atol=1e-5)
    if engine == "dual":
        assert found.certain[settled].all()
