"""What every scorer does: from weights to the potentials of sentences, and from the slopes of potentials back.

Training, the scoring of held-out text and prediction all make their potentials so.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
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

    @property
    def stretches(self) -> Sequence[tuple[int, int]]:
        """Ranges of sentences that may be worked on one after the other, or each somewhere else, with the same sums.

        None, where a scorer has all sentences at once. They depend on the sentences alone.
        """
        return ()

    @abstractmethod
    def batch(self, weight: Floats, which: Items | None = None) -> Batch:
        """The structures of all sentences, or of some, with their potentials under ``weight`` [parameters]."""

    def begin_stretches(self, weight: Floats, out: Floats) -> Any:
        """What the gradients of stretches are added up in; what all of them have in common is scored.

        ``out`` [parameters] comes with zeros, and has the gradient in the end.
        """
        raise NotImplementedError

    def stretch(self, weight: Floats, stretch: tuple[int, int]) -> Batch:
        """The structures of a stretch."""
        raise NotImplementedError

    def add_stretch(self, slope: Any, stretch: tuple[int, int], sums: Any) -> None:
        """Add to the sums what the slope of the potentials that ``stretch`` gave last says."""
        raise NotImplementedError

    def end_stretches(self, sums: Any) -> None:
        """Make the gradient of what all stretches have added up."""
        raise NotImplementedError

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
