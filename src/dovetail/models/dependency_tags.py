"""Parts of speech for a parser: those given, or those of a tagger that comes with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from dovetail.errors import InputError
from dovetail.features.clusters import Clusters
from dovetail.features.sets import FeatureSet
from dovetail.models.tagger import Tagger
from dovetail.text.sentence import Sentence

LAYERS = ("pos", "xpos")
"""Layers that hold parts of speech: JSON lines and CoNLL-U name them differently, and mean the same."""
FOLDS = 4
PASSES = 40

TEMPLATES = (
    "bias", "word[-2:3]", "lower[-1:2]", "prefix(1, 4)[0]", "suffix(1, 5)[0]", "suffix(1, 3)[-1]", "suffix(1, 3)[1]",
    "shape[-1:2]", "word[-1] & word[0]", "word[0] & word[1]", "lower[-1] & lower[1]",
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
                f"give input that has, or train with predicted tags"
            )
        found.append(sentence.layers[name] if name is not None else ())
    return found


def new_tagger(layer: str, clusters: Mapping[str, Clusters], threads: int | None) -> Tagger:
    """A tagger of parts of speech, untrained."""
    features = FeatureSet.of(list(TEMPLATES)).joined(**clusters)
    return Tagger(features=features, target=layer, iterations=PASSES, calibrate=False, threads=threads)


def learn_tags(
    sentences: Sequence[Sentence], tags: Sequence[Sequence[str]], layer: str, clusters: Mapping[str, Clusters],
    threads: int | None, told: Callable[[str], Any],
) -> tuple[Tagger, list[tuple[str, ...]]]:  # fmt: skip
    """A tagger, and the tags that others, which have not seen a sentence, give to it.

    A parser that is to read predicted tags must learn from such: a tagger makes few mistakes on what it knows.
    """
    folds = min(FOLDS, len(sentences))
    bare = [Sentence(sentence.words) for sentence in sentences]
    unseen: list[tuple[str, ...]] = [()] * len(sentences)
    for fold in range(folds if folds > 1 else 0):
        told(f"tagging the training data, part {fold + 1} of {folds}")
        # Sentences in a row belong together: whole stretches are held out, as new text is.
        low, high = fold * len(bare) // folds, (fold + 1) * len(bare) // folds
        rest, rest_tags = bare[:low] + bare[high:], [*tags[:low], *tags[high:]]
        tagger = new_tagger(layer, clusters, threads).fit(rest, rest_tags)
        unseen[low:high] = [tuple(found) for found in tagger.predict(bare[low:high])]
    told("training the tagger")
    whole = new_tagger(layer, clusters, threads).fit(bare, tags)
    return whole, unseen if folds > 1 else [tuple(each) for each in tags]
