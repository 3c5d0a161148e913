"""What is read and written: sentences, documents, spans; one module a format."""

from dovetail.rooms import open_room
from dovetail.text.brackets import read_brackets, write_brackets
from dovetail.text.brat import read_brat, write_brat
from dovetail.text.conll import read_conll, write_conll
from dovetail.text.conllu import read_conllu, write_conllu
from dovetail.text.formats import read, sentences, write
from dovetail.text.frames import Frame
from dovetail.text.jsonl import read_jsonl, write_jsonl
from dovetail.text.plain import read_text, write_text
from dovetail.text.report import ReadReport, ReadWarning
from dovetail.text.sentence import Document, Sentence, Span
from dovetail.text.tags import spans_to_tags, tags_to_spans
from dovetail.text.tree import Tree, base_label

__all__ = [
    "Document", "Frame", "ReadReport", "ReadWarning", "Sentence", "Span", "Tree", "base_label", "read", "read_brackets",
    "read_brat", "read_conll", "read_conllu", "read_jsonl", "read_text", "sentences", "spans_to_tags", "tags_to_spans",
    "write", "write_brackets", "write_brat", "write_conll", "write_conllu", "write_jsonl", "write_text",
]  # fmt: skip

open_room(__name__)
