"""Sentences as JSON lines with all that the model knows: the best answers, the probabilities of labels."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from os import PathLike

    from dovetail.cli.kinds import Kind
    from dovetail.text.sentence import Document

SEEN = 0.005
"""Entities and constituents less probable are not listed among the marginals."""


def write_details(
    documents: Iterable[Document],
    path: str | PathLike[str],
    model: Any,
    k_best: int,
    marginals: bool,
    kind: Kind | None,
) -> None:
    """Write annotated documents with more fields: ``k_best``, a list of answers with their ``probability``, best first;
    ``marginals``, of a tagger an object from label to probability for each word.
    """
    from dovetail.text.files import atomic_writer

    of_words = span_chances if getattr(model, "kind", "") == "segmenter" else _labels
    answer, chances = (kind.answer, kind.marginals) if kind is not None else (_tags, of_words)
    with atomic_writer(path) as file:
        for document in documents:
            sentences = document.sentences
            more: dict[str, list[Any]] = {}
            if k_best:
                ranked = model.kbest(sentences, k_best)
                more["k_best"] = [[{"probability": one.probability, **answer(one)} for one in all] for all in ranked]
            if marginals:
                more["marginals"] = chances(model, sentences)
            for fields, *values in zip(_objects(document), *more.values(), strict=True):
                fields |= dict(zip(more, values, strict=True))
                file.write(json.dumps(fields, ensure_ascii=False, separators=(",", ":")) + "\n")


def _tags(tagging: Any) -> dict[str, Any]:
    return {"tags": tagging.tags}


def _labels(tagger: Any, sentences: Any) -> list[Any]:
    tables = tagger.predict_marginals(sentences)
    return [[dict(zip(tagger.classes_, row, strict=True)) for row in table.tolist()] for table in tables]


def span_chances(model: Any, sentences: Any) -> list[Any]:
    """The marginals of a model of spans: every entity or constituent that has a chance."""
    return [
        [{"start": s.start, "end": s.end, "label": s.label, "probability": s.probability} for s in spans]
        for spans in model.predict_marginals(sentences, SEEN)
    ]


def span_list(spans: Iterable[Any]) -> list[Any]:
    """Spans as ``[start, end, label]``."""
    return [[span.start, span.end, span.label] for span in spans]


def _objects(document: Document) -> list[dict[str, Any]]:
    """The sentences as JSON objects, as they are written without details."""
    from dovetail.text.jsonl import write_jsonl

    lines = io.StringIO()
    write_jsonl([document], lines)
    return [json.loads(line) for line in lines.getvalue().split("\n") if line]
