from __future__ import annotations

import io
from math import exp, log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dovetail.clusters.brown import brown
from dovetail.clusters.clustering import Clustering
from dovetail.clusters.counts import count_bigrams_of
from dovetail.clusters.exchange import exchange
from dovetail.clusters.perplexity import ClassBigramModel
from dovetail.errors import DovetailError
from tests.clusters.test_exchange import made_up_text


def clustering_of(words: list[str], classes: list[int]) -> Clustering:
    paths = [f"{c:04b}" for c in range(max(classes) + 1)]
    return Clustering(words, np.array(classes, np.int32), paths, np.ones(len(words), np.int64))


def model_of(text: list[str], classes: int) -> ClassBigramModel:
    counts = count_bigrams_of([text])
    return ClassBigramModel(clustering_of(counts.words, [i % classes for i in range(len(counts.words))]), counts)


@given(st.lists(st.sampled_from("abcde"), min_size=3, max_size=30), st.integers(1, 3))
@settings(max_examples=50, deadline=None)
def test_probabilities_of_all_words_and_of_unseen_ones_sum_to_one(text: list[str], classes: int) -> None:
    model = model_of(text, min(classes, len(set(text))))
    for history in [[], ["a"], ["z"]]:  # none, a word (seen or not), an unseen one
        before = log(model.perplexity_of([history]).perplexity) * len(history) if history else 0.0
        total = 0.0
        for word in [*sorted(set(text)), "unseen"]:
            found = model.perplexity_of([[*history, word]])
            total += exp(-(log(found.perplexity) * found.words - before))
        assert total == pytest.approx(1.0)


def test_by_hand() -> None:
    # a b a b a c: one class for a, one for b and c. Pairs (0, 1) 3 times, (1, 0) 2 times; D = 0.5 / 3, E = 1.5 / 4.
    counts = count_bigrams_of(["ababac"])
    model = ClassBigramModel(clustering_of(["a", "b", "c"], [0, 1, 1]), counts)
    D, E = 0.5 / 3, 1.5 / 4
    b_after_a = ((3 - D) / 3 + D / 3 * 0.5) * (2 - E) / 3
    a_first = 0.5 * (3 - E) / 3
    assert model.perplexity_of(["ab"]).perplexity == pytest.approx((a_first * b_after_a) ** -0.5)
    unseen_first = 0.5 * E / 3 + 0.5 * 2 * E / 3
    found = model.perplexity_of(["z"])
    assert found.perplexity == pytest.approx(1 / unseen_first)
    assert (found.words, found.unseen) == (1, 1)
    assert np.isnan(found.of_seen)


def test_a_file_is_read_as_running_text_with_lines_joined() -> None:
    model = model_of(made_up_text(50), 3)
    text = made_up_text(10, seed=1)
    lines = io.StringIO("\n\n".join(" ".join(text[i : i + 5]) for i in range(0, len(text), 5)))
    assert model.perplexity(lines) == pytest.approx(model.perplexity_of([text]))
    assert model.perplexity([io.StringIO(" ".join(text[:7])), io.StringIO(" ".join(text[7:]))]) == pytest.approx(
        model.perplexity_of([text])
    )


def test_words_that_the_clustering_lacks_are_unseen() -> None:
    counts = count_bigrams_of([["a", "b", "c", "a"]])
    model = ClassBigramModel(clustering_of(["a", "b", "d"], [0, 1, 1]), counts)
    assert model.perplexity_of([["a", "c", "d", "b"]]).unseen == 2


def test_good_classes_foretell_new_text_better_than_bad_ones() -> None:
    counts = count_bigrams_of([made_up_text(1000)])
    new = [made_up_text(300, seed=1)]
    good = ClassBigramModel(exchange(counts, 5), counts).perplexity_of(new).perplexity
    bad = model_of(made_up_text(1000), 5).perplexity_of(new).perplexity
    one = ClassBigramModel(brown(counts, 1), counts).perplexity_of(new).perplexity
    assert good < one < bad * 1.05


def test_nothing_to_measure() -> None:
    model = model_of(list("abab"), 2)
    with pytest.raises(DovetailError, match="no words"):
        model.perplexity(io.StringIO(" \n"))
    with pytest.raises(DovetailError, match="no word of the clustering"):
        ClassBigramModel(clustering_of(["x"], [0]), count_bigrams_of(["abc"]))
