"""What has been labelled, as a file in any format that dovetail writes, or as a model."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from dovetail.errors import DovetailError
from dovetail.text.sentence import Sentence

OFFERED = ("conll", "jsonl", "spacy", "label-studio", "prodigy", "doccano")
"""Formats of one file that hold entities."""
MODEL = "model"


def formats(has_model: bool) -> list[str]:
    """The names of what can be had."""
    known = [name for name in OFFERED if name != "spacy" or find_spec("spacy")]
    return known + ([MODEL] if has_model else [])


def exported(sentences: Sequence[Sentence], form: str, stem: str, model: Any = None) -> tuple[str, bytes]:
    """The name and the contents of a file with the labelled sentences.

    >>> name, data = exported([Sentence(("Ada",), {"ner": ("B-PER",)})], "conll", "news")
    >>> name, data.decode()
    ('news.conll', 'Ada\\tB-PER\\n\\n')
    """
    from dovetail.text.formats import FORMATS, write

    if form not in formats(model is not None):
        raise DovetailError(f"format {form!r:.40}: choose one of {', '.join(formats(model is not None))}")
    name = f"{stem}.dovetail" if form == MODEL else stem + FORMATS[form].suffixes[0]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        if form == MODEL:
            model.save(path)
        else:
            if not sentences:
                raise DovetailError("nothing is labelled yet")
            write([replace(s, comments=(), document=None) for s in sentences], path, form)
        return name, path.read_bytes()
