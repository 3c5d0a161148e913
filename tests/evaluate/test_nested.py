from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dovetail.evaluate import nested_scores
from dovetail.evaluate.nested import split_nested
from dovetail.text.sentence import Span

SPANS = st.lists(
    st.builds(
        lambda start, length, label: Span(start, start + length, label),
        st.integers(0, 6),
        st.integers(1, 5),
        st.sampled_from("AB"),
    ),
    max_size=8,
)


@given(SPANS)
def test_inner_spans_lie_in_a_longer_one(spans):
    outer, inner = split_nested(spans)

    def is_inner(span: Span) -> bool:
        return any(
            other.start <= span.start and span.end <= other.end and other.end - other.start > span.end - span.start
            for other in spans
        )

    assert sorted(map(str, inner)) == sorted(str(span) for span in spans if is_inner(span))
    assert sorted(map(str, outer)) == sorted(str(span) for span in spans if not is_inner(span))


@given(st.lists(SPANS, max_size=4))
def test_the_parts_add_up_in_gold(several):
    scores = nested_scores(several, several)
    assert scores.outermost.gold + scores.inner.gold == scores.all.gold == scores.all.correct


def test_scores():
    gold = [[Span(0, 3, "A"), Span(1, 2, "B")], [Span(0, 1, "A")]]
    flat = [[Span(0, 3, "A")], [Span(0, 1, "B")]]
    scores = nested_scores(gold, flat)
    assert (scores.all.gold, scores.all.correct) == (3, 1)
    assert (scores.outermost.precision, scores.outermost.recall) == (50, 50)
    assert (scores.inner.gold, scores.inner.predicted, scores.inner.f1) == (1, 0, 0)
    found = scores.as_dict()
    assert (found["f1_outermost"], found["f1_inner"], found["f1"]) == (50, 0, 40)


def test_a_right_span_in_the_wrong_part_counts_only_in_all():
    scores = nested_scores([[Span(0, 3, "A"), Span(1, 2, "B")]], [[Span(1, 2, "B")]])
    assert (scores.all.correct, scores.outermost.correct, scores.inner.correct) == (1, 0, 0)
