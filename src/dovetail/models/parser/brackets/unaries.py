"""Unary chains that are left out of the labels of brackets, and that a classifier puts back (Naradowsky et al. 2012).

Each word, or each span with its label, is a token of a tagger of order 0, whose tags are chains. What it sees depends
on the span and its label alone, so a joined label scores as the label that is left of it, plus the log-probability of
the chain below: sums, searches and samples over trees with chains are those of brackets with joined labels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from dovetail.arrays import taken
from dovetail.features.algebra.sets import FeatureSet
from dovetail.features.algebra.strings import normalise_digits
from dovetail.features.compile.brackets import LENGTHS
from dovetail.grammars.brackets import JOINT, NOTHING, PARTIAL, Bracket, BracketLabels
from dovetail.models.tagger.estimator import Tagger
from dovetail.models.tagging import packed_tagger, unpacked_tagger
from dovetail.models.training import uninterrupted
from dovetail.scorers.bracket_kernels import Kept
from dovetail.scorers.brackets import BracketScorer, RuleScorer
from dovetail.structures.brackets import BracketBatch, BracketPotentials
from dovetail.structures.ruled import RuledBatch, RuledPotentials
from dovetail.text.sentence import Sentence

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Strings = Sequence[Sequence[str]]

NONE = "-"
"""The tag of spans without a chain, and the label of words."""
EDGE = "(edge)"
SPELLED = 4  # the tags of spans of up to so many words are seen in order
LEAST = 1e-3  # chains less probable than that are not looked at, unless they are the likeliest
SEEN = ("size", "first", "last", "before", "after", "tag1", "tag2", "tags", "tagz", "tag0", "tagn")
"""What the tagger sees of a span beside its label: words and tags at both ends, tags inside."""
TEMPLATES = (
    "word[0]", "suffix(1, 3, of=last)[0] & word[0]", "shape(of=last)[0] & word[0] & tagz[0]",
    *(
        " & ".join(f"{one}[0]" for one in ("word", *names.split()))
        for names in (
            *SEEN, "tag1 tagz", "tag0 tagn", "tag1 tagn", "tag0 tag1", "tagz tagn", "first tagn", "last tagn",
            "tag0 first", "before tag1", "tag1 after", "tag0 tag1 tagn", "tag1 tag2", "size tag1", "tags tagn",
            "tags tag0",
        )
    ),
)  # fmt: skip


def cut(label: str, single: bool, everywhere: bool) -> tuple[str, str]:
    """What is left of a label over a word or over several, and the chain below; of words nothing is left.

    >>> cut("S VP", False, True), cut("S VP", False, False), cut("S VP", True, False)
    (('S', 'VP'), ('S VP', ''), ('', 'S VP'))
    """
    if single:
        return NOTHING, label
    if not everywhere or label.startswith(PARTIAL):
        return label, NOTHING
    top, _, rest = label.partition(JOINT)
    return top, rest


def without_chains(brackets: Sequence[Bracket], everywhere: bool) -> list[Bracket]:
    """Brackets with what is left of their labels."""
    return [(i, j, cut(label, j - i == 1, everywhere)[0]) for i, j, label in brackets]


@dataclass(frozen=True, eq=False)
class Unaries:
    """A classifier of the chains of joined labels: over words, or ``everywhere``.

    A joined label is twice among ``labels`` if it is over words and over spans of several: what is left differs.
    """

    labels: BracketLabels
    everywhere: bool
    tagger: Tagger

    @classmethod
    def learn(
        cls, brackets: Sequence[Sequence[Bracket]], words: Strings, tags: Strings, everywhere: bool, threads: int,
        seed: int,
    ) -> Self:  # fmt: skip
        """From brackets with joined labels."""
        known = BracketLabels.of(brackets)
        wide, single = ([known.names[x] for x in np.flatnonzero(able)] for able in (known.wide, known.single))
        over = np.arange(len(wide) + len(single)) < len(wide)
        labels = BracketLabels((*wide, *single), ~over, over)
        halves = [[(i, j, *cut(label, j - i == 1, everywhere)) for i, j, label in own] for own in brackets]
        above = {top for own in halves for i, j, top, chain in own if chain and j - i > 1}
        halves = [[one for one in own if one[1] - one[0] == 1 or one[2] in above] for own in halves]
        nodes = [[(i, j, top) for i, j, top, _ in own] for own in halves]
        right = [tuple(chain or NONE for *_, chain in own) for own in halves]
        looked = [seen(*each) for each in zip(nodes, words, tags, strict=True)]
        corpus = [one.with_layer("chain", own) for one, own in zip(looked, right, strict=True)]
        tagger = Tagger(
            features=FeatureSet.from_lines("unaries", TEMPLATES), order=0, target="chain", l2=0.1, iterations=60,
            min_count=1, observed_only=True, constrain=False, calibrate=False, balance=False, consistency="none",
            cross_validate=0, seed=seed, threads=threads,
        )  # fmt: skip
        return cls(labels, everywhere, uninterrupted(tagger.fit(corpus)))

    @cached_property
    def left(self) -> BracketLabels:
        """What is left of the labels: nothing of those of words."""
        return BracketLabels.of([[(0, 1 if top == NOTHING else 2, top) for top, _ in self._halves]])

    @cached_property
    def above(self) -> Integers:
        """What is left of each label: [L]."""
        return np.array([self.left.number[top] for top, _ in self._halves], np.int64)

    @cached_property
    def chain(self) -> Integers:
        """The chain of each label, as the classifier numbers them; -1 for one that it does not know: [L]."""
        number = {NOTHING if name == NONE else name: i for i, name in enumerate(self.tagger.classes_)}
        return np.array([number.get(chain, -1) for _, chain in self._halves], np.int64)

    @cached_property
    def _halves(self) -> list[tuple[str, str]]:
        pairs = zip(self.labels.names, self.labels.single.tolist(), strict=True)
        return [cut(name, single, self.everywhere) for name, single in pairs]

    def scorer(self, spans: BracketScorer | RuleScorer, words: Strings, tags: Strings) -> ChainedScorer:
        """A scorer of what is left of labels as one of joined labels."""
        plain = spans.spans if isinstance(spans, RuleScorer) else spans
        sizes = np.diff(plain.offsets)
        begin, last = np.concatenate([np.zeros((2, 0), np.int64), *map(np.triu_indices, sizes.tolist())], axis=1)
        row, left = listed(plain.kept, begin, last, plain.rows)
        several = np.bincount(self.above, minlength=len(self.left)) > 1
        some = np.flatnonzero(several[left])
        chance = np.zeros((len(row), len(self.tagger.classes_)))
        where = begin[row[some]], last[row[some]] + 1, left[some]
        chance[some] = self._chances(*where, np.searchsorted(row[some], plain.rows), words, tags)
        found: list[tuple[Integers, Integers, Floats]] = []
        for x in range(len(self.left)):
            own, some = np.flatnonzero(self.above == x), np.flatnonzero(left == x)
            p = chance[np.ix_(some, self.chain[own])] if several[x] else np.ones((len(some), 1))
            there = (p >= LEAST) | (p == p.max(axis=1, keepdims=True))
            which, label = np.nonzero(there)
            found.append((row[some[which]], own[label], np.log(np.maximum(p[there], 1e-300))))
        place, label, gain = (np.concatenate([each[i] for each in found]) for i in range(3))
        order = np.argsort(place, kind="stable")
        ptr = np.searchsorted(place[order], np.arange(len(begin) + 1))
        return ChainedScorer(spans, self, ptr, label[order], gain[order])

    def _chances(
        self, begin: Integers, end: Integers, left: Integers, places: Integers, words: Strings, tags: Strings
    ) -> Floats:
        """The probabilities of chains below what is left at spans, those of each sentence at its places."""
        nodes = self.left.named(begin.tolist(), end.tolist(), left.tolist())
        own = (nodes[low:high] for low, high in pairwise(places.tolist()))
        corpus = [seen(*each) for each in zip(own, words, tags, strict=True)]
        none = np.zeros((0, len(self.tagger.classes_)))
        return np.concatenate([none, *self.tagger.predict_marginals(corpus)])

    # files

    def header(self) -> dict[str, Any]:
        """What a model file says of it."""
        return {"everywhere": self.everywhere, "tagger": packed_tagger(self.tagger)[0]}

    def arrays(self, half: bool = False) -> dict[str, NDArray[Any]]:
        """What a model file has of it as arrays."""
        return packed_tagger(self.tagger, "unaries", half)[1]

    @classmethod
    def from_file(
        cls, labels: BracketLabels, header: Mapping[str, Any] | None, arrays: Mapping[str, NDArray[Any]]
    ) -> Self | None:
        """That of a model file, if it has one."""
        if header is None:
            return None
        tagger = unpacked_tagger(header["tagger"], arrays, "unaries")
        if tagger is None:
            raise ValueError("there is no classifier of chains")
        found = cls(labels, bool(header["everywhere"]), tagger)
        if np.any(found.chain < 0) or np.any(labels.single == labels.wide):
            raise ValueError("the classifier does not know all chains")
        return found


@dataclass(eq=False)
class ChainedScorer:
    """The bracketings of sentences with joined labels, from a scorer of what is left of them.

    ``ptr`` [C + 1]: where the labels of each span begin; ``label`` and ``gain``: these, and the log-probabilities of
    their chains.
    """

    spans: BracketScorer | RuleScorer
    unaries: Unaries
    ptr: Integers = field(repr=False)
    label: Integers = field(repr=False)
    gain: Floats = field(repr=False)

    @property
    def offsets(self) -> Integers:
        """Where the words of each sentence begin: [sentences + 1]."""
        return self.spans.offsets

    def batch(self, weight: NDArray[Any], which: Integers | None = None) -> BracketBatch | RuledBatch:
        """All bracketings of the sentences, or of some."""
        own = self.spans.batch(weight, which)
        plain = self.spans.spans if isinstance(self.spans, RuleScorer) else self.spans
        cells = np.arange(len(self.ptr) - 1) if which is None else taken(plain.rows, which)[0]
        entry, ptr = taken(self.ptr, cells)
        row, label = np.repeat(np.arange(len(cells)), np.diff(ptr)), self.label[entry]
        above = self.unaries.above
        span = np.full((len(cells), len(above)), -np.inf)
        span[row, label] = own.potentials.span[row, above[label]] + self.gain[entry]
        if isinstance(own, RuledBatch):
            rule = own.potentials.rule[np.ix_(above, above, above)]
            return RuledBatch(RuledPotentials(span, rule), own.offsets, own.threads)
        return BracketBatch(BracketPotentials(span), own.offsets, own.threads)


def listed(kept: Kept, begin: Integers, last: Integers, rows: Integers) -> tuple[Integers, Integers]:
    """The spans and labels that are looked at, by span; those of each sentence are at its rows."""
    if len(kept.ptr):
        return np.repeat(np.arange(len(begin)), np.diff(kept.ptr)), kept.label.astype(np.int64)
    whole = np.zeros(len(begin), bool)
    size = np.diff(rows)
    whole[rows[:-1][size > 0] + ((np.sqrt(8 * size[size > 0] + 1) - 1) // 2).astype(np.int64) - 1] = True
    choice = np.where(begin == last, 0, np.where(whole, 2, 1))
    every = [own.astype(np.int64) for own in (kept.single, kept.wide, kept.top)]
    label = [every[c] for c in choice.tolist()]
    row = np.repeat(np.arange(len(begin)), [len(own) for own in label])
    return row, np.concatenate([np.zeros(0, np.int64), *label])


def seen(brackets: Sequence[Bracket], words: Sequence[str], tags: Sequence[str]) -> Sentence:
    """The brackets of a sentence as tokens: their labels, and in layers what is seen of each."""
    lower = [EDGE, *(normalise_digits(word.lower()) for word in words), EDGE]
    tag = [EDGE, *tags, EDGE]
    rows = [
        (
            str(LENGTHS[min(j - i, len(LENGTHS) - 1)]), lower[i + 1], lower[j], lower[i], lower[j + 1], tag[i + 1],
            tag[i + 2] if j - i > 1 else EDGE, " ".join(tags[i:j]) if j - i <= SPELLED else EDGE, tag[j], tag[i],
            tag[j + 1],
        )
        for i, j, _ in brackets
    ]  # fmt: skip
    columns = zip(*rows, strict=True) if rows else ((),) * len(SEEN)
    return Sentence(tuple(label or NONE for *_, label in brackets), dict(zip(SEEN, columns, strict=True)))
