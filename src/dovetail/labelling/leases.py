"""Who has which sentence before them: two tabs never get the same one."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

SECONDS = 90.0
"""A tab that has not been heard of for so long is taken to be closed."""


@dataclass
class Leases:
    """Sentences by number, each lent to one tab.

    >>> leases = Leases()
    >>> leases.take(7, "tab a"), leases.take(7, "tab b"), leases.free(7, "tab a"), leases.free(7, "tab b")
    (True, False, True, False)
    """

    seconds: float = SECONDS
    clock: Callable[[], float] = time.monotonic
    _held: dict[int, tuple[str, float]] = field(default_factory=dict)

    def free(self, number: int, tab: str) -> bool:
        """Whether this tab may have it."""
        holder = self._held.get(number)
        return holder is None or holder[0] == tab or holder[1] < self.clock()

    def take(self, number: int, tab: str) -> bool:
        """Lend a sentence to a tab, and take back the one that it had; False where another tab has it."""
        if not self.free(number, tab):
            return False
        self.release(tab)
        self._held[number] = tab, self.clock() + self.seconds
        return True

    def renew(self, tab: str) -> None:
        """The tab is still there."""
        for number, (holder, _) in self._held.items():
            if holder == tab:
                self._held[number] = tab, self.clock() + self.seconds

    def release(self, tab: str) -> None:
        """The tab gives back what it has."""
        self._held = {number: held for number, held in self._held.items() if held[0] != tab}
