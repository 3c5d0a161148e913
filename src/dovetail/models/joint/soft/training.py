"""Training a parser whose trees and entities are coupled softly.

Trees and entities are learnt by themselves, each from all text that has it. On what they have seen, they need no help
of each other; so the couplings are learnt on text that they have not seen: each part of the sentences that have both is
scored by models of the other parts, and belief propagation gives the slope of the weights of the couplings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dovetail.arrays import offsets_of, taken
from dovetail.errors import DovetailError
from dovetail.features.algebra.span_sets import span_features
from dovetail.features.resources.clusters import Clusters
from dovetail.grammars.brackets import bracketed
from dovetail.joint.coupled import Both, Links
from dovetail.learning.losses import Loss, likelihood
from dovetail.learning.monitor import Monitor
from dovetail.learning.objective import Objective
from dovetail.learning.optimisers.lbfgs import LBFGS
from dovetail.learning.optimisers.online import AdaGrad
from dovetail.learning.priors import Prior
from dovetail.models.joint.soft.couplings import Couplings, collapsed, top_of
from dovetail.models.joint.soft.decoding import SoftDecoder
from dovetail.models.joint.soft.model import SoftModel
from dovetail.models.joint.soft.scorer import CoupledScorer
from dovetail.models.joint.training import joint_score
from dovetail.models.linear import numbers_in, taken_over
from dovetail.models.parser.brackets.decoding import Text
from dovetail.models.parser.brackets.model import BracketModel, chunks, some_of
from dovetail.models.parser.brackets.training import BracketSettings, BracketTraining
from dovetail.models.segmenter.model import OUTSIDE, SegmentModel, gold_segments, length_bound, segment_training
from dovetail.models.tagger.estimator import Tagger
from dovetail.models.tagging import fold_numbers
from dovetail.models.training import Training
from dovetail.scorers.compiled import PartSettings
from dovetail.structures.brackets import BracketBatch, BracketPotentials, Brackets
from dovetail.structures.semimarkov import Segments, SemiMarkovBatch, SemiMarkovPotentials
from dovetail.text.sentence import Sentence

Floats = NDArray[np.float64]
Tags = Sequence[tuple[str, ...]]

LONGEST_ENTITY = 10
PARTS = 3
COUPLED = 2000  # sentences on which couplings are learnt, at most
TREE_PASSES, TREE_GAIN = 10, 0.1
ENTITY_PASSES, ENTITY_L2 = 60, 0.1
PRUNED = 7.0  # by how much the score of a pruned label is below the best one
BONUSES = np.arange(-1.0, 3.1, 0.25)  # what an entity may be worth, beyond what the model says


class SoftCorpus(NamedTuple):
    """Sentences with clean trees and flat entities, with trees alone, and with entities alone; and their tags."""

    both: list[Sentence]
    trees_only: list[Sentence]
    entities_only: list[Sentence]
    tags: Tags
    """Of all of them, in this order."""

    def parsed(self, which: Sequence[int]) -> tuple[list[Sentence], list[tuple[str, ...]]]:
        """Some of the sentences with both, and all that have trees alone, with their tags."""
        n, m = len(self.both), len(self.trees_only)
        tags = [self.tags[i] for i in which] + list(self.tags[n : n + m])
        return [*(self.both[i] for i in which), *self.trees_only], tags

    def named(self, which: Sequence[int]) -> list[Sentence]:
        """Some of the sentences with both, and all that have entities alone, with their tags as a layer."""
        rest = self.tags[len(self.both) + len(self.trees_only) :]
        pairs = [(self.both[i], self.tags[i]) for i in which] + list(zip(self.entities_only, rest, strict=True))
        return [Sentence(s.words, {"pos": tuple(t)}, s.spans, document=s.document) for s, t in pairs]


class SoftSettings(NamedTuple):
    """What shapes the models."""

    trees: BracketSettings
    min_count: int
    clusters: Mapping[str, Clusters]
    threads: int
    l2: float
    loss: Loss
    seed: int


def trained_brackets(corpus: SoftCorpus, which: Sequence[int], how: SoftSettings, tagger: Tagger | None) -> Any:
    """Brackets by themselves."""
    sentences, tags = corpus.parsed(which)
    trees = [s.tree for s in sentences if s.tree is not None]
    made = BracketTraining.prepare(sentences, trees, tags, how.trees, tagger)
    optimiser = AdaGrad(limit=TREE_PASSES, batch=min(64, max(8, made.size // 50)), gain=TREE_GAIN, seed=how.seed)
    alone = replace(made.objective, loss=likelihood)
    return made.export(optimiser.minimise(alone, Prior(1.0), made.start(), Monitor()))


def trained_entities(
    corpus: SoftCorpus, which: Sequence[int], types: Sequence[str], longest: int, how: SoftSettings
) -> SegmentModel:
    """Entities by themselves, as segments whose labels do not know of each other."""
    some = [s for s in corpus.named(which) if all(e.end - e.start <= longest for e in s.spans)]
    labels = (OUTSIDE, *types)
    lengths = np.array([1] + [longest] * len(types), np.int32)
    model = SegmentModel(span_features("ner-spans", how.clusters), {}, {}, labels, lengths, 0)
    settings = PartSettings(how.min_count, None, threads=how.threads)
    training = segment_training(
        model, some, [s.spans for s in some], loss="likelihood", l2=ENTITY_L2, l1=0.0, settings=settings
    )
    optimiser, start = LBFGS(limit=ENTITY_PASSES), training.start()
    weight = optimiser.minimise(
        training.objective, training.prior, start, Monitor(), None, curvature=training.curvature()
    )
    return training.export(weight)


@dataclass
class SoftTraining(Training):
    """Sentences with the scores of models that have not seen them, and what is learnt on these."""

    model: SoftModel
    scorer: CoupledScorer
    gold: Both
    objective: Objective
    prior: Prior
    settings: SoftSettings
    size: int
    dev_text: Text | None = field(default=None, init=False, repr=False)

    memory = None

    @classmethod
    def prepare(
        cls, corpus: SoftCorpus, how: SoftSettings, tagger: Tagger | None, say: Callable[[str], None]
    ) -> SoftTraining:
        """Train the models, and score the sentences that have both."""
        every = range(len(corpus.both))
        spans = [s.spans for s in (*corpus.both, *corpus.entities_only)]
        types = sorted({span.label for each in spans for span in each})
        if not types:
            raise DovetailError("the training data has no entities: train a parser, or give entities")
        longest = min(length_bound(spans), LONGEST_ENTITY)
        say("trees by themselves")
        brackets = trained_brackets(corpus, every, how, tagger)
        say("entities by themselves")
        entities = trained_entities(corpus, every, types, longest, how)
        model = SoftModel(brackets=brackets, entities=entities, couplings=Couplings(()), weight=np.zeros(1, np.float32))
        part = fold_numbers(corpus.both, PARTS) if len(every) >= 2 * PARTS else np.zeros(len(every), np.int64)
        fresh = []
        for number in range(int(part.max()) + 1):
            inside, rest = (np.flatnonzero(own).tolist() for own in (part == number, part != number))
            own = brackets, entities
            if any(corpus.both[i].spans for i in rest):  # else there is nothing to learn from
                say(f"what is coupled, part {number + 1} of {PARTS}")
                own = trained_brackets(corpus, rest, how, None), trained_entities(corpus, rest, types, longest, how)
            some = inside[:: max(1, len(every) // COUPLED)]
            fresh.append(_Fresh.of([corpus.both[i] for i in some], [corpus.tags[i] for i in some], *own, how))
        return cls._of_fresh(model, fresh, how, len(every))

    @classmethod
    def _of_fresh(cls, model: SoftModel, fresh: Sequence[_Fresh], how: SoftSettings, size: int) -> SoftTraining:
        """The objective of the couplings."""
        couplings = Couplings.of(top for each in fresh for top in each.tops())
        made = [each.coupled(couplings) for each in fresh]
        first, second = _together([m.first for m in made]), _segments_together([m.second for m in made])
        shift = np.cumsum([0, *(len(m.first) for m in made)])
        links = made[0].links._replace(
            sentence=np.concatenate([m.links.sentence + s for m, s in zip(made, shift, strict=False)]),
            begin=np.concatenate([m.links.begin for m in made]),
            end=np.concatenate([m.links.end for m in made]),
        )
        scorer = CoupledScorer(first, second, links, couplings.seen(links), couplings, how.threads)
        spans = [own for m in made for own in m.spans]
        brackets = Brackets.of([own for m in made for own in m.brackets])
        sentences = [s for m in made for s in m.sentences]
        length, label = gold_segments(sentences, spans, model.entities.labels)
        segments = Segments.of_tokens(length, label, second.offsets)

        def gold(which: NDArray[np.int64] | None) -> tuple[Both, None]:
            if which is None:
                return Both(brackets, segments), None
            tokens, begin = taken(second.offsets, which)
            return Both(some_of(brackets, which), Segments.of_tokens(length[tokens], label[tokens], begin)), None

        ready = replace(model, couplings=couplings, weight=np.zeros(scorer.parameters, np.float32))
        objective = Objective(scorer, gold, how.loss)
        return cls(ready, scorer, Both(brackets, segments), objective, Prior(how.l2), how, size)

    def start(self, init: Any = None) -> Floats:
        """Zeros, or the couplings of another model, where it has the same."""
        start = np.zeros(self.scorer.parameters)
        if init is None:
            return start
        if not isinstance(init, SoftModel):
            raise DovetailError("init is a parser of another kind: give one with coupling='soft'")
        old, new = init.couplings, self.model.couplings
        axes = numbers_in(new.features, old.features), numbers_in(new.classes, old.classes)
        start[1:] = taken_over(init.weight[1:].reshape(old.shape), *axes).ravel()
        start[0] = init.weight[0]
        return start

    def fingerprint(self) -> list[NDArray[Any]]:
        """What a checkpoint belongs to."""
        return [self.gold.first.begin, self.gold.first.label, self.gold.second.start, self.scorer.links.begin]

    def export(self, weight: Floats) -> SoftModel:
        """The trained model."""
        return self.model.with_weights(weight)

    def dev_scorer(self, text: Text, dev: Sequence[Sentence], by_recall: bool) -> Callable[[Floats], float]:
        """From weights to the mean of bracket F1 and entity F1 on other sentences, which are looked at once."""
        return lambda weight: joint_score(dev, SoftDecoder(self.export(weight), by_recall).answers(text))


class _Coupled(NamedTuple):
    """Sentences of one part that can have their right answers: structures, links, right answers."""

    sentences: list[Sentence]
    first: BracketBatch
    second: SemiMarkovBatch
    links: Links
    brackets: list[list[tuple[int, int, int]]]
    spans: Sequence[Sequence[Any]]


class _Fresh(NamedTuple):
    """Sentences of one part, and the models of the others."""

    sentences: list[Sentence]
    tags: Tags
    model: BracketModel
    entities: SegmentModel
    named: list[list[tuple[int, int, str]]]
    """The brackets of every tree."""
    how: SoftSettings

    @classmethod
    def of(
        cls, sentences: list[Sentence], tags: Tags, model: BracketModel, entities: SegmentModel, how: SoftSettings
    ) -> _Fresh:
        trees = [bracketed(s.tree, how.trees.binarisation) for s in sentences if s.tree is not None]
        return cls(sentences, tags, model, entities, trees, how)

    def tops(self) -> Iterator[str]:
        """The labels of the constituents that have entities."""
        for sentence, brackets in zip(self.sentences, self.named, strict=True):
            at = {(i, j): label for i, j, label in brackets}
            for e in sentence.spans:
                yield top_of(at.get((e.start, e.end), ""))

    def coupled(self, couplings: Couplings) -> _Coupled:
        """The structures by the models of the other parts, less sentences with entities that are too long."""
        how = self.how
        words = [self.model.spelled(s.words) for s in self.sentences]
        scorer = self.model.scorer(words, self.tags, how.threads)
        group, rows = couplings.group(self.model.labels), []
        for which in chunks(scorer.offsets):
            batch = scorer.batch(self.model.weight, which)
            assert isinstance(batch, BracketBatch)  # without rules
            rows.append(collapsed(batch, group, len(couplings.classes)).potentials.span)
        offsets = offsets_of(words)
        first = BracketBatch(BracketPotentials(np.concatenate(rows)), offsets, how.threads)
        own = [[(i, j, couplings.class_of(x)) for i, j, x in tree] for tree in self.named]
        first = _with_right(first, Brackets.of(own))
        longest = self.entities.form.longest
        kept = np.flatnonzero([all(e.end - e.start <= longest for e in s.spans) for s in self.sentences])
        some, tags = [self.sentences[i] for i in kept.tolist()], [self.tags[i] for i in kept.tolist()]
        tagged = [Sentence(s.words, {"pos": tuple(t)}) for s, t in zip(some, tags, strict=True)]
        first, second = first.take(kept), self.entities.batch(tagged, how.threads)
        spans = [s.spans for s in some]
        return _Coupled(some, first, second, couplings.links(second), [own[i] for i in kept.tolist()], spans)


def _with_right(batch: BracketBatch, right: Brackets) -> BracketBatch:
    """The bracketings with the right one among them: what was pruned is as improbable as pruning lets pass."""
    used = batch.indicator(right).span > 0
    table = batch.potentials.span
    top = table.max(axis=1, keepdims=True)
    least = np.broadcast_to(np.where(top > -np.inf, top, 0.0) - PRUNED, table.shape)
    return batch.with_potentials(BracketPotentials(np.where(used & (table == -np.inf), least, table)))


def _together(batches: Sequence[BracketBatch]) -> BracketBatch:
    """Bracketings of several batches as one."""
    table = np.concatenate([b.potentials.span for b in batches])
    return BracketBatch(BracketPotentials(table), _offsets(batches), batches[0].threads)


def _segments_together(batches: Sequence[SemiMarkovBatch]) -> SemiMarkovBatch:
    """Segmentations of several batches as one."""
    table = np.concatenate([b.potentials.segment for b in batches])
    return SemiMarkovBatch(SemiMarkovPotentials.of(table), _offsets(batches), batches[0].lengths, batches[0].threads)


def _offsets(batches: Sequence[Any]) -> NDArray[np.int64]:
    lengths = np.concatenate([np.diff(b.offsets) for b in batches])
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
