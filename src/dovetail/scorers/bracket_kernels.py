"""The features of spans by their keys: counted, looked up, scored; and the way back of a gradient."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dovetail.features.compile.brackets import CLASSES, KINDS, LENGTHS, MOST, SPELLED, SpanKeys
from dovetail.features.compile.hashing import Keys, mix
from dovetail.kernel import inner, kernel
from dovetail.scorers.linear import Layout
from dovetail.scorers.listed import FeatureLists
from dovetail.structures.brackets import Brackets
from dovetail.structures.grammar import cell

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Real = NDArray[np.float32] | NDArray[np.float64]

NEGLIGIBLE = 1e-7  # a slope of a label so small changes no weight
NO_KEY = np.uint64(0)
GOLDEN = np.uint64(0x9E3779B97F4A7C15)


class Kept(NamedTuple):
    """The labels that are looked at over each of C spans: ``label[ptr[c]:ptr[c + 1]]``.

    Where ``ptr`` has no entries, all that can be: those of ``single`` over one word, of ``top`` over a whole sentence
    of several words, and of ``wide`` over others.
    """

    ptr: Integers
    label: NDArray[np.int16]
    single: NDArray[np.int16]
    wide: NDArray[np.int16]
    top: NDArray[np.int16]


class Table(NamedTuple):
    """Sorted keys of features, and where those of each leading bit pattern begin."""

    keys: Keys
    bucket: Integers
    shift: np.uint64


@inner
def labels_at(kept: Kept, row: int, i: int, j: int, n: int) -> NDArray[np.int16]:
    """The labels that are looked at over a span, ``row`` that of its cell in the batch."""
    if kept.ptr.size > 0:
        return kept.label[kept.ptr[row] : kept.ptr[row + 1]]
    if j - i == 1:
        return kept.single
    return kept.top if j - i == n else kept.wide


@inner
def number_of(table: Table, key: np.uint64) -> int:
    """The number of the feature of this key, -1 where there is none."""
    at = np.int64(key >> table.shift)
    for j in range(table.bucket[at], table.bucket[at + 1]):
        if table.keys[j] == key:
            return j
    return -1


@kernel
def room(keys: SpanKeys) -> int:
    """The most features of both ends of a span."""
    return int(keys.begins.shape[1] + keys.with_length + KINDS * keys.with_inside + 3)


@inner
def see_span(
    keys: SpanKeys, base: int, i: int, j: int, path: np.uint64, runs: np.uint64, bag: np.uint64, seen: Keys
) -> int:
    """Set the keys of the features of the span from gap i to j; how many there are.

    base: the gap 0 of the sentence. path: of all tags inside in order; runs: the same, with runs of one tag as one;
    bag: of the different tags.
    """
    b, e, length = base + i, base + j, j - i
    count = int(keys.begins.shape[1])
    for t in range(count):
        seen[t] = mix(keys.begins[b, t] + keys.ends[e, t])
    salt = keys.salts[LENGTHS[min(length, LENGTHS.size - 1)]]
    for t in range(keys.with_length):
        seen[count] = mix(keys.begins[b, t] + keys.ends[e, t] + salt)
        count += 1
    for kind in range(KINDS):
        number = min(int(keys.counted[e, kind] - keys.counted[b, kind]), MOST - 1)
        salt = keys.salts[CLASSES + kind * MOST + number]
        for t in range(keys.with_inside):
            seen[count] = mix(keys.begins[b, t] + keys.ends[e, t] + salt)
            count += 1
    if keys.inside:
        first = CLASSES + KINDS * MOST
        seen[count] = mix(path + keys.salts[first]) if length <= SPELLED else NO_KEY
        seen[count + 1] = mix(runs + keys.salts[first + 1])
        seen[count + 2] = mix(bag + keys.salts[first + 2])
        count += 3
    return count


@inner
def see_inside(
    keys: SpanKeys, base: int, i: int, j: int, path: np.uint64, runs: np.uint64, bag: np.uint64, marked: Integers
) -> tuple[np.uint64, np.uint64, np.uint64]:
    """Path, runs and bag of the span from gap i to j, from those of the span that is one word shorter.

    marked: [tags], where a tag was met last.
    """
    tag = keys.tags[base + j]
    own = keys.between[tag]
    if j == i + 1:
        path = runs = bag = NO_KEY
    if j - i <= SPELLED:
        path = mix(path ^ own)
    if j == i + 1 or tag != keys.tags[base + j - 1]:
        runs = mix(runs ^ own)
    if marked[tag] != base + i:
        marked[tag] = base + i
        bag += own
    return path, runs, bag


@kernel
def look_up_spans(
    keys: SpanKeys, table: Table, offsets: Integers, rows: Integers, low: int, high: int, kept: Kept,
    ptr: Integers, feature: NDArray[np.int32],
) -> int:  # fmt: skip
    """List the known features of all spans of sentences low .. high that are looked at; how many there are.

    ptr: [spans of these + 1], set; feature: [room], set.
    """
    seen, count = np.empty(room(keys), np.uint64), 0
    marked = np.full(keys.between.size, -1)
    path = runs = bag = NO_KEY
    ptr[0] = 0
    for s in range(low, high):
        n, base = offsets[s + 1] - offsets[s], offsets[s] + s
        for i in range(n):
            for j in range(i + 1, n + 1):
                path, runs, bag = see_inside(keys, base, i, j, path, runs, bag, marked)
                c = rows[s] + cell(i, j, n)
                if labels_at(kept, c, i, j, n).size > 0:
                    for t in range(see_span(keys, base, i, j, path, runs, bag, seen)):
                        number = number_of(table, seen[t])
                        if number >= 0:
                            feature[count] = number
                            count += 1
                ptr[c - rows[low] + 1] = count
    return count


@kernel
def look_up_ends(keys: Keys, table: Table, ptr: Integers, feature: NDArray[np.int32]) -> int:
    """List the known features of every gap; how many there are. keys: [P, templates]; ptr: [P + 1], set."""
    count = 0
    ptr[0] = 0
    for p in range(keys.shape[0]):
        for t in range(keys.shape[1]):
            number = number_of(table, keys[p, t])
            if number >= 0:
                feature[count] = number
                count += 1
        ptr[p + 1] = count
    return count


@kernel
def emit(
    keys: SpanKeys, offsets: Integers, uses: Brackets, counts: NDArray[np.uint8], least: int, out: Keys,
    labels: NDArray[np.int16],
) -> int:  # fmt: skip
    """The features of some spans of sentences with their labels; how many there are.

    counts: [a power of two], how often each is met, but for collisions. With ``least`` 0 they are counted; else out and
    labels are set to those met so often.
    """
    seen, total = np.empty(room(keys) + keys.first.shape[1] + keys.last.shape[1], np.uint64), 0
    marked, most = np.full(keys.between.size, -1), np.uint64(counts.size - 1)
    path = runs = bag = NO_KEY
    for s in range(offsets.size - 1):
        base = offsets[s] + s
        for q in range(uses.offsets[s], uses.offsets[s + 1]):
            i, j, x = uses.begin[q], uses.end[q], uses.label[q]
            marked[:] = -1
            for k in range(i + 1, j + 1):
                path, runs, bag = see_inside(keys, base, i, k, path, runs, bag, marked)
            count = see_span(keys, base, i, j, path, runs, bag, seen)
            for t in range(keys.first.shape[1]):
                seen[count] = keys.first[base + i, t]
                count += 1
            for t in range(keys.last.shape[1]):
                seen[count] = keys.last[base + j, t]
                count += 1
            for t in range(count):
                if seen[t] == NO_KEY:
                    continue
                slot = mix(seen[t] + np.uint64(x + 1) * GOLDEN) & most
                if least == 0:
                    counts[slot] += 1 if counts[slot] < 255 else 0
                elif counts[slot] >= least:
                    out[total] = seen[t]
                    labels[total] = x
                    total += 1
    return total


@kernel
def keys_of_span(keys: SpanKeys, offsets: Integers, s: int, i: int, j: int) -> Keys:
    """The keys of the features of both ends of one span of sentence s."""
    seen, marked, base = np.empty(room(keys), np.uint64), np.full(keys.between.size, -1), offsets[s] + s
    path = runs = bag = NO_KEY
    for k in range(i + 1, j + 1):
        path, runs, bag = see_inside(keys, base, i, k, path, runs, bag, marked)
    return seen[: see_span(keys, base, i, j, path, runs, bag, seen)]


class SpanLists(NamedTuple):
    """The features of gaps where spans begin, where they end, and of spans, by number."""

    first: FeatureLists
    last: FeatureLists
    spans: FeatureLists


@inner
def score_gap(lists: FeatureLists, p: int, layout: Layout, weight: Real, out: Floats) -> None:
    """The scores of all labels at one gap: [L], set."""
    out[:] = 0.0
    for e in range(lists.ptr[p], lists.ptr[p + 1]):
        f = lists.feature[e]
        for y in range(layout.ptr[f], layout.ptr[f + 1]):
            out[layout.label[y]] += weight[y]


@kernel
def score_spans(
    lists: SpanLists, layout: Layout, weight: Real, offsets: Integers, rows: Integers, low: int, high: int, kept: Kept,
    out: Floats,
) -> None:  # fmt: skip
    """The potentials [C, L] of all labels of all spans of sentences low .. high, set; minus infinity if not kept.

    offsets: [n + 1], where the words of each sentence begin; rows: [n + 1], where its spans do.
    """
    labels, longest = out.shape[1], 0
    for s in range(low, high):
        longest = max(longest, offsets[s + 1] - offsets[s])
    begin, end = np.empty((longest + 1, labels)), np.empty((longest + 1, labels))
    for s in range(low, high):
        n, base = offsets[s + 1] - offsets[s], offsets[s] + s
        for p in range(n + 1):
            score_gap(lists.first, base + p, layout, weight, begin[p])
            score_gap(lists.last, base + p, layout, weight, end[p])
        for i in range(n):
            for j in range(i + 1, n + 1):
                c = rows[s] + cell(i, j, n)
                own = out[c]
                own[:] = -np.inf
                some = labels_at(kept, c, i, j, n)
                for q in range(some.size):
                    own[some[q]] = begin[i, some[q]] + end[j, some[q]]
                for e in range(lists.spans.ptr[c], lists.spans.ptr[c + 1]):
                    f = lists.spans.feature[e]
                    for y in range(layout.ptr[f], layout.ptr[f + 1]):
                        own[layout.label[y]] += weight[y]


@inner
def add_gap(lists: FeatureLists, p: int, layout: Layout, slope: Floats, out: Floats) -> None:
    """The reverse of :func:`score_gap`."""
    for e in range(lists.ptr[p], lists.ptr[p + 1]):
        f = lists.feature[e]
        for y in range(layout.ptr[f], layout.ptr[f + 1]):
            out[y] += slope[layout.label[y]]


@kernel
def add_gradient(
    lists: SpanLists, layout: Layout, slope: Floats, offsets: Integers, rows: Integers, low: int, high: int, out: Floats
) -> None:
    """Add to a gradient what the slopes [C, L] of the potentials of sentences low .. high make of it."""
    labels, longest = slope.shape[1], 0
    for s in range(low, high):
        longest = max(longest, offsets[s + 1] - offsets[s])
    begin, end = np.empty((longest + 1, labels)), np.empty((longest + 1, labels))
    for s in range(low, high):
        n, base = offsets[s + 1] - offsets[s], offsets[s] + s
        begin[: n + 1] = 0.0
        end[: n + 1] = 0.0
        for i in range(n):
            for j in range(i + 1, n + 1):
                c = rows[s] + cell(i, j, n)
                own, some = slope[c], False
                for x in range(labels):
                    if abs(own[x]) > NEGLIGIBLE:
                        some = True
                        begin[i, x] += own[x]
                        end[j, x] += own[x]
                if some:
                    add_gap(lists.spans, c, layout, own, out)
        for p in range(n + 1):
            add_gap(lists.first, base + p, layout, begin[p], out)
            add_gap(lists.last, base + p, layout, end[p], out)
