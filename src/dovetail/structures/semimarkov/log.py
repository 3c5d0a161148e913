"""Sums over segmentations in log space: slower, and right however extreme the potentials are."""

from __future__ import annotations

import math

import numpy as np

from dovetail.kernel import inner, kernel
from dovetail.structures.chain.parts import Floats, Integers, Labels
from dovetail.structures.chain.posterior import exp_less
from dovetail.structures.semimarkov.parts import BoundaryMessages, SemiMarkovPotentials


@inner
def log_sum(values: Floats, count: int) -> float:
    """``log(sum(exp(values[:count])))``, minus infinity of none or where all are."""
    top = -np.inf
    for i in range(count):
        top = max(top, values[i])
    if top == -np.inf:
        return top
    total = 0.0
    for i in range(count):
        total += math.exp(values[i] - top)
    return top + math.log(total)


@kernel
def log_forward_backward(
    potentials: SemiMarkovPotentials,
    lengths: Labels,
    offsets: Integers,
    sentences: Integers,
    log_z: Floats,
    expected: SemiMarkovPotentials,
    messages: BoundaryMessages,
) -> None:
    """Log Z, expected counts and the logarithms of the messages of some sentences, none of them empty.

    As :func:`~dovetail.structures.semimarkov.sums.forward_backward`, which see.
    """
    segment, transition, start, end = potentials
    _, longest, labels = segment.shape
    ordered = transition.shape[0] > 0
    most = 0
    for n in sentences:
        most = max(most, offsets[n + 1] - offsets[n])
    begin = np.empty((most + 1, labels))
    arrive = np.empty((most + 1, labels))
    leave = np.empty((most + 1, labels))
    depart = np.empty((most + 1, labels))
    terms = np.empty(max(longest, labels))
    for n in sentences:
        first, tokens = offsets[n], offsets[n + 1] - offsets[n]
        for y in range(labels):
            begin[0, y] = start[y]
            arrive[0, y] = -np.inf
            leave[tokens, y] = end[y]
        for e in range(1, tokens + 1):
            for y in range(labels):
                reach = min(longest, lengths[y], e)
                for d in range(reach):
                    terms[d] = begin[e - 1 - d, y] + segment[first + e - 1 - d, d, y]
                arrive[e, y] = log_sum(terms, reach)
            for y in range(labels if e < tokens else 0):
                for b in range(labels):
                    terms[b] = arrive[e, b] + (transition[b, y] if ordered else 0.0)
                begin[e, y] = log_sum(terms, labels)
        for y in range(labels):
            terms[y] = arrive[tokens, y] + end[y]
        log_z[n] = log_sum(terms, labels)
        if expected.segment.shape[0] == 0:
            continue
        for y in range(labels):
            expected.end[y] += exp_less(terms[y], log_z[n])
        for s in range(tokens - 1, -1, -1):
            for y in range(labels):
                reach = min(longest, lengths[y], tokens - s)
                for d in range(reach):
                    terms[d] = segment[first + s, d, y] + leave[s + d + 1, y]
                depart[s, y] = log_sum(terms, reach)
                for d in range(longest):
                    value = begin[s, y] + terms[d] if d < reach else -np.inf
                    expected.segment[first + s, d, y] = exp_less(value, log_z[n])
            for b in range(labels if s > 0 else 0):
                for y in range(labels):
                    terms[y] = depart[s, y] + (transition[b, y] if ordered else 0.0)
                    if ordered:
                        expected.transition[b, y] += exp_less(arrive[s, b] + terms[y], log_z[n])
                leave[s, b] = log_sum(terms, labels)
        for y in range(labels):
            expected.start[y] += exp_less(start[y] + depart[0, y], log_z[n])
        if messages.arrive.shape[0] > 0:
            for s in range(tokens):
                for y in range(labels):
                    messages.arrive[first + s - messages.base, y] = arrive[s, y]
                    messages.depart[first + s - messages.base, y] = depart[s, y]
