"""Priors over weights: L2, L1 and both together (elastic)."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from dovetail.structures.contract import Floats, Integers


@dataclass(frozen=True)
class Prior:
    """The penalty ``sum over p of l2 * w[p]**2 + l1 * scale[p] * abs(w[p])``.

    ``l2`` has the meaning of CRFsuite's c2, and equals 1 / (2 sigma**2) for a Gaussian prior with variance sigma**2;
    ``l1`` has the meaning of CRFsuite's c1. ``scale`` [parameters] is one except where merged features need more.

    >>> Prior(l2=0.5, l1=1.0).value(np.array([2.0, -1.0]))
    5.5
    """

    l2: float = 0.0
    l1: float = 0.0
    scale: Floats | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if not (self.l1 >= 0 and self.l2 >= 0 and np.isfinite(self.l1) and np.isfinite(self.l2)):
            raise ValueError(f"penalties must be zero or positive, not l1={self.l1}, l2={self.l2}")

    @property
    def threshold(self) -> Floats | float:
        """The L1 penalty of each weight."""
        return self.l1 if self.scale is None else self.l1 * self.scale

    def value(self, weight: Floats) -> float:
        """The whole penalty."""
        smooth = self.l2 * float(weight @ weight)
        return smooth + (float(np.sum(self.threshold * np.abs(weight))) if self.l1 else 0.0)

    def proximal(self, weight: Floats, step: Floats | float, which: Integers | slice = slice(None)) -> Floats:
        """``argmin over v of (v - w)**2 / 2 + step * penalty(v)`` for the weights ``which``: the step of FOBOS.

        Shapes: ``weight`` and ``step`` are those of ``which``.
        """
        if self.l1:
            threshold = self.l1 if self.scale is None else self.l1 * self.scale[which]
            weight = np.sign(weight) * np.maximum(np.abs(weight) - step * threshold, 0.0)
        return weight / (1.0 + 2.0 * self.l2 * step) if self.l2 else weight
