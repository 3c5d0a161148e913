"""The arrays that nested segmentations are made of, segments within segments; and the same as trees of a grammar."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dovetail.structures.contract import Floats, Integers, Labels
from dovetail.structures.grammar import Derivation, Grammar, GrammarPotentials, cell_count, cells


class NestedPotentials(NamedTuple):
    """One number for every part of the nested segmentations of N tokens, with T labels.

    What lies directly in a segment, or in no segment, is a row of elements: single tokens (element 0) and segments of
    label x (element x + 1). Where it lies is its context: 0 for the sentence, y + 1 for a segment of label y. The score
    of a nested segmentation is the sum of

    - ``word[t, p]`` for every token t, with p the context it lies in directly;
    - ``start[t, x] + end[u, x] + inside[t, x] + ... + inside[u, x] + phrase[t * L + u - t, x]`` for every segment from
      token t to token u with label x that lies in no other, the last term only if it has at most L tokens; the same
      with ``T + x`` in place of x for every segment that lies in another;
    - ``nest[p, x]`` for every segment of label x in context p;
    - ``first[p, e]``, ``sibling[p, e, f]`` and ``last[p, e]`` for the first element, neighbours and the last element
      of every context.

    As marginals, each entry is the expected count of its part.
    """

    word: Floats  # [N, T + 1]
    start: Floats  # [N, 2 * T]
    end: Floats  # [N, 2 * T]
    inside: Floats  # [N, 2 * T]
    phrase: Floats  # [N * L, 2 * T]; nothing is read past a sentence's end
    nest: Floats  # [T + 1, T]
    first: Floats  # [T + 1, T + 1]
    sibling: Floats  # [T + 1, T + 1, T + 1]
    last: Floats  # [T + 1, T + 1]

    @property
    def labels(self) -> int:
        """The number of labels, T."""
        return int(self.nest.shape[1])

    @classmethod
    def zeros(cls, tokens: int, labels: int, phrases: int = 0) -> NestedPotentials:
        """Potentials of zero, for phrases of up to so many tokens."""
        return cls(*map(np.zeros, cls.shapes(tokens, labels, phrases)))

    @staticmethod
    def shapes(tokens: int, labels: int, phrases: int) -> list[tuple[int, ...]]:
        """The shapes of the tables, for phrases of up to so many tokens."""
        elements, of_segments = labels + 1, (tokens, 2 * labels)
        tables = [(elements, labels), (elements, elements), (elements, elements, elements), (elements, elements)]
        return [(tokens, elements), of_segments, of_segments, of_segments, (tokens * phrases, 2 * labels), *tables]


TABLES = ("nest", "first", "sibling", "last")


class NestedSegments(NamedTuple):
    """The segments of every sentence of a batch, each before those within it, from left to right.

    Where no segmentation is possible there is one segment of no tokens, with the label -1.

    >>> NestedSegments.of([[(0, 3, 1), (1, 2, 0)], []])
    NestedSegments(start=array([0, 1]), end=array([3, 2]), label=array([1, 0], dtype=int32), offsets=array([0, 2, 2]))
    """

    start: Integers  # [segments]: the first token, counted in its sentence
    end: Integers  # [segments]: the token after the last
    label: Labels  # [segments]
    offsets: Integers  # [n + 1]: the segments of sentence i are offsets[i] .. offsets[i + 1]

    @classmethod
    def of(cls, sentences: Sequence[Sequence[tuple[int, int, int]]]) -> NestedSegments:
        """From (start, end, label) of the segments of every sentence, in order."""
        flat = np.array([each for segments in sentences for each in segments], np.int64).reshape(-1, 3)
        offsets = np.zeros(len(sentences) + 1, np.int64)
        np.cumsum([len(segments) for segments in sentences], out=offsets[1:])
        return cls(flat[:, 0].copy(), flat[:, 1].copy(), flat[:, 2].astype(np.int32), offsets)


NO_ANSWER = (0, 0, -1)


class Shares(NamedTuple):
    """Sums of entries of a vector: entry ``entry[x]`` is part of number ``owner[x]`` of ``size``."""

    owner: Integers
    entry: Integers
    size: int

    @classmethod
    def of(cls, entries: Iterable[Sequence[Any]]) -> Shares:
        """From the entries of every number."""
        rows = list(entries)
        owner = np.repeat(np.arange(len(rows)), [len(row) for row in rows])
        return cls(owner, np.array([each for row in rows for each in row], np.int64), len(rows))

    def sums(self, vector: Floats) -> Floats:
        """The numbers, [size]."""
        out = np.zeros(self.size)
        np.add.at(out, self.owner, vector[self.entry])
        return out

    def share(self, counts: Floats, out: Floats) -> None:
        """Add the counts of the numbers [size] to those of their entries."""
        np.add.at(out, self.entry, counts[self.owner])


class Chain(NamedTuple):
    """What a unary rule is made of: the labels of its segments, and entries of the tables."""

    labels: tuple[int, ...]
    outer: tuple[int, ...]
    inner: tuple[int, ...] = ()


@dataclass(frozen=True)
class NestedGrammar:
    """Nested segmentations as the trees of a context-free grammar: what the grammar can do, they can.

    A sentence is a tree whose phrases are segments (Finkel 2010, section 5.3). Its symbols are the words of every
    context, the segments of every label in every context, and rows, which are what is left of a context from one of its
    elements on: rows branch to the right. Its potentials are sums of those of segmentations. Sums and the best tree are
    found faster by kernels of their own; the k best, samples and derivatives come from the grammar.
    """

    labels: int

    def word(self, context: int) -> int:
        """The symbol of a word in a context, the only tags."""
        return context

    def segment(self, label: int, context: int) -> int:
        """The symbol of a segment in a context."""
        return (self.labels + 1) * (1 + label) + context

    def row(self, element: int, context: int) -> int:
        """The symbol of two or more elements in a row that end a context, from one of a kind on."""
        return (self.labels + 1) ** 2 + element * (self.labels + 1) + context

    def element(self, element: int, context: int) -> int:
        """The symbol of a word (0) or a segment in a context."""
        return self.segment(element - 1, context) if element else self.word(context)

    @cached_property
    def entries(self) -> list[NDArray[Any]]:
        """The places of the entries of :data:`TABLES`, laid end to end, in the shapes of the tables."""
        shapes = [getattr(NestedPotentials.zeros(0, self.labels), name).shape for name in TABLES]
        ends = np.cumsum([np.prod(shape, dtype=np.int64) for shape in shapes])
        pieces = np.split(np.arange(ends[-1]), ends[:-1])
        return [piece.reshape(shape) for piece, shape in zip(pieces, shapes, strict=True)]

    @cached_property
    def rules(self) -> dict[tuple[int, int, int], list[Any]]:
        """The entries of each binary rule. The parent is a row of a context, or a segment that the context is."""
        (_, first, sibling, last), size, found = self.entries, self.labels + 1, {}
        for context, e, f, is_last in np.ndindex(size, size, size, 2):
            left, right = self.element(e, context), self.element(f, context) if is_last else self.row(f, context)
            closing = [last[context, f]] if is_last else []
            found[self.row(e, context), left, right] = [sibling[context, e, f], *closing]
            for outer in range(size) if context else ():
                parts = [sibling[context, e, f], first[context, e], *closing]
                found[self.segment(context - 1, outer), left, right] = parts
        return found

    @cached_property
    def chains(self) -> dict[tuple[int, int], Chain]:
        """Each unary rule: a segment holds a word, or another segment over the same words, or one that holds a word."""
        (nest, first, _, last), found = self.entries, {}
        for context, x, y in np.ndindex(self.labels + 1, self.labels, self.labels):
            parent = self.segment(x, context)
            if x == y:
                found[parent, self.word(1 + x)] = Chain((x,), (first[1 + x, 0], last[1 + x, 0]))
                continue
            outer, inner = (first[1 + x, 1 + y], last[1 + x, 1 + y]), (nest[1 + x, y], first[1 + y, 0], last[1 + y, 0])
            found[parent, self.segment(y, 1 + x)] = Chain((x,), outer)
            found[parent, self.word(1 + y)] = Chain((x, y), outer, inner)
        return found

    @cached_property
    def grammar(self) -> Grammar:
        """The rules as a grammar."""
        return Grammar.of(2 * (self.labels + 1) ** 2, self.labels + 1, self.rules, self.chains)

    @cached_property
    def used(self) -> list[Chain]:
        """The chains in the order of the grammar."""
        g = self.grammar
        return [self.chains[pair] for pair in zip(g.unary_parent.tolist(), g.unary_child.tolist(), strict=True)]

    @cached_property
    def shares(self) -> tuple[Shares, Shares, Shares, Shares, Shares]:
        """What is made of entries of the tables: binary rules, unary ones outside and inside, segments, roots."""
        g, (nest, first, _, last) = self.grammar, self.entries
        rules = zip(g.parent.tolist(), g.left.tolist(), g.right.tolist(), strict=True)
        return (
            Shares.of(self.rules[rule] for rule in rules),
            Shares.of(chain.outer for chain in self.used),
            Shares.of(chain.inner for chain in self.used),
            Shares.of([nest[context, x]] for context, x in np.ndindex(nest.shape)),
            Shares.of([*([entry] for entry in first[0]), *zip(first[0], last[0], strict=True)]),
        )

    @cached_property
    def symbols(self) -> tuple[Integers, Integers, Integers, Integers, Integers]:
        """Of segments the symbols and kinds (columns of ``start``), in the order of ``nest``; the symbols of roots; of
        words in two segments the rules, and the kinds of the inner segments."""
        size, labels = self.labels + 1, self.labels
        places = list(np.ndindex(size, labels))
        doubled = [(u, labels + chain.labels[1]) for u, chain in enumerate(self.used) if chain.inner]
        rule, inner = np.array(doubled, np.int64).reshape(-1, 2).T
        return (
            np.array([self.segment(x, context) for context, x in places]),
            np.array([x + (labels if context else 0) for context, x in places]),
            np.array([symbol(e, 0) for symbol in (self.row, self.element) for e in range(size)]),
            rule,
            inner,
        )

    def potentials(
        self, p: NestedPotentials, first: int, n: int, longest: int, absent: float = -np.inf
    ) -> GrammarPotentials:
        """The potentials of the n tokens from ``first`` on; those of parts that no segmentation has are ``absent``."""
        tables = np.concatenate([getattr(p, name).ravel() for name in TABLES])
        score = np.full((cell_count(n), 2 * self.labels), absent)
        for c, s, e, phrase in self._segments(p, first, n, longest):
            score[c] = p.start[s] + p.end[e] + p.inside[s : e + 1].sum(axis=0)
            if phrase is not None:
                score[c] += p.phrase[phrase]
        rules, outer, inner, segments, roots = (shares.sums(tables) for shares in self.shares)
        symbol, kind, top, doubled, of_doubled = self.symbols
        span, root = np.zeros((cell_count(n), self.grammar.symbols)), np.full(self.grammar.symbols, absent)
        span[:, symbol], root[top] = score[:, kind] + segments, roots
        begin = np.tile(outer + inner, (n + 1, 1))
        begin[:n, doubled] += score[self._words(n)][:, of_doubled]
        tag = p.word[first : first + n]
        return GrammarPotentials.of(self.grammar, tag, begin=rules, span=span, unary_begin=begin, root=root)

    def count(self, counts: GrammarPotentials, first: int, longest: int, out: NestedPotentials) -> None:
        """Add the counts of the parts of trees to those of segmentations, of which their potentials are sums."""
        n, tables = len(counts.tag), np.zeros(sum(each.size for each in self.entries))
        chains = counts.unary_begin.sum(axis=0)
        symbol, kind, top, doubled, of_doubled = self.symbols
        amounts = (counts.begin[0], chains, chains, counts.span[:, symbol].sum(axis=0), counts.root[top])
        for shares, amount in zip(self.shares, amounts, strict=True):
            shares.share(amount, tables)
        for name, places in zip(TABLES, self.entries, strict=True):
            getattr(out, name)[:] += tables[places]
        score = np.zeros((cell_count(n), 2 * self.labels))
        np.add.at(score.T, kind, counts.span[:, symbol].T)
        np.add.at(score, (self._words(n)[:, None], of_doubled), counts.unary_begin[:n, doubled])
        for c, s, e, phrase in self._segments(out, first, n, longest):
            out.start[s] += score[c]
            out.end[e] += score[c]
            out.inside[s : e + 1] += score[c]
            if phrase is not None:
                out.phrase[phrase] += score[c]
        out.word[first : first + n] += counts.tag

    def listed(self, tree: Derivation | None) -> list[tuple[int, int, int]]:
        """The segments (start, end, label) of a tree, each before those within it."""
        if tree is None:
            return [NO_ANSWER]
        size, found = self.labels + 1, list[tuple[int, int, int, int]]()
        for rule, i, _, j in tree.binary.tolist():
            parent = int(self.grammar.parent[rule])
            if size <= parent < size**2:
                found.append((i, j, parent // size - 1, 1))
        for u, i, j in tree.unary.tolist():
            found += [(i, j, x, depth) for depth, x in enumerate(self.used[u].labels)]
        return [each[:3] for each in sorted(found, key=lambda each: (each[0], -each[1], each[3]))]

    def _words(self, n: int) -> Integers:
        return cells(n, np.arange(n), np.arange(1, n + 1))

    def _segments(
        self, p: NestedPotentials, first: int, n: int, longest: int
    ) -> Iterator[tuple[int, int, int, int | None]]:
        """The span, the first token, the last one and the row in ``phrase`` of all segments that may be."""
        phrases = len(p.phrase) // len(p.word)
        for i in range(n):
            for j in range(i + 1, min(n, i + longest) + 1):
                phrase = (first + i) * phrases + j - i - 1 if j - i <= phrases else None
                yield int(cells(n, i, j)), first + i, first + j - 1, phrase


@cache
def nested_grammar(labels: int) -> NestedGrammar:
    """The grammar of segments with so many labels, made once."""
    return NestedGrammar(labels)
