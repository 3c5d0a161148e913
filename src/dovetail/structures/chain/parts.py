"""The arrays that a batch of chains is made of, how states are numbered, and complaints where arrays do not fit.

States, in both orders: ``label(s) = s % L``; from state ``s`` label ``c`` leads to state ``base(s) + c``. Order 1:
``s = y[t]``, ``base = 0``. Order 2: ``s = y[t-1] * L + y[t]``, ``base = label(s) * L``, and the first position enters
the states ``L * L + y[0]``. So the states entered come in ``groups`` of L that share their predecessors, which lie
``stride`` apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dovetail.errors import InputError
from dovetail.kernel import inner
from dovetail.structures.contract import Booleans, Floats, Integers, Labels
from dovetail.structures.lanes import as_weights
from dovetail.structures.ragged import contiguous

NONE = -1
"""The label of every token of a sentence that has no allowed labelling."""


class ChainPotentials(NamedTuple):
    """One number for every part of a batch of chains with N tokens, L labels and S states.

    As potentials, a labelling ``y`` of a sentence has the score ``start[y[0]] + sum_t unary[t, y[t]] +
    end[y[-1]] + sum_{t>0} (transition[s[t-1], y[t]] + edge[t, y[t-1], y[t]])``, where the state ``s[t]``
    is ``y[t]`` in a chain of order 1, and in a chain of order 2 ``y[t-1] * L + y[t]``, at the first token
    ``L * L + y[0]``. As marginals, each entry is the expected count of its part.
    """

    unary: Floats  # [N, L]: token t has label c
    transition: Floats  # [S, L]: state s is followed by label c; S is L in order 1 and L * L + L in order 2
    start: Floats  # [L]: the first label
    end: Floats  # [L]: the last label
    edge: Floats  # [N, L, L]: labels b, c at tokens t - 1, t, unless t is first; ``[0, L, L]`` when absent

    @classmethod
    def of(
        cls, unary: ArrayLike, transition: ArrayLike, start: ArrayLike | None = None, end: ArrayLike | None = None,
        edge: ArrayLike | None = None,
    ) -> ChainPotentials:  # fmt: skip
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

    departures: Floats  # [S + 1, L]: transition weights by state left; the last row is spare
    arrivals: Floats  # [S + 1, predecessors]: the same weights by state entered; rows that are no such state are zero
    start: Floats  # [L]
    end: Floats  # [L]
    once: float  # What the weights of start and end leave out of a sentence's log Z
    each: float  # What the weights of one transition leave out of a sentence's log Z
    safe: bool  # Whether no weight is so small that products could underflow


def weigh(potentials: ChainPotentials, order: int) -> ChainWeights:
    """The weights of the transition, start and end potentials."""
    transition, each, safe_transition = as_weights(potentials.transition)
    start, first, safe_start = as_weights(potentials.start)
    end, last, safe_end = as_weights(potentials.end)
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


class Messages(NamedTuple):
    """What the past and the future say of every state at every token of a shard."""

    forward: Floats  # [M, S]: the weight of all labellings up to token t that end in state s, including token t
    backward: Floats  # [M, S]: the weight of all labellings from token t on that begin in state s, including token t
    base: int  # The token of the batch that is row 0


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
    offsets: Integers  # [n + 1]: the tokens of sentence i are offsets[i] .. offsets[i + 1]
    log_z: Floats  # [n]
    logged: Booleans  # [n]: kept as logarithms because probabilities would underflow


class PathQueries(NamedTuple):
    """Stretches of tokens and the labels they may take; see :meth:`ChainBatch.path_probabilities`."""

    sentence: Integers  # [Q]: the sentence
    token: Integers  # [Q]: the first token, counted over the batch
    offsets: Integers  # [Q + 1]: where the labels of each query lie
    labels: Labels  # [offsets[-1]]: the labels of the path
    not_before: Booleans  # [Q, L]: labels that the token before must not have
    not_after: Booleans  # [Q, L]: labels that the token after must not have


@inner
def layout(order: int, labels: int) -> tuple[int, int, int]:
    """How states are numbered: groups of states entered, stride of their predecessors, first start state."""
    if order == 1:
        return 1, 1, 0
    return labels, labels, labels * labels


@inner
def predecessors(order: int, labels: int, t: int) -> tuple[int, int]:
    """The predecessors of a group that can be occupied before t: ``group + i * stride`` for i in a range."""
    if order == 1:
        return 0, labels
    return (labels, labels + 1) if t == 1 else (0, labels)


@inner
def states(order: int, labels: int, t: int) -> tuple[int, int]:
    """The range of states that can be occupied at position t."""
    if order == 1:
        return 0, labels
    return (labels * labels, labels * labels + labels) if t == 0 else (0, labels * labels)


def check_potentials(potentials: ChainPotentials, order: int) -> ChainPotentials:
    """The potentials as contiguous arrays, or an error that says what is wrong with them."""
    if order not in (1, 2):
        raise InputError(f"order is {order}, expected 1 or 2 (independent labels: 1, with transitions of zero)")
    arrays = contiguous(potentials)
    if arrays.unary.ndim != 2 or arrays.unary.shape[1] == 0:
        raise InputError(f"unary has shape {arrays.unary.shape}, expected (tokens, labels)")
    tokens, labels = arrays.unary.shape
    states = labels if order == 1 else labels * labels + labels
    edges = tokens if arrays.edge.size else 0
    shapes = ((tokens, labels), (states, labels), (labels,), (labels,), (edges, labels, labels))
    for name, part, shape in zip(arrays._fields, arrays, shapes, strict=True):
        if part.shape != shape:
            raise InputError(f"{name} has shape {part.shape}, expected {shape} in order {order}")
    return arrays


def check_labels(labels: ArrayLike, offsets: Integers, count: int) -> Labels:
    """Labels as an array, one for each token: [tokens]; -1 throughout a sentence that has none."""
    given = np.ascontiguousarray(labels, np.int32)
    if given.shape != (offsets[-1],):
        raise InputError(f"labels have shape {given.shape}, expected ({offsets[-1]},)")
    if not given.size or (given.min() >= 0 and given.max() < count):
        return given
    none = np.add.reduceat(given == NONE, offsets[:-1][np.diff(offsets) > 0])
    if given.min() < NONE or given.max() >= count or (none * (np.diff(offsets)[np.diff(offsets) > 0] - none)).any():
        raise InputError(f"labels must be from 0 to {count - 1}, or all -1 in a sentence that has none")
    return given


def check_queries(
    sentence: ArrayLike, start: ArrayLike, paths: Sequence[Sequence[int]],
    masks: tuple[ArrayLike | None, ArrayLike | None], order: Integers, offsets: Integers, labels: int,
) -> PathQueries:  # fmt: skip
    """The queries of :meth:`ChainBatch.path_probabilities` as arrays, in the given order."""
    sentences = np.asarray(sentence, np.int64)[order]
    starts = np.asarray(start, np.int64)[order]
    lengths = np.array([len(paths[q]) for q in order], np.int64)
    if order.size and (sentences[0] < 0 or sentences[-1] >= len(offsets) - 1):
        raise InputError(f"sentences must be from 0 to {len(offsets) - 2}")
    ends = np.diff(offsets)[sentences]
    if (lengths == 0).any() or (starts < 0).any() or (starts + lengths > ends).any():
        raise InputError("a path must have a label at least and lie within its sentence")
    not_before, not_after = (
        np.zeros((len(order), labels), bool) if mask is None else np.asarray(mask, bool)[order] for mask in masks
    )
    if not not_before.shape == not_after.shape == (len(order), labels):
        raise InputError(f"not_before and not_after must have shape ({len(order)}, {labels})")
    flat = [label for q in order for label in paths[q]]
    ends, known = np.cumsum([0, *lengths]), check_labels(flat, np.arange(len(flat) + 1), labels)
    return PathQueries(sentences, offsets[sentences] + starts, ends, known, not_before, not_after)
