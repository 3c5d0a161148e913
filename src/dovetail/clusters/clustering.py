"""A clustering of words: the class of each word, each class's path from the root of a tree, and files of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from dovetail.arrays import Int32s, Int64s
from dovetail.errors import InputError, ModelFileError
from dovetail.text.files import Source, TextReader, atomic_writer, open_text
from dovetail.text.report import ReadReport, reporting

COMPACT = ".clusters"
"""The suffix of the compact file; any other means a paths file: a line a word, ``bits<TAB>word<TAB>count``."""
EXPECTED = "a line of a paths file is bits, word and count, separated by tabs"
_BITS = re.compile(r"[01]*")


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

    def classes_of(self, words: Sequence[str]) -> Int32s:
        """The class of every word, -1 for none."""
        known = dict(zip(self.words, self.classes.tolist(), strict=True))
        return np.array([known.get(word, -1) for word in words], dtype=np.int32)

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
            from dovetail.modelfile import save_model

            strings = {"words": _blob(self.words), "paths": _blob(self.paths)}
            save_model(path, {"kind": "clusters"}, {**strings, "classes": self.classes, "counts": self.counts})
            return
        with atomic_writer(path) as file:
            for number in self._by_path().tolist():
                bits = self.paths[self.classes[number]]
                file.write(f"{bits}\t{self.words[number]}\t{self.counts[number]}\n")

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


class PathLine(NamedTuple):
    """A word, the bit string of its class, and how often it was seen (0 if the file does not say)."""

    path: str
    word: str
    times: int


def read_paths(source: Source, report: ReadReport | None = None) -> Iterator[PathLine]:
    r"""The lines of a paths file. A word that comes again is left out, and reported.

    The count may be missing; blank lines are passed over.

    >>> import io
    >>> list(read_paths(io.StringIO("00\tcat\t2\n01\tthe\n")))
    [PathLine(path='00', word='cat', times=2), PathLine(path='01', word='the', times=0)]
    """
    seen: set[str] = set()
    with open_text(source) as reader, reporting(report) as notes:
        for number, line in enumerate(reader, 1):
            if not line.strip():
                continue
            entry = _parse(line, reader, number)
            if entry.word in seen:
                notes.note("word that already has a path, left out", reader.name, number)
                continue
            seen.add(entry.word)
            yield entry


def _parse(line: str, reader: TextReader, number: int) -> PathLine:
    def refused(what: str) -> InputError:
        return InputError(f"{what}; {EXPECTED}", reader.name, number)

    columns = line.split("\t")
    if len(columns) not in (2, 3):
        raise refused(f"{len(columns)} {'column' if len(columns) == 1 else 'columns'}, expected 2 or 3")
    path, word, count = columns if len(columns) == 3 else (*columns, "0")
    if not _BITS.fullmatch(path):
        turned = ", and the word comes second" if _BITS.fullmatch(word) else ""
        raise refused(f"the path {path[:40]!r} is not made of 0 and 1{turned}")
    if not word:
        raise refused("there is no word")
    if not (count.isascii() and count.isdigit() and len(count) <= 18):
        raise refused(f"the count {count[:40]!r} is not a number")
    return PathLine(path, word, int(count))


@dataclass(frozen=True)
class ClusterProgress:
    """So many words of all have been placed, or looked at again, after so many seconds."""

    done: int
    of: int
    seconds: float

    @property
    def seconds_left(self) -> float:
        """At most about so many more: frequent words, which take longest, come first, and a run may settle early."""
        return self.seconds / max(self.done, 1) * (self.of - self.done)


Report = Callable[[ClusterProgress], None]
