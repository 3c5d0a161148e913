"""Answers of models as JSON: sentences with their alternatives and pictures, and explanations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from dovetail.errors import DovetailError, InputError
from dovetail.models.records import argument_record, constituent_record, token_record
from dovetail.serve.roster import Served
from dovetail.text.draw_dependencies import dependency_svg
from dovetail.text.jsonl import sentence_object
from dovetail.text.sentence import Document, Sentence
from dovetail.text.tree_svg import tree_svg

SURE = ("head_probability",)
"""Layers that hold numbers."""


def sentences_of(document: Document) -> list[dict[str, Any]]:
    """The sentences as objects of JSON lines, without the name of their document."""
    unnamed = replace(document, id=None)
    return [_fields(sentence_object(sentence, unnamed)) for sentence in document]


def _fields(fields: dict[str, Any]) -> dict[str, Any]:
    """Probabilities as numbers, not as the text of a layer."""
    for name in SURE:
        if name in fields:
            fields[name] = [float(value) for value in fields[name]]
    return fields


def with_more(served: Served, document: Document, alternatives: int, pictures: bool) -> list[dict[str, Any]]:
    """The sentences of a document, with their best answers and with pictures if these are wanted."""
    found = sentences_of(document)
    if pictures:
        for fields, sentence in zip(found, document, strict=True):
            fields["pictures"] = pictures_of(sentence)
    if alternatives and served.ranks:
        for fields, ranked in zip(found, ranked_answers(served, document, alternatives), strict=True):
            fields["alternatives"] = [_alternative(sentence, p, pictures) for sentence, p in ranked]
    return found


def ranked_answers(served: Served, document: Document, k: int) -> Iterable[list[tuple[Sentence, float]]]:
    """The best answers to each sentence: the sentence with the answer in it, and its probability."""
    plain = [Sentence(s.words, document=s.document) for s in document]
    for sentence, ranked in zip(plain, served.model.kbest(plain, k), strict=True):
        yield [(answer.write(sentence), float(answer.probability or 0.0)) for answer in ranked]


def _alternative(sentence: Sentence, probability: float, pictures: bool) -> dict[str, Any]:
    fields = _fields(sentence_object(sentence, None))
    found = {"probability": probability} | {name: value for name, value in fields.items() if name != "words"}
    return found | ({"pictures": pictures_of(sentence)} if pictures else {})


def pictures_of(sentence: Sentence) -> dict[str, str]:
    """The tree and the dependencies of a sentence, as far as it has them, drawn."""
    drawn, title = {}, " ".join(sentence.words)
    if sentence.tree is not None:
        drawn["tree"] = tree_svg(sentence.tree, sentence.spans, title)
    if "head" in sentence.layers and len(sentence):
        chances = sentence.layers.get("head_probability")
        with suppress(InputError):  # no tree: nothing to draw
            drawn["dependencies"] = dependency_svg(sentence, [float(p) for p in chances] if chances else None, title)
    return drawn


def explanation(served: Served, document: Document, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Why a token, a span or an argument of a sentence is what it is; ``asked`` as in ``fields.Question``."""
    if served.explains is None:
        raise DovetailError(f"{served.name} gives {served.gives}, which cannot be explained")
    if not 0 <= asked["sentence"] < len(document):
        raise DovetailError(f"sentence {asked['sentence']}: the text has sentences 0 to {len(document) - 1}")
    sentence = document[asked["sentence"]]
    if served.explains == "token":
        place = _needed(asked, "token", len(sentence) - 1)
        context = {"document": list(document)} if served.kind == "tagger" else {}
        return {"token": place} | token_record(served.model.explain(sentence, place, **context), asked["top"])
    start = _needed(asked, "start", len(sentence) - 1)
    end = _needed(asked, "end", len(sentence))
    if start >= end:
        raise DovetailError(f"start {start} must be less than end {end}")
    if served.explains == "argument":
        predicate = _needed(asked, "predicate", len(sentence) - 1)
        return argument_record(sentence, served.model.explain(sentence, predicate, start, end), asked["top"])
    return constituent_record(sentence, served.model.explain(sentence, start, end, asked["label"]), asked["top"])


def _needed(asked: Mapping[str, Any], name: str, most: int) -> int:
    value: int | None = asked[name]
    if value is None:
        raise DovetailError(f"{name}: missing")
    if value > most:
        raise DovetailError(f"{name}: the sentence has {most} at most, and this is {value}")
    return value
