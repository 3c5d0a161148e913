"""What is read and written: sentences, documents, spans; one module a format."""

from __future__ import annotations

from dovetail.text.formats import read, sentences, write
from dovetail.text.report import ReadReport, ReadWarning
from dovetail.text.sentence import Document, Sentence, Span
from dovetail.text.tags import spans_to_tags, tags_to_spans
from dovetail.text.tree import Tree, base_label

__all__ = [
    "Document",
    "ReadReport",
    "ReadWarning",
    "Sentence",
    "Span",
    "Tree",
    "base_label",
    "read",
    "sentences",
    "spans_to_tags",
    "tags_to_spans",
    "write",
]
