"""Training with noised features, without drawing any noise (Wang and Manning 2013; Wager, Wang and Liang 2013).

Noise multiplies what features say by random numbers of mean one. The scores s of parts then have the mean that they
have without it, and the expected log-likelihood is the log-likelihood less

    R = E[log Z(noised s)] - log Z(s)  ~  1/2 sum over parts p of m[p] (1 - m[p]) Var[s[p]]

to second order, with m the probability of the part: log Z has these second derivatives, and the noise of each part is
its own. So R is a penalty on weights that depends on the text: what features say may be strong where the model is sure
anyway, and must not rest on one of them where it is not. It asks for no right answers, so raw text has one too.

R has two slopes: of the variances, ``m (1 - m) / 2``, which goes back to the weights by way of their squares; and of
the probabilities, ``d[p] = (1 - 2 m[p]) Var[s[p]] / 2``, which goes back to the potentials as the covariance of the
parts times d: ``Structure.jvp``. Both take linear time. Tables that all text shares, such as transitions, are not
noised.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from dovetail.errors import DovetailError
from dovetail.kernel import kernel
from dovetail.sparse import SparseGradient
from dovetail.structures.contract import Floats, Integers, mapped, tables

RAW = 0.4  # what a word of raw text counts beside a labelled one


@dataclass(frozen=True)
class Noise:
    """What is noised, each unit for itself, and the variance of what it is multiplied by.

    >>> Noise.of("dropout:0.5")
    Noise(unit='features', variance=1.0)
    >>> Noise.of("gaussian:0.5").variance
    0.25
    """

    unit: str
    """See ``scorers.variance``."""
    variance: float

    @classmethod
    def of(cls, told: str) -> Noise:
        """From ``dropout:P`` or ``words:P``, with the probability to drop a unit, or ``gaussian:S``, with a deviation.

        What is not dropped is divided by 1 - P, so that its mean stays what it is.
        """
        kind, _, level = told.partition(":")
        if kind not in KINDS:
            raise DovetailError(f"noise={told!r}: choose one of {', '.join(f'{k}:X' for k in KINDS)}")
        try:
            amount = float(level)
        except ValueError:
            amount = -1.0
        if kind == "gaussian":
            if not 0 < amount < np.inf:
                raise DovetailError(f"noise={told!r}: give a standard deviation above 0, such as gaussian:0.5")
            return cls(KINDS[kind], amount**2)
        if not 0 < amount < 1:
            raise DovetailError(f"noise={told!r}: give a probability above 0 and below 1, such as {kind}:0.5")
        return cls(KINDS[kind], amount / (1 - amount))

    def penalty(
        self, scorer: Any, batch: Any, weight: Floats, which: Integers | None = None, share: float = 1.0
    ) -> Penalty:
        """R of the sentences whose structures are ``batch``, which the scorer gave last; times a share."""
        log_z, marginals, jvp = batch.sums_and_jvp()
        variances = scorer.variances(self.unit, weight, which)
        expected = scorer.expected(mapped(np.copy, marginals), which)
        value, moved = 0.0, {}
        for part, variance in variances.items():
            moved[part] = np.ascontiguousarray(expected[part])
            value += spread(moved[part].reshape(-1), variance.reshape(-1), share * self.variance)
        return Penalty(value, jvp(scorer.direction(moved, which)), variances, (log_z, marginals))


KINDS = {"dropout": "features", "gaussian": "features", "words": "words"}


class Penalty(NamedTuple):
    """R, the slopes of the potentials and of the variances of scores, and log Z with the marginals."""

    value: float
    slope: Any
    variances: dict[str, Floats]
    sums: tuple[Floats, Any]


class Inferred:
    """A batch whose log Z and marginals are known: they are handed out, and may then be overwritten."""

    def __init__(self, batch: Any, sums: tuple[Floats, Any]) -> None:
        self._batch, self._sums = batch, sums

    def __getattr__(self, name: str) -> Any:
        return getattr(self._batch, name)

    def log_partition_and_marginals(self, in_place: bool = False) -> tuple[Floats, Any]:
        """What is known."""
        return self._sums


@dataclass(eq=False)
class Noising:
    """Noise of labelled sentences, and of raw ones if there is a scorer of them.

    With n labelled and m raw words, R is that of both, a raw word counting ``raw`` as much as a labelled one, times
    n / (n + raw * m): as strong as that of labelled sentences alone.
    """

    noise: Noise
    text: Any = None
    raw: float = RAW

    def noised(self, scorer: Any, loss: Any, gold: tuple[Any, Any], weight: Floats, which: Any, out: Floats) -> float:
        """A loss with R, whose gradient is added to out: see ``Objective``."""
        words = float(scorer.offsets[-1])
        share = 1.0 if self.text is None else words / (words + self.raw * float(self.text.offsets[-1]))
        batch = scorer.batch(weight, which)
        found = self.noise.penalty(scorer, batch, weight, which, share)
        value, slope = loss(Inferred(batch, found.sums), *gold)
        for table, more in zip(tables(slope), tables(found.slope), strict=True):
            table += more
        scorer.backward(slope, out, which)
        scorer.backward_variances(self.noise.unit, found.variances, weight, out, which)
        value += found.value
        if self.text is not None:
            value += self._of_text(scorer.items, weight, which, share * self.raw, out)
        return float(value)

    def _of_text(self, items: int, weight: Floats, which: Integers | None, share: float, out: Floats) -> float:
        text, some = self.text, self.beside(items, which)
        if some is not None and not len(some):
            return 0.0
        found = self.noise.penalty(text, text.batch(weight, some), weight, some, share)
        own = np.zeros(len(out)) if some is None else out
        text.backward(found.slope, own, some)
        text.backward_variances(self.noise.unit, found.variances, weight, own, some)
        if some is None:
            out += own
        return found.value

    def touch(self, items: int, which: Integers, sink: SparseGradient) -> None:
        """List in ``sink`` the parameters that raw sentences use beside some of the labelled ones."""
        if self.text is not None:
            self.text.touch_parts(self.beside(items, which), sink)

    def beside(self, items: int, which: Integers | None) -> Integers | None:
        """The raw sentences that go with some of the labelled ones: each has its share of them."""
        if which is None:
            return None
        return np.concatenate([np.arange(i, self.text.items, items) for i in which.tolist()])


@kernel
def spread(expected: Floats, variance: Floats, share: float) -> float:
    """``share / 2 * sum of m (1 - m) v``; m becomes its slope by m, v that by v. Shapes: [entries].

    A score that one answer can use several times may be expected more than once: it then has no part in the sum.
    """
    total = 0.0
    for i in range(len(expected)):
        m, v = expected[i], variance[i]
        certain = 1.0 - m
        if m > 0.0 and certain > 0.0:
            total += m * certain * v
            expected[i] = 0.5 * share * (certain - m) * v
            variance[i] = 0.5 * share * m * certain
        else:
            expected[i] = 0.0
            variance[i] = 0.0
    return 0.5 * share * total
