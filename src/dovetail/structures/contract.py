"""What every structure answers, whatever its parts are: parts in, parts out.

A structure is a set of answers to each of some sentences (labellings, segmentations, trees), built from parts. Its
potentials give every part a number; the score of an answer is the sum of those of its parts, and its probability is
``exp(score) / Z``. Marginals have the shapes of the potentials: the expected count of every part.

What follows from the methods of a structure is derived here, once. A structure overrides what it can do faster.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any, Generic, NamedTuple, Protocol, Self, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dovetail.errors import InputError

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]
Labels: TypeAlias = NDArray[np.int32]
Booleans: TypeAlias = NDArray[np.bool_]

Potentials = TypeVar("Potentials", bound=tuple[Any, ...])
Answer = TypeVar("Answer")
Each = TypeVar("Each", covariant=True)


class Several(Protocol[Each]):
    """Several answers: a list of them, or an array whose rows they are."""

    def __len__(self) -> int: ...

    def __getitem__(self, index: int, /) -> Each: ...

    def __iter__(self) -> Iterator[Each]: ...


class Parts(NamedTuple):
    """Where parts lie: part p is the entries ``entry[ptr[p]:ptr[p + 1]]`` of the table of this name, counted flat. An
    answer that has a part uses just one of its entries, and one that has not uses none. So the marginal of the part is
    the sum of theirs, and evidence for it is added to each of them."""

    table: str
    entry: Integers
    ptr: Integers

    @classmethod
    def single(cls, table: str, entry: ArrayLike) -> Parts:
        """Parts of one entry each."""
        entries = np.asarray(entry, np.int64)
        return cls(table, entries, np.arange(len(entries) + 1))

    @classmethod
    def where(cls, table: str, entry: Integers, valid: Booleans) -> Parts:
        """Parts of those of their entries [parts, most] that are valid."""
        return cls(table, entry[valid], np.concatenate([[0], np.cumsum(valid.sum(1))]))

    def __len__(self) -> int:
        """The number of parts."""
        return len(self.ptr) - 1


class Structure(ABC, Generic[Potentials, Answer]):
    """A batch of structures, one for each of n sentences.

    An ``Answer`` holds one answer to every sentence. Where minus infinity forbids every answer to a sentence, its log Z
    is minus infinity, its marginals and its entropy are zero, what ``best`` says of it has a score of minus infinity,
    and ``sample`` raises an ``InputError`` that names it. Results are the same bits for any number of threads.
    """

    potentials: Potentials

    # what a structure must do

    @abstractmethod
    def __len__(self) -> int:
        """The number of sentences, n."""

    @abstractmethod
    def log_partition_and_marginals(self, in_place: bool = False) -> tuple[Floats, Potentials]:
        """log Z of every sentence [n] and the marginals, in one pass: the step of training.

        in_place: the potentials may be overwritten, and the batch is of no further use.
        """

    @abstractmethod
    def kbest(self, k: int) -> tuple[Several[Answer], Floats]:
        """The k best answers, best first, and their scores [n, k]; minus infinity where there are fewer."""

    @abstractmethod
    def sample(self, n: int, rng: np.random.Generator) -> Several[Answer]:
        """``n`` answers drawn from the exact distribution."""

    @abstractmethod
    def score(self, answer: Answer) -> Floats:
        """The score of an answer, [n]; less log Z it is the log-probability. Minus infinity of what cannot be."""

    @abstractmethod
    def indicator(self, answer: Answer) -> Potentials:
        """The counts of the parts of an answer, shaped like the potentials."""

    @abstractmethod
    def with_cost(self, answer: Answer, cost: float) -> Self:
        """The same with a cost added to every part that disagrees with an answer."""

    @abstractmethod
    def restrict(self, allowed: Any) -> Self:
        """The same where only the allowed parts may be used: booleans, shaped like the largest table of potentials."""

    @abstractmethod
    def jvp(self, direction: Potentials) -> Potentials:
        """The derivative of the marginals when the potentials move along a direction, shaped like both."""

    @abstractmethod
    def entropy(self) -> Floats:
        """The entropy of the answers to every sentence, in nats: [n]."""

    @abstractmethod
    def with_potentials(self, potentials: Potentials) -> Self:
        """The same sentences with other potentials of the same shapes."""

    @abstractmethod
    def take(self, which: Integers) -> Self:
        """Only some of the sentences, in the order of their numbers ``which``."""

    # what follows

    def log_partition(self) -> Floats:
        """The log of the sum of exp(score) over all answers to every sentence: [n]."""
        return self.log_partition_and_marginals()[0]

    def marginals(self) -> Potentials:
        """The expected count of every part, shaped like the potentials; tables that sentences share hold sums."""
        return self.log_partition_and_marginals()[1]

    def sums_and_jvp(self) -> tuple[Floats, Potentials, Callable[[Potentials], Potentials]]:
        """log Z [n], the marginals, and ``jvp``: for directions that depend on the marginals.

        It may read the marginals, so it is called before these are overwritten.
        """
        return *self.log_partition_and_marginals(), self.jvp

    def best(self) -> Answer:
        """The answer with the highest score."""
        return self.kbest(1)[0][0]

    def possible(self) -> Booleans:
        """Whether a sentence has any answer: [n]."""
        found: Booleans = self.log_partition() > -np.inf
        return found

    def subtract(self, counts: Potentials, answer: Answer) -> Potentials:
        """Counts less those of an answer, in place: from marginals, the slope of a log-likelihood."""
        for part, used in zip(tables(counts), tables(self.indicator(answer)), strict=True):
            part -= used
        return counts

    def narrowed(self, counts: Potentials) -> Potentials:
        """Counts of a structure with more parts, which ``with_cost`` and ``restrict`` may add, as those of this one."""
        return counts

    def scaled(self, factor: float) -> Self:
        """All potentials times a factor: the same ranking of answers, with other probabilities."""
        return self.with_potentials(mapped(lambda part: part * factor, self.potentials))

    # parts, by what they mean

    @property
    def one_label_a_span(self) -> bool:
        """Whether a span has at most one label in any answer."""
        return True

    def token(self, sentence: ArrayLike, position: ArrayLike, label: ArrayLike) -> Parts:
        """The parts "the word at this position of this sentence has this label": arrays [parts] each."""
        raise InputError(f"the words of a {type(self).__name__} have no labels of their own")

    def span(self, sentence: ArrayLike, begin: ArrayLike, end: ArrayLike, label: ArrayLike) -> Parts:
        """The parts "the words from begin up to end of this sentence are labelled so": arrays [parts] each."""
        raise InputError(f"a {type(self).__name__} has no spans")

    def arc(self, sentence: ArrayLike, head: ArrayLike, dependent: ArrayLike) -> Parts:
        """The parts "this word hangs on that one", positions from 1 with 0 for the root: arrays [parts] each."""
        raise InputError(f"a {type(self).__name__} has no arcs")

    def plus(self, parts: Parts, amount: ArrayLike) -> Self:
        """The same with amounts [parts] added to the potentials of parts."""
        own = named(self.potentials, parts.table)
        flat = np.concatenate([*(table.ravel() for table in own), np.zeros(0)])
        np.add.at(flat, parts.entry, np.repeat(np.asarray(amount, np.float64), np.diff(parts.ptr)))
        pieces = iter(np.split(flat, np.cumsum([table.size for table in own])[:-1]))

        def changed(each: Any) -> Any:
            if hasattr(each, "_fields"):
                return each._replace(**{parts.table: next(pieces).reshape(getattr(each, parts.table).shape)})
            return tuple(map(changed, each))

        return self.with_potentials(changed(self.potentials))

    def read(self, counts: Potentials, parts: Parts) -> Floats:
        """The sums of the counts of parts, [parts]: of marginals, the probabilities of the parts."""
        own = [table.reshape(-1) for table in named(counts, parts.table)]
        flat = (own[0] if len(own) == 1 else np.concatenate([*own, np.zeros(0)]))[parts.entry]
        return np.add.reduceat(np.append(flat, 0.0), parts.ptr[:-1]) * (np.diff(parts.ptr) > 0)


def named(parts: tuple[Any, ...], table: str) -> list[Floats]:
    """The arrays of this name in potentials or counts, however they are nested; entries are counted through all."""
    if hasattr(parts, "_fields"):
        return [getattr(parts, table)]
    return [found for each in parts for found in named(each, table)]


def tables(parts: tuple[Any, ...]) -> list[Floats]:
    """The arrays of potentials or counts, however they are nested."""
    return [t for part in parts for t in (tables(part) if isinstance(part, tuple) else [part])]


def mapped(function: Callable[..., Any], first: Potentials, *others: Potentials) -> Potentials:
    """A function of arrays applied to potentials or counts, array by array."""
    found = (
        mapped(function, *each) if isinstance(each[0], tuple) else function(*each)
        for each in zip(first, *others, strict=True)
    )
    return type(first)(*found) if hasattr(first, "_fields") else type(first)(found)


def at_most_one(chance: ArrayLike) -> Floats:
    """Probabilities, which rounding may have made a little larger than one."""
    assert not np.greater(chance, 1.0 + 1e-6).any(), f"a probability of {np.max(chance)}"
    return np.minimum(chance, 1.0)


def sums(parts: tuple[Floats, ...]) -> list[float]:
    """The sum of each table."""
    return [part.sum() for part in parts]


def check_values(potentials: Potentials, total: Callable[[Potentials], list[float]] = sums) -> None:
    """An error where a table holds what no potential can be; ``total`` sums up what is read of each."""
    # Cheaper than a look at each number: NaN makes the sum NaN; plus infinity makes it that or itself.
    with np.errstate(invalid="ignore"):
        totals = total(potentials)
    for name, found in zip(potentials._fields, totals, strict=True):  # type: ignore[attr-defined]
        if not found < np.inf:
            raise InputError(f"{name} holds NaN or plus infinity; only minus infinity, to forbid, may be infinite")


def check_direction(
    direction: Potentials, potentials: Potentials, total: Callable[[Potentials], list[float]] = sums
) -> None:
    """An error where a direction does not have the shapes of the potentials, or is not finite where it is read."""
    if [part.shape for part in direction] != [part.shape for part in potentials]:
        raise InputError("the direction must have the shapes of the potentials")
    # A sum that is not finite may be of finite numbers, but of none that a derivative could bear.
    if not np.isfinite(total(mapped(np.abs, direction))).all():
        raise InputError("the direction must be finite; use 0 for parts that stay as they are")
