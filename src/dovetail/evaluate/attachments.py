"""Attachment scores of dependencies: the share of words whose head (UAS), and whose relation too (LAS), is right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple
from unicodedata import category

import numpy as np
from numpy.typing import NDArray

from dovetail.errors import InputError
from dovetail.evaluate.counts import Counts, counts_per_label, paired_sentences, percentage
from dovetail.evaluate.report import SCORES
from dovetail.text.sentence import Sentence


@dataclass(frozen=True, slots=True)
class AttachmentScores:
    """Shares of words with the right head, relation, and both, in percent; made by `attachment_scores`."""

    words: int
    sentences: int
    uas: float
    """Unlabelled attachment score: percentage of words whose head is right."""
    las: float
    """Labelled attachment score: percentage of words whose head and relation are right."""
    label_accuracy: float
    """Percentage of words whose relation is right, whatever their head."""
    exact: float
    """Percentage of sentences whose heads are all right."""
    per_relation: Mapping[str, Counts]
    """Words under each relation, gold and predicted, and how many have the right head too."""

    def as_dict(self) -> dict[str, Any]:
        """The scores for JSON.

        >>> sentence = Sentence(("It", "rains"), {"head": ("2", "0"), "deprel": ("nsubj", "root")})
        >>> scores = attachment_scores([sentence], [sentence]).as_dict()
        >>> scores["uas"], scores["las"], scores["words"]
        (100.0, 100.0, 2)
        """
        names = ("uas", "las", "label_accuracy", "exact", "words", "sentences")
        relations = {
            relation: {name: getattr(counts, name) for name in (*SCORES, "gold")}
            for relation, counts in self.per_relation.items()
        }
        return {**{name: getattr(self, name) for name in names}, "per_relation": relations}


def attachment_scores(
    gold: Sequence[Sentence], predicted: Sequence[Sentence], punctuation: bool = True
) -> AttachmentScores:
    """Score the layers ``head`` and ``deprel`` of predicted sentences against those of gold ones.

    All words count, as in the shared tasks on Universal Dependencies; without ``punctuation`` those made of nothing but
    Unicode punctuation do not, as in the shared tasks of CoNLL 2006 and 2007. Relations are compared whole, with their
    subtypes (``nsubj:pass``). Words with the gold head ``_`` are not annotated and do not count. Without a layer
    ``deprel`` on both sides no relation is right.

    >>> gold = Sentence(("It", "rains", "now"), {"head": ("2", "0", "2"), "deprel": ("nsubj", "root", "advmod")})
    >>> predicted = Sentence(gold.words, {"head": ("2", "0", "1"), "deprel": ("obj", "root", "advmod")})
    >>> scores = attachment_scores([gold], [predicted])
    >>> f"{scores.uas:.1f} {scores.las:.1f} {scores.label_accuracy:.1f}"
    '66.7 33.3 66.7'
    """
    sentences = list(_attachments(gold, predicted, punctuation))
    words = [word for sentence in sentences for word in sentence]
    right = [word.gold for word in words if word.right_head and word.right_relation]
    return AttachmentScores(
        words=len(words),
        sentences=len(sentences),
        uas=percentage(sum(word.right_head for word in words), len(words)),
        las=percentage(len(right), len(words)),
        label_accuracy=percentage(sum(word.right_relation for word in words), len(words)),
        exact=percentage(sum(all(word.right_head for word in words) for words in sentences), len(sentences)),
        per_relation=counts_per_label(
            Counter(word.gold for word in words if word.gold),
            Counter(word.predicted for word in words if word.predicted),
            Counter(right),
        ),
    )


def attachment_counts(
    gold: Sequence[Sentence],
    predicted: Sequence[Sentence],
    punctuation: bool = True,
    score: Literal["uas", "las"] = "uas",
) -> NDArray[np.int64]:
    """Counts of words, again of words, and of right ones in each sentence, [sentences, 3], for tests of significance.

    >>> gold = Sentence(("It", "rains"), {"head": ("2", "0")})
    >>> attachment_counts([gold], [gold.with_layer("head", ("0", "1"))]).tolist()
    [[2, 2, 0]]
    """
    rows = []
    for words in _attachments(gold, predicted, punctuation):
        right = sum(word.right_head and (score == "uas" or word.right_relation) for word in words)
        rows.append([len(words), len(words), right])
    return np.array(rows, dtype=np.int64).reshape(-1, 3)


class _Attachment(NamedTuple):
    """One word: whether its head and its relation are right, and its relations ("" where there are none)."""

    right_head: bool
    right_relation: bool
    gold: str
    predicted: str


def _attachments(
    gold: Sequence[Sentence], predicted: Sequence[Sentence], punctuation: bool
) -> Iterator[list[_Attachment]]:
    for number, one, other in paired_sentences(gold, predicted):
        if one.words != other.words:
            raise InputError(f"sentence {number}: the gold and the predicted words differ; both must be the same text")
        for side, sentence in (("gold", one), ("predicted", other)):
            if "head" not in sentence.layers:
                raise InputError(f"sentence {number}: the {side} side has no layer 'head'")
        yield list(_attachments_of(one, other, punctuation))


def _attachments_of(gold: Sentence, predicted: Sentence, punctuation: bool) -> Iterator[_Attachment]:
    nothing = ("",) * len(gold)
    heads = zip(gold.layers["head"], predicted.layers["head"], strict=True)
    relations = zip(gold.layers.get("deprel", nothing), predicted.layers.get("deprel", nothing), strict=True)
    for word, (gold_head, head), (gold_relation, relation) in zip(gold.words, heads, relations, strict=True):
        if gold_head != "_" and (punctuation or not _is_punctuation(word)):
            is_right = gold_relation == relation and relation != ""
            yield _Attachment(gold_head == head, is_right, gold_relation, relation)


def _is_punctuation(word: str) -> bool:
    return all(category(character).startswith("P") for character in word)
