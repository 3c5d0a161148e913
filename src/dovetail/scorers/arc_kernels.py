"""Potentials of dependency arcs from the keys of their ends, and the way back of a gradient."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dovetail.features.compile.arcs import (
    BUCKETS,
    COUNTED,
    DEPENDENT_COLUMNS,
    DISTANCES,
    FIRST_COLUMN,
    HEAD_COLUMNS,
    KINDS,
    MOST,
    SPELLED,
    STOP_COLUMN,
    ArcKeys,
)  # fmt: skip
from dovetail.features.compile.hashing import Keys, mix
from dovetail.kernel import inner, kernel
from dovetail.structures.loops import most_tokens
from dovetail.structures.projective import Places, ProjectivePotentials

Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]
Real = NDArray[np.float32] | NDArray[np.float64]

NEGLIGIBLE = 1e-7  # a slope of an arc so small changes no weight


class ArcWeights(NamedTuple):
    """The weights, or their gradient, of everything seen at arcs."""

    head: Real  # [rows, HEAD_COLUMNS]
    dependent: Real  # [rows, DEPENDENT_COLUMNS]
    pair: Real  # [2 ** pair_bits]


class Seen(NamedTuple):
    """The places of the pair weights of one arc."""

    places: Integers  # [room]: those of the arc, then those of an arc that is not the first, then of a first one
    tags: Integers  # [tags]: the tags between, each once
    marked: Integers  # [tags]: the sweep in which a tag was last met
    times: Integers  # [tags]: how often, in that sweep
    path: Keys  # [1]: all tags between, in order


@inner
def make_seen(keys: ArcKeys) -> Seen:
    """Room for the features of one arc."""
    tags = keys.between.size
    room = keys.heads.shape[1] + keys.with_distance + 1 + COUNTED + tags + 2 * keys.with_first
    return Seen(
        np.empty(room, np.int64), np.empty(tags, np.int64), np.full(tags, -1), np.zeros(tags, np.int64),
        np.zeros(1, np.uint64),
    )  # fmt: skip


@kernel
def bucket(distance: int) -> int:
    """The bucket of a distance."""
    return int(DISTANCES[min(distance, DISTANCES.size - 1)])


@inner
def times_between(keys: ArcKeys, position: int, sweep: int, seen: Seen) -> int:
    """How often the tag of a position lies between."""
    tag = keys.tags[position]
    return int(seen.times[tag]) if seen.marked[tag] == sweep else 0


@inner
def see_arc(keys: ArcKeys, h: int, d: int, sweep: int, met: int, shift: np.uint64, seen: Seen) -> int:
    """Set the places of the weights of the arc from position h to d, counted over the batch; how many are common.
    sweep: the number of the way that is gone from h. met: how many different tags lie between. shift: 64 less the bits
    of a place."""
    direction = 1 if h < d else 0
    way, places = keys.salts[direction], seen.places
    count = int(keys.heads.shape[1])
    for t in range(count):
        places[t] = np.int64((keys.heads[h, t] + keys.dependents[d, t] + way) >> shift)
    far = keys.salts[2 + direction * BUCKETS + bucket(abs(h - d))]
    for t in range(keys.with_distance):
        places[count] = np.int64((keys.heads[h, t] + keys.dependents[d, t] + far) >> shift)
        count += 1
    ends = keys.ends[h, 0] + keys.ends[d, 1] + way
    for i in range(met):
        places[count] = np.int64((ends + keys.between[seen.tags[i]]) >> shift)
        count += 1
    if 1 < abs(h - d) <= SPELLED:
        places[count] = np.int64((ends + seen.path[0]) >> shift)
        count += 1
    low, high = (h + 1, d) if h < d else (d + 1, h)
    for kind in range(COUNTED):
        if kind < KINDS:
            number = int(keys.counted[high, kind] - keys.counted[low, kind])
        else:
            number = times_between(keys, h if kind == KINDS else d, sweep, seen)
        number = min(number, MOST - 1)
        salt = keys.salts[2 + 2 * BUCKETS + 4 + kind * MOST + number]
        places[count] = np.int64((ends + salt) >> shift)
        count += 1
    for first in range(2):
        way = keys.salts[2 + 2 * BUCKETS + 2 * direction + first]
        for t in range(keys.with_first):
            places[count + first * keys.with_first + t] = np.int64(
                (keys.heads[h, t] + keys.dependents[d, t] + way) >> shift
            )
    return count


@inner
def note_between(keys: ArcKeys, position: int, sweep: int, met: int, seen: Seen) -> int:
    """One more position lies between: how many different tags do now."""
    tag = keys.tags[position]
    if met == 0:
        seen.path[0] = np.uint64(0)
    seen.path[0] = mix(seen.path[0] ^ keys.between[tag])
    if seen.marked[tag] != sweep:
        seen.marked[tag] = sweep
        seen.times[tag] = 0
        seen.tags[met] = tag
        met += 1
    seen.times[tag] += 1
    return met


@kernel
def score_arcs(
    keys: ArcKeys, weights: ArcWeights, shift: np.uint64, places: Places, low: int, high: int, kept: Booleans,
    out: ProjectivePotentials,
) -> None:  # fmt: skip
    """The potentials of all arcs and stops of sentences low .. high, set. kept: [A], the arcs that are not hopeless:
    all others get minus infinity; [0] keeps all."""
    prunes = kept.size > 0
    seen = make_seen(keys)
    longest = most_tokens(places.words, low, high) + 1
    head = np.empty((longest, HEAD_COLUMNS))
    dependent = np.empty((longest, DEPENDENT_COLUMNS))
    for n in range(low, high):
        base, m, arcs = places.words[n] + n, places.words[n + 1] - places.words[n] + 1, places.arcs[n]
        head[:m] = 0.0
        dependent[:m] = 0.0
        for i in range(m):
            for s in range(keys.head_rows.shape[1]):
                row, other = keys.head_rows[base + i, s], keys.dependent_rows[base + i, s]
                for c in range(HEAD_COLUMNS):
                    head[i, c] += weights.head[row, c]
                for c in range(DEPENDENT_COLUMNS):
                    dependent[i, c] += weights.dependent[other, c]
            for side in range(2):
                for has in range(2):
                    out.stop[base + i, side, has] = head[i, STOP_COLUMN + 2 * side + has]
        for h in range(m):
            for side in range(2):
                met, step, sweep = 0, 1 if side == 1 else -1, 2 * (base + h) + side
                d = h + step
                while 0 < d < m:
                    arc = arcs + h * m + d
                    if prunes and not kept[arc]:
                        out.attach[arc, 0] = out.attach[arc, 1] = -np.inf
                    else:
                        count = see_arc(keys, base + h, base + d, sweep, met, shift, seen)
                        column = side * BUCKETS + bucket(abs(h - d))
                        total = head[h, column] + dependent[d, column]
                        for i in range(count):
                            total += weights.pair[seen.places[i]]
                        for first in range(2):
                            column = FIRST_COLUMN + 2 * side + first
                            own = head[h, column] + dependent[d, column]
                            for i in range(keys.with_first):
                                own += weights.pair[seen.places[count + first * keys.with_first + i]]
                            out.attach[arc, first] = total + own
                    met = note_between(keys, base + d, sweep, met, seen)
                    d += step
            out.attach[arcs + h * m, 0] = out.attach[arcs + h * m, 1] = 0.0
            out.attach[arcs + h * m + h, 0] = out.attach[arcs + h * m + h, 1] = 0.0


@kernel
def add_gradient(
    keys: ArcKeys, slope: ProjectivePotentials, shift: np.uint64, places: Places, low: int, high: int,
    out: ArcWeights,
) -> None:  # fmt: skip
    """Add to a gradient what the slopes of the potentials of sentences low .. high make of it."""
    seen = make_seen(keys)
    longest = most_tokens(places.words, low, high) + 1
    head = np.empty((longest, HEAD_COLUMNS))
    dependent = np.empty((longest, DEPENDENT_COLUMNS))
    for n in range(low, high):
        base, m, arcs = places.words[n] + n, places.words[n + 1] - places.words[n] + 1, places.arcs[n]
        head[:m] = 0.0
        dependent[:m] = 0.0
        for h in range(m):
            for side in range(2):
                for has in range(2):
                    head[h, STOP_COLUMN + 2 * side + has] += slope.stop[base + h, side, has]
                met, step, sweep = 0, 1 if side == 1 else -1, 2 * (base + h) + side
                d = h + step
                while 0 < d < m:
                    later, first = slope.attach[arcs + h * m + d, 0], slope.attach[arcs + h * m + d, 1]
                    if abs(later) > NEGLIGIBLE or abs(first) > NEGLIGIBLE:
                        count = see_arc(keys, base + h, base + d, sweep, met, shift, seen)
                        column = side * BUCKETS + bucket(abs(h - d))
                        head[h, column] += later + first
                        dependent[d, column] += later + first
                        column = FIRST_COLUMN + 2 * side
                        head[h, column] += later
                        head[h, column + 1] += first
                        dependent[d, column] += later
                        dependent[d, column + 1] += first
                        for i in range(count):
                            out.pair[seen.places[i]] += later + first
                        for i in range(keys.with_first):
                            out.pair[seen.places[count + i]] += later
                            out.pair[seen.places[count + keys.with_first + i]] += first
                    met = note_between(keys, base + d, sweep, met, seen)
                    d += step
        for i in range(m):
            for s in range(keys.head_rows.shape[1]):
                row, other = keys.head_rows[base + i, s], keys.dependent_rows[base + i, s]
                for c in range(HEAD_COLUMNS):
                    out.head[row, c] += head[i, c]
                for c in range(DEPENDENT_COLUMNS):
                    out.dependent[other, c] += dependent[i, c]
