"""What follows from full charts of sums: samples, and how probabilities move with the potentials."""

from __future__ import annotations

import numpy as np

from dovetail.kernel import steady, steady_inner
from dovetail.structures.brackets.sums import fill, make_chart, split_shares, weigh
from dovetail.structures.contract import Floats, Integers
from dovetail.structures.grammar import cell
from dovetail.structures.loops import draw, most_tokens


@steady_inner
def drawn(shares: Floats, count: int, uniform: float) -> int:
    """One of the first shares, which add up to 1, drawn by a uniform number."""
    left, chosen = uniform, 0
    for k in range(count):
        if shares[k] > 0.0:
            chosen = k
            left -= shares[k]
            if left < 0.0:
                break
    return chosen


@steady
def samples(
    table: Floats, offsets: Integers, rows: Integers, places: Integers, low: int, high: int, uniforms: Floats,
    log_z: Floats, out: Integers,
) -> None:  # fmt: skip
    """Bracketings drawn from the exact distribution of each sentence low .. high; of an impossible one none.

    uniforms: [samples, N, 3], three numbers for every word; log_z: [n], set; out: [samples, 3, spans], set.
    """
    chart, most = make_chart(offsets, low, high), most_tokens(offsets, low, high)
    shares = np.empty((most * (most + 1) // 2, table.shape[1]))
    stack = np.empty((2 * most + 2, 2), np.int64)
    for s in range(low, high):
        n = offsets[s + 1] - offsets[s]
        own = shares[: rows[s + 1] - rows[s]]
        weigh(table[rows[s] : rows[s + 1]], chart, own)
        log_z[s] = fill(n, chart)
        if n == 0 or log_z[s] == -np.inf:
            continue
        for number in range(uniforms.shape[0]):
            place, word = places[s], offsets[s]
            stack[0, 0], stack[0, 1] = 0, n
            waiting = 1
            while waiting > 0:
                waiting -= 1
                i, j = stack[waiting]
                # A word's own label takes the first number; a split is known by its word, which has two more.
                k = i
                if j - i > 1:
                    word += 1
                    k = i + 1 + drawn(chart.terms, split_shares(i, j, chart), uniforms[number, word, 1])
                    stack[waiting, 0], stack[waiting, 1] = k, j
                    stack[waiting + 1, 0], stack[waiting + 1, 1] = i, k
                    waiting += 2
                    uniform = uniforms[number, word, 2]
                else:
                    uniform = uniforms[number, offsets[s] + i, 0]
                out[number, 0, place], out[number, 1, place] = i, j
                out[number, 2, place] = draw(own, cell(i, j, n), uniform)
                place += 1


@steady
def tangents(
    table: Floats, offsets: Integers, rows: Integers, low: int, high: int, direction: Floats, out: Floats
) -> None:
    """The derivative of the probabilities of each sentence low .. high along a direction [C, L]; out: zero, set.

    ``rise`` of a span is the total of the direction that is expected in it: the derivative of the logarithm of its sum.
    A split that has the share p of a span moves by p times its own rise less that of the span.
    """
    chart, most = make_chart(offsets, low, high), most_tokens(offsets, low, high)
    rise, mean = np.zeros((most, most + 1)), np.zeros((most, most + 1))
    reach, moved = np.zeros((most, most + 1)), np.zeros((most, most + 1))
    shares = np.empty((most * (most + 1) // 2, table.shape[1]))
    for s in range(low, high):
        n = offsets[s + 1] - offsets[s]
        own, along, change = shares[: rows[s + 1] - rows[s]], direction[rows[s] : rows[s + 1]], out[rows[s] :]
        weigh(table[rows[s] : rows[s + 1]], chart, own)
        if n == 0 or fill(n, chart) == -np.inf:
            continue
        for length in range(1, n + 1):
            for i in range(n - length + 1):
                j, c = i + length, cell(i, i + length, n)
                rise[i, j] = mean[i, j] = reach[i, j] = moved[i, j] = 0.0
                if chart.inside[i, j] == 0.0:
                    continue
                for x in range(own.shape[1]):
                    mean[i, j] += own[c, x] * along[c, x]
                rise[i, j] = mean[i, j]
                if length > 1:
                    split_shares(i, j, chart)
                    for k in range(i + 1, j):
                        rise[i, j] += chart.terms[k - i - 1] * (rise[i, k] + rise[k, j])
        reach[0, n] = 1.0
        for length in range(n, 0, -1):
            for i in range(n - length + 1):
                j, c = i + length, cell(i, i + length, n)
                p, d = reach[i, j], moved[i, j]
                if p == 0.0 and d == 0.0:
                    continue
                for x in range(own.shape[1]):
                    change[c, x] = own[c, x] * (d + p * (along[c, x] - mean[i, j]))
                if length > 1:
                    split_shares(i, j, chart)
                    within = rise[i, j] - mean[i, j]
                    for k in range(i + 1, j):
                        share = chart.terms[k - i - 1]
                        more = share * (d + p * (rise[i, k] + rise[k, j] - within))
                        reach[i, k] += p * share
                        reach[k, j] += p * share
                        moved[i, k] += more
                        moved[k, j] += more
