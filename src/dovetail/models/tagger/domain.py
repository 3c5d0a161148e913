"""A part of the corpus of a tagger with labels of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dovetail.errors import DovetailError
from dovetail.learning.noise import Noising
from dovetail.learning.objective import Objective
from dovetail.models.domains.training import Domain
from dovetail.models.tagger.labels import LabelSet
from dovetail.models.tagger.model import ChainTraining, chain_gold, forbidden
from dovetail.scorers.chain import EDGE, NODE, ChainForm
from dovetail.scorers.linear import LinearScorer
from dovetail.scorers.parts import PartsScorer
from dovetail.scorers.restricted import renumbering, restricted
from dovetail.scorers.transitions import states_within
from dovetail.structures.chain import ChainBatch, ChainPotentials
from dovetail.structures.contract import Floats, Integers, Labels
from dovetail.text.sentence import Sentence


@dataclass
class ChainDomain(ChainTraining):
    """The training of some sentences of a corpus; ``own`` are the numbers of its labels among those of the whole."""

    whole: ChainTraining
    own: Integers

    def dev_scorer(self, sentences: Sequence[Sentence]) -> Callable[[Floats], ChainBatch]:
        """A function from weights of the whole to the chains of other sentences, with the labels of the domain."""
        chains, order = self.whole.dev_scorer(sentences), self.model.order
        return lambda weight: with_labels(chains(weight), self.own, order)


def chain_domain(training: ChainTraining, first: int, last: int, restrict: bool) -> Domain:
    """The sentences ``first`` to ``last`` (exclusive) of a corpus; if ``restrict``, only with labels seen there."""
    whole, model = training.scorer, training.model
    size = len(model.labels.names)
    known, allowed = training.objective.gold(np.arange(first, last))
    gold = known if allowed is None else np.where(allowed.all(axis=1), -1, known)
    own = labels_in(gold, model.labels) if restrict else np.arange(size)
    labels = LabelSet(tuple(model.labels.names[i] for i in own), model.labels.scheme)
    straight = {part: scorer for part, scorer in whole.parts.items() if isinstance(scorer, LinearScorer)}
    if len(straight) < len(whole.parts) or model.network is not None:
        raise DovetailError("domains share the weights of features: train them without hidden layers and networks")
    outputs = {NODE: own, EDGE: (own[:, None] * size + own).ravel()}
    made = {part: restricted(scorer, first, last, outputs[part]) for part, scorer in straight.items()}
    assert isinstance(whole.form, ChainForm)
    assert whole.form.transitions is not None
    transitions, rest = whole.form.transitions.within(own)
    ruled = forbidden(labels, model.order, model.constrain and model.order > 0)
    form = ChainForm(len(own), model.order, ruled, transitions)
    offsets = made[NODE][0].design.offsets
    scorer = PartsScorer(form, offsets, {part: scorer for part, (scorer, _) in made.items()}, whole.threads)
    number = np.append(renumbering(own, size), -1)  # the last entry serves -1, what is not known
    right = chain_gold(number[gold].astype(np.int32), offsets, len(own))
    noise = training.objective.noise
    objective = Objective(scorer, right, training.objective.loss, None if noise is None else Noising(noise.noise))
    share = [numbers + whole.begin[part] for part, (_, numbers) in made.items()]
    found = ChainDomain(replace(model, labels=labels), training.parts, objective, training.prior, training, own)
    guess = found.curvature()
    assert guess is not None  # there are no hidden layers
    guess = guess - 2.0 * training.prior.l2
    return Domain(found, objective, np.concatenate([*share, rest + whole.after_parts]), guess)


def labels_in(gold: Labels, labels: LabelSet) -> Integers:
    """The labels of a domain, of whose tokens gold has the labels: all that spell a type it has seen.

    So it can spell an entity that is longer than all it has seen.
    """
    seen = np.unique(gold[gold >= 0]).astype(np.int64)
    if labels.scheme is None:
        return seen
    types = {labels.names[i][2:] for i in seen}
    return np.array([i for i, name in enumerate(labels.names) if name == "O" or name[2:] in types])


def with_labels(chains: ChainBatch, own: Integers, order: int) -> ChainBatch:
    """The chains when only some labels are possible."""
    unary, transition, start, end, edge = chains.potentials
    size = unary.shape[1]
    if len(own) == size:
        return chains
    states = states_within(own, size, order)
    potentials = ChainPotentials(
        np.ascontiguousarray(unary[:, own]),
        np.ascontiguousarray(transition[np.ix_(states, own)]),
        start[own],
        end[own],
        np.ascontiguousarray(edge[:, own[:, None], own]),
    )
    return replace(chains, potentials=potentials)
