"""Parts of speech for parsers: given ones, or a tagger that travels in their model and tags as it would new text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dovetail.errors import InputError
from dovetail.features.algebra.sets import FeatureSet
from dovetail.features.resources.clusters import Clusters
from dovetail.models.tagger.estimator import Tagger
from dovetail.models.training import uninterrupted
from dovetail.text.sentence import Sentence

LAYERS = ("pos", "xpos")
"""Layers that hold parts of speech: JSON lines and CoNLL-U name them differently, and mean the same."""

TEMPLATES = (
    "bias", "word[-2:3]", "lower[0]", "prefix(1, 4)[0]", "suffix(1, 5)[0]", "suffix(2, 3)[-1]", "suffix(2, 3)[1]",
    "shape[-1:2]", "word[-1] & word[0]", "word[0] & word[1]", "shape[0] & suffix(3)[0]",
)  # fmt: skip


def layer_of(sentence: Sentence, layer: str) -> str | None:
    """The layer of a sentence that holds its parts of speech, of the given name if it has that."""
    names = (layer, *LAYERS) if layer in LAYERS else (layer,)
    return next((name for name in names if name in sentence.layers), None)


def given_tags(sentences: Sequence[Sentence], layer: str) -> list[tuple[str, ...]]:
    """The parts of speech of every sentence, or an error that says which has none."""
    found = []
    for number, sentence in enumerate(sentences, 1):
        name = layer_of(sentence, layer)
        if name is None and len(sentence):
            has = ", ".join(["word", *sentence.layers])
            raise InputError(
                f"sentence {sentence.id or number} has no layer {layer!r} with parts of speech (it has {has}); "
                f"give input that has, or train with predict_tags=True (--predict-tags)"
            )
        found.append(sentence.layers[name] if name is not None else ())
    return found


def pos_tagger(
    clusters: Mapping[str, Clusters] | None = None, threads: int | None = None, seed: int = 1, layer: str = "pos"
) -> Tagger:
    """A tagger of parts of speech, not yet trained."""
    lines = list(TEMPLATES)
    for name, found in (clusters or {}).items():
        levels = ", ".join(map(str, found.levels))
        lines.append(f"cluster({name}, {levels})[-2:3]")
    features = FeatureSet.from_lines("pos", lines, (), clusters or {})
    return Tagger(
        features=features, target=layer, l2=0.05, iterations=60, min_count=1, observed_only=True, constrain=False,
        calibrate=False, balance=False, consistency="none", cross_validate=0, seed=seed, threads=threads,
    )  # fmt: skip


def learn_tags(
    make: Callable[[], Tagger], sentences: Sequence[Sentence], folds: int, told: Callable[[str], Any]
) -> tuple[Tagger, list[tuple[str, ...]]]:
    """A tagger, and the tags that taggers of the other parts of the corpus give to each sentence.

    A parser that is to read predicted tags must learn from tags as wrong as those of new text: a tagger makes few
    mistakes on what it knows. Only a corpus of a few sentences is tagged by its own. ``told`` hears of every step.
    """
    told("tagger")
    whole = uninterrupted(make().fit(sentences))
    if len(sentences) < 2 * folds:
        return whole, [tuple(tags) for tags in whole.predict(sentences)]
    part = fold_numbers(sentences, folds)
    found: list[tuple[str, ...]] = [()] * len(sentences)
    for fold in range(int(part.max(initial=0)) + 1):
        inside, rest = np.flatnonzero(part == fold).tolist(), np.flatnonzero(part != fold).tolist()
        tagger = uninterrupted(make().fit([sentences[i] for i in rest]))
        for i, tags in zip(inside, tagger.predict([sentences[i] for i in inside]), strict=True):
            found[i] = tuple(tags)
        told(f"tags, part {fold + 1} of {folds}")
    return whole, found


def fold_numbers(sentences: Sequence[Sentence], folds: int) -> NDArray[np.int64]:
    """The part of a corpus that each sentence is in: parts of about equal size.

    They are made of whole documents, or where there are fewer than parts, of single sentences.

    >>> fold_numbers([Sentence(("a",), document=0), Sentence(("b",), document=0), Sentence(("c",), document=1)], 2)
    array([0, 0, 1])
    >>> fold_numbers([Sentence(("a",), document=0), Sentence(("b",), document=0), Sentence(("c",), document=1)], 3)
    array([0, 1, 2])
    """
    fresh = [True, *(a.document is None or a.document != b.document for a, b in pairwise(sentences))][: len(sentences)]
    if sum(fresh) < folds:
        fresh = [True] * len(sentences)
    return (np.cumsum(fresh) - 1) % folds


def packed_tagger(
    tagger: Tagger | None, name: str = "tagger", half: bool = False, compact: bool = False
) -> tuple[dict[str, Any] | None, dict[str, NDArray[Any]]]:
    """A tagger as a header and arrays inside another model's file, the arrays under the name that it has there."""
    if tagger is None:
        return None, {}
    header, arrays = tagger.packed(half, compact)
    return header, {f"{name}.{part}": array for part, array in arrays.items()}


def unpacked_tagger(
    header: Mapping[str, Any] | None, arrays: Mapping[str, NDArray[Any]], name: str = "tagger"
) -> Tagger | None:
    """The tagger inside another model's file, if there is one."""
    return None if header is None else Tagger.unpacked(dict(header), prefixed(arrays, f"{name}."))


def prefixed(arrays: Mapping[str, NDArray[Any]], prefix: str) -> dict[str, NDArray[Any]]:
    """The arrays whose names begin so, by the rest of their names."""
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
