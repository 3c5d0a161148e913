"""From bracketings to trees: the best, the k best, samples, and the probabilities of constituents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dovetail.grammars.brackets import unbracketed
from dovetail.models.annotator import once_each
from dovetail.models.answer import Answer
from dovetail.models.batching import cut
from dovetail.models.parser.brackets.model import BracketModel, chunks, likeliest
from dovetail.models.parser.decoding import LONGEST, Votes, answer_of, joined
from dovetail.structures.brackets import BracketBatch, Brackets
from dovetail.structures.contract import at_most_one
from dovetail.structures.grammar import cells
from dovetail.structures.ruled import RuledBatch
from dovetail.text.sentence import Sentence, Span
from dovetail.text.tree import Tree


class Text(NamedTuple):
    """What is parsed at once: sentences, or parts of very long ones, with their words as they were given."""

    owner: list[int]
    """The sentence that each is of."""
    shown: list[tuple[str, ...]]
    tags: list[tuple[str, ...]]
    scorer: Any
    """A ``BracketScorer``, or what is made of one."""

    @classmethod
    def of(
        cls, model: BracketModel, sentences: Sequence[Sentence], tags: Sequence[Sequence[str]], threads: int
    ) -> Text:
        """Look at sentences whose parts of speech are known."""
        places = [(i, a, b) for i, sentence in enumerate(sentences) for a, b in cut(sentence.words, LONGEST)]
        spelled = [model.spelled(sentence.words) for sentence in sentences]
        own = [tuple(tags[i][a:b]) for i, a, b in places]
        scorer = model.scorer([spelled[i][a:b] for i, a, b in places], own, threads)
        return cls([i for i, _, _ in places], [sentences[i].words[a:b] for i, a, b in places], own, scorer)


@dataclass(frozen=True)
class BracketDecoder:
    """How trees are chosen, and whether constituents get their probabilities."""

    model: BracketModel
    by_recall: bool = False
    with_probabilities: bool = False
    threads: int = 1

    def answers(self, text: Text) -> list[Answer]:
        """The tree of every sentence."""
        parts: list[list[Answer]] = [[] for _ in range(max(text.owner, default=-1) + 1)]
        for number, answer in enumerate(self._each(text)):
            parts[text.owner[number]].append(answer)
        return [joined(each, self.model.root) for each in parts]

    def _each(self, text: Text) -> Iterator[Answer]:
        for which, batch in self.batches(text):
            found = likeliest(batch, self.model.labels) if self.by_recall else batch.best()
            whole: NDArray[np.float64] | None = None
            known: list[Mapping[tuple[int, int, str], float] | None] = [None] * len(which)
            if self.with_probabilities:
                log_z, marginals = batch.log_partition_and_marginals()
                whole = at_most_one(np.exp(batch.score(found) - log_z))
                known = [constituents(self.model, batch, marginals.span, n, found) for n in range(len(which))]
            for n, s in enumerate(which.tolist()):
                tree = self.tree(found, n, text.shown[s], text.tags[s], known[n])
                yield answer_of(tree, probability=None if whole is None else float(whole[n]))

    def batches(self, text: Text) -> Iterator[tuple[NDArray[np.int64], BracketBatch | RuledBatch]]:
        """The bracketings of a few sentences at a time, and which they are."""
        for which in chunks(text.scorer.offsets):
            yield which, text.scorer.batch(self.model.weight, which)

    def kbest(self, text: Text, k: int) -> Iterator[list[Answer]]:
        """The k most probable answers to each; those that differ only in how a tree is built up are one."""
        for which, batch in self.batches(text):
            answers, scores = batch.kbest(k)
            chances = np.exp(scores - batch.log_partition()[:, None])
            for n, s in enumerate(which.tolist()):
                found: dict[Tree, float] = {}
                for rank in np.flatnonzero(scores[n] > -np.inf).tolist():
                    tree = self.tree(answers[rank], n, text.shown[s], text.tags[s])
                    found[tree] = found.get(tree, 0.0) + float(chances[n, rank])
                best = sorted(found.items(), key=lambda one: -one[1])
                yield [answer_of(tree, probability=float(at_most_one(p))) for tree, p in best]

    def sample(self, text: Text, count: int, rng: np.random.Generator) -> Iterator[list[Answer]]:
        """Answers drawn from the model's distribution over the trees that pruning leaves."""
        for which, batch in self.batches(text):
            drawn = batch.sample(count, rng)
            for n, s in enumerate(which.tolist()):
                yield [answer_of(self.tree(each, n, text.shown[s], text.tags[s])) for each in drawn]

    def draws(self, text: Text, counts: Sequence[int], rngs: Sequence[np.random.Generator]) -> Iterator[list[Answer]]:
        """So many answers to each sentence, drawn with its own generator; equal ones are one object."""
        for which, batch in self.batches(text):
            for n, s in enumerate(which.tolist()):
                drawn = batch.take(np.array([n])).sample(counts[s], rngs[s])
                yield once_each(drawn, partial(self._drawn, text, s))

    def _drawn(self, text: Text, s: int, found: Brackets) -> Answer:
        """The answer to a sentence that is alone in its batch."""
        return Answer({"pos": text.tags[s]}, tree=self.tree(found, 0, text.shown[s], text.tags[s]))

    def spans(self, text: Text, least: float) -> list[list[Span]]:
        """For every sentence all constituents more probable than ``least``."""
        found: list[list[Span]] = [[] for _ in range(max(text.owner, default=-1) + 1)]
        begun = [0] * len(found)
        names = self.model.labels.constituents
        for which, batch in self.batches(text):
            known = batch.marginals().span @ self.model.labels.shares
            for n, s in enumerate(which.tolist()):
                i, size = text.owner[s], len(text.shown[s])
                places = [(b, e) for b in range(size) for e in range(b + 1, size + 1)]
                own = known[batch.rows[n] : batch.rows[n + 1]]
                spans = [
                    Span(places[c][0] + begun[i], places[c][1] + begun[i], names[x], min(1.0, float(own[c, x])))
                    for c, x in np.argwhere(own > least).tolist()
                ]
                found[i] += sorted(spans, key=lambda span: (span.start, -span.end, -(span.probability or 0.0)))
                begun[i] += size
        return found

    def votes(self, text: Text) -> list[list[Votes | None]]:
        """For every sentence, or for every part of one that is cut, the probabilities of all constituents."""
        found: list[list[Votes | None]] = [[] for _ in range(max(text.owner, default=-1) + 1)]
        names = self.model.labels.constituents
        for which, batch in self.batches(text):
            known = batch.marginals().span @ self.model.labels.shares
            for n, s in enumerate(which.tolist()):
                own = known[batch.rows[n] : batch.rows[n + 1]]
                found[text.owner[s]].append(Votes(names, own, text.tags[s]))
        return found

    def tree(
        self, found: Brackets, n: int, words: Sequence[str], tags: Sequence[str],
        probability: Mapping[tuple[int, int, str], float] | None = None,
    ) -> Tree:  # fmt: skip
        """The tree of one sentence of an answer, under the treebank's root."""
        if not words:
            raise ValueError("a sentence without words has no tree")
        some = slice(*found.offsets[n : n + 2])
        named = self.model.labels.named(*(part[some].tolist() for part in found[:3]))
        whole = unbracketed(named, words, tags, probability)
        if len(whole) == 1 and whole[0].label == self.model.root and not whole[0].is_preterminal:
            return whole[0]
        return Tree(self.model.root, tuple(whole))


def constituents(
    model: BracketModel, batch: BracketBatch | RuledBatch, marginals: NDArray[np.float64], n: int, found: Brackets
) -> dict[tuple[int, int, str], float]:
    """The probability of every constituent of one sentence of an answer, by ``(begin, end, label)``."""
    some, size = slice(*found.offsets[n : n + 2]), int(np.diff(batch.offsets)[n])
    begin, end, label = (part[some] for part in found[:3])
    known = marginals[batch.rows[n] + cells(size, begin, end)] @ model.labels.shares
    number = {name: i for i, name in enumerate(model.labels.constituents)}
    return {
        (i, j, part): min(1.0, float(row[number[part]]))
        for i, j, x, row in zip(begin.tolist(), end.tolist(), label.tolist(), known, strict=True)
        for part in model.labels.parts[x]
    }
