"""Exact inference for projective dependency trees, with stop decisions and first dependents (Eisner 1996)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from dovetail.errors import InputError
from dovetail.structures.chain.parts import Floats, Labels
from dovetail.structures.projective.batch import ProjectiveBatch
from dovetail.structures.projective.parts import ProjectivePotentials

__all__ = ["Projective", "ProjectiveBatch", "ProjectivePotentials"]


@dataclass(frozen=True, eq=False)
class Projective:
    """The projective trees over one sentence of m words; minus infinity forbids a part.

    attach: [m + 1, m + 1, 2], the log potential of the arc from head h to dependent d, by whether d is the
    first dependent of h on its side, that is the nearest; position 0 is the root. stop: [m + 1, 2, 2], of
    head h taking no more dependents on a side (0 left, 1 right), by whether it has any; zero unless given.
    several: whether the root may have more than one dependent.

    >>> attach = np.zeros((4, 4, 2))
    >>> attach[2, 1], attach[2, 3] = 1.0, 1.0
    >>> tree = Projective(attach)
    >>> tree.best()
    array([2, 0, 2], dtype=int32)
    >>> [(heads.tolist(), round(log_probability, 2)) for heads, log_probability in tree.kbest(2)]
    [([2, 0, 2], -0.82), ([0, 1, 2], -1.82)]
    """

    attach: Floats
    stop: Floats | None = None
    several: bool = False

    @cached_property
    def batch(self) -> ProjectiveBatch:
        """The same as a batch of one."""
        shape = np.shape(self.attach)
        if len(shape) != 3 or shape[0] != shape[1] or shape[0] == 0 or shape[2] != 2:
            raise InputError(f"attach has shape {shape}, expected (positions, positions, 2)")
        potentials = ProjectivePotentials.of(self.attach, self.stop)
        return ProjectiveBatch(potentials, np.array([0, shape[0] - 1]), self.several, threads=1)

    def __post_init__(self) -> None:
        _ = self.batch  # complain of wrong shapes at once

    def log_partition(self) -> float:
        """The log of the sum of exp(score) over all trees; 0 for an empty sentence."""
        return float(self.batch.log_partition()[0])

    def marginals(self) -> ProjectivePotentials:
        """The probability of every part, in the shapes of attach and stop."""
        return self._shaped(self.batch.marginals())

    def best(self) -> Labels:
        """The heads of the best tree: [m]; ties go to the leftmost outermost dependent, from the root down."""
        return self.batch.best()

    def kbest(self, k: int) -> list[tuple[Labels, float]]:
        """The heads of the k best trees (fewer if there are fewer) and their log-probabilities, best first."""
        heads, scores = self.batch.kbest(k)
        log_probabilities = (scores[0, scores[0] > -np.inf] - self.log_partition()).tolist()
        return list(zip(heads, log_probabilities, strict=False))

    def sample(self, n: int, rng: np.random.Generator) -> Labels:
        """The heads of trees drawn from the exact distribution: [n, m]."""
        return self.batch.sample(n, rng)

    def score(self, heads: ArrayLike) -> float:
        """The score of given heads; less log Z, it is their log-probability; minus infinity of what is no tree."""
        return float(self.batch.score(heads)[0])

    def entropy(self) -> float:
        """The entropy of the tree, in nats."""
        return float(self.batch.entropy()[0])

    def jvp(self, direction: ProjectivePotentials) -> ProjectivePotentials:
        """The derivative of the marginals when the potentials move along a direction, in the same shapes."""
        return self._shaped(self.batch.jvp(ProjectivePotentials.of(*direction)))

    def restrict(self, allowed: ArrayLike) -> Projective:
        """The same where only the allowed arcs may be used: [m + 1, m + 1] of booleans."""
        potentials = self._shaped(self.batch.restrict(np.asarray(allowed, bool).reshape(-1)).potentials)
        return Projective(potentials.attach, potentials.stop, self.several)

    def _shaped(self, parts: ProjectivePotentials) -> ProjectivePotentials:
        return parts._replace(attach=parts.attach.reshape(np.shape(self.attach)))
