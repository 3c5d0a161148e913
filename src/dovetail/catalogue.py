"""What is known of the models that have a name: what they find, in which language, how well, under which licence.

Everything is read from the headers of the model files, whose ``card`` says what their makers tell of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from dovetail.errors import ModelFileError
from dovetail.modelfile import load_header
from dovetail.shipped import models_in, named
from dovetail.text.tags import split_tag

LANGUAGES = {
    "chinese": "zh", "croatian": "hr", "danish": "da", "english": "en", "german": "de", "portuguese": "pt",
    "serbian": "sr", "slovak": "sk", "swedish": "sv",
}  # fmt: skip
"""Codes of languages by what names of models begin with."""
TASKS = {
    "tagger": "names", "segmenter": "words", "nested": "nested names", "parser": "trees", "joint": "trees and names",
    "dependency": "dependencies", "roles": "roles", "entailment": "entailment", "aligner": "alignment",
    "domains": "names", "domain-parsers": "trees", "pipeline": "pipeline",
}  # fmt: skip
"""What models of a kind find, where their cards do not say it."""


@dataclass(frozen=True)
class Entry:
    """A model, as the catalogue shows it."""

    name: str
    file: Path
    kind: str
    """tagger, parser, ..."""
    task: str
    """names, words, trees, ..."""
    languages: tuple[str, ...]
    """Codes such as ``en``; none if nobody says."""
    labels: tuple[str, ...]
    measure: str
    """Of the scores: F1, LAS, accuracy, ..."""
    scores: Mapping[str, float]
    """By kind of text; none if nobody says."""
    size: int
    """Bytes."""
    licence: str | None

    @property
    def card(self) -> Path | None:
        """The file that tells all about the model, if there is one: it lies beside the model."""
        path = self.file.with_suffix(".md")
        return path if path.is_file() else None

    def record(self) -> dict[str, Any]:
        """Everything as JSON can hold it."""
        card = None if self.card is None else str(self.card)
        return asdict(self) | {"file": str(self.file), "card": card, "scores": dict(self.scores)}

    @classmethod
    def read(cls, path: Path) -> Entry:
        """From the header of a model file."""
        header = load_header(path)
        told = header.get("card") or {}
        prefix = path.stem.partition("-")[0]
        languages = told.get("languages") or ([LANGUAGES[prefix]] if prefix in LANGUAGES else [])
        dev = told.get("dev")
        kind = str(header["kind"])
        plain = kind == "tagger" and header.get("scheme") is None
        return cls(
            name=path.stem,
            file=path,
            kind=kind,
            task=str(told.get("task") or ("tags" if plain else TASKS.get(kind, kind))),
            languages=tuple(map(str, languages)),
            labels=() if kind == "segmenter" and labels_of(header) == ["W"] else tuple(labels_of(header)),
            measure=str(told.get("measure") or ("accuracy" if plain else "F1")),
            scores=dict(told.get("scores") or ({} if dev is None else {"dev": dev})),
            size=path.stat().st_size,
            licence=told.get("licence"),
        )


def entries(folder: Path | None = None) -> list[Entry]:
    """The models that are known by name, and those of a folder; a file that is no model is left out.

    >>> [entry.task for entry in entries() if entry.name == "english-names"]
    ['names']
    """
    return list(_readable((named() | models_in(folder) if folder is not None else named()).values()))


def names_model(language: str) -> str | None:
    """The name of the model that finds names in text of this language, if there is one.

    >>> names_model("en"), names_model("tlh")
    ('english-names', None)
    """
    name = next((f"{word}-names" for word, code in LANGUAGES.items() if code == language), None)
    return name if name in named() else None


def _readable(paths: Iterable[Path]) -> Iterable[Entry]:
    for path in paths:
        try:
            yield Entry.read(path)
        except ModelFileError:  # of a newer version, or something else altogether
            continue


def labels_of(header: Mapping[str, Any]) -> list[str]:
    """What a model can answer: labels of entities or words, relations, or constituents and then entities.

    >>> labels_of({"labels": ["O", "B-PER", "I-PER"]})
    ['PER']
    """
    if "labels" in header:
        return list(dict.fromkeys(split_tag(tag)[1] or tag for tag in header["labels"] if tag != "O"))
    if header.get("relations"):
        return list(header["relations"]["labels"])
    whole = {label for _, label, role in header.get("grammar", {}).get("symbols", ()) if role == 0}
    return sorted(whole) + list(header.get("joint", {}).get("types", ()))
