"""A model that lies within a pipeline of spaCy: loaded at its first use, saved and sent with the pipeline."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Self

import dovetail
from dovetail.errors import DovetailError
from dovetail.shipped import located

FILE = "model.dovetail"
"""The name of the model file in the folder of the component."""


class Stored:
    """What has a model (``annotator``) from the file that ``path`` is or names, else the one saved with the pipeline.

    A path that is not there is no error until the model is needed: a pipeline that is loaded brings the model itself.
    """

    what = "component"

    def __init__(self, path: str | None, default: bool = False) -> None:
        self.path = path
        self._model: Any = None
        if path is not None and located(path).exists():
            self.annotator = dovetail.load(path)
        elif path is None and default:
            self.annotator = dovetail.load()

    @property
    def annotator(self) -> Any:
        """The model, loaded. (spaCy takes an attribute ``model`` for a network of its own.)"""
        if self._model is None:
            told = f"no such file: {self.path}" if self.path else "none was named"
            raise DovetailError(f'this {self.what} has no model ({told}); give config={{"model": "my.dovetail"}}')
        return self._model

    @annotator.setter
    def annotator(self, model: Any) -> None:
        self._check(model)
        self._model = model

    def _check(self, model: Any) -> None:
        """Refuse a model that cannot be used here."""

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Save the model file in this folder."""
        folder = Path(path)
        folder.mkdir(parents=True, exist_ok=True)
        self.annotator.save(folder / FILE)

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> Self:
        """Take the model from the file in this folder."""
        self.annotator = dovetail.load(Path(path) / FILE)
        return self

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """The model file as bytes."""
        with tempfile.TemporaryDirectory() as folder:
            self.to_disk(folder)
            return Path(folder, FILE).read_bytes()

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> Self:
        """Take the model from the bytes of its file."""
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, FILE).write_bytes(data)
            return self.from_disk(folder)

    def __getstate__(self) -> dict[str, Any]:  # for processes of their own
        data = None if self._model is None else self.to_bytes()
        return {**{name: value for name, value in self.__dict__.items() if name != "_model"}, "data": data}

    def __setstate__(self, state: dict[str, Any]) -> None:
        data = state.pop("data")
        self.__dict__.update(state)
        self._model = None
        if data is not None:
            self.from_bytes(data)
