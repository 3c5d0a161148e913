"""Training taggers of several domains at once: one feature index, one objective a domain, a prior that links them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dovetail.learning.hierarchical import BaseModel, HierarchicalObjective
from dovetail.models.domains.model import Deviation
from dovetail.models.tagger.labels import Labels
from dovetail.models.tagger.model import ChainModel
from dovetail.models.tagger.objective import ChainObjective
from dovetail.models.tagger.training import Training, allowed_labels, forbidden_in
from dovetail.scorers.linear import LinearScorer
from dovetail.scorers.restricted import restricted
from dovetail.scorers.transitions import states_within
from dovetail.structures.chain import ChainBatch, ChainPotentials
from dovetail.text.sentence import Sentence

Floats = NDArray[np.float64]
Numbers = NDArray[np.int64]


@dataclass
class Domain:
    """A part of the corpus with its own labels: its objective, and the numbers of its parameters among the shared."""

    labels: Labels
    objective: ChainObjective
    share: Numbers

    @classmethod
    def of(cls, training: Training, first: int, last: int, gold: NDArray[np.int32], labels: Labels) -> Domain:
        """The sentences ``first`` to ``last`` (exclusive) of a corpus; gold: [their tokens], numbers of ``labels``."""
        whole = training.objective
        own = own_labels(training.labels, labels)
        size = len(training.labels.names)
        node, node_share = restricted(whole.node, first, last, own)
        edge: LinearScorer | None = None
        shares = [node_share]
        if whole.edge is not None:
            edge, edge_share = restricted(whole.edge, first, last, (own[:, None] * size + own).ravel())
            shares.append(edge_share + whole.after_node)
        transitions, share = whole.transitions.within(own)
        objective = ChainObjective(
            node.design.offsets, np.maximum(gold, 0), allowed_labels(gold, len(own)), node, edge, transitions,
            forbidden_in(labels, training.order, training.constrain), whole.loss, whole.order, whole.threads,
        )  # fmt: skip
        return cls(labels, objective, np.concatenate([*shares, share + whole.after_edge]))


def own_labels(all_labels: Labels, labels: Labels) -> Numbers:
    """The numbers of some labels among all of them."""
    return np.array([all_labels.names.index(name) for name in labels.names])


@dataclass
class DomainTraining:
    """All domains made ready."""

    training: Training
    domains: Sequence[Domain]

    def objective(self, top: float, sigma: float) -> HierarchicalObjective:
        """The objective under the standard deviations of shared weights and of what domains add to them."""
        models = [BaseModel(domain.objective, domain.share, sigma) for domain in self.domains]
        return HierarchicalObjective(models, self.training.objective.parameters, top)

    def curvature(self, objective: HierarchicalObjective) -> Floats:
        """A guess at the diagonal of the Hessian, for L-BFGS."""
        l2 = self.training.prior.l2
        own = [replace(self.training, objective=d.objective).curvature() - 2.0 * l2 for d in self.domains]
        return objective.curvature(own) + 2.0 * l2

    def weights(self, objective: HierarchicalObjective, weight: Floats, m: int) -> Floats:
        """The weights of a domain for all parameters: the shared ones where its own data says nothing."""
        theta = objective.top(weight)
        theta[self.domains[m].share] = objective.weights_of(m, weight)
        return theta

    def dev_chains(self, m: int, sentences: Sequence[Sentence]) -> Callable[[Floats], ChainBatch]:
        """A function from the weights of a domain to the chains of other sentences, with its own labels."""
        chains = self.training.dev_potentials(sentences)
        own, order = own_labels(self.training.labels, self.domains[m].labels), self.training.order
        return lambda theta: with_labels(chains(theta), own, order)

    def shared(self, objective: HierarchicalObjective, weight: Floats) -> ChainModel:
        """The model of no domain."""
        return self.training.export(objective.top(weight))

    def deviation(self, objective: HierarchicalObjective, weight: Floats, m: int) -> Deviation:
        """What a domain adds."""
        added = self.training.export(self.weights(objective, weight, m) - objective.top(weight))
        return Deviation(self.domains[m].labels, added.node, added.edge, added.transition)


def with_labels(chains: ChainBatch, own: Numbers, order: int) -> ChainBatch:
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
