"""fastapi and uvicorn, which not every installation has: all here who need them have them from this file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dovetail.extras import extra

if TYPE_CHECKING:
    import fastapi
    import uvicorn
else:
    fastapi = extra("fastapi", "a server")
    uvicorn = extra("uvicorn", "a server")

__all__ = ["fastapi", "uvicorn"]
