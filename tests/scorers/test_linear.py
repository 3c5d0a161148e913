"""The scorer is a product with the dense matrix of features, in bits that threads do not change."""

from __future__ import annotations

import numpy as np
import pytest

from dovetail.columns import Columns
from dovetail.features.algebra.sets import FeatureSet
from dovetail.features.compile.design import Compiler, assemble
from dovetail.features.compile.index import Collector
from dovetail.features.compile.merge import Merged, merge
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
    scorer = LinearScorer.observed(merged, None if full else outputs, OUTPUTS)
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


def test_parameters_that_no_token_can_use_are_left_out_and_change_nothing() -> None:
    merged, _ = corpus(40)
    full = LinearScorer.observed(merged, None, OUTPUTS)
    kind = np.random.default_rng(4).integers(-1, 3, size=merged.design.tokens, dtype=np.int32)
    bounds = np.array([1, 3, 2], dtype=np.int32)
    scorer = full.within(kind, bounds)
    usable = (kind[:, None] >= 0) & (kind[:, None] < bounds)  # [tokens, outputs]
    fires = matrix(merged.design) != 0
    feature = np.repeat(np.arange(full.layout.size), np.diff(full.layout.ptr))
    kept = (fires.T @ usable)[feature, full.layout.label]
    numbers = (matrix(merged.design) != 1).any(axis=0) & ~np.isin(matrix(merged.design), (0, 1)).all(axis=0)
    assert 0 < scorer.layout.parameters < full.layout.parameters
    exact = ~numbers[feature]  # a number fires everywhere, be it zero
    there = np.zeros(full.layout.parameters, dtype=np.bool_)
    pairs = np.repeat(np.arange(full.layout.size), np.diff(scorer.layout.ptr)) * OUTPUTS + scorer.layout.label
    there[pairs] = True
    assert np.array_equal(there[exact], kept[exact])
    weight = np.random.default_rng(5).normal(size=full.layout.parameters)
    assert np.allclose(scorer.forward(weight[there])[usable], full.forward(np.where(there, weight, 0.0))[usable])
    slope = np.where(usable, np.random.default_rng(6).normal(size=usable.shape), 0.0)
    assert np.allclose(scorer.backward(slope), full.backward(slope)[there])
    assert np.allclose(full.backward(slope)[~there], 0.0)
