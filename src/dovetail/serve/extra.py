"""fastapi and uvicorn, which not every installation has: imported here first, so that one line tells of their lack."""

from __future__ import annotations

from dovetail.errors import DovetailError

try:
    import fastapi
    import uvicorn
except ImportError:
    raise DovetailError("a server needs fastapi and uvicorn: pip install 'dovetail[serve]'") from None

__all__ = ["fastapi", "uvicorn"]
