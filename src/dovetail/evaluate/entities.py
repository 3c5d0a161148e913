"""Entity scores as conlleval counts them: an entity is right where its boundaries and its label all are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import eq
from typing import TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from dovetail.errors import DovetailError, InputError
from dovetail.evaluate.counts import Counts, LabelledScores, all_counts, paired_sentences, paired_tags
from dovetail.text.sentence import Span
from dovetail.text.tags import tags_to_spans

Entity: TypeAlias = tuple[int, int, str]
Tags: TypeAlias = Sequence[str]
Spans: TypeAlias = Sequence[Entity | Span]
Annotation: TypeAlias = Tags | Spans
"""The entities of one sentence: a tag for each token, or spans (start, end, label), which may be nested."""


@dataclass(frozen=True, slots=True)
class EntityScores(LabelledScores):
    """Precision, recall and F1 of entities, together and for each label; made by `entity_scores`."""

    def report(self) -> str:
        """The text that conlleval prints for the same IOB tags, to the last digit.

        Other schemes get the same layout; conlleval itself does not know their prefixes L, S and U.

        >>> print(entity_scores([["B-PER", "I-PER", "O"]], [["B-PER", "I-PER", "B-LOC"]]).report(), end="")
        processed 3 tokens with 1 phrases; found: 2 phrases; correct: 1.
        accuracy:  66.67%; precision:  50.00%; recall: 100.00%; FB1:  66.67
                      LOC: precision:   0.00%; recall:   0.00%; FB1:   0.00  1
                      PER: precision: 100.00%; recall: 100.00%; FB1: 100.00  1
        """
        if self.tokens is None:
            raise DovetailError("conlleval's report counts tokens: score tags, not spans, or use scores_table")
        lines = [
            f"processed {self.tokens} tokens with {self.gold} phrases; "
            f"found: {self.predicted} phrases; correct: {self.correct}."
        ]
        if self.tokens > 0:
            lines.append(f"accuracy: {self.accuracy:6.2f}%; {_precision_recall_fb1(self)}")
        for label, counts in self.per_label.items():
            # conlleval pads bytes, not characters.
            padded = label.encode().rjust(17).decode()
            lines.append(f"{padded}: {_precision_recall_fb1(counts)}  {counts.predicted}")
        return "\n".join(lines) + "\n"


def _precision_recall_fb1(counts: Counts) -> str:
    return f"precision: {counts.precision:6.2f}%; recall: {counts.recall:6.2f}%; FB1: {counts.f1:6.2f}"


def entity_scores(gold: Sequence[Annotation], predicted: Sequence[Annotation]) -> EntityScores:
    """Score predicted entities against gold ones, sentence by sentence, as conlleval does.

    Both sides hold a tag sequence for each sentence (in any chunk scheme; ill-formed ones are read as
    conlleval reads them), or both a list of spans. A span predicted twice counts twice and is right once.

    >>> scores = entity_scores([["B-PER", "I-PER", "O", "B-LOC"]], [["B-PER", "I-PER", "O", "O"]])
    >>> scores.precision, scores.recall, f"{scores.f1:.2f}"
    (100.0, 50.0, '66.67')
    >>> scores.per_label["LOC"]
    Counts(gold=1, predicted=0, correct=0)
    >>> scores.accuracy, scores.macro.f1
    (75.0, 50.0)
    >>> entity_scores([[(0, 4, "ORG"), (0, 1, "LOC")]], [[(0, 4, "ORG")]]).recall
    50.0
    """
    matches = list(_matches(gold, predicted))
    counted = (Counter(label for match in matches for _, _, label in match[side]) for side in range(3))
    tagged = _are_tags(gold, predicted)
    return EntityScores(
        **all_counts(*counted),
        sentences=len(matches),
        tokens=sum(map(len, gold)) if tagged else None,
        correct_tokens=sum(map(eq, chain(*gold), chain(*predicted))) if tagged else None,
    )


def entity_counts(gold: Sequence[Annotation], predicted: Sequence[Annotation]) -> NDArray[np.int64]:
    """Counts of gold, predicted and correct entities in each sentence, [sentences, 3], for the bootstrap.

    >>> entity_counts([["B-PER", "O"], ["O"]], [["B-PER", "B-LOC"], ["O"]]).tolist()
    [[1, 2, 1], [0, 0, 0]]
    """
    rows = [[len(entities) for entities in match] for match in _matches(gold, predicted)]
    return np.array(rows, dtype=np.int64).reshape(-1, 3)


def _matches(gold: Sequence[Annotation], predicted: Sequence[Annotation]) -> Iterator[tuple[list[Entity], ...]]:
    """The entities of each sentence: the gold, the predicted and the correct ones."""
    for in_gold, in_predicted in _entity_pairs(gold, predicted):
        if in_gold == in_predicted:  # most sentences, and much cheaper than counting
            yield in_gold, in_predicted, in_gold
        else:
            yield in_gold, in_predicted, list((Counter(in_gold) & Counter(in_predicted)).elements())


def _entity_pairs(
    gold: Sequence[Annotation], predicted: Sequence[Annotation]
) -> Iterator[tuple[list[Entity], list[Entity]]]:
    if _are_tags(gold, predicted):
        for gold_tags, predicted_tags in paired_tags(gold, predicted):
            yield tags_to_spans(cast(Tags, gold_tags)), tags_to_spans(cast(Tags, predicted_tags))
    else:
        for _, gold_spans, predicted_spans in paired_sentences(gold, predicted):
            yield _entities(cast(Spans, gold_spans)), _entities(cast(Spans, predicted_spans))


def _entities(spans: Spans) -> list[Entity]:
    return [(s.start, s.end, s.label) if isinstance(s, Span) else (s[0], s[1], s[2]) for s in spans]


def _are_tags(gold: Sequence[Annotation], predicted: Sequence[Annotation]) -> bool:
    """Whether the sentences hold tags; sentences with nothing in them can be of either kind."""
    kinds = {isinstance(sentence[0], str) for side in (gold, predicted) for sentence in side if len(sentence)}
    if len(kinds) == 2:
        raise InputError("tags and spans are mixed: turn the tags to spans with dovetail.text.tags.tags_to_spans")
    return kinds != {False}
