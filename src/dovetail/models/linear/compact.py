"""Estimators that can store their weights in a byte each, and short keys."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dovetail.modelfile import COMPACT_VERSION, Arrays
from dovetail.models.base import Estimator


@dataclass(kw_only=True, eq=False)
class CompactEstimator(Estimator):
    """An estimator whose compact files have keys of three to five bytes."""

    def packed(self, half: bool = False, compact: bool = False) -> tuple[dict[str, Any], Arrays]:
        """The header and the arrays of a model file."""
        header, arrays = super().packed(half)
        if not compact:
            return header, arrays
        model, (layers, more) = self._model().with_short_keys(), self.layers_.packed(compact=True)
        about = header | model.header() | layers
        about["version"] = max(COMPACT_VERSION, about.get("version", 1))
        return about, model.arrays(compact=True) | more
