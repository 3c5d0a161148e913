"""Similarity of sentences, and the greedy choice of unlike ones, beside dense arithmetic."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dovetail.active.diversity import TermWeights, choose
from dovetail.features.algebra.strings import normalise_digits, shape

SENTENCES = [
    ["Ada", "met", "Alan", "in", "London"],
    ["Grace", "met", "Kurt", "in", "Vienna"],
    ["12", "%", "of", "34"],
    ["ada", "met", "ada"],
    [],
]


def dense(sentences: list[list[str]]) -> np.ndarray:
    terms = sorted({t for s in sentences for w in s for t in (normalise_digits(w), f"shape {shape(w)}")})
    count = np.array(
        [[sum((t == normalise_digits(w)) + (t == f"shape {shape(w)}") for w in s) for t in terms] for s in sentences]
    )
    rarity = np.log((1 + len(sentences)) / (1 + (count > 0).sum(axis=0))) + 1
    weight = np.sqrt(count) * rarity
    norm = np.linalg.norm(weight, axis=1, keepdims=True)
    return weight / np.where(norm > 0, norm, 1)


def test_similarity_is_the_cosine_of_dense_vectors() -> None:
    vectors, expected = TermWeights.of(SENTENCES), dense(SENTENCES)
    for i in range(len(SENTENCES)):
        assert vectors.similarity(i) == pytest.approx(expected @ expected[i])


words = st.lists(st.sampled_from(["Ada", "ada", "met", "12", "97", "Rome", "!"]), max_size=5)


@given(st.lists(st.tuples(words, st.floats(0, 10)), min_size=1, max_size=8), st.floats(0.05, 1), st.integers(1, 9))
def test_choice_is_the_greedy_one(items: list[tuple[list[str], float]], diversity: float, number: int) -> None:
    sentences, scores = [item[0] for item in items], np.array([item[1] for item in items])
    vectors = dense(sentences)
    value = scores / scores.max() if scores.max() > 0 else scores
    chosen = choose(scores, number, diversity, sentences)
    assert len(chosen) == len(set(chosen)) == min(number, len(items))
    for k, i in enumerate(chosen):
        nearest = (vectors @ vectors[chosen[:k]].T).max(axis=1, initial=0.0)
        gain = (1 - diversity) * value - diversity * nearest
        rest = [j for j in range(len(items)) if j not in chosen[:k]]
        assert gain[i] >= max(gain[rest]) - 1e-9


def test_without_diversity_the_highest_scores_win_and_ties_go_to_the_first() -> None:
    assert choose(np.array([1.0, 3.0, 2.0, 3.0]), 3, 0.0, SENTENCES[:4]) == [1, 3, 2]


def test_nothing_to_choose_from() -> None:
    assert choose(np.empty(0), 3, 0.5, []) == []
