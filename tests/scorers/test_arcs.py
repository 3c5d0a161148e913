"""The scorer of arcs: the slopes of every loss, and some sentences as in the whole."""

from __future__ import annotations

import numpy as np
import pytest

from dovetail.features.compile.arcs import ArcFeatures
from dovetail.learning.losses import LOSSES
from dovetail.models.dependency.model import arc_rows
from dovetail.models.dependency.training import arc_objective
from dovetail.scorers.arcs import ArcScorer
from tests.models.treebank import treebank
from tests.scorers.slopes import check_slope

TRAIN = treebank(7)
WORDS, TAGS = [s.words for s in TRAIN], [s.layers["pos"] for s in TRAIN]
HEADS = np.concatenate([np.array(s.layers["head"], np.int32) for s in TRAIN])


@pytest.fixture
def scorer() -> ArcScorer:
    """One that looks at a third of the arcs, and those of the right trees."""
    whole = ArcScorer.of(ArcFeatures.learn(WORDS, 1, 5, 8), WORDS, TAGS)
    kept = np.random.default_rng(3).random(int(whole.places.arcs[-1])) < 0.3
    kept[arc_rows(whole.offsets, HEADS)] = True
    return ArcScorer.of(whole.features, WORDS, TAGS, kept=kept)


@pytest.mark.parametrize("loss", ["likelihood", "softmax-margin"])
def test_gradient_is_the_slope(scorer: ArcScorer, loss: str) -> None:
    check_slope(arc_objective(scorer, HEADS, LOSSES[loss]), size=0.1)


def test_some_sentences_have_the_potentials_that_they_have_among_all(scorer: ArcScorer) -> None:
    weight = np.random.default_rng(1).normal(size=scorer.parameters)
    whole, which = scorer.batch(weight), np.array([5, 0, 2])
    some = scorer.batch(weight, which)
    for place, sentence in enumerate(which.tolist()):
        own, there = (slice(b.places.arcs[i], b.places.arcs[i + 1]) for b, i in ((some, place), (whole, sentence)))
        np.testing.assert_array_equal(some.potentials.attach[own], whole.potentials.attach[there])
    np.testing.assert_array_equal(some.log_partition(), whole.log_partition()[which])
