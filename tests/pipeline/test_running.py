"""Values on their way through the stages: no sample is lost, and the first stages see whole documents."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dovetail.models.tagger.estimator import Tagger
from dovetail.pipeline.pipeline import Pipeline
from dovetail.pipeline.running import Runner
from dovetail.pipeline.stage import Stage, in_order
from dovetail.text.sentence import Sentence
from tests.models.corpus import made
from tests.pipeline.test_posterior import counted
from tests.pipeline.toy import Toy, toys

WORD = [Sentence(("one", "two"))]


def stages_of(made_up: list[Toy], fails: str | None) -> list[Stage]:
    """Return the stages of toys; each fails on a sentence where a layer that it reads has the value ``fails``."""

    def failing(toy: Toy) -> Stage:
        def function(sentence: Sentence):
            if any(fails in sentence.layers[layer] for layer in toy.reads):
                raise ValueError("no")
            return toy.function(sentence)

        return Stage(toy.name, function, toy.reads, (toy.name,))

    return in_order([failing(toy) for toy in made_up])


def course_of(stages: list[Stage], strategy: str, samples: int, k: int | None):
    [course] = Runner(stages, strategy, samples, k, seed=3, told=lambda line: None).run(WORD, 1)
    return course


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 4), st.integers(1, 60), st.sampled_from([0, None]), st.sampled_from("a?"))
def test_every_stage_carries_all_samples_on(seed, size, samples, k, fails):
    stages = stages_of(toys(np.random.default_rng(seed), size), fails)
    for number in range(1, size + 1):
        course = course_of(stages[:number], "sample", samples, k)
        assert sum(course.states.values()) == samples
        assert all(weight == int(weight) > 0 for weight in course.states.values())
        for ballot in course.ballots:
            assert ballot is None or sum(p for _, p in ballot.votes) == pytest.approx(1.0)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 4), st.sampled_from("a?"))
def test_lists_carry_all_probability_on_as_far_as_they_are_long_enough(seed, size, fails):
    stages = stages_of(toys(np.random.default_rng(seed), size), fails)
    for number in range(1, size + 1):
        assert sum(course_of(stages[:number], "kbest", 1, 3**size).states.values()) == pytest.approx(1.0)
        short = course_of(stages[:number], "kbest", 1, 2).states
        assert 0.0 < sum(short.values()) <= 1.0 + 1e-9


def test_the_first_stages_see_documents():
    features = ["bias", "word[0]", "elsewhere(word[1])"]
    tagger = Tagger(target="pos", features=features, iterations=4, min_count=1, l2=0.01, threads=1)
    tagger.fit([Sentence(s.words, {"pos": s.layers["pos"]}, document=i // 6) for i, s in enumerate(made(12))])
    text = [Sentence(s.words, document=0) for s in made(4, seed=5)]

    def chances(some: list[Sentence]) -> list[float]:
        """The probabilities of the best answers, as shares of those of all that are listed."""
        listed = [[answer.probability or 0.0 for answer in answers] for answers in tagger.kbest(some, 50)]
        return [each[0] / sum(each) for each in listed]

    alone = chances(text)
    assert np.abs(np.subtract(alone, chances([Sentence(s.words) for s in text]))).max() > 0.01  # it looks at documents
    stages = [Stage("pos", tagger), Stage("said", counted, ["pos"], ["said"])]
    for some in (stages[:1], stages):
        found = Pipeline(some, strategy="kbest", k=50).posterior(text)
        assert [posterior["pos"][0][1] for posterior in found] == pytest.approx(alone)
