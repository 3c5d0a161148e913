"""Phrases in arrays, a trie whose branches are found by hashing: those of a text, matches, and a column of tags."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from dovetail.arrays import Flags, Int32s, Int64s, offsets_of, pointers, taken
from dovetail.columns import BOUNDARY, Column
from dovetail.features.compile.hashing import PRIME, Keys, append_unit, mix, phrase_keys
from dovetail.features.compile.index import FeatureIndex
from dovetail.kernel import kernel

NO_PHRASE = -1
OUTSIDE = "O"
SEPARATOR = "|"
"""What parts the labels of one token, and so must not be in a label."""
_POSITIONS = "BIES"
_BEGIN, _INSIDE, _END, _SINGLE = range(4)


class Found(NamedTuple):
    """Phrases in a text: phrase i is ``length[i]`` tokens from ``start[i]`` on, of the label set ``set_number[i]``."""

    start: Int64s
    length: Int64s
    set_number: Int32s


@dataclass(frozen=True, eq=False)
class PhraseTrie:
    """Phrases by the keys of all their prefixes, each with a set of numbered labels.

    ``keys`` [prefixes] sorted; ``label_set`` [prefixes] the number of the set of labels of a phrase, -1 where only
    longer phrases go on; the labels of set s are ``set_labels[set_start[s]:set_start[s + 1]]``, in order. Two of a
    million prefixes share a key with a probability below 1e-7.
    """

    keys: Keys
    label_set: Int32s
    set_start: Int64s
    set_labels: Int32s

    @classmethod
    def of(cls, labels_of: Mapping[tuple[str, ...], tuple[int, ...]]) -> Self:
        """From phrases, at least one, with their sorted labels."""
        sets: dict[tuple[int, ...], int] = {}
        set_of = [sets.setdefault(labels, len(sets)) for labels in labels_of.values()]
        prefixes = {phrase[:length] for phrase in labels_of for length in range(1, len(phrase))}
        inner = list(prefixes.difference(labels_of))  # in any order: the keys are sorted next
        keys, first = np.unique(phrase_keys([*labels_of, *inner]), return_index=True)
        label_set = np.array([*set_of, *([NO_PHRASE] * len(inner))], dtype=np.int32)[first]
        set_start = offsets_of(list(sets))
        return cls(keys, label_set, set_start, np.array([n for labels in sets for n in labels], dtype=np.int32))

    @property
    def sets(self) -> int:
        """How many different sets of labels there are."""
        return len(self.set_start) - 1

    def labels(self, set_number: int) -> list[int]:
        """The labels of a set."""
        members: list[int] = self.set_labels[self.set_start[set_number] : self.set_start[set_number + 1]].tolist()
        return members

    def set_numbers(self, keys: Keys) -> Int32s:
        """The label sets of phrases by their keys, -1 for what is no phrase. Shape [keys]."""
        number = self._index.number(keys)
        found: Int32s = np.where(number >= 0, self.label_set[number], np.int32(NO_PHRASE))
        return found

    def search(self, type_keys: Keys, ids: Int32s, offsets: Int64s) -> Found:
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


class Matches(NamedTuple):
    """Where phrases lie: match i is tokens start[i] to end[i] with the label numbered label[i]. Shapes: [matches]."""

    start: Int64s
    end: Int64s
    label: Int64s


def leftmost_longest(found: Found, trie: PhraseTrie) -> Matches:
    """For each label by itself what reading from the left takes, the longest at each start; by label, then by start."""
    sizes = np.diff(trie.set_start)[found.set_number]
    label = trie.set_labels[taken(trie.set_start, found.set_number)[0]].astype(np.int64)
    start, length = np.repeat(found.start, sizes), np.repeat(found.length, sizes)
    order = np.lexsort((-length, start, label))
    start, end, label = start[order], (start + length)[order], label[order]
    kept = np.empty(len(start), dtype=np.bool_)
    _choose(start, end, label, kept)
    return Matches(start[kept], end[kept], label[kept])


def tags(matches: Matches, labels: Sequence[str], tokens: int) -> Column:
    """The tags ``B-label``, ``I-``, ``E-``, ``S-`` of each token, joined by ``|`` in order of labels, else ``O``."""
    token, tag = _tagged(matches)
    order = np.lexsort((tag, token))
    token, tag = token[order], tag[order]
    edges = np.append(np.flatnonzero(np.diff(token, prepend=-1)), len(token))
    key = np.empty(len(edges) - 1, dtype=np.uint64)
    _fold_runs(edges, tag, key)
    _, example, number = np.unique(key, return_index=True, return_inverse=True)
    names = [f"{position}-{label}" for label in labels for position in _POSITIONS]
    values = [SEPARATOR.join(names[t] for t in tag[edges[e] : edges[e + 1]]) for e in example]
    ids = np.ones(tokens, dtype=np.int32)
    ids[token[edges[:-1]]] = number + 2
    return Column([BOUNDARY, OUTSIDE, *values], ids)


def _tagged(matches: Matches) -> tuple[Int64s, Int64s]:
    """The tokens of the matches and their tags, label * 4 + position. Shapes: [covered tokens]."""
    lengths = matches.end - matches.start
    length = np.repeat(lengths, lengths)
    inner = np.arange(len(length)) - np.repeat(pointers(lengths)[:-1], lengths)
    position = np.full(len(inner), _INSIDE, dtype=np.int64)
    position[inner == length - 1] = _END
    position[inner == 0] = _BEGIN
    position[length == 1] = _SINGLE
    return np.repeat(matches.start, lengths) + inner, np.repeat(matches.label, lengths) * 4 + position


@kernel
def _choose(start: Int64s, end: Int64s, label: Int64s, kept: Flags) -> None:
    """Of matches sorted by label, start and falling length, keep those that begin where no kept one goes on."""
    free = 0
    for i in range(len(start)):
        if i == 0 or label[i] != label[i - 1]:
            free = 0
        kept[i] = start[i] >= free
        if kept[i]:
            free = end[i]


@kernel
def _fold_runs(edges: Int64s, tag: Int64s, out: Keys) -> None:
    """A key for each run ``tag[edges[i]:edges[i + 1]]``. Shapes: edges [runs + 1], out [runs]."""
    for i in range(len(out)):
        key = np.uint64(0)
        for j in range(edges[i], edges[i + 1]):
            key = mix(key * PRIME + np.uint64(tag[j]) + np.uint64(1))
        out[i] = key
