"""How unsure a model is of a sentence: one number, larger for sentences that it would learn more from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dovetail.errors import DovetailError

if TYPE_CHECKING:
    from dovetail.models.nested.estimator import NestedTagger
    from dovetail.models.tagger.estimator import Tagger
    from dovetail.structures.chain import ChainBatch

Floats = NDArray[np.float64]
RANDOM = "random"


def token_entropy(batch: ChainBatch) -> Floats:
    """The entropies of the label of each token, summed over the sentence, in nats: [n]."""
    marginal = batch.marginals().unary
    entropy = -(marginal * np.log(np.maximum(marginal, 1e-300))).sum(axis=1)
    return np.maximum(np.diff(np.concatenate([[0.0], np.cumsum(entropy)])[batch.offsets]), 0.0)


def sequence_entropy(batch: ChainBatch) -> Floats:
    """The exact entropy of the whole tagging, in nats: [n]. Unlike the sum over tokens it counts a doubt once."""
    return np.maximum(batch.entropy(), 0.0)


def least_confident(batch: ChainBatch) -> Floats:
    """Minus the log-probability of the best tagging: [n]; it ranks as 1 - P(best) does, and does not round to 1."""
    return np.maximum(batch.log_partition() - batch.score(batch.best()), 0.0)


def margin(batch: ChainBatch) -> Floats:
    """How close the second-best tagging comes, P(second) / P(best), from 0 to 1: [n]."""
    _, scores = batch.kbest(2)
    with np.errstate(invalid="ignore"):
        ratio = np.exp(scores[:, 1] - scores[:, 0])
    return np.where(np.isfinite(scores[:, 1]), ratio, 0.0)


MEASURES: dict[str, Callable[[ChainBatch], Floats]] = {
    "token-entropy": token_entropy,
    "sequence-entropy": sequence_entropy,
    "least-confident": least_confident,
    "margin": margin,
}
"""Measures of a batch of chains by name; a new one is one entry. ``random`` needs no model and is not here."""
SUMS = ("token-entropy", "sequence-entropy", "least-confident")
"""The measures that grow with the length of a sentence, and may be divided by a power of it."""
DEFAULT = "sequence-entropy"


def check_measure(by: str, discount: float = 0.0) -> None:
    """Refuse a measure that is not known, or a discount for length that it cannot have."""
    if by != RANDOM and by not in MEASURES:
        raise DovetailError(f"no measure {by!r}; choose one of {', '.join([*MEASURES, RANDOM])}")
    if not 0 <= discount <= 1:
        raise DovetailError(f"a discount for length of {discount}: choose a number from 0 to 1")
    if discount and by not in SUMS:
        raise DovetailError(f"{by} does not grow with the length of a sentence: a discount is for {', '.join(SUMS)}")


def uncertainty(
    tagger: Tagger | NestedTagger, sentences: Sequence[Any], by: str = DEFAULT, discount: float = 0.0
) -> Floats:
    """How unsure the tagger is of every sentence, by a measure of ``MEASURES``: [sentences].

    Of nested entities, whole trees of them are measured; ``token-entropy`` is of flat ones alone.

    Entropies and least-confident are sums over a sentence, so long sentences have more of them; they are divided by
    (number of words) ** ``discount``: 0 leaves the sum, 1 makes it a mean. A sentence without words scores 0.

    >>> from dovetail.models.tagger.estimator import Tagger
    >>> train = [["Ada", "met", "Alan"], ["Ada", "slept"]] * 5
    >>> tags = [["B-PER", "O", "B-PER"], ["B-PER", "O"]] * 5
    >>> tagger = Tagger(features=["word[0]", "shape[0]"], l2=0.01).fit(train, tags)
    >>> sure, unsure = uncertainty(tagger, [["Ada", "slept"], ["ada", "Slept"]])
    >>> bool(sure < unsure)
    True
    """
    check_measure(by, discount)
    if by == RANDOM:
        raise DovetailError("random choice asks no model; there is no uncertainty to compute")
    parts = []
    for batch in tagger.structures(sentences):
        lengths = np.diff(batch.offsets)
        scores = MEASURES[by](batch) / np.maximum(lengths, 1) ** discount
        parts.append(np.where(lengths > 0, scores, 0.0))
    return np.concatenate([np.empty(0), *parts])
