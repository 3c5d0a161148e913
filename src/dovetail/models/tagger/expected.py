"""Expectations as a tagger takes them: the labels that they speak of, and arrays of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

import numpy as np

from dovetail.errors import DovetailError
from dovetail.learning.expectations import Targets
from dovetail.models.tagger.labels import UNKNOWN, LabelSet
from dovetail.text.expectations import Expectation
from dovetail.text.sentence import Sentence
from dovetail.text.tags import is_chunk_tagset


def as_expectations(given: Any) -> list[Expectation]:
    """Expectations as a user gives them: an error where one is none."""
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise DovetailError("expectations: give a list of dovetail.Expectation; read_expectations reads a file of them")
    found = list(given)
    for number, one in enumerate(found, 1):
        if not isinstance(one, Expectation):
            raise DovetailError(f"expectation {number} is {one!r:.40}; make it by Expectation.of(words, expected)")
    return found


def unlabelled(expectations: Sequence[Expectation], target: str) -> list[Sentence]:
    """The sentences that expectations are of, with tags that nobody knows."""
    return [Sentence(one.words, {target: (UNKNOWN,) * len(one)}) for one in expectations]


def spelled_out(expectations: Sequence[Expectation], tags: Sequence[Sequence[str]]) -> list[list[str]]:
    """Tag sequences that have all labels which expectations speak of, beside the known tags of labelled sentences.

    Where tags spell entities, a type stands for them: PER for B-PER and I-PER.

    >>> spelled_out([Expectation.of(["Ada", "ran"], [(0, "PER", 0.9), (1, "O", 1.0), (1, "I-LOC", 0.0)])], [])
    [['O'], ['B-LOC', 'I-LOC'], ['B-PER', 'I-PER']]
    """
    names = set(chain.from_iterable(one.label for one in expectations))
    known = set(chain.from_iterable(tags)) - {UNKNOWN}
    spelling = {name for name in names if name != "O" and is_chunk_tagset([name])}
    if not (is_chunk_tagset(known) and known != {"O"}) and (known or not spelling):
        return [[name] for name in sorted(names)]
    types = {name[2:] if name in spelling else name for name in names - {"O"}}
    return [["O"], *([f"B-{one}", f"I-{one}"] for one in sorted(types))]


def targets_of(expectations: Sequence[Expectation], labels: LabelSet) -> Targets:
    """Expectations as arrays, over the labels of a tagger."""
    names = list(dict.fromkeys(chain.from_iterable(one.label for one in expectations)))
    number = {name: i for i, name in enumerate(names)}
    return Targets(
        np.concatenate([[0], np.cumsum([len(one.label) for one in expectations])]).astype(np.int64),
        np.concatenate([np.zeros(0, np.int64), *(one.position for one in expectations)]),
        np.array([number[name] for one in expectations for name in one.label], np.int64),
        np.concatenate([np.zeros(0), *(one.probability for one in expectations)]),
        np.concatenate([np.zeros(0), *(one.weight for one in expectations)]),
        np.array([group_of(name, labels) for name in names], np.float64).reshape(len(names), len(labels.names)),
    )


def group_of(name: str, labels: LabelSet) -> list[bool]:
    """Which labels a name in expectations stands for: those shown so, or those of this type. [L]."""
    found = [shown == name for shown in labels.shown]
    if not any(found) and labels.scheme is not None:
        found = [shown[2:] == name and shown != "O" for shown in labels.shown]
    if not any(found):
        raise DovetailError(f"expectations speak of {name!r}, and the labels are {', '.join(labels.names)}")
    return found
