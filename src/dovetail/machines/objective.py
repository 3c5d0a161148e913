"""An objective whose pieces are worked on by the workers of a cluster: the same bits as on one machine."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from dovetail.errors import DovetailError
from dovetail.learning.objective import AnyObjective
from dovetail.machines.pieces import Cut, Piece, cut
from dovetail.machines.ray import cluster, imported, lost, spread
from dovetail.sparse import SparseGradient
from dovetail.structures.contract import Floats, Integers

REPLACED = 5
"""How often a worker that dies is replaced, until the work is given up."""


class Worker:
    """A process that holds some pieces of an objective. One that dies is started again, and fetches them once more."""

    def __init__(self) -> None:
        self._pieces: list[Piece] = []

    def work(self, weight: Floats, pieces: Sequence[Any]) -> list[Any]:
        """What each of its pieces adds; ``pieces`` are references to them."""
        if not self._pieces:
            import ray

            self._pieces = ray.get(list(pieces))
        return [piece.work(weight) for piece in self._pieces]

    def process(self) -> int:
        """The number of the process."""
        return os.getpid()


class SharedObjective:
    """A function of the weights, as ``learning.objective.Objective``, for optimisers that look at all sentences.

    The pieces are sent once; each pass sends the weights, and gets sums back, which are added up in the order of the
    pieces, whoever answers first.
    """

    def __init__(self, objective: AnyObjective, parts: Cut, workers: int) -> None:
        ray = imported()
        self._ray, self._cut = ray, parts
        self.items, self.parameters = objective.items, objective.parameters
        self._dealt = spread(range(len(parts.pieces)), workers)
        self._pieces = [[ray.put(parts.pieces[i]) for i in own] for own in self._dealt]
        made = ray.remote(num_cpus=1, max_restarts=REPLACED, max_task_retries=REPLACED)(Worker)
        self._workers = [made.remote() for _ in self._dealt]

    def __call__(self, weight: Floats) -> tuple[float, Floats]:
        """The loss on all sentences and its gradient [parameters]."""
        out, sent = np.zeros(self.parameters), self._ray.put(weight)
        answers: list[Any] = [None] * len(self._cut.pieces)
        try:
            asked = zip(self._workers, self._pieces, strict=True)
            found = self._ray.get([worker.work.remote(sent, pieces) for worker, pieces in asked])
        except self._ray.exceptions.RayError as error:
            raise lost(error, "training") from None
        for own, some in zip(self._dealt, found, strict=True):
            for number, answer in zip(own, some, strict=True):
                answers[number] = answer
        return self._cut.total(answers, out), out

    def touch(self, which: Integers, sink: SparseGradient) -> None:
        """Workers hold whole passes."""
        raise DovetailError(ONLINE)

    def accumulate(self, weight: Floats, which: Integers, sink: SparseGradient) -> float:
        """Workers hold whole passes."""
        raise DovetailError(ONLINE)

    def processes(self) -> list[int]:
        """The numbers of the processes that the workers are."""
        found: list[int] = self._ray.get([worker.process.remote() for worker in self._workers])
        return found

    def stop(self) -> None:
        """Let the workers go."""
        for worker in self._workers:
            self._ray.kill(worker)


ONLINE = "a cluster shares out whole passes over the data: use the optimiser lbfgs, or train on one machine"


class Ray:
    """What shares out training over a cluster: ``model.fit(train, sharing=Ray())``.

    ``workers``: how many; as many as the cluster has processors unless said.
    """

    def __init__(self, workers: int | None = None) -> None:
        self.workers = workers

    @contextmanager
    def shared(self, objective: AnyObjective, doing: Callable[[str], None]) -> Iterator[AnyObjective]:
        """The same objective, worked on by the cluster; the objective itself, where it is too small to be cut."""
        parts = cut(objective)
        if parts is None:
            doing("training on this machine: the data is too little to share out, or the model cannot be shared")
            yield objective
            return
        with cluster(self.workers) as room:
            doing(f"sending the data to {min(room, len(parts.pieces))} workers")
            made = SharedObjective(objective, parts, room)
            try:
                yield made
            finally:
                made.stop()
