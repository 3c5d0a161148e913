"""The derivations of structures whose answers are listed as hypergraphs, for other uses or only here: chains."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dovetail.structures.contract import Integers
from dovetail.structures.derivations.weighed import NONE, Derivations, check_edges, empty
from dovetail.structures.grammar.parts import cells
from dovetail.structures.hypergraph import Graphed, Hypergraph

if TYPE_CHECKING:
    from dovetail.structures.chain import ChainBatch
    from dovetail.structures.ruled import RuledBatch


def graphed(batch: Graphed[Any, Any, Any], sentence: int, most: int | None = None) -> Derivations:
    """The answers to a sentence of any structure that lists the edges of its hypergraph."""
    if not np.diff(batch.offsets)[sentence]:
        return empty()
    check_edges(batch._edges(sentence), most)
    return Derivations.weighed(batch._hypergraph(sentence), batch, sentence)


def chain(batch: ChainBatch, sentence: int, most: int | None = None) -> Derivations:
    """The labellings of a sentence: an item for every state at every token, an edge for every step between them."""
    n, size, order = int(np.diff(batch.offsets)[sentence]), batch.labels, batch.order
    if n == 0:
        return empty()
    check_edges((n - 1) * size ** (order + 1), most)
    states, label = len(batch.potentials.transition), np.arange(size)
    transition = n * size
    start = transition + states * size
    end = start + size
    edge = end + size
    begin, root = 0 if order == 1 else size * size, 1 + n * states  # states of the first token begin there
    kinds: list[tuple[Any, ...]] = [(1 + begin + label, 0, 0, label, start + label)]
    for low, high, before in _steps(n, size, order):
        t, s, c = np.ix_(np.arange(low, high), before, label)
        made = 1 + t * states + (0 if order == 1 else s % size * size) + c
        own = edge + (t * size + s % size) * size + c if len(batch.potentials.edge) else -1
        kinds.append((made, 1 + (t - 1) * states + s, 0, t * size + c, transition + s * size + c, own))
    last = np.arange(begin, states) if n == 1 else np.arange(size**order)
    kinds.append((root, 1 + (n - 1) * states + last, 0, -1, end + last % size))
    return Derivations.weighed(Hypergraph.of(root + 1, kinds), batch, sentence)


def ruled(batch: RuledBatch, sentence: int, most: int | None = None) -> Derivations:
    """The bracketings of a sentence: an item for every label of every span, an edge for every rule at every split."""
    n, size = int(np.diff(batch.offsets)[sentence]), batch.labels
    if n == 0:
        return empty()
    check_edges(n * (n * n - 1) // 6 * size**3 + n * size, most)
    first = int(batch.rows[sentence])
    span, rule = batch.potentials.span[first : int(batch.rows[sentence + 1])], batch.potentials.rule
    i, k, j = (each.ravel() for each in np.indices((n + 1,) * 3))
    split = (i < k) & (k < j)
    i, k, j = (each[split, None, None, None] for each in (i, k, j))
    x, a, b = (each[None] for each in np.indices((size,) * 3))
    word, label = np.arange(n)[:, None], np.arange(size)
    leaf = (cells(n, word, word + 1) * size + label).ravel()
    whole = (cells(n, i, j) * size + x).ravel()
    root, none = len(span) * size, np.full(len(leaf), NONE)
    top = int(cells(n, 0, n)) * size + label
    own = np.concatenate([leaf, whole])
    begin, end = np.triu_indices(n)
    return Derivations.of(
        np.append(np.repeat(end - begin, size), n),
        np.concatenate([own, np.full(size, root)]),
        (
            np.concatenate([none, (cells(n, i, k) * size + a).ravel(), top]),
            np.concatenate([none, (cells(n, k, j) * size + b).ravel(), np.full(size, NONE)]),
        ),
        np.concatenate([span.ravel()[leaf], (span.ravel()[whole] + (rule[x, a, b] + 0.0 * i).ravel()), np.zeros(size)]),
        {"span": (np.arange(len(own)), first * size + own)},
    )


def _steps(n: int, labels: int, order: int) -> list[tuple[int, int, Integers]]:
    """Tokens from, up to, and the states that the token before them may have."""
    if order == 1:
        return [(1, n, np.arange(labels))]
    return [(1, min(n, 2), np.arange(labels**2, labels**2 + labels)), (2, n, np.arange(labels**2))]
