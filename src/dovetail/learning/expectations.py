"""Learning from what is expected of labels, where nobody has said what they are (Mann and McCallum 2010; Wang 2014).

An expectation says of a token t and a group g of labels, such as B-PER and I-PER, that the probability of the group
should be q: another tagger thinks so, across a translation. With M = sum over y in g of m[t, y], where m are the
marginals of the structure under the weights, the loss of it is, times its weight w,

    squared             (M - q)^2
    relative-entropy    q log(q / M)

The slope of the marginals, d[t, y] = 2 w (M - q) or -w q / M for all y in g, goes back to the potentials as the
covariance of the parts times d: ``Structure.jvp``, one more pass of linear time, exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from dovetail.arrays import taken
from dovetail.kernel import kernel
from dovetail.learning.losses import Loss
from dovetail.learning.objective import Gold
from dovetail.structures.contract import Floats, Integers, mapped

SMALLEST = 1e-10  # a probability, so that its logarithm is finite


@dataclass(frozen=True, eq=False)
class Targets:
    """Expectations of n sentences, C in all, over groups of L labels."""

    ptr: Integers
    """[n + 1]: those of sentence i are ptr[i] .. ptr[i + 1]."""
    position: Integers
    """[C]: the token in its sentence."""
    group: Integers
    """[C]: the group of labels."""
    probability: Floats
    """[C]: what is expected, q."""
    weight: Floats
    """[C]: how much it counts, w."""
    groups: Floats
    """[G, L]: 1 where a group has a label, else 0."""

    def of(self, which: Integers) -> Targets:
        """Those of some sentences."""
        rows, ptr = taken(self.ptr, which)
        numbers = self.probability[rows], self.weight[rows]
        return Targets(ptr, self.position[rows], self.group[rows], *numbers, self.groups)

    def tokens(self, offsets: Integers) -> Integers:
        """[C]: the tokens in a batch of the sentences, which begin at offsets [n + 1]."""
        found: Integers = np.repeat(offsets[:-1], np.diff(self.ptr)) + self.position
        return found


def expected(batch: Any, targets: Targets, distance: str = "squared", weight: float = 1.0) -> tuple[float, Any]:
    """The loss of expectations and the slope of the potentials.

    batch: structures whose first table has a row for each token and a column for each label, [N, L].
    """
    _, marginals, jvp = batch.sums_and_jvp()
    direction = mapped(np.zeros_like, marginals)
    value = distance_slope(
        np.ascontiguousarray(marginals[0]), targets.tokens(batch.offsets), targets.group, targets.probability,
        weight * targets.weight, targets.groups, distance == "squared", direction[0],
    )  # fmt: skip
    return value, jvp(direction)


@kernel
def distance_slope(
    marginals: Floats, token: Integers, group: Integers, probability: Floats, weight: Floats, groups: Floats,
    squared: bool, slope: Floats,
) -> float:  # fmt: skip
    """The loss; its slope by the marginals is added to slope. Shapes: [N, L], [C] four times, [G, L], [N, L]."""
    total = 0.0
    for c in range(len(token)):
        own, t = groups[group[c]], token[c]
        m = 0.0
        for y in range(len(own)):
            m += own[y] * marginals[t, y]
        q, w = probability[c], weight[c]
        if squared:
            total += w * (m - q) ** 2
            step = 2.0 * w * (m - q)
        else:
            m = max(m, SMALLEST)
            total += w * q * np.log(q / m) if q > 0.0 else 0.0
            step = -w * q / m
        for y in range(len(own)):
            slope[t, y] += step * own[y]
    return total


class Lessons(NamedTuple):
    """What is known of a batch: right answers to some of its sentences, expectations of the others."""

    labelled: Integers
    """Their numbers in the batch."""
    answers: tuple[Any, Any]
    """What a loss takes beside the batch of these."""
    expected: Integers
    targets: Targets


def beside(gold: Gold, labelled: int, targets: Targets) -> Gold:
    """Right answers to the first sentences, so many, and expectations of the n that come after them."""

    def of(which: Integers | None) -> tuple[Any, Any]:
        asked = np.arange(labelled + len(targets.ptr) - 1) if which is None else which
        first, rest = np.flatnonzero(asked < labelled), np.flatnonzero(asked >= labelled)
        answers = gold(asked[first]) if len(first) else (None, None)
        return Lessons(first, answers, rest, targets.of(asked[rest] - labelled)), None

    return of


@dataclass(frozen=True)
class Expecting:
    """A loss of labelled sentences, and beside it that of the expectations of others; both are summed."""

    loss: Loss
    distance: str = "squared"
    weight: float = 1.0

    def __call__(self, batch: Any, lessons: Lessons, allowed: Any = None) -> tuple[float, Any]:
        """The loss and the slope of the potentials."""
        if not len(lessons.expected):
            return self.loss(batch, *lessons.answers)
        if not len(lessons.labelled):
            return expected(batch, lessons.targets, self.distance, self.weight)
        known, slope = self.loss(batch.take(lessons.labelled), *lessons.answers)
        other = batch.take(lessons.expected)
        value, more = expected(other, lessons.targets, self.distance, self.weight)
        whole = mapped(np.zeros_like, batch.potentials)
        batch.add_of(lessons.labelled, slope, whole)
        batch.add_of(lessons.expected, more, whole)
        return known + value, whole
