"""Scores of nested entities: all of them, the outermost, and those inside others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from dovetail.evaluate.entities import EntityScores, entity_scores
from dovetail.evaluate.report import counts_dict, scores_dict
from dovetail.text.sentence import Span


class NestedScores(NamedTuple):
    """The scores of all entities, of the outermost and of the inner ones; made by `nested_scores`."""

    all: EntityScores
    outermost: EntityScores
    inner: EntityScores

    def as_dict(self) -> dict[str, Any]:
        """The scores of all entities for JSON, with ``f1_outermost`` and ``f1_inner`` and their counts.

        >>> spans = [[Span(0, 3, "ORG"), Span(2, 3, "LOC")]]
        >>> scores = nested_scores(spans, [spans[0][:1]]).as_dict()
        >>> scores["recall"], scores["f1_outermost"], scores["f1_inner"], scores["gold_inner"]
        (50.0, 100.0, 0.0, 1)
        """
        parts = (("outermost", self.outermost), ("inner", self.inner))
        named = {f"{key}_{name}": value for name, scores in parts for key, value in counts_dict(scores).items()}
        return scores_dict(self.all) | named


def nested_scores(gold: Sequence[Sequence[Span]], predicted: Sequence[Sequence[Span]]) -> NestedScores:
    """Score predicted entities, which may be nested, against gold ones.

    Each side is cut by itself: its outermost entities are scored against the other's outermost, its inner ones
    against the other's inner ones. The gold part therefore is the same for every system.

    >>> gold = [[Span(0, 3, "ORG"), Span(2, 3, "LOC")]]
    >>> scores = nested_scores(gold, [[Span(0, 3, "ORG"), Span(0, 1, "LOC")]])
    >>> scores.all.f1, scores.outermost.f1, scores.inner.f1
    (50.0, 100.0, 0.0)
    """
    cut_gold, cut_predicted = [split_nested(spans) for spans in gold], [split_nested(spans) for spans in predicted]
    return NestedScores(
        entity_scores(gold, predicted),
        entity_scores([outer for outer, _ in cut_gold], [outer for outer, _ in cut_predicted]),
        entity_scores([inner for _, inner in cut_gold], [inner for _, inner in cut_predicted]),
    )


def split_nested(spans: Sequence[Span]) -> tuple[list[Span], list[Span]]:
    """The outermost spans and the inner ones, which lie in a longer one; crossing or equal ones are outermost.

    >>> outer, inner = split_nested([Span(2, 3, "LOC"), Span(0, 3, "ORG"), Span(0, 3, "PER")])
    >>> [span.label for span in outer], [span.label for span in inner]
    (['ORG', 'PER'], ['LOC'])
    """
    outer: list[Span] = []
    inner: list[Span] = []
    farthest = -1  # the end of the longest reach from further left
    start, end = -1, -1  # the longest span from the present start
    for span in sorted(spans, key=lambda span: (span.start, -span.end)):
        if span.start != start:
            farthest = max(farthest, end)
            start, end = span.start, span.end
        (inner if span.end <= farthest or span.end < end else outer).append(span)
    return outer, inner
