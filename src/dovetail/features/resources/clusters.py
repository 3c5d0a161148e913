"""Word clusters as features: which branch of a tree of words a word sits on, given by the first bits of its path."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from dovetail.arrays import Int32s, Integers
from dovetail.features.algebra.strings import normalise_digits
from dovetail.features.compile import hashing
from dovetail.features.compile.hashing import Keys
from dovetail.features.resources.resource import Resource
from dovetail.text.words import composed

if TYPE_CHECKING:
    from dovetail.clusters.clustering import Clustering

LEVELS = (4, 6, 8, 10, 12, 16, 0)
"""Prefixes of a path that serve well in taggers; 0 is the whole path."""

# How a word is looked for that is not there as written: SOUTH, south and South are near enough, as are 1996 and 1997.
FALLBACKS: tuple[Callable[[str], str], ...] = (str.lower, str.capitalize, normalise_digits)


@dataclass(frozen=True, eq=False)
class Clusters(Resource):
    """A table from words to paths, as small as a look-up needs: words are known by their 64-bit keys.

    ``keys`` [words] sorted, ``classes`` [words] the class of each, ``paths`` [classes] the bit strings; ``levels`` are
    the lengths of prefixes that tell most.
    """

    kind: ClassVar[str] = "clusters"

    keys: Keys
    classes: Int32s
    paths: tuple[str, ...]
    levels: tuple[int, ...] = LEVELS

    @classmethod
    def of(cls, clustering: Clustering) -> Self:
        """From a clustering, whose counts and spelled-out words features have no need of."""
        return cls._sorted(clustering.words, clustering.classes, clustering.paths, LEVELS)

    @classmethod
    def of_paths(cls, paths: Mapping[str, str], levels: tuple[int, ...] = LEVELS) -> Self:
        """From a mapping of words to bit strings.

        >>> Clusters.of_paths({"London": "01", "Paris": "01", "the": "1"}).classes_of(["LONDON", "the", "?"])
        array([ 0,  1, -1], dtype=int32)
        """
        numbers = {path: n for n, path in enumerate(dict.fromkeys(paths.values()))}
        return cls._sorted(list(paths), np.array([numbers[path] for path in paths.values()]), numbers, levels)

    @classmethod
    def _sorted(cls, words: Sequence[str], classes: Integers, paths: Iterable[str], levels: tuple[int, ...]) -> Self:
        keys = hashing.string_keys(composed(words))
        order = np.argsort(keys)
        return cls(keys[order], classes[order].astype(np.int32), tuple(paths), levels)

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """From a file of paths, or the compact file that ``dovetail cluster`` writes."""
        from dovetail.clusters.clustering import Clustering

        return cls.of(Clustering.load(path))

    def classes_of(self, words: Sequence[str]) -> Int32s:
        """The class of every word, -1 for none. A word that is not there is looked for in lower case, capitalised,
        and with its digits made 0, in this order.
        """
        found = self._exactly(words)
        for change in FALLBACKS:
            lost = [int(i) for i in np.flatnonzero(found < 0)]
            found[lost] = self._exactly([change(words[i]) for i in lost])
        return found

    def _exactly(self, words: Sequence[str]) -> Int32s:
        if not len(words) or not len(self.keys):
            return np.full(len(words), -1, dtype=np.int32)
        wanted = hashing.string_keys(words)
        place = np.minimum(np.searchsorted(self.keys, wanted), len(self.keys) - 1)
        return np.where(self.keys[place] == wanted, self.classes[place], np.int32(-1)).astype(np.int32)

    def usual(self, name: str) -> list[str]:
        """Prefixes of the paths of a word and its neighbours, of the neighbours that it has elsewhere, and joined ones.

        What stands beside a word says more together with how the word is written: ``near`` has such pairs.
        """
        levels = ", ".join([name, *map(str, self.levels)])
        alone = [f"cluster({levels})[-2:3]", f"elsewhere(cluster({levels})[-1])", f"elsewhere(cluster({levels})[1])"]
        return alone + self.near(name)

    def near(self, name: str) -> list[str]:
        """Classes joined with shapes: of flat clusters the neighbours', of a tree its own and those of both sides."""
        if self.levels == (0,):
            return [f"cluster({name}, 0)[-1] & shape[0]", f"shape[0] & cluster({name}, 0)[1]"]
        if {6, 8} <= set(self.levels):
            both = f"cluster({name}, 8)[-1] & shape[0] & cluster({name}, 8)[1]"
            return [f"cluster({name}, 6)[0] & shape[0]", both]
        return []

    def settings(self) -> dict[str, Any]:
        """The paths of the classes, and the levels."""
        return {"paths": list(self.paths), "levels": list(self.levels)}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Keys and classes of the words."""
        narrow = np.min_scalar_type(max(len(self.paths) - 1, 0))
        return {"keys": self.keys, "classes": self.classes.astype(narrow)}

    @classmethod
    def restore(cls, settings: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Self:
        """From what ``settings`` and ``arrays`` gave; the parts must fit together."""
        keys, classes = arrays["keys"], arrays["classes"].astype(np.int32)
        paths = tuple(str(path) for path in settings["paths"])
        if len(keys) != len(classes) or (len(classes) and int(classes.max()) >= len(paths)):
            raise ValueError("the arrays of the clusters do not fit together")
        return cls(keys, classes, paths, tuple(int(n) for n in settings["levels"]))


EMPTY = Clusters(np.empty(0, np.uint64), np.empty(0, np.int32), ())


def prefixes(path: str, lengths: Iterable[int]) -> list[str]:
    """The first bits of a path at some lengths, without repeats; length 0 is the whole path.

    >>> prefixes("011010", (2, 4, 8, 12))
    ['01', '0110', '011010']
    """
    return list(dict.fromkeys(path[:n] if n else path for n in lengths))
