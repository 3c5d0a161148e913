"""Counts of what was answered and how long it took, as Prometheus reads them."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate

BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Seconds."""


class Histogram:
    """How many values were at most each of some bounds.

    >>> times = Histogram()
    >>> times.add(0.02)
    >>> list(times.lines("t"))[2]
    't_bucket{le="0.025"} 1'
    """

    def __init__(self, bounds: tuple[float, ...] = BOUNDS) -> None:
        self.bounds, self.counts, self.total = bounds, [0] * (len(bounds) + 1), 0.0

    def add(self, value: float) -> None:
        """Count a value."""
        self.counts[bisect_left(self.bounds, value)] += 1
        self.total += value

    def lines(self, name: str, **labels: str) -> Iterator[str]:
        """The lines of its samples."""
        for bound, count in zip([*map(str, self.bounds), "+Inf"], accumulate(self.counts), strict=True):
            yield f"{name}_bucket{named(labels | {'le': bound})} {count}"
        yield f"{name}_sum{named(labels)} {self.total:.6f}"
        yield f"{name}_count{named(labels)} {sum(self.counts)}"


class Metrics:
    """Counts of requests."""

    def __init__(self) -> None:
        self.running = 0
        self.requests: Counter[tuple[str, int]] = Counter()
        self.times: dict[str, Histogram] = {}

    def answered(self, path: str, status: int, seconds: float) -> None:
        """Count one request."""
        self.requests[path, status] += 1
        self.times.setdefault(path, Histogram()).add(seconds)

    def text(self, more: Iterable[str] = ()) -> str:
        """All of it."""
        lines = list(head("dovetail_requests_total", "counter", "Requests answered, by path and status."))
        for (path, status), number in sorted(self.requests.items()):
            lines.append(f"dovetail_requests_total{named({'path': path, 'status': str(status)})} {number}")
        lines += head("dovetail_requests_running", "gauge", "Requests at work or waiting.")
        lines.append(f"dovetail_requests_running {self.running}")
        lines += head("dovetail_request_seconds", "histogram", "Time from request to the end of the answer.")
        for path, times in sorted(self.times.items()):
            lines += times.lines("dovetail_request_seconds", path=path)
        return "\n".join([*lines, *more]) + "\n"


def head(name: str, kind: str, help: str) -> Iterator[str]:
    """The two lines before the samples of a metric."""
    yield f"# HELP {name} {help}"
    yield f"# TYPE {name} {kind}"


def named(labels: Mapping[str, str]) -> str:
    r"""Labels in braces.

    >>> named({"path": 'a"b'})
    '{path="a\\"b"}'
    """
    if not labels:
        return ""
    inner = ",".join(f'{name}="{_escaped(value)}"' for name, value in labels.items())
    return f"{{{inner}}}"


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
