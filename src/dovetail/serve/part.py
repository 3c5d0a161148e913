"""What a program puts on the server."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dovetail.serve.extra import fastapi


@dataclass(frozen=True)
class Part:
    """Routes, pages and files, with what runs beside them; see the package for an example."""

    router: fastapi.APIRouter | None = None
    pages: Mapping[str, Path] = field(default_factory=dict)
    """Html files by the path under which they are."""
    assets: Mapping[str, Path] = field(default_factory=dict)
    """Folders of scripts and styles, by the beginning of their paths."""
    streamed: tuple[str, ...] = ()
    """Paths of routes that read a body piece by piece, of whatever length."""
    lifespan: Callable[[], AbstractAsyncContextManager[None]] | None = None
    """Entered before the first request, left after the last."""
    health: Callable[[], Mapping[str, Any]] | None = None
    """Fields that ``/health`` says."""
    metrics: Callable[[], Iterable[str]] | None = None
    """Lines that ``/metrics`` says, in the format of Prometheus."""
