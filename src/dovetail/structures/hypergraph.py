"""Slow modes, derived once for all structures that list their answers as a hypergraph.

The answers to a sentence are the derivations of an acyclic hypergraph: a vertex stands for all ways to fill some piece
of the sentence, and each way, an edge, is made of up to two smaller pieces and of a few parts. A structure says which
edges there are; k best answers, samples, entropy, derivatives, and sums where probabilities underflow, follow in log
space, and so do integer programs (``derivations/``). It takes memory for all edges of a sentence, so what is done for
much text has kernels of its own.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

import numpy as np

from dovetail.kernel import steady, steady_inner
from dovetail.structures.contract import Answer, Floats, Integers, Labels, Potentials, Several
from dovetail.structures.ragged import Ragged

Answers = TypeVar("Answers", bound=Several[Any])


class Hypergraph(NamedTuple):
    """The hypergraph of a sentence: vertex 0 is nothing, the last one is everything, and pieces come before wholes.
    Parts are places among the sentence's potentials laid end to end, -1 for none; the first column tells the answer. It
    is the same for all potentials that forbid the same."""

    ptr: Integers  # [V + 1]: the ways to make vertex v are the edges ptr[v] .. ptr[v + 1]
    left: Labels  # [E]: a piece that the edge is made of, 0 for none
    right: Labels  # [E]: another
    parts: Labels  # [E, P]

    @classmethod
    def of(cls, vertices: int, kinds: Iterable[tuple[Any, ...]]) -> Hypergraph:
        """From edges of several kinds: (vertex made, left, right, parts ...), arrays that broadcast with each other."""
        rows = [np.stack([each.ravel() for each in np.broadcast_arrays(*kind)]).astype(np.int32) for kind in kinds]
        wide = max(len(each) for each in rows)
        table = np.concatenate([np.pad(r, ((0, wide - len(r)), (0, 0)), constant_values=-1) for r in rows], axis=1)
        made, left, right, *parts = table[:, np.argsort(table[0], kind="stable")]
        return cls(np.searchsorted(made, np.arange(vertices + 1)), left, right, np.stack(parts, axis=1))


@steady_inner
def total(graph: Hypergraph, e: int, potentials: Floats) -> float:
    """The sum over the parts of an edge; potentials: [places + 1], the last one zero, where part -1 is found."""
    found = 0.0
    for i in range(graph.parts.shape[1]):
        found += potentials[graph.parts[e, i]]
    return found


@steady
def shares(graph: Hypergraph, potentials: Floats) -> tuple[float, Floats]:
    """Log Z of a sentence, and the ``share`` [E] of each edge in the sum over all that make the same vertex."""
    ptr, left, right, _ = graph
    value, share = np.empty(ptr.size - 1), np.empty(left.size)
    value[0] = 0.0
    for v in range(1, value.size):
        top, sum_ = -np.inf, 0.0
        for e in range(ptr[v], ptr[v + 1]):
            share[e] = total(graph, e, potentials) + value[left[e]] + value[right[e]]
            top = max(top, share[e])
        for e in range(ptr[v], ptr[v + 1]):
            share[e] = math.exp(share[e] - top) if top > -np.inf else 0.0
            sum_ += share[e]
        for e in range(ptr[v], ptr[v + 1] if sum_ > 0.0 else 0):
            share[e] /= sum_
        value[v] = top + math.log(sum_) if sum_ > 0.0 else -np.inf
    return value[-1], share


@steady
def descend(graph: Hypergraph, share: Floats, direction: Floats, counts: Floats, moves: Floats) -> float:
    """Add the expected counts of parts and their derivatives along a direction; the entropy. All: [places + 1]. With D
    the total of the direction over the parts of an answer, ``mean`` of a vertex is its expected D below it, the
    derivative of its log sum. An edge of share p moves by ``p * (D of the edge + means of its pieces - mean)``: so
    probabilities are passed down together with their derivatives."""
    ptr, left, right, parts = graph
    mean, probability, change = np.zeros(ptr.size - 1), np.zeros(ptr.size - 1), np.zeros(ptr.size - 1)
    for v in range(1, mean.size):
        for e in range(ptr[v], ptr[v + 1]):
            if share[e] > 0.0:
                mean[v] += share[e] * (total(graph, e, direction) + mean[left[e]] + mean[right[e]])
    probability[-1], entropy = 1.0, 0.0
    for v in range(mean.size - 1, 0, -1):
        for e in range(ptr[v], ptr[v + 1]):
            amount = share[e] * probability[v]
            if amount == 0.0:
                continue
            more = total(graph, e, direction) + mean[left[e]] + mean[right[e]] - mean[v]
            moved = share[e] * change[v] + amount * more
            entropy -= amount * math.log(share[e])
            for piece in (left[e], right[e]):
                probability[piece] += amount
                change[piece] += moved
            for i in range(parts.shape[1]):
                counts[parts[e, i]] += amount
                moves[parts[e, i]] += moved
    return entropy


@steady
def samples(graph: Hypergraph, share: Floats, uniforms: Floats, out: Integers) -> None:
    """The first parts of answers drawn from the exact distribution, pieces on the left first: [samples, tokens], set.
    uniforms: [samples, draws], of which each choice takes the next."""
    stack = np.empty(graph.ptr.size, np.int64)
    for i in range(out.shape[0]):
        stack[0] = graph.ptr.size - 2
        waiting, drawn, found = 1, 0, 0
        while waiting > 0:
            waiting -= 1
            v, level, chosen = stack[waiting], uniforms[i, drawn], -1
            drawn += 1
            for e in range(graph.ptr[v], graph.ptr[v + 1]):
                if share[e] > 0.0:
                    chosen = e
                    level -= share[e]
                    if level < 0.0:
                        break
            if graph.parts[chosen, 0] >= 0:
                out[i, found] = graph.parts[chosen, 0]
                found += 1
            for piece in (graph.right[chosen], graph.left[chosen]):
                if piece > 0:
                    stack[waiting] = piece
                    waiting += 1


@steady
def k_best(graph: Hypergraph, potentials: Floats, scores: Floats, out: Integers) -> None:
    """The scores [k] and the first parts [k, tokens] of the k best answers, set as far as there are so many. Each
    vertex keeps its k best ways, best first: edge, and ranks of the pieces. The way made of the i-th and the j-th best
    pieces is among the k best only if (i + 1) * (j + 1) <= k; of equal ones the first stays ahead."""
    ptr, left, right, parts = graph
    k = scores.size
    score = np.full((ptr.size - 1, k), -np.inf)
    way = np.zeros((ptr.size - 1, k, 3), np.int32)
    score[0, :1] = 0.0
    for v in range(1, ptr.size - 1):
        for e in range(ptr[v], ptr[v + 1]):
            own = total(graph, e, potentials)
            for i in range(k):
                for j in range(k // (i + 1)):
                    value = own + score[left[e], i] + score[right[e], j]
                    if not value > score[v, k - 1]:
                        break
                    place = k - 1
                    while place > 0 and value > score[v, place - 1]:
                        score[v, place] = score[v, place - 1]
                        way[v, place] = way[v, place - 1]
                        place -= 1
                    score[v, place] = value
                    way[v, place, 0], way[v, place, 1], way[v, place, 2] = e, i, j
    stack = np.empty((ptr.size, 2), np.int64)
    for rank in range(k):
        scores[rank] = score[-1, rank]
        stack[0, 0], stack[0, 1] = ptr.size - 2, rank
        waiting, found = 1 if scores[rank] > -np.inf else 0, 0
        while waiting > 0:
            waiting -= 1
            e, i, j = way[stack[waiting, 0], stack[waiting, 1]]
            if parts[e, 0] >= 0:
                out[rank, found] = parts[e, 0]
                found += 1
            for piece, place in ((right[e], j), (left[e], i)):
                if piece > 0:
                    stack[waiting, 0], stack[waiting, 1] = piece, place
                    waiting += 1


class Graphed(Ragged[Potentials, Answer], Generic[Potentials, Answer, Answers]):
    """A batch whose slow modes come from the hypergraphs of its sentences; one without tokens has one answer."""

    first_parts: ClassVar[int] = 1  # which tell an answer, for every token at most; for each, two choices at most

    @abstractmethod
    def _edges(self, sentence: int) -> int:
        """About how many edges the hypergraph of a sentence has, told before it is made."""

    @abstractmethod
    def _hypergraph(self, sentence: int) -> Hypergraph:
        """The hypergraph of a sentence that has tokens."""

    @abstractmethod
    def _answers(self, found: Integers) -> Answers:
        """Answers from their first parts, ``[answers, N * first_parts]``: those of a sentence from the left of the tree
        of its edges, and then -1 where there are fewer."""

    def kbest(self, k: int) -> tuple[Answers, Floats]:
        """The k best answers, best first, and their scores [n, k]; minus infinity where there are fewer."""
        found = np.full((k, self.first_parts * self.tokens), -1, np.int64)
        scores = np.zeros((len(self), k))
        scores[:, 1:] = -np.inf

        def rank(low: int, high: int) -> None:
            for sentence, graph, potentials, place in self._each(range(low, high)):
                k_best(graph, potentials, scores[sentence], found[:, place])

        self._map(rank)
        return self._answers(found), scores

    def sample(self, n: int, rng: np.random.Generator) -> Answers:
        """``n`` answers drawn from the exact distribution."""
        found, log_z = np.full((n, self.first_parts * self.tokens), -1, np.int64), np.zeros(len(self))
        uniforms = rng.random((n, 2 * found.shape[1]))

        def draw(low: int, high: int) -> None:
            for sentence, graph, potentials, place in self._each(range(low, high)):
                log_z[sentence], share = shares(graph, potentials)
                if log_z[sentence] > -np.inf:
                    samples(graph, share, uniforms[:, 2 * place.start : 2 * place.stop], found[:, place])
            self._check_possible(low, log_z[low:high])

        self._map(draw)
        return self._answers(found)

    def entropy(self) -> Floats:
        """The entropy of the answers to every sentence, in nats: [n]."""
        if not self.shared:
            return self._entropy_of_marginals()
        out = np.zeros(len(self))

        def measure(low: int, high: int) -> None:
            for sentence, graph, potentials, _ in self._each(range(low, high)):
                log_z, share = shares(graph, potentials)
                if log_z > -np.inf:
                    out[sentence] = descend(graph, share, *np.zeros((3, len(potentials))))

        self._map(measure)
        return out

    def _entropy_of_marginals(self) -> Floats:
        """Log Z less the expected score, where every count is of one sentence."""
        log_z, expected = self.log_partition_and_marginals()
        score, fields = np.zeros(len(self)), self.potentials._fields  # type: ignore[attr-defined]
        for name, part, probability in zip(fields, self.potentials, expected, strict=True):
            # A forbidden part has no probability, and an improbable one may be of any size.
            used = (np.where(probability > 0.0, part, 0.0) * probability).sum(axis=tuple(range(1, part.ndim)))
            score += np.diff(np.concatenate([[0.0], np.cumsum(used)])[self._cuts(name)])
        return np.where(log_z > -np.inf, np.maximum(log_z - score, 0.0), 0.0)

    def _move(self, low: int, high: int, direction: Potentials, change: Potentials) -> None:
        for sentence, graph, potentials, _ in self._each(range(low, high)):
            (log_z, share), (counts, moves) = shares(graph, potentials), np.zeros((2, len(potentials)))
            if log_z > -np.inf:
                descend(graph, share, self._flat(sentence, direction), counts, moves)
                self._spread(sentence, moves, change)

    def _log_infer(self, sentences: Iterable[int], log_z: Floats, expected: Potentials) -> None:
        """As ``_infer`` for sentences whose probabilities underflow."""
        for sentence, graph, potentials, _ in self._each(sentences):
            log_z[sentence], share = shares(graph, potentials)
            if len(expected[0]):
                counts, none = np.zeros((2, len(potentials))), np.zeros(len(potentials))
                if log_z[sentence] > -np.inf:
                    descend(graph, share, none, *counts)
                fields = expected._fields  # type: ignore[attr-defined]
                for name, table in zip(fields, self._own(sentence, expected), strict=True):
                    if name not in self.shared:
                        table[:] = 0.0
                self._spread(sentence, counts[0], expected)

    def _each(self, sentences: Iterable[int]) -> Iterator[tuple[int, Hypergraph, Floats, slice]]:
        """Of those of some sentences that have tokens: the number, the graph, the potentials, where first parts go."""
        for sentence in sentences:
            place = slice(*(self.first_parts * self.offsets[sentence : sentence + 2]).tolist())
            if place.stop > place.start:
                yield sentence, self._hypergraph(sentence), self._flat(sentence, self.potentials), place

    def _spread(self, sentence: int, flat: Floats, out: Potentials) -> None:
        """Add numbers laid end to end to the tables of all sentences."""
        place = 0
        for table in self._own(sentence, out):
            table += flat[place : place + table.size].reshape(table.shape)
            place += table.size
