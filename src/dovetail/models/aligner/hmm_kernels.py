"""The hidden Markov model of word alignment of one pair of sentences, summed exactly.

Target word j comes from source word ``a`` or from none, and remembers in that case where the last link was: 2n states,
``a < n`` for a link and ``n + a`` for none after a link to ``a`` (Och and Ney 2003). With q the chance of no word::

    P(a | a') = (1 - q) J(a - a')         P(none after a' | a') = q

J sums to one over all jumps, also those that would leave the sentence: so expectation maximisation has its new J in
closed form, and the likelihood, of which that loses a share, never falls. At the beginning all words are as likely, and
so is where a word of no source remembers.
"""

from __future__ import annotations

import numpy as np

from dovetail.arrays import Floats
from dovetail.kernel import kernel


@kernel
def transitions(length: int, jump: Floats, null: float) -> Floats:
    """P(state | state before) of a source of so many words: [2n, 2n], from ``jump`` [2 reach + 1]."""
    reach = len(jump) // 2
    found = np.zeros((2 * length, 2 * length))
    for before in range(length):
        for a in range(length):
            found[before, a] = (1.0 - null) * jump[min(max(a - before, -reach), reach) + reach]
            found[length + before, a] = found[before, a]
        found[before, length + before] = null
        found[length + before, length + before] = null
    return found


@kernel
def posteriors(emission: Floats, moves: Floats, null: float) -> tuple[float, Floats, Floats]:
    """The log likelihood, the chance of each state at each word [m, 2n], and the expected moves [2n, 2n].

    ``emission`` [m, 2n] is P(word j | state), ``moves`` [2n, 2n] are `transitions`.
    """
    words, states = emission.shape
    n = states // 2
    forward, scale = np.zeros((words, states)), np.zeros(words)
    for j in range(words):
        for s in range(states):
            if j == 0:
                forward[j, s] = (null if s >= n else 1.0 - null) / n * emission[j, s]
            else:
                total = 0.0
                for b in range(states):
                    total += forward[j - 1, b] * moves[b, s]
                forward[j, s] = total * emission[j, s]
            scale[j] += forward[j, s]
        for s in range(states):
            forward[j, s] /= scale[j]
    backward = np.ones((words, states))
    expected = np.zeros((states, states))
    for j in range(words - 1, 0, -1):
        for b in range(states):
            total = 0.0
            for s in range(states):
                step = moves[b, s] * emission[j, s] * backward[j, s] / scale[j]
                expected[b, s] += forward[j - 1, b] * step
                total += step
            backward[j - 1, b] = total
    return np.log(scale).sum(), forward * backward, expected


@kernel
def add_jumps(expected: Floats, jump: Floats) -> None:
    """Add the expected moves [2n, 2n] between links to ``jump`` [2 reach + 1], by how far they are."""
    n, reach = expected.shape[0] // 2, len(jump) // 2
    for before in range(n):
        for a in range(n):
            jump[min(max(a - before, -reach), reach) + reach] += expected[before, a] + expected[n + before, a]
