"""Learning curves and their runs: one model trained and scored each, and kept in a file as soon as it is."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar

from dovetail.curves.configurations import Configuration
from dovetail.curves.data import CurveData, draw_order
from dovetail.curves.log import Log
from dovetail.curves.work import worked
from dovetail.errors import DovetailError
from dovetail.models.training import uninterrupted
from dovetail.version import __version__


class Trained(NamedTuple):
    """A model, its score in percent (with precision and recall where it finds entities), and the seconds it took."""

    model: Any
    score: float
    precision: float | None
    recall: float | None
    seconds: float


def train_and_score(configuration: Configuration, data: CurveData, indices: Sequence[int]) -> Trained:
    """Train on the sentences of the pool with these indices, in the order of the pool, on one thread."""
    began = time.perf_counter()
    model = configuration.build(threads=1)
    sentences = [data.train[i] for i in sorted(indices)]
    try:
        model.fit(sentences, dev=data.dev if data.tune else None)
    except DovetailError as error:
        raise DovetailError(f"{configuration.name} with {len(indices)} sentences: {error}") from None
    return Trained(uninterrupted(model), *_scores(model, data), time.perf_counter() - began)


def _scores(model: Any, data: CurveData) -> tuple[float, float | None, float | None]:
    """F1 of words or entities with precision and recall; the accuracy of plain labels.

    Entities are scored as such also where the few sentences drawn happened to have none.
    """
    from dovetail.evaluate import entity_scores
    from dovetail.text.tags import is_chunk_tagset

    if model.target is None:
        words = model.word_scores(data.scored)
        return words.f1, words.precision, words.recall
    tags = {tag for sentence in data.train for tag in sentence.layers.get(model.target, ())}
    if not is_chunk_tagset(tags - {"?"}):
        return model.score(data.scored), None, None
    gold = [sentence.layers.get(model.target, ()) for sentence in data.scored]
    entities = entity_scores(gold, model.predict(data.scored))
    return entities.f1, entities.precision, entities.recall


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

    def __post_init__(self) -> None:
        object.__setattr__(self, "chosen", tuple(self.chosen))  # JSON gives a list


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
            self.fingerprint(data), self.series, self.draw, self.size, sum(len(data.train[i]) for i in self.indices),
            done.score, done.seconds, done.precision, done.recall, self.choose(done.model, data),
        )  # fmt: skip


AnyTask = TypeVar("AnyTask", bound=Task)


class RunLog(Log[Run]):
    """Finished runs in a file of JSON lines, by fingerprint; each is written as soon as it is done."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, Run)


def finished_runs(
    tasks: Sequence[AnyTask],
    data: CurveData,
    log: RunLog,
    jobs: int | Literal["ray"],
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
    for run in worked(Task.run, waiting, data, jobs, following):
        log.add(run)
        yield run, False


@dataclass(frozen=True)
class LearningCurve:
    """Which runs make a curve: ``sizes`` in sentences (None for all), each drawn ``draws`` times.

    Draw d is a random order of the pool by (seed, d), and its sentences are the first n: larger sizes contain the
    smaller ones, and all configurations train on the same sentences. The whole pool is drawn once.
    """

    configurations: Sequence[Configuration]
    sizes: Sequence[int | None]
    draws: int = 3
    seed: int = 1

    def tasks(self, data: CurveData) -> list[Task]:
        """The runs to be done, small ones first, so that an interrupted curve is whole as far as it goes."""
        self._check(data)
        pool = len(data.train)
        orders = {draw: draw_order(pool, draw, self.seed) for draw in range(1, self.draws + 1)}
        sizes = sorted({min(size or pool, pool) for size in self.sizes})
        return [
            Task(configuration, draw, tuple(orders[draw][:size]))
            for size in sizes
            for draw in (orders if size < pool else [1])
            for configuration in self.configurations
        ]

    def sizes_of_runs(self, data: CurveData) -> list[int]:
        """How many sentences each run trains on."""
        return [task.size for task in self.tasks(data)]

    def runs(self, data: CurveData, log: RunLog, jobs: int | Literal["ray"] = 1) -> Iterator[tuple[Run, bool]]:
        """Every run as it finishes, each with whether the log had it already."""
        return finished_runs(self.tasks(data), data, log, jobs)

    def _check(self, data: CurveData) -> None:
        names = [configuration.name for configuration in self.configurations]
        if len(set(names)) < len(names):
            raise DovetailError(f"two configurations have one name: {', '.join(names)}")
        if any(size is not None and size < 1 for size in self.sizes) or not self.sizes:
            raise DovetailError("a size is a number of sentences, 1 or more, or all")
        if self.draws < 1:
            raise DovetailError(f"{self.draws} draws: choose 1 or more")
        if not data.train or not data.scored:
            raise DovetailError("there are no sentences to train on or to score; check the files and their format")
        for configuration in self.configurations:
            configuration.build()
