"""``dovetail info``: what a model file holds."""

from __future__ import annotations

import json
from collections.abc import Container, Iterator, Mapping
from pathlib import Path
from textwrap import wrap
from typing import Any

from dovetail.cli import options
from dovetail.cli.console import count
from dovetail.cli.options import argument
from dovetail.cli.paths import Reads
from dovetail.cli.train.training import STOPPED, file_size

WIDTH = 80
WEIGHTS = ("weight", "value", "code")
"""How the names of arrays of weights end: of features, of what a domain does otherwise, of compact files."""


def info(
    model: Path | None = argument("MODEL", "A model file, or the name of a model.", Reads(), shown=options.ENGLISH),
    as_json: bool = options.AS_JSON,
) -> None:
    """Show what is in a model file: labels, features, scores.

    It also says which layers the model needs in its input besides the words, if any.
    """
    import dovetail
    from dovetail.catalogue import labels_of
    from dovetail.modelfile import load_model
    from dovetail.shipped import located

    path = located(model) if model is not None else dovetail.embedded(dovetail.ENGLISH_MODEL)
    found = dovetail.load(path)
    header, arrays = load_model(path)
    weights = sum(array.size for name, array in arrays.items() if _holds_weights(name, arrays))
    record = {
        "file": str(path),
        "kind": header["kind"],
        "dovetail": header.get("dovetail", "(version unknown)"),
        "bytes": path.stat().st_size,
        "weights": weights,
        "needs": list(getattr(found, "needs", ())),
        "predicts": list(getattr(found, "predicts", ())),
        "labels": labels_of(header),
        "domains": list(header.get("domains", ())),
        "templates": _templates(header),
        "resources": {name: resource["kind"] for name, resource in header.get("resources", {}).items()},
        "settings": header["settings"],
        "card": header.get("card", {}) | (_vocabulary(arrays) if header["kind"] == "aligner" else {}),
    }
    print(json.dumps(record, ensure_ascii=False) if as_json else "\n".join(_lines(record, file_size(path))))


def _holds_weights(name: str, arrays: Container[str]) -> bool:
    """Whether an array has an entry for each weight; the values that the codes of a compact file stand for have not."""
    owner, _, part = name.rpartition(".")
    return part in WEIGHTS and not (part == "value" and f"{owner}.code" in arrays)


def _vocabulary(arrays: Mapping[str, Any]) -> dict[str, Any]:
    """What an aligner has learnt, in numbers."""
    words = {side: int(arrays[f"{side}.seen"].size) for side in ("source", "target")}
    return {"words": words, "links": {"pairs of words": int(arrays["pairs"].size)}}


def _templates(header: Mapping[str, Any]) -> list[str]:
    """The templates of the features; of a parser, those of all its parts."""
    features = header.get("features", {})
    if "templates" in features:
        return list(features["templates"])
    parts = [*features.values(), header.get("entity_features", [])]
    return list(dict.fromkeys(template for part in parts for template in part))


def _lines(record: Mapping[str, Any], size: str) -> Iterator[str]:
    """The record for people to read: a name, and beside it what there is."""
    settings = {name: value for name, value in record["settings"].items() if value not in (None, [], {})}
    card = {name: STOPPED.get(value, value) if name == "stopped" else value for name, value in record["card"].items()}
    needs, reads, labels, templates = (record[name] for name in ("needs", "predicts", "labels", "templates"))
    files = f"{', '.join(needs)}: it can annotate files with this, not plain text"
    aligns = record["kind"] == "aligner"
    alone = "a text and its translation: dovetail align --model" if aligns else "words only: it can annotate plain text"
    rows = {
        "file": f"{record['file']} ({size})",
        "kind": f"{record['kind']}, written by dovetail {record['dovetail']}",
        "needs": files if needs else alone,
        "reads": f"{', '.join(reads)}, and predicts this where the text has none" if reads else None,
        "domains": ", ".join(record["domains"]) or None,
        "labels": f"{len(labels)}: {', '.join(labels)}" if labels else None,
        "weights": None if aligns else count(record["weights"], "weight"),
        "resources": ", ".join(f"{name} ({kind})" for name, kind in record["resources"].items()) or None,
        "templates": f"{len(templates)}: {'; '.join(templates)}" if templates else None,
        "settings": ", ".join(f"{name} {_plain(value)}" for name, value in settings.items()),
    }
    told = [(name.replace("_", " "), None if value is None else _plain(value)) for name, value in card.items()]
    for name, text in [*rows.items(), *told]:
        if text is not None:
            for number, line in enumerate(wrap(text, WIDTH - 12, break_long_words=False) or [""]):
                yield f"{'' if number else name:12}{line}".rstrip()


def _plain(value: Any) -> str:
    """A value as people write it.

    >>> _plain(0.1), _plain(12543), _plain(68.50220264), _plain(True), _plain({"a": 1, "b": [2, 3]})
    ('0.1', '12,543', '68.5', 'yes', 'a 1, b 2 3')
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_plain(one)}" for name, one in value.items())
    return " ".join(map(_plain, value)) if isinstance(value, list) else str(value)
