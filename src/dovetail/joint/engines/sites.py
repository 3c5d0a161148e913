"""Gibbs sampling of single words of chains, compiled: one at a time, given its neighbours and what is coupled to it.

    p(y at t | all else) ~ exp(unary[t, y] + transition[before, y] + transition[y, after] + sum over factors of their
    potentials for the value that y gives to the variables of t, the other variable of each having its value)

Components are shared out to threads, each with random numbers of its own: the same bits for any number of them.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Thread, current_thread, main_thread
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dovetail.joint.engines.sweeps import Sites, anneal, count, put_values
from dovetail.joint.factors import Table
from dovetail.joint.graph import Group
from dovetail.joint.wiring import HARD, Wiring
from dovetail.structures.chain import ChainBatch
from dovetail.structures.contract import Floats, Integers
from dovetail.threads import run_shards

WATCHED = 10
"""In the first tenth of the samples all words are drawn; then those that have changed."""


def unfit(wiring: Wiring) -> str:
    """Why single words cannot be drawn; empty where they can."""
    for structure in wiring.structures:
        if not isinstance(structure, ChainBatch) or structure.order != 1:
            return "not all structures are chains of order 1"
    for coupling in wiring.couplings:
        factor = coupling.factor
        if not isinstance(factor, Table) or len(factor.sizes()) > 2:
            return f"{factor.name!r} is no table over one or two variables"
    return ""


def annealed(
    wiring: Wiring, values: Integers, samples: int, seed: int, unsure: float | None, random: bool
) -> tuple[Integers, bool]:
    """The values of the best sample while the temperature falls from 1 in a straight line, [variables]; and whether
    Ctrl-C ended it."""
    s = compiled(wiring)
    labels = _labels(wiring, s, None if random else values, seed)
    active = _active(wiring, s, unsure)
    best = labels.copy()
    watched = samples if unsure is None else max(samples // WATCHED, 10)
    out, stop = values.copy(), np.zeros(1, bool)

    def work(component: int) -> None:
        start = np.uint64((seed + component * 0x9E3779B9) % 2**63)
        anneal(s, component, active, labels, best, out, samples, watched, start, stop)

    interrupted = _over_components(wiring, work, stop)
    put_values(s, best, out)
    return out, interrupted


def frequencies(
    wiring: Wiring, values: Integers, samples: int, warm: int, seed: int, unsure: float | None
) -> tuple[Floats, Integers, bool]:
    """How often each state comes in the first and in the second half of the samples, [2, states]; the values of the
    last one, [variables]; and whether Ctrl-C ended it."""
    s = compiled(wiring)
    labels, active = _labels(wiring, s, values, seed), _active(wiring, s, unsure)
    counts = np.zeros((2, wiring.states))
    current, stop = values.copy(), np.zeros(1, bool)

    def work(component: int) -> None:
        start = np.uint64((seed + component * 0x9E3779B9) % 2**63)
        count(s, component, active, labels, current, wiring.ptr, counts, samples, warm, start, stop)

    interrupted = _over_components(wiring, work, stop)
    return counts, current, interrupted


def _over_components(wiring: Wiring, work: Callable[[int], None], stop: NDArray[np.bool_]) -> bool:
    """Do some work on each component, on as many threads as a structure asks for; whether Ctrl-C came.

    Kernels do not hear of Ctrl-C, but look at ``stop`` [1]. So they run beside the main thread, if this is the one.
    """
    wanted = [getattr(structure, "threads", 1) for structure in wiring.structures] or [1]
    threads, failed = None if None in wanted else max(wanted), []

    def run() -> None:
        try:
            run_shards(work, range(wiring.components), threads)
        except BaseException as error:  # raised again below
            failed.append(error)

    if current_thread() is not main_thread():
        run()
    else:
        worker = Thread(target=run, daemon=True)
        worker.start()
        while worker.is_alive():
            try:
                worker.join(0.05)
            except KeyboardInterrupt:
                stop[0] = True
    if failed:
        raise failed[0]
    return bool(stop[0])


def compiled(wiring: Wiring) -> Sites:
    """All that the kernels read."""
    made = _Builder(wiring)
    for node in range(len(wiring.structures)):
        made.add_chains(node)
    for group in wiring.groups:
        made.add_variables(group)
    return made.sites()


class _Builder:
    """Sites, structure by structure, then those of free variables; and the variables that speak of them."""

    def __init__(self, wiring: Wiring) -> None:
        self.wiring = wiring
        self.count = 0
        self.lists: dict[str, list[Any]] = {
            name: [np.zeros(0, np.int64)]
            for name in (
                "unary",
                "left",
                "right",
                "transition",
                "pair_ptr",
                "labels",
                "block",
                "at",
                "variable",
                "value",
            )
        }
        self.value_ptr = np.zeros(len(wiring.sizes), np.int64)
        self.first_site: list[Integers] = []

    def add_chains(self, node: int) -> None:
        """The words of a structure."""
        structure = self.wiring.structures[node]
        assert isinstance(structure, ChainBatch)
        p, offsets, labels, n = structure.potentials, structure.offsets, structure.labels, structure.tokens
        some = np.flatnonzero(np.diff(offsets))
        begin, end = offsets[some], offsets[some + 1] - 1
        unary = p.unary.copy()
        unary[begin] += p.start
        unary[end] += p.end
        left, right = self.count + np.arange(n) - 1, self.count + np.arange(n) + 1
        left[begin] = right[end] = -1
        place = sum(map(len, self.lists["transition"]))
        pairs = (p.edge + p.transition if p.edge.size else p.transition).ravel()
        step = labels * labels if p.edge.size else 0
        block = self.wiring.block_ptr[node] + np.repeat(np.arange(len(structure)), np.diff(offsets))
        self.first_site.append(self.count + offsets[:-1])
        self._add(
            n, labels, unary=unary.ravel(), left=left, right=right, pair_ptr=place + step * np.arange(n), block=block
        )
        self.lists["transition"].append(pairs)

    def add_variables(self, group: Group) -> None:
        """The variables of a group, with sites of their own if they are of no structure."""
        numbers = np.arange(group.first, group.first + group.count)
        if group.address is None:
            assert group.potentials is not None
            at, none, meaning = self.count + np.arange(group.count), np.full(group.count, -1), np.arange(group.values)
            block, unary = self.wiring.block_of[numbers], group.potentials.ravel()
            self._add(group.count, group.values, unary=unary, left=none, right=none, pair_ptr=none, block=block)
        else:
            at = self.first_site[group.node][group.address.sentence] + group.address.where[0]
            structure = self.wiring.structures[group.node]
            assert isinstance(structure, ChainBatch)
            meaning = np.zeros(structure.labels, np.int64)  # every label has a value: the rest is value 0
            for value, own in enumerate(group.address.labels or ()):
                meaning[list(own)] = value + group.rest
        self.value_ptr[numbers] = sum(map(len, self.lists["value"]))
        self.lists["value"].append(meaning)
        self.lists["at"].append(at)
        self.lists["variable"].append(numbers)

    def _add(self, count: int, labels: int, **columns: Any) -> None:
        self.count += count
        self.lists["labels"].append(np.full(count, labels))
        for name, column in columns.items():
            self.lists[name].append(column)

    def sites(self) -> Sites:
        """The arrays."""
        wiring, have = self.wiring, {name: np.concatenate(own) for name, own in self.lists.items()}
        mine, other, table, own, others, weight, potential = _factors(wiring)
        by_variable, by_site = np.argsort(mine, kind="stable"), np.argsort(have["at"], kind="stable")
        component = wiring.component[have["block"]]
        return Sites(
            _pointers(np.repeat(np.arange(self.count), have["labels"]), self.count),
            np.maximum(have["unary"] * 1.0, -HARD),
            have["left"],
            have["right"],
            np.maximum(have["transition"] * 1.0, -HARD),
            have["pair_ptr"],
            _pointers(have["at"], self.count),
            have["variable"][by_site],
            self.value_ptr,
            have["value"],
            _pointers(mine, len(wiring.sizes)),
            other[by_variable],
            table[by_variable],
            own[by_variable],
            others[by_variable],
            weight[by_variable],
            np.maximum(potential, -HARD),
            np.argsort(component, kind="stable"),
            _pointers(component, wiring.components),
        )


def _pointers(index: Integers, count: int) -> Integers:
    """Where the entries of each number below count begin, if they are sorted: [count + 1]."""
    return np.concatenate([[0], np.cumsum(np.bincount(index, minlength=count))]).astype(np.int64)


def _factors(wiring: Wiring) -> tuple[Integers, Integers, Integers, Integers, Integers, Floats, Floats]:
    """Each factor from the side of each of its variables: the variable, the other, its table and steps, its weight."""
    empty = np.zeros(0, np.int64)
    mine, other, table, own, others = [empty], [empty], [empty], [empty], [empty]
    weight, potential = [np.zeros(0)], [np.zeros(0)]
    place = 0
    for coupling in wiring.couplings:
        factor = coupling.factor
        assert isinstance(factor, Table)
        m, sizes = len(coupling), factor.sizes()
        start = place + (np.arange(m) * int(np.prod(sizes)) if factor.own else np.zeros(m, np.int64))
        steps = (sizes[1], 1) if len(sizes) == 2 else (1, 0)
        for a, argument in enumerate(coupling.arguments):
            mine.append(argument)
            other.append(coupling.arguments[1 - a] if len(sizes) == 2 else argument)
            table.append(start)
            own.append(np.full(m, steps[a]))
            others.append(np.full(m, steps[1 - a]))
            weight.append(np.ones(m) if factor.weight is None else factor.weight)
        potential.append(factor.table.ravel())
        place += factor.table.size
    first, second, third, fourth, fifth = (
        np.concatenate(e).astype(np.int64) for e in (mine, other, table, own, others)
    )
    return first, second, third, fourth, fifth, np.concatenate(weight), np.concatenate(potential)


def _labels(wiring: Wiring, s: Sites, values: Integers | None, seed: int) -> Integers:
    """A label for each site to begin with: of the best answers in which variables have their values, or any."""
    if values is None:
        rng, sizes = np.random.default_rng(seed), np.diff(s.label_ptr)
        return (rng.random(len(sizes)) * sizes).astype(np.int64)
    answers = wiring.with_values(values)
    free = [values[g.first : g.first + g.count] for g in wiring.groups if g.address is None]
    return np.concatenate([*answers, *free, np.zeros(0, np.int64)]).astype(np.int64)


def _active(wiring: Wiring, s: Sites, unsure: float | None) -> NDArray[np.bool_]:
    """The sites that are worth drawing: whose two best labels are close, as far as couplings can move them."""
    n = len(s.left)
    if unsure is None:
        return np.ones(n, bool)
    margin = [np.zeros(0)]
    for structure in wiring.structures:
        p = np.sort(structure.marginals().unary, axis=1)
        second = p[:, -2] if p.shape[1] > 1 else np.zeros(len(p))
        margin.append(np.log(np.maximum(p[:, -1], 1e-300)) - np.log(np.maximum(second, 1e-300)))
    margin.append(np.zeros(n - sum(map(len, margin))))
    reach = np.zeros(len(wiring.sizes))
    for coupling in wiring.couplings:
        factor = coupling.factor
        assert isinstance(factor, Table)
        axes = tuple(range(1, factor.table.ndim)) if factor.own else None
        most = np.maximum(factor.table, -HARD).max(axis=axes) - np.maximum(factor.table, -HARD).min(axis=axes)
        size = np.broadcast_to(most, len(coupling)) * (1.0 if factor.weight is None else np.abs(factor.weight))
        for argument in coupling.arguments:
            np.add.at(reach, argument, size)
    total = np.zeros(n)
    np.add.at(total, np.repeat(np.arange(n), np.diff(s.variable_ptr)), reach[s.variable])
    found: NDArray[np.bool_] = np.concatenate(margin) < total - np.log(unsure)
    return found
