"""From phrases found in a text to matches that do not overlap, and from matches to a column of tags."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dovetail.columns import BOUNDARY, Column
from dovetail.features.compile.hashing import PRIME, Keys, mix
from dovetail.features.resources.lexicon_trie import Found, Integers, PhraseTrie
from dovetail.kernel import kernel

OUTSIDE = "O"
SEPARATOR = "|"
"""What parts the labels of one token, and so must not be in a label."""
_POSITIONS = "BIES"
_BEGIN, _INSIDE, _END, _SINGLE = range(4)


class Matches(NamedTuple):
    """Where phrases lie: match i is tokens start[i] to end[i] with the label numbered label[i]. Shapes: [matches]."""

    start: Integers
    end: Integers
    label: Integers


def leftmost_longest(found: Found, trie: PhraseTrie) -> Matches:
    """For each label by itself, the matches that reading from the left takes, the longest at each start.

    They are sorted by label, then by start.
    """
    sizes = np.diff(trie.set_start)[found.set_number]
    inner = _count_up(sizes)
    label = trie.set_labels[np.repeat(trie.set_start[found.set_number], sizes) + inner].astype(np.int64)
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


def _count_up(sizes: Integers) -> Integers:
    """0, 1, ... for each size in turn.

    >>> _count_up(np.array([2, 3]))
    array([0, 1, 0, 1, 2])
    """
    return np.arange(sizes.sum(), dtype=np.int64) - np.repeat(np.cumsum(sizes) - sizes, sizes)


def _tagged(matches: Matches) -> tuple[Integers, Integers]:
    """The tokens of the matches and their tags, label * 4 + position. Shapes: [covered tokens]."""
    lengths = matches.end - matches.start
    inner = _count_up(lengths)
    length = np.repeat(lengths, lengths)
    position = np.full(len(inner), _INSIDE, dtype=np.int64)
    position[inner == length - 1] = _END
    position[inner == 0] = _BEGIN
    position[length == 1] = _SINGLE
    return np.repeat(matches.start, lengths) + inner, np.repeat(matches.label, lengths) * 4 + position


@kernel
def _choose(start: Integers, end: Integers, label: Integers, kept: NDArray[np.bool_]) -> None:
    """Of matches sorted by label, start and falling length, keep those that begin where no kept one goes on."""
    free = 0
    for i in range(len(start)):
        if i == 0 or label[i] != label[i - 1]:
            free = 0
        kept[i] = start[i] >= free
        if kept[i]:
            free = end[i]


@kernel
def _fold_runs(edges: Integers, tag: Integers, out: Keys) -> None:
    """A key for each run ``tag[edges[i]:edges[i + 1]]``. Shapes: edges [runs + 1], out [runs]."""
    for i in range(len(out)):
        key = np.uint64(0)
        for j in range(edges[i], edges[i + 1]):
            key = mix(key * PRIME + np.uint64(tag[j]) + np.uint64(1))
        out[i] = key
