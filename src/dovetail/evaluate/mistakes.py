"""Mistakes about entities: of which kind they are, what is taken for what, and what mending a kind would bring."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from dovetail.evaluate.counts import Counts

Entity = tuple[int, int, str]
NOTHING = "nothing"
KINDS = {
    "missed": "an entity where nothing was found",
    "invented": "something found where no entity is",
    "label": "the right words with the wrong label",
    "boundary": "the right label, and some of the right words",
    "both": "some of the right words, and the wrong label",
}
"""What each kind of mistake is."""


@dataclass(frozen=True)
class Mistake:
    """One mistake: the right entity, the found one, or both."""

    kind: str
    gold: Entity | None
    found: Entity | None


@dataclass
class Mistakes:
    """The mistakes of all sentences.

    >>> seen = Mistakes.of([[(0, 2, "PER"), (5, 6, "LOC")]], [[(0, 1, "PER")]])
    >>> [one.kind for one in seen.sentences[0]], seen.confusion["LOC", "nothing"]
    (['boundary', 'missed'], 1)
    """

    sentences: list[list[Mistake]] = field(default_factory=list)
    """Those of each."""
    confusion: Counter[tuple[str, str]] = field(default_factory=Counter)
    """How often a label was taken for another: (right, found); ``nothing`` for what is on one side only."""
    total: Counts = field(default_factory=lambda: Counts(0, 0, 0))

    @classmethod
    def of(cls, gold: Iterable[Sequence[Entity]], found: Iterable[Sequence[Entity]]) -> Mistakes:
        """Compare, sentence by sentence."""
        seen, numbers = cls(), [0, 0, 0]
        for right, own in zip(gold, found, strict=True):
            mistakes, same = _compared(list(right), list(own))
            seen.sentences.append(mistakes)
            seen.confusion.update((label, label) for *_, label in same)
            for one in mistakes:
                seen.confusion[one.gold[2] if one.gold else NOTHING, one.found[2] if one.found else NOTHING] += 1
            numbers = [a + b for a, b in zip(numbers, (len(right), len(own), len(same)), strict=True)]
        seen.total = Counts(*numbers)
        return seen

    def _repr_html_(self) -> str:
        from dovetail.evaluate.html import confusion_html

        return confusion_html(self.confusion, [*self.labels, NOTHING])

    @property
    def kinds(self) -> Counter[str]:
        """How many there are of each kind."""
        return Counter(one.kind for sentence in self.sentences for one in sentence)

    def mended(self, kind: str) -> Counts:
        """What the counts would be if all mistakes of this kind were put right, and nothing else changed."""
        number = self.kinds[kind]
        added = number if kind == "missed" else -number if kind == "invented" else 0
        right = 0 if kind == "invented" else number
        return Counts(self.total.gold, self.total.predicted + added, self.total.correct + right)

    @property
    def labels(self) -> list[str]:
        """Of both sides, the most frequent of the right ones first."""
        seen: Counter[str] = Counter()
        for (right, found), number in self.confusion.items():
            seen[right] += number
            seen[found] += 0
        return [label for label, _ in sorted(seen.items(), key=lambda one: (-one[1], one[0])) if label != NOTHING]


def _compared(gold: list[Entity], found: list[Entity]) -> tuple[list[Mistake], list[Entity]]:
    """The mistakes of a sentence, and what is right. Each entity is in one mistake: the pair that shares most words."""
    same = list((Counter(gold) & Counter(found)).elements())
    left = sorted((Counter(gold) - Counter(same)).elements())
    over = sorted((Counter(found) - Counter(same)).elements())
    mistakes = []
    pairs = sorted((-_shared(a, b), a[2] != b[2], a, b) for a in left for b in over if _shared(a, b))
    for _, other, a, b in pairs:
        if a in left and b in over:
            left.remove(a)
            over.remove(b)
            kind = "label" if a[:2] == b[:2] else "both" if other else "boundary"
            mistakes.append(Mistake(kind, a, b))
    mistakes += [Mistake("missed", one, None) for one in left] + [Mistake("invented", None, one) for one in over]
    return sorted(mistakes, key=lambda one: (one.gold or one.found or (0, 0, ""))[:2]), same


def _shared(a: Entity, b: Entity) -> int:
    return max(min(a[1], b[1]) - max(a[0], b[0]), 0)
