"""From charts to trees: the best tree, where pruning lets none through a wider search, and at last pieces."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np

from dovetail.grammars.treebank import TreebankGrammar
from dovetail.learning.tuning import FACTORS
from dovetail.models.annotator import once_each
from dovetail.models.answer import Answer
from dovetail.models.parser.model import ParserModel
from dovetail.scorers.listed import SentenceLists
from dovetail.structures.contract import Floats, at_most_one
from dovetail.structures.grammar import (
    BestChart,
    Derivation,
    GrammarBatch,
    Mask,
    ParseChart,
    Rules,
    cell_count,
    cells,
    follow,
    viterbi,
)
from dovetail.text.sentence import Span
from dovetail.text.spans import flat_tags
from dovetail.text.tree import Tree
from dovetail.threads import run_shards

LONGEST = 250  # words; what is longer is cut, for the time grows with the cube
WIDER = (1e-6, 0.0)  # thresholds to try where the usual one leaves no tree

Search = Literal["usual", "wider", "pieces", "cut"]
T = TypeVar("T")


def answer_of(
    tree: Tree, search: Search = "usual", entities: Sequence[Span] | None = None, probability: float | None = None
) -> Answer:
    """A tree with its parts of speech, and with the entities of a parser that finds them.

    ``search``: ``usual``; ``wider``, where pruning had left no tree; ``pieces``, where the grammar has none: the fewest
    trees that cover the sentence, under one root; ``cut``: a sentence of more than 250 words, parsed in parts.
    """
    layers = {} if entities is None else {"ner": flat_tags(entities, len(tree))}
    spans = None if entities is None else tuple(entities)
    return Answer(layers | {"pos": tree.tags()}, spans, tree, probability=probability, search=search)


class Votes(NamedTuple):
    """What one parser says of the words that it parses at once."""

    names: tuple[str, ...]
    chance: Floats
    """``[n (n + 1) / 2, names]``: the probability of every label over every span."""
    tags: tuple[str, ...]


@dataclass(eq=False)
class Passage:
    """Words that are parsed at once: a sentence, or a part of a very long one, and its words as they were given.

    ``mask`` has the symbols that are searched, once it is known which leave a tree: that depends on no weight.
    """

    lists: SentenceLists
    words: tuple[str, ...]
    tags: tuple[str, ...]
    shown: tuple[str, ...]
    mask: Mask | None = field(default=None, repr=False)
    search: Search = "usual"


@dataclass(frozen=True)
class Decoder:
    """How trees are chosen, and whether constituents get their probabilities."""

    model: ParserModel
    by_recall: bool = False
    with_probabilities: bool = False

    def answers(self, passage: Passage, models: Sequence[ParserModel]) -> list[Answer]:
        """The trees by models that are like this one in all but how they choose among trees."""
        chart, first = self._narrowest(passage, lambda chart: self._chosen(models[0], chart))
        if first is None:
            plain = self.model.plain
            chart = plain.chart(passage.lists, plain.mask(passage.words, passage.tags, 0.0), passage.words)
            tree = Tree(self.model.root, tuple(pieces(plain.treebank, chart, passage.shown)))
            return [answer_of(tree, "pieces", None if self.model.entities(None) is None else ())] * len(models)
        others = (self._chosen(model, chart) for model in models[1:])
        return [self._parse(passage, chart, best) for best in (first, *others) if best is not None]

    def _chosen(self, model: ParserModel, chart: ParseChart) -> Derivation | None:
        """The best tree of a chart."""
        if self.by_recall:
            return chart.max_recall(*model.labels.of_chart, model.costs)
        return model.searched(chart).best()

    def _parse(self, passage: Passage, chart: ParseChart, best: Derivation) -> Answer:
        model = self.model
        if not self.with_probabilities:
            return answer_of(self.rooted(best, passage.shown), passage.search, model.entities(best))
        tree = self.rooted(best, passage.shown, model.labels.probabilities(chart, best))
        whole = float(at_most_one(np.exp(chart.score(best) - chart.log_partition())))
        return answer_of(tree, passage.search, model.entities(best, chart), whole)

    def kbest(self, passage: Passage, k: int) -> list[Answer]:
        """The k most probable answers, best first; those that differ only in how a tree is built up are one."""
        found: dict[tuple[Tree, tuple[Span, ...] | None], float] = {}
        for derivation, log_probability in self.chart(passage).kbest(k):
            entities = self.model.entities(derivation)
            pair = self.rooted(derivation, passage.shown), None if entities is None else tuple(entities)
            found[pair] = found.get(pair, 0.0) + float(np.exp(log_probability))
        best_first = sorted(found.items(), key=lambda one: -one[1])
        return [answer_of(tree, passage.search, own, float(at_most_one(p))) for (tree, own), p in best_first]

    def vote(self, passage: Passage) -> Votes | None:
        """The probability of every constituent and the likeliest parts of speech; None where there is no tree."""
        chart, labels = self.chart(passage), self.model.labels
        if chart.log_partition() == -np.inf:
            return None
        known = chart.label_marginals(*labels.of_chart)[:, : labels.entities]
        tags = self.model.treebank.tags
        likeliest = chart.marginals().tag.argmax(axis=1).tolist()
        return Votes(labels.names[: labels.entities], known, tuple(tags[t].label for t in likeliest))

    def sample(self, passage: Passage, n: int, rng: np.random.Generator) -> list[Answer]:
        """Answers drawn from the model's distribution over the trees that pruning leaves."""
        chart = self.chart(passage)
        return once_each(chart.sample(n, rng), lambda drawn: self._drawn(passage, chart, drawn))

    def _drawn(self, passage: Passage, chart: ParseChart, drawn: Derivation) -> Answer:
        chance = float(at_most_one(np.exp(chart.score(drawn) - chart.log_partition())))
        return answer_of(self.rooted(drawn, passage.shown), passage.search, self.model.entities(drawn), chance)

    def chart(self, passage: Passage) -> ParseChart:
        """All trees of a sentence that pruning leaves; where it leaves none, with less of it."""
        return self._narrowest(passage, lambda chart: chart.log_partition() > -np.inf or None)[0]

    def _narrowest(self, passage: Passage, answer: Callable[[ParseChart], T | None]) -> tuple[ParseChart, T | None]:
        """The most pruned chart that has an answer, and the answer; the least pruned one where none has."""
        model, lists, words, tags = self.model, passage.lists, passage.words, passage.tags
        if passage.mask is not None:
            chart = model.chart(lists, passage.mask, words)
            return chart, answer(chart)
        usual = model.mask(words, tags)
        single = cells(len(words), np.arange(len(words)), np.arange(1, len(words) + 1))
        of_tags = np.ix_(single, np.arange(model.treebank.grammar.tags))
        for threshold in (None, *WIDER):
            mask = usual
            if threshold is not None:
                # Training has held nothing against improbable tags, so the search does not widen to them.
                mask = model.mask(words, tags, threshold)
                mask[of_tags] = usual[of_tags]
                passage.search = "wider"
            chart = model.chart(lists, mask, words)
            found = answer(chart)
            if found is not None:
                break
        passage.mask = mask
        return chart, found

    def calibration(self, text: Sequence[Sequence[Passage]], gold: Sequence[Derivation | None], threads: int) -> float:
        """The factor on all weights under which held-out trees are most likely: see ``learning.tuning.calibration``.

        Sentences whose tree the grammar or pruning does not have are left out, and so are those that are cut.
        """
        factors = [1.0, *FACTORS.tolist()]
        known = [(own[0], tree) for own, tree in zip(text, gold, strict=True) if tree is not None and len(own) == 1]

        def log_likelihoods(pair: tuple[Passage, Derivation]) -> Floats:
            chart = self.chart(pair[0])
            score = chart.score(pair[1])
            if score == -np.inf:
                return np.zeros(len(factors))
            batch = GrammarBatch(chart.grammar, (chart.potentials,), (chart.mask,))
            return np.array([factor * score - batch.scaled(factor).log_partition()[0] for factor in factors])

        total = sum(run_shards(log_likelihoods, known, threads), np.zeros(len(factors)))
        return float(factors[int(total.argmax())])

    def rooted(
        self, tree: Derivation, words: Sequence[str], probabilities: Mapping[tuple[int, int, str], float] | None = None
    ) -> Tree:
        """A derivation as a tree under the treebank's root."""
        found = self.model.tree(tree, words, probabilities)
        return found if found.label == self.model.root else Tree(self.model.root, (found,))


def answers(
    decoder: Decoder, text: Sequence[Sequence[Passage]], threads: int, models: Sequence[ParserModel] = ()
) -> list[list[Answer]]:
    """The parses of sentences, by the model of a decoder, or by each of some that choose otherwise: [models][n]."""
    some = models or [decoder.model]

    def of_sentence(passages: Sequence[Passage]) -> list[Answer]:
        parts = zip(*(decoder.answers(passage, some) for passage in passages), strict=True)
        return [joined(each, decoder.model.root) for each in parts]

    found = run_shards(of_sentence, text, threads)
    return [[own[m] for own in found] for m in range(len(some))]


def joined(parts: Sequence[Answer], root: str) -> Answer:
    """The parts of a sentence that was cut, under one root."""
    if len(parts) == 1:
        return parts[0]
    children: list[Any] = []
    entities, begin = [], 0
    for part in parts:
        assert part.tree is not None
        children += part.tree.children if part.tree.label == root else [part.tree]
        entities += [replace(e, start=e.start + begin, end=e.end + begin) for e in part.spans or ()]
        begin += len(part.tree)
    known = [part.probability for part in parts if part.probability is not None]
    whole = float(np.prod(known)) if len(known) == len(parts) else None
    return answer_of(Tree(root, tuple(children)), "cut", None if parts[0].spans is None else entities, whole)


def pieces(treebank: TreebankGrammar, chart: ParseChart, words: Sequence[str]) -> list[Tree]:
    """As few trees as cover a sentence that has none of its own; of as many, those with the highest score."""
    n, grammar = len(words), treebank.grammar
    filled = BestChart.empty(n, grammar.symbols)
    mask = np.ones((cell_count(n), grammar.symbols), np.uint8) if chart.mask is None else chart.mask
    viterbi(n, Rules.of(grammar), chart.potentials, mask, filled)
    whole = np.array([not symbol.partial for symbol in treebank.symbols])
    scores = np.where(whole, filled.top, -np.inf)
    best: list[tuple[int, float]] = [(0, 0.0)]  # of the words up to each: the number of pieces, minus the score
    back: list[tuple[int, int]] = [(0, 0)]
    for end in range(1, n + 1):
        options = []
        for begin in range(end):
            row = scores[int(cells(n, begin, end))]
            symbol = int(row.argmax())
            if row[symbol] > -np.inf:
                count, cost = best[begin]
                options.append(((count + 1, cost - float(row[symbol])), (begin, symbol)))
        chosen = min(options)
        best.append(chosen[0])
        back.append(chosen[1])
    found, end = [], n
    while end:
        begin, symbol = back[end]
        derivation = follow(n, grammar, filled, symbol, begin, end)
        found.append(treebank.tree(derivation, words[begin:end]))
        end = begin
    return found[::-1]
