"""Many graphs at once, on several threads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Event
from typing import Any, TypeVar

from dovetail.joint.graph import Graph
from dovetail.joint.result import Beliefs, Result, alone
from dovetail.threads import run_shards

Answer = TypeVar("Answer", Result, Beliefs)


def solve_all(graphs: Sequence[Graph], engine: str = "dual", threads: int | None = None, **how: Any) -> list[Result]:
    """What ``Graph.solve`` says of each of some graphs, in their order: the same bits for any number of threads.

    Ctrl-C returns what is there: graphs that were not reached have the answers of their structures alone, and say that
    they were interrupted.
    """
    found: list[Result | None] = [None] * len(graphs)
    _each(graphs, found, lambda graph: graph.solve(engine, **how), threads)
    return [alone(graph, engine) if own is None else own for graph, own in zip(graphs, found, strict=True)]


def marginals_all(graphs: Sequence[Graph], engine: str = "bp", threads: int | None = None, **how: Any) -> list[Beliefs]:
    """What ``Graph.marginals`` says of each of some graphs, in their order: the same bits for any number of threads.

    Ctrl-C leaves all of it: there are no probabilities of a graph that was not reached.
    """
    found: list[Beliefs | None] = [None] * len(graphs)
    _each(graphs, found, lambda graph: graph.marginals(engine, **how), threads)
    reached = [own for own in found if own is not None]
    if len(reached) < len(graphs):
        raise KeyboardInterrupt
    return reached


def _each(
    graphs: Sequence[Graph], found: list[Answer | None], ask: Callable[[Graph], Answer], threads: int | None
) -> None:
    """Put answers into ``found`` until all are there, or Ctrl-C comes."""
    stopped = Event()

    def work(i: int) -> None:
        if not stopped.is_set():
            found[i] = answer = ask(graphs[i])
            if answer.interrupted:
                stopped.set()

    try:
        run_shards(work, range(len(graphs)), threads)
    except KeyboardInterrupt:
        stopped.set()
