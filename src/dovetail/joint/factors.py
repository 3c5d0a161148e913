"""Kinds of factors: how well a few variables suit each other, and what each hears from the others.

A factor gives every joint value of its variables a log potential; minus infinity forbids it. Engines ask a kind for
four things, each for m factors at once: its score, its best values, its messages, and its potentials for one variable
when the others are known. A new kind is one class: it owes its score, from which the rest follows by writing out all
joint values; where these are many, it overrides the rest.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dovetail.errors import InputError
from dovetail.structures.contract import Floats, Integers

LARGEST = 4096
"""The most joint values that a table may have."""

Incoming = Sequence[Floats]
"""What each variable says to m factors: log messages [m, values of the variable], one array for each variable."""


class Factor(ABC):
    """m factors of one kind, each over ``arity`` variables.

    A kind owes ``name``, ``sizes`` and ``scores``; ``some``, too, if its factors differ from each other.

    >>> class Odd(Factor):
    ...     name = "odd"
    ...     def sizes(self):
    ...         return None
    ...     def scores(self, values):
    ...         return np.where(values.sum(axis=1) % 2 == 1, 0.0, -np.inf)
    >>> Odd().best([np.array([[0.0, 2.0]]), np.array([[0.0, 1.0]])])
    (array([[1, 0]]), array([2.]))
    """

    name: str = "a factor without a name"
    """What errors and explanations call it."""

    @abstractmethod
    def sizes(self) -> tuple[int, ...] | None:
        """How many values each variable has; None: any number of variables with two."""

    @abstractmethod
    def scores(self, values: Integers) -> Floats:
        """The log potential of joint values [m, arity]: [m]."""

    def best(self, incoming: Incoming) -> tuple[Integers, Floats]:
        """The joint values with the highest potential plus messages, [m, arity], and how high it is, [m]."""
        return self._written(incoming).best(incoming)

    def messages(self, incoming: Incoming, temperature: float) -> list[Floats]:
        """Log messages to each variable, [m, values], from those of the others.

        ``T log sum exp((potential + incoming) / T)`` over the values of the others: their maximum as T goes to zero.
        """
        return self._written(incoming).messages(incoming, temperature)

    def log_partition(self, incoming: Incoming, temperature: float) -> Floats:
        """The same over the values of all variables: [m]."""
        return self._written(incoming).log_partition(incoming, temperature)

    def given(self, variable: int, values: Integers) -> Floats:
        """The potentials of each value of one variable, [m, values], when the others have theirs in [m, arity]."""
        sizes = self.sizes()
        found = []
        for value in range(2 if sizes is None else sizes[variable]):
            there = values.copy()
            there[:, variable] = value
            found.append(self.scores(there))
        return np.stack(found, axis=1)

    def expected(self, incoming: Incoming) -> Any:
        """The slope of ``log_partition`` at temperature 1 in the parameters of the kind; none unless it has some."""
        return None

    def some(self, which: Integers) -> Factor:
        """The factors that are numbered in ``which``."""
        return self

    def _written(self, incoming: Incoming) -> Table:
        """All joint values as tables, made once for so many factors."""
        m, sizes = len(incoming[0]), tuple(own.shape[1] for own in incoming)
        known: dict[Any, Table] = self.__dict__.setdefault("_tables", {})
        if (m, sizes) not in known:
            self._check_written(sizes)
            joint = np.stack(np.unravel_index(np.arange(int(np.prod(sizes))), sizes), axis=1)
            scores = np.stack([self.scores(np.tile(each, (m, 1))) for each in joint], axis=1)
            known[m, sizes] = Table(scores.reshape(m, *sizes), own=True, name=self.name)
        return known[m, sizes]

    def _check_written(self, sizes: Sequence[int]) -> None:
        size = np.prod([float(each) for each in sizes])
        if size > LARGEST:
            raise InputError(
                f"{self.name}: {size:.0f} joint values of {len(sizes)} variables are too many to write out, at most "
                f"{LARGEST} are possible; write best, messages and log_partition of the kind, or take the engine gibbs"
            )


@dataclass(frozen=True, eq=False)
class Table(Factor):
    """A log potential for every joint value of a few variables, the same for all factors or one table for each.

    table: [values of the first, values of the second, ...], or [m, ...] for tables of their own. weight: [m], what the
    table is multiplied by, 1 unless given.
    """

    table: Floats
    own: bool = False
    weight: Floats | None = None
    name: str = "table"

    def __post_init__(self) -> None:
        table = np.asarray(self.table, np.float64)
        object.__setattr__(self, "table", table)
        if self.weight is not None:
            weight = np.atleast_1d(np.asarray(self.weight, np.float64))
            object.__setattr__(self, "weight", weight)
            if weight.ndim != 1 or not np.isfinite(weight).all():
                raise InputError(f"{self.name}: weights are finite numbers, one for each factor")
            if (table == -np.inf).any() and (weight <= 0.0).any():
                raise InputError(f"{self.name}: a table that forbids values has weights above 0 only")
        sizes = self.sizes()
        if not sizes or np.prod(sizes) > LARGEST:
            raise InputError(
                f"a table over {len(sizes)} variables has {int(np.prod(sizes))} joint values; at least one "
                f"variable, and at most {LARGEST} values, are possible"
            )
        if np.isnan(table).any() or (table == np.inf).any():
            raise InputError(f"{self.name}: potentials may be minus infinity, to forbid, but not NaN or plus infinity")
        rows = table.reshape(len(table) if self.own else 1, math.prod(sizes))
        hopeless = np.flatnonzero((rows == -np.inf).all(axis=1))
        if hopeless.size:
            which = f"table {int(hopeless[0])}" if self.own else "the table"
            raise InputError(f"{self.name}: {which} forbids all joint values, so that there is no answer")

    def sizes(self) -> tuple[int, ...]:
        """How many values each variable has."""
        return self.table.shape[1:] if self.own else self.table.shape

    def scores(self, values: Integers) -> Floats:
        """The log potential of joint values [m, arity]: [m]."""
        places = (np.arange(len(values)), *values.T) if self.own else tuple(values.T)
        return self._weighted(self.table[places])

    def best(self, incoming: Incoming) -> tuple[Integers, Floats]:
        """The joint values with the highest potential plus messages, [m, arity], and how high it is, [m]."""
        flat = self._flat(incoming)
        place = flat.argmax(axis=1)
        return np.stack(np.unravel_index(place, self.sizes()), axis=1), flat[np.arange(len(flat)), place]

    def messages(self, incoming: Incoming, temperature: float) -> list[Floats]:
        """Log messages to each variable, [m, values], from those of the others."""
        joint, out = self._joint(incoming), []
        for a, own in enumerate(incoming):
            lined = np.moveaxis(joint, a + 1, 1).reshape(*own.shape, math.prod(self.sizes()) // own.shape[1])
            # The variable's own message is taken off again; where it forbids a value, nothing is known of that.
            with np.errstate(invalid="ignore"):
                sent = soft_maximum(lined, temperature) - own
            out.append(np.where(np.isnan(sent), 0.0, sent))
        return out

    def log_partition(self, incoming: Incoming, temperature: float) -> Floats:
        """The same over the values of all variables: [m]."""
        return soft_maximum(self._flat(incoming), temperature)

    def given(self, variable: int, values: Integers) -> Floats:
        """The potentials of each value of one variable, [m, values], when the others have theirs in [m, arity]."""
        table = np.moveaxis(self.table, variable + self.own, -1)
        places = tuple(np.delete(values, variable, axis=1).T)
        found = table[(np.arange(len(values)), *places)] if self.own else table[places]
        return self._weighted(np.broadcast_to(found, (len(values), self.sizes()[variable])))

    def beliefs(self, incoming: Incoming) -> Floats:
        """The probability of every joint value under potentials and messages: [m, ...]."""
        flat = self._flat(incoming)
        return np.exp(flat - soft_maximum(flat, 1.0)[:, None]).reshape(len(flat), *self.sizes())

    def expected(self, incoming: Incoming) -> Floats:
        """The expected use of each entry of the table, weighted: [...], or [m, ...] for tables of their own."""
        beliefs = self._weighted(self.beliefs(incoming))
        return beliefs if self.own else beliefs.sum(axis=0)

    def some(self, which: Integers) -> Table:
        """The factors that are numbered in ``which``."""
        table = self.table[which] if self.own else self.table
        return Table(table, self.own, None if self.weight is None else self.weight[which], self.name)

    def _weighted(self, found: Floats) -> Floats:
        """What the table says of each factor, [m, ...], times its weight."""
        if self.weight is None:
            return found
        return found * self.weight.reshape(-1, *[1] * (found.ndim - 1))

    def _flat(self, incoming: Incoming) -> Floats:
        """Potentials plus messages, joint values in a row: [m, joint values]."""
        return self._joint(incoming).reshape(len(incoming[0]), math.prod(self.sizes()))

    def _joint(self, incoming: Incoming) -> Floats:
        """Potentials plus messages: [m, ...]."""
        m, sizes = len(incoming[0]), self.sizes()
        joint = self._weighted(np.broadcast_to(self.table, (m, *sizes))).copy()
        for a, own in enumerate(incoming):
            joint += own.reshape(m, *(size if b == a else 1 for b, size in enumerate(sizes)))
        return joint


@dataclass(frozen=True, eq=False)
class AtMostOne(Factor):
    """Of some variables of two values at most one is on, or just one: any number of variables, in linear time.

    With d the difference of a variable's two messages, the message "off" to it exceeds "on" by
    ``log(1 + sum of exp(d) over the others)``, without the 1 where one must be on.
    """

    required: bool = False
    name: str = "at most one"

    def sizes(self) -> None:
        """Any number of variables with two values."""

    def scores(self, values: Integers) -> Floats:
        """Zero, or minus infinity where too many are on, or none that must."""
        on = values.sum(axis=1)
        return np.where((on <= 1) & (on >= int(self.required)), 0.0, -np.inf)

    def best(self, incoming: Incoming) -> tuple[Integers, Floats]:
        """The best choice of one variable, or of none: values [m, arity], and its score [m]."""
        off, gain = self._gains(incoming)
        choice, rows = gain.argmax(axis=1), np.arange(len(gain))
        values = np.zeros(gain.shape, np.int64)
        taken = (gain[rows, choice] > 0) | self.required
        values[rows[taken], choice[taken]] = 1
        return values, off + np.where(taken, gain[rows, choice], 0.0)

    def messages(self, incoming: Incoming, temperature: float) -> list[Floats]:
        """Log messages to each variable, [m, 2], from those of the others."""
        _, gain = self._gains(incoming)
        none = np.full((len(gain), 1), -np.inf if self.required else 0.0)
        # The soft maximum of all others is that of those before and of those after.
        before = _running(np.concatenate([none, gain[:, :-1]], axis=1), temperature)
        after = _running(np.concatenate([np.full_like(none, -np.inf), gain[:, :0:-1]], axis=1), temperature)[:, ::-1]
        off = soft_maximum(np.stack([before, after], axis=-1), temperature)
        return [np.stack([own, np.zeros_like(own)], axis=1) for own in off.T]

    def log_partition(self, incoming: Incoming, temperature: float) -> Floats:
        """The same over the values of all variables: [m]."""
        off, gain = self._gains(incoming)
        none = np.full((len(gain), 1), -np.inf if self.required else 0.0)
        return off + soft_maximum(np.concatenate([none, gain], axis=1), temperature)

    def given(self, variable: int, values: Integers) -> Floats:
        """The potentials of off and on, [m, 2], when the others have their values."""
        on = values.sum(axis=1) - values[:, variable]
        off = np.where((on <= 1) & (on >= int(self.required)), 0.0, -np.inf)
        return np.stack([off, np.where(on == 0, 0.0, -np.inf)], axis=1)

    @staticmethod
    def _gains(incoming: Incoming) -> tuple[Floats, Floats]:
        """What all variables say for being off, [m], and what each adds by being on, [m, arity]."""
        off = sum(own[:, 0] for own in incoming)
        return np.asarray(off), np.stack([own[:, 1] - own[:, 0] for own in incoming], axis=1)


def soft_maximum(values: Floats, temperature: float) -> Floats:
    """``T log sum exp(x / T)`` over the last axis; the maximum at T = 0.

    >>> soft_maximum(np.array([0.0, 0.0]), 1.0).round(2), soft_maximum(np.array([0.0, 1.0]), 0.0)
    (np.float64(0.69), np.float64(1.0))
    """
    top: Floats = values.max(axis=-1)
    if temperature == 0.0:
        return top
    base = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        total = np.log(np.exp((values - base[..., None]) / temperature).sum(axis=-1))
    return np.asarray(base + temperature * total)


def _running(values: Floats, temperature: float) -> Floats:
    """The soft maximum of all up to each: [m, n]."""
    if temperature == 0.0:
        return np.maximum.accumulate(values, axis=1)
    return np.asarray(temperature * np.logaddexp.accumulate(values / temperature, axis=1))


def penalties(table: ArrayLike, weight: ArrayLike | None = None, name: str = "penalties") -> Table:
    """Log potentials for pairs, or more, of values: [values of the first, values of the second, ...]."""
    return Table(np.asarray(table, np.float64), False, None if weight is None else np.asarray(weight), name)


def same_label(values: int, penalty: float, reward: float = 0.0, free: Sequence[int] = ()) -> Table:
    """Two variables should have the same value: a penalty where they differ, a reward where they agree.

    free: values that neither suffer nor gain, whatever the other has, such as "no name".
    """
    table = np.where(np.eye(values, dtype=bool), reward, penalty)
    table[list(free), :] = table[:, list(free)] = 0.0
    return Table(table, name="same label")


def equals(values: int) -> Table:
    """Two variables must have the same value."""
    return Table(np.where(np.eye(values, dtype=bool), 0.0, -np.inf), name="equals")


def not_both(score: ArrayLike = -np.inf) -> Table:
    """Two variables, off or on, that may not both be on (NAND); or gain ``score`` where they are: one, or one each."""
    given = np.asarray(score, np.float64)
    if not given.ndim:
        return Table(np.array([[0.0, 0.0], [0.0, given]]), name="not both")
    table = np.zeros((len(given), 2, 2))
    table[:, 1, 1] = given
    return Table(table, own=True, name="not both")


def implies(score: float = -np.inf) -> Table:
    """Where the first variable is on, the second must be, too; or costs ``score`` where it is not."""
    return Table(np.array([[0.0, 0.0], [score, 0.0]]), name="implies")


def at_most_one() -> AtMostOne:
    """At most one of some variables, off or on, is on."""
    return AtMostOne()


def exactly_one() -> AtMostOne:
    """Just one of some variables, off or on, is on."""
    return AtMostOne(required=True, name="exactly one")


def scored_by(function: Callable[..., float], *sizes: int, name: str | None = None) -> Table:
    """A table from a Python function of values, called once for each joint value.

    >>> scored_by(lambda a, b: -abs(a - b), 2, 3).table
    array([[ 0., -1., -2.],
           [-1.,  0., -1.]])
    """
    if np.prod(sizes) > LARGEST:
        raise InputError(f"a table of {int(np.prod(sizes))} joint values is too large; at most {LARGEST} are possible")
    table = np.array([float(function(*each)) for each in product(*map(range, sizes))]).reshape(sizes)
    return Table(table, name=name or str(getattr(function, "__name__", "own")))
