"""The arrays that a batch of chains is made of, in log space and as probabilities."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]
Labels: TypeAlias = NDArray[np.int32]
Booleans: TypeAlias = NDArray[np.bool_]

# Weights below exp(LOG_FLOOR) are left to log space: a product of four others cannot underflow.
LOG_FLOOR = -160.0
NONE = -1
"""The label of every token of a sentence that has no allowed labelling."""


class ChainPotentials(NamedTuple):
    """One number for every part of a batch of chains with N tokens, L labels and S states.

    As potentials, a labelling ``y`` of a sentence has the score ``start[y[0]] + sum_t unary[t, y[t]] +
    end[y[-1]] + sum_{t>0} (transition[s[t-1], y[t]] + edge[t, y[t-1], y[t]])``, where the state ``s[t]``
    is ``y[t]`` in a chain of order 1, and in a chain of order 2 ``y[t-1] * L + y[t]``, at the first token
    ``L * L + y[0]``. As marginals, each entry is the expected count of its part.
    """

    unary: Floats
    """``[N, L]``: token t has label c."""
    transition: Floats
    """``[S, L]``: state s is followed by label c; S is L in order 1 and L * L + L in order 2."""
    start: Floats
    """``[L]``: the first label."""
    end: Floats
    """``[L]``: the last label."""
    edge: Floats
    """``[N, L, L]``: labels b, c at tokens t - 1, t, unless t is first; ``[0, L, L]`` when absent."""

    @classmethod
    def of(
        cls,
        unary: ArrayLike,
        transition: ArrayLike,
        start: ArrayLike | None = None,
        end: ArrayLike | None = None,
        edge: ArrayLike | None = None,
    ) -> ChainPotentials:
        """Potentials from whatever is like arrays; start and end are zero and edge is absent unless given."""
        table = np.asarray(unary, np.float64)
        labels = table.shape[-1] if table.ndim else 0
        return cls(
            table,
            np.asarray(transition, np.float64),
            np.zeros(labels) if start is None else np.asarray(start, np.float64),
            np.zeros(labels) if end is None else np.asarray(end, np.float64),
            np.zeros((0, labels, labels)) if edge is None else np.asarray(edge, np.float64),
        )


class ChainWeights(NamedTuple):
    """The shared potentials as probabilities: ``exp(potential - largest potential of its table)``."""

    departures: Floats
    """``[S + 1, L]``: transition weights by state left; the last row is spare."""
    arrivals: Floats
    """``[S + 1, predecessors]``: the same weights by state entered; rows that are no such state are zero."""
    start: Floats
    """``[L]``."""
    end: Floats
    """``[L]``."""
    once: float
    """What the weights of start and end leave out of a sentence's log Z."""
    each: float
    """What the weights of one transition leave out of a sentence's log Z."""
    safe: bool
    """Whether no weight is so small that products could underflow."""


def weigh(potentials: ChainPotentials, order: int) -> ChainWeights:
    """The weights of the transition, start and end potentials."""
    transition, each, safe_transition = _scale(potentials.transition)
    start, first, safe_start = _scale(potentials.start)
    end, last, safe_end = _scale(potentials.end)
    states, labels = transition.shape
    departures = np.zeros((states + 1, labels))
    departures[:states] = transition
    # In both orders, row i * groups + g of transition is predecessor i of the states entered in group g.
    groups = 1 if order == 1 else labels
    arrivals = np.zeros((states + 1, states // groups))
    by_group = transition.reshape(-1, groups, labels).transpose(1, 2, 0)
    arrivals[: groups * labels] = by_group.reshape(groups * labels, -1)
    safe = safe_transition and safe_start and safe_end
    return ChainWeights(departures, arrivals, start, end, first + last, each, safe)


def _scale(table: Floats) -> tuple[Floats, float, bool]:
    largest = float(table.max(initial=-np.inf))
    shift = largest if np.isfinite(largest) else 0.0
    shifted = table - shift
    return np.exp(shifted), shift, not ((shifted < LOG_FLOOR) & (shifted > -np.inf)).any()


class Messages(NamedTuple):
    """What the past and the future say of every state at every token of a shard."""

    forward: Floats
    """``[M, S]``: the weight of all labellings up to token t that end in state s, including token t."""
    backward: Floats
    """``[M, S]``: the weight of all labellings from token t on that begin in state s, including token t."""
    base: int
    """The token of the batch that is row 0."""


class Posterior(NamedTuple):
    """All that is needed to give any probability of a shard of sentences as a product.

    ``P(state s at t-1, label c at t) = forward[t-1, s] * departures[s, c] * edge weight * backward[t,
    base(s) + c]`` and ``P(label c first) = start[c] * backward[first token, first state + c]``. In a
    ``logged`` sentence the messages are logarithms, and the same holds for sums of log potentials less
    the sentence's log Z.
    """

    potentials: ChainPotentials
    weights: ChainWeights
    messages: Messages
    order: int
    offsets: Integers
    """``[n + 1]``: the tokens of sentence i are offsets[i] .. offsets[i + 1]."""
    log_z: Floats
    """``[n]``."""
    logged: Booleans
    """``[n]``: kept as logarithms because probabilities would underflow."""


class PathQueries(NamedTuple):
    """Stretches of tokens and the labels they may take; see :meth:`ChainBatch.path_probabilities`."""

    sentence: Integers
    """``[Q]``: the sentence."""
    token: Integers
    """``[Q]``: the first token, counted over the batch."""
    offsets: Integers
    """``[Q + 1]``: where the labels of each query lie."""
    labels: Labels
    """``[offsets[-1]]``: the labels of the path."""
    not_before: Booleans
    """``[Q, L]``: labels that the token before must not have."""
    not_after: Booleans
    """``[Q, L]``: labels that the token after must not have."""
