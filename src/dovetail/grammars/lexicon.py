"""Which parts of speech a word has, and how likely it is under each: known words, unknown ones, and their clusters."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dovetail.grammars.unknown import unknown_class

Floats = NDArray[np.float64]

RARE = 3  # words seen up to so often tell what unknown words are like
PRIOR = 1.0  # how many sightings of a word its class is worth


@dataclass(eq=False)
class Lexicon:
    """Counts of parts of speech: of words ``[tags]`` each, and of the classes of rare words.

    ``group`` maps a word to its cluster or to None; a class then is a cluster, where the cluster is known.

    >>> lexicon = Lexicon.of([["the", "sea"], ["the", "lake"]] * 2, [[0, 1]] * 4, tags=2)
    >>> np.exp(lexicon.log_scores(["the", "pond"])).argmax(axis=1)
    array([0, 1])
    """

    words: dict[str, NDArray[np.float32]]
    classes: dict[str, NDArray[np.float32]]
    total: NDArray[np.float64]
    group: Callable[[str], str | None] | None = None
    _known: dict[str, Floats] = field(default_factory=dict, repr=False)

    @classmethod
    def of(
        cls, sentences: Iterable[Sequence[str]], tags_of: Iterable[Sequence[int]], tags: int,
        group: Callable[[str], str | None] | None = None,
    ) -> Lexicon:  # fmt: skip
        """From words and the numbers of their tags."""
        seen: dict[str, Counter[int]] = defaultdict(Counter)
        for words, numbers in zip(sentences, tags_of, strict=True):
            for word, number in zip(words, numbers, strict=True):
                seen[word][number] += 1
        table = {word: _row(counts, tags) for word, counts in seen.items()}
        classes: dict[str, NDArray[np.float32]] = defaultdict(lambda: np.zeros(tags, np.float32))
        for word, row in table.items():
            if row.sum() <= RARE:
                classes[""] += row
                for name in _classes(word, group):
                    classes[name] += row
        total = _stacked(table, tags).sum(axis=0, dtype=np.float64)
        return cls(table, dict(classes), total, group)

    def tag_probabilities(self, word: str) -> Floats:
        """P(tag | word): [tags], more than zero where any rare word had the tag."""
        if word not in self._known:
            tags = len(self.total)
            chance = np.full(tags, 1.0 / max(tags, 1))
            for name in ("", *_classes(word, self.group)):
                if name in self.classes:
                    row = self.classes[name]
                    chance = (row + PRIOR * chance) / (row.sum() + PRIOR)
            row = self.words.get(word, np.zeros(tags, np.float32))
            self._known[word] = (row + PRIOR * chance) / (row.sum() + PRIOR)
        return self._known[word]

    def log_scores(self, words: Sequence[str]) -> Floats:
        """log P(word | tag) up to a term that is the same for all tags of a word: [n, tags]."""
        share = np.maximum(self.total, 1.0) / max(self.total.sum(), 1.0)
        scores: Floats = np.log(np.stack([self.tag_probabilities(word) for word in words]) / share)
        return scores

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The counts, for a model file."""
        return {
            "lexicon.words": _stacked(self.words, len(self.total)),
            "lexicon.classes": _stacked(self.classes, len(self.total)),
        }

    def header(self) -> dict[str, Any]:
        """The words and classes, for the header of a model file."""
        return {"words": list(self.words), "classes": list(self.classes)}

    @classmethod
    def from_file(
        cls,
        header: Mapping[str, Any],
        arrays: Mapping[str, NDArray[Any]],
        group: Callable[[str], str | None] | None = None,
    ) -> Lexicon:
        """From what ``header`` and ``arrays`` gave."""
        tables = []
        for kind in ("words", "classes"):
            rows = arrays[f"lexicon.{kind}"].astype(np.float32)
            tables.append({str(name): row for name, row in zip(header[kind], rows, strict=True)})
        return cls(tables[0], tables[1], arrays["lexicon.words"].sum(axis=0, dtype=np.float64), group)


def _row(counts: Mapping[int, int], tags: int) -> NDArray[np.float32]:
    row = np.zeros(tags, np.float32)
    row[list(counts)] = list(counts.values())
    return row


def _classes(word: str, group: Callable[[str], str | None] | None) -> tuple[str, ...]:
    """The classes of a word, the most telling last."""
    form = unknown_class(word)
    cluster = group(word) if group else None
    return (form,) if cluster is None else (form, f"{form} {cluster}")


def _stacked(table: Mapping[str, NDArray[np.float32]], tags: int) -> NDArray[np.float32]:
    return np.stack([*table.values()]) if table else np.zeros((0, tags), np.float32)
