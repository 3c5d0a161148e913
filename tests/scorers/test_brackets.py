"""Scores of spans: looked up as they were counted, whatever sentences stand beside them."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from dovetail.arrays import offsets_of
from dovetail.features.compile.brackets import COARSE, FINE, SpanFeatures
from dovetail.scorers.bracket_kernels import Kept, keys_of_span
from dovetail.scorers.brackets import BracketScorer, RuleScorer, SpanWeights
from dovetail.structures.brackets import BracketPotentials, Brackets
from dovetail.structures.grammar import cells
from dovetail.structures.ruled import RuledPotentials

WORDS = [("the", "old", "dog", "barks"), ("Ada",), ("no", "dog"), ("it", "is", "late", ",", "Ada", "said")]
TAGS = [("DT", "JJ", "NN", "VBZ"), ("NNP",), ("DT", "NN"), ("PRP", "VBZ", "JJ", ",", "NNP", "VBD")]
ALL = np.arange(3, dtype=np.int16)
EVERYTHING = Kept(np.empty(0, np.int64), np.empty(0, np.int16), ALL, ALL, ALL)


def gold():
    spans = []
    for words in WORDS:
        n = len(words)
        spans.append([each for i in range(n) for each in ((i, n, i % 3), (i, i + 1, 2)) if each[:2] != (n - 1, n)])
    return Brackets.of(spans)


def scorer(templates=FINE, least=1, kept=EVERYTHING):
    features = SpanFeatures(templates)
    weights = SpanWeights.observed(features, WORDS, TAGS, gold(), 3, least)
    return BracketScorer.of(weights, WORDS, TAGS, kept)


def test_a_score_is_the_sum_of_the_weights_of_all_features_of_a_span():
    made = scorer()
    weight = np.random.default_rng(0).normal(size=made.parameters)
    found, layout = made.batch(weight), made.weights.layout
    seen, offsets = made.weights.features.keys(WORDS, TAGS), offsets_of(WORDS)
    for s, words in enumerate(WORDS):
        for i in range(len(words)):
            for j in range(i + 1, len(words) + 1):
                base = offsets[s] + s
                keys = [*keys_of_span(seen, offsets, s, i, j), *seen.first[base + i], *seen.last[base + j]]
                expected = np.zeros(3)
                for f in made.weights.index.number(np.array(keys, np.uint64)).tolist():
                    if f >= 0:
                        own = slice(layout.ptr[f], layout.ptr[f + 1])
                        np.add.at(expected, layout.label[own], weight[own])
                row = found.rows[s] + cells(len(words), i, j)
                assert_allclose(found.potentials.span[row], expected, atol=1e-12)


def test_some_sentences_score_as_they_do_among_all():
    made = scorer()
    weight = np.random.default_rng(1).normal(size=made.parameters)
    whole, some = made.batch(weight), made.batch(weight, np.array([3, 0]))
    first = whole.potentials.span[whole.rows[3] : whole.rows[4]]
    assert_allclose(some.potentials.span[: len(first)], first)
    assert_allclose(some.potentials.span[len(first) :], whole.potentials.span[: whole.rows[1]])


def test_it_does_not_matter_how_many_sentences_are_looked_at_at_once(monkeypatch):
    for least in (1, 2):
        whole = scorer(least=least)
        with monkeypatch.context() as patch:
            patch.setattr("dovetail.scorers.brackets.TOGETHER", 1)
            parts = scorer(least=least)
        assert_array_equal(whole.weights.keys, parts.weights.keys)
        for one, other in zip(whole.weights.layout[:2], parts.weights.layout[:2], strict=True):
            assert_array_equal(one, other)
        for own, others in zip(whole.lists, parts.lists, strict=True):
            assert_array_equal(own.ptr, others.ptr)
            assert_array_equal(own.feature, others.feature)


def test_only_what_is_kept_has_a_score():
    whole = scorer()
    cells_of = whole.rows[-1]
    rng = np.random.default_rng(2)
    counts = rng.integers(0, 2, cells_of)
    ptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    kept = EVERYTHING._replace(ptr=ptr, label=rng.integers(0, 3, ptr[-1]).astype(np.int16))
    pruned = scorer(kept=kept)
    weight = rng.normal(size=whole.parameters)
    free, left = whole.batch(weight).potentials.span, pruned.batch(weight).potentials.span
    allowed = np.zeros(left.shape, bool)
    allowed[np.repeat(np.arange(cells_of), counts), kept.label] = True
    assert_allclose(left[allowed], free[allowed])
    assert (left[~allowed] == -np.inf).all()


def test_rare_features_are_left_out_and_coarse_ones_may_have_all_labels():
    assert scorer(least=2).parameters < scorer().parameters
    features = SpanFeatures(COARSE)
    weights = SpanWeights.observed(features, WORDS, TAGS, gold(), 3, 1, with_all=True)
    assert weights.layout.parameters == 3 * len(weights.keys)


def test_rules_share_weights_of_every_two_of_their_labels():
    made = RuleScorer(scorer())
    weight = np.zeros(made.parameters)
    own = weight[made.spans.parameters :]
    own[:27] = np.arange(27)
    own[27 + 3 * 1 + 2] = 100.0  # label 1 above a left half of 2
    own[36 + 3 * 1 + 0] = 200.0  # label 1 above a right half of 0
    own[45 + 3 * 2 + 0] = 400.0  # halves of 2 and 0
    rule = made.batch(weight).potentials.rule
    assert rule[1, 2, 0] == 9 + 6 + 700
    assert rule[0, 2, 0] == 6 + 400
    slope = RuledPotentials(np.zeros((made.spans.rows[-1], 3)), np.random.default_rng(0).normal(size=(3, 3, 3)))
    out = np.zeros(made.parameters)
    made.backward(slope, out)
    assert_allclose((slope.rule * rule).sum(), out @ weight)


def test_the_gradient_goes_back_to_the_weights():
    made = scorer()
    rng = np.random.default_rng(3)
    weight, direction = rng.normal(size=(2, made.parameters))
    slope = rng.normal(size=(made.rows[-1], 3))
    out = np.zeros(made.parameters)
    made.backward(BracketPotentials(slope), out)
    change = made.batch(weight + direction).potentials.span - made.batch(weight).potentials.span
    assert_allclose(out @ direction, (slope * change).sum())
