"""The formats that commands know: those of ``dovetail.text.formats``, by name, so that help need not import them."""

from __future__ import annotations

from enum import StrEnum
from inspect import signature

CorpusFormat = StrEnum(
    "CorpusFormat",
    "conll conllu conllup jsonl brackets brat csv webanno tmx huggingface prodigy doccano label-studio spacy",
)
"""Formats that hold annotations: all but text."""
FormatOfTrees = StrEnum("FormatOfTrees", "jsonl brackets")
"""Formats that hold constituents."""
InputFormat = StrEnum(
    "InputFormat",
    "text conll conllu conllup jsonl brackets brat csv webanno tmx huggingface prodigy doccano label-studio spacy",
)
"""Formats of what is to be annotated, or converted: all."""
OutputFormat = StrEnum(
    "OutputFormat",
    "pretty svg html jsonl conll conllu conllup brackets brat csv webanno tmx huggingface prodigy doccano label-studio "
    "spacy",
)
"""Formats of annotated text: all but plain text; pretty is for reading, svg a picture, html a page."""


def takes(format: str, option: str) -> bool:
    """Whether the reader of a format has an option of this name.

    >>> takes("brat", "texts"), takes("conll", "texts")
    (True, False)
    """
    from dovetail.text.formats import FORMATS

    return option in signature(FORMATS[format].read).parameters
