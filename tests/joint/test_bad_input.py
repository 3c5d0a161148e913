"""What is wrong with a graph is said plainly, nothing hangs, and Ctrl-C returns the best so far."""

from __future__ import annotations

import _thread
import threading
import time
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose

from dovetail.errors import InputError
from dovetail.joint import (
    Factor,
    Graph,
    Table,
    at_most_one,
    equals,
    exactly_one,
    implies,
    marginals_all,
    not_both,
    penalties,
    same_label,
    scored_by,
    solve_all,
)
from dovetail.joint.engines import bp, brute, gibbs, sites
from dovetail.joint.graph import ENGINES
from dovetail.joint.result import gaps
from dovetail.joint.wiring import Wiring
from dovetail.structures.chain import ChainBatch, ChainPotentials
from dovetail.structures.grammar import Grammar, GrammarBatch, GrammarPotentials
from dovetail.structures.nested import NestedBatch, NestedPotentials
from dovetail.structures.ragged import Groups
from tests.joint.graphs import chain, segments, tokens_of, trees

PROBABLE = ("bp", "gibbs", "brute")  # engines with probabilities
HEURISTIC = ("bp", "dual", "gibbs")  # engines that cannot prove that there is no answer


@pytest.fixture(autouse=True)
def no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@pytest.fixture
def rng():
    return np.random.default_rng(0)


# parts that do not exist, and what is no array of them


@pytest.mark.parametrize(
    ("sentence", "position", "message"),
    [
        ([5], [0], "must be of the batch"),
        ([0], [3], "must be of the batch"),
        ([1], [0], "must be of the batch"),  # a sentence without words
        ([-1], [0], "must be of the batch"),
        ([0, 0], [0], r"arrays of one length, not of \[2, 1\]"),
        ([0.5], [0], "whole numbers"),
        ([float("nan")], [0], "whole numbers"),
        ([[0]], [[0]], "whole numbers"),
        ([0], [True], "whole numbers"),
    ],
)
def test_words_that_do_not_exist(rng, sentence, position, message):
    node = Graph().add(chain(rng, (3, 0)))
    with pytest.raises(InputError, match=message):
        node.tokens(sentence, position)


@pytest.mark.parametrize(
    ("labels", "rest", "message"),
    [
        ([0, 3], True, "must be of the batch"),
        ([(0, 1), (1, 2)], False, "label 1 stands for two values at once"),
        ([0, 1], False, "no value stands for label 2; name all labels, or ask for a rest"),
        ([(1, 2)], False, "no value stands for label 0"),
        ([0, (), (1, 2)], False, "at least one label"),
        ([], True, "at least one label"),
    ],
)
def test_values_that_overlap_or_leave_labels_out(rng, labels, rest, message):
    node = Graph().add(chain(rng, (2,), 3))
    with pytest.raises(InputError, match=message):
        node.tokens([0], [0], labels=labels, rest=rest)


def test_sentences_may_have_label_sets_of_their_own(rng):
    node = Graph().add(Groups((chain(rng, (2,), 2), chain(rng, (2,), 3)), np.array([0, 1])))
    assert node.tokens([0], [1], [0, 1]).values == 2
    with pytest.raises(InputError, match="no value stands for label 2"):
        node.tokens([0, 1], [1, 1], [0, 1])


def test_parts_of_other_structures(rng):
    graph = Graph()
    with pytest.raises(InputError, match="has no spans"):
        graph.add(chain(rng, (3,))).spans([0], [0], [2])
    with pytest.raises(InputError, match="has no arcs"):
        graph.add(chain(rng, (3,))).arcs([0], [0], [2])
    with pytest.raises(InputError, match="no part for span"):
        graph.add(segments(rng, (5,))).spans([0], [0], [4])  # longer than any segment
    with pytest.raises(InputError, match="no part for span"):
        graph.add(segments(rng, (5,))).spans([0], [3], [3])
    with pytest.raises(InputError, match=r"say which labels|have no labels"):
        graph.add(trees(rng, (2,))).tokens([0], [0])


def test_spans_with_two_labels_at_once_need_two_variables():
    grammar = Grammar.of(4, 1, binary=[(2, 0, 0), (2, 2, 2)], unary=[(3, 2)])  # 3 over 2 over the same words
    batch = GrammarBatch(grammar, (GrammarPotentials.of(grammar, np.zeros((2, 1))),))
    graph = Graph()
    node = graph.add(batch)
    with pytest.raises(InputError, match="several labels at once, and a variable has one value"):
        node.spans([0], [0], [2], [2, 3])
    with pytest.raises(InputError, match="several labels at once"):
        node.spans([0], [0], [2], [(2, 3)])
    graph.couple(implies(), node.spans([0], [0], [2], [2]), node.spans([0], [0], [2], [3]))
    for engine in ("dual", "ilp"):
        assert graph.solve(engine).exact
    nested = Graph().add(NestedBatch(NestedPotentials.zeros(3, 2, 3), np.array([0, 3])))
    with pytest.raises(InputError, match="several labels at once"):
        nested.spans([0], [0], [2], [0, 1])
    plain = Grammar.of(3, 1, binary=[(1, 0, 0), (2, 1, 0)], unary=[(1, 0), (2, 0)])  # unary rules over tags alone
    batch = GrammarBatch(plain, (GrammarPotentials.of(plain, np.zeros((2, 1))),))
    assert Graph().add(batch).spans([0], [0], [2], [1, 2]).values == 3


# couplings


def test_couplings_that_do_not_fit(rng):
    graph, other = Graph(), Graph()
    words, pairs = tokens_of(graph.add(chain(rng, (4,), 3)), (4,)), graph.free(np.zeros((2, 2)))
    with pytest.raises(InputError, match="same label: couple variables of this graph"):
        graph.couple(same_label(3, -1.0), words[:1], other.free(np.zeros((1, 3))))
    with pytest.raises(InputError, match="couple variables of this graph, at least one"):
        graph.couple(equals(3))
    with pytest.raises(InputError, match="equals: the variables have 3, 2 values, not 3, 3"):
        graph.couple(equals(3), words[:1], pairs[:1])
    with pytest.raises(InputError, match="at most one: the variables have 3, 3 values, not two each"):
        graph.couple(at_most_one(), words[:1], words[1:2])
    with pytest.raises(InputError, match=r"equals: couple as many variables on each side, not \[1, 2\]"):
        graph.couple(equals(3), words[:1], words[1:3])
    with pytest.raises(InputError, match=r"table: couple as many variables on each side, not \[2, 3\]"):
        graph.couple(Table(np.zeros((3, 3, 3)), own=True), words[:2], words[2:])
    with pytest.raises(InputError, match=r"penalties: couple as many variables on each side, not \[1, 2\]"):
        graph.couple(penalties(np.zeros((3, 3)), weight=[1.0]), words[:2], words[2:])
    with pytest.raises(InputError, match="equals: factor 1 couples a variable with itself"):
        graph.couple(equals(3), words[[0, 1]], words[[2, 1]])
    with pytest.raises(IndexError):
        words[4]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Table(np.array([[0.0, np.nan]])), "table: potentials may be minus infinity"),
        (lambda: Table(np.array([[0.0, np.inf]])), "table: potentials may be minus infinity"),
        (lambda: Table(np.zeros((2, 2)), weight=[np.nan]), "weights are finite"),
        (lambda: Table(np.zeros((2, 2)), weight=[[1.0]]), "weights are finite numbers, one for each"),
        (lambda: Table([[0.0, -np.inf]], weight=[0.0]), "a table that forbids values has weights above 0"),
        (lambda: Table(np.zeros((20, 20, 20))), "8000 joint values"),
        (lambda: Table(np.zeros(())), "at least one variable"),
        (lambda: Table(np.full((2, 2), -np.inf), name="never"), "never: the table forbids all joint values"),
        (lambda: not_both([0.0, np.nan]), "not both: potentials"),
        (lambda: Table([[[0.0]], [[-np.inf]]], own=True), "table 1 forbids all"),
        (lambda: scored_by(lambda a, b: float("nan"), 2, 2, name="mine"), "mine: potentials"),
        (lambda: scored_by(lambda *_: 0.0, *[10] * 9), "too large"),
        (lambda: Graph().free([[0.0, np.nan]]), "not NaN"),
        (lambda: Graph().free([[0.0, np.inf]]), "not NaN or plus infinity"),
        (lambda: Graph().free(np.zeros((2, 0))), r"\[k, values\]"),
        (lambda: Graph().free(np.zeros((2, 2, 2))), r"\[k, values\]"),
        (lambda: ChainBatch(ChainPotentials.of([[np.nan]], [[0.0]]), [0, 1]), "NaN"),
    ],
)
def test_potentials_that_are_none(make, message):
    with pytest.raises(InputError, match=message):
        make()


def test_couplings_without_factors_change_nothing(rng):
    batch = chain(rng, (3,))
    graph = Graph()
    words = tokens_of(graph.add(batch), (3,))
    graph.couple(same_label(2, -1.0), words[[]], words[[]])
    graph.couple(not_both(np.zeros(0)), words[[]], words[[]])
    graph.couple(exactly_one(), words[[]], words[[]])
    for engine in ENGINES:
        assert_allclose(graph.solve(engine).scores, batch.score(batch.best()))
    for engine in ("bp", "brute"):
        assert_allclose(graph.marginals(engine).log_z, batch.log_partition())
    assert graph.marginals("gibbs", samples=5).of(words).shape == (3, 2)


# graphs with little in them


@pytest.mark.parametrize("engine", ENGINES)
def test_empty_graphs(engine):
    with pytest.raises(InputError, match="the graph is empty: add a structure, or variables"):
        Graph().solve(engine)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("lengths", [(), (0, 0), (0, 2, 0), (3,)])
def test_structures_alone(rng, engine, lengths):
    batch = chain(rng, lengths)
    graph = Graph()
    node = graph.add(batch)
    found = graph.solve(engine)
    assert_allclose(found.scores, batch.score(batch.best()))
    assert found[node].tolist() == batch.best().tolist()
    assert found.exact == (engine != "gibbs" or not lengths)
    if engine in PROBABLE:
        graph.marginals(engine)


@pytest.mark.parametrize("engine", ENGINES)
def test_variables_alone(engine):
    graph = Graph()
    values = graph.free([[0.0, 1.0, -np.inf]])
    assert graph.solve(engine).values(values).tolist() == [1]
    assert graph.solve(engine).values(graph.free(np.zeros((0, 2)))[[]]).tolist() == []


@pytest.mark.parametrize("engine", ENGINES)
def test_what_forbids_everything_is_named(rng, engine):
    unary = np.array([[0.0, 0.0], [-np.inf, -np.inf]])
    graph = Graph()
    graph.add(chain(rng, (2,)))
    graph.add(ChainBatch(ChainPotentials.of(unary, np.zeros((2, 2))), [0, 1, 2]))
    with pytest.raises(InputError, match="node 1, sentence 1: its potentials forbid every answer"):
        graph.solve(engine)
    graph = Graph()
    graph.free([[-np.inf, -np.inf]])
    with pytest.raises(InputError, match="a free variable forbid all its values"):
        graph.solve(engine)


# contradictions


def contradictory(rng):
    """Two components, of which the second has no answer."""
    graph = Graph()
    fine = graph.free(np.array([[0.0, 1.0], [0.0, 2.0]]))
    graph.couple(not_both(), fine[:1], fine[1:])
    words = tokens_of(graph.add(chain(rng, (2, 2))), (2, 2))
    graph.couple(same_label(2, -1.0), words[:1], words[3:])
    graph.couple(equals(2), words[1:2], words[2:3])
    graph.couple(Table([[-np.inf, 0.0], [0.0, -np.inf]], name="unlike"), words[1:2], words[2:3])
    return graph


@pytest.mark.parametrize("engine", ENGINES)
def test_contradictions_are_said_plainly(rng, engine):
    graph = contradictory(rng)
    found = graph.solve(engine)
    lost = int(graph.wiring.component[graph.wiring.block_of[2]])
    assert found.possible.tolist() == [c != lost for c in range(2)]
    assert found.scores[1 - lost] == 2.0
    if engine in HEURISTIC:
        assert not found.conflicts
        assert not found.exact
        assert not found.converged[lost]
        assert found.trust().startswith(f"no answer was found to problem {lost}: the best that was found breaks ")
        assert "equals over variables 3, 4" in found.trust() or "unlike over variables 3, 4" in found.trust()
    else:
        assert found.conflicts == {
            lost: "these couplings contradict each other or the structures: equals over variables 3, 4; "
            "unlike over variables 3, 4"
        }
        assert found.trust().startswith(f"problem {lost} has no answer: these couplings contradict")


@pytest.mark.parametrize("engine", PROBABLE)
def test_what_has_no_answer_has_no_probabilities_to_trust(rng, engine):
    found = contradictory(rng).marginals(engine, **({"samples": 20} if engine == "gibbs" else {}))
    lost = int(found.wiring.component[found.wiring.block_of[2]])
    assert np.isfinite(found.probability).all()
    if engine == "brute":
        assert found.log_z[lost] == -np.inf
    else:
        assert not found.exact[lost]
    if engine == "gibbs":
        assert not found.converged[lost]


@pytest.mark.parametrize("engine", PROBABLE)
def test_contradictions_without_loops(engine):
    graph = Graph()
    values = graph.free([[0.0, -np.inf], [-np.inf, 0.0]])
    graph.couple(equals(2), values[:1], values[1:])
    found = graph.marginals(engine, **({"samples": 20} if engine == "gibbs" else {}))
    assert np.isfinite(found.probability).all()
    if engine == "brute":
        assert found.log_z.tolist() == [-np.inf]
    else:
        assert not found.exact.any()
        assert not found.converged.any()


# numbers of any size


def large(scale, hard=False):
    rng = np.random.default_rng(3)
    graph = Graph()
    words = tokens_of(graph.add(chain(rng, (3, 2), 3, abs(scale))), (3, 2))
    table = scale * rng.normal(size=(2, 3, 3))
    if hard:
        table[:, 0, :2] = -np.inf
    graph.couple(Table(table, own=True), words[:2], words[3:])
    spans = graph.add(segments(rng, (3,), 2, abs(scale))).spans([0], [0], [2], [0])
    graph.couple(not_both(), spans, graph.add(trees(rng, (2,), abs(scale))).arcs([0], [0], [1]))
    return graph


@pytest.mark.parametrize("scale", [1e6, -1e6, 1e-6])
@pytest.mark.parametrize("hard", [False, True])
def test_potentials_of_any_size(scale, hard):
    graph = large(scale, hard)
    truth, sums = graph.solve("brute"), graph.marginals("brute")
    for engine in ("bp", "dual", "ilp"):
        found = graph.solve(engine)
        assert (found.bounds >= truth.scores - 1e-9 * np.abs(truth.scores) - 1e-6).all()
        assert_allclose(found.scores[found.certain], truth.scores[found.certain], rtol=1e-9, atol=1e-5)
    assert (graph.solve("gibbs", samples=20).scores <= truth.scores + 1e-3).all()
    found = graph.marginals("bp")
    assert np.isfinite(found.probability).all()
    assert found.exact.sum() == 1
    assert_allclose(found.log_z[found.exact], sums.log_z[found.exact], rtol=1e-9, atol=1e-6)
    of = np.repeat(found.exact[graph.wiring.component[graph.wiring.block_of]], graph.wiring.sizes)
    assert_allclose(found.probability[of], sums.probability[of], atol=1e-6)


def test_small_gaps_of_large_scores_are_no_certificates():
    assert gaps(np.array([1e6, 1.0, -np.inf, -np.inf]), np.array([1e6 + 0.1, 1.0 + 1e-7, 0.0, -np.inf])).tolist() == [
        pytest.approx(0.1),
        0.0,
        np.inf,
        0.0,
    ]


# engines, settings and kinds of factors that do not go together


@pytest.mark.parametrize(
    ("engine", "how", "message"),
    [
        ("bp", {"damping": 1.0}, "below 1"),
        ("bp", {"schedule": "wild"}, "no schedule 'wild'; there are flood, residual"),
        ("bp", {"iterations": 0}, "at least 1"),
        ("bp", {"tolerance": float("nan")}, "tolerance"),
        ("bp", {"temperatures": ()}, "at least one"),
        ("bp", {"temperatures": (0.0,)}, "above 0"),
        ("dual", {"method": "magic"}, "no method 'magic'"),
        ("dual", {"iterations": 0}, "at least 1"),
        ("dual", {"temperatures": (-1.0,)}, "above 0"),
        ("gibbs", {"samples": 0}, "at least 1"),
        ("gibbs", {"seed": -1}, "at least 0"),
        ("gibbs", {"unsure": 0.0}, "above 0"),
        ("gibbs", {"moves": "jumps"}, "no moves 'jumps'"),
        ("gibbs", {"start": "there"}, "'best' or at 'random'"),
        ("gibbs", {"moves": "sites"}, "single words cannot be drawn here: not all structures are chains of order 1"),
        ("brute", {"samples": 3}, "solve of the engine 'brute' has no 'samples'"),
        ("dual", {"iteration": 3}, "has no 'iteration'; it has method, iterations, temperatures"),
        ("magic", {}, "no engine 'magic'; there are bp, dual, gibbs, ilp, brute"),
    ],
)
def test_settings_are_checked(engine, how, message):
    with pytest.raises(InputError, match=message):
        large(1.0).solve(engine, **how)


def test_engines_without_probabilities():
    for engine in ("dual", "ilp"):
        with pytest.raises(InputError, match="has no probabilities; take bp or gibbs"):
            large(1.0).marginals(engine)
    with pytest.raises(InputError, match="chains must be at least 1"):
        large(1.0).marginals("gibbs", chains=0)
    with pytest.raises(InputError, match="burn_in at least 0"):
        large(1.0).marginals("gibbs", burn_in=-1)


class Even(Factor):
    """An even number of variables is on: only its scores are written."""

    name = "even"

    def sizes(self):
        return None

    def scores(self, values):
        return np.where(values.sum(axis=1) % 2 == 0, 0.0, -np.inf)


def test_kinds_that_only_score_are_written_out(rng):
    graph = Graph()
    values = graph.free(rng.normal(size=(6, 2)))
    graph.couple(Even(), values[:2], values[2:4], values[4:])
    truth, sums = graph.solve("brute"), graph.marginals("brute")
    for engine in ("bp", "dual", "ilp"):
        found = graph.solve(engine)
        assert_allclose(found.scores, truth.scores)
        assert found.exact or engine != "ilp"
    assert (graph.solve("gibbs", samples=100).scores > -np.inf).all()
    assert_allclose(graph.marginals("bp").of(values), sums.of(values), atol=1e-8)
    assert_allclose(graph.marginals("bp").log_z, sums.log_z)


@pytest.mark.parametrize("engine", ["bp", "dual", "ilp", "brute"])
def test_engines_say_what_they_cannot_take(engine):
    graph = Graph()
    graph.couple_all(Even(), graph.free(np.tile([0.0, 1.0], (20, 1))))
    with pytest.raises(InputError, match=r"even: .*joint values|joint answers are too many"):
        graph.solve(engine)


def test_results_know_their_graph(rng):
    graph, other = Graph(), Graph()
    node, values = graph.add(chain(rng, (2,))), graph.free(np.zeros((1, 2)))
    foreign, far = other.add(chain(rng, (2,))), other.free(np.zeros((1, 2)))
    found, beliefs = graph.solve(), graph.marginals()
    for wrong in (lambda: found[foreign], lambda: found.values(far), lambda: beliefs[foreign], lambda: beliefs.of(far)):
        with pytest.raises(InputError, match="of another graph"):
            wrong()
    late = graph.free(np.zeros((1, 2)))
    with pytest.raises(InputError, match="after it was answered"):
        found.values(late)
    with pytest.raises(InputError, match="counts no parts"):
        graph.marginals("gibbs", samples=2)[node]
    assert found.values(values).shape == (1,)
    assert len(beliefs[node].unary) == 2


# much of it


def long_text(words, labels=3, occurs=10, sentence=20):
    """A document of so many words, each linked to the next four that are the same."""
    rng = np.random.default_rng(0)
    lengths = np.full(words // sentence, sentence)
    graph = Graph()
    node = graph.add(
        ChainBatch(ChainPotentials.of(rng.normal(size=(words, labels)), 0.3 * np.eye(labels)), np.cumsum([0, *lengths]))
    )
    texts = tokens_of(node, lengths)
    of = rng.integers(words // occurs, size=words)
    order = np.argsort(of, kind="stable")
    pairs = [(order[:-k], order[k:]) for k in range(1, 5)]
    first, second = (np.concatenate(each) for each in zip(*pairs, strict=True))
    same = of[first] == of[second]
    graph.couple(same_label(labels, -0.2, 0.2), texts[first[same]], texts[second[same]])
    return graph


@pytest.mark.parametrize(
    ("engine", "how"),
    [
        ("bp", {"iterations": 1, "temperatures": (1.0,)}),
        ("dual", {"iterations": 2, "temperatures": (0.1,)}),
        ("gibbs", {"samples": 5}),
    ],
)
def test_long_documents(monkeypatch, engine, how):
    monkeypatch.setattr(bp, "PROOFS", 2)
    graph = long_text(100_000)
    assert graph.wiring.components == 1
    assert len(graph.couplings[0]) > 300_000
    long_text(100).solve(engine, **how)  # compiles, which is not timed
    begun = time.process_time()
    found = graph.solve(engine, **how)
    assert time.process_time() - begun < 60.0  # seconds: no square of 100,000
    assert found.possible.all()


def test_factors_over_thousands_of_variables(rng):
    for size in (5, 5000):  # the first compiles, which is not timed
        graph = Graph()
        values = graph.free(np.stack([np.zeros(size), rng.normal(size=size)], axis=1))
        begun = time.process_time()
        graph.couple_all(at_most_one(), values)
        found = graph.solve("dual", method="subgradient", iterations=2)
        graph.marginals("bp", iterations=2)
    assert time.process_time() - begun < 15.0  # seconds: no square of 5,000
    assert found.values(values).sum() <= 1


@pytest.mark.parametrize("temperature", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("required", [False, True])
def test_messages_of_at_most_one_are_those_written_out(rng, required, temperature):
    kind = exactly_one() if required else at_most_one()
    incoming = [rng.normal(size=(3, 2)) for _ in range(4)]
    sent, truth = kind.messages(incoming, temperature), Factor.messages(kind, incoming, temperature)
    for own, right in zip(sent, truth, strict=True):
        assert_allclose(own[:, 1] - own[:, 0], right[:, 1] - right[:, 0])
    assert_allclose(kind.log_partition(incoming, temperature), Factor.log_partition(kind, incoming, temperature))
    for a in range(4):
        values = rng.integers(2, size=(3, 4))
        assert_allclose(kind.given(a, values), Factor.given(kind, a, values))


def test_one_word_that_comes_very_often():
    from dovetail import Sentence
    from dovetail.columns import Columns
    from dovetail.models.consistency.links import AHEAD, links_of

    counts = [1000, 5000]
    found = [links_of(Columns.of([Sentence(("Woods", "won"), document="one")] * n, ())) for n in counts]
    assert [len(links) for links in found] == [AHEAD * n - AHEAD * (AHEAD + 1) // 2 for n in counts]
    assert all(np.bincount(links.first).max() <= AHEAD for links in found)


# Ctrl-C


def interrupting(function, at):
    """The function, which raises KeyboardInterrupt when it is called for the so-manieth time."""
    calls = []

    def wrapped(*args, **how):
        calls.append(1)
        if len(calls) == at:
            raise KeyboardInterrupt
        return function(*args, **how)

    return wrapped


@pytest.mark.parametrize(
    ("engine", "how", "owner", "name", "at"),
    [
        ("bp", {}, Wiring, "sums", 3),
        ("bp", {}, Wiring, "best", 3),
        ("dual", {}, Wiring, "best", 2),
        ("dual", {"method": "smooth"}, Wiring, "sums", 4),
        ("gibbs", {"moves": "blocks"}, gibbs._Blocks, "sweep", 3),
        ("gibbs", {}, gibbs, "improved", 1),
        ("ilp", {}, Wiring, "best", 3),
        ("brute", {}, brute, "_enumerated", 2),
    ],
)
def test_interrupts_return_the_best_so_far(monkeypatch, engine, how, owner, name, at):
    graph, truth = large(1.0), large(1.0).solve("brute")
    monkeypatch.setattr(owner, name, interrupting(getattr(owner, name), at))
    found = graph.solve(engine, **how)
    assert found.interrupted
    assert found.possible.all()
    assert (found.scores <= truth.scores + 1e-9).all()
    assert not found.exact
    assert (found.bounds >= truth.scores - 1e-6).all()


@pytest.mark.parametrize(
    ("engine", "owner", "name"), [("bp", bp._Propagation, "send"), ("gibbs", gibbs._Blocks, "sweep")]
)
@pytest.mark.parametrize("at", [1, 30])
def test_interrupts_return_the_probabilities_so_far(monkeypatch, engine, owner, name, at):
    graph = large(1.0)
    monkeypatch.setattr(owner, name, interrupting(getattr(owner, name), at))
    how = {"samples": 50, "moves": "blocks"} if engine == "gibbs" else {"tolerance": 0.0}
    found = graph.marginals(engine, **how)
    assert found.interrupted
    assert not found.converged.any()
    assert not found.exact.any()
    assert_allclose(np.add.reduceat(found.probability, graph.wiring.ptr[:-1]), 1.0)


@pytest.mark.parametrize("asked", ["solve", "marginals"])
def test_compiled_loops_hear_of_interrupts(monkeypatch, asked):
    graph = long_text(2000)
    getattr(graph, asked)("gibbs", samples=2)  # compiles
    kernel = "anneal" if asked == "solve" else "count"
    usual = getattr(sites, kernel)

    def begun(*given):
        """The main thread is waiting by now: it hears of it while the loop is running."""
        threading.Timer(0.2, _thread.interrupt_main).start()
        usual(*given)

    monkeypatch.setattr(sites, kernel, begun)
    monkeypatch.setattr(sites, "run_shards", lambda work, shards, threads: work(next(iter(shards))))
    found = getattr(graph, asked)("gibbs", samples=10_000_000, unsure=None)
    assert found.interrupted


@pytest.mark.parametrize("threads", [1, 3])
def test_interrupts_among_many_graphs(monkeypatch, threads):
    graphs = [large(1.0) for _ in range(6)]
    whole = solve_all(graphs, "dual", threads=1)
    if threads == 1:
        monkeypatch.setattr(Graph, "solve", interrupting(Graph.solve, 3))
    else:  # only the main thread hears of it
        monkeypatch.setattr("dovetail.joint.many.run_shards", interrupting(None, 1))
    found = solve_all(graphs, "dual", threads=threads)
    assert [each.interrupted for each in found] == ([False] * 2 + [True] * 4 if threads == 1 else [True] * 6)
    assert all(each.possible.all() and each.score <= whole[0].score + 1e-9 for each in found)
    monkeypatch.setattr("dovetail.joint.many.run_shards", interrupting(None, 1))
    with pytest.raises(KeyboardInterrupt):
        marginals_all(graphs, threads=threads)
