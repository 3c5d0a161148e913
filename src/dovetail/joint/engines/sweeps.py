"""Compiled sweeps over the words of chains and over free variables, one drawn at a time given all the rest."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dovetail.kernel import kernel
from dovetail.structures.contract import Floats, Integers


class Sites(NamedTuple):
    """Words and free variables in flat arrays. A site has labels; a variable has values, which labels stand for."""

    label_ptr: Integers
    """[sites + 1]: the labels of a site in ``unary``."""
    unary: Floats
    """Log potentials of labels, those of beginnings and ends included."""
    left: Integers
    """[sites]: the site before, -1 for none; ``right``: the one after."""
    right: Integers
    transition: Floats
    """Log potentials of pairs of labels of neighbours, one block for each site that has one before it."""
    pair_ptr: Integers
    """[sites]: where the pairs of a site and the one before it begin in ``transition``."""
    variable_ptr: Integers
    """[sites + 1]: the variables of a site in ``variable``."""
    variable: Integers
    value_ptr: Integers
    """[variables]: where the values that labels stand for begin in ``value``."""
    value: Integers
    factor_ptr: Integers
    """[variables + 1]: what is coupled to a variable, in the arrays below."""
    other: Integers
    table: Integers
    """Where the table of a factor begins in ``potential``; ``own`` and ``others`` are its steps by value."""
    own: Integers
    others: Integers
    weight: Floats
    potential: Floats
    order: Integers
    """The sites of the components, one after another, and ``component_ptr`` [components + 1]."""
    component_ptr: Integers


@kernel
def _random(state: np.uint64) -> tuple[float, np.uint64]:
    """A number from 0 to 1, and the next state (splitmix64)."""
    state = state + np.uint64(0x9E3779B97F4A7C15)
    z = state
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return np.float64(z >> np.uint64(11)) / 9007199254740992.0, state


@kernel
def _scores(s: Sites, t: int, labels: Integers, values: Integers, out: Floats) -> int:
    """What each label of a site scores, given everything else: the first entries of out."""
    first = s.label_ptr[t]
    n = int(s.label_ptr[t + 1] - first)
    left, right = s.left[t], s.right[t]
    for y in range(n):
        out[y] = s.unary[first + y]
    if left >= 0:
        row = s.pair_ptr[t] + labels[left] * n
        for y in range(n):
            out[y] += s.transition[row + y]
    if right >= 0:
        after = labels[right]
        for y in range(n):
            out[y] += s.transition[s.pair_ptr[right] + y * n + after]
    for k in range(s.variable_ptr[t], s.variable_ptr[t + 1]):
        v = s.variable[k]
        for f in range(s.factor_ptr[v], s.factor_ptr[v + 1]):
            base = s.table[f] + s.others[f] * values[s.other[f]]
            for y in range(n):
                out[y] += s.weight[f] * s.potential[base + s.own[f] * s.value[s.value_ptr[v] + y]]
    return n


@kernel
def _drawn(out: Floats, n: int, temperature: float, uniform: float) -> int:
    """One of n labels, drawn with probabilities in proportion to exp(score / temperature)."""
    top = out[0]
    for y in range(1, n):
        top = max(top, out[y])
    total = 0.0
    for y in range(n):
        total += np.exp((out[y] - top) / temperature)
    left = uniform * total
    for y in range(n):
        left -= np.exp((out[y] - top) / temperature)
        if left < 0.0:
            return y
    for y in range(n - 1, -1, -1):  # rounding: the last that is possible
        if out[y] == top:
            return y
    return 0


@kernel
def _put(s: Sites, t: int, y: int, labels: Integers, values: Integers) -> None:
    """Give a site a label, and its variables their values."""
    labels[t] = y
    for k in range(s.variable_ptr[t], s.variable_ptr[t + 1]):
        v = s.variable[k]
        values[v] = s.value[s.value_ptr[v] + y]


@kernel
def anneal(
    s: Sites,
    component: int,
    active: NDArray[np.bool_],
    labels: Integers,
    best: Integers,
    values: Integers,
    samples: int,
    watched: int,
    state: np.uint64,
    stop: NDArray[np.bool_],
) -> None:
    """So many sweeps over a component while it cools; ``best`` gets the labels with the highest score.

    After the first ``watched`` sweeps, which are the hottest, only sites that have changed in them are drawn (Wang).
    """
    first, last = s.component_ptr[component], s.component_ptr[component + 1]
    most, drawn = 1, 0
    sites = np.empty(last - first, np.int64)
    for i in range(first, last):
        t = s.order[i]
        most = max(most, s.label_ptr[t + 1] - s.label_ptr[t])
        _put(s, t, labels[t], labels, values)
        if active[t]:
            sites[drawn] = t
            drawn += 1
    out, moved = np.empty(most), np.zeros(drawn, np.bool_)
    gain, highest = 0.0, 0.0
    for sweep in range(samples):
        if stop[0]:
            return
        if sweep == watched:
            left = 0
            for i in range(drawn):
                if moved[i]:
                    sites[left] = sites[i]
                    left += 1
            drawn = left
        temperature = max(1.0 - sweep / samples, 1e-6)
        for i in range(drawn):
            t = sites[i]
            n = _scores(s, t, labels, values, out)
            uniform, state = _random(state)
            y = _drawn(out, n, temperature, uniform)
            if y != labels[t]:
                moved[i] = True
                gain += out[y] - out[labels[t]]
                _put(s, t, y, labels, values)
        if gain > highest:
            highest = gain
            for i in range(first, last):
                best[s.order[i]] = labels[s.order[i]]


@kernel
def count(
    s: Sites,
    component: int,
    active: NDArray[np.bool_],
    labels: Integers,
    values: Integers,
    ptr: Integers,
    counts: Floats,
    samples: int,
    warm: int,
    state: np.uint64,
    stop: NDArray[np.bool_],
) -> None:
    """Sweeps over a component; how often its states come after ``warm`` ones, in two halves, is added to counts."""
    first, last = s.component_ptr[component], s.component_ptr[component + 1]
    most = 1
    for i in range(first, last):
        t = s.order[i]
        most = max(most, s.label_ptr[t + 1] - s.label_ptr[t])
        _put(s, t, labels[t], labels, values)
    out = np.empty(most)
    for sweep in range(warm + samples):
        if stop[0]:
            return
        for i in range(first, last):
            t = s.order[i]
            if active[t]:
                n = _scores(s, t, labels, values, out)
                uniform, state = _random(state)
                _put(s, t, _drawn(out, n, 1.0, uniform), labels, values)
        if sweep >= warm:
            half = 1 if 2 * (sweep - warm) >= samples else 0
            for i in range(first, last):
                t = s.order[i]
                for k in range(s.variable_ptr[t], s.variable_ptr[t + 1]):
                    v = s.variable[k]
                    counts[half, ptr[v] + values[v]] += 1.0


@kernel
def put_values(s: Sites, labels: Integers, values: Integers) -> None:
    """The values of all variables under labels."""
    for t in range(len(labels)):
        _put(s, t, labels[t], labels, values)
