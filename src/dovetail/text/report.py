"""What a reader met that was not as it should be: counted, with the first place, never silent."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager


class ReadWarning(UserWarning):
    """Input that could be read only with a repair; the message says how often and where first."""


class ReadReport:
    """Counts of what readers repaired or left out. Hand one to a reader to collect them instead of warnings.

    >>> report = ReadReport()
    >>> report.note("tag after O read as B-", "a.conll", 7)
    >>> report.note("tag after O read as B-", "a.conll", 9)
    >>> print(report)
    2 times: tag after O read as B- (first at a.conll:7)
    """

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}
        self.first: dict[str, str] = {}

    def note(self, message: str, path: object, line: int | None = None, *, count: int = 1) -> None:
        """Count an event of the kind that ``message`` names."""
        if count and message not in self.counts:
            self.first[message] = str(path) if line is None else f"{path}:{line}"
        if count:
            self.counts[message] = self.counts.get(message, 0) + count

    def lines(self) -> list[str]:
        """One line for each kind of event, in the order in which they were first met."""
        return [
            f"{count} {'time' if count == 1 else 'times'}: {message} (first at {self.first[message]})"
            for message, count in self.counts.items()
        ]

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def __bool__(self) -> bool:
        return bool(self.counts)


@contextmanager
def reporting(report: ReadReport | None) -> Iterator[ReadReport]:
    """The caller's report, or a new one whose lines become `ReadWarning` at the end."""
    if report is not None:
        yield report
        return
    own = ReadReport()
    try:
        yield own
    finally:
        for line in own.lines():
            warnings.warn(line, ReadWarning, stacklevel=4)
