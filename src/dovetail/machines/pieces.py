"""A training objective cut into pieces that workers hold, each with what it adds to the gradient."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dovetail.learning.losses import Loss
from dovetail.learning.objective import SHARDS, Objective, shard_of
from dovetail.scorers.linear import LinearScorer
from dovetail.scorers.parts import PartsScorer, Scores, Sums
from dovetail.scorers.restricted import stretch_of
from dovetail.structures.contract import Floats, Integers


class Piece(ABC):
    """Some sentences of a corpus, as a worker holds them."""

    @abstractmethod
    def work(self, weight: Floats) -> Any:
        """What they add to the loss and to its gradient, under all weights [parameters]."""


class Cut(ABC):
    """An objective in pieces, and how what they answer becomes one loss and one gradient."""

    pieces: Sequence[Piece]

    @abstractmethod
    def total(self, answers: Sequence[Any], out: Floats) -> float:
        """The loss; the gradient is added to ``out`` [parameters], zeros. Answers are in the order of the pieces."""


@dataclass(frozen=True)
class StretchPiece(Piece):
    """A stretch of a corpus: a scorer with no more rows and features than its sentences have.

    ``share`` [parameters here]: the numbers of its parameters among all.
    """

    scorer: PartsScorer
    share: Integers
    gold: tuple[Any, Any]
    loss: Loss

    def work(self, weight: Floats) -> tuple[float, Scores, Floats]:
        """The loss; the slopes of the rows of each part [rows, outputs]; the rest of the gradient [parameters here]."""
        own, whole = weight[self.share], (0, self.scorer.items)
        sums = self.scorer.begin_stretches(own, np.zeros(self.scorer.parameters))
        value, slope = self.loss(self.scorer.stretch(own, whole), *self.gold)
        self.scorer.add_stretch(slope, whole, sums)
        return value, sums.rows, sums.rest


@dataclass
class Stretches(Cut):
    """The stretches that the objective itself works on one after the other, with the same sums in the same order."""

    objective: Objective

    def __post_init__(self) -> None:
        scorer = self.objective.scorer
        assert isinstance(scorer, PartsScorer)
        self.scorer = scorer
        made = [self._piece(first, last) for first, last in scorer.stretches]
        self.pieces, self._shares = made, [piece.share for piece in made]

    def _piece(self, first: int, last: int) -> StretchPiece:
        whole, parts, share = self.scorer, dict[str, LinearScorer](), []
        for part, scorer in whole.parts.items():
            assert isinstance(scorer, LinearScorer)
            own, numbers = stretch_of(scorer, *whole.places(part, (first, last)))
            own.threads = 1
            parts[part] = own
            share.append(numbers + whole.begin[part])
        share.append(np.arange(whole.after_parts, whole.parameters))
        offsets = whole.offsets[first : last + 1] - whole.offsets[first]
        here, right = PartsScorer(whole.form, offsets, parts, 1), self.objective.gold(np.arange(first, last))
        return StretchPiece(here, np.concatenate(share), right, self.objective.loss)

    def total(self, answers: Sequence[tuple[float, Scores, Floats]], out: Floats) -> float:
        """See ``Cut``."""
        sums, loss = Sums({}, out), 0.0
        for share, (value, rows, rest) in zip(self._shares, answers, strict=True):
            for part, own in rows.items():
                sums.add_rows(part, own.copy() if part not in sums.rows else own)
            out[share] += rest
            loss += value
        self.scorer.end_stretches(sums)
        return loss


@dataclass(frozen=True)
class DealtPiece(Piece):
    """Some of the sentences of a corpus whose sentences come one by one."""

    objective: Objective
    number: int

    def work(self, weight: Floats) -> tuple[float, Floats]:
        """The loss, and its gradient [parameters]."""
        out = np.zeros(self.objective.parameters)
        which = shard_of(self.objective.scorer, np.arange(self.objective.items), self.number)
        return self.objective.one_by_one(weight, which, out), out


@dataclass
class Dealt(Cut):
    """Sentences that come one by one, dealt out as the objective itself deals them out to threads."""

    objective: Objective

    def __post_init__(self) -> None:
        self.pieces = [DealtPiece(self.objective, number) for number in range(SHARDS)]

    def total(self, answers: Sequence[tuple[float, Floats]], out: Floats) -> float:
        """See ``Cut``."""
        for _, gradient in answers:
            out += gradient
        return sum(value for value, _ in answers)


def cut(objective: Any) -> Cut | None:
    """The objective in pieces; None where it cannot be cut, or is too small for it."""
    if not isinstance(objective, Objective) or objective.noise is not None:
        return None
    if objective.scorer.one_by_one:
        return Dealt(objective)
    return Stretches(objective) if len(objective.scorer.stretches) > 1 else None
