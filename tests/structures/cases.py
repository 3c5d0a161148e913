"""What the conformance suite must know of each kind of structure; from all answers written out the rest follows.

A new structure is one class here and one entry in ``CASES``.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise, product
from typing import Any

import numpy as np
from hypothesis import strategies as st

from dovetail.structures.brackets import BracketBatch, Brackets
from dovetail.structures.chain import ChainBatch
from dovetail.structures.contract import Parts, Structure, mapped, tables
from dovetail.structures.grammar import Derivation, GrammarBatch, cells
from dovetail.structures.nested import TABLES, NestedBatch, NestedSegments
from dovetail.structures.projective import ProjectiveBatch
from dovetail.structures.ragged import Groups
from dovetail.structures.ruled import RuledBatch
from dovetail.structures.semimarkov import Segments, SemiMarkovBatch
from tests.structures import (
    bracket_cases,
    chain_cases,
    enumerate_brackets,
    enumerate_chain,
    enumerate_grammar,
    enumerate_nested,
    enumerate_projective,
    enumerate_semimarkov,
    frame_cases,
    grammar_cases,
    nested_cases,
    projective_cases,
    semimarkov_cases,
)


def flat(parts: tuple[Any, ...]) -> np.ndarray:
    """All entries of potentials or counts as one vector."""
    return np.concatenate([table.ravel() for table in tables(parts)])


def changes(potentials: Any, **amounts: Any) -> Any:
    """Return what to add to potentials: the amounts for the named tables, broadcast to their shapes, and else zero."""
    shapes = {name: getattr(potentials, name).shape for name in amounts}
    broadcast = {name: np.broadcast_to(amounts[name], shape).astype(float) for name, shape in shapes.items()}
    return mapped(np.zeros_like, potentials)._replace(**broadcast)


def by_sentence(batch: Any, values: np.ndarray) -> np.ndarray:
    """Return the sums of the values of tokens [N] by sentence: [n]."""
    return np.array([values[a:b].sum() for a, b in pairwise(batch.offsets)])


class Case:
    """A kind of structure. Answers are known by keys: what an answer says of one sentence, as nested tuples."""

    token = span = arc = False
    """Which kinds of parts it has addresses for."""

    def batches(self, **limits: Any) -> Any:
        """A strategy of a batch of a few small sentences, and a random generator.

        Among them: empty sentences where allowed, forbidden parts, sentences without an answer, extreme potentials.
        The limits are ``max_scale``, the largest deviation of potentials, and ``masks``, the shares of forbidden parts.
        """
        raise NotImplementedError

    def large(self, rng: np.random.Generator) -> Any:
        """A batch large enough for several shards, on one thread; all of its sentences have answers."""
        raise NotImplementedError

    def answers(self, batch: Any, n: int) -> Iterator[tuple[Hashable, Any]]:
        """Every answer to sentence n, forbidden or not: its key, and its counts, shaped like the batch's potentials."""
        raise NotImplementedError

    def key(self, batch: Any, answer: Any, n: int) -> Hashable:
        """What an answer says of sentence n."""
        raise NotImplementedError

    def answer(self, batch: Any, keys: Sequence[Any]) -> Any:
        """The answer made of one key for each sentence."""
        raise NotImplementedError

    def mask(self, permitted: Any) -> Any:
        """What ``restrict`` takes, from booleans shaped like the potentials."""
        raise NotImplementedError

    def kept(self, batch: Any) -> Any:
        """Which parts may be used: booleans shaped like the potentials."""
        return mapped(lambda part: part != -np.inf, batch.potentials)

    def wrong(self, gold: Any, key: Any) -> float:
        """How often ``with_cost`` adds its cost to the score of an answer, given the keys."""
        raise NotImplementedError

    def parts(self, batch: Any) -> Iterator[tuple[Parts, Callable[[int, Any], list[bool]]]]:
        """Addresses of parts; and which of them an answer has, by sentence and key."""
        raise NotImplementedError

    def conserved(self, batch: Any, rng: np.random.Generator) -> Iterator[tuple[Any, np.ndarray]]:
        """Yield changes of the potentials that raise all answers to a sentence alike, and by how much: [n].

        Each is a law of the counts of parts. "Every token has one label" is such a law: whatever is added to all labels
        of a token, every answer gains it once. A structure has none if its answers may have any number of parts of each
        kind.
        """
        return iter(())

    def threaded(self, batch: Any, threads: int) -> Any:
        """The same batch on so many threads."""
        return replace(batch, threads=threads)


class Enumerated:
    """The brute-force twin of one sentence of a batch: all answers, and what follows from them."""

    def __init__(self, case: Case, batch: Structure[Any, Any], n: int) -> None:
        answers = list(case.answers(batch, n))
        self.keys = [key for key, _ in answers]
        self.counts = np.array([flat(counts) for _, counts in answers]).reshape(len(answers), -1)
        self.scores = self.score(flat(batch.potentials))

    def score(self, potentials: np.ndarray) -> np.ndarray:
        """The scores of all answers; what they do not use may be anything."""
        return np.where(self.counts > 0, self.counts * np.where(self.counts > 0, potentials, 0.0), 0.0).sum(1)

    def log_partition(self) -> float:
        return float(np.logaddexp.reduce(self.scores, initial=-np.inf))

    def probabilities(self) -> np.ndarray:
        log_z = self.log_partition()
        return np.zeros(len(self.scores)) if log_z == -np.inf else np.exp(self.scores - log_z)

    def marginals(self) -> np.ndarray:
        return self.probabilities() @ self.counts

    def entropy(self) -> float:
        p = self.probabilities()
        return float(-(p[p > 0] * np.log(p[p > 0])).sum())

    def covariance(self, direction: np.ndarray) -> np.ndarray:
        """The covariance of every part's count with the total of the direction."""
        p, totals = self.probabilities(), self.score(direction)
        return (p * (totals - p @ totals)) @ self.counts


class GrammarCase(Case):
    """Keys are the numbers of a tree, and its nodes by rules: (begin, end, symbol)."""

    token = span = True

    def batches(self, **limits):
        return grammar_cases.batches(**limits)

    def large(self, rng):
        grammar = grammar_cases.complete_grammar(rng, 2, 3, 12, 4)
        sizes = rng.integers(1, 7, 30).tolist()
        return GrammarBatch(grammar, tuple(grammar_cases.random_potentials(rng, grammar, n) for n in sizes))

    def answers(self, batch, n):
        twin = enumerate_grammar.EnumeratedChart(batch.grammar, batch.potentials[n])
        for tree, counts in zip(twin.trees, twin.counts, strict=True):
            whole = mapped(np.zeros_like, batch.potentials)
            yield self.key(batch, {n: tree}, n), (*whole[:n], counts, *whole[n + 1 :])

    def key(self, batch, answer, n):
        tree, g = answer[n], batch.grammar
        nodes = [(i, j, int(g.parent[rule])) for rule, i, _, j in tree.binary.tolist()]
        nodes += [(i, j, int(g.unary_parent[rule])) for rule, i, j in tree.unary.tolist()]
        return (*enumerate_grammar.as_tuple(tree), frozenset(nodes))

    def answer(self, batch, keys):
        tables = [[np.array(part, np.int32) for part in (tags, binary, unary)] for _, tags, binary, unary, _ in keys]
        rows = [(tags, binary.reshape(-1, 4), unary.reshape(-1, 3)) for tags, binary, unary in tables]
        return [Derivation(key[0], *row) for key, row in zip(keys, rows, strict=True)]

    def mask(self, permitted):
        masks = [part.span.copy() for part in permitted]
        for mask, part in zip(masks, permitted, strict=True):
            mask[self.words(part), : part.tag.shape[1]] = part.tag
        return tuple(masks)

    def kept(self, batch):
        allowed = [mask.astype(bool) for mask in batch.masks]
        return tuple(
            part._replace(tag=part.tag & mask[self.words(part), : part.tag.shape[1]], span=part.span & mask)
            for part, mask in zip(super().kept(batch), allowed, strict=True)
        )

    def words(self, part):
        """The spans of single words."""
        n = len(part.tag)
        return cells(n, np.arange(n), np.arange(1, n + 1))

    def wrong(self, gold, key):
        return sum(a != b for a, b in zip(gold[1], key[1], strict=True)) + len(key[4] - gold[4])

    def conserved(self, batch, rng):
        of_sentences = [self.laws(batch.grammar, potentials, rng) for potentials in batch.potentials]
        for law in zip(*of_sentences, strict=True):
            yield tuple(change for change, _ in law), np.array([total for _, total in law])

    def laws(self, g, potentials, rng):
        """Yield the laws of one sentence: changes of its potentials, and how much every tree gains."""
        n, of_symbol, of_rule = len(potentials.tag), rng.normal(size=g.symbols), rng.normal(size=g.rules)
        of_word, of_unary = rng.normal(size=(n, 1)), rng.normal(size=g.unaries)
        yield changes(potentials, tag=of_word), of_word.sum()
        yield changes(potentials, root=1.0), 1.0
        yield changes(potentials, begin=1.0), n - 1.0
        yield changes(potentials, begin=of_rule, split=-of_rule), 0.0
        yield changes(potentials, begin=of_rule, end=-of_rule), 0.0
        yield changes(potentials, unary_begin=of_unary, unary_end=-of_unary), 0.0
        parents = {"begin": -of_symbol[g.parent], "unary_begin": -of_symbol[g.unary_parent]}
        yield changes(potentials, span=of_symbol, **parents), 0.0
        # Every node is the root, or the child of a rule.
        children = {"begin": of_symbol[g.left] + of_symbol[g.right], "unary_begin": of_symbol[g.unary_child]}
        nodes = {"tag": -of_symbol[: g.tags], "span": -of_symbol}
        yield changes(potentials, root=of_symbol, **children, **nodes), 0.0

    def parts(self, batch):
        lengths = [len(potentials.tag) for potentials in batch.potentials]
        words = [(n, i, t) for n, size in enumerate(lengths) for i in range(size) for t in range(batch.grammar.tags)]
        yield batch.token(*np.transpose(words)), lambda n, key: [m == n and key[1][i] == t for m, i, t in words]
        spans = [(n, i, j) for n, size in enumerate(lengths) for i in range(size) for j in range(i + 1, size + 1)]
        nodes = [(*span, a) for span in spans for a in range(batch.grammar.tags, batch.grammar.symbols)]
        yield batch.span(*np.transpose(nodes)), lambda n, key: [m == n and (*each,) in key[4] for m, *each in nodes]


class NestedCase(Case):
    """Keys are the number of tokens, and the segments: (start, end, label)."""

    token = span = True

    def batches(self, **limits):
        return nested_cases.batches(**limits)

    def large(self, rng):
        offsets = np.concatenate([[0], np.cumsum(rng.integers(0, 8, 200))])
        return NestedBatch(nested_cases.random_potentials(rng, int(offsets[-1]), 1, 3), offsets)

    def answers(self, batch, n):
        first, after = batch.offsets[n : n + 2].tolist()
        for tree in enumerate_nested.rows(0, after - first, batch.potentials.labels, batch.longest, False):
            counts = mapped(np.zeros_like, batch.potentials)
            for name, (row, *rest) in enumerate_nested.uses(
                batch.potentials.labels, batch.phrases, after - first, tree
            ):
                skipped = {"phrase": first * batch.phrases}.get(name, 0 if name in TABLES else first)
                getattr(counts, name)[(row + skipped, *rest)] += 1
            yield (after - first, tuple(tree)), counts

    def key(self, batch, answer, n):
        some = slice(*answer.offsets[n : n + 2])
        columns = (answer.start[some].tolist(), answer.end[some].tolist(), answer.label[some].tolist())
        return int(np.diff(batch.offsets)[n]), tuple(zip(*columns, strict=True))

    def answer(self, batch, keys):
        return NestedSegments.of([segments for _, segments in keys])

    def mask(self, permitted):
        return permitted.word, permitted.phrase

    def wrong(self, gold, key):
        pairs = zip(enumerate_nested.contexts(*gold), enumerate_nested.contexts(*key), strict=True)
        return sum(a != b for a, b in pairs) + sum(segment not in gold[1] for segment in key[1])

    def conserved(self, batch, rng):
        sizes, labels, p = np.diff(batch.offsets), batch.potentials.labels, batch.potentials
        of_word, zero = rng.normal(size=(batch.tokens, 1)), np.zeros(len(batch))
        outer, inner = rng.normal(size=(2, labels))
        yield changes(p, word=of_word), by_sentence(batch, of_word)
        yield changes(p, sibling=1.0), np.maximum(sizes - 1.0, 0.0)
        yield changes(p, first=1.0, nest=-1.0), 1.0 * (sizes > 0)  # contexts: the sentence, and all segments
        of_labels = np.vstack([outer, np.tile(inner, (labels, 1))])
        yield changes(p, start=np.concatenate([outer, inner]), nest=-of_labels), zero
        yield changes(p, end=np.concatenate([outer, inner]), nest=-of_labels), zero
        # An element of a context is the first, or comes after another; it is the last, or another follows.
        element = rng.normal(size=(labels + 1, labels + 1))
        neighbours = element[:, :, None] - element[:, None, :]
        yield changes(p, sibling=neighbours, last=element, first=-element), zero

    def parts(self, batch):
        sizes, labels = np.diff(batch.offsets).tolist(), batch.potentials.labels
        words = [(n, t, p) for n, size in enumerate(sizes) for t in range(size) for p in range(labels + 1)]
        if words:
            yield (
                batch.token(*np.transpose(words)),
                lambda n, key: [m == n and enumerate_nested.contexts(*key)[t] == p for m, t, p in words],
            )
        places = [(n, i, j) for n, size in enumerate(sizes) for i in range(size) for j in range(i + 1, size + 1)]
        spans = [(*place, x) for place in places for x in range(labels) if place[2] - place[1] <= batch.phrases]
        if spans:
            yield (
                batch.span(*np.transpose(spans)),
                lambda n, key: [m == n and (*each,) in key[1] for m, *each in spans],
            )


class FrameCase(Case):
    """Keys are the labels of the candidates, -1 for none."""

    span = True

    def batches(self, **limits):
        return frame_cases.batches(**limits)

    def large(self, rng):
        return sharded(frame_cases.random_batch(rng, [(6, 12)] * 300, [0, 1, -1]))

    def answers(self, batch, n):
        first = batch.offsets[n]
        for key in frame_cases.answers(batch, n):
            counts = mapped(np.zeros_like, batch.potentials)
            for c, label in enumerate(key, first):
                counts.role[c, label] += label >= 0
            yield key, counts

    def key(self, batch, answer, n):
        return tuple(answer[batch.offsets[n] : batch.offsets[n + 1]].tolist())

    def answer(self, batch, keys):
        return np.array([label for key in keys for label in key], np.int32)

    def mask(self, permitted):
        return permitted.role

    def wrong(self, gold, key):
        return sum(b not in (-1, a) for a, b in zip(gold, key, strict=True))

    def parts(self, batch):
        own = [(n, c) for n in range(len(batch)) for c in range(*batch.offsets[n : n + 2].tolist())]
        every = [(n, int(batch.begin[c]), int(batch.end[c]), y) for n, c in own for y in range(batch.labels)]
        where = [(n, c - batch.offsets[n], y) for n, c in own for y in range(batch.labels)]
        if every:
            yield batch.span(*np.transpose(every)), lambda n, key: [m == n and key[c] == y for m, c, y in where]


def places(batch: Any, labels: Sequence[int]) -> Any:
    """Every sentence, position and label of a batch: [parts, 3]."""
    tokens = [(n, t) for n, length in enumerate(np.diff(batch.offsets)) for t in range(length)]
    return [(n, t, c) for n, t in tokens for c in labels] or np.zeros((0, 3), int)


def sharded(batch: Any) -> Any:
    assert len(batch._shards) > 2
    return batch


class ChainCase(Case):
    token = True

    def batches(self, **limits):
        return chain_cases.batches(**limits)

    def large(self, rng):
        offsets = np.concatenate([[0], np.cumsum(rng.integers(0, 30, 300))])
        order = int(rng.integers(1, 3))
        potentials = chain_cases.random_potentials(rng, int(offsets[-1]), 3, order)
        return sharded(ChainBatch(potentials, offsets, order, threads=1))

    def answers(self, batch, n):
        own = slice(*batch.offsets[n : n + 2])
        for labels in product(range(batch.labels), repeat=own.stop - own.start):
            counts = enumerate_chain.parts(labels, chain_cases.sentence(batch.potentials, own), batch.order)
            whole = mapped(np.zeros_like, batch.potentials)
            whole.unary[own], whole.edge[own] = counts.unary, counts.edge
            yield labels, counts._replace(unary=whole.unary, edge=whole.edge)

    def key(self, batch, answer, n):
        return tuple(answer[batch.offsets[n] : batch.offsets[n + 1]].tolist())

    def answer(self, batch, keys):
        return np.array([label for key in keys for label in key], np.int32)

    def mask(self, permitted):
        return permitted.unary

    def wrong(self, gold, key):
        return sum(a != b for a, b in zip(gold, key, strict=True))

    def conserved(self, batch, rng):
        of_word, p = rng.normal(size=(batch.tokens, 1)), batch.potentials
        yield changes(p, unary=of_word), by_sentence(batch, of_word)
        if not isinstance(batch, ChainBatch):
            return  # Choices have labels and nothing else.
        sizes, of_label, zero = np.diff(batch.offsets), rng.normal(size=batch.labels), np.zeros(len(batch))
        yield changes(p, start=1.0), 1.0 * (sizes > 0)
        yield changes(p, end=1.0), 1.0 * (sizes > 0)
        yield changes(p, transition=1.0), np.maximum(sizes - 1.0, 0.0)
        left = of_label[np.arange(len(p.transition)) % batch.labels, None]  # by the state that a transition leaves
        yield changes(p, unary=of_label, start=-of_label, transition=-of_label), zero
        yield changes(p, unary=of_label, end=-of_label, transition=-left), zero
        if p.edge.size:
            entered = rng.normal(size=p.unary.shape)
            entered[batch.offsets[:-1][sizes > 0]] = 0.0
            yield changes(p, unary=entered, edge=-entered[:, None, :]), zero

    def parts(self, batch):
        tokens = places(batch, range(batch.labels))
        yield batch.token(*np.transpose(tokens)), lambda n, key: [m == n and key[t] == c for m, t, c in tokens]


class SemiMarkovCase(Case):
    token = span = True

    def batches(self, **limits):
        return semimarkov_cases.batches(**limits)

    def large(self, rng):
        offsets = np.concatenate([[0], np.cumsum(rng.integers(0, 30, 300))])
        potentials = semimarkov_cases.random_potentials(rng, int(offsets[-1]), 4, 3, int(rng.integers(2)))
        return sharded(SemiMarkovBatch(potentials, offsets, [1, 4, 3]))

    def answers(self, batch, n):
        own = slice(*batch.offsets[n : n + 2])
        segments = enumerate_semimarkov.segmentations(own.stop - own.start, np.minimum(batch.lengths, batch.longest))
        for key in segments:
            counts = enumerate_semimarkov.parts(key, semimarkov_cases.sentence(batch.potentials, own))
            whole = np.zeros_like(batch.potentials.segment)
            whole[own] = counts.segment
            yield key, counts._replace(segment=whole)

    def key(self, batch, answer, n):
        return semimarkov_cases.as_tuples(answer, batch, n)

    def answer(self, batch, keys):
        length, label = np.zeros((2, batch.tokens), np.int32)
        for first, key in zip(batch.offsets[:-1], keys, strict=True):
            for start, tokens, kind in key:
                length[first + start], label[first + start] = tokens, kind
        return Segments.of_tokens(length, label, batch.offsets)

    def mask(self, permitted):
        return permitted.segment

    def wrong(self, gold, key):
        return sum(segment[1] for segment in key if segment not in gold)

    def conserved(self, batch, rng):
        tokens, longest, _ = batch.potentials.segment.shape
        of_word, p, nonempty = rng.normal(size=tokens), batch.potentials, 1.0 * (np.diff(batch.offsets) > 0)
        before = np.concatenate([[0.0], np.cumsum(of_word)])
        ends = np.minimum(np.arange(tokens)[:, None] + np.arange(1, longest + 1), tokens)
        covered = before[ends] - before[:-1, None]
        yield changes(p, segment=covered[:, :, None]), by_sentence(batch, of_word)
        yield changes(p, start=1.0), nonempty
        yield changes(p, end=1.0), nonempty
        if p.transition.size:
            of_label, zero = rng.normal(size=batch.labels), np.zeros(len(batch))
            yield changes(p, segment=1.0, transition=-1.0), nonempty
            yield changes(p, segment=of_label, start=-of_label, transition=-of_label), zero
            yield changes(p, segment=of_label, end=-of_label, transition=-of_label[:, None]), zero

    def parts(self, batch):
        tokens = places(batch, range(batch.labels))
        yield (
            batch.token(*np.transpose(tokens)),
            lambda n, key: [m == n and any(s <= t < s + d and y == c for s, d, y in key) for m, t, c in tokens],
        )
        spans = [(n, t, e, c) for n, t, c in tokens for e in range(t + 1, int(np.diff(batch.offsets)[n]) + 1)]
        spans = spans or np.zeros((0, 4), int)
        yield (
            batch.span(*np.transpose(spans)),
            lambda n, key: [m == n and (t, e - t, c) in key for m, t, e, c in spans],
        )


class ProjectiveCase(Case):
    arc = True

    def batches(self, **limits):
        return projective_cases.batches(most=4, **limits)

    def large(self, rng):
        offsets = np.concatenate([[0], np.cumsum(rng.integers(0, 25, 300))])
        potentials = projective_cases.random_potentials(rng, offsets)
        return sharded(ProjectiveBatch(potentials, offsets, bool(rng.integers(2))))

    def answers(self, batch, n):
        rows, own = slice(*batch.places.arcs[n : n + 2]), slice(*(batch.offsets[n : n + 2] + np.array([n, n + 1])))
        for heads in enumerate_projective.trees(own.stop - own.start - 1, batch.several):
            counts = enumerate_projective.parts(heads, own.stop - own.start)
            whole = mapped(np.zeros_like, batch.potentials)
            whole.attach[rows], whole.stop[own] = counts.attach.reshape(-1, 2), counts.stop
            yield heads, whole

    def key(self, batch, answer, n):
        return tuple(answer[batch.offsets[n] : batch.offsets[n + 1]].tolist())

    def answer(self, batch, keys):
        return np.array([head for key in keys for head in key], np.int32)

    def mask(self, permitted):
        return permitted.attach.all(1)

    def wrong(self, gold, key):
        return sum(a != b for a, b in zip(gold, key, strict=True))

    def conserved(self, batch, rng):
        sizes, p = np.diff(batch.offsets), batch.potentials
        of_words, of_sides = rng.normal(size=batch.tokens), rng.normal(size=p.stop.shape[:2])
        heads, first, root = np.zeros((3, *p.attach.shape))
        stop, totals = np.zeros((2, *p.stop.shape)), np.zeros((2, len(batch)))
        for n, size in enumerate(sizes):
            rows = slice(*batch.places.arcs[n : n + 2])
            positions = slice(*(batch.offsets[n : n + 2] + np.array([n, n + 1])))
            of_word, of_side = of_words[slice(*batch.offsets[n : n + 2])], of_sides[positions]
            by_head, index = (size + 1, size + 1), np.arange(size + 1)
            heads[rows] = np.tile(np.append(0.0, of_word), size + 1)[:, None]
            right = index[:, None] < index
            first[rows, 1] = np.where(right, of_side[:, 1:], of_side[:, :1]).ravel()
            root[rows] = np.broadcast_to(index[:, None] == 0, by_head).reshape(-1, 1)
            stop[0][positions], stop[1][positions][..., 1] = of_side[:, :, None], -of_side
            totals[:, n] = of_word.sum(), (of_side.sum() - of_side[0, 0]) if size else 0.0  # the root has no left side
        yield changes(p, attach=heads), totals[0]
        yield changes(p, stop=stop[0]), totals[1]
        yield changes(p, attach=first, stop=stop[1]), np.zeros(len(batch))
        if not batch.several:
            yield changes(p, attach=root), 1.0 * (sizes > 0)

    def parts(self, batch):
        arcs = [
            (n, h, t + 1) for n, t, _ in places(batch, [0]) for h in range(np.diff(batch.offsets)[n] + 1) if h != t + 1
        ] or np.zeros((0, 3), int)
        yield (
            batch.arc(*np.transpose(arcs)),
            lambda n, key: [m == n and key[d - 1] == h for m, h, d in arcs],
        )


class BracketCase(Case):
    """Keys are the spans of a bracketing: (begin, end, label), parents first."""

    span = True

    def batches(self, **limits):
        return bracket_cases.batches(**limits)

    def large(self, rng):
        offsets = np.concatenate([[0], np.cumsum(rng.integers(0, 25, 300))])
        return sharded(BracketBatch(bracket_cases.random_potentials(rng, offsets, 3), offsets))

    def answers(self, batch, n):
        words = int(np.diff(batch.offsets)[n])
        for key in enumerate_brackets.bracketings(words, batch.labels):
            counts = mapped(np.zeros_like, batch.potentials)
            for begin, end, label in key:
                counts.span[batch.rows[n] + cells(words, begin, end), label] += 1
            yield key, counts

    def key(self, batch, answer, n):
        some = slice(*answer.offsets[n : n + 2])
        return tuple(zip(*(part[some].tolist() for part in answer[:3]), strict=True))

    def answer(self, batch, keys):
        return Brackets.of(keys)

    def mask(self, permitted):
        return permitted.span

    def wrong(self, gold, key):
        return len(set(key) - set(gold))

    def conserved(self, batch, rng):
        sizes, p, of_word = np.diff(batch.offsets), batch.potentials, rng.normal(size=batch.tokens)
        single, whole = self.single_and_whole(batch)
        leaves = np.zeros((len(p.span), 1))
        leaves[single, 0] = of_word
        yield changes(p, span=leaves), by_sentence(batch, of_word)
        yield changes(p, span=1.0 * whole[:, None]), 1.0 * (sizes > 0)
        yield changes(p, span=1.0), np.maximum(2.0 * sizes - 1.0, 0.0)

    def single_and_whole(self, batch):
        """Return the rows of single words, and whether each row is that of a whole sentence."""
        single, whole = [], np.zeros(len(batch.potentials.span), bool)
        for first, size in zip(batch.rows, np.diff(batch.offsets).tolist(), strict=False):
            single += (first + cells(size, np.arange(size), np.arange(1, size + 1))).tolist()
            if size:
                whole[first + cells(size, 0, size)] = True
        return np.array(single, int), whole

    def parts(self, batch):
        sizes = np.diff(batch.offsets).tolist()
        places = [(n, i, j) for n, size in enumerate(sizes) for i in range(size) for j in range(i + 1, size + 1)]
        spans = [(*place, x) for place in places for x in range(batch.labels)] or np.zeros((0, 4), int)
        yield batch.span(*np.transpose(spans)), lambda n, key: [m == n and (*each,) in key for m, *each in spans]


class RuledCase(BracketCase):
    """The same, with counts of the rules."""

    def batches(self, **limits):
        return bracket_cases.ruled(**limits)

    def large(self, rng):
        offsets = np.concatenate([[0], np.cumsum(rng.integers(0, 25, 300))])
        return sharded(RuledBatch(bracket_cases.random_rules(rng, offsets, 2), offsets))

    def answers(self, batch, n):
        for key, counts in super().answers(batch, n):
            for parent, left, right in enumerate_brackets.rules(key):
                counts.rule[parent, left, right] += 1
            yield key, counts

    def conserved(self, batch, rng):
        yield from super().conserved(batch, rng)
        p, of_label, zero = batch.potentials, rng.normal(size=batch.potentials.span.shape[1]), np.zeros(len(batch))
        single, whole = self.single_and_whole(batch)
        long = np.ones((len(p.span), 1))
        long[single] = 0.0
        yield changes(p, rule=1.0), np.maximum(np.diff(batch.offsets) - 1.0, 0.0)
        yield changes(p, span=long * of_label, rule=-of_label[:, None, None]), zero
        yield changes(p, span=~whole[:, None] * of_label, rule=-(of_label[:, None] + of_label)), zero


class GroupsCase(Case):
    """Chains of two, three and one label in one batch, in any order; keys and masks are those of chains."""

    token = True
    each = ChainCase()

    @staticmethod
    @st.composite
    def batches(draw, **limits):
        found = [draw(chain_cases.batches(labels=labels, **limits)) for labels in (2, 3, 1)[: draw(st.integers(1, 3))]]
        rng = found[0][1]
        group = np.repeat(np.arange(len(found)), [len(batch) for batch, _ in found])
        return Groups(tuple(batch for batch, _ in found), rng.permutation(group)), rng

    def large(self, rng):
        groups = [self.each.large(rng) for _ in range(2)]
        return Groups(tuple(groups), rng.permutation(np.repeat([0, 1], [len(batch) for batch in groups])))

    def within(self, batch, n):
        g = int(batch.group[n])
        return g, batch.groups[g], int((batch.group[:n] == g).sum())

    def answers(self, batch, n):
        g, own, rank = self.within(batch, n)
        for key, counts in self.each.answers(own, rank):
            others = [mapped(np.zeros_like, potentials) for potentials in batch.potentials]
            others[g] = counts
            yield key, tuple(others)

    def key(self, batch, answer, n):
        g, own, rank = self.within(batch, n)
        return self.each.key(own, answer[g], rank)

    def answer(self, batch, keys):
        return batch.apart(np.array([label for key in keys for label in key], np.int32))

    def mask(self, permitted):
        return tuple(self.each.mask(own) for own in permitted)

    def wrong(self, gold, key):
        return self.each.wrong(gold, key)

    def parts(self, batch):
        tokens = []
        for n in range(len(batch)):
            _, own, rank = self.within(batch, n)
            length = int(np.diff(own.offsets)[rank])
            tokens += [(n, t, c) for t in range(length) for c in range(own.labels)]
        tokens = [tokens[i] for i in np.random.default_rng(0).permutation(len(tokens))] or np.zeros((0, 3), int)
        yield batch.token(*np.transpose(tokens)), lambda n, key: [m == n and key[t] == c for m, t, c in tokens]

    def conserved(self, batch, rng):
        for g, group in enumerate(batch.groups):
            for change, totals in self.each.conserved(group, rng):
                whole = [mapped(np.zeros_like, potentials) for potentials in batch.potentials]
                whole[g], gains = change, np.zeros(len(batch))
                gains[batch.group == g] = totals
                yield tuple(whole), gains

    def threaded(self, batch, threads):
        return Groups(tuple(replace(own, threads=threads) for own in batch.groups), batch.group)


CASES: dict[str, Case] = {
    "grammar": GrammarCase(),
    "nested": NestedCase(),
    "chain": ChainCase(),
    "frames": FrameCase(),
    "semimarkov": SemiMarkovCase(),
    "projective": ProjectiveCase(),
    "brackets": BracketCase(),
    "ruled": RuledCase(),
    "groups": GroupsCase(),
}
