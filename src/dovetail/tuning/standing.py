"""How settings stand after some trials: their score, and by how much they beat the defaults beyond the noise."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dovetail.models.choices import f1_of, summed
from dovetail.models.folds import WITHIN
from dovetail.structures.contract import Floats
from dovetail.tuning.trials import Outcome

Key = tuple[int, int]
"""A deal and a part of it."""


@dataclass
class Standing:
    """Settings, and what was counted so far in each part that was held out, [3] each."""

    settings: Mapping[str, Any]
    counts: dict[Key, Floats]

    @classmethod
    def of(cls, outcomes: Iterable[Outcome]) -> list[Standing]:
        """Those of all settings, in the order in which they were first tried."""
        found: dict[str, Standing] = {}
        for outcome in outcomes:
            one = found.setdefault(repr(sorted(outcome.settings.items())), cls(outcome.settings, {}))
            one.counts |= {(outcome.deal, int(n)): np.array(c, float) for n, c in outcome.parts.items()}
        return list(found.values())

    @property
    def score(self) -> float:
        """F1 of all parts together, or what takes its place, in percent."""
        return f1_of(summed(self.counts.values()))

    def gain(self, usual: Standing, parts: int) -> Gain:
        """By how much they beat the defaults in the parts that both were tried on; a deal has so many ``parts``."""
        keys = sorted(self.counts.keys() & usual.counts.keys())
        own, other = (np.array([one.counts[key] for key in keys]) for one in (self, usual))
        return paired_gain(own, other, parts)


@dataclass(frozen=True)
class Gain:
    """A difference in percent, and its standard error."""

    difference: float
    error: float

    @property
    def beyond_noise(self) -> bool:
        """Whether it is more than ``WITHIN`` standard errors, as where passes are chosen by parts (``models.folds``).

        To ask for more would be to stay with the defaults nearly always: among settings that score alike, a wrong
        choice costs little.
        """
        return self.difference > WITHIN * self.error

    def __str__(self) -> str:
        return f"{self.difference:+.2f} ± {self.error:.2f}"


def paired_gain(own: Floats, other: Floats, parts: int) -> Gain:
    """The difference in F1 of two ways to answer the same parts, counts [n, 3] each.

    The standard error is a jackknife over the parts, made larger after Nadeau and Bengio (2003): models of different
    parts share most of their training data, so that n parts of deals into K say less than n independent trials. Their
    variance, s² / n, becomes ``s² (1 / n + 1 / (K - 1))``.

    >>> counts = np.array([[10, 10, 5], [10, 10, 6.0]])
    >>> print(paired_gain(counts + [0, 0, 1], counts, 2))
    +10.00 ± 0.00
    """
    n = len(own)
    difference = f1_of(summed(own)) - f1_of(summed(other))
    if n < 2:
        return Gain(difference, float("inf"))
    without = [f1_of(own.sum(axis=0) - a) - f1_of(other.sum(axis=0) - b) for a, b in zip(own, other, strict=True)]
    variance = (n - 1) / n * float(np.sum((np.array(without) - np.mean(without)) ** 2))
    return Gain(difference, float(np.sqrt(variance * (1.0 + n / max(parts - 1, 1)))))


def best_first(standings: Sequence[Standing]) -> list[Standing]:
    """Those with the best score first; of equal ones, those that change less."""
    return sorted(standings, key=lambda one: (-one.score, len(one.settings)))
