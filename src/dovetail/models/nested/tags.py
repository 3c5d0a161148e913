"""Parts of speech beside nested entities: the tag of a word sees the innermost entity that the word lies in.

Tags do not see each other, so that they are summed out word by word: in context p, word t adds to its own potential
``log sum over k of exp(tag[t, k] + joint[t, p, k])``, and the trees of entities are summed as ever.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dovetail.kernel import kernel
from dovetail.text.sentence import Span

Floats = NDArray[np.float64]
Labels = NDArray[np.int32]


class GoldTags(NamedTuple):
    """The tag of every word, and the context that it lies in: 0 for no entity, x + 1 for one of label x. [tokens]."""

    tag: Labels
    context: Labels


def innermost(tree: Sequence[Span], length: int, numbers: dict[str, int]) -> Labels:
    """The context of every word of a sentence, [words]; spans come each before those within it.

    >>> innermost([Span(0, 3, "ORG"), Span(2, 3, "LOC")], 4, {"LOC": 0, "ORG": 1})
    array([2, 2, 1, 0], dtype=int32)
    """
    found = np.zeros(length, np.int32)
    for span in tree:
        found[span.start : span.end] = 1 + numbers[span.label]
    return found


def tag_scores(scores: dict[str, Floats], contexts: int) -> Floats:
    """The scores of all tags of all words in every context, [tokens, contexts, tags]."""
    tag = scores["tag"]
    total = np.repeat(tag[:, None, :], contexts, axis=1)
    if "joint" in scores:
        total += scores["joint"].reshape(total.shape)
    return total


@kernel
def log_sums(score: Floats, out: Floats) -> None:
    """The log of the sum over tags. score: [tokens, contexts, tags]; out: [tokens, contexts]."""
    for t in range(score.shape[0]):
        for p in range(score.shape[1]):
            largest = -np.inf
            for k in range(score.shape[2]):
                largest = max(largest, score[t, p, k])
            total = 0.0
            for k in range(score.shape[2]):
                total += np.exp(score[t, p, k] - largest)
            out[t, p] = largest + np.log(total)


@kernel
def tag_slopes(score: Floats, sums: Floats, expected: Floats, tag: Labels, context: Labels, out: Floats) -> float:
    """The derivative by the scores of tags, [tokens, contexts, tags], and the log-loss of the right tags.

    expected: [tokens, contexts], the probability of every context of a word.
    """
    loss = 0.0
    for t in range(score.shape[0]):
        for p in range(score.shape[1]):
            for k in range(score.shape[2]):
                out[t, p, k] = expected[t, p] * np.exp(score[t, p, k] - sums[t, p])
        out[t, context[t], tag[t]] -= 1.0
        loss += sums[t, context[t]] - score[t, context[t], tag[t]]
    return loss
