"""How well types of linked words suit each other, counted in a bitext that two taggers have tagged, or people."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dovetail.errors import DovetailError, InputError
from dovetail.spellings import known
from dovetail.structures.contract import Floats, Integers
from dovetail.text.files import open_target, open_text

SMOOTHING = 0.5
OUTSIDE = "O"
BEFORE = 2.0
"""So many links of each type are thought of before any is counted,"""
SAME = 0.8
"""of which so many have the same type at the other end, the others O;"""
FREQUENT = 20.0
"""and of O so many times as many."""


@dataclass(frozen=True, eq=False)
class TypeTable:
    """How often types come together over links: counts [K source, K target], weighted by the links' probabilities."""

    source: tuple[str, ...]
    target: tuple[str, ...]
    counts: Floats

    @classmethod
    def before(cls, source: Sequence[str], target: Sequence[str], onto: Integers) -> TypeTable:
        """What is thought before anything is counted: a few links, most of them of words of the same type.

        onto: [K source], the number of the target's type for each of the source's.
        """
        counts = np.zeros((len(source), len(target)))
        outside = [names.index(OUTSIDE) if OUTSIDE in names else None for names in (tuple(source), tuple(target))]
        for k, same in enumerate(onto.tolist()):
            counts[k, same] += BEFORE * (SAME if k != outside[0] else FREQUENT)
            if k != outside[0] and outside[1] is not None:
                counts[k, outside[1]] += BEFORE * (1.0 - SAME)
        if outside[0] is not None:
            counts[outside[0]] += BEFORE * (1.0 - SAME) * (np.arange(len(target)) != outside[1])
        return cls(tuple(source), tuple(target), counts)

    def add(self, source: Integers, target: Integers, probability: Floats) -> None:
        """Count links whose words have these types, [C] each."""
        np.add.at(self.counts, (source, target), probability)

    def information(self) -> Floats:
        """``log P(a, b) / (P(a) P(b))`` of linked words: above zero for what comes together. [K source, K target].

        Half a link is added to each pair of types, so that what was never seen is unlikely, not impossible.
        """
        p = (self.counts + SMOOTHING) / (self.counts + SMOOTHING).sum()
        found: Floats = np.log(p) - np.log(p.sum(axis=1, keepdims=True)) - np.log(p.sum(axis=0, keepdims=True))
        return found

    def fitting(self, source: Sequence[str], target: Sequence[str]) -> TypeTable:
        """The table, if it is of these types, in their order."""
        if set(source) != set(self.source) or set(target) != set(self.target):
            raise DovetailError(
                f"the table is of the types {', '.join(self.source)} and {', '.join(self.target)}, and the taggers "
                f"have {', '.join(source)} and {', '.join(target)}: count it again"
            )
        rows, columns = ([own.index(n) for n in names] for own, names in ((self.source, source), (self.target, target)))
        return TypeTable(tuple(source), tuple(target), self.counts[np.ix_(rows, columns)])

    def save(self, path: str | Path) -> None:
        """Write it as JSON."""
        with open_target(path) as file:
            told = {"source": self.source, "target": self.target, "counts": self.counts.round(3).tolist()}
            file.write(json.dumps(told, ensure_ascii=False) + "\n")

    @classmethod
    def load(cls, path: str | Path) -> TypeTable:
        """Read what ``save`` wrote."""
        with open_text(path) as reader:
            text = "\n".join(reader)
        try:
            told = known("log", json.loads(text), ("source", "target", "counts"), path, cls.__name__)
            source, target = (tuple(map(str, told[side])) for side in ("source", "target"))
            counts = np.array(told["counts"], np.float64)
        except (ValueError, KeyError, TypeError, AttributeError):
            raise InputError("this is no table of types; annotate-pair --save-table writes one", path) from None
        if counts.shape != (len(source), len(target)) or not np.isfinite(counts).all() or (counts < 0).any():
            raise InputError("the counts do not fit the types; count the table again", path)
        return cls(source, target, counts)

    def __str__(self) -> str:
        """The information as a table of text, the source's types in rows."""
        width = max(map(len, (*self.source, *self.target, "-0.00")))
        head = " ".join(["".rjust(width), *(name.rjust(width) for name in self.target)])
        rows = [
            " ".join([name.ljust(width), *(f"{x:.2f}".rjust(width) for x in row)])
            for name, row in zip(self.source, self.information().tolist(), strict=True)
        ]
        return "\n".join([head, *rows])
