"""Features of spans, factored over their two ends, for labels of brackets.

A feature of a span is a conjunction of what is seen at the gap where it begins, what is seen at the gap where it ends,
and for some its length or what lies inside. Each gap has a random 64-bit key for each template; the sum of the two keys
is that of the conjunction. No string is touched. What depends on one end alone is looked up and scored once for a gap.

Gap p of a sentence lies before word p. Templates are read as at the word to its left: ``tag`` is that word's, ``tag+1``
that of the word to the right.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dovetail.features.compile import hashing
from dovetail.features.compile.arcs import Atoms, known_words
from dovetail.features.compile.hashing import Keys
from dovetail.features.resources.clusters import Clusters

LENGTHS = np.array([0, 0, 1, 2, 3, 4, 5, 5, 6, 6, 6] + [7] * 5 + [8] * 5 + [9] * 10 + [10], np.int64)
"""The class of each length: 1 to 5, 6-7, 8-10, 11-15, 16-20, 21-30, and more."""
CLASSES = 11
SPELLED = 8
"""The tags of spans of up to so many words are seen in order."""
KINDS = 3
"""Kinds of words whose number inside is seen: verbs, coordinators, punctuation."""
MOST = 4
"""Numbers of them that are told apart: 0, 1, 2, and more."""


class SpanTemplates(NamedTuple):
    """What is seen: at the gap where a span begins, where it ends, and at both.

    The first ``with_length`` of the pairs are also seen with the length, the first ``with_inside`` with the kinds of
    words inside.
    """

    begins: tuple[str, ...]
    ends: tuple[str, ...]
    pairs: tuple[tuple[str, str], ...]
    with_length: int
    with_inside: int
    inside: bool
    """Whether the tags of all words inside are seen."""


GAP = (
    "", "tag", "tag+1", "tag tag+1", "tag-1 tag tag+1", "tag tag+1 tag+2", "tag-1 tag tag+1 tag+2",
    "lower", "lower+1", "word", "word+1", "lower tag+1", "tag lower+1", "lower lower+1", "suffix", "suffix+1",
    "shape tag", "shape+1 tag+1", "suffix tag+1", "tag suffix+1",
)  # fmt: skip

FINE = SpanTemplates(
    (*GAP, "tag+1 tag+2", "tag+1 tag+2 tag+3", "lower+1 tag+2", "lower+1 lower+2", "tag-1 tag", "lower-1 lower"),
    (*GAP, "tag-1 tag", "tag-2 tag-1 tag", "tag-1 lower", "lower-1 lower", "tag+1 tag+2", "lower+1 lower+2"),
    (
        ("", ""), ("tag+1", "tag"), ("tag", "tag+1"), ("tag+1", ""), ("", "tag"), ("lower+1", ""), ("", "lower"),
        ("lower", ""), ("", "lower+1"),
        ("tag+1", "tag+1"), ("tag", "tag"), ("tag tag+1", "tag tag+1"),
        ("tag tag+1", "tag"), ("tag tag+1", "tag+1"), ("tag", "tag tag+1"), ("tag+1", "tag tag+1"),
        ("tag+1 tag+2", "tag-1 tag"), ("tag-1 tag", "tag+1 tag+2"), ("tag+1 tag+2", "tag tag+1"),
        ("tag tag+1", "tag-1 tag"),
        ("lower+1", "tag"), ("tag+1", "lower"), ("lower+1", "lower"), ("lower", "lower+1"), ("lower", "tag+1"),
        ("tag", "lower+1"), ("lower+1", "tag+1"), ("tag", "lower"), ("lower", "tag"), ("tag+1", "lower+1"),
        ("lower+1", "tag tag+1"), ("tag tag+1", "lower"), ("lower+1", "lower+1"), ("lower", "lower"),
    ),
    with_length=9,
    with_inside=5,
    inside=True,
)  # fmt: skip
"""What tells good spans from bad ones, and their labels."""

COARSE = SpanTemplates(
    ("", "tag", "tag+1", "tag tag+1", "tag-1 tag tag+1", "tag tag+1 tag+2", "tag+1 tag+2", "tag-1 tag"),
    ("", "tag", "tag+1", "tag tag+1", "tag-1 tag tag+1", "tag tag+1 tag+2", "tag+1 tag+2", "tag-1 tag"),
    (("", ""), ("tag+1", "tag"), ("tag", "tag+1"), ("tag+1", "tag+1"), ("tag", "tag")),
    with_length=1,
    with_inside=1,
    inside=False,
)  # fmt: skip
"""What tells hopeless spans from all others."""

SALTS = CLASSES + KINDS * MOST + 3


class SpanKeys(NamedTuple):
    """What is seen at each of P gaps, by B and E templates of one end and T templates of two."""

    first: Keys
    """``[P, B]``: features of what begins here."""
    last: Keys
    """``[P, E]``: features of what ends here."""
    begins: Keys
    """``[P, T]``."""
    ends: Keys
    """``[P, T]``."""
    tags: NDArray[np.int32]
    """``[P]``: numbers of the tags of the words to the left."""
    between: Keys
    """``[tags]``: a tag that lies inside."""
    counted: NDArray[np.int32]
    """``[P, KINDS]``: how many words of each kind lie before a gap, over all sentences."""
    salts: Keys
    """``[SALTS]``: lengths, numbers inside, and ways to see all tags inside."""
    with_length: int
    with_inside: int
    inside: bool


@dataclass(frozen=True)
class SpanFeatures:
    """How spans are looked at.

    ``known``: sorted keys of the words, in lower case, that have features of their own; others have those of their
    last letters. ``clusters``: by name.
    """

    templates: SpanTemplates
    known: Keys = field(default_factory=lambda: np.empty(0, np.uint64))
    clusters: Mapping[str, Clusters] = field(default_factory=dict)

    @classmethod
    def learn(
        cls, words: Sequence[Sequence[str]], min_count: int, clusters: Mapping[str, Clusters] | None = None
    ) -> SpanFeatures:
        """Fine features of the words that occur often enough in sentences."""
        return cls(FINE, known_words(words, min_count), dict(clusters or {}))

    def keys(self, words: Sequence[Sequence[str]], tags: Sequence[Sequence[str]]) -> SpanKeys:
        """What is seen at every gap of some sentences."""
        sizes = np.array([len(sentence) for sentence in words], np.int64)
        atoms, t = Atoms(self, words, tags, sizes), self.templates
        begins = [atoms.template(b, f"{b}[{e}[") for b, e in t.pairs]
        ends = [atoms.template(e, f"{b}]{e}]") for b, e in t.pairs]
        of_ends = [
            np.stack([atoms.template(one, f"{side} {one}") for one in templates], axis=1)
            for side, templates in (("begin", t.begins), ("end", t.ends))
        ]
        return SpanKeys(
            of_ends[0], of_ends[1], np.stack(begins, axis=1), np.stack(ends, axis=1),
            atoms.tag_ids, hashing.string_keys(atoms.tag_types, hashing.string_key("inside")),
            atoms.counted()[1:], hashing.string_keys([str(i) for i in range(SALTS)], hashing.string_key("span")),
            t.with_length, t.with_inside, t.inside,
        )  # fmt: skip

    def names(self) -> tuple[list[str], list[str], list[str]]:
        """What the features of a begin, an end and both are called, in the order of their keys."""
        t = self.templates
        both = [f"{b or '*'} .. {e or '*'}" for b, e in t.pairs]
        kinds = [f"{name} {kind}s" for kind in ("verb", "coordinator", "mark") for name in both[: t.with_inside]]
        inside = ["tags in order", "runs of tags", "set of tags"] if t.inside else []
        return list(t.begins), list(t.ends), [*both, *(f"{n} length" for n in both[: t.with_length]), *kinds, *inside]
