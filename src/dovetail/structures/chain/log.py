"""Sums over one chain in log space: slow, and right however extreme the potentials are."""

from __future__ import annotations

import math

import numpy as np

from dovetail.kernel import kernel
from dovetail.structures.chain.lanes import layout, states
from dovetail.structures.chain.parts import ChainPotentials, Floats, Integers, Messages


@kernel
def log_add(a: float, b: float) -> float:
    """``log(exp(a) + exp(b))``, also where one or both are minus infinity."""
    if a < b:
        a, b = b, a
    return a if b == -np.inf else a + math.log1p(math.exp(b - a))


@kernel
def log_messages(
    potentials: ChainPotentials,
    offsets: Integers,
    sentences: Integers,
    order: int,
    log_z: Floats,
    messages: Messages,
) -> None:
    """Log Z and the logarithms of the messages of some sentences.

    log_z: [n], set; messages: rows of these sentences are set.
    """
    unary, transition, start, end, edge = potentials
    past, future, base_token = messages
    labels = unary.shape[1]
    groups, _, first_state = layout(order, labels)
    for n in sentences:
        first, last = offsets[n], offsets[n + 1]
        top = first - base_token
        for row in range(top, top + last - first):
            for s in range(past.shape[1]):
                past[row, s] = -np.inf
                future[row, s] = -np.inf
        for c in range(labels):
            past[top, first_state + c] = start[c] + unary[first, c]
        for token in range(first + 1, last):
            row = token - base_token
            low, high = states(order, labels, token - 1 - first)
            for s in range(low, high):
                base = 0 if order == 1 else s % labels * labels
                for c in range(labels):
                    step = past[row - 1, s] + transition[s, c]
                    if edge.shape[0] > 0:
                        step += edge[token, s % labels, c]
                    past[row, base + c] = log_add(past[row, base + c], step)
            for s in range(groups * labels):
                past[row, s] += unary[token, s % labels]
        log_z[n] = -np.inf
        low, high = states(order, labels, last - 1 - first)
        for s in range(low, high):
            row = last - 1 - base_token
            log_z[n] = log_add(log_z[n], past[row, s] + end[s % labels])
            future[row, s] = end[s % labels] + unary[last - 1, s % labels]
        for token in range(last - 2, first - 1, -1):
            row = token - base_token
            low, high = states(order, labels, token - first)
            for s in range(low, high):
                base = 0 if order == 1 else s % labels * labels
                for c in range(labels):
                    step = transition[s, c] + future[row + 1, base + c]
                    if edge.shape[0] > 0:
                        step += edge[token + 1, s % labels, c]
                    future[row, s] = log_add(future[row, s], step)
                future[row, s] += unary[token, s % labels]
