"""What every scorer does: from weights to the potentials of sentences, and from the slopes of potentials back.

Training, the scoring of held-out text and prediction all make their potentials so.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from dovetail.sparse import SparseGradient

Floats = NDArray[np.float64]
Items = NDArray[np.int64]
Batch = TypeVar("Batch")


class Scorer(ABC, Generic[Batch]):
    """The structures of some sentences as a function of one vector of weights."""

    parameters: int  # the number of weights
    items: int  # the number of sentences
    threads: int = 1
    one_by_one: bool = False
    """Whether sentences are worked on one at a time: where the potentials of all of them would fill the memory."""

    @abstractmethod
    def batch(self, weight: Floats, which: Items | None = None) -> Batch:
        """The structures of all sentences, or of some, with their potentials under ``weight`` [parameters]."""

    @abstractmethod
    def backward(self, slope: Any, out: Floats, which: Items | None = None) -> None:
        """Add to ``out`` [parameters] the gradient, from the slope of the potentials that ``batch`` gave last.

        For all sentences together ``out`` comes with zeros, and may be overwritten.
        """

    def touch(self, which: Items, sink: SparseGradient) -> None:
        """List the parameters that some sentences use; all of them, where a few sentences use most."""
        sink.list_all()

    def work(self, item: int) -> int:
        """About how much work a sentence is, to share it out fairly; only asked where they come one by one."""
        return 1
