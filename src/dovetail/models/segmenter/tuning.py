"""Scores of segments while training, and what is chosen on held-out data afterwards."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dovetail.learning.tuning import best_bias
from dovetail.models.segmenter.model import OUTSIDE
from dovetail.models.tagger.tuning import BALANCES
from dovetail.structures.semimarkov import Segments
from dovetail.text.sentence import Sentence, Span

Spans = Sequence[Sequence[Span]]


def segment_counts(
    gold: Spans, sentences: Sequence[Sentence], found: Segments, labels: Sequence[str]
) -> tuple[int, int, int]:
    """How many segments there are, how many were found, and how many of those are right; O is none."""
    numbers = {label: i for i, label in enumerate(labels)}
    begin = np.concatenate([[0], np.cumsum([len(s) for s in sentences])])
    right = np.array(
        [
            (first + span.start, span.end - span.start, numbers.get(span.label, -1))
            for first, each in zip(begin.tolist(), gold, strict=False)
            for span in each
        ],
        dtype=np.int64,
    ).reshape(-1, 3)
    some = found.label != numbers.get(OUTSIDE, -1)
    answer = np.stack([found.start, found.length, found.label], axis=1).astype(np.int64)[some]
    size = 1 + max(right[:, 1].max(initial=0), answer[:, 1].max(initial=0))
    common = np.intersect1d(_keys(right, size, len(labels)), _keys(answer, size, len(labels)))
    return len(right), len(answer), len(common)


def _keys(triples: NDArray[np.int64], size: int, labels: int) -> NDArray[np.int64]:
    """One number for every (start, length, label)."""
    keys: NDArray[np.int64] = (triples[:, 0] * size + triples[:, 1]) * (labels + 1) + triples[:, 2] + 1
    return keys


def segment_f1(gold: Spans, sentences: Sequence[Sentence], found: Segments, labels: Sequence[str]) -> float:
    """F1 of segments in percent."""
    right, answered, common = segment_counts(gold, sentences, found, labels)
    return 200.0 * common / max(right + answered, 1)


def balanced(model: Any, dev: Sequence[Sentence], gold: Spans, threads: int) -> Any:
    """The model with the bias of O that scores best on dev; of equal ones, the smallest (see tuning.balanced)."""
    batch = model.batch(dev, threads)
    return model.with_outside(
        best_bias(BALANCES, lambda bias: segment_f1(gold, dev, model.with_outside(bias).best(batch), model.labels))
    )
