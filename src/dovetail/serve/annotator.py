"""The part of ``dovetail serve``: models behind routes, and the page that shows what they answer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from starlette.responses import Response

from dovetail.serve import fields
from dovetail.serve.answers import explanation, sentences_of, with_more
from dovetail.serve.batch import Batches
from dovetail.serve.engine import Engine, Room, document_of
from dovetail.serve.extra import fastapi
from dovetail.serve.failures import Refused
from dovetail.serve.gate import NDJSON
from dovetail.serve.metrics import head, named
from dovetail.serve.part import Part
from dovetail.serve.roster import Served

ASSETS = Path(__file__).parent / "assets" / "annotate"
DESCRIPTION = """
Models of [dovetail](/) over HTTP: named entities, tags, trees, dependencies, roles, each with probabilities.

Every failure is JSON with `error`: what is wrong and what to do. A busy server answers 503 with `Retry-After`. Posts
must have the content type `application/json` (`application/x-ndjson` for `/batch`).
"""

LINES = {
    "requestBody": {
        "required": True,
        "content": {
            NDJSON: {"schema": {"type": "string"}, "example": '{"id": 1, "text": "Ada slept."}\n"Bela wrote."\n'}
        },
    },
    "responses": {200: {"description": "A line for each line.", "content": {NDJSON: {"schema": {"type": "string"}}}}},
}


class Annotator:
    """Models, each with its engine."""

    def __init__(self, served: Sequence[Served], room: Room | None = None) -> None:
        self.served = {one.name: one for one in served}
        self.engines = {one.name: Engine(one.model, room) for one in served}
        self.first = served[0].name

    def chosen(self, name: str | None) -> tuple[Served, Engine]:
        """The model of this name, the first if none is given."""
        name = self.first if name is None else name
        if name not in self.served:
            raise Refused(404, f"there is no model {name!r:.80}; there are {', '.join(self.served)}")
        return self.served[name], self.engines[name]

    def part(self) -> Part:
        """What is put on the server."""
        return Part(
            router=_router(self),
            pages={"/": ASSETS / "index.html"},
            assets={"/assets/annotate": ASSETS},
            streamed=("/batch",),
            lifespan=self._running,
            health=lambda: {"models": list(self.served)},
            metrics=self._metrics,
        )

    @asynccontextmanager
    async def _running(self) -> AsyncIterator[None]:
        for engine in self.engines.values():
            engine.start("Ada saw Bern.")
        yield
        for engine in self.engines.values():
            await asyncio.to_thread(engine.stop)

    def _metrics(self) -> Iterator[str]:
        for name, kind, help, value in (
            ("dovetail_waiting", "gauge", "Requests that wait for a model.", lambda engine: len(engine.waiting)),
            ("dovetail_answered_total", "counter", "Texts answered by a model.", lambda engine: engine.answered),
            ("dovetail_batches_total", "counter", "Batches they were answered in.", lambda engine: engine.batches),
        ):
            yield from head(name, kind, help)
            for model, engine in self.engines.items():
                yield f"{name}{named({'model': model})} {value(engine)}"


def _router(annotator: Annotator) -> fastapi.APIRouter:
    router = fastapi.APIRouter(tags=["models"])
    batches = Batches()

    @router.post("/annotate", response_model=fields.Answered, response_model_exclude_unset=True)
    async def annotate(asked: fields.Wishes) -> Response:
        """A text, or sentences of words, with the answers of a model and their probabilities."""
        served, engine = annotator.chosen(asked.model)
        document = await engine.annotate(asked.content())
        if asked.alternatives and served.ranks:
            size = sum(map(len, document)) * asked.alternatives
            sentences = await engine.do(lambda: with_more(served, document, asked.alternatives, asked.pictures), size)
        else:
            sentences = with_more(served, document, 0, asked.pictures)
        return fastapi.responses.JSONResponse({"model": served.name, "sentences": sentences})

    @router.post("/explain", response_model=fields.Explained)
    async def explain(asked: fields.Question) -> Response:
        """Why a token has its tag, a constituent is there, a span is an argument: the features for and against it.

        Taggers are asked about a `token`, parsers about `start` and `end`, role labellers about `predicate` as well.
        """
        served, engine = annotator.chosen(asked.model)
        wanted = asked.model_dump()

        def work() -> dict[str, Any]:
            return explanation(served, document_of(asked.content()), wanted)

        found = await engine.do(work, len(asked.text or ""))
        return fastapi.responses.JSONResponse({"model": served.name, **found})

    @router.get("/models", response_model=fields.Models)
    async def models() -> Response:
        """The models that are served, the default first: what they give, their labels, and their cards."""
        listed = [
            {"name": one.name, "kind": one.kind, "gives": one.gives, "labels": one.labels(), "explains": one.explains,
             "ranks": one.ranks, "card": one.model.card_ if hasattr(one.model, "card_") else {}}
            for one in annotator.served.values()
        ]  # fmt: skip
        return fastapi.responses.JSONResponse({"models": listed})

    @router.post("/batch", response_class=Response, openapi_extra=LINES)
    async def batch(model: str | None = None) -> Response:
        """Any number of texts, one a line, answered line by line in the same order while the rest still comes.

        A line is a text in quotes, or an object with `text` or `words`, and perhaps an `id`, which comes back. An
        answer has `line`, and `sentences` as in `/annotate`, or `error`: a wrong line does not stop the others.
        """
        served, engine = annotator.chosen(model)
        return batches.answer(served, engine, sentences_of)

    return router
