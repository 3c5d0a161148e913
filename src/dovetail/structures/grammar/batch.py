"""Exact inference for the trees of a weighted context-free grammar: over one sentence, and over many."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from dovetail.errors import InputError
from dovetail.structures.contract import Floats, Integers, Parts, Structure, check_direction, check_values
from dovetail.structures.grammar import posterior, search
from dovetail.structures.grammar.parts import (
    Derivation,
    Grammar,
    GrammarPotentials,
    Mask,
    Rules,
    cell_count,
    cells,
    check_shapes,
    check_tree,
    count_parts,
    occupied,
    tree_score,
)
from dovetail.structures.grammar.sums import GrammarWeights, InsideChart, inside, outside
from dovetail.structures.ragged import within
from dovetail.threads import run_shards

Result = TypeVar("Result")
TreePotentials: TypeAlias = tuple[GrammarPotentials, ...]
Trees: TypeAlias = Sequence[Derivation | None]


@dataclass(frozen=True, eq=False)
class ParseChart:
    """All trees of a grammar over n words; minus infinity forbids a part.

    potentials: see :class:`GrammarPotentials`, made by ``GrammarPotentials.of``. mask: [cells, S], 0 where a symbol
    may not stand over a span; everything is allowed unless given. A symbol of a span takes at most one unary rule.

    >>> grammar = Grammar.of(3, 2, binary=[(2, 0, 1), (2, 2, 2)], unary=[(2, 0)])
    >>> tag = np.log([[0.8, 0.1], [0.7, 0.3]])
    >>> chart = ParseChart(grammar, GrammarPotentials.of(grammar, tag, root=[-np.inf, -np.inf, 0.0]))
    >>> round(float(np.exp(chart.log_partition())), 2)  # 0.8 * 0.3 for the tags 0 1 and 0.8 * 0.7 for 0 0
    0.8
    >>> chart.best().tags
    array([0, 0], dtype=int32)
    >>> [(tree.tags.tolist(), round(log_probability, 2)) for tree, log_probability in chart.kbest(2)]
    [([0, 0], -0.36), ([0, 1], -1.2)]
    """

    grammar: Grammar
    potentials: GrammarPotentials
    mask: Mask | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        check_shapes(self.grammar, self.potentials, self.mask)
        check_values(self.potentials)

    def __len__(self) -> int:
        return len(self.potentials.tag)

    def log_partition(self) -> float:
        """The log of the sum of exp(score) over all trees; minus infinity where there is none."""
        _, log_z, chart = self._sums
        return self._logs[0] if chart.lost[0] else log_z

    def marginals(self) -> GrammarPotentials:
        """The expected count of every part, shaped like the potentials."""
        return self.log_partition_and_marginals()[1]

    def log_partition_and_marginals(self) -> tuple[float, GrammarPotentials]:
        """Both in one pass."""
        return self._posterior[:2]

    def best(self) -> Derivation | None:
        """The tree with the highest score, None where there is none."""
        final = self._best.top[len(self) - 1] + self.potentials.root
        root = int(final.argmax())
        return None if final[root] == -np.inf else search.follow(len(self), self.grammar, self._best, root)

    def scored(self, k: int) -> list[tuple[Derivation, float]]:
        """The k best trees (fewer if there are fewer) and their scores, best first."""
        return list(islice(search.LazySearch(self.grammar, self.potentials, self._best, k).trees(), k)) if k > 0 else []

    def kbest(self, k: int) -> list[tuple[Derivation, float]]:
        """The k best trees (fewer if there are fewer) and their log-probabilities, best first."""
        return [(tree, score - self.log_partition()) for tree, score in self.scored(k)]

    def sample(self, n: int, rng: np.random.Generator) -> list[Derivation]:
        """Trees drawn from the exact distribution."""
        return self.drawn(rng.random((n, 3 * len(self))))

    def drawn(self, uniforms: Floats) -> list[Derivation]:
        """Trees drawn by random numbers [trees, 3 * n]."""
        log_z, chart = self._logs
        if log_z == -np.inf:
            raise InputError("every tree is forbidden")
        g, draws = self.grammar, posterior.Draws.empty(len(uniforms), len(self))
        by_parent = (g.by_parent, g.parent_ptr)
        posterior.sample(len(self), Rules.of(g), *by_parent, self.potentials, chart, log_z, uniforms, draws)
        return draws.trees()

    def score(self, tree: Derivation) -> float:
        """The score of a tree; less log Z, it is its log-probability; minus infinity of what the mask forbids."""
        check_tree(self.grammar, tree, len(self))
        return tree_score(self.grammar, tree, self.potentials, self.mask)

    def entropy(self) -> float:
        """The entropy of the tree, in nats; 0 where there is none."""
        return self._descend(self.potentials.zeros(), self._zeros())[2]

    def jvp(self, direction: GrammarPotentials) -> GrammarPotentials:
        """The derivative of the marginals when the potentials move along a direction, in the same shapes."""
        check_direction(direction, self.potentials)
        means, (_, chart) = self._zeros(), self._logs
        posterior.means_below(len(self), Rules.of(self.grammar), self.potentials, chart, direction, means)
        return self._descend(direction, means)[1]

    def span_marginals(self) -> posterior.SpanMarginals:
        """The probability of every symbol and of every unary rule over every span."""
        _, _, upper = self._posterior
        return posterior.span_marginals(len(self), self.grammar, self.potentials, self._logs[1], upper)

    def label_marginals(self, group: ArrayLike, unary_labels: Sequence[ArrayLike] | None = None) -> Floats:
        """The expected number of constituents of each label over each span: [cells, labels].

        group: [S], the label of every symbol, -1 for none (tags, symbols made by binarisation). unary_labels: the
        labels that each unary rule puts over its span, from a chain of them; that of its parent unless given. It is
        a probability where no chain has a label twice.
        """
        labelling = search.Labelling.of(self.grammar, group, unary_labels)
        return search.label_marginals(self.grammar, self.span_marginals(), labelling)

    def max_recall(
        self, group: ArrayLike, unary_labels: Sequence[ArrayLike] | None = None, cost: float | Floats = 0.0
    ) -> Derivation | None:
        """The tree expected to have the most labelled constituents and tags right, None where there is none.

        It maximises the sum of its :meth:`label_marginals`, each less ``cost``, and tag marginals, among the trees
        that are possible. Without a cost, every constituent that a grammar lets in is worth having however
        improbable; with one of 0.5, those more probable than not. ``cost`` may be one for each label.
        """
        labelling = search.Labelling.of(self.grammar, group, unary_labels)
        return search.max_recall(self.grammar, self.potentials, self.span_marginals(), labelling, cost)

    @cached_property
    def _mask(self) -> Mask:
        return flags(self.mask, len(self), self.grammar.symbols)

    @cached_property
    def _best(self) -> search.BestChart:
        chart = search.BestChart.empty(len(self), self.grammar.symbols)
        search.viterbi(len(self), Rules.of(self.grammar), self.potentials, self._mask, chart)
        return chart

    @cached_property
    def _sums(self) -> tuple[GrammarWeights, float, InsideChart]:
        """Inside sums of probabilities, with their weights; not to be trusted if the chart has lost something."""
        weights = GrammarWeights.of(self.potentials)
        return weights, *inside_sums(self.grammar, weights, self._mask)

    @cached_property
    def _logs(self) -> tuple[float, posterior.SpanTable]:
        """The logs of inside sums: of probabilities, or, where these underflow, by sums in log space."""
        _, log_z, chart = self._sums
        if not chart.lost[0]:
            return log_z, posterior.SpanTable.logs(chart)
        logs = self._zeros()
        for table in logs:
            table.fill(-np.inf)
        return posterior.log_inside(len(self), Rules.of(self.grammar), self.potentials, self._mask, logs), logs

    @cached_property
    def _posterior(self) -> tuple[float, GrammarPotentials, Floats]:
        """log Z, the expected counts, and the probability of every upper symbol of a span: [cells, S]."""
        weights, log_z, chart = self._sums
        if not chart.lost[0]:
            counts = self.potentials.zeros()
            top = outside_sums(self.grammar, weights, self._mask, log_z, chart, counts)
            if top is not None:
                return log_z, counts, top * chart.top
        counts, _, _, upper = self._descend(self.potentials.zeros(), self._zeros())
        return self._logs[0], counts, upper

    def _descend(
        self, direction: GrammarPotentials, means: posterior.SpanTable
    ) -> tuple[GrammarPotentials, GrammarPotentials, float, Floats]:
        """Expected counts, their derivatives, the entropy, and the probability of every upper symbol."""
        log_z, chart = self._logs
        counts, moves = self.potentials.zeros(), self.potentials.zeros()
        probability, change = self._zeros(), self._zeros()
        if log_z == -np.inf:
            return counts, moves, 0.0, probability.top
        flow = posterior.Flow(direction, means, probability, change, counts, moves)
        entropy = posterior.descend(len(self), Rules.of(self.grammar), self.potentials, chart, log_z, flow)
        return counts, moves, entropy, probability.top

    def _zeros(self) -> posterior.SpanTable:
        return posterior.SpanTable.zeros(len(self), self.grammar.symbols)


def flags(mask: Mask | None, n: int, symbols: int) -> Mask:
    """A mask as kernels take it, of ones where there is none: [cells, S]."""
    if mask is None:
        return np.ones((cell_count(n), symbols), np.uint8)
    return np.ascontiguousarray(mask if mask.dtype == np.uint8 else mask != 0, np.uint8)


def inside_sums(grammar: Grammar, weights: GrammarWeights, mask: Mask) -> tuple[float, InsideChart]:
    """log Z and a filled chart; not to be trusted if that has lost something."""
    n = len(weights.tag.weight)
    chart = InsideChart.empty(n, grammar.symbols)
    return inside(n, Rules.of(grammar), weights, mask, chart), chart


def outside_sums(
    grammar: Grammar, weights: GrammarWeights, mask: Mask, log_z: float, chart: InsideChart, counts: GrammarPotentials
) -> Floats | None:
    """Add the expected counts to ``counts``, zeros; the outside values of upper symbols, [cells, S]. None where it
    turns out that not every word has one tag: then the counts are not to be trusted."""
    n, above = len(counts.tag), posterior.SpanTable.zeros(len(counts.tag), grammar.symbols)
    if log_z > -np.inf:
        outside(n, Rules.of(grammar), weights, mask, chart, above.top, above.bottom, counts)
        if not abs(counts.tag.sum() - n) < 1e-6 * n:
            return None
    return above.top


@dataclass(frozen=True, eq=False)
class GrammarBatch(Structure[TreePotentials, Trees]):
    """All trees of a grammar over each of n sentences; minus infinity forbids a part.

    potentials: those of every sentence, made by ``GrammarPotentials.of``. masks: as in :class:`ParseChart`, None where
    everything is allowed. An answer has a tree of every sentence, or None where there is none.

    >>> grammar = Grammar.of(3, 2, binary=[(2, 0, 1), (2, 2, 2)], unary=[(2, 0)])
    >>> some = [GrammarPotentials.of(grammar, np.zeros((n, 2)), root=[-np.inf, -np.inf, 0.0]) for n in (1, 2)]
    >>> np.exp(GrammarBatch(grammar, tuple(some)).log_partition()).round(6)
    array([1., 2.])
    """

    grammar: Grammar
    potentials: TreePotentials
    masks: Sequence[Mask | None] = field(default=(), repr=False)
    threads: int | None = field(default=1, repr=False)

    def __post_init__(self) -> None:
        masks = tuple(self.masks) or (None,) * len(self.potentials)
        if len(masks) != len(self.potentials):
            raise InputError(f"there are {len(masks)} masks for {len(self.potentials)} sentences")
        object.__setattr__(self, "masks", masks)
        for potentials, mask in zip(self.potentials, masks, strict=True):
            check_shapes(self.grammar, potentials, mask)

    def __len__(self) -> int:
        return len(self.potentials)

    def chart(self, sentence: int) -> ParseChart:
        """The trees of one sentence."""
        return ParseChart(self.grammar, self.potentials[sentence], self.masks[sentence])

    def log_partition(self) -> Floats:
        """The log of the sum of exp(score) over all trees of every sentence: [n]."""
        return np.array(self._map(ParseChart.log_partition))

    def log_partition_and_marginals(self, in_place: bool = False) -> tuple[Floats, TreePotentials]:
        """Both in one pass, the step of training; ``in_place`` over the potentials, all but those of roots."""
        if in_place:
            found = run_shards(self._sums_in_place, range(len(self)), self.threads)
        else:
            found = self._map(ParseChart.log_partition_and_marginals)
        return np.array([log_z for log_z, _ in found]), tuple(counts for _, counts in found)

    def best(self) -> Trees:
        """The tree of every sentence with the highest score."""
        return self._map(ParseChart.best)

    def kbest(self, k: int) -> tuple[Sequence[Trees], Floats]:
        """The k best trees of every sentence, best first, and their scores [n, k]; minus infinity where fewer are."""
        found = self._map(lambda chart: chart.scored(k))
        scores = np.full((len(self), k), -np.inf)
        for row, trees in zip(scores, found, strict=True):
            row[: len(trees)] = [score for _, score in trees]
        return [[trees[rank][0] if rank < len(trees) else None for trees in found] for rank in range(k)], scores

    def sample(self, n: int, rng: np.random.Generator) -> Sequence[Trees]:
        """``n`` trees of every sentence, drawn from the exact distribution."""
        uniforms = [rng.random((n, 3 * len(potentials.tag))) for potentials in self.potentials]

        def draw(sentence: int) -> list[Derivation]:
            try:
                return self.chart(sentence).drawn(uniforms[sentence])
            except InputError as error:
                raise InputError(f"sentence {sentence}: {error}") from None

        found = run_shards(draw, range(len(self)), self.threads)
        return [[trees[number] for trees in found] for number in range(n)]

    def score(self, answer: Trees) -> Floats:
        """The score of a tree of every sentence, [n]; minus infinity of none, and of what the mask forbids."""
        given = zip(answer, self.potentials, self.masks, strict=True)
        return np.array([-np.inf if tree is None else tree_score(self.grammar, tree, p, m) for tree, p, m in given])

    def indicator(self, answer: Trees) -> TreePotentials:
        """The counts of the parts of a tree of every sentence."""
        return self._count(tuple(potentials.zeros() for potentials in self.potentials), answer, 1.0)

    def subtract(self, counts: TreePotentials, answer: Trees) -> TreePotentials:
        """Counts less those of a tree of every sentence, in place: from marginals, the slope of a log-likelihood."""
        return self._count(counts, answer, -1.0)

    def entropy(self) -> Floats:
        """The entropy of the tree of every sentence, in nats: [n]."""
        return np.array(self._map(ParseChart.entropy))

    def jvp(self, direction: TreePotentials) -> TreePotentials:
        """The derivative of the marginals when the potentials move along a direction, shaped like both."""
        pairs = list(zip(range(len(self)), direction, strict=True))
        return tuple(run_shards(lambda pair: self.chart(pair[0]).jvp(pair[1]), pairs, self.threads))

    def with_potentials(self, potentials: TreePotentials) -> GrammarBatch:
        """The same sentences with other potentials."""
        return replace(self, potentials=tuple(potentials))

    def take(self, which: Integers) -> GrammarBatch:
        """Only some of the sentences, in the order of their numbers ``which``."""
        some = within(which, len(self)).tolist()
        return replace(
            self, potentials=tuple(self.potentials[s] for s in some), masks=tuple(self.masks[s] for s in some)
        )

    def with_cost(self, answer: Trees, cost: float) -> GrammarBatch:
        """The same with a cost for every tag, and every symbol that a rule puts over a span, that a tree lacks."""
        changed = []
        for given, tree in zip(self.potentials, answer, strict=True):
            own = given.with_all_spans()
            tag, span = own.tag + cost, own.span + cost
            if tree is not None:
                n, (where, symbol) = len(tree.tags), occupied(self.grammar, tree)
                words, nodes = (np.arange(n), tree.tags), (where[n:], symbol[n:])
                tag[words], span[nodes] = own.tag[words], own.span[nodes]
            changed.append(own._replace(tag=tag, span=span))
        return self.with_potentials(tuple(changed))

    def narrowed(self, counts: TreePotentials) -> TreePotentials:
        """Counts summed over spans where these have a single row for all."""
        pairs = zip(self.potentials, counts, strict=True)
        return tuple(
            found if found.span.shape == own.span.shape else found._replace(span=found.span.sum(axis=0, keepdims=True))
            for own, found in pairs
        )

    def restrict(self, allowed: Sequence[ArrayLike]) -> GrammarBatch:
        """The same where only some symbols may stand over spans: booleans [cells, S] for every sentence."""
        pairs = zip(self.masks, map(np.asarray, allowed), strict=True)
        masks = (more != 0 if own is None else (more != 0) & (own != 0) for own, more in pairs)
        return replace(self, masks=tuple(mask.astype(np.uint8) for mask in masks))

    def token(self, sentence: ArrayLike, position: ArrayLike, label: ArrayLike) -> Parts:
        """The parts "the word at this position has this tag"."""
        s, tags = within(sentence, len(self)), self.grammar.tags
        token = np.cumsum([0, *self._lengths])[s] + within(position, self._lengths[s])
        return Parts.single("tag", token * tags + within(label, tags))

    def span(self, sentence: ArrayLike, begin: ArrayLike, end: ArrayLike, label: ArrayLike) -> Parts:
        """The parts "a rule puts this symbol over these words": the parent of a binary rule, or of a unary one.

        A tree has each at most once. A tag over its word is no such part, but one of :meth:`token`.
        """
        s = within(sentence, len(self))
        first, last = (within(each, self._lengths[s]) for each in (begin, np.asarray(end) - 1))
        row = np.cumsum([0, *map(cell_count, self._lengths.tolist())])[s] + cells(self._lengths[s], first, last + 1)
        entry = row * self.grammar.symbols + within(label, self.grammar.symbols)
        return Parts.where("span", entry[:, None], (first <= last)[:, None])

    @property
    def one_label_a_span(self) -> bool:
        """Whether no unary rule puts a symbol over another one that is no tag."""
        return not (self.grammar.unary_child >= self.grammar.tags).any()

    def plus(self, parts: Parts, amount: ArrayLike) -> GrammarBatch:
        """The same with amounts [parts] added to the potentials of parts; a single row of spans is widened first."""
        wide = tuple(each.with_all_spans() for each in self.potentials) if parts.table == "span" else self.potentials
        narrow = any(one is not other for one, other in zip(wide, self.potentials, strict=True))
        return super(GrammarBatch, self.with_potentials(wide) if narrow else self).plus(parts, amount)

    def read(self, counts: TreePotentials, parts: Parts) -> Floats:
        """The sums of the counts of parts, [parts]: of marginals, the probabilities of the parts."""
        if parts.table == "span" and any(each.with_all_spans() is not each for each in counts):
            raise InputError("span has a single row for all positions: give potentials a row for every span")
        return super().read(counts, parts)

    @cached_property
    def _lengths(self) -> Integers:
        return np.array([len(potentials.tag) for potentials in self.potentials], np.int64)

    def _map(self, function: Callable[[ParseChart], Result]) -> list[Result]:
        return run_shards(lambda sentence: function(self.chart(sentence)), range(len(self)), self.threads)

    def _sums_in_place(self, sentence: int) -> tuple[float, GrammarPotentials]:
        potentials, mask = self.potentials[sentence], self.masks[sentence]
        weights = GrammarWeights.of(potentials)
        allowed = flags(mask, len(potentials.tag), self.grammar.symbols)
        log_z, chart = inside_sums(self.grammar, weights, allowed)
        if not chart.lost[0]:
            counts = potentials._replace(root=np.zeros_like(potentials.root))
            for table in counts[:-1]:
                table.fill(0.0)
            if outside_sums(self.grammar, weights, allowed, log_z, chart, counts) is not None:
                return log_z, counts
            potentials = weights.potentials()
        return ParseChart(self.grammar, potentials, mask).log_partition_and_marginals()

    def _count(self, counts: TreePotentials, answer: Trees, amount: float) -> TreePotentials:
        for own, tree in zip(counts, answer, strict=True):
            if tree is not None:
                count_parts(self.grammar, tree, amount, own)
        return counts
