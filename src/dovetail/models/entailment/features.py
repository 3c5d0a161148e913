"""What speaks for and against a hypothesis: how much of it the text has, where, and what the text has otherwise."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from dovetail.models.entailment.alignment import NONE, Alignment, Likeness, align
from dovetail.models.entailment.analysis import ROOT, Analysis, Side
from dovetail.models.entailment.words import MODALS, NEGATIONS, STOP, lemma_of, likeness, number_of, opposite

NEAR = 3
"""How many words away from an aligned word a negation still concerns it."""
EXACT = 0.95
"""How alike words are that differ in nothing but grammar."""

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
    return {lemma: round(1.0 - math.log(n) / most, 4) for lemma, n in seen.items() if n > 1}


def features_of(analysis: Analysis, rarity: Rarity, like: Likeness = likeness, task: bool = True) -> dict[str, float]:
    """The features of a pair by name; those that are not named are 0."""
    text, claim = analysis.sides
    links = align(text, claim, like)
    content = [i for i, word in enumerate(claim.words) if word.lower() not in STOP and any(map(str.isalnum, word))]
    content = content or list(range(len(claim.words)))
    weight = {i: rarity.get(lemma_of(claim.words[i]), 1.0) for i in content}
    found = coverage(claim, links, weight)
    found |= kinds(text, claim, links, content)
    found |= places(text, claim, links, weight)
    found |= polarity(text, claim, links, content)
    found |= syntax(text, claim, links, set(content))
    found |= {"text length": math.log(len(text.words) + 1), "hypothesis length": math.log(len(claim.words) + 1)}
    if task and analysis.pair.task:
        found |= {f"task {analysis.pair.task}": 1.0, f"covered, task {analysis.pair.task}": found["covered"] - 0.5}
    return {name: value for name, value in found.items() if value}


def coverage(claim: Side, links: Alignment, weight: Mapping[int, float]) -> dict[str, float]:
    """How much of the hypothesis the text has; ``weight`` of the words that count."""
    total = sum(weight.values()) or 1.0
    missing = [weight[i] for i in weight if links.place[i] == NONE]
    covered = sum(links.alike[i] for i in weight) / max(len(weight), 1)
    return {
        "covered": covered,
        "covered by rarity": sum(weight[i] * links.alike[i] for i in weight) / total,
        "covered exactly": sum(weight[i] for i in weight if links.alike[i] >= EXACT) / total,
        "covered wholly": float(not missing),
        "rarest word missing": max(missing, default=0.0),
        "words missing": math.log(len(missing) + 1.0),
    }


def kinds(text: Side, claim: Side, links: Alignment, content: Sequence[int]) -> dict[str, float]:
    """Whether the names, the numbers, the nouns and the verbs of the hypothesis are in the text."""

    def missing(some: Sequence[int]) -> float:
        return sum(links.place[i] == NONE for i in some) / len(some) if some else 0.0

    names = [i for i in content if claim.names[i] or (i and claim.words[i][:1].isupper())]
    numbers = [i for i in range(len(claim.words)) if number_of(claim.words[i]) is not None]
    found = {"names missing": missing(names), "numbers missing": missing(numbers)}
    found |= {"a name is missing": float(found["names missing"] > 0), "no names": float(not names)}
    found["a number is missing"] = float(found["numbers missing"] > 0)
    other = [i for i in names if claim.names[i] and links.place[i] != NONE and text.names[links.place[i]]]
    found["a name is of another kind"] = float(any(claim.names[i] != text.names[links.place[i]] for i in other))
    if claim.tags:
        for what, begins in (("nouns", "N"), ("verbs", "V"), ("adjectives", "J")):
            found[f"{what} missing"] = missing([i for i in content if claim.tags[i].startswith(begins)])
    return found


def places(text: Side, claim: Side, links: Alignment, weight: Mapping[int, float]) -> dict[str, float]:
    """Whether what the text has of the hypothesis is in one place, and in the same order."""
    spots = [links.place[i] for i in weight if links.place[i] != NONE]
    total = sum(weight.values()) or 1.0
    best = 0.0
    for low, high in text.sentences or [(0, len(text.words))]:
        own = [i for i in weight if any(low <= j < high for j in (links.place[i],))]
        best = max(best, sum(weight[i] * links.alike[i] for i in own) / total)
    pairs = list(pairwise(spots))
    every = [links.place[i] for i in range(len(claim.words))]
    joined = sum(b == a + 1 for a, b in pairwise(every) if a != NONE)
    return {
        "covered by one sentence": best,
        "in order": sum(a < b for a, b in pairs) / len(pairs) if pairs else 0.0,
        "in one stretch": common_subsequence(spots) / max(len(weight), 1),
        "together": len(set(spots)) / (max(spots) - min(spots) + 1) if spots else 0.0,
        "neighbours": joined / max(len(every) - 1, 1),
    }


def common_subsequence(spots: Sequence[int]) -> int:
    """The length of the longest run of words that stand in the text in the same order, with gaps.

    >>> common_subsequence([3, 1, 2, 9])
    3
    """
    ends: list[int] = []  # the lowest place where a run of each length ends
    for spot in spots:
        at = next((i for i, end in enumerate(ends) if end >= spot), len(ends))
        ends[at : at + 1] = [spot]
    return len(ends)


def polarity(text: Side, claim: Side, links: Alignment, content: Sequence[int]) -> dict[str, float]:
    """Negation and modality near aligned words on one side only, and words that exclude each other."""
    near = {j + d for i in content if (j := links.place[i]) != NONE for d in range(-NEAR, NEAR + 1)}
    around = [text.words[j].lower() for j in near if 0 <= j < len(text.words)]
    own = [word.lower() for word in claim.words]
    found: dict[str, float] = {}
    for what, known in (("negation", NEGATIONS), ("modality", MODALS)):
        there, here = any(word in known for word in around), any(word in known for word in own)
        found[f"{what} in the text only"] = float(there and not here)
        found[f"{what} in the hypothesis only"] = float(here and not there)
    loose = [claim.words[i] for i in content if links.alike[i] < EXACT]
    found["opposites"] = float(any(opposite(word, other) for word in loose for other in set(around)))
    return found


def syntax(text: Side, claim: Side, links: Alignment, content: set[int]) -> dict[str, float]:
    """Whether words that hang on each other in the hypothesis do so in the text, where there are trees."""
    if not (text.heads and claim.heads):
        return {}
    edges = [(i, head) for i, head in enumerate(claim.heads) if head != ROOT and {i, head} <= content]
    linked = [(i, h) for i, h in edges if links.place[i] != NONE and links.place[h] != NONE]
    direct = sum(_joined(text.heads, links.place[i], links.place[h], 1) for i, h in linked)
    close = sum(_joined(text.heads, links.place[i], links.place[h], 3) for i, h in linked)
    roots = [i for i, head in enumerate(claim.heads) if head == ROOT]
    found = {
        "edges": direct / len(edges) if edges else 0.0,
        "edges, nearly": close / len(edges) if edges else 0.0,
        "edges torn": (len(linked) - close) / len(edges) if edges else 0.0,
        "main word missing": float(all(links.place[i] == NONE for i in roots)),
        "sides changed": 0.0,
    }
    for i, h in linked:  # a subject stands before its verb, an object after it
        if claim.tags and claim.tags[h].startswith("V") and _joined(text.heads, links.place[i], links.place[h], 1):
            found["sides changed"] = max(found["sides changed"], float((i < h) != (links.place[i] < links.place[h])))
    return found


def _joined(heads: Sequence[int], one: int, other: int, most: int) -> bool:
    """Whether two words are at most so many edges apart."""
    if one == other:
        return True
    ways = []
    for place in (one, other):
        way = {place: 0}
        while heads[place] != ROOT and len(way) <= most:
            place = heads[place]
            way[place] = len(way)
        ways.append(way)
    return any(ways[0][place] + ways[1][place] <= most for place in ways[0].keys() & ways[1].keys())
