"""Integer programs: exact on random graphs, and plain about what is impossible, too large or too slow."""

from __future__ import annotations

import _thread
import threading

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from dovetail.errors import InputError
from dovetail.joint import Factor, Graph, Table, at_most_one, equals, exactly_one, implies, not_both, same_label
from dovetail.joint import program as programs
from dovetail.joint.program import Components, Program
from tests.joint.graphs import chain, graphs, segments, tokens_of, trees
from tests.structures.cases import CASES

some = settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@some
@given(graphs(), st.booleans())
def test_programs_are_exact(graph, pruned):
    truth = graph.solve("brute")
    with pytest.MonkeyPatch.context() as patch:
        if not pruned:
            patch.setattr(programs, "_kept", lambda loss, slack: loss > -np.inf)
        found = graph.solve("ilp")
    assert_allclose(found.scores, truth.scores, atol=1e-6)
    assert found.exact
    assert found.converged.all()
    assert sorted(found.conflicts) == np.flatnonzero(truth.scores == -np.inf).tolist()
    assert all("contradict" in said for said in found.conflicts.values())


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
@settings(some, max_examples=8)
@given(st.data())
def test_programs_without_couplings_have_the_best_answer(case, data):
    batch, _ = data.draw(case.batches(max_scale=5.0))
    assume(batch.possible().all())
    graph = Graph()
    graph.add(batch)
    components = Components(graph.wiring, 10_000)
    for n in range(len(batch)):
        found = components.program(n).solve(10.0, 0.0)
        assert found.proved
        assert_allclose(found.bound, 0.0, atol=1e-6)  # nothing is lost against what structures say themselves
    assert_allclose(graph.solve("ilp").scores, batch.score(batch.best()))


@pytest.mark.parametrize("name", ["grammar", "nested", "chain", "semimarkov", "projective", "groups"])
@settings(some, max_examples=8)
@given(st.data())
def test_every_structure_can_be_coupled(name, data):
    case = CASES[name]
    batch, rng = data.draw(case.batches(max_scale=3.0, masks=(0.0,)))
    graph = Graph()
    node = graph.add(batch)
    kinds = [parts for parts, _ in case.parts(batch) if len(parts)]
    assume(batch.possible().all() and kinds)
    scale = float(data.draw(st.sampled_from([0.5, 3.0])))
    for address in _addresses(name, batch, rng):
        made = getattr(node, address[0])(*address[1:])
        other = graph.free(scale * rng.normal(size=(len(made), 3)))
        graph.couple(Table(scale * rng.normal(size=(len(made), made.values, 3)), own=True), made, other)
    found, truth = graph.solve("ilp"), graph.solve("brute")
    assert found.exact
    assert_allclose(found.scores, truth.scores, atol=1e-6)


def _addresses(name, batch, rng):
    """Variables of sentence 0, where it has words."""
    size = len(batch.potentials[0].tag) if name == "grammar" else None
    if name == "groups":
        g = int(batch.group[0])
        size, labels = int(np.diff(batch.groups[g].offsets)[0]), batch.groups[g].labels
    elif size is None:
        size = int(np.diff(batch.offsets)[0])
        labels = batch.potentials.labels if name == "nested" else getattr(batch, "labels", 0)
    assume(size)
    i, j = sorted(rng.choice(size + 1, 2, replace=False).tolist())
    word = int(rng.integers(size))
    if name == "projective":
        yield "arcs", [0], [0], [word + 1]
        return
    tags = {"grammar": batch.grammar.tags if name == "grammar" else 0, "nested": labels + 1 if name == "nested" else 0}
    yield "tokens", [0], [word], list(range(tags.get(name, labels if name != "grammar" else 0)))
    if name == "grammar" and batch.grammar.symbols > batch.grammar.tags:
        yield "spans", [0], [i], [j], [batch.grammar.tags]
    if name == "semimarkov" and j - i <= min(batch.longest, int(batch.lengths[0])):
        yield "spans", [0], [i], [j], [0]
    if name == "nested" and labels and j - i <= batch.phrases:
        yield "spans", [0], [i], [j], [0]


def test_contradictions_are_named():
    graph = Graph()
    a, b, c = (graph.free(np.zeros((1, 2))) for _ in range(3))
    graph.couple(same_label(2, -1.0), a, c)
    graph.couple(equals(2), a, b)
    graph.couple(exactly_one(), a, b)
    graph.couple(implies(), a, c)
    alone = graph.free(np.array([[0.0, 1.0], [0.0, 2.0]]))
    graph.couple(not_both(), alone[:1], alone[1:])
    found = graph.solve("ilp")
    assert found.scores.tolist() == [-np.inf, 2.0]
    assert found.exact
    assert found.conflicts == {
        0: "these couplings contradict each other or the structures: equals over variables 0, 1; "
        "exactly one over variables 0, 1"
    }
    assert "problem 0 has no answer: these couplings" in str(found)


def test_many_contradictions_are_counted():
    graph = Graph()
    values = graph.free(np.zeros((40, 2)))
    graph.couple(equals(2), values[:-1], values[1:])
    graph.couple(exactly_one(), values[:1], values[-1:])
    assert graph.solve("ilp").conflicts == {
        0: "the couplings contradict each other: 39 of 'equals', 1 of 'exactly one'"
    }


def hard(size=60, seed=0):
    """A frustrated graph that no program solves in a moment."""
    rng = np.random.default_rng(seed)
    graph = Graph()
    values = graph.free(0.1 * rng.normal(size=(size, 4)))
    first, second = np.triu_indices(size, 1)
    kept = rng.random(len(first)) < 0.3
    tables = rng.normal(size=(int(kept.sum()), 4, 4))
    graph.couple(Table(tables, own=True), values[first[kept]], values[second[kept]])
    return graph


def test_the_time_is_limited():
    found = hard().solve("ilp", time_limit=1.0)
    assert not found.converged.any()
    assert found.possible.all()
    assert np.isfinite(found.bounds).all()
    assert (found.gaps > 0).all()
    assert found.trust().startswith("not converged, off by at most")


def test_interrupts_return_the_best_so_far(monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(Program, "solve", interrupted)
    found = hard(10).solve("ilp")
    assert found.interrupted
    assert found.possible.all()
    assert np.isfinite(found.bounds).all()


def test_interrupts_need_not_wait_for_highs(monkeypatch):
    """HiGHS is stood in for by a thread that waits: the interrupt comes while the main thread waits for it."""
    done, waited = threading.Event(), []

    def slow(*_):
        _thread.interrupt_main()
        waited.append(done.wait(300.0))
        raise RuntimeError

    monkeypatch.setattr(Program, "solve", slow)
    found = hard(10).solve("ilp")
    assert found.interrupted
    assert not waited
    assert found.possible.all()
    done.set()


def test_a_gap_may_be_left():
    graph = hard(12)
    rough, exact = graph.solve("ilp", gap=0.5), graph.solve("ilp")
    assert exact.exact
    assert rough.score <= exact.score + 1e-6
    assert rough.bound >= exact.score - 1e-6


def test_what_is_too_large_is_refused():
    rng = np.random.default_rng(0)
    graph, lengths = Graph(), (30, 30)
    words = tokens_of(graph.add(chain(rng, lengths, 5)), lengths)
    graph.couple(same_label(5, -9.0), words[:30], words[30:])
    with pytest.raises(InputError, match=r"a sentence has at least 725 .* engine dual"):
        graph.solve("ilp", most_columns=50)
    with pytest.raises(InputError, match=r"more than 300 columns is too large; take the engine dual"):
        hard(20).solve("ilp", most_columns=300)


@pytest.mark.parametrize(
    ("how", "message"), [({"time_limit": 0.0}, "more than 0 seconds"), ({"gap": -1.0}, "not be negative")]
)
def test_settings_are_checked(how, message):
    with pytest.raises(InputError, match=message):
        hard(3).solve("ilp", **how)


@pytest.mark.parametrize("scale", [1e-3, 1e3, 1e6])
def test_potentials_of_any_size(scale):
    rng = np.random.default_rng(1)
    graph = Graph()
    words = tokens_of(graph.add(chain(rng, (3, 2), 3, scale)), (3, 2))
    graph.couple(Table(scale * rng.normal(size=(2, 3, 3)), own=True), words[:2], words[3:])
    graph.couple(not_both(), graph.add(segments(rng, (3,), 2, scale)).spans([0], [0], [2], [0]),
                 graph.add(trees(rng, (2,), scale)).arcs([0], [0], [1]))  # fmt: skip
    found, truth = graph.solve("ilp"), graph.solve("brute")
    assert_allclose(found.scores, truth.scores, rtol=1e-9)
    assert found.exact


class Odd(Factor):
    """A kind that programs do not know: an odd number of variables must be on."""

    name = "odd"

    def sizes(self):
        return None

    def scores(self, values):
        return np.where(values.sum(axis=1) % 2 == 1, 0.0, -np.inf)

    def best(self, incoming):
        values = np.zeros((len(incoming[0]), len(incoming)), np.int64)
        values[:, 0] = 1
        return values, self.scores(values)

    def given(self, variable, values):
        rest = values.sum(axis=1) - values[:, variable]
        return np.stack([np.where(rest % 2 == 1, 0.0, -np.inf), np.where(rest % 2 == 0, 0.0, -np.inf)], axis=1)

    def messages(self, incoming, temperature):
        raise NotImplementedError

    def log_partition(self, incoming, temperature):
        raise NotImplementedError


def test_kinds_that_are_not_known_are_written_out():
    graph = Graph()
    values = graph.free(np.array([[0.0, 2.0], [0.0, 1.5], [1.0, 0.0]]))
    graph.couple_all(Odd(), values)
    found, truth = graph.solve("ilp"), graph.solve("brute")
    assert found.values(values).tolist() == [1, 1, 1]
    assert_allclose(found.scores, truth.scores)


def test_kinds_that_cannot_be_written_out_are_refused():
    graph = Graph()
    graph.couple_all(Odd(), graph.free(np.tile([0.0, 1.0], (14, 1))))
    with pytest.raises(InputError, match="odd: the engine ilp writes out joint values, at most 4096"):
        graph.solve("ilp")
    graph = Graph()
    graph.couple_all(at_most_one(), graph.free(np.tile([0.0, 1.0], (200, 1))))
    assert graph.solve("ilp").scores.tolist() == [1.0]
