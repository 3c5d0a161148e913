"""Any number of texts in one request: lines of JSON in, lines of JSON out, in the same order, while others come in.

What a client sends is kept in a file until it has been answered: many clients send all of their lines before they read
the first answer, and would wait for ever if they were not taken from them.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing
from tempfile import SpooledTemporaryFile
from typing import Any

from pydantic import ValidationError
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from dovetail.errors import DovetailError
from dovetail.serve.bodies import parse_json
from dovetail.serve.engine import Engine
from dovetail.serve.failures import Refused, busy, encodable, what_is_invalid
from dovetail.serve.fields import Given
from dovetail.serve.gate import NDJSON
from dovetail.serve.roster import Served
from dovetail.spellings import respelled
from dovetail.text.jsonl import compact_json
from dovetail.text.sentence import Document

LONGEST_LINE = 1_000_000
MOST_KEPT = 1_000_000_000
"""Bytes that may wait for their answers."""
IN_MEMORY = 1_000_000
AT_ONCE = 32
"""Lines of one request that wait for the model at the same time."""
PATIENCE = 60.0
"""Seconds in which a client must send something, or read something."""

Write = Callable[[Document], list[dict[str, Any]]]
TOO_LONG = f"this line is longer than {LONGEST_LINE:,} bytes; cut the text"


class Kept:
    """Bytes on their way: written at one end, read in lines at the other, of which memory holds a part."""

    def __init__(self, most: int = MOST_KEPT) -> None:
        self.most = most
        self.file = SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115 - closed by ``close``
        self.written = self.read = 0
        self.ended = False
        self.gone = False
        """Whether the client is."""
        self.failed: str | None = None
        self._more = asyncio.Event()

    def write(self, piece: bytes) -> bool:
        """Keep a piece; False if there is no room for it."""
        if self.read == self.written:
            self.file.seek(0)
            self.file.truncate()
            self.read = self.written = 0
        if self.written + len(piece) > self.most:
            self.end(f"more than {self.most:,} bytes wait for their answers; read answers while you send")
            return False
        self.file.seek(self.written)
        self.file.write(piece)
        self.written += len(piece)
        self._more.set()
        return True

    def end(self, failed: str | None = None) -> None:
        """Nothing more will come."""
        self.ended, self.failed = True, failed
        self._more.set()

    def close(self) -> None:
        """Forget all."""
        self.file.close()

    async def lines(self) -> AsyncIterator[bytes | None]:
        """The lines, None in place of one that is too long."""
        rest, too_long = b"", False
        while True:
            while self.read == self.written and not self.ended:
                self._more.clear()
                await self._more.wait()
            if self.read == self.written or self.gone:
                break
            self.file.seek(self.read)
            piece = self.file.read(64 * 1024)
            self.read += len(piece)
            *whole, rest = (rest + piece).split(b"\n")
            for number, line in enumerate(whole):
                yield None if (too_long and number == 0) or len(line) > LONGEST_LINE else line
            too_long = (too_long and not whole) or len(rest) > LONGEST_LINE
            rest = b"" if too_long else rest
        if too_long or rest:
            yield None if too_long else rest


class Batches:
    """The requests of many lines that are at work: so many and no more."""

    def __init__(self, most: int = 16) -> None:
        self.most, self.running = most, 0

    def answer(self, served: Served, engine: Engine, write: Write) -> Response:
        """What answers a request line by line."""
        if self.running >= self.most:
            raise busy(f"{self.most} batches are at work already", 5)
        return _Lines(self, served, engine, write)


class _Lines(Response):
    """An answer that is written while the request is still read."""

    def __init__(self, batches: Batches, served: Served, engine: Engine, write: Write) -> None:
        super().__init__(media_type=NDJSON)
        self.batches, self.served, self.engine, self.write = batches, served, engine, write
        del self.headers["content-length"]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Read and write at the same time."""
        kept = Kept()
        self.batches.running += 1
        reading = asyncio.create_task(_keep(kept, receive))
        try:
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            async with aclosing(self._answers(kept)) as answers:
                async for answered in answers:
                    message = {"type": "http.response.body", "body": answered, "more_body": True}
                    await asyncio.wait_for(send(message), PATIENCE)
            await send({"type": "http.response.body", "body": b""})
        except (TimeoutError, OSError):
            pass  # the client reads nothing, or is gone
        finally:
            self.batches.running -= 1
            reading.cancel()
            kept.close()

    async def _answers(self, kept: Kept) -> AsyncGenerator[bytes]:
        """The lines of the answer, in order, while later ones are at work."""
        at_work: asyncio.Queue[asyncio.Task[dict[str, Any]] | None] = asyncio.Queue(AT_ONCE)

        async def begin() -> None:
            number = 0
            async for line in kept.lines():
                number += 1
                if line is None or line.strip():
                    await at_work.put(asyncio.create_task(self._one(number, line)))
            if kept.failed is not None:
                await at_work.put(asyncio.create_task(_failed(number + 1, kept.failed)))
            await at_work.put(None)

        beginning = asyncio.create_task(begin())
        try:
            while (task := await at_work.get()) is not None:
                yield _line(await task)
        finally:
            beginning.cancel()
            while not at_work.empty():
                if (left := at_work.get_nowait()) is not None:
                    left.cancel()

    async def _one(self, number: int, line: bytes | None) -> dict[str, Any]:
        """The answer to a line: its sentences, or what is wrong with it."""
        about: dict[str, Any] = {"line": number}
        try:
            if line is None:
                raise Refused(413, TOO_LONG)
            value = parse_json(line, "this line")
            value = respelled("request", value, "/batch") if isinstance(value, dict) else value
            if isinstance(value, dict) and "id" in value:
                about = {"id": value.pop("id")} | about
            asked = Given.model_validate({"text": value} if isinstance(value, str) else value)
            if asked.model is not None:
                raise Refused(422, "name the model in the address: /batch?model=NAME")
            while not self.engine.has_room(len(line)) and self.engine.waiting:
                await asyncio.sleep(0.01)
            return about | {"sentences": self.write(await self.engine.annotate(asked.content()))}
        except ValidationError as error:
            message, where = what_is_invalid(error.errors())
            return about | {"error": encodable(f"{where}: {message}" if where else message)}
        except (Refused, DovetailError) as error:
            return about | {"error": encodable(str(error))}
        except Exception as error:
            return about | {"error": f"unexpected error in dovetail ({type(error).__name__})"}


async def _keep(kept: Kept, receive: Receive) -> None:
    """Take all that the client sends, and hear of it if it goes away."""
    while not kept.gone:
        try:
            message = await asyncio.wait_for(receive(), None if kept.ended else PATIENCE)
        except TimeoutError:
            kept.end(f"nothing came for {PATIENCE:g} s")
            return
        kept.gone = message["type"] == "http.disconnect"
        if not kept.ended and kept.write(message.get("body", b"")) and not message.get("more_body", False):
            kept.end()


async def _failed(number: int, told: str) -> dict[str, Any]:
    return {"line": number, "error": told}


def _line(fields: dict[str, Any]) -> bytes:
    return f"{compact_json(fields)}\n".encode()
