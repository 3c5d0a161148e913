"""A gradient with few non-zero entries: dense storage, and a list of the entries in use."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Listed = NDArray[np.int64] | slice


@dataclass
class SparseGradient:
    """``value`` [parameters] holds sums for the parameters listed in ``items[:count]``; all else is stale.

    ``stamp`` [parameters] says at which step a parameter was listed last, so that nothing needs clearing; 0 is
    never. Memory that is not written to is not taken.
    """

    value: NDArray[np.float64]
    items: NDArray[np.int64]
    stamp: NDArray[np.int64]
    count: int = 0
    step: int = 1
    is_whole: bool = False

    @classmethod
    def of_size(cls, parameters: int) -> SparseGradient:
        """An empty gradient."""
        return cls(np.zeros(parameters), np.empty(parameters, dtype=np.int64), np.zeros(parameters, np.int64))

    def clear(self) -> None:
        """Forget all entries."""
        self.count = 0
        self.step += 1
        self.is_whole = False

    def list_all(self) -> None:
        """List every parameter: no list at all, and steps over the whole vector, where a batch uses most of it."""
        self.is_whole = True

    @property
    def listed(self) -> Listed:
        """The parameters in use: their numbers, or all of them as a slice."""
        return slice(0, len(self.value)) if self.is_whole else self.items[: self.count]
