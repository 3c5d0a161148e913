"""Checkpoints: the state of an optimiser in a file, so that training can go on after a stop."""

from __future__ import annotations

import json
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dovetail.errors import DovetailError
from dovetail.spellings import respelled
from dovetail.text.files import atomic_writer


class _State(dict[str, Any]):
    """The arrays of a checkpoint; a lack of one is an error that a user understands."""

    def __missing__(self, name: str) -> Any:
        raise DovetailError(f"the checkpoint has no {name!r}: it is of another version; delete it to start anew")


@dataclass(frozen=True)
class Checkpoint:
    """A file with the arrays of an optimiser, bound to one task by a fingerprint of its settings and data."""

    path: Path
    task: str

    @classmethod
    def of(cls, path: str | Path, settings: dict[str, Any], *data: Any) -> Checkpoint:
        """A checkpoint for these settings and arrays of data."""
        text = json.dumps(settings, sort_keys=True, default=str)
        fingerprint = zlib.crc32(text.encode())
        for array in data:
            fingerprint = zlib.crc32(np.ascontiguousarray(array).tobytes(), fingerprint)
        return cls(Path(path), f"{fingerprint:08x}")

    def save(self, state: dict[str, Any]) -> None:
        """Write the state, whole or not at all."""
        from safetensors.numpy import save

        arrays = {name: np.asarray(value, order="C") for name, value in state.items()}
        with atomic_writer(self.path, binary=True) as out:
            out.write(save(arrays, metadata={"dovetail-checkpoint": self.task}))

    def load(self) -> dict[str, Any] | None:
        """The state, or None if there is no such file; an error if it belongs to another task."""
        from safetensors import SafetensorError, safe_open

        if not self.path.exists():
            return None
        try:
            with safe_open(self.path, framework="numpy") as file:
                task = (file.metadata() or {}).get("dovetail-checkpoint")
                state = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        except (SafetensorError, OSError) as error:
            raise DovetailError(f"{self.path}: not a usable checkpoint ({error}); delete it to start anew") from None
        if task != self.task:
            raise DovetailError(
                f"{self.path}: the checkpoint is of a run with other data or settings; delete it, or use the same ones"
            )
        return _State(respelled("state", state))

    def remove(self) -> None:
        """Delete the file, once training is done."""
        self.path.unlink(missing_ok=True)
