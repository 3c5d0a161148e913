"""The hypergraphs of chains and of segmentations: their derivations are paths."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dovetail.structures.contract import Integers
from dovetail.structures.derivations.hypergraph import NONE, Hypergraph, check_edges, empty

if TYPE_CHECKING:
    from dovetail.structures.chain import ChainBatch
    from dovetail.structures.semimarkov import SemiMarkovBatch


def chain(batch: ChainBatch, sentence: int, most: int | None = None) -> Hypergraph:
    """The labellings of a sentence: an item for every state at every token, an edge for every step between them."""
    first, after = batch.offsets[sentence : sentence + 2].tolist()
    n, size, order, p = after - first, batch.labels, batch.order, batch.potentials
    if n == 0:
        return empty()
    check_edges((n - 1) * size ** (order + 1), most)
    states = len(p.transition)
    root, begin = n * states, 0 if order == 1 else size * size  # states of the first token begin there
    label = np.arange(size)
    heads, tails = [begin + label], [np.full(size, NONE)]
    weights, used = [p.start + p.unary[first]], [first * size + label]
    for low, high, before in _steps(n, size, order):
        t, s, c = (each.ravel() for each in np.meshgrid(np.arange(low, high), before, label, indexing="ij"))
        heads.append(t * states + (0 if order == 1 else s % size * size) + c)
        tails.append((t - 1) * states + s)
        weight = p.unary[first + t, c] + p.transition[s, c]
        weights.append(weight + p.edge[first + t, s % size, c] if len(p.edge) else weight)
        used.append((first + t) * size + c)
    last = np.arange(begin, states) if n == 1 else np.arange(0, size**order)
    uses = np.concatenate(used)
    heads.append(np.full(len(last), root))
    tails.append((n - 1) * states + last)
    weights.append(p.end[last % size])
    tail = np.concatenate(tails)
    return Hypergraph.of(
        np.arange(root + 1),
        np.concatenate(heads),
        (tail, np.full(len(tail), NONE)),
        np.concatenate(weights),
        {"unary": (np.arange(len(uses)), uses)},
    )


def _steps(n: int, labels: int, order: int) -> list[tuple[int, int, Integers]]:
    """Tokens from, up to, and the states that the token before them may have."""
    if order == 1:
        return [(1, n, np.arange(labels))]
    return [(1, min(n, 2), np.arange(labels**2, labels**2 + labels)), (2, n, np.arange(labels**2))]


def semimarkov(batch: SemiMarkovBatch, sentence: int, most: int | None = None) -> Hypergraph:
    """The segmentations of a sentence. Items at a boundary: a segment of a label ends; any does; one begins.

    So an edge is a segment, or a pair of labels at a boundary; the second kind of item is for labels that are
    independent, so that there are no pairs.
    """
    first, after = batch.offsets[sentence : sentence + 2].tolist()
    n, size, p = after - first, batch.labels, batch.potentials
    if n == 0:
        return empty()
    longest = np.minimum(np.asarray(batch.lengths), batch.longest)
    check_edges(n * int(longest.clip(max=n).sum()) + n * size * (size if p.transition.size else 2), most)
    width = 2 * size + 1
    root, label, inner = (n + 1) * width, np.arange(size), np.arange(1, n)
    t, d, y = (each.ravel() for each in np.meshgrid(np.arange(n), np.arange(batch.longest), label, indexing="ij"))
    real = (t + d < n) & (d < longest[y])
    t, d, y = t[real], d[real], y[real]
    uses = np.arange(len(t)), ((first + t) * batch.longest + d) * size + y
    heads, tails = [(t + d + 1) * width + y], [t * width + size + 1 + y]
    weights = [p.segment[first + t, d, y]]
    heads += [size + 1 + label, np.full(size, root)]
    tails += [np.full(size, NONE), n * width + label]
    weights += [p.start, p.end]
    if p.transition.size:
        b, x, y = (each.ravel() for each in np.meshgrid(inner, label, label, indexing="ij"))
        heads.append(b * width + size + 1 + y)
        tails.append(b * width + x)
        weights.append(p.transition[x, y])
    else:
        b, y = (each.ravel() for each in np.meshgrid(inner, label, indexing="ij"))
        heads += [b * width + size, b * width + size + 1 + y]
        tails += [b * width + y, b * width + size]
        weights += [np.zeros(len(b)), np.zeros(len(b))]
    tail = np.concatenate(tails)
    return Hypergraph.of(
        np.arange(root + 1),
        np.concatenate(heads),
        (tail, np.full(len(tail), NONE)),
        np.concatenate(weights),
        {"segment": uses},
    )
