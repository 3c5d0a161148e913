"""Votes on the values of a stage: which answer wins, and how probable it and its parts are.

By ``parts``, the answer with the most parts expected to be right wins, less ``least`` for each part that it has: a part
of a probability above that is worth having. Candidates are all that was voted for, and what the most probable parts
make together. By ``answer``, the one with the most votes as a whole.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

from dovetail.models.answer import Answer
from dovetail.pipeline.parts import Chances, Part, parts_of, put_together
from dovetail.pipeline.values import FRAMES, HEAD, SPANS, TREE, Value, value_of
from dovetail.text.sentence import Span

Vote = Literal["parts", "answer"]


@dataclass(frozen=True)
class Ballot:
    """The votes on what a stage says of a sentence: different values, and their probabilities, which sum to one."""

    writes: tuple[str, ...]
    votes: tuple[tuple[Value, float], ...]
    """The most probable first."""

    @classmethod
    def of(cls, writes: Sequence[str], weights: Mapping[Value, float]) -> Ballot:
        """From votes with weights; of equal ones, the first given stays first."""
        total = sum(weights.values())
        ranked = sorted(weights.items(), key=lambda one: -one[1])
        return cls(tuple(writes), tuple((value, weight / total) for value, weight in ranked))

    @cached_property
    def parts(self) -> Chances:
        """The probability of every part that has a vote."""
        found: defaultdict[Part, float] = defaultdict(float)
        for own, (_, p) in zip(self._parts, self.votes, strict=True):
            for part in own:
                found[part] += p
        return {part: min(1.0, p) for part, p in found.items()}

    @cached_property
    def _parts(self) -> list[list[Part]]:
        return [parts_of(value) for value, _ in self.votes]

    def probability(self, value: Value) -> float:
        """How probable a value is as a whole."""
        return next((p for other, p in self.votes if other == value), 0.0)

    def layer(self, name: str) -> list[tuple[Any, float]]:
        """What is said of one of the layers, and how probable each is, the most probable first."""
        found: dict[Any, tuple[Any, float]] = {}
        for value, p in self.votes:
            key = value.keys[self.writes.index(name)]
            own, before = found.get(key, (value.named()[name], 0.0))
            found[key] = own, before + p
        return sorted(found.values(), key=lambda one: -one[1])

    def winner(self, by: Vote, least: float) -> Value:
        """The answer that wins."""
        if by == "answer" or len(self.votes) == 1:
            return self.votes[0][0]
        worth = [sum(self.parts[part] - least for part in own) for own in self._parts]
        best = max(range(len(worth)), key=lambda i: (worth[i], -i))
        made = put_together(self.writes, self.votes, self.parts, least)
        if made is not None:
            own = parts_of(made)
            if sum(self.parts.get(part, 0.0) - least for part in own) > worth[best] + 1e-9:
                return made
        return self.votes[best][0]

    def layers(self, by: Vote, least: float, probabilities: bool) -> dict[str, Any]:
        """The layers of the answer that wins."""
        value = self.winner(by, least)
        return self.with_probabilities(value) if probabilities else value.named()

    def with_probabilities(self, value: Value) -> dict[str, Any]:
        """The layers of a value, with the probabilities of parts where a sentence has a place for them."""
        found, chance = value.named(), self.parts.get
        if SPANS in found:
            found[SPANS] = self._sure((SPANS,), found[SPANS])
        if TREE in found:
            known = {part[1:4]: p for part, p in self.parts.items() if part[0] == TREE and len(part) == 4}
            found[TREE] = found[TREE].with_probabilities(known)
        if FRAMES in found:
            there: defaultdict[Any, float] = defaultdict(float)
            for part, p in self.parts.items():
                if part[0] == FRAMES and len(part) == 4:  # a predicate with its sense
                    there[part[1]] += p
            found[FRAMES] = tuple(
                replace(
                    frame,
                    arguments=self._sure((FRAMES, frame.predicate), frame.arguments),
                    probability=min(1.0, there[frame.predicate]),
                )
                for frame in found[FRAMES]
            )
        if HEAD in found:
            heads = enumerate(found[HEAD])
            found["head_probability"] = tuple(f"{chance((HEAD, i, head), 0.0):.4f}" for i, head in heads)
        return found

    def _sure(self, where: Part, spans: Sequence[Span]) -> tuple[Span, ...]:
        chance = self.parts.get
        return tuple(replace(s, probability=chance((*where, s.start, s.end, s.label), 0.0)) for s in spans)


@dataclass(frozen=True)
class Election:
    """Votes that hold all parts with their probabilities, which say more than samples: the model makes one answer."""

    writes: tuple[str, ...]
    votes: tuple[tuple[float, Answer], ...]
    """What ``all_parts`` says of each input, with weights that sum to one."""
    model: Any

    def layers(self, by: Vote, least: float, probabilities: bool) -> dict[str, Any]:
        """The layers of the answer; what a part must be worth, the model knows itself."""
        found = self.model.elected(self.votes)
        return {"frames": found.frames} if probabilities else value_of(found, self.writes).named()
