"""The models of a session: the one that it starts with, the one that learns, and when which is asked."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dovetail.errors import DovetailError
from dovetail.evaluate.entities import entity_counts
from dovetail.evaluate.significance import f1_of
from dovetail.labelling.forecast import Point
from dovetail.labelling.guesses import Guesser
from dovetail.labelling.tasks import TASKS
from dovetail.labelling.training import Job, Outcome, unpacked
from dovetail.labelling.worker import Worker
from dovetail.text.sentence import Sentence

FIRST, STEP = 5, 10
"""Answers after which the first models, and later ones, are trained."""
SMALL = 60
"""Sentences up to which a model is judged each time; of more, when nothing else waits."""

QUICK_JUDGING, MORE = 8.0, 1.2
"""Seconds that are not worth saving; how many times as many sentences make it worth while in any case."""
FIRST_GUESS = Sentence(("A", "first", "guess", "loads", "what", "it", "needs", "."))

Material = Callable[[], tuple[list[Sentence], set[int]]]


@dataclass
class Models:
    """Trains in the background, and holds what has been trained."""

    task: str
    labels: Sequence[str]
    base: Guesser | None = None
    """A model to start with."""
    path: Path | None = None
    """Where the model is kept, so that the next session begins with it."""
    threads: int = 1
    curve: list[Point] = field(default_factory=list)
    own: Guesser | None = None
    own_score: float | None = None
    """Of the model of this session, cross-validated on what has been labelled."""
    base_score: float | None = None
    """Of the model that the session started with, on what has been labelled."""
    version: int = 0
    last: Outcome | None = None
    error: str = ""
    _submitted: int = 0
    _trained: int = 0
    _count: int = 0
    _judging: tuple[int, float] = (0, 0.0)
    """The sentences of the last model that was judged, and the seconds that it took."""
    _lock: threading.RLock = field(default_factory=threading.RLock)
    _worker: Worker | None = None

    @property
    def guesser(self) -> Guesser | None:
        """Who guesses: the model of this session, once it does no worse than the one that was there before."""
        if self.own is None or self.base is None:
            return self.own or self.base
        if self.own_score is None or self.base_score is None:
            return self.base
        return self.own if self.own_score >= self.base_score else self.base

    def start(
        self,
        sentences: Sequence[Sentence],
        ranked: Callable[[list[int]], None],
        judged: Callable[[Point], None],
        material: Material,
    ) -> None:
        """Start the process that trains; ``ranked`` and ``judged`` hear what comes of it."""
        self._ranked, self._judged, self._material = ranked, judged, material
        if self.base is not None:
            self.base.guess(FIRST_GUESS)
        if self.path is not None and self.path.exists():
            with suppress(DovetailError):  # it is trained again anyway
                import dovetail

                self._adopt(dovetail.load(self.path))
        self._worker = Worker(self.task, sentences, self._done, self._failed)
        self._worker.start()

    def close(self) -> None:
        """End training."""
        if self._worker is not None:
            self._worker.close()

    def consider(self, count: int, at_once: bool = False) -> None:
        """There are so many labelled sentences: train if these are enough more than last time."""
        with self._lock:
            self._count = count
            step = FIRST if count <= 2 * STEP else STEP
            if count and (at_once or count - self._submitted >= step or count < self._submitted):
                self._submit(careful=count <= SMALL)

    def _submit(self, careful: bool) -> None:
        if self._worker is None:
            return
        labelled, taken = self._material()
        self._submitted = len(labelled)
        self._worker.submit(Job(self.task, labelled, len(labelled), taken, careful, self.threads))

    def _failed(self, message: str) -> None:
        self.error = message

    def _done(self, found: Outcome) -> None:
        model = unpacked(self.task, found.packed) if found.packed is not None else None
        if model is not None:
            self._adopt(model)
        with self._lock:
            self.last, self.error = found, ""
            self._trained = found.answers
            if model is None:
                return
            self._ranked(found.ranked)
            if found.point is not None:
                self.curve = [p for p in self.curve if p.sentences != found.point.sentences] + [found.point]
                self._judged(found.point)
            if not found.careful and self._submitted == found.answers and self._worth_judging(found.answers):
                self._submit(careful=True)
        if found.careful:
            self._judging = found.answers, found.processor
            self.own_score = self.own_score if found.score is None else found.score
            self._score_base()
            self._keep(model)

    def _worth_judging(self, answers: int) -> bool:
        """Whether to judge a model now: always where that is quick, else where much has been added since last time."""
        before, processor = self._judging
        return processor <= QUICK_JUDGING or answers >= MORE * before

    def _adopt(self, model: Any) -> None:
        own = Guesser(model, self.task, self.labels, "your model")
        own.guess(FIRST_GUESS)
        self.own = own
        self.version += 1

    def _keep(self, model: Any) -> None:
        if self.path is None:
            return
        try:
            model.save(self.path)
        except DovetailError as error:
            self.error = str(error)

    def _score_base(self) -> None:
        """How good the model that was there before is, on what has been labelled."""
        if self.base is None:
            return
        labelled, _ = self._material()
        task, found = TASKS[self.task], self.base.answers(labelled)
        gold = [task.read(sentence) for sentence in labelled]
        if self.task == "words":
            pairs = [(a, b) for g, f in zip(gold, found, strict=True) for a, b in zip(g, f, strict=True) if a]
            self.base_score = 100.0 * sum(a == b for a, b in pairs) / max(len(pairs), 1)
        else:
            spans = [[[tuple(span) for span in each] for each in side] for side in (gold, found)]
            self.base_score = float(f1_of(entity_counts(*spans).sum(axis=0)))

    def status(self) -> dict[str, Any]:
        """What the page says of models and training."""
        asked, last = self.guesser, self.last
        return {
            "model": None if asked is None else {"name": asked.name, "own": asked is self.own},
            "version": self.version,
            "base": None if self.base is None else {"name": self.base.name, "score": self.base_score},
            "training": {
                "busy": self._worker is not None and self._worker.busy,
                "sentences": self._trained,
                "answers": self._count,
                "why": "" if last is None else last.why,
                "error": self.error,
                "seconds": None if last is None else round(last.seconds, 2),
                "processor": None if last is None else round(last.processor, 2),
            },
        }
