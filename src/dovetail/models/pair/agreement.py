"""Two taggers that agree across a translation (Che, Wang, Manning and Liu 2013; Wang, Che and Manning 2013).

The best tags of a sentence x and its translation x' are those with the highest

    log P(y | x) + log P(y' | x') + strength * sum over links (s, t) of p(s, t) * I(type of y[s], type of y'[t])

with p the probability of a link and I the mutual information of types over links, counted beforehand: the chains of
two taggers and a factor for each link, in one graph, for any engine. ``soft-align`` is this; ``soft-label`` has 1 for
all links of at least a half; ``hard`` demands the same type at both ends of these. ``joint`` decides on the links, too:
each is there or not, with ``log p / (1 - p)`` for being there, and only then do types count; two links of one word to
words that are no neighbours cost something (DeNero and Macherey 2011). With an ``aligner``, both directions of its
hidden Markov model are chains of the graph, too, and say what each link is worth (``linking.py``).

Where it is told which pairs are a document, what each tagger knows of the same name elsewhere in it (its
``consistency``) is in the graph, too: a factor for each two linked words of one language.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, tee
from typing import Any, NamedTuple

import numpy as np

from dovetail.errors import DovetailError
from dovetail.joint.graph import ENGINES
from dovetail.models.aligner.aligner import Aligner
from dovetail.models.answer import Answer
from dovetail.models.pair import coupled
from dovetail.models.pair.bitext import Linked, linked_batches
from dovetail.models.pair.coupled import Coupled, Within
from dovetail.models.pair.linking import Linking, linking_of, listening
from dovetail.models.pair.projection import expectations_of
from dovetail.models.pair.table import TypeTable
from dovetail.models.pair.types import Types, mapping
from dovetail.models.tagger.estimator import Tagger
from dovetail.structures.chain import ChainBatch
from dovetail.structures.contract import Booleans, Floats, Integers, Labels
from dovetail.text.bitext import Pair
from dovetail.text.expectations import Expectation
from dovetail.text.links import Link
from dovetail.text.sentence import Sentence, Span
from dovetail.text.spans import flat_tags
from dovetail.text.tags import tags_to_spans

SIDES = ("source", "target")
AGREEMENTS = ("soft-align", "soft-label", "hard", "joint")
LIKELY = {"soft-align": 0.1, "soft-label": 0.5, "hard": 0.5, "joint": 0.05}
"""Links that are less probable are left out."""
STRENGTH = 0.5


class Change(NamedTuple):
    """A word that has another tag than its tagger gives alone."""

    side: str
    """``source`` or ``target``."""
    position: int
    before: str
    after: str


class Tagged(NamedTuple):
    """A pair of sentences with the tags that two taggers agreed on."""

    source: Sentence
    target: Sentence
    certain: bool
    """Whether no other tags have a higher score together."""
    changed: tuple[Change, ...]
    """Words, of both sides, that have another tag than their tagger gives alone."""
    links: tuple[Link, ...]
    """Those given, or those that ``joint`` has found."""

    def _repr_html_(self) -> str:
        from dovetail.text.html import links_html, sentence_html

        pair = Pair(self.source.words, self.target.words)
        return sentence_html(self.source) + sentence_html(self.target) + links_html(pair, self.links)


@dataclass(kw_only=True, eq=False)
class PairTagger:
    """Two taggers, and what is known of how their types go together.

    agreement: ``soft-align``, ``soft-label`` or ``hard``. engine: dual, bp, gibbs or ilp. strength: what the table is
    multiplied by. types: the target's name for types of the source, where it has another; O or '' for none. aligner: a
    trained one, source to target, which finds links where none are given, and is in the graph of ``joint``. how: what
    the engine is told, such as ``{"samples": 300}`` for gibbs, as ``Graph.solve`` takes it.
    """

    source: Tagger
    target: Tagger
    agreement: str = "soft-align"
    engine: str = "dual"
    strength: float = STRENGTH
    types: Mapping[str, str] | None = None
    aligner: Aligner | None = None
    how: Mapping[str, Any] | None = None
    table_: TypeTable | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        if self.agreement not in AGREEMENTS:
            raise DovetailError(f"agreement={self.agreement!r}: choose one of {', '.join(AGREEMENTS)}")
        if self.engine not in ENGINES:
            raise DovetailError(f"engine={self.engine!r}: choose one of {', '.join(ENGINES)}")
        if not 0 <= self.strength < np.inf:
            raise DovetailError(f"strength={self.strength!r}: choose a number, 0 or more")
        self._left, self._right = Types.of(self.source), Types.of(self.target)
        self._onto = mapping(self._left, self._right, self.types)
        self._listener = None if self.aligner is None else listening(self.aligner, LIKELY["joint"])

    def count(self, pairs: Iterable[Pair], links: Iterable[Sequence[Link]] | None = None) -> PairTagger:
        """Count how types go together in a bitext that both taggers tag, each for itself."""
        pairs, links = self._with_links(pairs, links)
        table = TypeTable.before(self._left.names, self._right.names, self._onto)
        for some in linked_batches(pairs, links):
            left, right = self._chains(some)
            found = (types.of_label[best] for types, best in self._alone(left, right))
            self._counted(table, some, *found)
        return self.with_table(table)

    def count_gold(self, pairs: Sequence[tuple[Sentence, Sentence]], links: Iterable[Sequence[Link]]) -> PairTagger:
        """The same in pairs of sentences that people have tagged, in the target layers of the taggers."""
        table = TypeTable.before(self._left.names, self._right.names, self._onto)
        words = [Pair(left.words, right.words) for left, right in pairs]
        [some] = linked_batches(words, links, words=1 << 60) if words else []
        found = []
        for side, (tagger, types) in enumerate(((self.source, self._left), (self.target, self._right))):
            labels = tagger._model().labels.encode(tagger.tags_of([pair[side] for pair in pairs]))
            found.append(np.append(types.of_label, -1)[labels])
        self._counted(table, some, *found)
        return self.with_table(table)

    def _counted(self, table: TypeTable, some: Linked, left: Integers, right: Integers) -> None:
        some = some.likely(LIKELY["soft-align"])
        a, b = left[some.source], right[some.target]
        known = (a >= 0) & (b >= 0)
        table.add(a[known], b[known], some.probability[known])

    def with_table(self, table: TypeTable) -> PairTagger:
        """The same with a table that was counted before."""
        self.table_ = table.fitting(self._left.names, self._right.names)
        return self

    def annotate(
        self,
        pairs: Iterable[Pair],
        links: Iterable[Sequence[Link]] | None = None,
        documents: Iterable[Hashable] | None = None,
    ) -> Iterator[Tagged]:
        """The pairs with the tags that both taggers agree on, and for entities their probabilities, as a stream.

        documents: a number or a name for each pair; neighbours that have the same are a document, in which names agree
        with themselves as each tagger has learnt it. None, for all or for a pair, is for pairs that stand alone.
        """
        self._check_counted()
        for some in linked_batches(*self._with_links(pairs, links), documents=documents):
            yield from self._agreed(some)

    def teach(
        self, pairs: Iterable[Pair], links: Iterable[Sequence[Link]] | None = None
    ) -> Iterator[tuple[Expectation, Expectation]]:
        """What each tagger may learn from such pairs: its own probabilities, with what the other says, by bp.

        They are expectations of all tags of all words, for ``Tagger.fit``. A word whose likeliest tag has the
        probability p counts p: a tagger learns more from what both are sure of.
        """
        self._check_counted()
        for some in linked_batches(*self._with_links(pairs, links)):
            linking = self._linking(some)
            some, batches = linking.some, self._chains(some)
            found = self.coupled(linking, *batches)
            batches = batches if found is None else found.evident("bp")
            sides = [
                taught(tagger, [pair[side] for pair in some.pairs], batches[side])
                for side, tagger in enumerate((self.source, self.target))
            ]
            yield from zip(*sides, strict=True)

    def _with_links(
        self, pairs: Iterable[Pair], links: Iterable[Sequence[Link]] | None
    ) -> tuple[Iterable[Pair], Iterable[Sequence[Link]]]:
        """The pairs with the links that are given, or that the aligner finds as they go by."""
        if links is not None:
            return pairs, links
        if self._listener is None:
            raise DovetailError("there are no links: give some, or an aligner that finds them")
        one, two = tee(pairs)
        return one, self._listener.align(two)

    def _linking(self, some: Linked) -> Linking:
        """The links to be decided on, with the chains of the aligner where it is in the graph."""
        if self.aligner is None or self.agreement != "joint":
            return Linking.plain(some)
        return linking_of(self.aligner, some, LIKELY["joint"])

    def _check_counted(self) -> None:
        if self.table_ is None and self.agreement != "hard":
            raise DovetailError(f"{self.agreement} needs a table of types: call count with a bitext and links first")

    def _agreed(self, given: Linked) -> Iterator[Tagged]:
        linking = self._linking(given)
        some = linking.some
        batches, within = self._chains(some), self._within(some)
        alone = [best for _, best in self._alone(*batches)]
        batches = batches if within is None else (within[0].batch, within[1].batch)
        found = self.coupled(linking, *batches, within)
        best = [own.copy() for own in alone]
        certain = np.ones(len(some.pairs), bool)
        if found is not None:
            certain = found.solve(self.engine, best, self.how or {})
            batches = found.evident(self.engine)
        changed: list[list[Change]] = [[] for _ in some.pairs]
        names = (self.source._model().labels.shown, self.target._model().labels.shown)
        for side in (0, 1):
            offsets = (some.source_offsets, some.target_offsets)[side]
            one, two = alone[side], best[side]
            words = np.flatnonzero(one != two)
            for pair, word in zip((np.searchsorted(offsets, words, "right") - 1).tolist(), words.tolist(), strict=True):
                before, after = (names[side][labels[word]] for labels in (one, two))
                changed[pair].append(Change(SIDES[side], word - int(offsets[pair]), before, after))
        sides = [
            written(tagger, [pair[side] for pair in some.pairs], batches[side], best[side])
            for side, tagger in enumerate((self.source, self.target))
        ]
        there = some.probability >= (0.5 if self.agreement == "joint" else 0.0)
        if found is not None and found.links is not None:
            there[found.kept] = found.decided(self.engine, some.probability)
        yield from map(Tagged, *sides, certain.tolist(), map(tuple, changed), links_in(some, there))

    def coupled(
        self, linking: Linking, left: ChainBatch, right: ChainBatch, within: tuple[Within, Within] | None = None
    ) -> Coupled | None:
        """The graph of the links that matter, None if there are none; within: those of documents."""
        some = linking.some
        likely = some.probability >= LIKELY[self.agreement]
        names = [1.0 - t.summed(b.marginals().unary)[:, 0] for t, b in ((self._left, left), (self._right, right))]
        matters = (names[0][some.source] > coupled.SURE) | (names[1][some.target] > coupled.SURE)
        matters |= not (self._left.chunks and self._right.chunks)  # plain labels have no O
        kept = np.flatnonzero(likely & (matters | linking.chained[some.pair]))
        if within is not None:
            within = within[0].of_names(names[0]), within[1].of_names(names[1])
        if not len(kept) and not (within and (len(within[0].links) or len(within[1].links))):
            return None
        return Coupled.of(self, linking, kept, matters[kept], (left, right), within)

    def log_table(self) -> Floats:
        """What a pair of types over a sure link counts, [K source, K target]."""
        if self.agreement == "hard":
            same = self._onto[:, None] == np.arange(len(self._right.names))
            return np.where(same, 0.0, -np.inf)
        assert self.table_ is not None
        return self.strength * self.table_.information()

    def _chains(self, some: Linked) -> tuple[ChainBatch, ChainBatch]:
        left, right = (tagger._batch(self._text(some, side)) for side, tagger in enumerate((self.source, self.target)))
        return left, right

    def _text(self, some: Linked, side: int) -> list[Sentence]:
        own = zip(some.pairs, some.documents, strict=True)
        return (self.source, self.target)[side]._filled([Sentence(pair[side], document=n) for pair, n in own])

    def _within(self, some: Linked) -> tuple[Within, Within] | None:
        """What each tagger knows of linked words of a document, where any pairs are in one."""
        if not any(a is not None and a == b for a, b in pairwise(some.documents)):
            return None
        left, right = (Within.of(t, self._text(some, side)) for side, t in enumerate((self.source, self.target)))
        return left, right

    def _alone(self, left: ChainBatch, right: ChainBatch) -> list[tuple[Types, Labels]]:
        """The types of each tagger, and its best tagging without the other."""
        return [
            (self._left, self.source._model().best(left)),
            (self._right, self.target._model().best(right)),
        ]


def links_in(some: Linked, there: Booleans) -> Iterator[tuple[Link, ...]]:
    """The links that are there, pair by pair."""
    kept = np.flatnonzero(there)
    pair = some.pair[kept]
    columns = (some.source[kept] - some.source_offsets[pair], some.target[kept] - some.target_offsets[pair])
    every = [Link(*one) for one in zip(*(c.tolist() for c in columns), some.probability[kept].tolist(), strict=True)]
    cuts = np.searchsorted(pair, np.arange(len(some.pairs) + 1)).tolist()
    return (tuple(every[a:b]) for a, b in pairwise(cuts))


def taught(tagger: Tagger, words: Sequence[tuple[str, ...]], batch: ChainBatch) -> Iterator[Expectation]:
    """The probabilities of tags as expectations, sentence by sentence."""
    marginals, labels = batch.marginals().unary, tagger._model().labels
    shown = list(dict.fromkeys(labels.shown))
    q = marginals @ np.eye(len(shown))[[shown.index(name) for name in labels.shown]]
    yield from expectations_of(words, batch.offsets, q, q.max(axis=1, initial=0.0), shown)


def written(tagger: Tagger, words: Sequence[Any], batch: ChainBatch, best: Labels) -> list[Sentence]:
    """Sentences with tags, and where these spell entities with the probabilities of those."""
    model = tagger._model()
    tags = model.labels.decode(best, batch.offsets)
    if model.labels.scheme is None:
        return [Answer({tagger.target: tuple(own)}).write(Sentence(w)) for w, own in zip(words, tags, strict=True)]
    spans = model.with_probabilities(batch, [[Span(*span) for span in tags_to_spans(own)] for own in tags])
    return [
        Answer({tagger.target: flat_tags(own, len(w))}, tuple(own)).write(Sentence(w))
        for w, own in zip(words, spans, strict=True)
    ]
