from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dovetail.errors import DovetailError, InputError
from dovetail.evaluate import Counts, entity_counts, entity_scores
from dovetail.text.sentence import Span
from dovetail.text.tags import tags_to_spans
from tests.extras import NEEDS

from .conlleval_twin import report as conlleval_report

LABELS = ["PER", "LOC", "ORG-part", "a-very-long-label-name"]
ANY_TAG = st.sampled_from(["O", *(f"{prefix}-{label}" for prefix in "BI" for label in LABELS)])


@st.composite
def corpora(draw, tag=ANY_TAG):
    """Gold and predicted tags of the same lengths; predicted often copies gold, so that much is right."""
    gold = draw(st.lists(st.lists(tag, max_size=12), max_size=6))
    predicted = [[draw(st.one_of(st.just(gold_tag), tag)) for gold_tag in sentence] for sentence in gold]
    return gold, predicted


def well_formed(sentence):
    """The same chunks in IOB2."""
    tags = ["O"] * len(sentence)
    for start, end, label in tags_to_spans(sentence):
        tags[start:end] = [f"B-{label}", *[f"I-{label}"] * (end - start - 1)]
    return tags


@given(corpora())
def test_report_is_the_text_of_conlleval(corpus):
    assert entity_scores(*corpus).report() == conlleval_report(*corpus)


@given(corpora())
def test_scores_are_those_of_seqeval_on_well_formed_tags(corpus):
    metrics = pytest.importorskip("seqeval.metrics", reason=NEEDS["seqeval"])
    gold, predicted = ([well_formed(sentence) for sentence in side] for side in corpus)
    scores = entity_scores(gold, predicted)
    if scores.gold == 0:
        return  # seqeval has no table without gold entities
    theirs = metrics.classification_report(gold, predicted, output_dict=True, zero_division=0)
    average = theirs["micro avg"]
    ours = np.array([scores.precision, scores.recall, scores.f1])
    assert ours == pytest.approx(100 * np.array([average[k] for k in ("precision", "recall", "f1-score")]))
    average = theirs["macro avg"]
    assert scores.macro == pytest.approx([100 * average[k] for k in ("precision", "recall", "f1-score")])
    for label, counts in scores.per_label.items():
        assert counts.f1 == pytest.approx(100 * theirs[label]["f1-score"])
        assert counts.gold == theirs[label]["support"]
    if scores.tokens:
        assert scores.accuracy == pytest.approx(100 * metrics.accuracy_score(gold, predicted))


@given(corpora())
def test_gold_against_itself_is_perfect(corpus):
    gold, _ = corpus
    scores = entity_scores(gold, gold)
    assert scores.f1 == (100 if scores.gold else 0)
    assert scores.accuracy == (100 if scores.tokens else 0)


@given(corpora())
def test_changing_sides_swaps_precision_and_recall(corpus):
    gold, predicted = corpus
    forth, back = entity_scores(gold, predicted), entity_scores(predicted, gold)
    assert (forth.precision, forth.recall) == (back.recall, back.precision)
    assert forth.correct == back.correct
    assert forth.per_label.keys() == back.per_label.keys()


@given(corpora())
def test_counts_of_sentences_and_labels_add_up(corpus):
    scores = entity_scores(*corpus)
    total = [scores.gold, scores.predicted, scores.correct]
    assert entity_counts(*corpus).sum(axis=0).tolist() == total
    labels = [(counts.gold, counts.predicted, counts.correct) for counts in scores.per_label.values()]
    assert [sum(column) for column in zip((0, 0, 0), *labels, strict=True)] == total


@given(corpora())
def test_spans_score_as_the_tags_that_spell_them(corpus):
    gold, predicted = corpus
    as_tuples = [tags_to_spans(sentence) for sentence in gold]
    as_spans = [[Span(*span, probability=0.5) for span in tags_to_spans(sentence)] for sentence in predicted]
    by_tags, by_spans = entity_scores(gold, predicted), entity_scores(as_tuples, as_spans)
    assert by_spans.per_label == by_tags.per_label


def test_the_ill_formed_start_is_a_chunk():
    assert entity_scores([["O", "B-PER", "I-PER"]], [["O", "I-PER", "I-PER"]]).f1 == 100


def test_conlleval_pads_bytes():
    report = entity_scores([["B-Orte", "B-Straße"]], [["B-Orte", "B-Straße"]]).report()
    assert [line.index(":") for line in report.splitlines()[2:]] == [17, 16]


def test_nested_and_repeated_spans():
    gold = [[(0, 3, "ORG"), (1, 2, "LOC")]]
    predicted = [[(1, 2, "LOC"), (1, 2, "LOC"), (0, 3, "PER")]]
    scores = entity_scores(gold, predicted)
    assert dict(scores.per_label) == {"LOC": Counts(1, 2, 1), "ORG": Counts(1, 0, 0), "PER": Counts(0, 1, 0)}
    assert (scores.tokens, scores.accuracy) == (None, None)


def test_spans_have_no_report_of_conlleval():
    with pytest.raises(DovetailError, match="score tags"):
        entity_scores([[(0, 1, "PER")]], [[]]).report()


def test_empty_corpus():
    assert entity_scores([], []).report() == conlleval_report([], [])
    assert entity_counts([], []).shape == (0, 3)


@pytest.mark.parametrize(
    ("gold", "predicted", "message"),
    [
        ([["O"], ["O", "O"]], [["O"], ["O"]], "sentence 2: 2 gold tags but 1 predicted"),
        ([["O"], ["O"]], [["O"], []], "sentence 2: 1 gold tags but 0 predicted"),
        ([["O"]], [["O"], ["O"]], "1 gold sentences but 2 predicted"),
        (["B-PER", "O"], ["B-PER", "O"], "sentence 1 is a string"),
        ([["B-PER"]], [[(0, 1, "PER")]], "tags and spans are mixed"),
    ],
)
def test_sides_that_do_not_match_are_refused(gold, predicted, message):
    for scorer in (entity_scores, entity_counts):
        with pytest.raises(InputError, match=message):
            scorer(gold, predicted)
