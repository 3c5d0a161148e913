"""The types of a tagger's labels, O first, and how those of two taggers map to each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from dovetail.errors import DovetailError
from dovetail.models.tagger.estimator import Tagger
from dovetail.structures.contract import Floats, Integers

OUTSIDE = "O"


@dataclass(frozen=True, eq=False)
class Types:
    """The types that the labels of a tagger spell: K names, of chunk tags with O first, and that of each label [L]."""

    names: tuple[str, ...]
    of_label: Integers
    chunks: bool

    @classmethod
    def of(cls, tagger: Tagger) -> Types:
        """Those of a trained tagger; plain labels, such as parts of speech, are types themselves."""
        if not isinstance(tagger, Tagger):
            raise DovetailError(f"give a tagger; this is a {type(tagger).__name__}")
        model = tagger._model()
        return cls(tuple(dict.fromkeys(model.types_of_labels())), model.of_label, model.labels.scheme is not None)

    @property
    def labels(self) -> list[list[int]]:
        """The labels of each type."""
        return [np.flatnonzero(self.of_label == k).tolist() for k in range(len(self.names))]

    def summed(self, marginals: Floats) -> Floats:
        """Probabilities of types from those of labels: [N, L] to [N, K]."""
        found: Floats = marginals @ np.eye(len(self.names))[self.of_label]
        return found


def mapping(source: Types, target: Types, told: Mapping[str, str] | None = None) -> Integers:
    """The number of the target's type for each of the source's, [K]; what is told to be O, or '', has none there.

    Types of the same name are one, unless it is told otherwise.
    """
    given = dict(told or {})
    for name in given:
        if name not in source.names:
            raise DovetailError(f"the map names {name!r}, and the source has {', '.join(source.names)}")
    chosen = [given.get(name, name) or OUTSIDE for name in source.names]
    if missing := [name for name, own in zip(source.names, chosen, strict=True) if own not in target.names]:
        raise DovetailError(
            f"the source has the type {missing[0]!r}, and the target has {', '.join(target.names)}: say what it is "
            f"there with a map, such as {missing[0]}={target.names[-1]}, or {missing[0]}=O"
        )
    return np.array([target.names.index(name) for name in chosen], np.int64)
