"""Parts of speech for parsers: a tagger that travels in their model, and tags as it would give them to new text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dovetail.features.clusters import Clusters
from dovetail.features.sets import FeatureSet
from dovetail.models.tagger import Tagger
from dovetail.text.sentence import Sentence

TEMPLATES = (
    "bias", "word[-2:3]", "lower[0]", "prefix(1, 4)[0]", "suffix(1, 5)[0]", "suffix(2, 3)[-1]", "suffix(2, 3)[1]",
    "shape[-1:2]", "word[-1] & word[0]", "word[0] & word[1]", "shape[0] & suffix(3)[0]",
)  # fmt: skip


def pos_tagger(clusters: Mapping[str, Clusters] | None = None, threads: int | None = None, seed: int = 1) -> Tagger:
    """A tagger for the layer ``pos``, not yet trained."""
    lines = list(TEMPLATES)
    for name, found in (clusters or {}).items():
        levels = ", ".join(map(str, found.levels))
        lines.append(f"cluster({name}, {levels})[-2:3]")
    features = FeatureSet.from_lines("pos", lines, (), clusters or {})
    return Tagger(
        features=features, target="pos", l2=0.05, iterations=60, min_count=1, observed_only=True, constrain=False,
        calibrate=False, balance=False, agree=False, seed=seed, threads=threads,
    )  # fmt: skip


def jackknifed(
    make: Callable[[], Tagger],
    sentences: Sequence[Sentence],
    folds: int,
    told: Callable[[int], None] | None = None,
) -> list[tuple[str, ...]]:
    """The tags of each sentence by a tagger trained on the other parts of a corpus: as wrong as those of new text.

    Documents are not cut where the sentences know theirs. ``told`` is called with the number of parts done.
    """
    part = fold_numbers(sentences, folds)
    found: list[tuple[str, ...]] = [()] * len(sentences)
    for fold in range(int(part.max(initial=0)) + 1):
        inside, rest = np.flatnonzero(part == fold).tolist(), np.flatnonzero(part != fold).tolist()
        tagger = make().fit([sentences[i] for i in rest])
        for i, tags in zip(inside, tagger.predict([sentences[i] for i in inside]), strict=True):
            found[i] = tuple(tags)
        if told is not None:
            told(fold + 1)
    return found


def fold_numbers(sentences: Sequence[Sentence], folds: int) -> NDArray[np.int64]:
    """The part of a corpus that each sentence is in: parts of about equal size, made of whole documents.

    >>> fold_numbers([Sentence(("a",), document=0), Sentence(("b",), document=0), Sentence(("c",), document=1)], 5)
    array([0, 0, 1])
    """
    fresh = [True, *(a.document is None or a.document != b.document for a, b in pairwise(sentences))]
    return (np.cumsum(fresh[: len(sentences)]) - 1) % folds


def packed_tagger(tagger: Tagger | None) -> tuple[dict[str, Any] | None, dict[str, NDArray[Any]]]:
    """A tagger as a header and arrays inside another model's file."""
    if tagger is None:
        return None, {}
    header, arrays = tagger.packed()
    return header, {f"tagger.{name}": array for name, array in arrays.items()}


def unpacked_tagger(header: Mapping[str, Any] | None, arrays: Mapping[str, NDArray[Any]]) -> Tagger | None:
    """The tagger inside another model's file, if there is one."""
    if header is None:
        return None
    own = {name.removeprefix("tagger."): a for name, a in arrays.items() if name.startswith("tagger.")}
    return Tagger.unpacked(dict(header), own)
