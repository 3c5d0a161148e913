"""Modules as scorers: slopes against finite differences for every structure, pieces, dropout, threads, bad shapes."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from tests.extras import NEEDS

pytest.importorskip("torch", reason=NEEDS["torch"])


from dovetail.features.algebra.sets import FeatureSet
from dovetail.features.compile.columns import columns_for
from dovetail.features.compile.design import Compiler
from dovetail.learning.losses import likelihood
from dovetail.learning.objective import Objective
from dovetail.learning.optimisers.lbfgs import LBFGS
from dovetail.learning.priors import Prior
from dovetail.neural import flat
from dovetail.neural.extra import torch
from dovetail.neural.scorer import ModuleScorer, scores_of
from dovetail.scorers.chain import EDGE, NODE, ChainForm, Forbidden
from dovetail.scorers.compiled import CompiledPart, PartSettings
from dovetail.scorers.nested import NestedForm
from dovetail.scorers.segments import SegmentForm
from dovetail.scorers.transitions import Transitions
from dovetail.sparse import SparseGradient
from dovetail.text.sentence import Sentence
from tests.neural.modules import Window, inputs_of
from tests.scorers.slopes import check_slope

OFFSETS = np.array([0, 3, 4, 4, 8, 10])
RNG = np.random.default_rng(0)
WORDS = RNG.integers(0, 7, 10)
LABELS = RNG.integers(0, 3, 10).astype(np.int32)


def chain_form(order: int = 1) -> ChainForm:
    transitions = Transitions.observed(LABELS, OFFSETS, 3, order, full=True)
    return ChainForm(3, order, Forbidden.nothing(3, order), transitions)


FORMS = {
    "chain": (chain_form(), (NODE,)),
    "order-0": (chain_form(0), (NODE,)),
    "order-2": (chain_form(2), (NODE, EDGE)),
    "semi-Markov": (SegmentForm(np.array([1, 3], np.int32), 1), ("start", "end", "inside", "phrase")),
    "nested": (NestedForm(2, 2, 10), ("word", "start", "end", "inside", "phrase")),
}


def scorer_of(form, parts, linear=None, dropout=0.0, **how) -> ModuleScorer:
    torch.manual_seed(0)
    module = Window(form, parts, dropout=dropout).double()
    return ModuleScorer(form, OFFSETS, linear or {}, module=module, inputs=inputs_of(WORDS, OFFSETS), **how)


def objective_of(scorer, other) -> Objective:
    """The right answers are the best ones under other weights."""
    weight = np.random.default_rng(5).normal(size=other.parameters)
    return Objective(scorer, lambda which: (other.batch(weight, which).best(), None), likelihood)


def linear_parts(templates, form) -> dict:
    features = FeatureSet.of(templates)
    text = [Sentence(tuple(f"w{i}" for i in WORDS[a:b])) for a, b in itertools.pairwise(OFFSETS)]
    compiler = Compiler(columns_for(text, features), text)
    settings = PartSettings(1, None)
    parts = features.parts.items()
    return {p: CompiledPart.compile(compiler, list(own), None, form.outputs(p), settings).scorer for p, own in parts}


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("chunk", [2, 4096])
def test_slopes_are_those_of_finite_differences(name: str, chunk: int) -> None:
    form, parts = FORMS[name]
    check_slope(objective_of(scorer_of(form, parts, chunk=chunk), scorer_of(form, parts)))


def test_linear_features_stay_beside_a_module() -> None:
    form = chain_form()
    linear = linear_parts(["word[0]", "edge(word[0])"], form)
    scorer = scorer_of(form, (NODE,), linear)
    assert scorer.parameters == sum(s.layout.parameters for s in linear.values()) + 9 + flat.size(scorer.module)
    check_slope(objective_of(scorer, scorer_of(form, (NODE,), linear_parts(["word[0]", "edge(word[0])"], form))))
    weight = np.random.default_rng(2).normal(size=scorer.parameters)
    both = scorer.batch(weight).potentials
    weight[: scorer.after_parts] = 0.0
    alone = scorer.batch(weight).potentials
    assert (both.unary != alone.unary).any()
    assert (alone.edge == 0).all()
    with_module = scores_of(scorer.module, scorer.inputs, OFFSETS)[NODE]
    assert np.allclose(alone.unary, with_module)


def test_pieces_change_nothing() -> None:
    form = chain_form()
    weight = np.random.default_rng(2).normal(size=scorer_of(form, (NODE,)).parameters)
    whole, pieces = (objective_of(scorer_of(form, (NODE,), chunk=n), scorer_of(form, (NODE,))) for n in (4096, 3))
    assert whole(weight)[0] == pytest.approx(pieces(weight)[0])
    np.testing.assert_allclose(whole(weight)[1], pieces(weight)[1], atol=1e-12)


def step_of(scorer, weight, which):
    sink = SparseGradient.of_size(scorer.parameters)
    objective = objective_of(scorer, scorer_of(*FORMS["chain"]))
    return objective.accumulate(weight, which, sink), sink.value


def test_dropout_is_for_training_alone_and_seeded() -> None:
    weight = np.random.default_rng(2).normal(size=scorer_of(*FORMS["chain"]).parameters)
    which, other = np.array([0, 3]), np.array([3, 0])
    drops = scorer_of(*FORMS["chain"], dropout=0.5, training=True)
    plain = scorer_of(*FORMS["chain"], dropout=0.5)
    before = torch.random.get_rng_state()
    value, slope = step_of(drops, weight, which)
    assert torch.equal(before, torch.random.get_rng_state())
    again = scorer_of(*FORMS["chain"], dropout=0.5, training=True)
    assert value == step_of(again, weight, which)[0]
    assert slope.tobytes() == step_of(again, weight, which)[1].tobytes()
    assert value != pytest.approx(step_of(plain, weight, which)[0])
    assert value != pytest.approx(step_of(drops, weight, other)[0])
    seeds = [step_of(scorer_of(*FORMS["chain"], dropout=0.5, training=True, seed=s), weight, which)[0] for s in (1, 2)]
    assert seeds[0] == value != seeds[1]
    # All sentences together are a function of the weights.
    assert drops.batch(weight).log_partition().tolist() == plain.batch(weight).log_partition().tolist()


def test_threads_change_no_bit() -> None:
    before, found = torch.get_num_threads(), []
    for threads in (1, 3):
        torch.set_num_threads(threads)
        objective = objective_of(scorer_of(*FORMS["chain"], threads=threads), scorer_of(*FORMS["chain"]))
        value, slope = objective(np.random.default_rng(2).normal(size=objective.parameters))
        found.append((value, slope.tobytes()))
        assert torch.get_num_threads() == threads
    torch.set_num_threads(before)
    assert found[0] == found[1]


def test_it_learns() -> None:
    scorer = scorer_of(*FORMS["chain"])
    start = np.concatenate([np.zeros(9), flat.read(scorer.module)])
    gold = scorer_of(*FORMS["chain"]).batch(np.random.default_rng(5).normal(size=scorer.parameters)).best()
    objective = Objective(scorer, lambda which: (gold, None), likelihood)
    weight = LBFGS(limit=60).minimise(objective, Prior(0.01), start)
    assert (scorer.batch(weight).best() == gold).all()


def test_vectors_and_arrays_are_the_module() -> None:
    scorer = scorer_of(*FORMS["chain"])
    weight = np.random.default_rng(2).normal(size=flat.size(scorer.module))
    flat.write(scorer.module, weight)
    assert (flat.read(scorer.module) == weight).all()
    arrays = flat.packed(scorer.module, "network.")
    assert {a.dtype for a in arrays.values()} == {np.dtype(np.float32)}
    other = scorer_of(*FORMS["chain"]).module
    flat.unpack(other, arrays, "network.")
    assert np.allclose(flat.read(other), weight, atol=1e-6)
    scorer.module.words.weight.requires_grad_(False)
    assert flat.size(scorer.module) == len(weight) - 21
    del arrays["network.hidden.bias"]
    with pytest.raises(ValueError, match="do not fit"):
        flat.unpack(other, arrays, "network.")


def test_a_module_whose_scores_have_a_wrong_shape_is_told() -> None:
    scorer = scorer_of(*FORMS["chain"])
    scorer.module.out["node_"] = torch.nn.Linear(4, 2).double()
    scorer.parameters = scorer.after_tables + flat.size(scorer.module)
    with pytest.raises(ValueError, match=r"scores 'node' as \(10, 2\), not as \(10, 3\)"):
        scorer.batch(np.zeros(scorer.parameters))
