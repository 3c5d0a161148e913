"""Stages of a pipeline, and the graph that they make: who reads what others write."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from dovetail.errors import DovetailError
from dovetail.models.annotator import Annotator, SpellingTagger
from dovetail.models.base import Estimator
from dovetail.text.sentence import Sentence

WORDS = "words"
"""What every stage reads: a stage that writes words comes before all others."""

Function = Callable[[Sentence], Any]


@dataclass(frozen=True, eq=False, repr=False)
class Stage:
    """An annotator with a name: a model, or a function of a sentence.

    A function gives the sentence with more in it, or a list of pairs ``(sentence, probability)``. It says what it
    ``reads`` and ``writes``: names of layers, or ``spans``, ``tree``, ``frames``, ``words``. A model knows both; with
    ``reads`` it reads layers that it would predict by itself. Potentials are divided by ``temperature``.

    >>> def shout(sentence):
    ...     return sentence.with_layer("loud", tuple(word.upper() for word in sentence.words))
    >>> Stage("loud", shout, writes=("loud",)).reads
    ()
    """

    name: str
    annotator: Any
    reads: Sequence[str] | None = None
    writes: Sequence[str] | None = None
    temperature: float = 1.0
    source: tuple[Any, int] | None = field(default=None, repr=False)
    """Where the annotator is a part of a model: the model, and which of its ``stages()`` it is."""

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise DovetailError(f"a stage is known by its name, a string; this is {self.name!r}")
        for what in ("reads", "writes"):
            given = getattr(self, what)
            if given is not None and (isinstance(given, str) or not all(isinstance(one, str) for one in given)):
                raise DovetailError(f"stage {self.name!r}: {what}={given!r}: give a tuple of names of layers")
        if isinstance(self.temperature, bool) or not 0.0 < float(self.temperature) < float("inf"):
            raise DovetailError(f"stage {self.name!r}: temperature={self.temperature!r}: choose a number above 0")
        read, written = self._of_function() if self.is_function else self._of_model()
        object.__setattr__(self, "reads", read)
        object.__setattr__(self, "writes", written)
        if both := [one for one in written if one in read]:
            raise DovetailError(f"stage {self.name!r} reads {both[0]!r}, which it writes itself")

    def __repr__(self) -> str:
        what = getattr(self.annotator, "__name__", type(self.annotator).__name__)
        heat = "" if self.temperature == 1.0 else f", temperature={self.temperature}"
        return f"Stage({self.name!r}, {what}, reads={self.reads}, writes={self.writes}{heat})"

    @property
    def is_function(self) -> bool:
        """Whether a user's function annotates, and not a model."""
        return not isinstance(self.annotator, Annotator | SpellingTagger)

    def _of_function(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        if not callable(self.annotator):
            raise DovetailError(f"stage {self.name!r}: give a model or a function; this is {self.annotator!r:.60}")
        if not self.writes:
            raise DovetailError(f"stage {self.name!r}: a function must say what it writes: writes=('layer',)")
        return tuple(self.reads or ()), tuple(self.writes)

    def _of_model(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        if isinstance(self.annotator, Estimator):
            self.annotator._check_trained()
            if self.reads is not None:
                object.__setattr__(self, "annotator", self.annotator.reading())
        known, can = self.annotator.reads, self.annotator.writes
        for what, given, able in (("read", self.reads, known), ("write", self.writes, can)):
            if wrong := [one for one in given or () if one not in able]:
                has = f"it {what}s {', '.join(able)}" if able else f"it {what}s words alone"
                raise DovetailError(f"stage {self.name!r}: the model does not {what} {wrong[0]!r}; {has}")
        return tuple(known), tuple(can if self.writes is None else self.writes)

    @property
    def elects(self) -> bool:
        """Whether the model makes one answer of all parts that several inputs give: see ``Annotator.elected``."""
        return self.temperature == 1.0 and bool(getattr(self.annotator, "elects", False))

    @cached_property
    def tempered(self) -> Any:
        """The model at its temperature, None where it has no potentials to divide."""
        return self.annotator.at_temperature(float(self.temperature))


def in_order(stages: Iterable[Stage]) -> list[Stage]:
    """The stages, each after those whose layers it reads; else in the order in which they are given."""
    given = list(stages)
    if not given:
        raise DovetailError("a pipeline has at least one stage")
    writer: dict[str, Stage] = {}
    for stage in given:
        if not isinstance(stage, Stage):
            raise DovetailError(f"give stages: Stage('pos', tagger); this is {stage!r:.60}")
        if sum(other.name == stage.name for other in given) > 1:
            raise DovetailError(f"two stages are called {stage.name!r}; give each a name of its own")
        for layer in stage.writes or ():
            if (other := writer.setdefault(layer, stage)) is not stage:
                raise DovetailError(
                    f"the stages {other.name!r} and {stage.name!r} both write {layer!r}; where one should read it, "
                    f"say so: reads=({layer!r},)"
                )
    found: list[Stage] = []
    while len(found) < len(given):
        ready = (s for s in given if s not in found and all(p in found for p in parents(s, given)))
        stage_ = next(ready, None)
        if stage_ is None:
            raise DovetailError(f"the stages {_ring(given, found)} read each other's layers in a circle; break it")
        found.append(stage_)
    return found


def parents(stage: Stage, stages: Sequence[Stage]) -> list[Stage]:
    """The stages that write what a stage reads."""
    wanted = {WORDS, *(stage.reads or ())}
    return [other for other in stages if other is not stage and wanted & set(other.writes or ())]


def _ring(given: Sequence[Stage], found: Sequence[Stage]) -> str:
    """The stages of a circle, by name."""
    path = [next(stage for stage in given if stage not in found)]
    while True:
        before = next(p for p in parents(path[-1], given) if p not in found)
        if before in path:
            ring = [*path[path.index(before) :], before]
            return " -> ".join(repr(one.name) for one in reversed(ring))
        path.append(before)
