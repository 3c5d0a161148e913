"""Values carried through the stages: each stage is asked once, for all different inputs of many sentences.

A *state* of a sentence is a choice of a value for every stage so far, with a weight: of how many samples have it, or
how probable it is. Stages that others read multiply the states; on stages that nobody reads there is a ballot, to
which every state brings all the values that it can have.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from heapq import nlargest
from typing import Any
from zlib import crc32

import numpy as np

from dovetail.errors import DovetailError
from dovetail.models.answer import Answer
from dovetail.models.tagging import layer_of
from dovetail.pipeline.sources import Options, Source
from dovetail.pipeline.stage import Stage, parents
from dovetail.pipeline.values import FRAMES, HEAD, SPECIAL, TREE, Value, without, written
from dovetail.pipeline.voting import Ballot, Election
from dovetail.text.sentence import Sentence

NONE = -1
"""The number of the value of a stage that has failed, or whose input lacks what another should have written."""

USUAL = 10
"""Answers in a list, where nothing is said."""

State = tuple[int, ...]


@dataclass
class Course:
    """One sentence on its way: its states, and the different values that each stage has given so far."""

    sentence: Sentence
    """As it is without the layers that stages write."""
    number: int
    """Its place in the text, from 1."""
    states: dict[State, float]
    values: list[list[Value]] = field(default_factory=list)
    known: list[dict[Value, int]] = field(default_factory=list)
    ballots: list[Ballot | Election | None] = field(default_factory=list)

    def numbered(self, stage: int, value: Value) -> int:
        """The number of a value of a stage."""
        found = self.known[stage].setdefault(value, len(self.values[stage]))
        if found == len(self.values[stage]):
            self.values[stage].append(value)
        return found


@dataclass
class _Input:
    """What a stage is asked, and for whom: the states of courses that agree in what the stage reads."""

    sentence: Sentence
    content: Any
    """What the stage sees of it."""
    owners: list[tuple[int, State]]
    """Sentences, by their place among the courses, and the values of the parents there."""
    count: int


@dataclass(frozen=True)
class Runner:
    """How values are carried through stages that are in order."""

    stages: Sequence[Stage]
    strategy: str
    samples: int
    k: int | None
    seed: int
    told: Callable[[str], None]
    elect: bool = False
    """Whether models that can make one answer of many do so; there are no votes on whole answers then."""
    cached: bool = True
    """Whether equal inputs are asked once; without, each sample is asked for itself."""

    def run(self, sentences: Sequence[Sentence], first: int) -> list[Course]:
        """The courses of some sentences, the first of which is at this place in the text."""
        written_ = self.layers
        start = float(self.samples) if self.strategy == "sample" else 1.0
        courses = [
            Course(without(sentence, written_), number, {(): start}) for number, sentence in enumerate(sentences, first)
        ]
        for number, stage in enumerate(self.stages):
            above = [self.stages.index(p) for p in parents(stage, self.stages)]
            last = not any(stage in parents(other, self.stages) for other in self.stages)
            for course in courses:
                course.values.append([])
                course.known.append({})
            self._step(number, stage, above, last, courses)
        return courses

    @property
    def layers(self) -> set[str]:
        """All that the stages write."""
        return {layer for stage in self.stages for layer in stage.writes or ()}

    def _step(self, number: int, stage: Stage, above: list[int], last: bool, courses: list[Course]) -> None:
        inputs = self._inputs(stage, above, courses)
        source = Source(stage, lambda i, why: self._report(stage, courses[inputs[i].owners[0][0]], why))
        asked = [one.sentence for one in inputs]
        if last and self.elect and stage.elects:
            self._hold_election(stage, above, courses, inputs, source.everything(asked))
            return
        listed = self._listed(stage)
        drawing = self.strategy == "sample" and not (last and listed)
        found: list[Any]
        if drawing:
            rngs = [self._generator(stage, one.content) for one in inputs]
            found = source.draws(asked, [one.count for one in inputs], rngs)
        else:
            found = source.ranked(asked, listed)
        answers = {owner: values for one, values in zip(inputs, found, strict=True) for owner in one.owners}
        for place, course in enumerate(courses):
            of_state: dict[State, Any] = {
                state: answers.get((place, tuple(state[a] for a in above)), []) for state in course.states
            }
            if drawing:
                self._spread(number, course, above, of_state)
            elif not last:
                self._multiply(number, course, of_state)
            self._count(number, stage, course, of_state if not drawing and last else None)

    def _hold_election(
        self, stage: Stage, above: list[int], courses: list[Course], inputs: list[_Input], found: list[Answer | None]
    ) -> None:
        """Every state votes with all that the stage says of it."""
        said = {owner: answer for one, answer in zip(inputs, found, strict=True) for owner in one.owners}
        for place, course in enumerate(courses):
            weights: dict[State, float] = {}
            for state, weight in course.states.items():
                key = tuple(state[a] for a in above)
                weights[key] = weights.get(key, 0.0) + weight
            votes = [(w, answer) for key, w in weights.items() if (answer := said.get((place, key))) is not None]
            total = sum(w for w, _ in votes)
            shares = tuple((w / total, answer) for w, answer in votes)
            course.ballots.append(Election(tuple(stage.writes or ()), shares, stage.annotator) if votes else None)
            course.states = {(*state, NONE): weight for state, weight in course.states.items()}

    def _listed(self, stage: Stage) -> int:
        """How many answers of a stage are listed; lists of trees or frames cost more than samples, for less."""
        if self.k is not None:
            return self.k
        return 0 if self.strategy == "sample" and {TREE, HEAD, FRAMES} & set(stage.writes or ()) else USUAL

    def _inputs(self, stage: Stage, above: list[int], courses: list[Course]) -> list[_Input]:
        """The different inputs of a stage, in the order of the sentences."""
        found: dict[Any, _Input] = {}
        for place, course in enumerate(courses):
            if not len(course.sentence):
                continue
            counts: dict[State, int] = {}
            for state, weight in course.states.items():
                key = tuple(state[a] for a in above)
                if NONE not in key:
                    counts[key] = counts.get(key, 0) + (int(weight) if self.strategy == "sample" else 1)
            for key, count in counts.items():
                sentence = course.sentence
                keys: dict[str, Any] = {}
                for a, number in zip(above, key, strict=True):
                    value = course.values[a][number]
                    sentence = written(sentence, value.named())
                    keys |= zip(value.writes, value.keys, strict=True)
                check_layers(stage, sentence, course.number)
                # A model that reads what others wrote sees each sentence alone; the first stages see documents.
                sentence = sentence if not above or stage.is_function else _alone(sentence)
                same = self.cached and not stage.is_function and sentence.document is None
                content = _content(stage, sentence, keys)
                own = found.setdefault(content if same else (place, key), _Input(sentence, content, [], 0))
                own.owners.append((place, key))
                own.count = max(own.count, count)
        return list(found.values())

    def _generator(self, stage: Stage, content: Any) -> np.random.Generator:
        """Random numbers that depend on the seed, the stage and what it reads: not on other sentences."""
        digest = int.from_bytes(blake2b(repr(content).encode(), digest_size=8).digest(), "big")
        return np.random.default_rng([self.seed, crc32(stage.name.encode()), digest])

    def _spread(self, number: int, course: Course, above: list[int], of_state: dict[State, list[Value]]) -> None:
        """Deal the draws for each input out to the samples that have it."""
        given: dict[State, Iterator[Value]] = {}
        found: dict[State, float] = {}
        for state, weight in course.states.items():
            key = tuple(state[a] for a in above)
            if key not in given:
                given[key] = iter(of_state[state])
            for _ in range(int(weight)):
                value = next(given[key], None)
                longer = (*state, NONE if value is None else course.numbered(number, value))
                found[longer] = found.get(longer, 0.0) + 1.0
        course.states = found

    def _multiply(self, number: int, course: Course, of_state: dict[State, Options]) -> None:
        """Every state with every value that it can have, the k most probable of them."""
        found: dict[State, float] = {}
        for state, weight in course.states.items():
            for value, p in of_state[state]:
                found[(*state, course.numbered(number, value))] = weight * p
            if not of_state[state]:
                found[(*state, NONE)] = weight
        course.states = dict(nlargest(self._listed(self.stages[number]), found.items(), key=lambda one: one[1]))

    def _count(self, number: int, stage: Stage, course: Course, of_state: dict[State, Options] | None) -> None:
        """The votes on what a stage says."""
        votes: dict[Value, float] = {}
        if of_state is None:
            for state, weight in course.states.items():
                if state[number] != NONE:
                    value = course.values[number][state[number]]
                    votes[value] = votes.get(value, 0.0) + weight
        else:
            for state, weight in course.states.items():
                for value, p in of_state[state]:
                    votes[value] = votes.get(value, 0.0) + weight * p
            course.states = {(*state, NONE): weight for state, weight in course.states.items()}
        course.ballots.append(Ballot.of(stage.writes or (), votes) if votes else None)

    def _report(self, stage: Stage, course: Course, why: str) -> None:
        told = f" ({course.sentence.id})" if course.sentence.id else ""
        self.told(f"sentence {course.number}{told}: the stage {stage.name!r} fails: {why}")


def check_layers(stage: Stage, sentence: Sentence, number: int) -> None:
    """An error where a sentence lacks a layer that a stage reads, and does not predict by itself."""
    able = getattr(stage.annotator, "predicts", ())
    for layer in stage.reads or ():
        if read_layer(sentence, layer) is None and layer not in able:
            has = ", ".join(["words", *sentence.layers])
            raise DovetailError(
                f"sentence {number} has no {layer!r}, which the stage {stage.name!r} reads (it has {has}); add a stage "
                f"that writes it, or give text that has it"
            )


def _alone(sentence: Sentence) -> Sentence:
    return sentence if sentence.document is None else replace(sentence, document=None)


def _content(stage: Stage, sentence: Sentence, keys: Mapping[str, Any]) -> Any:
    """What a model can see of a sentence: its words, predicates that are given, and the layers that it reads.

    ``keys`` tells apart what stages wrote, more quickly than what they wrote does.
    """
    read = (keys[layer] if layer in keys else read_layer(sentence, layer) for layer in stage.reads or ())
    return (sentence.words, sentence.frames, *read)


def read_layer(sentence: Sentence, layer: str) -> Any:
    """What a sentence has in a layer, None for nothing; parts of speech have two names."""
    if layer in SPECIAL:
        return getattr(sentence, layer, None)
    name = layer_of(sentence, layer)
    return None if name is None else sentence.layers[name]
