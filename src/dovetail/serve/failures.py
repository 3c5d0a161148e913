"""Failures as a client sees them: a status, and JSON that says what is wrong and what to do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from dovetail.errors import DovetailError
from dovetail.serve.extra import fastapi


class Refused(Exception):
    """A request that cannot be answered: its status, why, and headers such as Retry-After."""

    def __init__(self, status: int, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status, self.headers = status, dict(headers or {})

    def response(self) -> Response:
        """What is answered."""
        return failure(self.status, str(self), self.headers)


def busy(message: str, seconds: int = 1) -> Refused:
    """There is no room at the moment; the client is told when to try again.

    >>> busy("the queue is full").headers
    {'Retry-After': '1'}
    """
    return Refused(503, f"{message}; try again in {seconds} s", {"Retry-After": str(seconds)})


def failure(
    status: int, message: str, headers: Mapping[str, str] | None = None, where: str | None = None
) -> JSONResponse:
    """An answer that says what is wrong.

    >>> failure(422, "not a string", where="text").body
    b'{"error":"text: not a string","where":"text"}'
    """
    told = f"{where}: {message}" if where else message
    fields = {"error": encodable(told)} | ({"where": encodable(where)} if where else {})
    return JSONResponse(fields, status, dict(headers or {}))


def encodable(text: str) -> str:
    r"""The text with halves of surrogate pairs, which no answer can hold, written out.

    >>> encodable("a\ud800")
    'a\\ud800'
    """
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def handle_failures(app: fastapi.FastAPI) -> None:
    """Have the app answer all failures so."""
    from fastapi.exceptions import RequestValidationError

    def refused(request: Request, error: Exception) -> Response:
        assert isinstance(error, Refused)
        return error.response()

    def known(request: Request, error: Exception) -> Response:
        return failure(422, str(error))

    def invalid(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        return _invalid(error.errors())

    def by_status(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        path, method = request.url.path, request.method
        told = {404: f"there is nothing at {path}", 405: f"{path} does not take {method}"}
        return failure(error.status_code, told.get(error.status_code, str(error.detail)), error.headers)

    def fault(request: Request, error: Exception) -> Response:
        return failure(
            500, f"unexpected error in dovetail ({type(error).__name__}); the terminal of the server says more"
        )

    for kind, handler in (
        (Refused, refused), (DovetailError, known), (RequestValidationError, invalid), (HTTPException, by_status),
        (Exception, fault),
    ):  # fmt: skip
        app.add_exception_handler(kind, handler)


def _invalid(errors: Sequence[Any]) -> Response:
    message, where = what_is_invalid([{**first, "loc": first["loc"][1:] or first["loc"]} for first in errors[:1]])
    return failure(422, message, where=where)


def what_is_invalid(errors: Sequence[Any]) -> tuple[str, str | None]:
    """The first of the faults that pydantic finds: what is wrong, and where."""
    first = errors[0]
    where = ".".join(str(step) for step in first["loc"]) or None
    message = str(first["msg"]).removeprefix("Value error, ")
    if message.startswith("Input should be "):
        message = f"this must be {message.removeprefix('Input should be ')}"
    elif first["type"] == "missing":
        message = "missing"
    elif first["type"] == "extra_forbidden":
        message = "there is no such field"
    return message, None if where == "body" and first["type"] == "value_error" else where
