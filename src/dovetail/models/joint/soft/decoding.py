"""From coupled structures to answers: the best tree and entities, several of them, samples, and probabilities."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dovetail.joint.coupled import Both, CoupledBatch
from dovetail.models.answer import Answer
from dovetail.models.joint.soft.model import SoftModel
from dovetail.models.joint.soft.pair import Pair
from dovetail.models.parser.brackets.decoding import BracketDecoder, Text, constituents
from dovetail.models.parser.brackets.model import chunks, likeliest
from dovetail.models.parser.decoding import answer_of, joined
from dovetail.structures.brackets import BracketBatch
from dovetail.structures.semimarkov import Segments
from dovetail.text.sentence import Span
from dovetail.text.tree import Tree

Floats = Sequence[float]


@dataclass(frozen=True)
class SoftDecoder:
    """How trees and entities are chosen, and whether they get their probabilities.

    By belief propagation each structure chooses by what the other has told it; other engines look for the best pair.
    """

    model: SoftModel
    by_recall: bool = True
    with_probabilities: bool = False
    engine: str = "bp"

    @property
    def trees(self) -> BracketDecoder:
        """What makes trees of brackets."""
        return BracketDecoder(self.model.brackets, self.by_recall)

    def answers(self, text: Text) -> list[Answer]:
        """The tree and the entities of every sentence."""
        return self.by_each(text, [self.model.bonus])[0]

    def by_each(self, text: Text, bonuses: Floats) -> list[list[Answer]]:
        """The same for each of some values of an entity."""
        parts: list[list[list[Answer]]] = [[[] for _ in range(max(text.owner, default=-1) + 1)] for _ in bonuses]
        for which, pair in self.pairs(text):
            for own, found in zip(parts, self._of_pair(text, which, pair, bonuses), strict=True):
                for s, answer in zip(which.tolist(), found, strict=True):
                    own[text.owner[s]].append(answer)
        return [[joined(each, self.model.brackets.root) for each in own] for own in parts]

    def pairs(self, text: Text) -> Iterator[tuple[NDArray[np.int64], Pair]]:
        """The structures of a few sentences at a time, and which they are."""
        for which in chunks(text.scorer.offsets):
            whole = text.scorer.batch(self.model.brackets.weight, which)
            assert isinstance(whole, BracketBatch)  # without rules
            words, tags = ([own[s] for s in which.tolist()] for own in (text.shown, text.tags))
            yield which, self.model.pair(whole, words, tags)

    def _of_pair(self, text: Text, which: NDArray[np.int64], pair: Pair, bonuses: Floats) -> Iterator[list[Answer]]:
        solved = self.engine != "bp"
        informed = pair.whole if solved else pair.informed
        found = likeliest(informed, self.model.brackets.labels) if self.by_recall else informed.best()
        for bonus in bonuses:
            if solved:
                found, segments = pair.solved(self.engine, self.model.with_bonus(pair.coupled.second, bonus))
            else:
                segments = self.model.with_bonus(pair.coupled.informed[1], bonus).best()
            known: list[Mapping[tuple[int, int, str], float] | None] = [None] * len(which)
            whole, chance = None, None
            if self.with_probabilities:
                counts = informed.marginals().span
                known = [constituents(self.model.brackets, informed, counts, n, found) for n in range(len(which))]
                whole = self._probability(pair, Both(found, segments))
                marginal = pair.coupled.informed[1].marginals().segment
                chance = np.minimum(marginal[segments.start, segments.length - 1, segments.label], 1.0)
            spans = self.spans_of(segments, pair.coupled, chance)
            yield [
                answer_of(
                    self.trees.tree(found, n, text.shown[s], text.tags[s], known[n]), "usual", spans[n],
                    None if whole is None else float(whole[n]),
                )
                for n, s in enumerate(which.tolist())
            ]  # fmt: skip

    def _probability(self, pair: Pair, answer: Both) -> NDArray[np.float64]:
        """That of trees with entities: [n]; as exact as log Z is."""
        return np.minimum(np.exp(pair.score(answer) - pair.log_partition()), 1.0)

    def kbest(self, text: Text, k: int) -> Iterator[list[Answer]]:
        """k good answers to each, best first: the k best trees by what they are told, each with its k best entities."""
        for which, pairs in self.pairs(text):
            for n, s in enumerate(which.tolist()):
                pair = pairs.take(np.array([n]))
                trees, scores = pair.informed.kbest(k)
                found: dict[tuple[Tree, tuple[Span, ...]], float] = {}
                for one in (tree for tree, score in zip(trees, scores[0], strict=True) if score > -np.inf):
                    tree = self.trees.tree(one, 0, text.shown[s], text.tags[s])
                    seconds, own = pair.given(one).kbest(k)
                    for two in (each for each, score in zip(seconds, own[0], strict=True) if score > -np.inf):
                        key = tree, tuple(self.spans_of(two, pair.coupled)[0])
                        found[key] = found.get(key, 0.0) + float(self._probability(pair, Both(one, two))[0])
                best = sorted(found.items(), key=lambda each: -each[1])[:k]
                yield [answer_of(tree, "usual", list(spans), min(p, 1.0)) for (tree, spans), p in best]

    def sample(self, text: Text, count: int, rng: np.random.Generator) -> Iterator[list[Answer]]:
        """Trees drawn by what they are told, and with each entities drawn exactly."""
        for which, pair in self.pairs(text):
            drawn = []
            for one in pair.informed.sample(count, rng):
                [two] = pair.given(one).sample(1, rng)
                drawn.append((one, self.spans_of(two, pair.coupled), self._probability(pair, Both(one, two)).tolist()))
            for n, s in enumerate(which.tolist()):
                own = ((self.trees.tree(one, n, text.shown[s], text.tags[s]), e[n], p[n]) for one, e, p in drawn)
                yield [answer_of(tree, "usual", spans, chance) for tree, spans, chance in own]

    def constituents(self, text: Text, least: float) -> list[list[Span]]:
        """For every sentence all constituents more probable than ``least``."""
        return _Told(self.model.brackets, soft=self).spans(text, least)

    def spans_of(
        self, segments: Segments, batch: CoupledBatch, chance: NDArray[np.float64] | None = None
    ) -> list[list[Span]]:
        """The entities of every sentence."""
        offsets, names = batch.second.offsets, self.model.entities.labels  # type: ignore[attr-defined]
        found: list[list[Span]] = []
        for n, first in enumerate(offsets[:-1].tolist()):
            own: list[Span] = []
            for q in range(segments.offsets[n], segments.offsets[n + 1]):
                if segments.label[q]:
                    begin = int(segments.start[q]) - first
                    odds = None if chance is None else float(chance[q])
                    own.append(Span(begin, begin + int(segments.length[q]), names[segments.label[q]], odds))
            found.append(own)
        return found


@dataclass(frozen=True)
class _Told(BracketDecoder):
    """Trees alone, by what entities have told them."""

    soft: SoftDecoder | None = None

    def batches(self, text: Text) -> Iterator[tuple[NDArray[np.int64], BracketBatch]]:
        """The bracketings of a few sentences at a time, and which they are."""
        assert self.soft is not None
        for which, pair in self.soft.pairs(text):
            yield which, pair.informed
