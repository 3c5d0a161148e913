"""Features of single tokens that fire often, kept as rows.

A feature that a token points to straight away is cheap while it is rare: its tokens lie together in memory. One that
fires all over the corpus is read from all over the corpus; as a row it costs a stream of additions into a small table.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dovetail.features.compile.design import Design
from dovetail.features.compile.index import narrow
from dovetail.features.compile.links import Links

OFTEN = 4  # tokens: from here on a feature is cheaper as a row


def frequent_as_rows(design: Design, count: NDArray[np.integer]) -> Design:
    """The same design with a row of its own for every direct feature that fires at several tokens.

    count: [features], at how many tokens each fires. Where a slot has few features for its many tokens, all are rows.
    """
    tokens, slots = design.feature_index.shape
    base = len(design.row_ptr) - 1
    kept: list[NDArray[np.int32]] = []
    ids: list[NDArray[np.int32]] = []
    blocks: list[NDArray[np.int64]] = []
    ends = [base]
    for k in range(slots):
        slot = design.feature_index[:, k]
        here = np.zeros(design.features + 1, dtype=np.bool_)  # the last entry serves index -1
        here[slot] = True
        here[-1] = False
        few = np.count_nonzero(here) * OFTEN < tokens
        block = np.flatnonzero(here[:-1] if few else here[:-1] & (count >= OFTEN))
        row = np.full(design.features + 1, -1, dtype=np.int32)
        row[block] = np.arange(len(block), dtype=np.int32)
        place = row[slot]
        if len(block):
            blocks.append(block)
            ids.append(place)
            ends.append(ends[-1] + len(block))
        if not few:
            kept.append(np.where(place >= 0, np.int32(-1), slot))
    if not blocks:
        return design
    block = np.concatenate(blocks)
    links = design.links
    new = np.arange(len(ids))
    edges = np.array(ends)
    entries = int(design.row_ptr[-1])
    return replace(
        design,
        links=Links(
            np.concatenate([links.ids, np.stack(ids)]),
            np.concatenate([links.source, len(links.ids) + new]),
            np.concatenate([links.shift, np.zeros_like(new)]),
            np.concatenate([links.base, edges[:-1]]),
            np.concatenate([links.end, edges[1:]]),
        ),
        row_ptr=narrow(np.concatenate([design.row_ptr, entries + 1 + np.arange(len(block))])),
        row_feature=np.concatenate([design.row_feature, block.astype(np.int32)]),
        row_value=None if design.row_value is None else np.concatenate([design.row_value, np.ones(len(block))]),
        feature_index=np.stack(kept, axis=1) if kept else np.empty((tokens, 0), dtype=np.int32),
    )
