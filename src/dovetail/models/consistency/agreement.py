"""Agreement in two passes: what a model thinks of a name elsewhere in its document is evidence in a second pass.

Where a word written with a capital comes several times in a document, the model's own probabilities at its other places
are evidence. With m(u, k) the probability of type k (or O) at token u, and G(t) the other tokens of t's word in the
document, each label y of type k(y) gets

    potential[t, y] + strength * log max(floor, mean over u in G(t) of m(u, k(y)))

in a second pass. The answers, and all probabilities, are those of the structures with these potentials.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from dovetail.features.compile.repeats import Repeats
from dovetail.models.consistency.coupling import labels_of_types, type_parts
from dovetail.structures.contract import Structure

FLOOR = 0.01  # so that one sure mistake does not rule a type out everywhere

Batch = TypeVar("Batch", bound=Structure[Any, Any])


def agreed(batch: Batch, found: Repeats, of_label: NDArray[np.int64], strengths: Sequence[float]) -> list[Batch]:
    """The structures with potentials that lean towards agreement, one batch for each strength.

    of_label: [labels], the type of each label.
    """
    if len(found.ptr) == 1:
        return [batch] * len(strengths)
    labels = labels_of_types(of_label)
    parts = type_parts(batch, found.tokens, labels)
    by_type = batch.read(batch.marginals(), parts).reshape(len(found.tokens), len(labels))
    total = np.add.reduceat(by_type, found.ptr[:-1], axis=0)
    size = np.diff(found.ptr)
    group = np.repeat(np.arange(len(size)), size)
    others = (total[group] - by_type) / (size[group] - 1)[:, None]
    evidence = np.log(np.maximum(others, FLOOR)).ravel()
    return [batch.plus(parts, strength * evidence) for strength in strengths]
