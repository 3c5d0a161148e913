"""Training models of several domains at once: one objective a domain, and a prior that links them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dovetail.learning.hierarchical import BaseModel, HierarchicalObjective
from dovetail.learning.objective import AnyObjective
from dovetail.models.training import Training
from dovetail.structures.contract import Floats, Integers


class Domain(NamedTuple):
    """What ``of_domain`` of a training gives: the part of it that some of its sentences are.

    ``share`` [its parameters]: the numbers of the parameters of ``objective`` among those of the whole;
    ``curvature`` [its parameters]: a guess at the diagonal of the Hessian of its loss, where there is one.
    ``training`` is what looks at held-out sentences of the domain, by weights of the whole.
    """

    training: Any
    objective: AnyObjective
    share: Integers
    curvature: Floats | None


@dataclass(eq=False)
class DomainTraining(Training):
    """All domains made ready under one prior, to be trained like any model.

    ``pooled`` is the training of all sentences; ``top`` and ``sigma`` are the standard deviations of shared weights,
    and of what a domain adds to them. It starts from ``before``: weights that were trained under another sigma.
    """

    pooled: Any
    domains: Sequence[Domain]
    top: float
    sigma: float
    before: tuple[DomainTraining, Floats] | None = None
    objective: HierarchicalObjective = field(init=False, repr=False)

    def __post_init__(self) -> None:
        models = [BaseModel(each.objective, each.share, self.sigma) for each in self.domains]
        self.prior = self.pooled.prior
        self.objective = HierarchicalObjective(models, self.pooled.objective.parameters, self.top)

    def start(self, init: Any = None) -> Floats:
        """Where training starts: every domain with the weights that all of the text would start with."""
        if self.before is None:
            return self.objective.start(self.pooled.start(init))
        old, weight = self.before[0].objective, self.before[1]
        return self.objective.whole(old.top(weight), [old.weights_of(m, weight) for m in range(len(old.models))])

    def curvature(self) -> Floats | None:
        """A guess at the diagonal of the Hessian, for L-BFGS."""
        own = [each.curvature for each in self.domains if each.curvature is not None]
        return self.objective.curvature(own) + 2.0 * self.prior.l2 if own else None

    def fingerprint(self) -> list[NDArray[Any]]:
        """What a checkpoint belongs to."""
        sizes = [each.objective.items for each in self.domains]
        return [*self.pooled.fingerprint(), np.array(sizes), np.array([self.top, self.sigma])]

    def export(self, weight: Floats) -> Any:
        """The model of the shared weights."""
        return self.pooled.export(self.objective.top(weight))

    def weights(self, m: int, weight: Floats) -> Floats:
        """The weights of a domain for all parameters: the shared ones where its own data says nothing."""
        theta = self.objective.top(weight)
        theta[self.domains[m].share] = self.objective.weights_of(m, weight)
        return theta
