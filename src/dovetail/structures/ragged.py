"""Sentences of unlike size in one batch: flat arrays cut by offsets, and batches of one kind side by side."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dovetail.arrays import taken
from dovetail.errors import InputError
from dovetail.structures.contract import (
    Answer,
    Floats,
    Integers,
    Parts,
    Potentials,
    Structure,
    check_direction,
    check_values,
    mapped,
    named,
    sums,
)
from dovetail.threads import run_shards, sentence_shards

Result = TypeVar("Result")
Number = TypeVar("Number", bound=np.generic)
FORBIDDEN = "sentence {}: every {} is forbidden"


def check_offsets(offsets: ArrayLike, tokens: int | None = None) -> Integers:
    """Offsets of sentences as an array: [n + 1]; they must end with the number of tokens where it is known."""
    array = np.ascontiguousarray(offsets, np.int64)
    rises = array.ndim == 1 and array.size > 0 and array[0] == 0 and not (np.diff(array) < 0).any()
    if not rises or (tokens is not None and array[-1] != tokens):
        raise InputError(f"offsets must rise from 0 to the number of tokens{'' if tokens is None else f', {tokens}'}")
    return array


class Ragged(Structure[Potentials, Answer]):
    """Sentences one after another in flat arrays of potentials, cut into shards for threads to work on.

    The tables named in ``shared`` hold for all sentences; the rows of the others are those of the sentences, and a
    kernel that is given such a table without rows makes no counts. Each shard counts the shared parts for itself, and
    they are added up in order, so that results are the same bits for any number of threads.
    """

    offsets: Integers  # [n + 1]: the tokens of sentence i are offsets[i] .. offsets[i + 1]
    threads: int | None

    shared: ClassVar[tuple[str, ...]] = ()
    shards: ClassVar[tuple[int, int]] = (32, 1024)  # at most so many, and not for less than so many tokens
    mask_axes: ClassVar[int]  # of how many axes of the first table ``restrict`` wants a mask
    answers: ClassVar[str]  # what an answer is called

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def tokens(self) -> int:
        """The number of tokens, N."""
        return int(self.offsets[-1])

    @abstractmethod
    def _infer(self, low: int, high: int, log_z: Floats, expected: Potentials) -> Any:
        """Set log Z [n] of the sentences low .. high; set or add to the expected counts, unless they have no rows."""

    @abstractmethod
    def _move(self, low: int, high: int, direction: Potentials, change: Potentials) -> None:
        """As ``_infer`` for the derivative of the marginals of the sentences low .. high along a direction."""

    @abstractmethod
    def _add(self, answer: Answer, amount: float, counts: Potentials) -> None:
        """Add an amount to the count of every part of an answer, which is checked."""

    def _sums(self, parts: Potentials) -> list[float]:
        """The sum of each table over all that is read of it."""
        return sums(parts)

    def log_partition(self) -> Floats:
        """The log of the sum of exp(score) over all answers to every sentence: [n]."""
        log_z = np.zeros(len(self))
        self._map(lambda low, high: self._infer(low, high, log_z, self._counts()))
        return log_z

    def log_partition_and_marginals(self, in_place: bool = False) -> tuple[Floats, Potentials]:
        """Both in one pass, the step of training; ``in_place`` over the potentials that are not shared."""
        log_z = np.zeros(len(self))
        own = self.potentials if in_place else self._zeros()

        def count(low: int, high: int) -> Potentials:
            expected = self._counts(own)
            self._infer(low, high, log_z, expected)
            return expected

        return log_z, self._total(self._map(count), own)

    def jvp(self, direction: Potentials) -> Potentials:
        """The derivative of the marginals along a direction, of which only what is a part of a sentence is read."""
        direction = contiguous(direction)
        check_direction(direction, self.potentials, self._sums)
        own = self._zeros()

        def move(low: int, high: int) -> Potentials:
            change = self._counts(own)
            self._move(low, high, direction, change)
            return change

        return self._total(self._map(move), own)

    def indicator(self, answer: Answer) -> Potentials:
        """The counts of the parts of an answer, shaped like the potentials."""
        counts = self._zeros()
        self._add(answer, 1.0, counts)
        return counts

    def subtract(self, counts: Potentials, answer: Answer) -> Potentials:
        """Counts less those of an answer, in place: from marginals, the slope of a log-likelihood."""
        self._add(answer, -1.0, counts)
        return counts

    def with_cost(self, answer: Answer, cost: float) -> Self:
        """The same with a cost added to every entry of the first table of potentials that an answer does not use."""
        first, *others = self.potentials
        return self.with_potentials(type(self.potentials)(first + cost * (1.0 - self.indicator(answer)[0]), *others))

    def restrict(self, allowed: Any) -> Self:
        """The same where only the allowed parts may be used: booleans, shaped like the first table of potentials."""
        permitted, table = np.asarray(allowed, bool), self.potentials[0]
        shape = table.shape[: self.mask_axes]
        if permitted.shape != shape:
            raise InputError(f"allowed has shape {permitted.shape}, expected {shape}")
        permitted = permitted.reshape(*shape, *[1] * (table.ndim - len(shape)))
        return self.with_potentials(type(self.potentials)(np.where(permitted, table, -np.inf), *self.potentials[1:]))

    def with_potentials(self, potentials: Potentials) -> Self:
        """The same sentences with other potentials of the same shapes."""
        return replace(self, potentials=potentials)  # type: ignore[type-var]

    def take(self, which: Integers) -> Self:
        """Only some of the sentences, in the order of their numbers ``which``."""
        some = within(which, len(self))
        names: tuple[str, ...] = self.potentials._fields  # type: ignore[attr-defined]
        kept = {
            name: table[taken(self._cuts(name), some)[0]]
            for name, table in zip(names, self.potentials, strict=True)
            if name not in self.shared and len(table)
        }
        potentials = self.potentials._replace(**kept)  # type: ignore[attr-defined]
        return self._unchecked(potentials=potentials, offsets=taken(self.offsets, some)[1])

    def add_of(self, which: Integers, counts: Potentials, out: Potentials) -> None:
        """Add counts of some of the sentences, as ``take(which)`` has them, to those of all, in place."""
        for name, own, whole in zip(counts._fields, counts, out, strict=True):  # type: ignore[attr-defined]
            if name in self.shared:
                whole += own
            elif len(own):
                whole[taken(self._cuts(name), which)[0]] += own

    def _unchecked(self, **changes: Any) -> Self:
        """A batch of other values that are known to be in order: checking them takes longer than a short sentence."""
        made = object.__new__(type(self))
        for one in fields(self):  # type: ignore[arg-type]
            object.__setattr__(made, one.name, changes.get(one.name, getattr(self, one.name)))
        return made

    def _cuts(self, name: str) -> Integers:
        """Where the rows of each sentence begin in a table that is not shared: [n + 1]."""
        rows = len(getattr(self.potentials, name))
        return self.offsets * (rows // max(int(self.offsets[-1]), 1))

    def _own(self, sentence: int, parts: Potentials) -> list[Floats]:
        """What a sentence reads of tables like the potentials, table by table."""
        rows, names = slice(sentence, sentence + 2), parts._fields  # type: ignore[attr-defined]
        return [
            table if name in self.shared else table[slice(*self._cuts(name)[rows])]
            for name, table in zip(names, parts, strict=True)
        ]

    def _flat(self, sentence: int, parts: Potentials) -> Floats:
        """The numbers that a sentence reads, laid end to end, and a zero: the places that hypergraphs speak of."""
        return np.concatenate([*(table.ravel() for table in self._own(sentence, parts)), [0.0]])

    def _tokens(self, sentence: ArrayLike, position: ArrayLike) -> Integers:
        """The tokens at positions of sentences, counted over the batch: [parts]."""
        own = within(sentence, len(self))
        return self.offsets[own] + within(position, np.diff(self.offsets)[own])

    @cached_property
    def _shards(self) -> list[tuple[int, int]]:
        return sentence_shards(self._work, *self.shards)

    @property
    def _work(self) -> Integers:
        """How much there is to do before each sentence, [n + 1]."""
        return self.offsets

    def _map(self, function: Callable[[int, int], Result]) -> list[Result]:
        return run_shards(lambda shard: function(*shard), self._shards, self.threads)

    def _zeros(self) -> Potentials:
        return mapped(lambda part: np.zeros(part.shape), self.potentials)

    def _counts(self, own: Potentials | None = None) -> Potentials:
        """Counts of zero in the shared tables, beside the sentences' own: given ones, or tables without rows."""
        names: tuple[str, ...] = self.potentials._fields  # type: ignore[attr-defined]
        found = [np.empty((0, *part.shape[1:])) for part in self.potentials] if own is None else list(own)
        for i, name in enumerate(names):
            if name in self.shared:
                found[i] = np.zeros(self.potentials[i].shape)
        return type(self.potentials)(*found)

    def _total(self, shards: list[Potentials], own: Potentials) -> Potentials:
        """The shared counts of all shards, added in order, beside those of the sentences' own tables."""
        total = self._counts(own)
        for shard in shards:
            for name in self.shared:
                table = getattr(total, name)
                table += getattr(shard, name)
        return total

    def _check_values(self) -> None:
        """An error where a potential that will be read is NaN or plus infinity."""
        check_values(self.potentials, self._sums)

    def _check_possible(self, low: int, log_z: Floats) -> None:
        """An error where one of the sentences from low on has no answer, for who draws one; log_z: theirs."""
        impossible = np.flatnonzero(log_z == -np.inf)
        if impossible.size:
            raise InputError(FORBIDDEN.format(low + impossible[0], self.answers))


def within(values: ArrayLike, end: int | Integers) -> Integers:
    """Sentences, positions or labels of parts as an array, or an error where one is not from 0 to before the end."""
    array = np.asarray(values, np.int64)
    if ((array < 0) | (array >= end)).any():
        raise InputError("sentences, positions and labels of parts must be of the batch, counted from 0")
    return array


def contiguous(potentials: Potentials) -> Potentials:
    """Potentials as kernels want them: contiguous arrays of doubles."""
    return mapped(lambda part: np.ascontiguousarray(part, np.float64), potentials)


@dataclass(frozen=True, eq=False)
class Groups(Structure[tuple[Any, ...], tuple[Any, ...]]):
    """Batches of one kind as one batch, whose sentences may stand in any order.

    For sentences whose tables differ in shape, as those of an aligner, whose labels are the words of another sentence:
    group them by the number of labels. Potentials, counts, masks and answers are tuples, one of each group; what is
    given by sentence is in the order of the sentences.

    groups: the batches. group: [n], which of them holds each sentence; a group has its sentences in order.

    >>> from dovetail.structures.chain import ChainBatch, ChainPotentials
    >>> pairs, triples = (ChainPotentials.of(np.zeros((4, k)), np.zeros((k, k))) for k in (2, 3))
    >>> batch = Groups((ChainBatch(pairs, [0, 1, 4]), ChainBatch(triples, [0, 4])), [0, 1, 0])
    >>> np.exp(batch.log_partition()).round(2)
    array([ 2., 81.,  8.])
    >>> batch.together(batch.best())
    array([0, 0, 0, 0, 0, 0, 0, 0], dtype=int32)
    """

    groups: tuple[Structure[Any, Any], ...]
    group: Integers
    potentials: tuple[Any, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        given = np.ascontiguousarray(self.group, np.int64)
        sizes = [len(batch) for batch in self.groups]
        if given.ndim != 1 or (given < 0).any() or np.bincount(given, minlength=len(sizes)).tolist() != sizes:
            raise InputError(f"the groups have {sizes} sentences; group must say as often which one a sentence is in")
        object.__setattr__(self, "groups", tuple(self.groups))
        object.__setattr__(self, "group", given)
        object.__setattr__(self, "potentials", tuple(batch.potentials for batch in self.groups))

    def __len__(self) -> int:
        return len(self.group)

    def log_partition(self) -> Floats:
        """The log of the sum of exp(score) over all answers to every sentence: [n]."""
        return self._ordered([batch.log_partition() for batch in self.groups])

    def log_partition_and_marginals(self, in_place: bool = False) -> tuple[Floats, tuple[Any, ...]]:
        """log Z of every sentence [n] and the marginals, in one pass: the step of training."""
        found = [batch.log_partition_and_marginals(in_place) for batch in self.groups]
        return self._ordered([log_z for log_z, _ in found]), tuple(marginals for _, marginals in found)

    @property
    def one_label_a_span(self) -> bool:
        """Whether it is so in all groups."""
        return all(batch.one_label_a_span for batch in self.groups)

    def best(self) -> tuple[Any, ...]:
        """The answer with the highest score."""
        return tuple(batch.best() for batch in self.groups)

    def kbest(self, k: int) -> tuple[list[tuple[Any, ...]], Floats]:
        """The k best answers, best first, and their scores [n, k]; minus infinity where there are fewer."""
        found = [batch.kbest(k) for batch in self.groups]
        answers, scores = zip(*found, strict=True)
        return list(zip(*answers, strict=True)), self._ordered(list(scores))

    def sample(self, n: int, rng: np.random.Generator) -> list[tuple[Any, ...]]:
        """``n`` answers drawn from the exact distribution."""
        impossible = np.flatnonzero(~self.possible())
        if impossible.size:
            raise InputError(FORBIDDEN.format(impossible[0], "answer"))
        return list(zip(*(batch.sample(n, rng) for batch in self.groups), strict=True))

    def score(self, answer: tuple[Any, ...]) -> Floats:
        """The score of an answer, [n]; less log Z it is the log-probability. Minus infinity of what cannot be."""
        return self._ordered([batch.score(own) for batch, own in self._with(answer)])

    def indicator(self, answer: tuple[Any, ...]) -> tuple[Any, ...]:
        """The counts of the parts of an answer, shaped like the potentials."""
        return tuple(batch.indicator(own) for batch, own in self._with(answer))

    def subtract(self, counts: tuple[Any, ...], answer: tuple[Any, ...]) -> tuple[Any, ...]:
        """Counts less those of an answer, in place: from marginals, the slope of a log-likelihood."""
        return tuple(batch.subtract(of, own) for (batch, own), of in zip(self._with(answer), counts, strict=True))

    def with_cost(self, answer: tuple[Any, ...], cost: float) -> Self:
        """The same with a cost added to every part that disagrees with an answer."""
        return self._changed(batch.with_cost(own, cost) for batch, own in self._with(answer))

    def narrowed(self, counts: tuple[Any, ...]) -> tuple[Any, ...]:
        """Counts as those of this one, in each group."""
        return tuple(batch.narrowed(own) for batch, own in self._with(counts))

    def restrict(self, allowed: tuple[Any, ...]) -> Self:
        """The same where only the allowed parts may be used: for each group, what it takes."""
        return self._changed(batch.restrict(own) for batch, own in self._with(allowed))

    def jvp(self, direction: tuple[Any, ...]) -> tuple[Any, ...]:
        """The derivative of the marginals when the potentials move along a direction, shaped like both."""
        return tuple(batch.jvp(own) for batch, own in self._with(direction))

    def entropy(self) -> Floats:
        """The entropy of the answers to every sentence, in nats: [n]."""
        return self._ordered([batch.entropy() for batch in self.groups])

    def with_potentials(self, potentials: tuple[Any, ...]) -> Self:
        """The same sentences with other potentials of the same shapes."""
        return self._changed(batch.with_potentials(own) for batch, own in self._with(potentials))

    def take(self, which: Integers) -> Self:
        """Only some of the sentences, in the order of their numbers ``which``; a group without any keeps its place."""
        some = within(which, len(self))
        groups = (batch.take(self._rank[some[self.group[some] == g]]) for g, batch in enumerate(self.groups))
        return type(self)(tuple(groups), self.group[some])

    def together(self, answer: Sequence[ArrayLike]) -> Any:
        """What groups say of their tokens, [..., N of a group] each, in the order of the sentences: [..., N]."""
        return np.concatenate([np.asarray(own) for own in answer], axis=-1)[..., self._tokens]

    def apart(self, values: ArrayLike) -> tuple[Any, ...]:
        """What is said of the tokens of all sentences, [..., N], by group: an answer where one has a number a token."""
        given = np.asarray(values)
        grouped = np.empty_like(given)
        grouped[..., self._tokens] = given
        ends = np.cumsum([batch.offsets[-1] for batch in self.groups])[:-1]  # type: ignore[attr-defined]
        return tuple(np.split(grouped, ends, axis=-1))

    def token(self, sentence: ArrayLike, position: ArrayLike, label: ArrayLike) -> Parts:
        """The parts "the word at this position of this sentence has this label": arrays [parts] each."""
        return self._address("token", sentence, position, label)

    def span(self, sentence: ArrayLike, begin: ArrayLike, end: ArrayLike, label: ArrayLike) -> Parts:
        """The parts "the words from begin up to end of this sentence are labelled so": arrays [parts] each."""
        return self._address("span", sentence, begin, end, label)

    def arc(self, sentence: ArrayLike, head: ArrayLike, dependent: ArrayLike) -> Parts:
        """The parts "this word hangs on that one", positions from 1 with 0 for the root: arrays [parts] each."""
        return self._address("arc", sentence, head, dependent)

    @cached_property
    def _order(self) -> Integers:
        """Which sentence comes i-th where the groups stand one after another: [n]."""
        return np.argsort(self.group, kind="stable")

    @cached_property
    def _rank(self) -> Integers:
        """Which sentence of its group each is: [n]."""
        return self._ordered([np.arange(len(batch)) for batch in self.groups])

    @cached_property
    def _tokens(self) -> Integers:
        """Where the tokens of all sentences lie where the groups stand one after another: [N]."""
        lengths = np.concatenate([np.diff(batch.offsets) for batch in self.groups])  # type: ignore[attr-defined]
        return np.argsort(np.repeat(self._order, lengths), kind="stable")

    def _ordered(self, found: list[NDArray[Number]]) -> NDArray[Number]:
        """What groups say of their sentences, [n of a group, ...] each, in the order of all: [n, ...]."""
        flat = np.concatenate(found)
        out = np.empty_like(flat)
        out[self._order] = flat
        return out

    def _with(self, own: tuple[Any, ...]) -> zip[tuple[Structure[Any, Any], Any]]:
        return zip(self.groups, own, strict=True)

    def _changed(self, groups: Any) -> Self:
        return type(self)(tuple(groups), self.group)

    def _address(self, kind: str, sentence: ArrayLike, *where: ArrayLike) -> Parts:
        """Parts of groups: the tables of one name are counted through, one after another."""
        sentences, others = within(sentence, len(self)), [np.asarray(each) for each in where]
        entries, owners, table, before = [], [], "", 0
        for g, batch in enumerate(self.groups):
            mine = np.flatnonzero(self.group[sentences] == g)
            table, entry, ptr = getattr(batch, kind)(self._rank[sentences[mine]], *(each[mine] for each in others))
            entries.append(entry + before)
            owners.append(np.repeat(mine, np.diff(ptr)))
            before += sum(own.size for own in named(batch.potentials, table))
        owner = np.concatenate(owners)
        ends = np.cumsum(np.bincount(owner, minlength=len(sentences)))
        return Parts(table, np.concatenate(entries)[np.argsort(owner, kind="stable")], np.append(0, ends))
