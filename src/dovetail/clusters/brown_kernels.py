"""The loops of Brown clustering: a window of classes, the loss of every possible merge, and the cheapest of them.

Write n(c, d) for how often class c is followed by d, n(c) for how often it occurs, f(x) = x log x and
g(x, y) = f(x + y) - f(x) - f(y). The mutual information of the classes is, but for constants and the factor of the
text's length, the sum of all f(n(c, d)) less the sum over c of m(c) log n(c), where m(c) counts the pairs that c is in,
on either side, within the window. So merging a and b loses

    loss(a, b) = (m(a) + m(b)) log(n(a) + n(b)) - m(a) log n(a) - m(b) log n(b) - gain(a, b)
    gain(a, b) = sum over d of g(n(a, d), n(b, d)) + g(n(d, a), n(d, b)), with care where d is a or b.

g is zero where either count is. When a word comes in, or two classes become one, only the pairs that meet in a changed
count have a new gain, so that a step costs the window's size times the neighbours of the rarer class, not its square.

Logarithms are rounded once to multiples of 1 / scale and kept as integers. Sums of integers do not depend on their
order: however long the run, the losses are those that a computation from scratch would give, to the last bit.
"""

from __future__ import annotations

import numpy as np

from dovetail.arrays import Int32s, Int64s
from dovetail.clusters.brown_window import Window, Words
from dovetail.clusters.team import Member, meet, share
from dovetail.kernel import inner, kernel

NEVER = np.int64(1) << np.int64(62)


@kernel
def _f(window: Window, x: int) -> np.int64:
    if x < len(window.f):
        value: np.int64 = window.f[x]
        return value
    return np.int64(x * np.log(np.float64(x)) * window.scale)


@inner
def _g(window: Window, x: int, y: int) -> np.int64:
    if x == 0 or y == 0:
        return np.int64(0)
    return _f(window, x + y) - _f(window, x) - _f(window, y)


@inner
def _raise(window: Window, target: Int64s, line: Int32s, old: int, new: int, largest: int) -> None:
    """``target[c] += g(new, line[c]) - g(old, line[c])``; no sum of counts is above ``largest``."""
    f = window.f
    rise = _f(window, new) - _f(window, old)
    if largest < len(f):
        for c in range(len(target)):
            y = line[c]
            target[c] += f[new + y] - f[old + y] - rise
    else:
        for c in range(len(target)):
            y = line[c]
            if y:
                target[c] += _f(window, new + y) - _f(window, old + y) - rise


@inner
def _mirror(gain: Int64s, lo: int, hi: int, lines: Int64s) -> None:
    """Copy rows of the gains to the columns, in rows lo to hi - 1."""
    for c in range(lo, hi):
        row = gain[c]
        for d in lines:
            row[d] = gain[d, c]


@inner
def _own(window: Window, a: int, b: int) -> np.int64:
    """What the counts within two classes add to their gain beyond its sum over all d, a and b among them."""
    aa, ab = window.pairs[a, a], window.pairs[a, b]
    ba, bb = window.pairs_t[a, b], window.pairs[b, b]
    if ab == 0 and ba == 0:
        return _g(window, aa, bb)
    return (
        _f(window, aa + ab + ba + bb)
        - (_f(window, aa + ab) + _f(window, ba + bb) + _f(window, aa + ba) + _f(window, ab + bb))
        + (_f(window, aa) + _f(window, ab) + _f(window, ba) + _f(window, bb))
    )


@inner
def _settle(window: Window, k: int, a: int, member: Member) -> None:
    """Finish a class whose counts have changed: its part of the gains, logarithms, and its column."""
    gain, log_sum = window.gain, window.log_sum
    lo, hi = share(member, k)
    if member.me == 0:
        window.links_log[a] = np.int64(window.links[a] * (np.log(np.float64(window.size[a])) * window.scale))
    mine, sums, sizes = gain[a, lo:hi], log_sum[a, lo:hi], window.size[lo:hi]
    for i in range(len(mine)):
        if lo + i != a:
            mine[i] += _own(window, a, lo + i)
    for i in range(len(sums)):
        sums[i] = np.log(np.float64(window.size[a] + sizes[i])) * window.scale
    for i in range(len(mine)):
        gain[lo + i, a] = mine[i]
        log_sum[lo + i, a] = sums[i]


@inner
def _link(window: Window, slot: int, more: int) -> None:
    window.links[slot] += more
    window.links_log[slot] = np.int64(window.links[slot] * (np.log(np.float64(window.size[slot])) * window.scale))
    window.dirty[slot] = True


@inner
def _head(parent: Int64s, word: int) -> int:
    """The first word of a word's class."""
    while parent[word] != word:
        parent[word] = parent[parent[word]]
        word = parent[word]
    return word


@inner
def _between(places: Int64s, lo: int, hi: int) -> Int64s:
    """Those of some places, in order, that are in a range."""
    return places[np.searchsorted(places, lo) : np.searchsorted(places, hi)]


@inner
def _enter_line(window: Window, k: int, pairs: Int32s, pairs_t: Int32s, slot: int, member: Member) -> None:
    """Gains from the new row ``pairs[slot]``; called for rows, and with the transpose for columns."""
    gain = window.gain
    line = pairs[slot]
    lo, hi = share(member, k)
    support = np.flatnonzero(line[:k])
    ours = _between(support, lo, hi)
    for d in support:
        if d != slot:
            _raise(window, gain[slot, lo:hi], pairs_t[d, lo:hi], 0, line[d], 2 * window.size[d])
        for e in ours:
            if e != d:
                gain[d, e] += _g(window, line[d], line[e])


@inner
def _count_in(window: Window, k: int, slot: int, word: int, words: Words) -> None:
    """The counts of a word as a class of its own, in a free slot below k."""
    pairs, pairs_t, parent = window.pairs, window.pairs_t, words.parent
    parent[word] = word
    words.slot[word] = slot
    window.size[slot] = words.times[word]
    window.name[slot] = word
    window.links[slot] = 0
    window.gain[slot, :k] = 0
    for side in range(2):
        near = words.beside.after if side == 0 else words.beside.before
        rows, columns = (pairs, pairs_t) if side == 0 else (pairs_t, pairs)
        for i in range(near.start[word], near.start[word + 1]):
            other, times = near.other[i], near.times[i]
            if parent[other] >= 0 and (side == 0 or other != word):
                d = words.slot[_head(parent, other)]
                rows[slot, d] += times
                columns[d, slot] += times
                _link(window, slot, times)
                _link(window, d, times)
    window.dirty[slot] = True


@inner
def _enter(window: Window, k: int, slot: int, word: int, words: Words, member: Member) -> None:
    """Put a word into a free slot below k, as a class of its own."""
    if member.me == 0:
        _count_in(window, k, slot, word, words)
    meet(member)
    _enter_line(window, k, window.pairs, window.pairs_t, slot, member)
    _enter_line(window, k, window.pairs_t, window.pairs, slot, member)
    meet(member)
    _settle(window, k, slot, member)
    meet(member)


@inner
def _join_line(window: Window, k: int, pairs: Int32s, pairs_t: Int32s, s: int, t: int, member: Member) -> None:
    """Add row t to row s, with the gains; called for rows, and with the transpose for columns."""
    gain = window.gain
    lo, hi = share(member, k)
    change = window.change
    ours, theirs = pairs[s, :k], pairs[t, :k]
    support = np.flatnonzero(theirs)
    within = _between(support, lo, hi)
    change[lo:hi] = 0
    for d in support:
        old, new = ours[d], ours[d] + theirs[d]
        _raise(window, change[lo:hi], pairs_t[d, lo:hi], old, new, 2 * window.size[d])
        _raise(window, gain[d, lo:hi], ours[lo:hi], old, new, 2 * window.size[s])
        for e in within:
            gain[d, e] += (
                _g(window, new, ours[e] + theirs[e]) - _g(window, new, ours[e]) - _g(window, theirs[d], theirs[e])
            )
    meet(member)
    # Rows of the gains are copied to the columns. Row s is written by columns: others read its column meanwhile.
    for d in within:
        gain[s, d] = gain[d, s]
    _mirror(gain, lo, min(hi, s), support)
    _mirror(gain, max(lo, s + 1), hi, support)
    for c in range(lo, hi):
        gain[s, c] += change[c]
        gain[c, s] = gain[s, c]
    if member.me == 0:
        for d in support:
            ours[d] += theirs[d]
            theirs[d] = 0
            pairs_t[d, s] = ours[d]
            pairs_t[d, t] = 0
            window.dirty[d] = True
    meet(member)


@inner
def _join(window: Window, k: int, s: int, t: int, member: Member) -> None:
    """Merge class t into s; slot t is free then, its counts zero."""
    lo, hi = share(member, k)
    for c in range(lo, hi):
        if c != s:
            window.gain[s, c] -= _own(window, s, c)
            window.gain[c, s] = window.gain[s, c]
    if member.me == 0:
        window.size[s] += window.size[t]
        window.links[s] += window.links[t]
        window.name[s] = min(window.name[s], window.name[t])
        window.dirty[s] = True
        window.dirty[t] = True
    meet(member)
    _join_line(window, k, window.pairs, window.pairs_t, s, t, member)
    _join_line(window, k, window.pairs_t, window.pairs, s, t, member)
    _settle(window, k, s, member)
    meet(member)


@inner
def _scan(window: Window, k: int, a: int) -> None:
    """Find the cheapest merge of one class; among equals the partner that comes first by name."""
    links, links_log, name = window.links, window.links_log, window.name
    log_sum, gain = window.log_sum[a], window.gain[a]
    own_links, own_log = links[a], links_log[a]
    least = NEVER
    partner = -1
    for b in range(k):
        loss = np.int64((own_links + links[b]) * log_sum[b]) - (own_log + links_log[b]) - gain[b]
        if loss <= least and b != a and (loss < least or name[b] < name[partner]):
            least = loss
            partner = b
    window.least[a] = least
    window.partner[a] = partner
    window.stale[a] = False


@inner
def _scan_dirty(window: Window, k: int, member: Member) -> None:
    """Look again at all classes with new losses, each member at its turn."""
    turn = 0
    for a in range(k):
        if window.dirty[a]:
            if turn % member.of == member.me:
                _scan(window, k, a)
            turn += 1


@inner
def _cheapest(window: Window, k: int) -> tuple[int, int]:
    """The pair of classes whose merge loses least; among equals the first by name.

    Every pair with a new loss has a dirty slot, which has been scanned and answers for it. Other slots keep what they
    found; where that was a merge with a dirty slot, it is a lower bound, looked into only if it is the lowest.
    """
    least, partner, stale, dirty, name = window.least, window.partner, window.stale, window.dirty, window.name
    for a in range(k):
        if not dirty[a] and dirty[partner[a]]:
            stale[a] = True
    dirty[:] = False
    while True:
        lowest = NEVER
        for a in range(k):
            lowest = min(lowest, least[a])
        done = True
        for a in range(k):
            if stale[a] and least[a] == lowest:
                _scan(window, k, a)
                done = False
        if done:
            break
    s, t = -1, -1
    for a in range(k):
        if least[a] == lowest:
            b = partner[a]
            lo, hi = (a, b) if name[a] < name[b] else (b, a)
            if s < 0 or name[lo] < name[s] or (name[lo] == name[s] and name[hi] < name[t]):
                s, t = lo, hi
    return s, t


@kernel
def _neighbours(window: Window, k: int, slot: int) -> int:
    neighbours = 0
    for c in range(k):
        neighbours += (window.pairs[slot, c] != 0) + (window.pairs_t[slot, c] != 0)
    return neighbours


@inner
def _join_cheapest(window: Window, k: int, names: Int64s, member: Member) -> tuple[int, int]:
    """Make the merge that loses least, and note the first words of the two; returns its slot and the one set free."""
    _scan_dirty(window, k, member)
    meet(member)
    if member.me == 0:
        s, t = _cheapest(window, k)
        names[0], names[1] = window.name[s], window.name[t]
        # It costs less to move the class with fewer neighbours.
        if _neighbours(window, k, t) > _neighbours(window, k, s):
            s, t = t, s
        window.chosen[0], window.chosen[1] = s, t
    meet(member)
    s, t = window.chosen[0], window.chosen[1]
    _join(window, k, s, t, member)
    return s, t


@kernel
def fill(window: Window, words: Words, last: int, member: Member) -> None:
    """Put the first words into the slots of their own numbers."""
    for word in range(last):
        _enter(window, word + 1, word, word, words, member)


@kernel
def advance(
    window: Window, k: int, free: int, words: Words, first: int, last: int, merges: Int64s, member: Member
) -> int:
    """For words first to last - 1: enter the word, then make the cheapest merge. Returns the slot that is free then.

    The window has k + 1 slots, of which ``free`` is free. ``merges[word]`` becomes the first words of the two classes
    merged at that step. All members of a team call this at once, and each does its share of the columns.
    """
    for word in range(first, last):
        _enter(window, k + 1, free, word, words, member)
        s, free = _join_cheapest(window, k + 1, merges[word], member)
        if member.me == 0:
            words.parent[merges[word, 1]] = merges[word, 0]
            words.slot[merges[word, 0]] = s
    return free


@kernel
def collapse(window: Window, k: int, merges: Int64s, member: Member) -> None:
    """Merge k classes down to one; ``merges[i]`` becomes the first words of the two classes merged to leave i."""
    while k > 1:
        _, free = _join_cheapest(window, k, merges[k - 1], member)
        k -= 1
        if member.me == 0:
            close_gap(window, k, free)
        meet(member)


@kernel
def class_heads(words: Words) -> Int64s:
    """The first word of every word's class."""
    heads = np.empty(len(words.parent), np.int64)
    for word in range(len(heads)):
        heads[word] = _head(words.parent, word)
    return heads


@kernel
def close_gap(window: Window, last: int, free: int) -> None:
    """Move the class of the last slot to the free one."""
    # Who was best merged with the freed slot must look again: mark it before the slot has a new tenant.
    for a in range(last + 1):
        if window.partner[a] == free:
            window.stale[a] = True
    window.dirty[free] = False
    if free < last:
        _move(window, last + 1, last, free)


@kernel
def _move(window: Window, k: int, source: int, target: int) -> None:
    """Move a class to a free slot, both below k."""
    for table in (window.pairs, window.pairs_t):
        table[target, :k], table[source, :k] = table[source, :k], 0
        table[:k, target], table[:k, source] = table[:k, source], 0
    window.gain[target, :k] = window.gain[source, :k]
    window.gain[:k, target] = window.gain[:k, source]
    window.log_sum[target, :k] = window.log_sum[source, :k]
    window.log_sum[:k, target] = window.log_sum[:k, source]
    for c in range(k):
        if window.partner[c] == source:
            window.partner[c] = target
    for vector in (window.size, window.links_log, window.name, window.least, window.partner):
        vector[target] = vector[source]
    window.links[target] = window.links[source]
    window.stale[target] = window.stale[source]
    window.dirty[target] = window.dirty[source]
