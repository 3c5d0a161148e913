"""What held-out sentences decide about a trained model, whether they are dev data or parts of the training data."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeVar

import numpy as np

from dovetail.evaluate.counts import Counts
from dovetail.models.consistency.coupling import USUAL
from dovetail.structures.contract import Integers

Model = TypeVar("Model")


class Held(NamedTuple):
    """Sentences that a model was not trained on, with right answers; the model, not yet tuned; what it makes of them.

    ``seen`` has their structures under the weights of the model, each sentence for itself.
    """

    model: Any
    sentences: list[Any]
    seen: Any


@dataclass(frozen=True)
class Tuning:
    """What is chosen for a tagger or segmenter: see its settings ``calibrate``, ``consistency`` and ``balance``."""

    factor: float = 1.0
    agreement: float = 0.0
    strength: float = USUAL
    outside: float = 0.0

    def applied(self, model: Model) -> Model:
        """The model so tuned."""
        given: Any = model
        linked = None if given.consistency is None else replace(given.consistency, strength=self.strength)
        made: Model = replace(
            given.scaled(self.factor), agreement=self.agreement, consistency=linked, outside=self.outside
        )
        return made


def f1_of(counts: Integers) -> float:
    """F1 in percent; counts: [3], of things there are, found and right, as everywhere here.

    >>> f1_of(np.array([4, 4, 3]))
    75.0
    """
    return Counts(*counts.tolist()).f1


def standard_error(counts: Integers) -> float:
    """Of the F1 of these counts, [3], in percent: as if it were a share of so many answers.

    >>> round(standard_error(np.array([100, 100, 90])), 6)
    3.0
    """
    there, found, right = counts.tolist()
    answers = (there + found) / 2
    share = right / answers if answers else 0.0
    return 100.0 * math.sqrt(max(share * (1.0 - share), 0.0) / max(answers, 1.0))


def best_f1(counts: Integers) -> float:
    """The best F1 of several ways to answer; counts: [ways, 3]."""
    return max(f1_of(each) for each in counts)


def summed(counts: Iterable[Any]) -> Any:
    """The counts of several parts of a text, of the same shape each, as those of one: no mean of their scores.

    >>> summed([np.array([3, 3, 3]), np.array([1, 1, 0])]).tolist()
    [4, 4, 3]
    """
    total: Any = np.sum(list(counts), axis=0)
    return total
