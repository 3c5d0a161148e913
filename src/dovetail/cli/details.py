"""Sentences as JSON lines with all that the model knows: the best taggings, the probabilities of labels."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from dovetail.text.files import atomic_writer
from dovetail.text.jsonl import write_jsonl

if TYPE_CHECKING:
    from os import PathLike

    from dovetail.models.tagger import Tagger
    from dovetail.text.sentence import Document


def write_details(
    documents: Iterable[Document], path: str | PathLike[str], tagger: Tagger, k_best: int, marginals: bool
) -> None:
    """Write annotated documents with the fields ``k_best`` and ``marginals``.

    ``k_best`` is a list of ``{"probability", "tags"}``, best first; ``marginals`` a list with, for each word,
    an object from label to probability.
    """
    with atomic_writer(path) as file:
        for document in documents:
            objects = _objects(document)
            if k_best:
                for fields, taggings in zip(objects, tagger.kbest(document.sentences, k_best), strict=True):
                    fields["k_best"] = [{"probability": t.probability, "tags": t.tags} for t in taggings]
            if marginals:
                for fields, table in zip(objects, tagger.predict_marginals(document.sentences), strict=True):
                    fields["marginals"] = [dict(zip(tagger.classes_, row, strict=True)) for row in table.tolist()]
            for fields in objects:
                file.write(json.dumps(fields, ensure_ascii=False, separators=(",", ":")) + "\n")


def _objects(document: Document) -> list[dict[str, Any]]:
    """The sentences as JSON objects, as they are written without details."""
    lines = io.StringIO()
    write_jsonl([document], lines)
    return [json.loads(line) for line in lines.getvalue().split("\n") if line]
