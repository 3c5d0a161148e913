"""Words that come again in their document: names do, and each time in another context."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dovetail.arrays import Int32s, Int64s, pointers
from dovetail.columns import Column, Columns
from dovetail.features.compile.hashing import put
from dovetail.kernel import kernel

MOST = 8  # how many different values of other places are looked at
FAR = 40  # how many other places are looked at


class Repeats(NamedTuple):
    """Tokens of one document with the same word, case ignored, all of them written with a capital.

    ``group`` [tokens], -1 for a token that stands alone; the tokens of group g are ``tokens[ptr[g]:ptr[g + 1]]``.
    """

    group: Int64s
    ptr: Int64s
    tokens: Int64s


def may_be_name(word: str) -> bool:
    """Whether a word has letters and is not all in lower case; in scripts without case, every word of letters."""
    return not word.islower() and any(map(str.isalpha, word))


def repeats(columns: Columns) -> Repeats:
    """The repeated words of every document."""
    words = columns.columns["word"]
    sizes = np.diff(columns.offsets)
    documents = np.arange(len(sizes)) if columns.documents is None else columns.documents
    folded = Column.encode(map(str.lower, words.types))
    chosen = np.flatnonzero(np.array([may_be_name(t) for t in words.types])[words.ids])
    pairs = np.repeat(documents, sizes)[chosen] * len(folded.types) + folded.ids[words.ids[chosen]]
    _, inverse, counts = np.unique(pairs, return_inverse=True, return_counts=True)
    again = counts > 1
    number = np.where(again, np.cumsum(again) - 1, -1)[inverse]
    group = np.full(len(words.ids), -1, dtype=np.int64)
    group[chosen] = number
    kept = chosen[number >= 0]
    order = np.argsort(group[kept], kind="stable")
    ptr = pointers(counts[again])
    return Repeats(group, ptr, kept[order])


def share_repeated(columns: Columns) -> float:
    """How many of the words written with a capital come again in their document, from 0 to 1."""
    words = columns.columns["word"]
    names = np.array([may_be_name(t) for t in words.types])[words.ids]
    return len(repeats(columns).tokens) / max(int(names.sum()), 1)


@kernel
def values_elsewhere(
    ids: Int32s, sentence_start: Int64s, sentence_end: Int64s, group: Int64s, ptr: Int64s, tokens: Int64s, shift: int,
    far: int, out: Int32s,
) -> None:  # fmt: skip
    """The distinct types ``shift`` away from a word's places in other sentences; -1 fills up. out: [tokens, most].

    ``sentence_start`` and ``sentence_end`` [tokens]; beyond them stands the boundary, type 0.
    """
    for t in range(len(ids)):
        n = 0
        g = group[t]
        if g >= 0:
            for k in range(ptr[g], min(ptr[g + 1], ptr[g] + far)):
                u = tokens[k]
                s = u + shift
                if sentence_start[u] == sentence_start[t]:
                    continue
                value = ids[s] if sentence_start[u] <= s < sentence_end[u] else np.int32(0)
                n = put(value, out[t], n)
                if n == out.shape[1]:
                    break
        for i in range(n, out.shape[1]):
            out[t, i] = -1


def elsewhere_index(columns: Columns, found: Repeats, column: str, shift: int) -> Int32s:
    """For every token the types beside its word in other sentences of the document. Shape [tokens, most].

    Its own sentence is left out: where documents are not known, the few words that come twice in a sentence would
    teach the model something else than the many that come again in a document.
    """
    ids = columns.columns[column].ids
    if len(found.ptr) == 1:  # no word comes twice
        return np.empty((len(ids), 0), dtype=np.int32)
    sizes = np.diff(columns.offsets)
    bounds = np.repeat(columns.offsets[:-1], sizes), np.repeat(columns.offsets[1:], sizes)
    out = np.empty((len(ids), MOST), dtype=np.int32)
    values_elsewhere(ids, *bounds, *found, shift, FAR, out)
    return out
