"""Layers beside the words that a model reads, such as parts of speech: plain text has none of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from typing import Any

from dovetail.cli.console import say
from dovetail.errors import DovetailError

WITHOUT = {
    "dependency": "add --predict-tags to predict them",
    "parser": "leave out --tags given to predict them",
    "joint": "leave out --tags given to predict them",
}
"""How a model of a kind is trained for plain text; any other has ``--ignore``."""


def will_need(kind: str, layers: Sequence[str]) -> list[str]:
    """What to say before a model that reads these layers is trained: one line, or none.

    >>> will_need("tagger", ["pos"])[0][:40]
    'this model will read the layer pos: it c'
    """
    if not layers:
        return []
    what, it = _named(layers)
    return [
        f"this model will read the {what}: it can annotate files that have {it}, not plain text; {_fix(kind, layers)}"
    ]


def will_predict(layers: Sequence[str]) -> list[str]:
    """What to say before a model that reads these layers, and learns them too, is trained: one line, or none.

    >>> will_predict(["pos", "chunk"])
    ['this model will read the layers pos and chunk, and predict them for text that has none']
    """
    what, it = _named(layers) if layers else ("", "")
    return [f"this model will read the {what}, and predict {it} for text that has none"] if layers else []


def telling(model: Any, sentences: Iterable[Any]) -> Iterator[Any]:
    """The sentences; as soon as one lacks a layer that the model predicts, a line says so, once a layer."""
    silent = list(getattr(model, "predicts", ()))
    for sentence in sentences:
        if len(sentence) and silent:
            for name in [name for name in silent if name not in sentence.layers]:
                say(f"the layer {name} is predicted where the text has none")
                silent.remove(name)
        yield sentence


def lacks(kind: str, layers: Sequence[str]) -> str:
    """What to say when plain text is to be annotated by a model that reads these layers."""
    what, it = _named(layers)
    return (
        f"this model reads the {what}, which plain text does not have; annotate a file that has {it}, or train it "
        f"again: {_fix(kind, layers)}"
    )


def read_by(features: Any, sentences: Iterable[Any], hidden: Iterable[str]) -> list[str]:
    """The layers of these sentences that a feature set reads, less those that are hidden from it."""
    wanted = [column for column in features.columns if column not in {"word", *hidden}]
    there = {layer for sentence in sentences for layer in sentence.layers} if wanted else set()
    return [column for column in wanted if column in there or column not in features.optional]


def check_named(features: Any, sentences: Iterable[Any], ignored: Iterable[str]) -> list[str]:
    """An error if a template reads what no sentence has; a warning for each layer to ignore that there is not."""
    from dovetail.features.algebra.attributes import FLAGS, SEVERAL, SIMPLE

    there = {"word", *(layer for sentence in sentences for layer in sentence.layers)}
    for name in features.columns:
        if name not in there and name not in features.optional and name not in ignored:
            near = get_close_matches(name, [*there, *SIMPLE, *FLAGS, *SEVERAL], 1)
            hint = f"did you mean {near[0]}?" if near else f"there are the layers {', '.join(sorted(there))}"
            raise DovetailError(f"{features.name}: no layer or attribute {name!r}; {hint}")
    known = there | {*features.columns}
    return [f"--ignore {name}: no sentence has a layer of this name" for name in ignored if name not in known]


def _fix(kind: str, layers: Sequence[str]) -> str:
    return WITHOUT.get(kind, f"add --ignore {','.join(layers)} to train without {_named(layers)[1]}")


def _named(layers: Sequence[str]) -> tuple[str, str]:
    """The layers with their noun, and the pronoun for them."""
    if len(layers) == 1:
        return f"layer {layers[0]}", "it"
    return f"layers {', '.join(layers[:-1])} and {layers[-1]}", "them"
