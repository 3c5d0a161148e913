"""Pools of linear models: experts, mixing weights, one model of several, and templates that are selected."""

from __future__ import annotations

import signal
from collections.abc import Callable
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dovetail
from dovetail import DovetailError, NestedTagger, Segmenter, Sentence, Tagger
from dovetail.features.algebra.sets import FeatureSet
from dovetail.features.compile.experts import at_random
from dovetail.features.resources.clusters import Clusters
from dovetail.learning.objective import Share
from dovetail.learning.optimisers.lbfgs import LBFGS
from dovetail.learning.optimisers.online import SGD
from dovetail.learning.priors import Prior
from dovetail.models.plans import PoolPlan
from dovetail.models.tagger.labels import LabelSet
from dovetail.models.tagger.model import ChainModel
from dovetail.models.training import Run
from dovetail.scorers.chain import TRANSITION
from dovetail.structures.contract import tables
from tests.models.corpus import made
from tests.models.kinds import KINDS

LINES = ["bias", "word[-1:2]", "shape[0]", "prefix(1, 3)[0]", "word[0] & shape[0]"]
DATA = [Sentence(s.words, {"ner": s.layers["ner"]}) for s in made(30)]
TRAIN, DEV = DATA[:20], DATA[20:]
RUN = Run(None, None, None, lambda what: None)


def tagger(**settings: Any) -> Tagger:
    return Tagger(**({"features": LINES, "min_count": 1, "iterations": 20, "threads": 1} | settings))


def potentials(model: Any, sentences: list[Any]) -> list[Any]:
    return tables(model.batch(sentences, 1).potentials)


# experts


@pytest.mark.parametrize("pool", ["random:3", "sequential:2", "word|shape", "without:word|shape"])
def test_experts_are_models_of_their_features_alone(pool: str) -> None:
    """Each is what a model with just its features would be, and the pool is the mean of them."""
    one = tagger(pool=pool, l2=0.5, iterations=200)
    training = one._prepare(TRAIN, None, RUN)
    plan = PoolPlan.of(pool)
    assert plan is not None
    shares = [training.share_of(g) for g in range(plan.experts)]
    whole = training.objective.parameters
    assert set(np.concatenate(shares).tolist()) == set(range(whole))
    shared = training.scorer.form.shared
    for share in shares:
        assert set(range(whole - shared, whole)) <= set(share.tolist())  # transitions are everyone's
        assert len(share) < whole or "without" in pool
    one.fit(TRAIN)
    total = np.zeros(whole)
    for share in shares:
        own = LBFGS(tolerance=1e-9).minimise(Share(training.objective, share), Prior(0.5), np.zeros(len(share)))
        total[share] += own / plan.experts
    expected = training.export(total)
    for a, b in zip(potentials(expected, DEV), potentials(one.model_, DEV), strict=True):
        np.testing.assert_allclose(a, b, atol=0.02)


def test_groups_of_templates_are_what_separate_models_learn() -> None:
    parts = {"names": ["word[0]", "bias"], "form": ["shape[0]", "prefix(1, 3)[0]", "bias"]}
    lines = sorted({line for each in parts.values() for line in each})
    both = tagger(features=lines, pool={"names": ["word"], "form": ["shape", "prefix"]}, l2=0.3, iterations=200)
    apart = [tagger(features=each, l2=0.3, iterations=200).fit(TRAIN) for each in parts.values()]
    pooled = dovetail.pool(apart)
    both.fit(TRAIN)
    assert both.card_["pool"] == {"names": 0.5, "form": 0.5}
    for a, b in zip(potentials(both.model_, DEV), potentials(pooled.model_, DEV), strict=True):
        np.testing.assert_allclose(a, b, atol=0.02)


def test_twins_in_different_experts_stay_apart() -> None:
    training = tagger(pool="random:3")._prepare(TRAIN, None, RUN)
    plain = tagger()._prepare(TRAIN, None, RUN)
    part = training.parts["node"]
    assert len(plain.parts["node"].merged.multiplicity) < len(part.merged.multiplicity)
    expert = at_random(part.collector.keys, 3, 1)
    for column in range(len(part.merged.multiplicity)):
        own = set(expert[part.merged.column == column].tolist())
        assert len(own) == 1 or int(part.apart[column]) == 7  # the bias is everyone's
    assert {1, 2, 4, 7} == set(part.apart.tolist())


def test_an_expert_by_key_is_the_same_in_any_corpus() -> None:
    keys = np.random.default_rng(0).integers(0, 2**64, size=3000, dtype=np.uint64)
    members = at_random(keys, 3, seed=1)
    assert np.array_equal(members[::-1], at_random(keys[::-1], 3, seed=1))
    counts = [int((members == 1 << g).sum()) for g in range(3)]
    assert min(counts) > 900
    assert not np.array_equal(members, at_random(keys, 3, seed=2))


def test_elitist_experts_become_one_model(tmp_path: Path) -> None:
    for pool in ("elitist:3", "elitist:2:approximate"):
        one = tagger(pool=pool, iterations=15, l2=0.1).fit(TRAIN, dev=DEV)
        assert one.score(TRAIN) > 90
        one.save(tmp_path / "pool.dovetail")
        assert Tagger.load(tmp_path / "pool.dovetail").predict(DEV) == one.predict(DEV)
    assert tagger(pool="elitist:3", optimiser="adagrad", l2=0.0, l1=0.1).fit(TRAIN).score(TRAIN) > 90


def test_elitist_experts_train_for_so_many_passes() -> None:
    seen: list[int] = []
    tagger(pool="elitist:2", iterations=2).fit(TRAIN[:20], progress=lambda p: seen.append(p.iteration))
    assert seen == [1, 2]
    tagger(pool="elitist:2", iterations=None).fit(TRAIN[:3], progress=lambda p: seen.append(p.limit))
    assert seen[-1] == SGD.limit


@pytest.mark.parametrize("kind", ["segments", "words", "nested"])
@pytest.mark.parametrize("pool", ["random:2", "elitist:2"])
def test_every_linear_kind_pools(kind: str, pool: str, tmp_path: Path) -> None:
    given = KINDS[kind]
    model = type(given.model)(**(given.model.get_params(deep=False) | {"pool": pool, "pool_weights": "learnt"}))
    model.fit(given.sentences, dev=given.sentences)
    assert model.score(given.sentences) > 30
    assert len(model.card_.get("pool", (0, 0))) == 2
    model.save(tmp_path / "pool")
    assert dovetail.load(tmp_path / "pool").predict(given.inputs) == model.predict(given.inputs)


def test_learnt_weights_make_dev_more_likely() -> None:
    groups = {"good": ["word", "prefix"], "poor": ["shape"]}
    lines = ["bias", "word[0]", "prefix(1, 3)[0]", "shape[0]"]
    found = {}
    for how in ("uniform", "learnt"):
        one = tagger(features=lines, pool=groups, pool_weights=how, calibrate=False, balance=False).fit(TRAIN, dev=DEV)
        chains = one.model_.batch(DEV, 1)
        gold = one.model_.labels.encode(one.tags_of(DEV))
        found[how] = float((chains.score(gold) - chains.log_partition()).sum())
        assert len(one.card_["pool"]) == 2
    assert found["learnt"] > found["uniform"]


def test_without_dev_weights_are_learnt_inside_the_training_data() -> None:
    one = tagger(pool="random:2", pool_weights="learnt").fit(TRAIN)
    again = tagger(pool="random:2", pool_weights="learnt").fit(TRAIN)
    assert one.card_["pool"] == again.card_["pool"] != {"random 1": 0.5, "random 2": 0.5}
    assert tagger(pool="random:2", pool_weights="learnt").fit(TRAIN[:3]).card_["pool"]["random 1"] == 0.5


# stops and resumes


class Stops:
    """Ctrl-C at the n-th pass of all experts."""

    def __init__(self, when: int) -> None:
        self.left = when

    def __call__(self, progress: Any) -> None:
        self.left -= 1
        if not self.left:
            signal.raise_signal(signal.SIGINT)


@pytest.mark.parametrize("when", [3, 27])
def test_training_goes_on_where_it_stopped(tmp_path: Path, when: int) -> None:
    whole = tagger(pool="random:3", optimiser="adagrad").fit(TRAIN)
    checkpoint = tmp_path / "c"
    part = tagger(pool="random:3", optimiser="adagrad").fit(TRAIN, checkpoint=checkpoint, progress=Stops(when))
    assert part.card_["stopped"] == "interrupted"
    assert len(part.card_["pool"]) == 1 + (when - 1) // 20
    assert checkpoint.exists()
    again = tagger(pool="random:3", optimiser="adagrad").fit(TRAIN, checkpoint=checkpoint)
    assert not checkpoint.exists()
    for a, b in zip(potentials(whole.model_, DEV), potentials(again.model_, DEV), strict=True):
        np.testing.assert_array_equal(a, b)


def test_elitist_training_goes_on_where_it_stopped(tmp_path: Path) -> None:
    whole = tagger(pool="elitist:2", iterations=6).fit(TRAIN)
    part = tagger(pool="elitist:2", iterations=6).fit(TRAIN, checkpoint=tmp_path / "c", progress=Stops(3))
    assert part.card_["stopped"] == "interrupted"
    again = tagger(pool="elitist:2", iterations=6).fit(TRAIN, checkpoint=tmp_path / "c")
    for a, b in zip(potentials(whole.model_, DEV), potentials(again.model_, DEV), strict=True):
        np.testing.assert_array_equal(a, b)
    tagger(pool="elitist:2", iterations=6).fit(TRAIN, checkpoint=tmp_path / "d", progress=Stops(3))
    with pytest.raises(DovetailError, match="other data or settings"):
        tagger(pool="elitist:3", iterations=6).fit(TRAIN, checkpoint=tmp_path / "d")


# bad plans


@pytest.mark.parametrize(
    ("pool", "message"),
    [
        ("random", "say how many experts"),
        ("random:1", "2 to 64 experts"),
        ("random:65", "2 to 64 experts"),
        ("random:3:approximate", "say how many experts"),
        ("elitist:x", "say how many experts"),
        ("word", "give random:3"),
        ("", "give random:3"),
        ("without:", "an expert without templates"),
        ({}, "an expert without templates"),
        ({"a": []}, "an expert without templates"),
        (3, "give random:3"),
        ("none.toml", "cannot be read"),
        ("word|nothing", "'nothing' names nothing that the templates read; there are word, shape, prefix"),
    ],
)
def test_pools_that_cannot_be(pool: Any, message: str) -> None:
    with pytest.raises(DovetailError, match=message):
        tagger(pool=pool).fit(TRAIN)


def test_groups_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "groups.toml"
    file.write_text('names = ["word"]\nform = ["shape", "prefix(1, 3)"]\n')
    plan = PoolPlan.of(str(file))
    assert plan is not None
    assert plan.names() == ["names", "form"]
    templates = FeatureSet.from_lines("x", LINES).templates
    assert plan.of_templates(templates) == [{0, 1}, {0}, {0}, {0}, {1}, {1}, {0, 1}]
    for text in ("names = 3", "names = [3]", "= ["):
        file.write_text(text)
        with pytest.raises(DovetailError, match=r"groups\.toml: (expected a list|not a TOML)"):
            PoolPlan.of(str(file))


def test_cross_validation_is_not_for_pools() -> None:
    with pytest.raises(DovetailError, match="a pool chooses on dev alone"):
        tagger(pool="random:2", cross_validate=3).fit(TRAIN)


@pytest.mark.parametrize("how", [{"pool": "random:2"}, {"select_templates": True}])
def test_domains_are_no_pools(how: dict[str, Any]) -> None:
    with pytest.raises(DovetailError, match="leave out pool and select_templates"):
        dovetail.MultiDomainTagger(tagger=tagger(**how)).fit({"a": TRAIN, "b": DEV})


def test_elitist_experts_are_not_for_the_perceptron() -> None:
    with pytest.raises(DovetailError, match="proximal"):
        tagger(pool="elitist:2", optimiser="perceptron").fit(TRAIN)


# pools of given models


def renumbered(model: ChainModel) -> ChainModel:
    """The same model with its labels in another order."""
    names = model.labels.names[::-1]
    other = replace(model, labels=LabelSet(names, model.labels.scheme))
    parts = {part: weights.within(other.outputs_in(part, model)) for part, weights in model.parts.items()}
    made = replace(other, parts=parts)
    return replace(made, tables={TRANSITION: other.tables_in(model)[TRANSITION]})


@pytest.mark.parametrize("order", [0, 1, 2])
def test_a_pool_is_the_weighted_sum_of_potentials(order: int) -> None:
    lines = [["word[0]", "bias"], ["shape[0]", "word[0]", *(["edge(bias)"] if order else [])], ["prefix(1, 3)[0]"]]
    models = [tagger(features=f, order=order, seed=i).fit(TRAIN) for i, f in enumerate(lines)]
    pooled = dovetail.pool(models, [0.2, 0.5, 0.3])
    each = [m.model_.batch(DEV, 1).potentials for m in models]
    found = pooled.model_.batch(DEV, 1).potentials
    expected = sum(share * p.unary for share, p in zip((0.2, 0.5, 0.3), each, strict=True))
    np.testing.assert_allclose(found.unary, expected, atol=1e-4)
    with np.errstate(invalid="ignore"):
        sums = sum(share * p.transition for share, p in zip((0.2, 0.5, 0.3), each, strict=True))
    np.testing.assert_allclose(found.transition, sums, atol=1e-4)
    if order:
        np.testing.assert_allclose(found.edge, 0.5 * each[1].edge, atol=1e-4)
    assert pooled.model_.features.lines() == list(dict.fromkeys(chain.from_iterable(lines)))
    # labels in another order are the same labels
    models[1].model_ = renumbered(models[1].model_)
    again = dovetail.pool(models, [0.2, 0.5, 0.3])
    np.testing.assert_allclose(again.model_.batch(DEV, 1).potentials.unary, found.unary, atol=1e-4)
    np.testing.assert_allclose(again.model_.batch(DEV, 1).potentials.transition, found.transition, atol=1e-4)
    assert again.predict(DEV) == pooled.predict(DEV)


@pytest.mark.parametrize("kind", ["segments", "words", "nested"])
def test_pools_of_segments_and_trees(kind: str, tmp_path: Path) -> None:
    given = KINDS[kind]
    models = [
        type(given.model)(**(given.model.get_params(deep=False) | {"l2": l2, "threads": 1})).fit(given.sentences)
        for l2 in (0.05, 0.5)
    ]
    pooled = dovetail.pool(models)
    sentences = [s if isinstance(s, Sentence) else pooled._characters("".join(s)) for s in given.sentences]
    scored = [tables(m.model_.structures(sentences, 1).potentials) for m in (*models, pooled)]
    for a, b, both in zip(*scored, strict=True):
        np.testing.assert_allclose(both, np.where(np.isinf(a + b), -np.inf, (a + b) / 2), atol=1e-4)
    pooled.save(tmp_path / "pool.dovetail")
    again = dovetail.load(tmp_path / "pool.dovetail")
    assert again.predict(given.inputs) == pooled.predict(given.inputs)
    assert dovetail.pool(models, "learnt", given.sentences).card_["dev"] > 30


@pytest.mark.parametrize("kind", ["parser", "dependency"])
def test_parsers_are_pooled_too(kind: str) -> None:
    given = KINDS[kind]
    models = [
        type(given.model)(**(given.model.get_params(deep=False) | {"seed": seed, "threads": 1})).fit(given.sentences)
        for seed in (1, 2)
    ]
    found = dovetail.pool(models, dev=given.sentences)
    assert found.card_["pool"] == [0.5, 0.5]
    assert found.card_["dev"] == found.score(given.sentences)
    with pytest.raises(DovetailError, match="not for parsers"):
        dovetail.pool(models, "learnt", given.sentences)


def test_explanations_and_dev(tmp_path: Path) -> None:
    models = [tagger(features=f).fit(TRAIN) for f in (["word[0]", "bias"], ["shape[0]", "prefix(1, 3)[0]"])]
    pooled = dovetail.pool(models, "learnt", DEV)
    assert pooled.card_["dev"] == pytest.approx(pooled.score(DEV))
    assert len(pooled.card_["pool"]) == 2
    assert pooled.explain(DEV[0], 0).tag in pooled.classes_
    pooled.save(tmp_path / "pool.dovetail")
    assert Tagger.load(tmp_path / "pool.dovetail").predict(DEV) == pooled.predict(DEV)


def clustered(paths: dict[str, str]) -> Tagger:
    features = FeatureSet.from_lines("own", LINES).joined(news=Clusters.of_paths(paths))
    return tagger(features=features).fit(TRAIN)


def test_models_that_cannot_be_pooled() -> None:
    one = tagger().fit(TRAIN)
    places = [Sentence(("in", "Bern"), {"ner": ("O", "B-TOWN")})] * 3
    compact = tagger(hash_bits=16).fit(TRAIN)
    nested = NestedTagger(min_count=1, iterations=2).fit(KINDS["nested"].sentences)
    markov, whole = (Segmenter(target="ner", iterations=2, model=m).fit(TRAIN) for m in ("markov", "semi-markov"))
    cases: list[tuple[Callable[[], Any], str]] = [
        (lambda: dovetail.pool([one]), "two models"),
        (lambda: dovetail.pool([one, nested]), "of one kind, and these are tagger and nested"),
        (lambda: dovetail.pool([one, tagger().fit(places)]), "differ in their labels: .*B-TOWN only in the second"),
        (lambda: dovetail.pool([one, tagger(order=2).fit(TRAIN)]), "differ in their order: 1 and 2"),
        (lambda: dovetail.pool([one, tagger(scheme="iobes").fit(TRAIN)]), "differ in their labels|scheme"),
        (lambda: dovetail.pool([one, compact]), "hash_bits"),
        (lambda: dovetail.pool([markov, whole]), "one family"),
        (lambda: dovetail.pool([one, tagger()]), "not trained"),
        (lambda: dovetail.pool([one, one], "learnt"), "needs dev"),
        (lambda: dovetail.pool([one, one], "best"), "choose one of uniform, learnt"),
        (lambda: dovetail.pool([one, one], [1.0]), "2 finite numbers"),
        (lambda: dovetail.pool([one, one], [1.0, np.nan]), "2 finite numbers"),
        (lambda: dovetail.pool([KINDS["parser"].model] * 2), "not trained"),
        (lambda: dovetail.pool([KINDS["roles"].model] * 2), "cannot be pooled"),
        (lambda: dovetail.pool([clustered({"Ada": "01"}), clustered({"Ada": "10"})]), "with the name 'news'"),
    ]
    for call, message in cases:
        with pytest.raises(DovetailError, match=message):
            call()
    assert dovetail.pool([one, one], "learnt", places).card_["pool"] == [0.5, 0.5]  # dev has nothing that they know
    assert dovetail.pool([clustered({"Ada": "01"}), clustered({"Ada": "01"})]).predict(DEV)


# templates that are selected


def test_templates_that_say_nothing_are_dropped() -> None:
    rng = np.random.default_rng(0)
    rows = [s.with_layer("noise", tuple(str(k) for k in rng.integers(0, 30, len(s)))) for s in TRAIN * 10]
    lines = ["bias", "word[0]", "shape[0]", "noise[0]"]
    one = tagger(features=lines, select_templates=True, selection=0.5, predict_layers=False).fit(rows)
    assert one.model_.features.lines() == ["bias", *[t for t in lines[1:] if t in one.card_["templates"]["kept"]]]
    assert "noise[0]" in one.card_["templates"]["dropped"]
    assert one.needs == ()
    assert one.score(TRAIN) > 90
    with pytest.raises(DovetailError, match="drops every template"):
        tagger(features=lines, select_templates=True, selection=50.0, predict_layers=False).fit(rows)


def test_all_templates_stay_where_all_say_much() -> None:
    one = tagger(select_templates=True, selection=0.001).fit(TRAIN)
    assert one.card_["templates"]["dropped"] == []
    assert set(one.card_["templates"]["kept"]) == set(one.model_.features.lines())
    nested = KINDS["nested"]
    settings = nested.model.get_params(deep=False) | {"select_templates": True, "selection": 0.01}
    assert type(nested.model)(**settings).fit(nested.sentences).score(nested.sentences) > 30
