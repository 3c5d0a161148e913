"""The scorer is a product with the dense matrix of features, in bits that threads do not change."""

from __future__ import annotations

import numpy as np
import pytest

from dovetail.columns import Columns
from dovetail.features.design import Compiler, assemble
from dovetail.features.index import Collector
from dovetail.features.merge import Merged, merge
from dovetail.features.sets import FeatureSet
from dovetail.scorers.linear import LinearScorer
from dovetail.text.sentence import Sentence
from tests.features.test_merge import matrix

OUTPUTS = 3
FEATURES = FeatureSet.of(
    ["bias", "word[-2:3]", "suffix(1, 2)[0]", "bag(word, 2)", "word[-1] & word[0]", "number(n)[1]"]
)


def corpus(sentences: int) -> tuple[Merged, np.ndarray]:
    rng = np.random.default_rng(3)
    made = []
    for _ in range(sentences):
        words = [f"w{i}" for i in rng.zipf(1.5, size=rng.integers(0, 9)) % 50]
        made.append(Sentence(tuple(words), {"n": tuple(str(len(w)) for w in words)}))
    design = assemble(Compiler(Columns.of(made, FEATURES.columns), made), FEATURES.templates, Collector())
    return merge(design), rng.integers(-1, OUTPUTS, size=design.tokens, dtype=np.int32)


@pytest.mark.parametrize("full", [False, True])
def test_forward_and_backward_are_products_with_the_matrix(full: bool) -> None:
    merged, outputs = corpus(20)
    scorer = LinearScorer.observed(merged, outputs, OUTPUTS, full)
    layout = scorer.layout
    rng = np.random.default_rng(1)
    weight = rng.normal(size=layout.parameters)
    dense = np.zeros((layout.size, OUTPUTS))
    feature = np.repeat(np.arange(layout.size), np.diff(layout.ptr))
    dense[feature, layout.label] = weight * scorer.scale
    features = matrix(merged.design)
    assert np.allclose(scorer.forward(weight), features @ dense)
    slope = rng.normal(size=(merged.design.tokens, OUTPUTS))
    expected = (features.T @ slope)[feature, layout.label] * scorer.scale
    assert np.allclose(scorer.backward(slope), expected)
    space = np.empty(layout.parameters)
    assert scorer.backward(slope, space) is space
    assert np.allclose(space, expected)
    binary = (features.max(axis=0) == 1)[feature]  # a number fires everywhere, be it zero
    count = (features != 0).sum(axis=0)[feature] * scorer.scale**2
    assert np.allclose(scorer.firing()[binary], count[binary])


def test_any_number_of_threads_gives_the_same_bits() -> None:
    merged, outputs = corpus(300)
    slope = np.random.default_rng(1).normal(size=(merged.design.tokens, OUTPUTS))
    found = []
    for threads in (1, 2, 3, 7):
        scorer = LinearScorer.observed(merged, outputs, OUTPUTS, threads=threads)
        weight = np.random.default_rng(2).normal(size=scorer.layout.parameters)
        found.append((scorer.forward(weight).tobytes(), scorer.backward(slope).tobytes()))
    assert len(set(found)) == 1
