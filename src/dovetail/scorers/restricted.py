"""A scorer of some sentences of a corpus and some of its outputs, with only the parameters that these can use."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dovetail.features.compile.design import Design
from dovetail.features.compile.index import narrow
from dovetail.scorers.linear import Inverse, Layout, LinearScorer, output_type
from dovetail.scorers.linear_kernels import count_tokens

Numbers = NDArray[np.int64]


def restricted(scorer: LinearScorer, first: int, last: int, outputs: Numbers) -> tuple[LinearScorer, Numbers]:
    """The scorer of sentences ``first`` to ``last`` (exclusive) and some outputs, in order. Also the numbers of its
    parameters among those of the whole scorer, [parameters]."""
    offsets = scorer.design.offsets
    low, high = int(offsets[first]), int(offsets[last])
    return within(scorer, low, high, offsets[first : last + 1] - low, outputs)


def stretch_of(scorer: LinearScorer, low: int, high: int) -> tuple[LinearScorer, Numbers]:
    """The scorer of tokens ``low`` to ``high`` (exclusive), as ``restricted``; sentences may be cut at both ends."""
    offsets = scorer.design.offsets
    inside = offsets[(offsets > low) & (offsets < high)] - low
    return within(scorer, low, high, np.array([0, *inside, high - low]), np.arange(scorer.layout.outputs))


def within(
    scorer: LinearScorer, low: int, high: int, offsets: Numbers, outputs: Numbers
) -> tuple[LinearScorer, Numbers]:
    """The scorer of tokens ``low`` to ``high`` (exclusive), in sentences with these ``offsets``, and some outputs."""
    design, kept = design_of(scorer.design, low, high, offsets)
    whole = scorer.layout
    number = renumbering(outputs, whole.outputs)
    present = np.zeros(whole.size, dtype=np.bool_)
    present[kept] = True
    used = np.repeat(present, np.diff(whole.ptr)) & (number[whole.label] >= 0)
    before = np.concatenate([[0], np.cumsum(used)])
    count = np.diff(before[whole.ptr])[kept]
    ptr = narrow(np.concatenate([[0], np.cumsum(count)]))
    label = number[whole.label[used]].astype(output_type(len(outputs)))
    share = np.flatnonzero(used)
    layout = Layout(ptr, label, len(outputs))
    return LinearScorer(design, layout, Inverse.of(design), scorer.scale[share], scorer.threads), share


def design_of(design: Design, low: int, high: int, offsets: Numbers) -> tuple[Design, Numbers]:
    """The design of some tokens, and the features that fire there, [features left]."""
    links = design.links._replace(ids=np.ascontiguousarray(design.links.ids[:, low:high]))
    tokens = np.zeros(len(design.row_ptr) - 1, dtype=np.int64)
    count_tokens(links, offsets, tokens)
    used = np.repeat(tokens > 0, np.diff(design.row_ptr))
    entries, direct = design.row_feature[used], design.feature_index[low:high]
    present = np.zeros(design.features + 1, dtype=np.bool_)  # the last entry serves index -1
    present[entries] = True
    present[direct] = True
    present[-1] = False
    kept = np.flatnonzero(present)
    number = renumbering(kept, design.features + 1).astype(np.int32)
    row_ptr = narrow(np.concatenate([[0], np.cumsum(used)])[design.row_ptr])
    value = None if design.row_value is None else design.row_value[used]
    return Design(offsets, links, row_ptr, number[entries], value, number[direct], len(kept)), kept


def renumbering(kept: NDArray[Any], size: int) -> Numbers:
    """The new number of each old one, -1 where it is not kept. Shape [size]."""
    number = np.full(size, -1, dtype=np.int64)
    number[kept] = np.arange(len(kept))
    return number
