"""What is expected of the labels of sentences that nobody has labelled: JSON lines.

A line is a sentence: its ``words``, and in ``expected`` what is expected of some of them, each ``[position, label,
probability]`` or ``[position, label, probability, weight]``. A label is a tag, such as ``B-PER``, or a type of
entities, ``PER``, which stands for all tags of it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from sys import intern
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dovetail.errors import DovetailError
from dovetail.text.files import Source, Target, open_target, open_text
from dovetail.text.jsonl import json_objects
from dovetail.text.report import reporting

DIGITS = 4


@dataclass(frozen=True, slots=True, eq=False)
class Expectation:
    """A sentence, and what is expected of the labels of some of its words: c entries, by columns.

    >>> one = Expectation.of(["Ada", "schlief"], [(0, "PER", 0.9), (1, "O", 1.0, 0.5)])
    >>> one.label, one.weight.tolist()
    (('PER', 'O'), [1.0, 0.5])
    """

    words: tuple[str, ...]
    position: NDArray[np.int64]
    """[c]: the word, counted from 0."""
    label: tuple[str, ...]
    """[c]: a tag, or a type of entities."""
    probability: NDArray[np.float64]
    """[c]."""
    weight: NDArray[np.float64]
    """[c]: how much it counts."""

    @classmethod
    def of(cls, words: Sequence[str], expected: Iterable[Sequence[Any]]) -> Expectation:
        """From entries (position, label, probability) or (position, label, probability, weight), which are checked."""
        rows = [(*entry, 1.0) if len(entry) == 3 else tuple(entry) for entry in expected]
        for row in rows:
            _check(row, len(words))
        position, label, probability, weight = zip(*rows, strict=True) if rows else ((), (), (), ())
        return cls(
            tuple(words), np.array(position, np.int64), tuple(label), np.array(probability, np.float64),
            np.array(weight, np.float64),
        )  # fmt: skip

    def __len__(self) -> int:
        """The number of words."""
        return len(self.words)


def _check(row: tuple[Any, ...], words: int) -> None:
    if len(row) != 4:
        raise DovetailError(f"an expectation is [position, label, probability, weight], not {list(row)!r:.60}")
    position, label, probability, weight = row
    if not isinstance(position, int | np.integer) or isinstance(position, bool) or not 0 <= position < words:
        raise DovetailError(f"position {position!r:.20} of an expectation: the sentence has words 0 to {words - 1}")
    if not isinstance(label, str) or not label:
        raise DovetailError(f"the label of an expectation is {label!r:.20}; give a tag or a type, a string")
    numbers = all(isinstance(x, int | float | np.floating) and not isinstance(x, bool) for x in (probability, weight))
    if not numbers or not 0 <= probability <= 1 or not 0 <= weight < float("inf"):
        raise DovetailError(
            f"an expectation has the probability {probability!r:.20} and the weight {weight!r:.20}; give numbers, "
            "the first from 0 to 1, the second 0 or more"
        )


def read_expectations(path: Source, encoding: str = "utf-8") -> Iterator[Expectation]:
    r"""The expectations of a file, streamed.

    >>> import io
    >>> [one] = read_expectations(io.StringIO('{"words": ["Ada"], "expected": [[0, "PER", 0.9]]}\n'))
    >>> one.words, one.label
    (('Ada',), ('PER',))
    """
    with open_text(path, encoding) as reader, reporting(None) as notes:
        for item in json_objects(iter(reader), reader.name, notes):
            words, expected = item.fields.get("words"), item.fields.get("expected")
            if not isinstance(words, list) or not all(isinstance(word, str) and word for word in words):
                raise item.wrong("no 'words', a list of strings; dovetail project writes such files")
            if not isinstance(expected, list) or not all(isinstance(entry, list) for entry in expected):
                raise item.wrong("no 'expected', a list of [position, label, probability, weight]")
            try:
                yield Expectation.of([intern(word) for word in words], expected)
            except DovetailError as error:
                raise item.wrong(str(error)) from None


def write_expectations(items: Iterable[Expectation], target: Target) -> None:
    """Write expectations, a line for each sentence; numbers have four digits."""
    with open_target(target) as file:
        for item in items:
            columns = (item.position.tolist(), item.label, item.probability.tolist(), item.weight.tolist())
            rows = [[t, y, round(q, DIGITS), round(w, DIGITS)] for t, y, q, w in zip(*columns, strict=True)]
            line = {"words": item.words, "expected": [row[:3] if row[3] == 1.0 else row for row in rows]}
            file.write(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n")
