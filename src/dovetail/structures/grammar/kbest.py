"""The k best trees, best first, by lazy search over the chart (Huang and Chiang 2005, algorithm 3)."""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heapify, heappop, heappush
from typing import NamedTuple

import numpy as np

from dovetail.kernel import kernel
from dovetail.structures.chain.parts import Floats, Labels
from dovetail.structures.grammar.parts import Derivation, Grammar, GrammarPotentials, cells
from dovetail.structures.grammar.search import BestChart, at, binary_total
from dovetail.structures.grammar.sums import Rules, cell

# A symbol over a span, above (True) or below a unary rule: symbol, begin, end, above.
Vertex = tuple[int, int, int, bool]
# The sentence as a whole, whose children are the symbols on top.
SENTENCE = (-1, 0, 0, True)


class Use(NamedTuple):
    """One way to make a vertex: the score of its own parts, its children, and the rule and split, if any."""

    score: float
    children: tuple[Vertex, ...]
    rule: int = -1
    split: int = -1


class Found(NamedTuple):
    """A tree under a vertex: its score, the use on top and which tree of each child's list it takes."""

    score: float
    use: Use
    ranks: tuple[int, ...]


class TreeList:
    """The trees of a vertex found so far, best first, and the candidates for the next."""

    def __init__(self, uses: list[Use], scores: list[float]) -> None:
        self.uses, self.found = uses, list[Found]()
        # Of equal scores the use that comes first is taken first.
        starts = enumerate(zip(uses, scores, strict=True))
        self.candidates = [(-score, x, (0,) * len(use.children)) for x, (use, score) in starts]
        self.seen = {(x, ranks) for _, x, ranks in self.candidates}
        self.last: tuple[int, tuple[int, ...]] | None = None  # found last, its neighbours not yet candidates
        heapify(self.candidates)

    @property
    def is_complete(self) -> bool:
        """Whether there are no more trees."""
        return not self.candidates and self.last is None

    def step(self) -> None:
        """Take the best candidate."""
        score, x, ranks = heappop(self.candidates)
        self.found.append(Found(-score, self.uses[x], ranks))
        self.last = x, ranks


class LazySearch:
    """The trees of every symbol over every span; each list is only as long as the lists above it ask for."""

    def __init__(self, grammar: Grammar, potentials: GrammarPotentials, chart: BestChart, k: int) -> None:
        """``chart`` is filled by :func:`viterbi`; ``k`` is the most trees that will be asked for."""
        self.grammar, self.potentials, self.chart, self.k = grammar, potentials, chart, k
        self.n, self.rules, self.lists = len(potentials.tag), Rules.of(grammar), dict[Vertex, TreeList]()
        most_rules = int(np.diff(grammar.parent_ptr).max(initial=0))
        self.room = np.empty((self.n, most_rules))

    def trees(self) -> Iterator[tuple[Derivation, float]]:
        """The trees with their scores, best first; right for the first k."""
        rank = 0
        while self.ask(SENTENCE, rank):
            yield self._tree(rank)
            rank += 1

    def _tree(self, rank: int) -> tuple[Derivation, float]:
        tags = np.zeros(self.n, np.int32)
        binary: list[tuple[int, int, int, int]] = []
        unary: list[tuple[int, int, int]] = []
        top = self.lists[SENTENCE].found[rank]
        stack = [(top.use.children[0], top.ranks[0])]
        while stack:  # parents first and right before left, so that the lists turned round are children first
            vertex, rank = stack.pop()
            self.ask(vertex, rank)
            a, i, j, above = vertex
            _, use, ranks = self.lists[vertex].found[rank]
            if not use.children:
                tags[i] = a
            elif not above:
                binary.append((use.rule, i, use.split, j))
            elif use.rule >= 0:
                unary.append((use.rule, i, j))
            stack += zip(use.children, ranks, strict=True)
        tables = np.array(binary[::-1], np.int32).reshape(-1, 4), np.array(unary[::-1], np.int32).reshape(-1, 3)
        return Derivation(top.use.children[0][0], tags, *tables), top.score

    def ask(self, vertex: Vertex, rank: int) -> bool:
        """Find the trees of a vertex up to a rank; whether there are so many. No recursion, as trees are deep."""
        wanted = [(vertex, rank)]
        while wanted:
            current, needed = wanted[-1]
            trees = self._list(current)
            if len(trees.found) > needed or trees.is_complete:
                wanted.pop()
                continue
            missing = self._missing(trees)
            if missing:
                wanted += missing
                continue
            self._add_neighbours(trees)
            if trees.candidates:
                trees.step()
        return len(self.lists[vertex].found) > rank

    def _missing(self, trees: TreeList) -> list[tuple[Vertex, int]]:
        """What the neighbours of the tree found last take from its children that has not been looked for."""
        if trees.last is None:
            return []
        x, ranks = trees.last
        pairs = [(child, rank + 1) for child, rank in zip(trees.uses[x].children, ranks, strict=True)]
        lists = [(self._list(child), rank) for child, rank in pairs]
        short = [len(own.found) <= rank and not own.is_complete for own, rank in lists]
        return [pair for pair, is_short in zip(pairs, short, strict=True) if is_short]

    def _add_neighbours(self, trees: TreeList) -> None:
        """Make candidates of the trees that take the next of one child's list, after the tree found last."""
        if trees.last is None:
            return
        x, ranks = trees.last
        use, trees.last = trees.uses[x], None
        for place, child in enumerate(use.children):
            step = (*ranks[:place], ranks[place] + 1, *ranks[place + 1 :])
            if len(self.lists[child].found) > step[place] and (x, step) not in trees.seen:
                score = use.score + sum(map(self._score, use.children, step))
                trees.seen.add((x, step))
                heappush(trees.candidates, (-score, x, step))

    def _score(self, vertex: Vertex, rank: int) -> float:
        """The score of a tree that has been found, or is the best."""
        if rank > 0:
            return self.lists[vertex].found[rank].score
        a, i, j, above = vertex
        best = self.chart.top if above else self.chart.bottom
        return float(best[i * self.n - i * (i - 1) // 2 + j - i - 1, a])

    def _list(self, vertex: Vertex) -> TreeList:
        if vertex not in self.lists:
            a, _, _, above = vertex
            uses = self._roots() if a < 0 else self._over(vertex) if above else self._under(vertex)
            scores = [use.score + sum(self._score(child, 0) for child in use.children) for use in uses]
            self.lists[vertex] = TreeList(uses, scores)
        return self.lists[vertex]

    def _roots(self) -> list[Use]:
        possible = np.flatnonzero(self.chart.top[self.n - 1] + self.potentials.root > -np.inf)
        return [Use(float(self.potentials.root[a]), ((a, 0, self.n, True),)) for a in possible.tolist()]

    def _over(self, vertex: Vertex) -> list[Use]:
        """The lower symbol itself, or a unary rule over another."""
        (a, i, j, _), p = vertex, self.potentials
        c = int(cells(self.n, i, j))
        stay = [Use(0.0, ((a, i, j, False),))] if self.chart.bottom[c, a] > -np.inf else []
        rules = np.flatnonzero(self.grammar.unary_parent == a)
        children = self.grammar.unary_child[rules]
        scores = p.unary_begin[at(i, p.unary_begin), rules] + p.unary_end[at(j, p.unary_end), rules]
        scores = scores + p.span[at(c, p.span), a]
        possible = scores + self.chart.bottom[c, children] > -np.inf
        kept = zip(rules[possible].tolist(), children[possible].tolist(), scores[possible].tolist(), strict=True)
        return stay + [Use(score, ((child, i, j, False),), rule) for rule, child, score in kept]

    def _under(self, vertex: Vertex) -> list[Use]:
        """The tag, or the best of the binary rules and splits; more of them than trees asked for are not needed."""
        a, i, j, _ = vertex
        if j == i + 1:
            return [Use(float(self.potentials.tag[i, a]), ())]
        rules = self.grammar.by_parent[self.grammar.parent_ptr[a] : self.grammar.parent_ptr[a + 1]]
        scores = self.room[: j - i - 1, : len(rules)]
        score_uses(i, j, self.n, a, rules, self.rules, self.potentials, self.chart, scores)
        flat = scores.ravel()
        floor = np.partition(flat, -self.k)[-self.k] if self.k < len(flat) else -np.inf
        kept = np.flatnonzero((flat >= floor) & (flat > -np.inf))
        kept = kept[np.argsort(-flat[kept], kind="stable")][: self.k]
        place, own = np.divmod(kept, len(rules))
        uses = []
        for q, k, total in zip(rules[own].tolist(), (place + i + 1).tolist(), flat[kept].tolist(), strict=True):
            children = ((int(self.grammar.left[q]), i, k, True), (int(self.grammar.right[q]), k, j, True))
            uses.append(Use(total - self._score(children[0], 0) - self._score(children[1], 0), children, q, k))
        return uses


@kernel
def score_uses(
    i: int, j: int, n: int, a: int, own: Labels, rules: Rules, p: GrammarPotentials, chart: BestChart, scores: Floats
) -> None:
    """The best score of symbol a over a span by each split and each of its own rules: [splits, own]."""
    c = cell(i, j, n)
    for k in range(i + 1, j):
        lc, rc = cell(i, k, n), cell(k, j, n)
        for x in range(len(own)):
            q = own[x]
            children = chart.top[lc, rules.left[q]] + chart.top[rc, rules.right[q]]
            scores[k - i - 1, x] = children + binary_total(p, i, k, j, c, q, a)
