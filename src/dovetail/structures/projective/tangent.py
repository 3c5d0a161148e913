"""How the probabilities of parts move with the potentials: covariances with a direction, in one more pass.

With D the total of the direction over the parts of a tree, ``rise`` of an entry of a chart is its expected D: the
derivative of its logarithm. A way of making the entry that has the share p of it moves by ``p * (rise of the way -
rise of the entry)``, and so probabilities can be passed down together with their derivatives.
"""

from __future__ import annotations

import numpy as np

from dovetail.kernel import kernel
from dovetail.structures.projective.parts import LEFT, RIGHT, Places, ProjectivePotentials
from dovetail.structures.projective.sums import fill, inc_terms, make_charts, shares, trap_terms


@kernel
def tangents(
    potentials: ProjectivePotentials, places: Places, several: bool, low: int, high: int,
    direction: ProjectivePotentials, out: ProjectivePotentials,
) -> None:  # fmt: skip
    """The derivative of the probabilities of sentences low .. high along a direction; out: zero, set."""
    charts = make_charts(places, low, high)
    most = charts.trap.shape[0]
    r_inc, r_comp, r_trap = np.zeros((most, most + 1)), np.zeros((most, most + 1)), np.zeros((most, most))
    p_inc, p_comp, p_trap = np.zeros((most, most + 1)), np.zeros((most, most + 1)), np.zeros((most, most))
    d_inc, d_comp, d_trap = np.zeros((most, most + 1)), np.zeros((most, most + 1)), np.zeros((most, most))
    for n in range(low, high):
        m = places.words[n + 1] - places.words[n] + 1
        first, row = places.words[n] + n, places.arcs[n]
        attach, along = potentials.attach[row : row + m * m], direction.attach[row : row + m * m]
        ends = direction.stop[first : first + m]
        attached, stopped = out.attach[row : row + m * m], out.stop[first : first + m]
        if fill(attach, potentials.stop[first : first + m], several, True, charts) == -np.inf or m == 1:
            continue
        for chart in (p_inc, p_comp, d_inc, d_comp):
            chart[:m, : m + 1] = 0.0
        p_trap[:m, :m] = 0.0
        d_trap[:m, :m] = 0.0
        for h in range(m):
            for side in range(2):
                r_inc[h, h + side] = 0.0
                r_comp[h, h + side] = ends[h, side, 0]
        for length in range(1, m):
            for i in range(m - length):
                for side in range(2):
                    if i == 0 and side == LEFT:
                        continue
                    h, d = (i, i + length) if side == RIGHT else (i + length, i)
                    b = d + side
                    count, least = trap_terms(attach, m, several, h, d, charts), min(h, d) + 1
                    near = 0 if side == RIGHT else count - 1
                    shares(charts.terms, count, charts.trap[h, d])
                    rise = 0.0
                    for k in range(count):
                        own = along[h * m + d, 1 if k == near else 0]
                        rise += charts.terms[k] * (own + r_inc[h, least + k] + r_comp[d, least + k])
                    r_trap[h, d] = rise
                    count, least = inc_terms(h, b, charts), min(h + 1, b)
                    shares(charts.terms, count, charts.inc[h, b])
                    rise = 0.0
                    for k in range(count):
                        rise += charts.terms[k] * (r_trap[h, least + k] + r_comp[least + k, b])
                    r_inc[h, b] = rise
                    r_comp[h, b] = rise + ends[h, side, 1]
        p_comp[0, m] = 1.0
        for length in range(m - 1, 0, -1):
            for i in range(m - length):
                for side in range(2):
                    if i == 0 and side == LEFT:
                        continue
                    h, d = (i, i + length) if side == RIGHT else (i + length, i)
                    b = d + side
                    stopped[h, side, 1] += d_comp[h, b]
                    p, change = p_inc[h, b] + p_comp[h, b], d_inc[h, b] + d_comp[h, b]
                    count, least = inc_terms(h, b, charts), min(h + 1, b)
                    shares(charts.terms, count, charts.inc[h, b])
                    for k in range(count):
                        share = charts.terms[k]
                        more = r_trap[h, least + k] + r_comp[least + k, b] - r_inc[h, b]
                        moved = change * share + p * share * more
                        p_trap[h, least + k] += p * share
                        p_comp[least + k, b] += p * share
                        d_trap[h, least + k] += moved
                        d_comp[least + k, b] += moved
                    p, change = p_trap[h, d], d_trap[h, d]
                    count, least = trap_terms(attach, m, several, h, d, charts), min(h, d) + 1
                    near = 0 if side == RIGHT else count - 1
                    shares(charts.terms, count, charts.trap[h, d])
                    for k in range(count):
                        share, place = charts.terms[k], 1 if k == near else 0
                        more = along[h * m + d, place] + r_inc[h, least + k] + r_comp[d, least + k] - r_trap[h, d]
                        moved = change * share + p * share * more
                        attached[h * m + d, place] += moved
                        p_inc[h, least + k] += p * share
                        p_comp[d, least + k] += p * share
                        d_inc[h, least + k] += moved
                        d_comp[d, least + k] += moved
        for h in range(m):
            for side in range(2):
                if h > 0 or side == RIGHT:
                    stopped[h, side, 0] = d_comp[h, h + side]
