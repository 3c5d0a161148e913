"""Which rows each token points to, without writing them all out.

``word[-2:3]`` reads one column at five positions: the numbers of its types are stored once, and each position is a slot
that says how far from the token to look and where the rows of its block begin.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dovetail.arrays import Int32s, Int64s
from dovetail.kernel import inner, kernel


class Links(NamedTuple):
    """Slot k of token t points to the row ``base[k] + ids[source[k], t + shift[k]]``, or to none if that id is -1.

    Outside the sentence of t the id is 0, the boundary.
    """

    ids: Int32s  # [sources, tokens]
    source: Int64s  # [slots]
    shift: Int64s  # [slots]
    base: Int64s  # [slots]: where the rows of the slot's block begin
    end: Int64s  # [slots]: where they end

    def rows_of(self, tokens: Int64s, offsets: Int64s) -> Int32s:
        """The rows of some tokens, written out: [len(tokens), slots], -1 for none. offsets: of the sentences, [n + 1].

        >>> slots = np.zeros(2, dtype=np.int64)
        >>> links = Links(np.array([[1, 2, 3]], dtype=np.int32), slots, slots + [-1, 0], slots + [0, 4], slots + [4, 8])
        >>> links.rows_of(np.arange(3), np.array([0, 2, 3]))
        array([[0, 5],
               [1, 6],
               [0, 7]], dtype=int32)
        """
        out = np.empty((len(tokens), len(self.source)), dtype=np.int32)
        write_rows(self, tokens, offsets, out)
        return out


@inner
def row_at(links: Any, slot: int, token: int, first: int, last: int) -> int:
    """The row that a slot of a token points to, -1 for none; its sentence is the tokens first..last."""
    place = token + links.shift[slot]
    if place < first or place >= last:
        return links.base[slot]  # type: ignore[no-any-return]
    number = links.ids[links.source[slot], place]
    return links.base[slot] + number if number >= 0 else -1


@kernel
def write_rows(links: Any, tokens: Int64s, offsets: Int64s, out: Int32s) -> None:
    """Write out the rows of some tokens. out: [len(tokens), slots]."""
    first = last = 0
    for i in range(len(tokens)):
        t = tokens[i]
        if not first <= t < last:
            sentence = np.searchsorted(offsets, t, side="right")
            first, last = offsets[sentence - 1], offsets[sentence]
        for k in range(out.shape[1]):
            out[i, k] = row_at(links, k, t, first, last)
