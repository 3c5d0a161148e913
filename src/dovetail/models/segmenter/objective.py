"""The training objective of a semi-Markov model: features to potentials, a loss, and the gradient back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from dovetail.learning.losses import Loss
from dovetail.models.segmenter.kernels import add_up, share_out
from dovetail.scorers.linear import LinearScorer
from dovetail.sparse import SparseGradient
from dovetail.structures.semimarkov import Segments, SemiMarkovBatch, SemiMarkovPotentials
from dovetail.threads import run_ranges

Floats = NDArray[np.float64]
PARTS = ("start", "end", "inside", "phrase")


def outputs_of(part: str, labels: int) -> int:
    """How many scores a part has: where all segments have one label, boundaries tell single tokens from longer ones."""
    return 2 if labels == 1 and part in ("start", "end") else labels


def segment_potentials(
    scores: Mapping[str, Floats],
    offsets: NDArray[np.int64],
    lengths: NDArray[np.int32],
    threads: int,
    out: Floats | None = None,
) -> Floats:
    """Potentials [tokens, longest, labels] from the scores of the parts that there are; ``out`` is space for them.

    It may be the scores of phrases, which are used up then.
    """
    labels = len(lengths)
    start, end, inside, phrase = (scores.get(p, np.empty((0, outputs_of(p, labels)))) for p in PARTS)
    if out is None:
        out = np.empty((int(offsets[-1]), int(lengths.max()), labels))
    run_ranges(lambda low, high: add_up(start, end, inside, phrase, offsets, lengths, low, high, out), offsets, threads)
    return out


@dataclass
class SegmentObjective:
    """The loss of a corpus as a function of one vector of weights: the parts in order, then label pairs.

    ``lengths`` [labels] bounds segments; ``length`` and ``label`` [tokens] are those of the gold segment that starts
    at each token, 0 long where none does.
    """

    offsets: NDArray[np.int64]
    length: NDArray[np.int32]
    label: NDArray[np.int32]
    lengths: NDArray[np.int32]
    scorers: Mapping[str, LinearScorer]
    order: int
    loss: Loss
    threads: int = 1

    def __post_init__(self) -> None:
        self.items = len(self.offsets) - 1
        self.begin: dict[str, int] = {}
        place = 0
        for part, scorer in self.scorers.items():
            self.begin[part] = place
            place += scorer.layout.parameters
        self.after_parts = place
        self.parameters = place + (len(self.lengths) ** 2 if self.order else 0)
        self.gold = Segments.of_tokens(self.length, self.label, self.offsets)
        self._space: Floats | None = None

    def weight_of(self, part: str, weight: Floats) -> Floats:
        """The weights of one part."""
        return weight[self.begin[part] : self.begin[part] + self.scorers[part].layout.parameters]

    def transition(self, weight: Floats) -> Floats:
        """The potentials of pairs of labels, [labels, labels], or [0, 0] where labels are independent."""
        labels = len(self.lengths)
        return weight[self.after_parts :].reshape(labels, labels) if self.order else np.zeros((0, 0))

    def batch(
        self, scores: Mapping[str, Floats], weight: Floats, offsets: NDArray[np.int64], threads: int, out: Floats | None
    ) -> SemiMarkovBatch:
        """The segmentations of some sentences."""
        segment = segment_potentials(scores, offsets, self.lengths, threads, out)
        labels = len(self.lengths)
        potentials = SemiMarkovPotentials(segment, self.transition(weight), np.zeros(labels), np.zeros(labels))
        return SemiMarkovBatch(potentials, offsets, self.lengths, threads)

    def __call__(self, weight: Floats) -> tuple[float, Floats]:
        """The loss on the whole corpus and its gradient [parameters]."""
        scores = {part: s.forward(self.weight_of(part, weight)) for part, s in self.scorers.items()}
        batch = self.batch(scores, weight, self.offsets, self.threads, self._room(scores))
        value, slope = self.loss(cast(Any, batch), cast(Any, self.gold), None)
        # The scores are used up: their arrays take the gradients, each in the shape of its part.
        shares = self._shares(slope.segment, self.offsets, self.threads, scores)
        gradient = np.empty(self.parameters)
        for part, scorer in self.scorers.items():
            scorer.backward(shares[part], self.weight_of(part, gradient))
        gradient[self.after_parts :] = slope.transition.ravel()
        return value, gradient

    def _room(self, scores: Mapping[str, Floats]) -> Floats:
        """Where the potentials go, [tokens, longest, labels]: over the scores of phrases, if there are any."""
        shape = (int(self.offsets[-1]), int(self.lengths.max()), len(self.lengths))
        if "phrase" in scores:
            return scores["phrase"].reshape(shape)
        if self._space is None:
            self._space = np.empty(shape)
        return self._space

    def _shares(
        self, slope: Floats, offsets: NDArray[np.int64], threads: int, space: Mapping[str, Floats]
    ) -> dict[str, Floats]:
        labels = len(self.lengths)
        none = {p: np.empty((0, outputs_of(p, labels))) for p in PARTS}
        start, end, inside = (space.get(p, none[p]) for p in PARTS[:3])
        run_ranges(
            lambda low, high: share_out(slope, offsets, self.lengths, low, high, start, end, inside), offsets, threads
        )
        shares = {"start": start, "end": end, "inside": inside, "phrase": slope.reshape(-1, labels)}
        return {part: shares[part] for part in self.scorers}

    # The two methods that online optimisers call. A batch is a few sentences.

    def _items(self, which: NDArray[np.int64]) -> tuple[dict[str, NDArray[np.int64]], NDArray[np.int64]]:
        """The tokens and candidates of some sentences, and where the sentences begin among the tokens."""
        lengths = self.offsets[which + 1] - self.offsets[which]
        offsets = np.zeros(len(which) + 1, dtype=np.int64)
        np.cumsum(lengths, out=offsets[1:])
        tokens = np.arange(offsets[-1]) + np.repeat(self.offsets[which] - offsets[:-1], lengths)
        longest = int(self.lengths.max())
        candidates = (tokens[:, None] * longest + np.arange(longest)).ravel()
        return {part: candidates if part == "phrase" else tokens for part in PARTS}, offsets

    def touch(self, which: NDArray[np.int64], sink: SparseGradient) -> None:
        """List the parameters that these sentences use; pairs of labels are always among them."""
        items, _ = self._items(which)
        for part, scorer in self.scorers.items():
            scorer.touch(items[part], self.begin[part], sink)
        rest = self.parameters - self.after_parts
        sink.items[sink.count : sink.count + rest] = np.arange(self.after_parts, self.parameters)
        sink.count += rest

    def accumulate(self, weight: Floats, which: NDArray[np.int64], sink: SparseGradient) -> float:
        """The loss on these sentences; its gradient is added to ``sink``."""
        items, offsets = self._items(which)
        scores = {part: s.forward_some(items[part], self.begin[part], weight) for part, s in self.scorers.items()}
        batch = self.batch(scores, weight, offsets, 1, None)
        tokens = items["start"]
        gold = Segments.of_tokens(self.length[tokens], self.label[tokens], offsets)
        value, slope = self.loss(cast(Any, batch), cast(Any, gold), None)
        shares = self._shares(slope.segment, offsets, 1, scores)
        for part, scorer in self.scorers.items():
            scorer.backward_some(items[part], self.begin[part], shares[part], sink)
        sink.value[self.after_parts :] += slope.transition.ravel()
        return value
