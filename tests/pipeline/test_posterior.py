"""Pipelines against enumeration: samples converge to the exact posterior, lists of everything equal it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dovetail.models.tagger.estimator import Tagger
from dovetail.pipeline.pipeline import Pipeline
from dovetail.pipeline.stage import Stage
from dovetail.text.sentence import Sentence
from tests.models.corpus import made
from tests.pipeline.toy import VALUES, exact, toys

WORD = [Sentence(("one", "two"))]


def shares(pipeline: Pipeline, layer: str) -> dict[str, float]:
    [posterior] = pipeline.posterior(WORD)
    return {value[0]: p for value, p in posterior[layer]}


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 4))
def test_lists_of_everything_are_the_exact_posterior(seed, size):
    made_up = toys(np.random.default_rng(seed), size)
    pipeline = Pipeline([toy.stage() for toy in made_up], strategy="kbest", k=3**size)
    for name, right in exact(made_up).items():
        found = shares(pipeline, name)
        assert all(found.get(value, 0.0) == pytest.approx(right[value], abs=1e-12) for value in VALUES)


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 4), st.sampled_from([0, 10]))
def test_samples_converge_to_the_exact_posterior(seed, size, k):
    made_up, n = toys(np.random.default_rng(seed), size), 4000
    pipeline = Pipeline([toy.stage() for toy in made_up], samples=n, k=k, seed=seed)
    for name, right in exact(made_up).items():
        found = shares(pipeline, name)
        for value in VALUES:
            spread = np.sqrt(right[value] * (1.0 - right[value]) / n)
            assert found.get(value, 0.0) == pytest.approx(right[value], abs=5 * spread + 1e-9)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([0.5, 2.0]))
def test_temperature_raises_probabilities_to_its_inverse(seed, temperature):
    made_up = toys(np.random.default_rng(seed), 2)
    heated = []
    for toy in made_up:
        raised = {key: p ** (1.0 / temperature) for key, p in toy.table.items()}
        heated.append(toy._replace(table={key: p / p.sum() for key, p in raised.items()}))
    pipeline = Pipeline([toy.stage(temperature=temperature) for toy in made_up], strategy="kbest", k=9)
    for name, right in exact(heated).items():
        assert shares(pipeline, name) == pytest.approx({v: p for v, p in right.items() if p > 0}, abs=1e-9)


@pytest.fixture(scope="module")
def tagger() -> Tagger:
    return Tagger(target="pos", features=["word[0]", "shape[0]"], iterations=2, threads=1).fit(made(8))


def counted(sentence: Sentence) -> Sentence:
    """How many names, and whether it begins with one: it depends on all tags."""
    tags = sentence.layers["pos"]
    return sentence.with_layer("said", (f"{tags.count('NNP')}{tags[0]}",) * len(tags))


def test_a_tagger_and_a_function_of_all_its_tags(tagger):
    words = ["Ada", "saw", "blue", "Bern"]
    right: dict[str, float] = {}
    for answer in tagger.kbest([words], 3**4)[0]:
        said = counted(answer.write(Sentence(tuple(words)))).layers["said"][0]
        right[said] = right.get(said, 0.0) + answer.probability
    stages = [Stage("pos", tagger), Stage("said", counted, ["pos"], ["said"])]
    everything = Pipeline(stages, strategy="kbest", k=3**4).posterior([words])[0]
    assert {v[0]: p for v, p in everything["said"]} == pytest.approx(right)
    drawn = Pipeline(stages, samples=6000, seed=3).posterior([words])[0]
    found = {v[0]: p for v, p in drawn["said"]}
    assert all(found.get(said, 0.0) == pytest.approx(p, abs=0.03) for said, p in right.items())
    marginals = tagger.predict_marginals([words])[0]
    for (place, tag), p in drawn.parts("pos").items():
        assert p == pytest.approx(marginals[place, tagger.classes_.index(tag)], abs=0.03)


def test_the_temperature_of_a_model_divides_its_potentials(tagger):
    words = ["Ada", "saw", "blue", "Bern"]
    for temperature in (0.5, 2.0):
        right = {a.tags: a.probability ** (1.0 / temperature) for a in tagger.kbest([words], 3**4)[0]}
        total = sum(right.values())
        stage = Stage("pos", tagger, temperature=temperature)
        found = dict(Pipeline([stage], strategy="kbest", k=3**4).posterior([words])[0]["pos"])
        assert found == pytest.approx({tags: p / total for tags, p in right.items()}, rel=1e-4)


def test_the_same_seed_gives_the_same_bits_whatever_the_batch_and_the_threads(tagger):
    stages = [Stage("pos", tagger), Stage("said", counted, ["pos"], ["said"])]
    text = [Sentence(s.words) for s in made(9, seed=4)] * 2

    def found(seed=1, text=text, **how):
        settings = {name: how.pop(name) for name in ("threads",) if name in how}
        pipeline = Pipeline(stages, samples=20, seed=seed, **how).set_params(**settings)
        return [(p["pos"], p["said"]) for p in pipeline.posterior(text)]

    usual = found()
    assert found() == found(batch_size=1) == found(batch_size=17) == found(threads=2) == usual
    assert found(text=text[3:5]) == usual[3:5]
    assert found(text=text[::-1]) == usual[::-1]
    assert usual[:9] == usual[9:]
    assert found(seed=2) != usual


def test_a_stage_is_asked_once_for_all_different_inputs(tagger, monkeypatch):
    calls = []
    plain = Tagger.draws

    def draws(self, sentences, counts, rngs):
        calls.append(list(counts))
        return plain(self, sentences, counts, rngs)

    monkeypatch.setattr(Tagger, "draws", draws)
    said: list[tuple[str, ...]] = []

    def noted(sentence):
        said.append(sentence.layers["pos"])
        return counted(sentence)

    stages = [Stage("pos", tagger), Stage("said", noted, ["pos"], ["said"])]
    text = [Sentence(("Ada", "saw", "Bern"))] * 5 + [Sentence(("Kurt", "left"))]
    posterior = Pipeline(stages, samples=30).posterior(text)
    assert calls == [[30, 30]]
    assert len(said) == 5 * len(posterior[0]["pos"]) + len(posterior[5]["pos"])
    assert len(set(said)) == len({value for p in posterior for value, _ in p["pos"]})


def test_asking_again_for_equal_sentences_changes_nothing(tagger):
    from dovetail.pipeline.running import Runner

    stages = Pipeline([Stage("pos", tagger), Stage("said", counted, ["pos"], ["said"])]).stages
    text = [Sentence(("Ada", "saw", "Bern")), Sentence(("Kurt", "left"))] * 3
    runs = [Runner(stages, "sample", 20, 10, 1, print, cached).run(text, 1) for cached in (True, False)]
    assert [c.ballots for c in runs[0]] == [c.ballots for c in runs[1]]
    assert [c.states for c in runs[0]] == [c.states for c in runs[1]]
