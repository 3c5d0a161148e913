"""Runs: one model trained and scored each, kept in a file as they finish so that an interrupted curve goes on."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

from dovetail.curves.configurations import Configuration
from dovetail.curves.data import CurveData
from dovetail.curves.train import train_and_score
from dovetail.curves.work import worked
from dovetail.errors import InputError
from dovetail.version import __version__


@dataclass(frozen=True)
class Run:
    """What came of one run: a score in percent, and the sentences that it chose to be labelled next, if it did."""

    fingerprint: str
    series: str
    draw: int
    sentences: int
    tokens: int
    score: float
    seconds: float
    precision: float | None = None
    recall: float | None = None
    chosen: Sequence[int] = field(default=())


@dataclass(frozen=True)
class Task:
    """A run to be done: one configuration on some sentences of the pool. It goes to other processes."""

    configuration: Configuration
    draw: int
    indices: tuple[int, ...]

    @property
    def series(self) -> str:
        """The name of the curve that it is a point of."""
        return self.configuration.name

    @property
    def size(self) -> int:
        """How many sentences it trains on."""
        return len(self.indices)

    def fingerprint(self, data: CurveData) -> str:
        """Of all that the result depends on, and nothing else: data, settings, sentences; not of names."""
        shaping = [__version__, data.fingerprint, self.configuration.identity, sorted(self.indices), *self.choosing()]
        return sha256(json.dumps(shaping, sort_keys=True).encode()).hexdigest()[:24]

    def choosing(self) -> list[Any]:
        """What the choice of the sentences to label next depends on, where there is one."""
        return []

    def choose(self, model: Any, data: CurveData) -> Sequence[int]:
        """The sentences to label next."""
        return ()

    def run(self, data: CurveData) -> Run:
        """Train, score and choose."""
        done = train_and_score(self.configuration, data, self.indices)
        return Run(
            self.fingerprint(data), self.series, self.draw, self.size, data.tokens(self.indices),
            done.score, done.seconds, done.precision, done.recall, self.choose(done.model, data),
        )  # fmt: skip


AnyTask = TypeVar("AnyTask", bound=Task)


class RunLog:
    """Finished runs in a file of JSON lines, by fingerprint; each is written as soon as it is done."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.runs: dict[str, Run] = {}
        if path.exists():
            for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
                self._read(line, number)

    def _read(self, line: str, number: int) -> None:
        if not line.strip() or not line.rstrip().endswith("}"):
            return  # the last line of a run that was killed while it wrote
        try:
            run = Run(**json.loads(line))
        except (ValueError, TypeError):
            raise InputError("this is not a finished run; delete the line, or the file", self.path, number) from None
        self.runs[run.fingerprint] = run

    def add(self, run: Run) -> None:
        """Keep a run, in memory and on disk."""
        self.runs[run.fingerprint] = run
        torn = self.path.exists() and not self.path.read_bytes().endswith(b"\n") and self.path.stat().st_size
        with self.path.open("a", encoding="utf-8", newline="\n") as file:
            file.write(("\n" if torn else "") + json.dumps(asdict(run)) + "\n")


def finished_runs(
    tasks: Sequence[AnyTask],
    data: CurveData,
    log: RunLog,
    jobs: int,
    following: Callable[[AnyTask, Run], AnyTask | None] = lambda task, run: None,
) -> Iterator[tuple[Run, bool]]:
    """Every run, each with whether it was in the log already; those that were not are done, on so many processes.

    ``following`` names the task that comes after one, for runs that build on each other.
    """
    waiting: list[AnyTask] = []
    for first in tasks:
        task: AnyTask | None = first
        while task is not None and (run := log.runs.get(task.fingerprint(data))) is not None:
            yield replace(run, series=task.series), True  # the series may have been renamed since
            task = following(task, run)
        if task is not None:
            waiting.append(task)
    for run in worked(_run, waiting, data, jobs, following):
        log.add(run)
        yield run, False


def _run(data: CurveData, task: Task) -> Run:
    return task.run(data)
