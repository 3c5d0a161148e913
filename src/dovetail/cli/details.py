"""Sentences as JSON lines with all that the model knows: the best taggings, the probabilities of labels."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from dovetail.text.files import atomic_writer
from dovetail.text.jsonl import write_jsonl

if TYPE_CHECKING:
    from os import PathLike

    from dovetail.models.tagger.estimator import Tagger
    from dovetail.text.sentence import Document, Sentence


def write_details(
    documents: Iterable[Document],
    path: str | PathLike[str],
    model: Any,
    k_best: int,
    marginals: bool,
    details: Callable[[Any, Any, int, bool], list[dict[str, Any]]],
) -> None:
    """Write annotated documents with the fields that ``details`` makes for their sentences."""
    with atomic_writer(path) as file:
        for document in documents:
            more = details(model, document.sentences, k_best, marginals)
            for fields, extra in zip(_objects(document), more, strict=True):
                file.write(json.dumps(fields | extra, ensure_ascii=False, separators=(",", ":")) + "\n")


def tag_details(tagger: Tagger, sentences: Sequence[Sentence], k: int, marginals: bool) -> list[dict[str, Any]]:
    """``k_best`` is a list of ``{"probability", "tags"}``, best first; ``marginals`` a list with, for each word, an
    object from label to probability.
    """
    found: list[dict[str, Any]] = [{} for _ in sentences]
    if k:
        for fields, taggings in zip(found, tagger.kbest(sentences, k), strict=True):
            fields["k_best"] = [{"probability": t.probability, "tags": t.tags} for t in taggings]
    if marginals:
        for fields, table in zip(found, tagger.predict_marginals(sentences), strict=True):
            fields["marginals"] = [dict(zip(tagger.classes_, row, strict=True)) for row in table.tolist()]
    return found


def _objects(document: Document) -> list[dict[str, Any]]:
    """The sentences as JSON objects, as they are written without details."""
    lines = io.StringIO()
    write_jsonl([document], lines)
    return [json.loads(line) for line in lines.getvalue().split("\n") if line]
