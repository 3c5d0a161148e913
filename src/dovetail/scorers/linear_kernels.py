"""Compiled loops of the linear scorer. Shapes: L outputs, P parameters, N tokens, R rows.

Parameters are sparse: those of feature f are ``ptr[f]`` to ``ptr[f + 1]``, and parameter p speaks for output
``label[p]``. Every loop takes a range lo..hi, so that threads can share the work; each output is written by one thread
in one order, so that the bits do not depend on their number. Scores and slopes may be those of some sentences alone, a
stretch of the corpus: their first row is that of the stretch's first token.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dovetail.features.compile.links import row_at
from dovetail.kernel import kernel, steady

Floats: TypeAlias = NDArray[Any]
Integers: TypeAlias = NDArray[Any]
Booleans: TypeAlias = NDArray[np.bool_]


class Lists(NamedTuple):
    """The inverse of an index: the items of target i are ``items[ptr[i]:ptr[i + 1]]``."""

    ptr: Integers
    items: Integers


class Rows(NamedTuple):
    """The rows of a design: the features of row r are ``feature[ptr[r]:ptr[r + 1]]``, of the same ``value`` or of 1."""

    ptr: Integers
    feature: Integers
    value: Floats


class Some(NamedTuple):
    """A few tokens of a design, the rows [tokens, slots] that they point to, and all rows and direct features."""

    tokens: Integers
    row_index: Integers
    rows: Rows
    feature_index: Integers


@kernel
def row_scores(rows: Rows, layout: Any, weight: Floats, out: Floats, lo: int, hi: int) -> None:
    """``out[r, y] = sum of value * weight`` over the features of row r. out: [R, L]."""
    ptr, label, _ = layout
    weighted = len(rows.value) > 0
    for r in range(lo, hi):
        for y in range(out.shape[1]):
            out[r, y] = 0.0
        for e in range(rows.ptr[r], rows.ptr[r + 1]):
            f = rows.feature[e]
            value = rows.value[e] if weighted else 1.0
            first = ptr[f]
            if ptr[f + 1] - first == out.shape[1]:  # all outputs, in order: several at once
                for y in range(out.shape[1]):
                    out[r, y] += value * weight[first + y]
            else:
                for p in range(first, ptr[f + 1]):
                    out[r, label[p]] += value * weight[p]


@kernel
def token_scores(
    design: Any, table: Floats, layout: Any, weight: Floats, out: Floats, origin: int, lo: int, hi: int, begin: int,
    end: int,
) -> None:  # fmt: skip
    """``out[t] = sum of table rows + sum of weights of the token's own features``, for tokens lo..hi.

    out: [N, L] of the stretch that begins with token ``origin``. The tokens are those of sentences begin..end, of which
    the first and the last may be cut. Slot by slot, so that the rows of one block stay in the cache while the tokens
    flow by. design: links, offsets, feature_index.
    """
    links, offsets, feature_index = design
    ptr, label, outputs = layout
    for t in range(lo, hi):
        for y in range(outputs):
            out[t - origin, y] = 0.0
    for k in range(len(links.source)):
        for i in range(begin, end):
            for t in range(max(lo, offsets[i]), min(hi, offsets[i + 1])):
                r = row_at(links, k, t, offsets[i], offsets[i + 1])
                if r >= 0:
                    for y in range(outputs):
                        out[t - origin, y] += table[r, y]
    for t in range(lo, hi):
        for k in range(feature_index.shape[1]):
            f = feature_index[t, k]
            if f >= 0:
                first = ptr[f]
                if ptr[f + 1] - first == outputs:
                    for y in range(outputs):
                        out[t - origin, y] += weight[first + y]
                else:
                    for p in range(first, ptr[f + 1]):
                        out[t - origin, label[p]] += weight[p]


@kernel
def row_gradients(
    links: Any, offsets: Integers, gradient: Floats, out: Floats, origin: int, behind: int, begin: int, end: int,
    lo: int, hi: int,
) -> None:  # fmt: skip
    """``out[r] = sum of gradient[t]`` over the tokens origin..behind that point to row r, for rows lo..hi.

    gradient: [N, L] of these tokens, which are those of sentences begin..end; out: [R, L]. Slot by slot, as in
    :func:`token_scores`. A thread reads all tokens of the blocks that its rows lie in, which costs less than a list of
    tokens for every row.
    """
    outputs = out.shape[1]
    for r in range(lo, hi):
        for y in range(outputs):
            out[r, y] = 0.0
    for k in range(len(links.source)):
        if links.base[k] >= hi or links.end[k] <= lo:
            continue
        for i in range(begin, end):
            for t in range(max(origin, offsets[i]), min(behind, offsets[i + 1])):
                r = row_at(links, k, t, offsets[i], offsets[i + 1])
                if lo <= r < hi:
                    for y in range(outputs):
                        out[r, y] += gradient[t - origin, y]


@kernel
def count_tokens(links: Any, offsets: Integers, count: Integers) -> None:
    """At how many tokens each row is. count: [R], added to."""
    for k in range(len(links.source)):
        for i in range(len(offsets) - 1):
            for t in range(offsets[i], offsets[i + 1]):
                r = row_at(links, k, t, offsets[i], offsets[i + 1])
                if r >= 0:
                    count[r] += 1


@steady
def feature_gradients(
    inside: Lists, value: Floats, layout: Any, row_gradient: Floats, out: Floats, lo: int, hi: int
) -> None:
    """Add to ``out`` [P], for features lo..hi, the gradient of every parameter from the rows that its feature is in."""
    ptr, label, _ = layout
    weighted = len(value) > 0
    total = np.empty(row_gradient.shape[1])
    for f in range(lo, hi):
        first, last = ptr[f], ptr[f + 1]
        rows = inside.ptr[f + 1] - inside.ptr[f]
        if rows > 0 and (weighted or (rows > 1 and last - first > 1)):
            for y in range(len(total)):
                total[y] = 0.0
            for e in range(inside.ptr[f], inside.ptr[f + 1]):
                factor = value[e] if weighted else 1.0
                for y in range(len(total)):
                    total[y] += factor * row_gradient[inside.items[e], y]
            for p in range(first, last):
                out[p] += total[label[p]]
        elif rows > 0:
            for p in range(first, last):
                sum_rows = 0.0
                for e in range(inside.ptr[f], inside.ptr[f + 1]):
                    sum_rows += row_gradient[inside.items[e], label[p]]
                out[p] += sum_rows


@steady
def direct_gradients(
    at: Lists, layout: Any, gradient: Floats, origin: int, end: int, out: Floats, lo: int, hi: int
) -> None:
    """Add to ``out`` [P], for features lo..hi, the gradient from the tokens origin..end that their features are at.

    gradient: [N, L] of these tokens. Each parameter has one sum of them, which is added at once.
    """
    ptr, label, _ = layout
    total = np.empty(gradient.shape[1])
    for f in range(lo, hi):
        low, high = at.ptr[f], at.ptr[f + 1]
        if low == high:
            continue
        low += np.searchsorted(at.items[low:high], origin)
        if low == high or at.items[low] >= end:
            continue
        first, last = ptr[f], ptr[f + 1]
        whole = last - first == len(total)
        for p in range(first, last):
            total[label[p]] = 0.0
        while low < high and at.items[low] < end:
            t = at.items[low] - origin
            if whole:
                for y in range(len(total)):
                    total[y] += gradient[t, y]
            else:
                for p in range(first, last):
                    total[label[p]] += gradient[t, label[p]]
            low += 1
        for p in range(first, last):
            out[p] += total[label[p]]


@kernel
def invert(index: Integers, size: int, ptr: Integers, items: Integers) -> None:
    """List for each target the tokens that point to it. index: [N, slots]; ptr: [size + 1]; items: [links]."""
    for t in range(index.shape[0]):
        for k in range(index.shape[1]):
            if index[t, k] >= 0:
                ptr[index[t, k] + 1] += 1
    for i in range(size):
        ptr[i + 1] += ptr[i]
    place = ptr[:-1].copy()
    for t in range(index.shape[0]):
        for k in range(index.shape[1]):
            target = index[t, k]
            if target >= 0:
                items[place[target]] = t
                place[target] += 1


@kernel
def mark_outputs(links: Any, offsets: Integers, outputs: Integers, seen: Booleans) -> None:
    """Mark in ``seen`` [R, L] the output of every token at the rows it points to; outputs: [N], -1 for none."""
    for i in range(len(offsets) - 1):
        for t in range(offsets[i], offsets[i + 1]):
            if outputs[t] >= 0:
                for k in range(len(links.source)):
                    r = row_at(links, k, t, offsets[i], offsets[i + 1])
                    if r >= 0:
                        seen[r, outputs[t]] = True


@kernel
def observed(
    inside: Lists, at: Lists, row_seen: Booleans, outputs: Integers, ptr: Integers, label: Integers, fill: bool
) -> None:
    """Which outputs each feature was seen with. Counts into ptr [F + 1] (fill False), then writes label [P] (True)."""
    seen = np.zeros(row_seen.shape[1], dtype=np.bool_)
    for f in range(len(inside.ptr) - 1):
        seen[:] = False
        for e in range(inside.ptr[f], inside.ptr[f + 1]):
            for y in range(len(seen)):
                seen[y] |= row_seen[inside.items[e], y]
        for e in range(at.ptr[f], at.ptr[f + 1]):
            if outputs[at.items[e]] >= 0:
                seen[outputs[at.items[e]]] = True
        n = ptr[f]
        for y in range(len(seen)):
            if seen[y]:
                if fill:
                    label[n] = y
                n += 1
        if not fill:
            ptr[f + 1] = n


@kernel
def list_parameters(
    some: Some, ptr: Integers, base: int, step: int, stamp: Integers, items: Integers, count: int
) -> int:
    """List the parameters that these tokens use, each once; parameter p is number base + p. Returns the new count."""
    tokens, row_index, rows, feature_index = some
    for i in range(len(tokens)):
        t = tokens[i]
        for k in range(row_index.shape[1]):
            r = row_index[i, k]
            if r >= 0:
                for e in range(rows.ptr[r], rows.ptr[r + 1]):
                    f = rows.feature[e]
                    for p in range(base + ptr[f], base + ptr[f + 1]):
                        if stamp[p] != step:
                            stamp[p] = step
                            items[count] = p
                            count += 1
        for k in range(feature_index.shape[1]):
            f = feature_index[t, k]
            if f >= 0:
                for p in range(base + ptr[f], base + ptr[f + 1]):
                    if stamp[p] != step:
                        stamp[p] = step
                        items[count] = p
                        count += 1
    return count


@kernel
def some_scores(some: Some, layout: Any, scale: Floats, base: int, weight: Floats, out: Floats) -> None:
    """Scores of a few tokens, straight from their features. out: [len(tokens), L]."""
    tokens, row_index, rows, feature_index = some
    ptr, label, _ = layout
    weighted = len(rows.value) > 0
    for i in range(len(tokens)):
        t = tokens[i]
        for y in range(out.shape[1]):
            out[i, y] = 0.0
        for k in range(row_index.shape[1]):
            r = row_index[i, k]
            if r >= 0:
                for e in range(rows.ptr[r], rows.ptr[r + 1]):
                    f = rows.feature[e]
                    value = rows.value[e] if weighted else 1.0
                    first = ptr[f]
                    if ptr[f + 1] - first == out.shape[1]:
                        for y in range(out.shape[1]):
                            out[i, y] += value * scale[first + y] * weight[base + first + y]
                    else:
                        for p in range(first, ptr[f + 1]):
                            out[i, label[p]] += value * scale[p] * weight[base + p]
        for k in range(feature_index.shape[1]):
            f = feature_index[t, k]
            if f >= 0:
                for p in range(ptr[f], ptr[f + 1]):
                    out[i, label[p]] += scale[p] * weight[base + p]


@kernel
def some_gradients(some: Some, layout: Any, scale: Floats, base: int, gradient: Floats, out: Floats) -> None:
    """Add the gradient of a few tokens' scores [len(tokens), L] to that of their parameters, out [base + P ...]."""
    tokens, row_index, rows, feature_index = some
    ptr, label, _ = layout
    weighted = len(rows.value) > 0
    for i in range(len(tokens)):
        t = tokens[i]
        for k in range(row_index.shape[1]):
            r = row_index[i, k]
            if r >= 0:
                for e in range(rows.ptr[r], rows.ptr[r + 1]):
                    f = rows.feature[e]
                    value = rows.value[e] if weighted else 1.0
                    first = ptr[f]
                    if ptr[f + 1] - first == gradient.shape[1]:
                        for y in range(gradient.shape[1]):
                            out[base + first + y] += value * scale[first + y] * gradient[i, y]
                    else:
                        for p in range(first, ptr[f + 1]):
                            out[base + p] += value * scale[p] * gradient[i, label[p]]
        for k in range(feature_index.shape[1]):
            f = feature_index[t, k]
            if f >= 0:
                for p in range(ptr[f], ptr[f + 1]):
                    out[base + p] += scale[p] * gradient[i, label[p]]
