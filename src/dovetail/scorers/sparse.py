"""A gradient with few non-zero entries: dense storage, and a list of the entries in use."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass
class SparseGradient:
    """``value`` [parameters] holds sums for the parameters listed in ``items[:count]``; all else is stale.

    ``stamp`` [parameters] says at which step a parameter was listed last, so that nothing needs clearing.
    """

    value: NDArray[np.float64]
    items: NDArray[np.int64]
    stamp: NDArray[np.int64]
    count: int = 0
    step: int = 0

    @classmethod
    def of_size(cls, parameters: int) -> SparseGradient:
        """An empty gradient."""
        return cls(
            np.zeros(parameters),
            np.empty(parameters, dtype=np.int64),
            np.full(parameters, -1, dtype=np.int64),
        )

    def clear(self) -> None:
        """Forget all entries."""
        self.count = 0
        self.step += 1

    @property
    def listed(self) -> NDArray[np.int64]:
        """The parameters in use."""
        return self.items[: self.count]
