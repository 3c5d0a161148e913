"""The relations of dependencies: given the tree, each word's is chosen by a MaxEnt classifier, a tagger of order 0."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from dovetail.features.compile.arcs import DISTANCES
from dovetail.text.sentence import Sentence

ROOT, NONE = "<root>", "<none>"

TEMPLATES = (
    "bias", "word[0]", "lower[0]", "suffix(2, 4)[0]", "shape[0]", "tag[-2:3]", "tag[-1] & tag[0] & tag[1]",
    "lower[-1] & tag[0]", "tag[0] & lower[1]",
    "head_tag[0] & way[0]", "tag[0] & way[0]", "tag[0] & head_tag[0]", "tag[0] & head_tag[0] & way[0]",
    "tag[0] & head_tag[0] & far[0]", "lower[0] & way[0]", "lower[0] & head_tag[0] & way[0]", "head_word[0] & way[0]",
    "head_word[0] & tag[0] & way[0]", "lower[0] & head_word[0]", "suffix(3, 3)[0] & head_tag[0] & way[0]",
    "first_child[0] & tag[0]", "first_child[0] & tag[0] & head_tag[0] & way[0]", "first_child_word[0]",
    "first_child_word[0] & tag[0] & head_tag[0] & way[0]", "first_child_word[0] & head_word[0]",
    "last_child[0] & tag[0] & way[0]", "last_child_word[0] & tag[0]",
    "sibling[0] & tag[0] & head_tag[0] & way[0]", "next_sibling[0] & tag[0] & head_tag[0] & way[0]",
    "grand_tag[0] & head_tag[0] & tag[0] & way[0]", "head_first_child[0] & head_tag[0] & tag[0] & way[0]",
    "head_first_child_word[0] & tag[0] & way[0]", "head_last_child[0] & head_tag[0] & tag[0] & way[0]",
)  # fmt: skip
"""What is seen of a word, its head, and what else hangs on them."""


def with_arcs(words: Sequence[str], tags: Sequence[str], heads: Sequence[int]) -> Sentence:
    """A sentence whose layers spell out the tree around each word; heads are positions from 0, -1 for the root.

    >>> with_arcs(("It", "rains"), ("PRP", "VBZ"), (1, -1)).layers["head_word"]
    ('rains', '<root>')
    """
    lowered = [word.lower() for word in words]
    children: list[list[int]] = [[] for _ in range(len(words) + 1)]  # the last are those of the root
    for word, head in enumerate(heads):
        children[head].append(word)
    before = {w: a for siblings in children for a, w in pairwise(siblings)}
    after = {a: w for w, a in before.items()}

    def tag(position: int | None) -> str:
        return NONE if position is None else ROOT if position < 0 else tags[position]

    def lower(position: int | None) -> str:
        return NONE if position is None else ROOT if position < 0 else lowered[position]

    firsts = [below[0] if below else None for below in children]
    lasts = [below[-1] if below else None for below in children]
    ways = ["<" if head > word else ">" for word, head in enumerate(heads)]
    far = [
        way + str(DISTANCES[min(abs(h - w), len(DISTANCES) - 1)])
        for w, (h, way) in enumerate(zip(heads, ways, strict=True))
    ]
    everyone = range(len(words))
    layers = {
        "tag": tags,
        "way": ways,
        "far": far,
        "head_tag": [tag(h) for h in heads],
        "head_word": [lower(h) for h in heads],
        "grand_tag": [tag(heads[h]) if h >= 0 else NONE for h in heads],
        "first_child": [tag(firsts[w]) for w in everyone],
        "first_child_word": [lower(firsts[w]) for w in everyone],
        "last_child": [tag(lasts[w]) for w in everyone],
        "last_child_word": [lower(lasts[w]) for w in everyone],
        "head_first_child": [tag(firsts[h]) for h in heads],
        "head_first_child_word": [lower(firsts[h]) for h in heads],
        "head_last_child": [tag(lasts[h]) for h in heads],
        "sibling": [tag(before.get(w)) for w in everyone],
        "next_sibling": [tag(after.get(w)) for w in everyone],
    }
    return Sentence(tuple(words), {name: tuple(values) for name, values in layers.items()})
