"""Objects that annotation tools and data sets write, in dovetail's own fields: Prodigy, Label Studio, Hugging Face.

doccano's ``label`` and ``start_offset`` are read where spans are (`json_object`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from dovetail.text.json_object import JsonObject, kind_of

_REFUSED = ("reject", "ignore")
_CHOICES = ("label", "labels", "options", "entities")  # with one of these an answer may be about the whole text


def own_fields(item: JsonObject, all_texts: bool = False) -> JsonObject | None:
    """The object in dovetail's own fields; None, and a count in its report, where it is not to be read.

    With ``all_texts`` what annotators refused or have not seen is read as well, to be annotated.
    """
    fields = item.fields
    if fields.get("answer") in _REFUSED and not all_texts:
        item.note(f'answer "{fields["answer"]}" of an annotator, left out')
        return None
    if isinstance(fields.get("data"), dict) and "text" not in fields and not item.is_sentence():
        return _label_studio(item, all_texts)
    if "ner_tags" in fields and "ner" not in fields and "entities" not in fields:
        return _named_tags(item)
    if fields.get("answer") == "accept" and not item.is_sentence() and not any(map(fields.get, _CHOICES)):
        return replace(item, fields={"spans": [], **fields})  # Prodigy: accepted, and nothing was marked
    return item


def _named_tags(item: JsonObject) -> JsonObject:
    """Hugging Face: tags by name are the layer ``ner``; the names of numbers are not in the file."""
    tags = item.fields["ner_tags"]
    if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
        raise item.wrong(
            '"ner_tags" are numbers, and their names are not in the file; write the names instead, '
            'such as [names[tag] for tag in tags] with names = dataset.features["ner_tags"].feature.names'
        )
    return replace(item, fields={"ner" if name == "ner_tags" else name: value for name, value in item.fields.items()})


def _label_studio(item: JsonObject, all_texts: bool) -> JsonObject | None:
    """A task of Label Studio as a document: the text of ``data``, the spans of the first annotation."""
    text = _text_of(item, item.fields["data"])
    fields: dict[str, Any] = {"text": text}
    identity = item.fields.get("id", item.fields["data"].get("id"))
    if identity is not None:
        fields["id"] = identity
    if "annotations" not in item.fields:
        return replace(item, fields=fields)
    given = item.fields["annotations"]
    if not isinstance(given, list) or not all(isinstance(one, dict) for one in given):
        raise item.wrong(f'"annotations" is {kind_of(given)}, expected an array of objects with "result"')
    kept = [one for one in given if not one.get("was_cancelled")]
    if not kept and all_texts:
        return replace(item, fields=fields)
    if not kept:
        what = "task that was skipped" if given else "task without an annotation"
        item.note(f"{what} (Label Studio), left out")
        return None
    if len(kept) > 1:
        item.note("task with several annotations (Label Studio), of which the first is read")
    results = kept[0].get("result", [])
    if not isinstance(results, list):
        raise item.wrong(f'"result" is {kind_of(results)}, expected an array')
    fields["spans"] = [_with_score(result) for result in results if _is_span(item, result)]
    return replace(item, fields=fields)


def _text_of(item: JsonObject, data: dict[str, Any]) -> str:
    texts = [value for value in data.values() if isinstance(value, str)]
    found = data.get("text", texts[0] if len(texts) == 1 else None)
    if not isinstance(found, str):
        raise item.wrong('no "text" in "data"; a task of Label Studio must hold its text there')
    return found


def _with_score(result: dict[str, Any]) -> dict[str, Any]:
    """The value of a result with the score that a model gave it, if it is a probability."""
    score = result.get("score")
    is_probability = isinstance(score, int | float) and 0 <= score <= 1
    value: dict[str, Any] = result["value"]
    return {"probability": score, **value} if is_probability else value


def _is_span(item: JsonObject, result: object) -> bool:
    value = result.get("value") if isinstance(result, dict) else None
    is_span = isinstance(value, dict) and {"start", "end", "labels"} <= value.keys()
    if not is_span:
        item.note("result without start, end and labels (Label Studio), not read")
    return is_span
