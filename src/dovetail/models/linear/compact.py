"""Estimators that can store their weights in a byte each."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dovetail.errors import DovetailError
from dovetail.modelfile import COMPACT_VERSION, Arrays, save_model
from dovetail.models.base import Estimator


@dataclass(kw_only=True, eq=False)
class CompactEstimator(Estimator):
    """An estimator that can store its weights in a byte each."""

    def save(
        self, path: str | Path, *, half: bool = False, compact: bool = False, card: dict[str, Any] | None = None
    ) -> None:
        """Write the model to one file.

        ``half`` stores weights in half precision; ``compact`` stores them in a byte each, and keys in three to five.
        """
        header, arrays = self.packed(half, compact)
        save_model(path, header | {"card": self.card_ | (card or {})}, arrays)

    def packed(self, half: bool = False, compact: bool = False) -> tuple[dict[str, Any], Arrays]:
        """The header and the arrays of a model file."""
        if half and compact:
            raise DovetailError(
                "half and compact are two ways to store weights: choose one (compact files are smaller)"
            )
        header, arrays = super().packed(half)
        if not compact:
            return header, arrays
        model, (layers, more) = self._model().with_short_keys(), self.layers_.packed(compact=True)
        about = header | model.header() | layers
        about["version"] = max(COMPACT_VERSION, about.get("version", 1))
        return about, model.arrays(compact=True) | more
