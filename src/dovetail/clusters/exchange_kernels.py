"""Compiled loops of exchange clustering: what a word gains in each class, and moves that are checked exactly.

Written with f(x) = x log x, the objective is

    sum over c, c' of f(n(c, c'))  -  sum over c of f(n(c, .)) + f(n(., c))  +  weight * spelling,

the log-likelihood of a class-bigram model less a term that no clustering changes, plus the spelling of the words
(`dovetail.clusters.morphology`). A word w at home in class a is first thought away from a; what it then adds to a
class b depends only on the cells n(b, d) and n(d, b) of the classes d beside w:

    sum over d of f(n(b, d) + n(w, d)) - f(n(b, d)) + f(n(d, b) + n(d, w)) - f(n(d, b)) - ...

so that all classes are scored in (classes beside w) x (classes) steps, along rows of the tables.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dovetail.arrays import Floats, Int32s, Int64s
from dovetail.clusters.counts import Bigrams
from dovetail.kernel import inner, kernel

NOWHERE = -1
"""The class of a word that has none yet; its bigrams do not count."""
LEAST_GAIN = 1e-6
"""Nats; a smaller gain may be a rounding error, and a word could wander for ever."""

Ints = NDArray[Any]


class ClassCounts(NamedTuple):
    """Counts of the classes as the words now stand."""

    classes: Int32s  # [words], NOWHERE for words without one
    pairs: Ints  # [classes, classes], n(c, c') at [c, c']
    pairs_turned: Ints  # [classes, classes], n(c, c') at [c', c]: rows are read fast, columns are not
    firsts: Int64s  # [classes], n(c, .)
    seconds: Int64s  # [classes], n(., c)
    sizes: Int64s  # [classes], words (types) in the class
    x_log_x: Floats  # f of small numbers


class Letters(NamedTuple):
    """The distinct items of each word w, ``item[start[w]:start[w + 1]]``, and how often classes have them."""

    start: Int64s  # [words + 1]
    item: Int32s  # [letters]
    times: Int32s  # [letters]
    prior: Floats  # [items], what the Dirichlet prior counts an item for before it is seen
    counts: Int32s  # [items, classes]
    logs: NDArray[np.float32]  # [items, classes], log(counts + prior): good enough for a proposal


class Spelling(NamedTuple):
    """Collapsed letter models, one a class; see `dovetail.clusters.morphology`. All arrays are empty without one."""

    events: Letters  # letters after those before them
    contexts: Letters  # those before them, which count against
    weight: float


class Beside(NamedTuple):
    """Room for the classes beside one word; row 0 is of those after it, row 1 of those before it."""

    times: Int64s  # [2, classes], n(w, c) and n(c, w) without w itself
    seen: Int32s  # [2, classes], the classes where ``times`` is not 0
    totals: Int64s  # [5]: lengths of both rows of ``seen``, sums of both rows of ``times``, n(w, w)


def room(classes: int) -> Beside:
    """Empty room for so many classes."""
    return Beside(np.zeros((2, classes), np.int64), np.zeros((2, classes), np.int32), np.zeros(5, np.int64))


@inner
def _f(x: Any, table: Floats) -> Any:
    if x < len(table):
        return table[x]
    return x * np.log(np.float64(x))


@inner
def _look_beside(word: int, bigrams: Bigrams, classes: Int32s, beside: Beside) -> None:
    """Fill the room, which must be empty."""
    for side in range(2):
        near = bigrams.after if side == 0 else bigrams.before
        seen = itself = total = 0
        for at in range(near.start[word], near.start[word + 1]):
            other, times = near.other[at], near.times[at]
            if other == word:
                itself += times
            elif classes[other] != NOWHERE:
                c = classes[other]
                if beside.times[side, c] == 0:
                    beside.seen[side, seen] = c
                    seen += 1
                beside.times[side, c] += times
                total += times
        beside.totals[side], beside.totals[2 + side], beside.totals[4] = seen, total, itself


@inner
def _clear(beside: Beside) -> None:
    for side in range(2):
        for i in range(beside.totals[side]):
            beside.times[side, beside.seen[side, i]] = 0


@inner
def _bigram_gain(target: int, home: int, beside: Beside, counts: ClassCounts) -> Any:
    """What the word adds to the bigram part of the objective in one class, once it has left its home."""
    table, times = counts.x_log_x, beside.times
    gain = 0.0
    for side in range(2):
        row = counts.pairs[target] if side == 0 else counts.pairs_turned[target]
        for i in range(beside.totals[side]):
            d = beside.seen[side, i]
            if d == target:
                continue
            added, cell = times[side, d], np.int64(row[d])
            if target == home:
                cell -= added
            elif d == home:
                cell -= times[1 - side, target]
            gain += _f(cell + added, table) - _f(cell, table)
    itself = beside.totals[4]
    within = times[0, target] + times[1, target] + itself
    as_first, as_second = beside.totals[2] + itself, beside.totals[3] + itself
    cell, firsts, seconds = np.int64(counts.pairs[target, target]), counts.firsts[target], counts.seconds[target]
    if target == home:
        cell, firsts, seconds = cell - within, firsts - as_first, seconds - as_second
    elif home == NOWHERE:  # bigrams that did not count before: the classes beside the word grow by them as well
        firsts, seconds = firsts + times[1, target], seconds + times[0, target]
    gain += _f(cell + within, table) - _f(cell, table)
    gain -= _f(firsts + as_first, table) - _f(firsts, table)
    gain -= _f(seconds + as_second, table) - _f(seconds, table)
    return gain


@inner
def _spelling_gain(word: int, target: int, home: int, spelling: Spelling, counts: ClassCounts) -> Any:
    """What the word adds to the spelling part in one class, once it has left its home."""
    at_home = 1 if target == home else 0
    gain = 0.0
    for side in range(2):
        letters, sign = (spelling.events, 1.0) if side == 0 else (spelling.contexts, -1.0)
        for at in range(letters.start[word], letters.start[word + 1]):
            e, times = letters.item[at], letters.times[at]
            before = letters.counts[e, target] - at_home * times + letters.prior[e]
            for i in range(times):
                gain += sign * np.log(before + i)
    size = counts.sizes[target] - at_home
    return gain + _f(size + 1, counts.x_log_x) - _f(size, counts.x_log_x)


@inner
def _gain(word: int, target: int, home: int, beside: Beside, counts: ClassCounts, spelling: Spelling) -> Any:
    gain = _bigram_gain(target, home, beside, counts)
    if spelling.weight != 0:
        gain += spelling.weight * _spelling_gain(word, target, home, spelling, counts)
    return gain


@inner
def _add_row(row: Ints, added: int, less: Int64s | None, table: Floats, gains: Floats) -> None:
    """Add f(x + added) - f(x) for each x of a row, less another if there is one."""
    limit = len(table) - added
    for b in range(len(row)):
        x = np.int64(row[b])
        if less is not None:
            x -= less[b]
        if x < limit:
            gains[b] += table[x + added] - table[x]
        else:
            gains[b] += _f(x + added, table) - _f(x, table)


@inner
def _bigram_gains(home: int, beside: Beside, counts: ClassCounts, gains: Floats) -> None:
    """`_bigram_gain` of every class but the home, added to ``gains`` [classes] row by row."""
    table = counts.x_log_x
    for side in range(2):
        rows = counts.pairs_turned if side == 0 else counts.pairs
        for i in range(beside.totals[side]):
            d = beside.seen[side, i]
            added = beside.times[side, d]
            if d == home:
                _add_row(rows[d], added, beside.times[1 - side], table, gains)
            else:
                _add_row(rows[d], added, None, table, gains)
                x = np.int64(rows[d, d])  # the cell within a class is counted once, below
                gains[d] -= _f(x + added, table) - _f(x, table)
    itself = beside.totals[4]
    as_first, as_second = beside.totals[2] + itself, beside.totals[3] + itself
    for b in range(len(gains)):
        within = beside.times[0, b] + beside.times[1, b] + itself
        if within > 0:
            x = np.int64(counts.pairs[b, b])
            gains[b] += _f(x + within, table) - _f(x, table)
        firsts, seconds = counts.firsts[b], counts.seconds[b]
        if home == NOWHERE:
            firsts, seconds = firsts + beside.times[1, b], seconds + beside.times[0, b]
        gains[b] -= _f(firsts + as_first, table) - _f(firsts, table)
        gains[b] -= _f(seconds + as_second, table) - _f(seconds, table)


@inner
def _spelling_gains(word: int, spelling: Spelling, counts: ClassCounts, gains: Floats) -> None:
    """`_spelling_gain` of every class but the home, weighted and added to ``gains`` [classes] row by row."""
    weight, table = spelling.weight, counts.x_log_x
    for side in range(2):
        letters, amount = (spelling.events, weight) if side == 0 else (spelling.contexts, -weight)
        for at in range(letters.start[word], letters.start[word + 1]):
            e = letters.item[at]
            logs = letters.logs[e]
            for b in range(len(gains)):
                gains[b] += amount * logs[b]
            for i in range(1, letters.times[at]):
                for b in range(len(gains)):
                    gains[b] += amount * np.log(letters.counts[e, b] + letters.prior[e] + i)
    for b in range(len(gains)):
        gains[b] += weight * (_f(counts.sizes[b] + 1, table) - _f(counts.sizes[b], table))


@kernel
def propose(
    words: Int64s, bigrams: Bigrams, counts: ClassCounts, spelling: Spelling, beside: Beside, gains: Floats,
    proposals: Int32s,
) -> None:  # fmt: skip
    """The best class for each of some words [n] as all others now stand; nothing moves.

    ``gains`` [classes] is room to work in; ``proposals`` [n] is filled.
    """
    for i in range(len(words)):
        word = words[i]
        home = counts.classes[word]
        _look_beside(word, bigrams, counts.classes, beside)
        gains[:] = 0.0
        _bigram_gains(home, beside, counts, gains)
        if spelling.weight != 0:
            _spelling_gains(word, spelling, counts, gains)
        if home != NOWHERE:
            gains[home] = _gain(word, home, home, beside, counts, spelling) + LEAST_GAIN
        _clear(beside)
        proposals[i] = np.argmax(gains)


@kernel
def _shift(word: int, target: int, sign: int, beside: Beside, counts: ClassCounts, spelling: Spelling) -> None:
    """Count a word into a class (sign 1) or out of it (sign -1)."""
    pairs, turned = counts.pairs, counts.pairs_turned
    for side in range(2):
        rows, columns = (pairs, turned) if side == 0 else (turned, pairs)
        for i in range(beside.totals[side]):
            d = beside.seen[side, i]
            rows[target, d] += sign * beside.times[side, d]
            columns[d, target] += sign * beside.times[side, d]
    itself = beside.totals[4]
    pairs[target, target] += sign * itself
    turned[target, target] += sign * itself
    counts.firsts[target] += sign * (beside.totals[2] + itself)
    counts.seconds[target] += sign * (beside.totals[3] + itself)
    counts.sizes[target] += sign
    if spelling.weight == 0:
        return
    for side in range(2):
        letters = spelling.events if side == 0 else spelling.contexts
        for at in range(letters.start[word], letters.start[word + 1]):
            e = letters.item[at]
            letters.counts[e, target] += sign * letters.times[at]
            letters.logs[e, target] = np.log(letters.counts[e, target] + letters.prior[e])


@kernel
def apply(
    words: Int64s, proposals: Int32s, bigrams: Bigrams, counts: ClassCounts, spelling: Spelling, beside: Beside
) -> tuple[int, float]:
    """Move words [n] one after another to their proposed classes, if that still raises the objective.

    A word that has no class yet is put where it was proposed. Returns how many moved and the exact rise.
    """
    moved, rise = 0, 0.0
    for i in range(len(words)):
        word, target = words[i], proposals[i]
        home = counts.classes[word]
        if target == home:
            continue
        _look_beside(word, bigrams, counts.classes, beside)
        gain = _gain(word, target, home, beside, counts, spelling)
        if home != NOWHERE:
            gain -= _gain(word, home, home, beside, counts, spelling)
        if home == NOWHERE or gain > LEAST_GAIN:
            if home == NOWHERE:
                counts.firsts[:] += beside.times[1]
                counts.seconds[:] += beside.times[0]
            else:
                _shift(word, home, -1, beside, counts, spelling)
            _shift(word, target, 1, beside, counts, spelling)
            counts.classes[word] = target
            moved += 1
            rise += gain
        _clear(beside)
    return moved, rise
