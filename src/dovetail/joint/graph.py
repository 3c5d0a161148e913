"""Graphs whose nodes are structures and whose couplings are factors over a few of their parts."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from dovetail.errors import InputError
from dovetail.joint.factors import Factor
from dovetail.structures.contract import Floats, Integers, Parts, Structure

if TYPE_CHECKING:
    from dovetail.joint.result import Beliefs, Result
    from dovetail.joint.wiring import Wiring

ENGINES = ("bp", "dual", "gibbs", "ilp", "brute")


@dataclass(frozen=True, eq=False)
class Address:
    """Where the parts of variables lie in a structure, said by what they mean.

    how: ``token``, ``span`` or ``arc``, the method of the structure that finds them. sentence: [k]. where: arrays [k].
    labels: for each value, the labels that it stands for; None where parts have no labels.
    """

    how: str
    sentence: Integers
    where: tuple[Integers, ...]
    labels: tuple[tuple[int, ...], ...] | None

    def parts(self, structure: Structure[Any, Any]) -> Parts:
        """One part for each value of each variable, value by value: k * values of them."""
        if self.labels is None:
            found: Parts = getattr(structure, self.how)(self.sentence, *self.where)
            return found
        each = np.concatenate([np.asarray(own, np.int64) for own in self.labels])
        k, width = len(self.sentence), len(each)
        places = (np.repeat(at, width) for at in (self.sentence, *self.where))
        single: Parts = getattr(structure, self.how)(*places, np.tile(each, k))
        sizes = np.array([len(own) for own in self.labels])
        starts = np.cumsum(np.concatenate([[0], np.tile(sizes, k)]))
        return Parts(single.table, single.entry, single.ptr[starts])

    def some(self, rows: Integers, sentence: Integers) -> Address:
        """Some of the variables, whose sentences now have other numbers."""
        return Address(self.how, sentence, tuple(each[rows] for each in self.where), self.labels)


@dataclass(eq=False)
class Group:
    """Variables of one kind: k of them with the same number of values.

    node: the number of their structure, -1 for variables of no structure. rest: whether value 0 says that none of the
    parts of the others is there. potentials: [k, values], of variables of no structure.
    """

    first: int
    count: int
    values: int
    node: int = -1
    address: Address | None = None
    rest: bool = False
    potentials: Floats | None = None


@dataclass(frozen=True, eq=False)
class Variables:
    """Some variables of a graph, all with the same number of values; ``variables[rows]`` are some of them.

    They are numbered through in the order in which they were made.
    """

    graph: Graph = field(repr=False)
    group: int = field(repr=False)
    index: Integers
    values: int

    def __len__(self) -> int:
        return len(self.index)

    def __getitem__(self, rows: Any) -> Variables:
        return Variables(self.graph, self.group, np.atleast_1d(self.index[rows]), self.values)


@dataclass(frozen=True, eq=False)
class Node:
    """A structure in a graph: it gives variables that speak of its parts."""

    graph: Graph = field(repr=False)
    number: int

    @property
    def structure(self) -> Structure[Any, Any]:
        """The structure with its own potentials."""
        return self.graph.structures[self.number]

    def tokens(
        self,
        sentence: ArrayLike,
        position: ArrayLike,
        labels: Sequence[int | Sequence[int]] | None = None,
        rest: bool = False,
    ) -> Variables:
        """The label of each of k words: a variable each.

        sentence, position: [k]. labels: for every value a label, or the labels that it stands for (B-PER and I-PER);
        unless given, every label is a value. rest: value 0 is added for all labels that are not among these.
        """
        return self._variables("token", sentence, (position,), self._labels(labels), rest)

    def labelled(self, sentence: ArrayLike, position: ArrayLike, label: ArrayLike) -> Variables:
        """Whether each of k words has a label that is told for each: value 1 says that it has. [k] each.

        For chains of many labels, such as links to the words of a translation, of which few matter for a word.
        """
        return self._variables("token", sentence, (position, label), None, True)

    def spans(
        self, sentence: ArrayLike, begin: ArrayLike, end: ArrayLike, labels: Sequence[int | Sequence[int]] | None = None
    ) -> Variables:
        """Whether each of k spans is there, and with which label: value 0 says that it is not.

        labels: for every further value a label, or the labels that it stands for; unless given, each label is a value.
        Where a span may have several labels at once, as in trees with unary rules, give each label a variable.
        """
        meant = self._labels(labels)
        if sum(map(len, meant)) > 1 and not self.structure.one_label_a_span:
            raise InputError(
                f"a span of a {type(self.structure).__name__} may have several labels at once, and a variable has one "
                "value: make a variable for each label"
            )
        return self._variables("span", sentence, (begin, end), meant, True)

    def arcs(self, sentence: ArrayLike, head: ArrayLike, dependent: ArrayLike) -> Variables:
        """Whether each of k words hangs on another: value 1 says that it does. Positions from 1, 0 for the root."""
        return self._variables("arc", sentence, (head, dependent), None, True)

    def _labels(self, labels: Sequence[int | Sequence[int]] | None) -> tuple[tuple[int, ...], ...]:
        """The labels of each value: those given, or one each."""
        if labels is None:
            count = getattr(self.structure, "labels", None)
            if count is None:
                raise InputError(f"say which labels of the {type(self.structure).__name__} are values")
            return tuple((label,) for label in range(count))
        found = tuple((int(own),) if np.ndim(own) == 0 else tuple(map(int, own)) for own in labels)  # type: ignore[arg-type]
        every = [label for own in found for label in own]
        if not all(found) or not found:
            raise InputError("every value stands for at least one label")
        if len(set(every)) < len(every):
            raise InputError(f"label {max(every, key=every.count)} stands for two values at once")
        return found

    def _check_whole(self, labels: tuple[tuple[int, ...], ...], places: list[Integers]) -> None:
        """An error where a word may have a label that no value stands for."""
        beyond = sum(map(len, labels))
        missing = set(range(beyond)) - {label for own in labels for label in own}
        differ = hasattr(self.structure, "groups")  # sentences may have label sets of their own
        for row in np.unique(places[0], return_index=True)[1].tolist() if differ else [0]:
            with suppress(InputError):  # it has no such label
                self.structure.token(places[0][[row]], places[1][[row]], [beyond])
                missing.add(beyond)
        if missing:
            raise InputError(f"no value stands for label {min(missing)}; name all labels, or ask for a rest")

    def _variables(
        self,
        how: str,
        sentence: ArrayLike,
        where: tuple[ArrayLike, ...],
        labels: tuple[tuple[int, ...], ...] | None,
        rest: bool,
    ) -> Variables:
        given = [np.atleast_1d(np.asarray(each)) for each in (sentence, *where)]
        if any(each.ndim != 1 or (each.size and each.dtype.kind not in "iu") for each in given):
            raise InputError(f"{how} parts are given by arrays [k] of whole numbers")
        places = [each.astype(np.int64) for each in given]
        if len({len(each) for each in places}) != 1:
            raise InputError(f"{how} parts are given by arrays of one length, not of {[len(p) for p in places]}")
        address = Address(how, places[0], tuple(places[1:]), labels)
        parts = address.parts(self.structure)  # an error now where one is not of the structure
        lost = np.flatnonzero(np.diff(parts.ptr) == 0)
        if lost.size:
            k = int(lost[0]) // (1 if labels is None else len(labels))
            raise InputError(f"variable {k}: the structure has no part for {how} {[int(p[k]) for p in places]}")
        if labels is not None and not rest and len(places[0]):
            self._check_whole(labels, places)
        count = (1 if labels is None else len(labels)) + rest
        return self.graph._grouped(Group(0, len(places[0]), count, self.number, address, rest))


@dataclass(eq=False)
class Coupling:
    """m factors of one kind, over m variables each in ``arguments``."""

    factor: Factor
    arguments: list[Integers]

    def __len__(self) -> int:
        return len(self.arguments[0])

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many values each variable of a factor has."""
        return self.factor.sizes() or (2,) * len(self.arguments)


class Graph:
    """Structures, variables that speak of their parts, and couplings of these.

    A graph may hold many problems that have nothing to do with each other, such as the documents of a corpus: they are
    solved together, and results tell of each apart.
    """

    def __init__(self) -> None:
        self.structures: list[Structure[Any, Any]] = []
        self.groups: list[Group] = []
        self.couplings: list[Coupling] = []

    def add(self, structure: Structure[Any, Any]) -> Node:
        """A structure as a node."""
        if not isinstance(structure, Structure):
            raise InputError(f"a node is a batch of structures, such as a ChainBatch, not {structure!r:.60}")
        self._changed()
        self.structures.append(structure)
        return Node(self, len(self.structures) - 1)

    def free(self, potentials: ArrayLike) -> Variables:
        """Variables of no structure: log potentials [k, values]."""
        table = np.atleast_2d(np.asarray(potentials, np.float64))
        if table.ndim != 2 or not table.shape[1]:
            raise InputError(f"potentials of free variables have shape [k, values], not {table.shape}")
        if np.isnan(table).any() or (table == np.inf).any():
            raise InputError("potentials may be minus infinity, to forbid, but not NaN or plus infinity")
        return self._grouped(Group(0, len(table), table.shape[1], potentials=table))

    def joined(self, variables: Sequence[Variables]) -> Variables:
        """Variables of several kinds or structures as one row of them; they must have as many values each."""
        if not variables or any(v.graph is not self for v in variables) or len({v.values for v in variables}) > 1:
            raise InputError("join variables of this graph that have the same number of values, at least one")
        return Variables(self, -1, np.concatenate([v.index for v in variables]), variables[0].values)

    def couple(self, factor: Factor, *variables: Variables) -> None:
        """Factors over the first of each of some variables, over the second of each, and so on."""
        if not isinstance(factor, Factor):
            raise InputError(f"a coupling is a Factor, such as scored_by(function, 2, 2), not {factor!r:.60}")
        if not variables or any(not isinstance(v, Variables) or v.graph is not self for v in variables):
            raise InputError(f"{factor.name}: couple variables of this graph, at least one")
        sizes, given = factor.sizes(), tuple(v.values for v in variables)
        if given != (sizes if sizes is not None else (2,) * len(given)):
            wanted = "two each" if sizes is None else ", ".join(map(str, sizes))
            raise InputError(f"{factor.name}: the variables have {', '.join(map(str, given))} values, not {wanted}")
        counts = {len(v) for v in variables}
        own = getattr(factor, "table", np.zeros(0)).shape[:1] if getattr(factor, "own", False) else ()
        weight = getattr(factor, "weight", None)
        counts |= set(own) | (set() if weight is None else {len(weight)})
        if len(counts) != 1:
            raise InputError(f"{factor.name}: couple as many variables on each side, not {sorted(counts)}")
        joint = np.sort(np.stack([v.index for v in variables]), axis=0)
        twice = np.flatnonzero((joint[1:] == joint[:-1]).any(axis=0))
        if twice.size:
            raise InputError(f"{factor.name}: factor {int(twice[0])} couples a variable with itself")
        zeros = np.zeros(joint.T.shape, np.int64)
        scores, first = factor.scores(zeros), factor.some(np.arange(len(zeros))[:1]).scores(zeros[:1])
        if np.shape(scores) != zeros.shape[:1] or np.shape(first) != zeros[:1].shape[:1] or np.isnan(scores).any():
            raise InputError(f"{factor.name}: scores must give numbers [m] for values [m, arity], of some factors too")
        self._changed()
        self.couplings.append(Coupling(factor, [v.index for v in variables]))

    def couple_all(self, factor: Factor, variables: Variables) -> None:
        """One factor over all of some variables: for factors that take any number, such as at most one."""
        self.couple(factor, *(variables[i] for i in range(len(variables))))

    def solve(self, engine: str = "dual", **how: Any) -> Result:
        """The best answers of all structures together: see the engines in ``dovetail.joint.engines`` for ``how``."""
        return self._asked(engine, "solve", how)  # type: ignore[no-any-return]

    def marginals(self, engine: str = "bp", **how: Any) -> Beliefs:
        """The probability of every value of every variable, by ``bp``, ``gibbs`` or ``brute``."""
        return self._asked(engine, "marginals", how)  # type: ignore[no-any-return]

    @cached_property
    def wiring(self) -> Wiring:
        """All of it as index arrays, made once."""
        from dovetail.joint.wiring import Wiring

        return Wiring(self.structures, self.groups, self.couplings)

    def _asked(self, name: str, what: str, how: dict[str, Any]) -> Any:
        from importlib import import_module
        from inspect import signature

        if name not in ENGINES:
            raise InputError(f"no engine {name!r}; there are {', '.join(ENGINES)}")
        function = getattr(import_module(f"dovetail.joint.engines.{name}"), what, None)
        if function is None:
            raise InputError(f"the engine {name!r} has no probabilities; take bp or gibbs")
        settings = list(signature(function).parameters)[1:]
        for setting in how:
            if setting not in settings:
                raise InputError(f"{what} of the engine {name!r} has no {setting!r}; it has {', '.join(settings)}")
        return replace(function(self, **how), graph=self)

    def _grouped(self, group: Group) -> Variables:
        self._changed()
        group.first = sum(other.count for other in self.groups)
        self.groups.append(group)
        index = np.arange(group.first, group.first + group.count)
        return Variables(self, len(self.groups) - 1, index, group.values)

    def _changed(self) -> None:
        self.__dict__.pop("wiring", None)
