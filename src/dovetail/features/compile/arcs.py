"""Features of dependency arcs, factored over their two ends (McDonald 2005, with first dependents and stops).

A feature of an arc is a conjunction of what is seen at the head, what is seen at the dependent, the direction and,
for some, the distance or whether the dependent is the first. Each end has one random 64-bit key for each template, made
once for a position; the sum of the two keys and of that of the direction is the key of the conjunction, and its
highest bits are the place of its weight. No string is touched, and no table of features is kept: features that
fall on the same place share a weight. What depends on one end alone is scored once for a position.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np

from dovetail.arrays import Flags, Int32s
from dovetail.columns import Column
from dovetail.features.algebra.strings import normalise_digits
from dovetail.features.compile import hashing
from dovetail.features.compile.hashing import Keys
from dovetail.features.resources.clusters import Clusters, prefixes

ROOT, EDGE = "\x02root", "\x03edge"
"""What stands at the root, and outside a sentence."""
OFFSETS = ("-3", "-2", "-1", "+1", "+2", "+3")
DISTANCES = np.array([0, 0, 1, 2, 3, 4, 4, 5, 5, 5, 5] + [6] * 10 + [7], np.int64)
"""The bucket of each distance: 1, 2, 3, 4, 5-6, 7-10, 11-20, and more."""
BUCKETS = 8

# Columns of the weights of one end: direction and distance, direction and first, and for heads side and stop.
FIRST_COLUMN, STOP_COLUMN, HEAD_COLUMNS, DEPENDENT_COLUMNS = 16, 20, 24, 20


class ArcTemplates(NamedTuple):
    """What is seen: at one end alone, and at the head and the dependent.

    The first ``with_first`` of the pairs are also seen with the first dependent, the first ``with_distance`` with the
    distance.
    """

    singles: tuple[str, ...]
    pairs: tuple[tuple[str, str], ...]
    with_first: int
    with_distance: int


FINE = ArcTemplates(
    (
        "", "word", "lower", "tag", "lower tag", "suffix", "suffix tag", "prefix", "shape tag", "tag-1 tag",
        "tag tag+1", "tag-1 tag tag+1", "tag-2 tag-1 tag", "tag tag+1 tag+2", "lower-1 tag", "tag lower+1",
        "lower tag+1", "tag-1 lower", "tag verbs", "tag opener", "tag verbs opener", "lower opener",
        "tag closer", "tag opener closer", "tag marks",
    ),
    (
        ("tag", "tag"), ("lower", "tag"), ("tag", "lower"),
        ("lower", "lower"), ("tag tag+1", "tag-1 tag"), ("tag-1 tag", "tag tag+1"),
        ("tag tag+1", "tag tag+1"), ("tag-1 tag", "tag-1 tag"), ("tag-1 tag tag+1", "tag"), ("tag", "tag-1 tag tag+1"),
        ("tag-1 tag tag+1", "tag-1 tag tag+1"), ("suffix", "tag"), ("tag", "suffix"), ("suffix", "suffix"),
        ("lower tag+1", "tag"), ("tag", "tag-1 lower"), ("lower", "tag-1 tag"), ("lower", "tag tag+1"),
        ("tag tag+1", "lower"), ("tag-1 tag", "lower"), ("tag lower+1", "tag"), ("tag", "lower-1 tag"),
        ("tag verbs", "tag verbs"), ("tag opener", "tag"), ("tag", "tag opener"), ("tag opener", "tag opener"),
        ("tag verbs", "tag tag+1"), ("tag closer", "tag"), ("tag", "tag closer"), ("tag closer", "tag opener"),
        ("tag opener", "tag closer"), ("tag marks", "tag marks"),
    ),
    with_first=3,
    with_distance=6,
)  # fmt: skip
"""What tells good arcs from bad ones."""

CLUSTERS = ArcTemplates(
    ("cluster", "cluster6", "cluster4 tag", "cluster6-1 tag", "tag cluster6+1"),
    (
        ("cluster4", "cluster4"), ("cluster6", "cluster6"), ("cluster6", "tag"), ("tag", "cluster6"),
        ("cluster", "cluster"), ("cluster", "tag"), ("tag", "cluster"),
    ),
    with_first=0,
    with_distance=0,
)  # fmt: skip
"""What is seen of each clustering of words."""

COARSE = ArcTemplates(
    ("", "tag", "tag-1 tag", "tag tag+1"), (("tag", "tag"),), with_first=1, with_distance=1
)  # fmt: skip
"""What tells hopeless arcs from all others."""

KINDS = 3
"""Kinds of words whose number between the ends is seen: verbs, coordinators, punctuation."""
COUNTED = KINDS + 2
"""All that is counted there: those kinds, words with the tag of the head, and words with that of the dependent."""
SPELLED = 6
"""Up to this distance all tags between the ends are seen in order."""
MOST = 4
"""Numbers of them that are told apart: 0, 1, 2, and more."""


class ArcKeys(NamedTuple):
    """What is seen at each of P positions, roots included, by S templates of one end and T templates of two."""

    head_rows: Int32s  # [P, S]: rows of the weights of heads
    dependent_rows: Int32s  # [P, S]: rows of the weights of dependents
    heads: Keys  # [P, T]
    dependents: Keys  # [P, T]
    ends: Keys  # [P, 2]: the tag as head and as dependent, for what lies between
    tags: Int32s  # [P]: numbers of the tags, less than ``between``'s length
    between: Keys  # [tags]: a tag that lies between
    counted: Int32s  # [P + 1, KINDS]: how many words of each kind lie before a position, over all sentences
    salts: Keys  # [2 + 2 * BUCKETS + 4 + COUNTED * MOST]: directions, distances, first dependents, numbers between
    with_first: int
    with_distance: int


class Known(Protocol):
    """What is known of words: keys of those with features of their own, sorted, and clusters by name."""

    @property
    def known(self) -> Keys:
        """Keys of words in lower case."""

    @property
    def clusters(self) -> Mapping[str, Clusters]:
        """Clusters of words."""


@dataclass(frozen=True)
class ArcFeatures:
    """How positions are looked at: ``row_bits`` and ``pair_bits`` bound the weights of one end and of two.

    ``known``: sorted keys of the words, in lower case, that have features of their own; others have those of their
    last letters. ``clusters``: by name; their classes are seen at heads and dependents.
    """

    templates: ArcTemplates
    row_bits: int
    pair_bits: int
    known: Keys = field(default_factory=lambda: np.empty(0, np.uint64))
    clusters: Mapping[str, Clusters] = field(default_factory=dict)

    @classmethod
    def learn(
        cls, words: Sequence[Sequence[str]], min_count: int, row_bits: int, pair_bits: int,
        clusters: Mapping[str, Clusters] | None = None,
    ) -> ArcFeatures:  # fmt: skip
        """Fine features of the words that occur often enough in sentences."""
        return cls(FINE, row_bits, pair_bits, known_words(words, min_count), dict(clusters or {}))

    @property
    def singles(self) -> tuple[str, ...]:
        """Templates of one end."""
        more = [
            template.replace("cluster", f"{name}/cluster")
            for name, clusters in self.clusters.items()
            for template in CLUSTERS.singles
            if _can_read(template, clusters)
        ]
        return (*self.templates.singles, *more)

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """Templates of two ends."""
        more = [
            (head.replace("cluster", f"{name}/cluster"), dependent.replace("cluster", f"{name}/cluster"))
            for name, clusters in self.clusters.items()
            for head, dependent in CLUSTERS.pairs
            if _can_read(head, clusters) and _can_read(dependent, clusters)
        ]
        return (*self.templates.pairs, *more)

    @property
    def weights(self) -> int:
        """How many weights there are: of heads, of dependents, of pairs."""
        return ((HEAD_COLUMNS + DEPENDENT_COLUMNS) << self.row_bits) + (1 << self.pair_bits)

    def keys(self, words: Sequence[Sequence[str]], tags: Sequence[Sequence[str]]) -> ArcKeys:
        """What is seen at every position of some sentences."""
        sizes = np.array([len(sentence) for sentence in words], np.int64)
        atoms = Atoms(self, words, tags, sizes)
        heads = [atoms.template(head, f"{head}>{dependent}>") for head, dependent in self.pairs]
        dependents = [atoms.template(dependent, f"{head}<{dependent}<") for head, dependent in self.pairs]
        shift = np.uint64(64 - self.row_bits)
        rows = [
            np.stack([(atoms.template(t, f"{role} {t}") >> shift).astype(np.int32) for t in self.singles], axis=1)
            for role in ("head", "dependent")
        ]
        ends = np.stack([atoms.template("tag", f"between {role}") for role in ("head", "dependent")], axis=1)
        return ArcKeys(
            rows[0], rows[1], np.stack(heads, axis=1), np.stack(dependents, axis=1), ends,
            atoms.tag_ids, hashing.string_keys(atoms.tag_types, hashing.string_key("between")),
            atoms.counted(), hashing.string_keys([str(i) for i in range(SALTS)], hashing.string_key("salt")),
            self.templates.with_first, self.templates.with_distance,
        )  # fmt: skip


SALTS = 2 + 2 * BUCKETS + 4 + COUNTED * MOST


def known_words(words: Sequence[Sequence[str]], min_count: int) -> Keys:
    """The sorted keys of the words, in lower case, that occur often enough in sentences."""
    column = Column.encode(normalise_digits(word.lower()) for sentence in words for word in sentence)
    counts = np.bincount(column.ids, minlength=len(column.types))
    return np.unique(hashing.string_keys([column.types[i] for i in np.flatnonzero(counts >= min_count)]))


def _can_read(template: str, clusters: Clusters) -> bool:
    """A flat clustering has no levels: the first bits of its paths mean nothing."""
    return clusters.levels != (0,) or not any(level in template for level in ("cluster4", "cluster6"))


class Atoms:
    """The keys of words, tags and their parts at every position, and of conjunctions of them."""

    def __init__(
        self, features: Known, words: Sequence[Sequence[str]], tags: Sequence[Sequence[str]], sizes: Any
    ) -> None:
        self.features = features
        word = Column.encode(w for sentence in words for w in sentence)
        tag = Column.encode(t for sentence in tags for t in sentence)
        positions = int(sizes.sum()) + len(sizes)
        self.root = np.zeros(positions, bool)
        self.root[np.cumsum(sizes + 1) - sizes - 1] = True
        self.last = np.roll(self.root, -1)
        self.word_types = word.types[1:]
        self.word_ids = np.zeros(positions, np.int64)  # 0: the root
        self.word_ids[~self.root] = word.ids
        self.tag_types = [ROOT, *tag.types[1:]]
        self.tag_ids = np.zeros(positions, np.int32)
        self.tag_ids[~self.root] = tag.ids
        self.lowered = [normalise_digits(w.lower()) for w in self.word_types]
        self.made: dict[str, Keys] = {}

    def template(self, template: str, salt: str) -> Keys:
        """The key of a conjunction such as ``tag-1 lower`` at every position: [P]."""
        key = np.full(len(self.root), hashing.string_key(salt))
        for atom in template.split():
            hashing.combine(key, self._at(atom), key)
        return key

    def counted(self) -> Int32s:
        """How many verbs, coordinators and marks of punctuation lie before each position."""
        kinds = np.stack([self._whether(is_kind) for is_kind in (_verb, _coordinator, _mark)], axis=1)
        before = np.zeros((len(kinds) + 1, KINDS), np.int32)
        np.cumsum(kinds, axis=0, out=before[1:])
        return before

    def _at(self, atom: str) -> Keys:
        if atom not in self.made:
            name, offset = (atom[:-2], int(atom[-2:])) if atom[-2:] in OFFSETS else (atom, 0)
            keys = self._moved(self._at(name), offset) if offset else self._base(name)
            self.made[atom] = keys
        return self.made[atom]

    def _moved(self, keys: Keys, offset: int) -> Keys:
        """What stands so many positions further; beyond the root or the last word, the edge."""
        outside = hashing.string_key(EDGE)
        for _ in range(abs(offset)):
            keys = np.roll(keys, -1 if offset > 0 else 1)
            keys[self.last if offset > 0 else self.root] = outside
        return keys

    def _base(self, name: str) -> Keys:
        if name == "tag":
            return hashing.string_keys(self.tag_types)[self.tag_ids]
        if name in RANKS:
            return self._rank(RANKS[name])
        if name in ("opener", "closer"):
            return self._clause(1 if name == "opener" else -1)
        return np.concatenate([[hashing.string_key(ROOT)], self._of_types(name)])[self.word_ids]

    def _rank(self, is_kind: Callable[[str], bool]) -> Keys:
        """How many words of a kind lie before a position and after it in its sentence, up to two each."""
        own = self._whether(is_kind)
        so_far = np.cumsum(own)
        sentence = np.cumsum(self.root) - 1
        before = so_far - own - so_far[self.root][sentence]
        after = so_far[self.last][sentence] - so_far
        keys = hashing.string_keys([str(i) for i in range(9)])
        return np.asarray(keys[3 * np.minimum(before, 2) + np.minimum(after, 2)])

    def _clause(self, step: int) -> Keys:
        """The nearest word to the left (step 1) or right (-1) that may begin a clause, and whether a verb lies between.

        Where there is none, the root or the last word.
        """
        positions = np.arange(len(self.root))[::step]
        edge = (self.root if step > 0 else self.last)[::step]
        place = np.arange(len(edge))
        opens = np.maximum.accumulate(np.where(self._whether(_opens)[::step] | edge, place, 0))
        verb = np.maximum.accumulate(np.where(self._whether(_verb)[::step], place, -1))
        opens, verb = np.concatenate([[0], opens[:-1]]), np.concatenate([[-1], verb[:-1]])  # strictly beyond
        out = np.empty(len(place), np.uint64)
        words = self._at("lower")[positions]
        hashing.combine(words[opens], hashing.string_keys(["", "verb"])[(verb > opens).astype(int)], out)
        out[edge] = hashing.string_key(EDGE)
        return out[::step].copy()

    def _whether(self, is_kind: Callable[[str], bool]) -> Flags:
        """Which positions have a tag of a kind; no root has."""
        return np.array([False, *map(is_kind, self.tag_types[1:])])[self.tag_ids]

    def _of_types(self, name: str) -> Keys:
        resource, _, level = name.rpartition("/cluster")
        if resource:
            return self._clusters(self.features.clusters[resource], int(level or 0))
        if name == "word":
            return self._known(self.word_types)
        if name == "lower":
            return self._known(self.lowered)
        if name == "shape":
            return hashing.string_keys([_shape(w) for w in self.word_types])
        ends = {"suffix": slice(-3, None), "prefix": slice(5)}[name]
        return hashing.string_keys([w[ends] for w in self.lowered])

    def _known(self, spelled: Sequence[str]) -> Keys:
        """The words, as spelled where they are known in lower case, else by their last letters."""
        known, lowered = self.features.known, hashing.string_keys(self.lowered)
        place = np.minimum(np.searchsorted(known, lowered), len(known) - 1)
        rare = hashing.string_keys([f"\x01{w[-2:]}{_shape(w)}" for w in self.word_types])
        return np.where(known[place] == lowered, hashing.string_keys(spelled), rare) if len(known) else rare

    def _clusters(self, clusters: Clusters, level: int) -> Keys:
        paths = hashing.string_keys(["", *(prefixes(path, [level])[0] for path in clusters.paths)])
        return paths[clusters.classes_of(self.word_types) + 1]


def _shape(word: str) -> str:
    """Capitals, digits and other signs: what little a word's form says beside its letters.

    >>> _shape("Ada"), _shape("BBC"), _shape("3-D"), _shape("cat")
    ('A', 'AA', '0-A', '')
    """
    parts = ["A" if word[:1].isupper() else "", "A" if word[1:].upper() == word[1:] != word[1:].lower() else ""]
    digits, signs = any(c.isdigit() for c in word), any(not c.isalnum() for c in word)
    return ("0" if digits else "") + ("-" if signs else "") + ("".join(parts))


def _verb(tag: str) -> bool:
    return tag.startswith("V") or tag in ("MD", "AUX")


def _coordinator(tag: str) -> bool:
    return tag in ("CC", "CCONJ")


def _opens(tag: str) -> bool:
    return tag in ("IN", "WDT", "WP", "WP$", "WRB", "TO", "CC", "SCONJ", "CCONJ") or _mark(tag)


def _mark(tag: str) -> bool:
    return tag == "PUNCT" or not tag[:1].isalpha()


RANKS = {"verbs": _verb, "marks": _mark}
