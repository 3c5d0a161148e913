"""The session over HTTP, and its page."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from dovetail.labelling.exporting import exported, formats
from dovetail.labelling.session import Session, check_name
from dovetail.serve import Part
from dovetail.serve.extra import fastapi

PAGE = Path(__file__).parent / "page"
Name = Annotated[str, Field(max_length=60)]
Tab = Annotated[str, Field(min_length=1, max_length=60)]


class Asker(BaseModel):
    """Who asks: a tab of a browser, and the annotator before it; none means the one that the command named."""

    model_config = ConfigDict(extra="forbid")
    tab: Tab
    annotator: Name = ""


class Wanted(Asker):
    """A sentence that somebody wants to see."""

    number: Annotated[int, Field(ge=0)]


class Said(Wanted):
    """What an annotator says of a sentence; ``answer`` as ``dovetail.labelling.tasks`` describes it."""

    state: Literal["done", "skipped", "flagged"] = "done"
    answer: list[Any] | None = None
    note: Annotated[str, Field(max_length=500)] = ""
    seconds: Annotated[float | None, Field(ge=0)] = None


def part_of(session: Session, name: str) -> Part:
    """The routes and the page of a session; ``name`` is what exported files are called."""
    router = fastapi.APIRouter(prefix="/label", tags=["label"])
    _add_work(router, session)
    _add_views(router, session, name)

    @asynccontextmanager
    async def running() -> AsyncIterator[None]:
        session.start()
        try:
            yield
        finally:
            session.close()

    def health() -> Mapping[str, Any]:
        return {"sentences": len(session.texts), "task": session.store.task}

    pages = {"/": PAGE / "label.html"}
    return Part(router=router, pages=pages, assets={"/assets/label": PAGE}, lifespan=running, health=health)


def _who(session: Session, annotator: str) -> str:
    return check_name(annotator) if annotator.strip() else session.annotator


def _add_work(router: fastapi.APIRouter, session: Session) -> None:
    @router.post("/next", summary="The next sentence to label, with a guess")
    def following(asked: Asker) -> dict[str, Any]:
        """``item`` is null when nothing is left for this annotator."""
        return {"item": session.take(asked.tab, _who(session, asked.annotator))}

    @router.post("/open", summary="A sentence by its number")
    def opened(asked: Wanted) -> dict[str, Any]:
        """``elsewhere`` tells that another tab has it, too."""
        return {"item": session.open(asked.number, asked.tab, _who(session, asked.annotator))}

    @router.post("/answer", summary="Keep an answer; the next sentence")
    def answered(said: Said) -> dict[str, Any]:
        """When this answers, the answer is on the disk."""
        who = _who(session, said.annotator)
        session.answer(said.number, said.tab, who, said.state, said.answer, said.note, said.seconds)
        return {"saved": True, "item": session.take(said.tab, who)}

    @router.post("/undo", summary="Take back the last answer of this annotator")
    def undone(asked: Asker) -> dict[str, Any]:
        """The sentence again, with the answer that it had; null when there is nothing to take back."""
        return {"item": session.undo(asked.tab, _who(session, asked.annotator))}


def _add_views(router: fastapi.APIRouter, session: Session, name: str) -> None:
    @router.get("/status", summary="Counts, learning curve, training, agreement")
    def status(tab: Tab, annotator: Name = "") -> dict[str, Any]:
        """A page that asks this keeps the sentence that it has."""
        told = session.status(tab, _who(session, annotator))
        return told | {"exports": formats(session.models.own is not None)}

    @router.get("/why", summary="Why a word has the label that the model gives it")
    def why(number: int, position: int) -> dict[str, Any]:
        """The strongest features for the label and against it, and its rivals."""
        return session.why(number, position)

    @router.get("/search", summary="Sentences that hold some characters, or are in some state")
    def search(
        q: Annotated[str, fastapi.Query(max_length=200)] = "",
        state: Literal["", "done", "skipped", "flagged"] = "",
        annotator: Name = "",
    ) -> dict[str, Any]:
        """Thirty at most."""
        return {"found": session.search(q, state, _who(session, annotator))}

    @router.get("/export/{form}", summary="What has been labelled, as a file")
    def export(form: str) -> fastapi.Response:
        """In the format that is named, or with ``model``, the model."""
        own = session.models.own
        file, data = exported(session.labelled(), form, name, None if own is None else own.model)
        ascii_name = file.encode("ascii", "replace").decode().replace('"', "_").replace("\\", "_")
        disposition = f'attachment; filename="{ascii_name}"'
        return fastapi.Response(data, 200, {"Content-Disposition": disposition}, "application/octet-stream")
