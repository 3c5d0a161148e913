"""Sentences with the scores of models that have not seen them: there, trees and entities need each other's help."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dovetail.arrays import offsets_of, taken
from dovetail.grammars.brackets import Bracket, bracketed
from dovetail.joint.coupled import Both, Links
from dovetail.models.joint.soft.alone import SoftCorpus, SoftSettings
from dovetail.models.joint.soft.couplings import Couplings, collapsed, top_of
from dovetail.models.parser.brackets.model import BracketModel, chunks, some_of
from dovetail.models.segmenter.model import SegmentModel, gold_segments
from dovetail.structures.brackets import BracketBatch, BracketPotentials, Brackets
from dovetail.structures.semimarkov import Segments, SemiMarkovBatch, SemiMarkovPotentials
from dovetail.text.sentence import Sentence

Integers = NDArray[np.int64]

PRUNED = 7.0  # by how much the score of a pruned label is below the best one


class Part(NamedTuple):
    """Some of the sentences that have both, by their numbers, and models of others."""

    which: Integers
    trees: BracketModel
    entities: SegmentModel


@dataclass(frozen=True, eq=False)
class Fresh:
    """Sentences by their numbers ``which`` among those that have both: trees in classes, entities, links, and answers.

    ``length`` and ``label`` [tokens]: of the right segment that starts at each.
    """

    which: Integers
    couplings: Couplings
    first: BracketBatch
    second: SemiMarkovBatch
    links: Links
    brackets: Brackets
    length: NDArray[np.int32]
    label: NDArray[np.int32]

    @classmethod
    def of(cls, corpus: SoftCorpus, parts: Sequence[Part], how: SoftSettings) -> Fresh:
        """The structures by the models of the other parts, less sentences with entities that are too long."""
        longest = parts[0].entities.form.longest
        fits = np.array([all(e.end - e.start <= longest for e in s.spans) for s in corpus.both], bool)
        parts = [part._replace(which=part.which[fits[part.which]]) for part in parts]
        which = np.concatenate([part.which for part in parts])
        sentences = [corpus.both[i] for i in which.tolist()]
        named = [bracketed(s.tree, how.trees.binarisation) for s in sentences if s.tree is not None]
        couplings = Couplings.of(_tops(sentences, named))
        right = Brackets.of([[(i, j, couplings.class_of(x)) for i, j, x in tree] for tree in named])
        trees, entities = zip(*(_scored(corpus, part, couplings, how) for part in parts), strict=True)
        offsets = offsets_of(sentences)
        first = BracketBatch(BracketPotentials(np.concatenate(trees)), offsets, how.threads)
        potentials = SemiMarkovPotentials.of(np.concatenate([each.potentials.segment for each in entities]))
        second = SemiMarkovBatch(potentials, offsets, entities[0].lengths, how.threads)
        answers = gold_segments(sentences, [s.spans for s in sentences], parts[0].entities.labels)
        return cls(which, couplings, _with_right(first, right), second, couplings.links(second), right, *answers)

    def gold(self, which: Integers | None) -> tuple[Both, None]:
        """The right answers to all sentences, or to some: trees in classes."""
        return Both(self.brackets if which is None else some_of(self.brackets, which), self.segments(which)), None

    def segments(self, which: Integers | None) -> Segments:
        """The right entities of all sentences, or of some."""
        if which is None:
            return Segments.of_tokens(self.length, self.label, self.second.offsets)
        tokens, begin = taken(self.second.offsets, which)
        return Segments.of_tokens(self.length[tokens], self.label[tokens], begin)


def _tops(sentences: Sequence[Sentence], named: Sequence[Sequence[Bracket]]) -> Iterator[str]:
    """The labels of the constituents that have entities."""
    for sentence, brackets in zip(sentences, named, strict=True):
        at = {(i, j): label for i, j, label in brackets}
        for e in sentence.spans:
            yield top_of(at.get((e.start, e.end), ""))


def _scored(corpus: SoftCorpus, part: Part, couplings: Couplings, how: SoftSettings) -> tuple[Any, SemiMarkovBatch]:
    """The scores of classes over the spans of one part, and its entities."""
    sentences, tags = ([own[i] for i in part.which.tolist()] for own in (corpus.both, corpus.tags))
    scorer = part.trees.scorer([part.trees.spelled(s.words) for s in sentences], tags, how.threads)
    group, rows = couplings.group(part.trees.labels), [np.empty((0, len(couplings.classes) + 1))]
    for which in chunks(scorer.offsets):
        batch = scorer.batch(part.trees.weight, which)
        assert isinstance(batch, BracketBatch)  # without rules
        rows.append(collapsed(batch, group, len(couplings.classes)).potentials.span)
    tagged = [Sentence(s.words, {"pos": tuple(t)}) for s, t in zip(sentences, tags, strict=True)]
    return np.concatenate(rows), part.entities.batch(tagged, how.threads)


def _with_right(batch: BracketBatch, right: Brackets) -> BracketBatch:
    """The bracketings with the right one among them: what was pruned is as improbable as pruning lets pass."""
    used = batch.indicator(right).span > 0
    table = batch.potentials.span
    top = table.max(axis=1, keepdims=True)
    least = np.broadcast_to(np.where(top > -np.inf, top, 0.0) - PRUNED, table.shape)
    return batch.with_potentials(BracketPotentials(np.where(used & (table == -np.inf), least, table)))
