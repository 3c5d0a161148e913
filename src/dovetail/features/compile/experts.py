"""Which experts of a pool have which features of a corpus: split at random, in order, or by their templates.

A bit for each expert: features that several experts have, such as the bias, have several bits.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dovetail.arrays import Int32s
from dovetail.features.algebra.templates import Bias, Template
from dovetail.features.compile.design import Compiler, salt
from dovetail.features.compile.hashing import Keys
from dovetail.features.compile.index import Collector, FeatureIndex

Members = NDArray[np.uint64]

MOST = 64
"""So many experts there can be."""


def everyone(experts: int) -> np.uint64:
    """The bits of all experts."""
    return np.uint64((1 << experts) - 1)


def at_random(keys: Keys, experts: int, seed: int) -> Members:
    """One expert for each feature [features], by its key: the same feature has the same expert in any corpus.

    >>> at_random(np.array([7, 8, 9, 10], dtype=np.uint64), 2, seed=1).tolist()
    [2, 2, 1, 1]
    """
    mixed = (keys ^ np.uint64(seed * 2 + 1)) * np.uint64(0xD6E8FEB86659FD93)
    mixed ^= mixed >> np.uint64(32)
    mixed *= np.uint64(0xD6E8FEB86659FD93)
    return np.uint64(1) << ((mixed >> np.uint64(33)) % np.uint64(experts))


def in_order(size: int, experts: int) -> Members:
    """Features [size] cut into as many runs as there are experts, in the order of their templates.

    >>> in_order(5, 2).tolist()
    [1, 1, 1, 2, 2]
    """
    return np.uint64(1) << (np.arange(size, dtype=np.uint64) * np.uint64(experts) // np.uint64(max(size, 1)))


def template_of(compiler: Compiler, templates: Sequence[Template], collector: Collector) -> Int32s:
    """The template that each feature of a compiled corpus comes from, [features].

    Where hashing has made one feature of two, it is the last of them.
    """
    keys = collector.keys
    order = np.argsort(keys)
    index = FeatureIndex(keys[order], collector.bits)
    found = np.full(len(keys), -1, dtype=np.int32)
    for number, template in enumerate(templates):
        for block in [*(rows.keys for rows in compiler.rows([template])), *compiler.direct([template])]:
            place = index.number(np.unique(block))
            found[order[place[place >= 0]]] = number
    return found


def with_bias(members: Members, templates: Sequence[Template], collector: Collector, experts: int) -> Members:
    """The same, where all experts know how common each label is."""
    keys = {salt(t) if collector.bits is None else salt(t) & np.uint64((1 << collector.bits) - 1)
            for t in templates if isinstance(t, Bias)}  # fmt: skip
    found = members.copy()
    found[np.isin(collector.keys, np.array(list(keys), dtype=np.uint64))] = everyone(experts)
    return found
