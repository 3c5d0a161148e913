"""Calibration: of the answers given with probability 0.8, are 80 in 100 right?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dovetail.errors import InputError
from dovetail.evaluate.report import align_columns


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """Answers with a probability above ``low`` (or equal to it, in the lowest bin) and at most ``high``."""

    low: float
    high: float
    confidence: float
    """Mean probability of the answers in the bin."""
    accuracy: float
    """Share of them that are right."""
    count: int

    @property
    def gap(self) -> float:
        """Accuracy less confidence: negative where the model is too sure."""
        return self.accuracy - self.confidence


@dataclass(frozen=True, slots=True)
class CalibrationReport:
    """How well probabilities keep their promise; made by `reliability`.

    ``bins`` are in order of probability, each with at least one answer. Scores are fractions, not percents.
    """

    bins: tuple[ReliabilityBin, ...]
    brier_score: float
    log_loss: float

    @property
    def count(self) -> int:
        """The number of answers."""
        return sum(bin.count for bin in self.bins)

    @property
    def expected_calibration_error(self) -> float:
        """Mean over the answers of the absolute gap between accuracy and confidence in their bin."""
        return sum(bin.count * abs(bin.gap) for bin in self.bins) / self.count

    @property
    def maximum_calibration_error(self) -> float:
        """The largest absolute gap of any bin."""
        return max(abs(bin.gap) for bin in self.bins)

    def _repr_html_(self) -> str:
        from dovetail.evaluate.html import reliability_html

        return reliability_html(self)

    def table(self) -> str:
        """The bins and the scores as plain text.

        >>> print(reliability([0.9, 0.9, 0.9, 0.4], [True, True, False, False]).table())
        probability  answers  confidence  accuracy     gap
        0.30 - 0.40        1       0.400     0.000  -0.400
        0.80 - 0.90        3       0.900     0.667  -0.233
        <BLANKLINE>
        4 answers, expected calibration error 0.2750, maximum 0.4000, Brier score 0.2475, log loss 0.7560
        """
        rows = [["probability", "answers", "confidence", "accuracy", "gap"]]
        for bin in self.bins:
            edges = f"{bin.low:.2f} - {bin.high:.2f}"
            rows.append([edges, str(bin.count), f"{bin.confidence:.3f}", f"{bin.accuracy:.3f}", f"{bin.gap:+.3f}"])
        return (
            f"{align_columns(rows)}\n\n{self.count} answers, "
            f"expected calibration error {self.expected_calibration_error:.4f}, "
            f"maximum {self.maximum_calibration_error:.4f}, "
            f"Brier score {self.brier_score:.4f}, log loss {self.log_loss:.4f}"
        )


def reliability(
    probabilities: ArrayLike, correct: ArrayLike, bins: int = 10, strategy: Literal["uniform", "quantile"] = "uniform"
) -> CalibrationReport:
    """Compare the probabilities given to answers, [answers], with whether the answers are correct, [answers].

    ``uniform`` bins are equally wide; ``quantile`` bins hold equally many answers, as far as ties allow, and
    so show detail where the probabilities are. Bins without answers are left out.

    >>> report = reliability([0.8] * 10, [True] * 6 + [False] * 4)
    >>> f"{report.expected_calibration_error:.2f}"
    '0.20'
    >>> report.bins[0].accuracy, report.bins[0].count
    (0.6, 10)
    """
    promised, right = _checked(probabilities, correct)
    edges = _edges(promised, bins, strategy)
    # Bins are closed above, (low, high], so that 1.0 needs no bin of its own.
    bin_of_answer = np.clip(np.searchsorted(edges, promised, side="left") - 1, 0, len(edges) - 2)
    counts, confidence, accuracy = (np.bincount(bin_of_answer, w, len(edges) - 1) for w in (None, promised, right))
    columns = (edges[:-1], edges[1:], confidence, accuracy, counts)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return CalibrationReport(
        bins=tuple(ReliabilityBin(low, high, sure / n, true / n, int(n)) for low, high, sure, true, n in rows if n),
        brier_score=float(np.mean((promised - right) ** 2)),
        log_loss=_log_loss(promised, right),
    )


def _checked(probabilities: ArrayLike, correct: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    promised = np.asarray(probabilities, dtype=np.float64)
    right = np.asarray(correct, dtype=np.float64)
    if promised.ndim != 1 or promised.shape != right.shape:
        shapes = f"probabilities of shape {promised.shape} and correct of {right.shape}"
        raise InputError(f"{shapes}, expected [answers] both")
    if len(promised) == 0:
        raise InputError("no answers: calibration needs at least one probability")
    outside = ~((promised >= 0) & (promised <= 1))  # NaN is outside too
    if outside.any():
        first = int(np.argmax(outside))
        raise InputError(f"probability {first + 1} is {promised[first]}, expected a number from 0 to 1")
    if not np.isin(right, (0, 1)).all():
        raise InputError("correct holds something other than True and False (or 1 and 0)")
    return promised, right


def _edges(promised: NDArray[np.float64], bins: int, strategy: str) -> NDArray[np.float64]:
    """Ascending edges of the bins, [at most bins + 1, at least 2]."""
    if bins < 1:
        raise InputError(f"{bins} bins, expected at least 1")
    if strategy == "uniform":
        return np.linspace(0, 1, bins + 1)
    if strategy == "quantile":
        edges = np.unique(np.quantile(promised, np.linspace(0, 1, bins + 1)))
        return edges if len(edges) > 1 else np.repeat(edges, 2)
    raise InputError(f"unknown strategy {strategy!r}; one of: uniform, quantile")


def _log_loss(promised: NDArray[np.float64], right: NDArray[np.float64]) -> float:
    """Mean surprise in nats at whether answers are right; a certainty that fails counts 36, not infinity."""
    tiny = np.finfo(np.float64).eps
    of_truth = np.where(right == 1, promised, 1 - promised)
    return float(-np.mean(np.log(np.maximum(of_truth, tiny))))
