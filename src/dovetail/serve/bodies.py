"""Bodies of requests, read whole within bounds, and checked to be JSON that any route can take."""

from __future__ import annotations

import json
import re
from typing import Any

from starlette.types import Receive

from dovetail.serve.failures import Refused

DEEPEST = 50
"""So many brackets within each other are enough for anybody."""
LONGEST_NUMBER = 400
_SURROGATE = re.compile("[\ud800-\udfff]")


class Gone(Exception):
    """The client went away in the middle of its request."""


async def read_body(receive: Receive, most: int) -> bytes:
    """The whole body, of so many bytes at most."""
    pieces, size = [], 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Gone
        piece = message.get("body", b"")
        size += len(piece)
        if size > most:
            raise too_large(most)
        pieces.append(piece)
        if not message.get("more_body", False):
            return b"".join(pieces)


def too_large(most: int) -> Refused:
    """The refusal of a body of more bytes than that."""
    told = f"the body is larger than {most:,} bytes; send less at once (/batch takes any number of lines)"
    return Refused(413, told, {"Connection": "close"})


def parse_json(body: bytes, where: str = "the body") -> Any:
    r"""The JSON value that a body holds; what no text should hold is refused.

    >>> parse_json(b'{"text": "Ada"}')
    {'text': 'Ada'}
    """
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Refused(400, f"{where} is not UTF-8 (byte {error.start})") from None
    try:
        value = json.loads(text, parse_constant=_no_number, parse_int=_integer)
    except json.JSONDecodeError as error:
        raise Refused(400, f"{where} is not JSON: {error.msg} at character {error.pos}") from None
    except RecursionError:
        raise Refused(400, f"{where} is nested too deeply") from None
    _check(value, where, 0)
    return value


def _check(value: Any, where: str, depth: int) -> None:
    if isinstance(value, str):
        if "\x00" in value:
            raise Refused(422, f"{where} holds a NUL character; leave it out")
        if _SURROGATE.search(value):
            raise Refused(422, f"{where} holds half of a surrogate pair, which is no character")
    elif isinstance(value, dict | list):
        if depth == DEEPEST:
            raise Refused(422, f"{where} is nested more than {DEEPEST} deep")
        for key in value if isinstance(value, dict) else ():
            _check(key, where, depth + 1)
        for inner in value.values() if isinstance(value, dict) else value:
            _check(inner, where, depth + 1)


def _no_number(name: str) -> Any:
    raise Refused(422, f"{name} is no number of JSON")


def _integer(digits: str) -> int:
    if len(digits) > LONGEST_NUMBER:
        raise Refused(422, f"a number of {len(digits):,} digits is too long")
    return int(digits)
