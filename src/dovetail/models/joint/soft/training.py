"""Training a parser whose trees and entities are coupled softly.

Trees and entities are learnt by themselves, each from all text that has it. On what they have seen, they need no help
of each other; so the couplings are learnt on text that they have not seen: each part of the sentences that have both is
scored by models of the other parts, and belief propagation gives the slope of the weights of the couplings.

Then all weights may be learnt together: the beliefs of the coupled structures, less the right answer, are the slope of
the potentials of both, and their scorers take it back to their weights. Text that has one layer counts by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dovetail.errors import DovetailError
from dovetail.joint.coupled import Both
from dovetail.learning.monitor import Monitor
from dovetail.learning.objective import Objective
from dovetail.learning.optimisers.online import AdaGrad
from dovetail.learning.priors import Prior
from dovetail.models.joint.soft.alone import Alone, SoftCorpus, SoftSettings, trained_brackets, trained_entities
from dovetail.models.joint.soft.decoding import SoftDecoder
from dovetail.models.joint.soft.fresh import Fresh, Part
from dovetail.models.joint.soft.model import SoftModel
from dovetail.models.joint.soft.scorer import Fixed, PairScorer, Summed, Term
from dovetail.models.joint.training import joint_score
from dovetail.models.linear.model import numbers_in, taken_over
from dovetail.models.parser.brackets.decoding import Text
from dovetail.models.parser.brackets.model import some_of
from dovetail.models.segmenter.model import length_bound
from dovetail.models.tagger.estimator import Tagger
from dovetail.models.tagging import fold_numbers
from dovetail.models.training import Training
from dovetail.text.sentence import Sentence

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

LONGEST_ENTITY = 10
PARTS = 3
COUPLED = 2000  # sentences on which couplings are learnt, at most
BONUSES = np.arange(-1.0, 3.1, 0.25)  # what an entity may be worth, beyond what the model says
COUPLING_PASSES = 10
STEADY = 1.0  # the sum of squared gradients that a weight starts with which is learnt already


@dataclass
class SoftTraining(Training):
    """What is learnt on sentences with the scores of models that have not seen them: couplings, or all weights."""

    model: SoftModel
    fresh: Fresh
    alone: tuple[Alone, Alone] | None
    """Trees and entities by themselves, if their weights are learnt, too."""
    objective: Any
    prior: Prior
    settings: SoftSettings
    size: int
    dev_text: Text | None = field(default=None, init=False, repr=False)

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
        trees = trained_brackets(corpus, every, how, tagger)
        say("entities by themselves")
        entities = trained_entities(corpus, every, types, longest, how)
        part = fold_numbers(corpus.both, PARTS) if len(every) >= 2 * PARTS else np.zeros(len(every), np.int64)
        parts = []
        for number in range(int(part.max()) + 1):
            inside, rest = np.flatnonzero(part == number), np.flatnonzero(part != number).tolist()
            own = trees, entities
            if any(corpus.both[i].spans for i in rest):  # else there is nothing to learn from
                say(f"what is coupled, part {number + 1} of {PARTS}")
                own = trained_brackets(corpus, rest, how, None), trained_entities(corpus, rest, types, longest, how)
            parts.append(Part(inside[:: max(1, len(every) // COUPLED)], own[0].model, own[1].model))
        fresh = Fresh.of(corpus, parts, how)
        none = np.zeros(1 + fresh.couplings.size, np.float32)
        model = SoftModel(brackets=trees.model, entities=entities.model, couplings=fresh.couplings, weight=none)
        made = cls(model, fresh, None, of_couplings(fresh, how), Prior(how.l2), how, len(every))
        if not how.everything:
            return made
        say("couplings")
        optimiser = AdaGrad(limit=COUPLING_PASSES, batch=min(64, max(8, made.size // 50)), seed=how.seed)
        weight = optimiser.minimise(made.objective, made.prior, made.start(), Monitor())
        objective = of_all(fresh, trees, entities, how)
        return replace(made, model=model.with_couplings(weight), alone=(trees, entities), objective=objective)

    @property
    def memory(self) -> Floats | None:
        """Where the sums of squared gradients of AdaGrad begin: weights that are learnt already take small steps."""
        if self.alone is None:
            return None
        found = np.full(self.objective.parameters, STEADY)
        found[: len(self.model.weight)] = 0.0
        return found

    def start(self, init: Any = None) -> Floats:
        """Zeros, or the couplings of another model, where it has the same; then what is learnt already."""
        start = self.model.weight.astype(np.float64)
        if init is not None:
            if not isinstance(init, SoftModel):
                raise DovetailError("init is a parser of another kind: give one with coupling='soft'")
            old, new = init.couplings, self.model.couplings
            axes = numbers_in(new.features, old.features), numbers_in(new.classes, old.classes)
            start[1:] = taken_over(init.weight[1:].reshape(old.shape), *axes).ravel()
            start[0] = init.weight[0]
        return start if self.alone is None else np.concatenate([start, *(each.weight for each in self.alone)])

    def fingerprint(self) -> list[NDArray[Any]]:
        """What a checkpoint belongs to."""
        fresh = self.fresh
        return [fresh.brackets.begin, fresh.brackets.label, fresh.length, fresh.label, fresh.links.begin]

    def export(self, weight: Floats) -> SoftModel:
        """The trained model."""
        couplings, *rest = np.split(weight, np.cumsum([len(self.model.weight), *self._sizes()]))[:-1]
        found = self.model.with_couplings(couplings)
        if self.alone is None:
            return found
        brackets, entities = (each.training.export(own) for each, own in zip(self.alone, rest, strict=True))
        return replace(found, brackets=brackets, entities=entities)

    def _sizes(self) -> list[int]:
        return [] if self.alone is None else [len(each.weight) for each in self.alone]

    def dev_scorer(self, text: Text, dev: Sequence[Sentence], by_recall: bool) -> Callable[[Floats], float]:
        """From weights to the mean of bracket F1 and entity F1 on other sentences, which are looked at once."""
        return lambda weight: joint_score(dev, SoftDecoder(self.export(weight), by_recall).answers(text))


def of_couplings(fresh: Fresh, how: SoftSettings) -> Objective:
    """The objective of the couplings: all else is fixed."""
    return Objective(_scorer(fresh, None, None), fresh.gold, how.loss)


def of_all(fresh: Fresh, trees: Alone, entities: Alone, how: SoftSettings) -> Summed:
    """The objective of all weights: of couplings, of trees, of entities.

    Each structure is coupled to the other as it is on text that it has not seen; else both would learn to rely on what
    the other knows by heart. Sentences that have only one layer, or that are not coupled, count by themselves.
    """
    sizes = [0, 1 + fresh.couplings.size, len(trees.weight), len(entities.weight)]
    own, first, second = (slice(low, high) for low, high in pairwise(np.cumsum(sizes).tolist()))
    group = fresh.couplings.group(trees.training.model.labels)
    number = trees.numbers(fresh.which)

    def labelled(which: Integers | None) -> tuple[Both, None]:
        some = number if which is None else number[which]
        return Both(some_of(trees.training.brackets, some), fresh.segments(which)), None

    every = np.arange(len(fresh.which))
    parsed, named = trees.training.objective, entities.training.objective
    return Summed(
        [
            Term(Objective(_scorer(fresh, trees, None, group), labelled, how.loss), (own, first), every),
            Term(Objective(_scorer(fresh, None, entities), fresh.gold, how.loss), (own, second), every),
            Term(parsed, (first,), trees.others(fresh.which)),
            Term(named, (second,), entities.others(fresh.which)),
        ],
        sum(sizes),
        how.loss,
    )


def _scorer(fresh: Fresh, trees: Alone | None, entities: Alone | None, group: Integers | None = None) -> PairScorer:
    """The sentences that are coupled; those of ``trees`` and ``entities`` that are None have no weights to learn."""
    every, couplings = np.arange(len(fresh.which)), fresh.couplings
    return PairScorer(
        Fixed(fresh.first) if trees is None else trees.training.scorer,
        Fixed(fresh.second) if entities is None else entities.training.scorer,
        fresh.links, couplings.seen(fresh.links), couplings,
        np.arange(len(couplings.classes) + 1) if group is None else group,
        every if trees is None else trees.numbers(fresh.which),
        every if entities is None else entities.numbers(fresh.which),
    )  # fmt: skip
