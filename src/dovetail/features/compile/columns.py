"""Columns that are made from the words by a resource, beside those that the text itself has."""

from __future__ import annotations

from collections.abc import Sequence

from dovetail.columns import Columns
from dovetail.features.algebra.features import Features
from dovetail.features.resources.resource import Derivable
from dovetail.text.sentence import Sentence


def _makers(features: Features) -> dict[str, Derivable]:
    return {name: maker for template in features.templates for name, maker in template.derived.items()}


def columns_for(sentences: Sequence[Sentence], features: Features) -> Columns:
    """All columns that a feature set reads."""
    columns = Columns.of(sentences, features.columns)
    for name, maker in _makers(features).items():
        columns.columns[name] = maker.column(columns.columns["word"], columns.offsets)
    return columns


def with_derived(sentence: Sentence, features: Features) -> Sentence:
    """The sentence with its derived columns as layers, for the eye."""
    columns = columns_for([sentence], features).columns
    for name in _makers(features):
        made = columns[name]
        values = made.types if made.numbers is None else [repr(float(n)) for n in made.numbers]
        sentence = sentence.with_layer(name, tuple(values[i] for i in made.ids))
    return sentence
