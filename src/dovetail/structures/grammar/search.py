"""The best tree over a chart, the k best, and the tree that is expected to have the most constituents right.

The best is found by Viterbi in log space, the k best by lazy search over its chart: Huang and Chiang 2005, algorithm 3.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import heapify, heappop, heappush
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dovetail.errors import InputError
from dovetail.kernel import inner, kernel
from dovetail.structures.contract import Floats, Labels
from dovetail.structures.grammar.parts import Derivation, Grammar, GrammarPotentials, Mask, Rules, cell_count, cells
from dovetail.structures.grammar.posterior import SpanMarginals
from dovetail.structures.grammar.sums import at, binary_total, cell, unary_ends, unary_total

# A symbol over a span, above (True) or below a unary rule: symbol, begin, end, above.
Vertex = tuple[int, int, int, bool]
# The sentence as a whole, whose children are the symbols on top.
SENTENCE = (-1, 0, 0, True)


class BestChart(NamedTuple):
    """Best scores ``bottom`` and ``top`` [cells, S], and how they came about: ``rule``, ``split`` and ``unary``
    [cells, S], the last -1 where no unary rule is used; and the ``number`` [cells] of symbols that are possible over a
    span, ``active`` [cells, S]."""

    bottom: Floats
    top: Floats
    rule: Labels
    split: Labels
    unary: Labels
    active: Labels
    number: Labels

    @classmethod
    def empty(cls, n: int, symbols: int) -> BestChart:
        """A chart for n words, to be filled."""
        shape = (cell_count(n), symbols)
        worst = np.full(shape, -np.inf)
        rule, split, unary, active = np.full((4, *shape), -1, np.int32)
        return cls(worst, worst.copy(), rule, split, unary, active, np.zeros(shape[0], np.int32))


@inner
def best_splits(i: int, j: int, n: int, rules: Rules, p: GrammarPotentials, mask: Mask, chart: BestChart) -> None:
    """The best binary rule and split for every symbol over a span; of equal ones the first."""
    symbols = chart.top.shape[1]
    c, bi, ej = cell(i, j, n), at(i, p.begin), at(j, p.end)
    for k in range(i + 1, j):
        lc, rc, sk = cell(i, k, n), cell(k, j, n), at(k, p.split)
        if chart.number[rc] == 0:
            continue
        for x in range(chart.number[lc]):
            b = chart.active[lc, x]
            by_rule = rules.left_ptr[b + 1] - rules.left_ptr[b] < chart.number[rc]
            for y in range(1 if by_rule else chart.number[rc]):  # all rules of the left child, or those of a pair
                pair = b * symbols + chart.active[rc, y]
                first = rules.left_ptr[b] if by_rule else rules.pair_ptr[pair]
                last = rules.left_ptr[b + 1] if by_rule else rules.pair_ptr[pair + 1]
                for q in range(first, last):
                    a, right = rules.parent[q], chart.top[rc, rules.right[q]]
                    if mask[c, a] and right > -np.inf:
                        score = chart.top[lc, b] + right + p.begin[bi, q] + p.split[sk, q] + p.end[ej, q]
                        if score > chart.bottom[c, a]:
                            chart.bottom[c, a], chart.rule[c, a], chart.split[c, a] = score, q, k
    sc = at(c, p.span)
    for a in range(p.tag.shape[1], symbols):
        chart.bottom[c, a] += p.span[sc, a]


@kernel
def viterbi(
    n: int, rules: Rules, p: GrammarPotentials, mask: Mask, chart: BestChart, over: Floats | None = None
) -> None:
    """Fill an empty chart with the best score of every symbol over every span. mask: [cells, S]. over: [cells, U], what
    unary rules score over spans, in place of what ``p.span`` says of their parents."""
    symbols = chart.top.shape[1]
    for length in range(1, n + 1):
        for i in range(n - length + 1):
            j = i + length
            c = cell(i, j, n)
            if not mask[c].any():
                continue
            if length > 1:
                best_splits(i, j, n, rules, p, mask, chart)
            else:
                for t in range(p.tag.shape[1]):
                    if mask[c, t]:
                        chart.bottom[c, t] = p.tag[i, t]
            for a in range(symbols):
                chart.top[c, a] = chart.bottom[c, a]
            for u in range(len(rules.unary_parent)):
                a, below = rules.unary_parent[u], chart.bottom[c, rules.unary_child[u]]
                if below > -np.inf and mask[c, a]:
                    score = below + unary_total(p, i, j, c, u, a)
                    if over is not None:
                        score = below + unary_ends(p, i, j, u) + over[c, u]
                    if score > chart.top[c, a]:
                        chart.top[c, a], chart.unary[c, a] = score, u
            list_active(c, chart)


@inner
def list_active(c: int, chart: BestChart) -> None:
    """List the symbols that are possible over a span."""
    for a in range(chart.top.shape[1]):
        if chart.top[c, a] > -np.inf:
            chart.active[c, chart.number[c]] = a
            chart.number[c] += 1


def follow(n: int, grammar: Grammar, chart: BestChart, root: int, begin: int = 0, end: int | None = None) -> Derivation:
    """The best tree under a symbol by the back pointers of a filled chart, of all words or ``begin`` to ``end``."""
    last = n if end is None else end
    tags = np.zeros(last - begin, np.int32)
    binary: list[tuple[int, int, int, int]] = []
    unary: list[tuple[int, int, int]] = []
    stack = [(root, begin, last, True)]
    while stack:  # parents first and right before left, so that the lists turned round are children first
        a, i, j, is_top = stack.pop()
        c = int(cell(i, j, n))
        if is_top and chart.unary[c, a] >= 0:
            u = int(chart.unary[c, a])
            unary.append((u, i - begin, j - begin))
            stack.append((int(grammar.unary_child[u]), i, j, False))
        elif j == i + 1:
            tags[i - begin] = a
        else:
            rule, k = int(chart.rule[c, a]), int(chart.split[c, a])
            binary.append((rule, i - begin, k - begin, j - begin))
            stack.append((int(grammar.left[rule]), i, k, True))
            stack.append((int(grammar.right[rule]), k, j, True))
    return Derivation.of(root, tags, binary[::-1], unary[::-1])


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
        return Derivation.of(top.use.children[0][0], tags, binary[::-1], unary[::-1]), top.score

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


class Labelling(NamedTuple):
    """What symbols and unary rules mean as labels: ``group`` [S], -1 for none, and by unary rule u its labels
    ``labels[ptr[u] : ptr[u + 1]]``; ``size`` is the number of labels."""

    group: Labels
    ptr: Labels
    labels: Labels
    size: int

    @classmethod
    def of(cls, grammar: Grammar, group: ArrayLike, unary_labels: Sequence[ArrayLike] | None) -> Labelling:
        """Labels from whatever is like arrays; a unary rule has that of its parent unless given."""
        groups = np.ascontiguousarray(group, np.int32)
        if groups.shape != (grammar.symbols,):
            raise InputError(f"group has shape {groups.shape}, expected {(grammar.symbols,)}")
        given = groups[grammar.unary_parent][:, None] if unary_labels is None else unary_labels
        chains = [np.asarray(chain, np.int32).ravel() for chain in given]
        if len(chains) != grammar.unaries:
            raise InputError(f"unary_labels has {len(chains)} entries, expected one a unary rule, {grammar.unaries}")
        chains = [chain[chain >= 0] for chain in chains]
        labels = np.concatenate([np.zeros(0, np.int32), *chains])
        ptr = np.cumsum([0, *map(len, chains)]).astype(np.int32)
        return cls(groups, ptr, labels, int(max(groups.max(initial=-1), labels.max(initial=-1))) + 1)


def label_marginals(grammar: Grammar, marginals: SpanMarginals, labelling: Labelling) -> Floats:
    """See :meth:`ParseChart.label_marginals`: those of symbols in their lower place, and of labels of unary rules."""
    counts = np.zeros((len(marginals.lower), labelling.size))
    labelled = np.flatnonzero(labelling.group >= 0)
    np.add.at(counts.T, labelling.group[labelled], marginals.lower.T[labelled])
    rules = np.repeat(np.arange(grammar.unaries), np.diff(labelling.ptr))
    np.add.at(counts.T, labelling.labels, marginals.unary.T[rules])
    return counts


def max_recall(
    grammar: Grammar, potentials: GrammarPotentials, marginals: SpanMarginals, labelling: Labelling,
    cost: float | Floats,
) -> Derivation | None:  # fmt: skip
    """See :meth:`ParseChart.max_recall`."""
    n = len(potentials.tag)
    gain = label_marginals(grammar, marginals, labelling) - cost
    padded = np.concatenate([gain, np.zeros((len(gain), 1))], axis=1)  # the last column is of the group -1
    by_rule = np.zeros_like(marginals.unary)
    rules = np.repeat(np.arange(grammar.unaries), np.diff(labelling.ptr))
    np.add.at(by_rule.T, rules, gain.T[labelling.labels])
    allowed = GrammarPotentials(*(np.where(table > -np.inf, 0.0, -np.inf) for table in potentials))
    tag = marginals.lower[cells(n, np.arange(n), np.arange(1, n + 1)), : grammar.tags]
    gains = allowed._replace(tag=np.ascontiguousarray(tag), span=np.ascontiguousarray(padded[:, labelling.group]))
    chart = BestChart.empty(n, grammar.symbols)
    viterbi(n, Rules.of(grammar), gains, (marginals.symbol > 0.0).astype(np.uint8), chart, by_rule)
    final = np.where(marginals.upper[n - 1] > 0.0, chart.top[n - 1], -np.inf)
    root = int(final.argmax())
    return None if final[root] == -np.inf else follow(n, grammar, chart, root)
