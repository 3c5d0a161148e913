"""The application: parts put together behind the gate, with what all servers have."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.staticfiles import StaticFiles

from dovetail.serve.extra import fastapi
from dovetail.serve.failures import handle_failures
from dovetail.serve.gate import Gate, Limits
from dovetail.serve.guard import Guard
from dovetail.serve.metrics import Metrics
from dovetail.serve.part import Part
from dovetail.version import __version__

ASSETS = Path(__file__).parent / "assets"
FAILURES: dict[int | str, dict[str, Any]] = {
    400: {"description": "The body is not JSON."},
    413: {"description": "The body is too large."},
    422: {"description": "The JSON is not what this route takes; `error` says what is wrong and where."},
    503: {"description": "The server is busy; try again after the seconds of `Retry-After`."},
}


def make_app(
    parts: Sequence[Part],
    *,
    title: str = "dovetail",
    description: str = "",
    guard: Guard | None = None,
    limits: Limits | None = None,
) -> fastapi.FastAPI:
    """The application of some parts, with ``/health``, ``/metrics``, ``/openapi.json`` and the shared assets."""
    metrics = Metrics()

    @asynccontextmanager
    async def lifespan(app: fastapi.FastAPI) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            for part in parts:
                if part.lifespan is not None:
                    await stack.enter_async_context(part.lifespan())
            yield

    app = fastapi.FastAPI(
        title=title,
        description=description,
        version=__version__,
        docs_url=None,  # its scripts would come from elsewhere
        redoc_url=None,
        lifespan=lifespan,
        responses=FAILURES,
    )
    handle_failures(app)
    _add_common(app, parts, metrics)
    for part in parts:
        if part.router is not None:
            app.include_router(part.router)
        for path, file in part.pages.items():
            app.add_api_route(path, _page(file), include_in_schema=False, methods=["GET"], response_class=Response)
        for prefix, folder in part.assets.items():
            app.mount(prefix, _Assets(directory=folder))
    app.mount("/assets/shared", _Assets(directory=ASSETS / "shared"))
    streamed = [path for part in parts for path in part.streamed]
    app.add_middleware(Gate, guard=guard or Guard(), limits=limits or Limits(), streamed=streamed, metrics=metrics)
    return app


def _add_common(app: fastapi.FastAPI, parts: Sequence[Part], metrics: Metrics) -> None:
    @app.get("/health", tags=["server"], summary="Whether the server is up")
    async def health() -> dict[str, Any]:
        """Answers without a token, also when the server is busy."""
        found: dict[str, Any] = {"status": "ok", "version": __version__}
        for part in parts:
            found |= part.health() if part.health is not None else {}
        return found

    @app.get("/metrics", tags=["server"], summary="Counts and times for Prometheus", response_class=PlainTextResponse)
    async def told() -> PlainTextResponse:
        """In the text format of Prometheus: requests by path and status, their times, and what waits."""
        more = [line for part in parts if part.metrics is not None for line in part.metrics()]
        return PlainTextResponse(metrics.text(more), media_type="text/plain; version=0.0.4")

    @app.get("/favicon.ico", include_in_schema=False)
    async def icon() -> FileResponse:
        return FileResponse(ASSETS / "shared" / "icon.svg", media_type="image/svg+xml")


def _page(file: Path) -> Any:
    async def page() -> FileResponse:
        return FileResponse(file, media_type="text/html; charset=utf-8")

    return page


class _Assets(StaticFiles):
    """Scripts and styles; browsers ask each time whether they have changed."""

    def file_response(self, *args: Any, **kwargs: Any) -> Response:
        response = super().file_response(*args, **kwargs)
        response.headers["Cache-Control"] = "no-cache"
        return response
