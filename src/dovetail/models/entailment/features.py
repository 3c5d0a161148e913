"""What speaks for and against a hypothesis: how much of it the text has, where, and what the text has otherwise."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from dovetail.models.entailment.alignment import NONE, Alignment, align
from dovetail.models.entailment.analysis import ROOT, Analysis, Side
from dovetail.models.entailment.words import MODALS, NEGATIONS, STOP, lemma_of, number_of, opposite

NEAR = 3
"""How many words away from an aligned word a negation still concerns it."""
EXACT = 0.95
"""How alike words are that differ in nothing but grammar."""
FAR = 3
"""More edges than these between two words tear them apart."""
COVERED, TORN = "words covered", "edges torn"

Rarity = Mapping[str, float]
"""How rare lemmas are, from 0 for those in every text to 1 for those in one; unknown ones are as rare as can be."""


def rarity_of(texts: Iterable[Sequence[str]]) -> dict[str, float]:
    """The rarity of the lemmas of texts, by their inverse document frequency.

    >>> rarity_of([["Ada", "wrote"], ["Ada", "slept"], ["Bob", "slept"], ["Bob", "ate"]])["ada"]
    0.5
    """
    every = [{lemma_of(word) for word in text} for text in texts]
    seen = Counter(lemma for lemmas in every for lemma in lemmas)
    most = math.log(max(len(every), 2))
    return {lemma: round(1.0 - math.log(n) / most, 4) for lemma, n in sorted(seen.items()) if n > 1}


def features_of(analysis: Analysis, rarity: Rarity, task: bool = False) -> dict[str, float]:
    """The features of a pair by name; those that are not named are 0.

    They are few, and of each it is plain beforehand which way it points. What else was tried (lengths, order, runs of
    words, plain and exact coverage, coverage of nouns and verbs, types of names) fits one collection of pairs and
    does harm on the next.
    """
    text, claim = analysis.sides
    links = align(text, claim)
    content = [i for i, word in enumerate(claim.words) if word.lower() not in STOP and any(map(str.isalnum, word))]
    content = content or list(range(len(claim.words)))
    found = coverage(claim, links, content, rarity)
    found |= polarity(text, claim, links, content)
    found |= {TORN: torn_edges(text, claim, links, set(content))}
    if task and analysis.pair.task:
        found |= {f"task {analysis.pair.task}": 1.0, f"{COVERED}, task {analysis.pair.task}": found[COVERED] - 0.5}
    return {name: value for name, value in found.items() if value}


def coverage(claim: Side, links: Alignment, content: Sequence[int], rarity: Rarity) -> dict[str, float]:
    """How much of the hypothesis the text has, rare words counting more; and whether in one place."""

    def missing(some: Sequence[int]) -> float:
        return sum(links.place[i] == NONE for i in some) / len(some) if some else 0.0

    weight = [rarity.get(lemma_of(claim.words[i]), 1.0) for i in content]
    names = [i for i in content if claim.names[i] or (i and claim.words[i][:1].isupper())]
    numbers = [i for i, word in enumerate(claim.words) if number_of(word) is not None]
    spots = {links.place[i] for i in content if links.place[i] != NONE}
    return {
        COVERED: sum(w * links.alike[i] for i, w in zip(content, weight, strict=True)) / (sum(weight) or 1.0),
        "words close together": len(spots) / (max(spots) - min(spots) + 1) if spots else 0.0,
        "a name is missing": float(missing(names) > 0),
        "numbers missing": missing(numbers),
    }


def polarity(text: Side, claim: Side, links: Alignment, content: Sequence[int]) -> dict[str, float]:
    """Negation and modality near aligned words on one side only, and words that exclude each other."""
    near = {j + d for i in content if (j := links.place[i]) != NONE for d in range(-NEAR, NEAR + 1)}
    around = {text.words[j].lower() for j in near if 0 <= j < len(text.words)}
    own = {word.lower() for word in claim.words}
    loose = [claim.words[i] for i in content if links.alike[i] < EXACT]
    return {
        "negation in the text only": float(bool(around & NEGATIONS) and not own & NEGATIONS),
        "negation in the hypothesis only": float(bool(own & NEGATIONS) and not around & NEGATIONS),
        "modality in the text only": float(bool(around & MODALS) and not own & MODALS),
        "opposites": float(any(opposite(word, other) for word in loose for other in around)),
    }


def torn_edges(text: Side, claim: Side, links: Alignment, content: set[int]) -> float:
    """The share of the edges between words of the hypothesis whose words are in the text, but far apart in its trees.

    Nothing where there are no trees.
    """
    if not (text.heads and claim.heads):
        return 0.0
    edges = [(i, head) for i in content if (head := _above(claim.heads, i, content)) != ROOT]
    linked = [(links.place[i], links.place[h]) for i, h in edges if NONE not in (links.place[i], links.place[h])]
    return sum(not _joined(text.heads, i, h, FAR) for i, h in linked) / len(edges) if linked else 0.0


def _above(heads: Sequence[int], place: int, content: set[int]) -> int:
    """The nearest word above one that says something by itself: past a preposition or an auxiliary; -1 for none."""
    for _ in heads:  # no more steps than words, whatever the heads are
        place = heads[place]
        if place == ROOT or place in content:
            return place
    return ROOT


def _joined(heads: Sequence[int], one: int, other: int, most: int) -> bool:
    """Whether two words are at most so many edges apart."""
    if one == other:
        return True
    ways = []
    for place in (one, other):
        way = {place: 0}
        for steps in range(1, most + 1):
            place = heads[place]
            if place == ROOT:
                break
            way.setdefault(place, steps)
        ways.append(way)
    return any(ways[0][place] + ways[1][place] <= most for place in ways[0].keys() & ways[1].keys())
