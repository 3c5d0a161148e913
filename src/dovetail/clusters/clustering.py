"""A clustering of words: the class of each word, and each class's path from the root of a tree."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from dovetail.arrays import Int32s, Int64s
from dovetail.clusters.paths import EXPECTED, read_paths
from dovetail.errors import InputError, ModelFileError
from dovetail.text.files import atomic_writer
from dovetail.text.report import ReadReport

COMPACT = ".clusters"
"""The suffix of the compact file; any other means a paths file."""


@dataclass(frozen=True, eq=False)
class Clustering:
    """Words with their classes: word i is in class ``classes[i]``, whose path of bits is ``paths[classes[i]]``.

    ``words`` and ``counts`` (how often each was seen) have an entry for each word, ``paths`` one for each class. A
    prefix of a path names a node of the tree, a coarser class.

    >>> clustering = Clustering(["a", "b"], np.array([1, 0], dtype=np.int32), ["0", "1"], np.array([5, 3]))
    >>> clustering.path_of("b"), clustering.path_of("c")
    ('0', None)
    """

    words: list[str]
    classes: Int32s
    paths: list[str]
    counts: Int64s

    def __len__(self) -> int:
        return len(self.words)

    def path_of(self, word: str) -> str | None:
        """The path of a word, or None if it has no class."""
        number = self._number.get(word)
        return None if number is None else self.paths[self.classes[number]]

    @cached_property
    def _number(self) -> dict[str, int]:
        return {word: number for number, word in enumerate(self.words)}

    def members(self) -> dict[str, list[str]]:
        """The words of each class, most frequent first, by its path.

        >>> Clustering(["a", "b"], np.array([0, 0], dtype=np.int32), ["0"], np.array([3, 5])).members()
        {'0': ['b', 'a']}
        """
        groups: dict[str, list[str]] = {path: [] for path in sorted(self.paths)}
        for number in self._by_path().tolist():
            groups[self.paths[self.classes[number]]].append(self.words[number])
        return groups

    def _by_path(self) -> Int64s:
        """Numbers of the words, by path, then most frequent first."""
        place = np.empty(len(self.paths), dtype=np.int64)
        place[sorted(range(len(self.paths)), key=self.paths.__getitem__)] = np.arange(len(self.paths))
        return np.lexsort((-self.counts, place[self.classes]))

    def save(self, path: str | Path) -> None:
        """Write a paths file (``.gz`` is compressed), or a compact one that loads faster if the name ends in
        ``.clusters``.
        """
        if Path(path).suffix == COMPACT:
            self._save_compact(path)
            return
        with atomic_writer(path) as file:
            for number in self._by_path().tolist():
                bits = self.paths[self.classes[number]]
                file.write(f"{bits}\t{self.words[number]}\t{self.counts[number]}\n")

    def _save_compact(self, path: str | Path) -> None:
        from dovetail.modelfile import save_model

        words, paths = _blob(self.words), _blob(self.paths)
        arrays: dict[str, NDArray[Any]] = {
            "words": words,
            "paths": paths,
            "classes": self.classes,
            "counts": self.counts,
        }
        save_model(path, {"kind": "clusters"}, arrays)

    @classmethod
    def load(cls, path: str | Path, report: ReadReport | None = None) -> Self:
        """Read what `save` wrote, or a paths file of another tool; words that come twice are reported."""
        if Path(path).suffix == COMPACT:
            return cls._load_compact(path)
        numbers: dict[str, int] = {}
        words, classes, counts = [], [], []
        for bits, word, count in read_paths(path, report):
            words.append(word)
            classes.append(numbers.setdefault(bits, len(numbers)))
            counts.append(count)
        if not words:
            raise InputError(f"no words; {EXPECTED}", path)
        return cls(words, np.array(classes, dtype=np.int32), list(numbers), np.array(counts, dtype=np.int64))

    @classmethod
    def _load_compact(cls, path: str | Path) -> Self:
        from dovetail.modelfile import load_model

        _, arrays = load_model(path, "clusters")
        try:
            words, paths = _strings(arrays["words"]), _strings(arrays["paths"])
            classes, counts = arrays["classes"].astype(np.int32), arrays["counts"].astype(np.int64)
        except (KeyError, UnicodeDecodeError):
            raise ModelFileError(f"{path}: not a file of clusters; make it again") from None
        fits = len(words) == len(classes) == len(counts) and classes.min(initial=0) >= 0
        if not fits or classes.max(initial=-1) >= len(paths):
            raise ModelFileError(f"{path}: its parts do not fit together; make it again")
        return cls(words, classes, paths, counts)


def _blob(strings: list[str]) -> NDArray[np.uint8]:
    return np.frombuffer("".join(f"{string}\n" for string in strings).encode("utf-8"), dtype=np.uint8)


def _strings(blob: NDArray[np.uint8]) -> list[str]:
    return blob.tobytes().decode("utf-8").split("\n")[:-1]
