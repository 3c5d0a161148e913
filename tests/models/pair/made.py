"""A made-up language, word for word like English: two small taggers and links between their texts."""

from __future__ import annotations

from functools import cache
from itertools import product

from dovetail import Tagger
from dovetail.text.bitext import Link, Pair

WORDS = {
    "Ada": "Ado", "Bela": "Belo", "Clara": "Claro", "London": "Londono", "Bern": "Berno", "Acme": "Akmo",
    "saw": "vidis", "left": "lasis", "praised": "laudis", ".": ".",
}  # fmt: skip
NAMES, VERBS = ("Ada", "Bela", "Clara"), ("saw", "left", "praised")
TYPES = {"London": "B-LOC", "Bern": "B-LOC", "Acme": "B-ORG", **dict.fromkeys(NAMES, "B-PER")}


def english() -> list[tuple[list[str], list[str]]]:
    """Sentences with their tags: ``Ada saw Bern .``"""
    found = []
    for name, verb, other in product(NAMES, VERBS, ("London", "Bern", "Acme", "Ada")):
        words = [name, verb, other, "."]
        found.append((words, [TYPES.get(word, "O") for word in words]))
    return found


def bitext() -> tuple[list[Pair], list[list[Link]]]:
    """The same with the translation, and links word by word; verb and object change places."""
    order = [0, 2, 1, 3]
    pairs = [Pair(tuple(words), tuple(WORDS[words[i]] for i in order)) for words, _ in english()]
    return pairs, [[Link(i, j, 0.9) for j, i in enumerate(order)] for _ in pairs]


def gold() -> list[list[str]]:
    """The right tags of the translation."""
    return [[tags[0], tags[2], tags[1], tags[3]] for _, tags in english()]


@cache
def tagger() -> Tagger:
    """Of English."""
    words, tags = zip(*english(), strict=True)
    return Tagger(features=["word[-1:2]"], min_count=1, l2=0.01, cross_validate=0, threads=1).fit(words, tags)


@cache
def unsure() -> Tagger:
    """Of the other language, which knows few of its words."""
    some = [i for i, (words, _) in enumerate(english()) if words[2] == "Bern"][:3]
    pairs, right = bitext()[0], gold()
    how = {"features": ["word[0]", "bias"], "min_count": 1, "l2": 0.1, "cross_validate": 0, "threads": 1}
    words = [pairs[i].target for i in some] + [["Akmo", "Belo", "."], ["Londono"]]
    return Tagger(**how).fit(words, [right[i] for i in some] + [["B-ORG", "B-PER", "O"], ["B-LOC"]])
