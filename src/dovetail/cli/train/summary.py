"""What a training run has come to."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

STOPPED = {
    "converged": "the objective no longer falls",
    "dev": "the score on dev no longer rises",
    "limit": "reached the maximum number of iterations",
    "interrupted": "interrupted; these are the best weights so far",
}


def ending(card: Mapping[str, Any], output: Path, parts: str) -> list[str]:
    """Why training ended, and where the model is."""
    size = f"{file_size(output)}, {parts}" if parts else file_size(output)
    return [f"stopped: {STOPPED.get(card['stopped'], card['stopped'])}", f"model: {output} ({size})"]


def file_size(path: Path) -> str:
    """How large a file is."""
    stored = path.stat().st_size
    return f"{stored / 1e6:.1f} MB" if stored >= 1e5 else f"{stored / 1e3:.0f} kB"
