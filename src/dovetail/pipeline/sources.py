"""Where the values of a stage come from: a model or a function, asked for the best, the k best, or draws.

A sentence on which an annotator fails does not stop the others. It is tried again alone, and if it fails again, it is
reported and has no value.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from dovetail.errors import DovetailError
from dovetail.models.answer import Answer
from dovetail.pipeline.stage import Stage
from dovetail.pipeline.values import Value, as_answer, value_of
from dovetail.text.sentence import Sentence

T = TypeVar("T")
Options = list[tuple[Value, float]]
"""Values and their probabilities, which sum to one; the most probable first."""

BEFORE_TEMPERATURE = 50
"""Answers of a model without potentials that are listed, for a temperature to change their weights."""


@dataclass(frozen=True)
class Source:
    """The values of a stage; ``failed`` hears the number of an input that has none, and why."""

    stage: Stage
    failed: Callable[[int, str], None]

    @property
    def writes(self) -> tuple[str, ...]:
        """The layers that the stage writes."""
        return tuple(self.stage.writes or ())

    def best(self, inputs: Sequence[Sentence], probabilities: bool) -> list[Answer | None]:
        """The answer to each input, None where the stage fails."""
        if self.stage.is_function:
            listed = self.ranked(inputs, 1)
            return [as_answer(options[0][0]) if options else None for options in listed]

        def ask(some: Sequence[int]) -> list[Answer]:
            found = self.stage.annotator.best_answers([inputs[i] for i in some], probabilities)
            return [self._checked(answer) for answer in found]

        return self._each(inputs, ask)

    def _checked(self, answer: Answer) -> Answer:
        """The answer, with nothing but what the stage writes."""
        value_of(answer, self.writes)
        more = ("head_probability",) if "head" in self.writes else ()
        kept = {name: values for name, values in answer.layers.items() if name in (*self.writes, *more)}
        gone: dict[str, Any] = {name: None for name in ("spans", "tree", "frames") if name not in self.writes}
        return replace(answer, layers=kept, **gone)

    def everything(self, inputs: Sequence[Sentence]) -> list[Answer | None]:
        """All parts that have a chance, for each input; None where the stage fails."""
        model: Any = self.stage.annotator
        return self._each(inputs, lambda some: model.all_parts([inputs[i] for i in some]))

    def ranked(self, inputs: Sequence[Sentence], k: int) -> list[Options]:
        """The k best values of each input with their shares of the probability of all of them; none where it fails."""
        temperature = float(self.stage.temperature)
        if self.stage.is_function:
            found = self._each(inputs, lambda some: [self._called(inputs[i]) for i in some])
            return [_heated(options or [], temperature)[:k] for options in found]
        model = self.stage.tempered
        if model is not None:
            return self._listed(inputs, model, k)
        longer = self._listed(inputs, self.stage.annotator, max(k, BEFORE_TEMPERATURE))
        return [_shares(_heated(options, temperature)[:k]) for options in longer]

    def draws(self, inputs: Sequence[Sentence], counts: Sequence[int], rngs: Sequence[Any]) -> list[list[Value]]:
        """So many values for each input, drawn from the distribution of the stage; none where it fails."""
        if self.stage.is_function or self.stage.tempered is None:
            every = self.ranked(inputs, max(BEFORE_TEMPERATURE, *counts)) if inputs else []
            return [_drawn(*one) if one[0] else [] for one in zip(every, counts, rngs, strict=True)]

        def ask(some: Sequence[int]) -> list[list[Answer]]:
            mine = ([inputs[i] for i in some], [counts[i] for i in some], [rngs[i] for i in some])
            found: list[list[Answer]] = self.stage.tempered.draws(*mine)
            return found

        return [self._values(answers or []) for answers in self._each(inputs, ask, self._certain)]

    def _listed(self, inputs: Sequence[Sentence], model: Any, k: int) -> list[Options]:
        def ask(some: Sequence[int]) -> list[list[Answer]]:
            found: list[list[Answer]] = model.listed_answers([inputs[i] for i in some], k)
            return found

        listed = self._each(inputs, ask, self._certain)
        return [_options(self._values(own or []), [a.probability or 0.0 for a in own or []]) for own in listed]

    def _values(self, answers: Sequence[Answer]) -> list[Value]:
        """Equal answers are one object, and so are their values."""
        known: dict[int, Value] = {}
        for answer in answers:
            if id(answer) not in known:
                known[id(answer)] = value_of(answer, self.writes)
        return [known[id(answer)] for answer in answers]

    def _certain(self, sentence: Sentence) -> list[Answer]:
        """Where a model has neither lists nor draws of a sentence, as of one too long: its answer, without a doubt."""
        [answer] = self.stage.annotator.best_answers([sentence])
        return [replace(answer, probability=1.0)]

    def _called(self, sentence: Sentence) -> Options:
        """What a function gives for a sentence."""
        given = self.stage.annotator(sentence)
        if isinstance(given, Sentence):
            return [(value_of(given, self.writes), 1.0)]
        try:
            pairs = [(value_of(found, self.writes), float(p)) for found, p in given]
        except (TypeError, ValueError, AttributeError):
            raise DovetailError(
                f"the function gave {given!r:.60}; give a sentence, or a list of pairs (sentence, probability)"
            ) from None
        return _options([value for value, _ in pairs], [p for _, p in pairs])

    def _each(
        self,
        inputs: Sequence[Sentence],
        ask: Callable[[Sequence[int]], Sequence[T]],
        otherwise: Callable[[Sentence], T] | None = None,
    ) -> list[T | None]:
        """What is asked of all inputs at once; where that fails, of each alone; where it fails too, ``otherwise``.

        None where all fails. An error of the model itself reaches every input, and each is reported.
        """
        try:
            return list(ask(range(len(inputs))))
        except Exception as error:
            if len(inputs) == 1 and otherwise is None:
                self.failed(0, reason(error))
                return [None]
        found: list[T | None] = []
        for i, sentence in enumerate(inputs):
            try:
                [one] = ask([i])
            except Exception as error:
                one_or_none: T | None = None
                why = reason(error)
                try:
                    one_or_none = None if otherwise is None else otherwise(sentence)
                except Exception:
                    pass
                else:
                    why += "" if otherwise is None else "; its best answer counts as certain"
                self.failed(i, why)
                found.append(one_or_none)
            else:
                found.append(one)
        return found


def reason(error: Exception) -> str:
    """What went wrong, in one line."""
    said = str(error).strip().split("\n")[0]
    return said if isinstance(error, DovetailError) and said else f"{type(error).__name__}: {said}".removesuffix(": ")


def _options(values: Sequence[Value], chances: Sequence[float]) -> Options:
    """Different values with their shares of the probability, the most probable first."""
    weights: dict[Value, float] = {}
    for value, p in zip(values, chances, strict=True):
        if not 0.0 <= p < float("inf"):
            raise DovetailError(f"a probability of {p}; give numbers from 0 to 1")
        weights[value] = weights.get(value, 0.0) + p
    return _shares(sorted(weights.items(), key=lambda one: -one[1]))


def _shares(options: Options) -> Options:
    total = sum(p for _, p in options)
    if options and total <= 0.0:
        return [(value, 1.0 / len(options)) for value, _ in options]
    return [(value, p / total) for value, p in options]


def _heated(options: Options, temperature: float) -> Options:
    """Probabilities to the power of 1 / temperature, and summing to one again."""
    if temperature == 1.0 or not options:
        return options
    top = options[0][1]
    return _shares([(value, (p / top) ** (1.0 / temperature)) for value, p in options])


def _drawn(options: Options, count: int, rng: np.random.Generator) -> list[Value]:
    """Values drawn by their probabilities."""
    edges = np.cumsum([p for _, p in options])
    places = np.minimum(np.searchsorted(edges, rng.random(count), side="right"), len(options) - 1)
    return [options[i][0] for i in places.tolist()]
