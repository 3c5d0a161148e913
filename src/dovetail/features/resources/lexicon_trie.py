"""Phrases in arrays: a trie whose branches are found by hashing, and the search for all phrases in a text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from dovetail.features.compile.hashing import Keys, pointers
from dovetail.features.compile.index import FeatureIndex
from dovetail.features.resources.association_keys import append_unit, phrase_keys

NO_PHRASE = -1
Integers = NDArray[np.int64]


class Found(NamedTuple):
    """Phrases in a text: phrase i is ``length[i]`` tokens from ``start[i]`` on, of the label set ``set_number[i]``."""

    start: Integers
    length: Integers
    set_number: NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class PhraseTrie:
    """Phrases by the keys of all their prefixes, each with a set of numbered labels.

    ``keys`` [prefixes] sorted; ``label_set`` [prefixes] the number of the set of labels of a phrase, -1 where only
    longer phrases go on; the labels of set s are ``set_labels[set_start[s]:set_start[s + 1]]``, in order. Two of a
    million prefixes share a key with a probability below 1e-7.
    """

    keys: Keys
    label_set: NDArray[np.int32]
    set_start: Integers
    set_labels: NDArray[np.int32]

    @classmethod
    def of(cls, labels_of: Mapping[tuple[str, ...], tuple[int, ...]]) -> Self:
        """From phrases, at least one, with their sorted labels."""
        sets: dict[tuple[int, ...], int] = {}
        set_of = [sets.setdefault(labels, len(sets)) for labels in labels_of.values()]
        prefixes = {phrase[:length] for phrase in labels_of for length in range(1, len(phrase))}
        inner = list(prefixes.difference(labels_of))  # in any order: the keys are sorted next
        keys, first = np.unique(phrase_keys([*labels_of, *inner]), return_index=True)
        label_set = np.array([*set_of, *([NO_PHRASE] * len(inner))], dtype=np.int32)[first]
        set_start = pointers([len(labels) for labels in sets])
        return cls(keys, label_set, set_start, np.array([n for labels in sets for n in labels], dtype=np.int32))

    @property
    def sets(self) -> int:
        """How many different sets of labels there are."""
        return len(self.set_start) - 1

    def labels(self, set_number: int) -> list[int]:
        """The labels of a set."""
        members: list[int] = self.set_labels[self.set_start[set_number] : self.set_start[set_number + 1]].tolist()
        return members

    def set_numbers(self, keys: Keys) -> NDArray[np.int32]:
        """The label sets of phrases by their keys, -1 for what is no phrase. Shape [keys]."""
        number = self._index.number(keys)
        found: NDArray[np.int32] = np.where(number >= 0, self.label_set[number], np.int32(NO_PHRASE))
        return found

    def search(self, type_keys: Keys, ids: NDArray[np.int32], offsets: Integers) -> Found:
        """Every phrase at every token of a text; the tokens still on a branch go on together, a step at a time.

        Shapes: type_keys [types], ids [tokens], offsets [sentences + 1].
        """
        sentence_end = np.repeat(offsets[1:], np.diff(offsets))
        place = self._index.number(type_keys)[ids]
        alive = np.flatnonzero(place >= 0)
        place, keys = place[alive], type_keys[ids[alive]]
        found = [Found(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.int32))]
        length = 0
        while len(alive):
            length += 1
            whole = self.label_set[place] != NO_PHRASE
            lengths = np.full(np.count_nonzero(whole), length, dtype=np.int64)
            found.append(Found(alive[whole], lengths, self.label_set[place[whole]]))
            inside = alive + length < sentence_end[alive]
            alive, keys = alive[inside], keys[inside]
            append_unit(keys, type_keys[ids[alive + length]], keys)
            place = self._index.number(keys)
            known = place >= 0
            alive, keys, place = alive[known], keys[known], place[known]
        return Found(*(np.concatenate(parts) for parts in zip(*found, strict=True)))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All of it, by short names."""
        return {one.name: getattr(self, one.name) for one in fields(self)}

    @classmethod
    def restore(cls, arrays: dict[str, NDArray[Any]], labels: int) -> Self:
        """From what ``arrays`` gave; the parts must fit together."""
        trie = cls(**{one.name: arrays[one.name] for one in fields(cls)})
        whole = (
            len(trie.keys) == len(trie.label_set) > 0
            and not np.any(trie.keys[1:] <= trie.keys[:-1])
            and len(trie.set_start) > 0
            and np.all((trie.label_set >= NO_PHRASE) & (trie.label_set < trie.sets))
            and trie.set_start[0] == 0
            and trie.set_start[-1] == len(trie.set_labels)
            and not np.any(np.diff(trie.set_start) < 1)
            and np.all((trie.set_labels >= 0) & (trie.set_labels < labels))
        )
        if not whole:
            raise ValueError("the arrays of the lexicon do not fit together")
        return trie

    @cached_property
    def _index(self) -> FeatureIndex:
        return FeatureIndex(self.keys)
