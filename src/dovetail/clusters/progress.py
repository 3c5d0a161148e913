"""How far a clustering is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class ClusterProgress:
    """So many words of all have been placed, or looked at again, after so many seconds."""

    done: int
    of: int
    seconds: float

    @property
    def seconds_left(self) -> float:
        """At most about so many more: frequent words, which take longest, come first, and a run may settle early."""
        return self.seconds / max(self.done, 1) * (self.of - self.done)


Report = Callable[[ClusterProgress], None]
