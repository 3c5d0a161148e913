"""One sentence: what a batch of one says, without the axis of sentences."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any, Generic, Self

import numpy as np
from numpy.typing import ArrayLike

from dovetail.structures.contract import Answer, Potentials, Several, Structure


class Single(Generic[Potentials, Answer]):
    """A structure over one sentence. A subclass is a dataclass of the tables of potentials, and makes its batch."""

    @cached_property
    def batch(self) -> Structure[Potentials, Answer]:
        """The same as a batch of one."""
        raise NotImplementedError

    def __post_init__(self) -> None:
        _ = self.batch  # complain of wrong shapes at once

    def log_partition(self) -> float:
        """The log of the sum of exp(score) over all answers; 0 for an empty sentence."""
        return float(self.batch.log_partition()[0])

    def marginals(self) -> Potentials:
        """The probability of every part; a table that positions share holds expected counts over the sentence."""
        return self._shaped(self.batch.marginals())

    def best(self) -> Answer:
        """The answer with the highest score; ties as in a batch."""
        return self.batch.best()

    def kbest(self, k: int) -> list[tuple[Answer, float]]:
        """The k best answers (fewer if there are fewer) and their log-probabilities, best first."""
        found, scores = self.batch.kbest(k)
        log_probabilities = (scores[0, scores[0] > -np.inf] - self.log_partition()).tolist()
        return list(zip(found, log_probabilities, strict=False))

    def sample(self, n: int, rng: np.random.Generator) -> Several[Answer]:
        """``n`` answers drawn from the exact distribution."""
        return self.batch.sample(n, rng)

    def score(self, answer: Any) -> float:
        """The score of an answer; less log Z, it is its log-probability; minus infinity of what cannot be."""
        return float(self.batch.score(answer)[0])

    def entropy(self) -> float:
        """The entropy of the answer, in nats."""
        return float(self.batch.entropy()[0])

    def jvp(self, direction: Potentials) -> Potentials:
        """The derivative of the marginals when the potentials move along a direction, shaped like both."""
        return self._shaped(self.batch.jvp(direction))

    def restrict(self, allowed: ArrayLike) -> Self:
        """The same where only the allowed parts may be used: booleans, as the batch takes them."""
        potentials = self._shaped(self.batch.restrict(allowed).potentials)
        return replace(self, **potentials._asdict())  # type: ignore[type-var, attr-defined]

    def _shaped(self, parts: Potentials) -> Potentials:
        """Tables of the batch in the shapes in which they were given."""
        return parts
