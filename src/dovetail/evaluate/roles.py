"""Scores of semantic roles as the scorer of CoNLL-2005 counts them: an argument is right where all its words and its
label are, and its predicate.

Its rules: the predicate itself (labels V and C-V) does not count. A label C-X continues the last argument X before it
of the same predicate: both are one argument of several pieces, which is right if all of them are. C-X without an X
before it counts as X. R-X is a label like others. There is no partial credit.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dovetail.errors import InputError
from dovetail.evaluate.counts import Counts, LabelledScores, all_counts, paired_sentences, percentage
from dovetail.evaluate.report import counts_dict, scores_dict
from dovetail.text.frames import CONTINUES, Frame
from dovetail.text.sentence import Sentence, Span

VERB = "V"
CORE = re.compile(r"(ARG|A)[0-9A]")
"""How the labels of core arguments begin: ARG0 to ARG5 and ARGA, or A0 to A5 and AA."""


class Argument(NamedTuple):
    """An argument that is scored: its predicate, its label, and its pieces from left to right."""

    predicate: int
    label: str
    pieces: tuple[tuple[int, int], ...]


def is_core(label: str) -> bool:
    """Whether this is the label of a core argument; those that continue or refer to one are none.

    >>> is_core("ARG1"), is_core("A0"), is_core("ARGM-TMP"), is_core("R-ARG1")
    (True, True, False, False)
    """
    return CORE.match(label) is not None


def joined_arguments(frame: Frame) -> list[Argument]:
    """The arguments of a frame, each with what continues it.

    >>> frame = Frame(3, arguments=[(0, 2, "ARG1"), (4, 5, "C-ARG1"), (5, 6, "C-ARG0")])
    >>> [(argument.label, argument.pieces) for argument in joined_arguments(frame)]
    [('ARG1', ((0, 2), (4, 5))), ('ARG0', ((5, 6),))]
    """
    whole: list[list[Span]] = []
    for span in (a for a in frame.arguments if a.label.removeprefix(CONTINUES) != VERB):
        before = [own for own in whole if CONTINUES + own[0].label.removeprefix(CONTINUES) == span.label]
        if before:
            before[-1].append(span)
        else:
            whole.append([span])
    found = []
    for own in whole:
        pieces = tuple(sorted((span.start, span.end) for span in own))
        found.append(Argument(frame.predicate, own[0].label.removeprefix(CONTINUES), pieces))
    return sorted(found, key=lambda argument: argument.pieces)


@dataclass(frozen=True, slots=True)
class RoleScores(LabelledScores):
    """Precision, recall and F1 of arguments, together and for each label; made by `role_scores`."""

    core: Counts
    """Of core arguments alone."""
    predicates: Counts
    senses: int
    """Predicates that have a sense and were found."""
    correct_senses: int

    @property
    def sense_accuracy(self) -> float:
        """Percentage of the predicates found whose sense is right."""
        return percentage(self.correct_senses, self.senses)

    def as_dict(self) -> dict[str, Any]:
        """The scores for JSON: ``f1`` is that of all arguments."""
        parts = (("core", self.core), ("predicate", self.predicates))
        named = {f"{name}_{key}": value for name, counts in parts for key, value in counts_dict(counts).items()}
        return scores_dict(self) | named | {"sense_accuracy": self.sense_accuracy}


def role_scores(gold: Sequence[Sentence], predicted: Sequence[Sentence]) -> RoleScores:
    """Score the frames of sentences against the right ones of the same sentences.

    >>> right = Sentence(("Ada", "sold", "it"), frames=(Frame(1, "sell.01", None, [(0, 1, "ARG0"), (2, 3, "ARG1")]),))
    >>> found = Sentence(("Ada", "sold", "it"), frames=(Frame(1, "sell.02", None, [(0, 1, "ARG0")]),))
    >>> scores = role_scores([right], [found])
    >>> scores.precision, scores.recall, scores.predicates.f1, scores.sense_accuracy
    (100.0, 50.0, 100.0, 0.0)
    """
    counted = [Counter[str]() for _ in range(3)]
    places = [0, 0, 0]
    senses = correct = sentences = 0
    for right, found in _paired(gold, predicted):
        sentences += 1
        for counter, arguments in zip(counted, _matched(right, found), strict=True):
            counter.update(argument.label for argument in arguments)
        known, guessed = ({frame.predicate: frame.sense for frame in frames} for frames in (right, found))
        both = known.keys() & guessed.keys()
        for i, amount in enumerate((len(known), len(guessed), len(both))):
            places[i] += amount
        told = [place for place in both if known[place] is not None]
        senses += len(told)
        correct += sum(known[place] == guessed[place] for place in told)
    core = Counts(*(sum(n for label, n in counter.items() if is_core(label)) for counter in counted))
    return RoleScores(
        **all_counts(*counted), sentences=sentences, tokens=None, correct_tokens=None, core=core,
        predicates=Counts(*places), senses=senses, correct_senses=correct,
    )  # fmt: skip


def role_counts(
    gold: Sequence[Sentence], predicted: Sequence[Sentence], core: bool = False
) -> NDArray[np.int64]:  # fmt: skip
    """Counts of gold, predicted and correct arguments in each sentence, [sentences, 3], for tests of significance.

    core: of core arguments alone.
    """
    rows = [
        [sum(not core or is_core(argument.label) for argument in arguments) for arguments in _matched(*pair)]
        for pair in _paired(gold, predicted)
    ]
    return np.array(rows, dtype=np.int64).reshape(-1, 3)


def _matched(right: Iterable[Frame], found: Iterable[Frame]) -> tuple[list[Argument], list[Argument], list[Argument]]:
    """The gold arguments, the predicted and the correct ones."""
    known = [argument for frame in right for argument in joined_arguments(frame)]
    guessed = [argument for frame in found for argument in joined_arguments(frame)]
    return known, guessed, list((Counter(known) & Counter(guessed)).elements())


def _paired(gold: Sequence[Sentence], predicted: Sequence[Sentence]) -> list[tuple[Sequence[Frame], Sequence[Frame]]]:
    pairs: list[tuple[Sequence[Frame], Sequence[Frame]]] = []
    for number, right, found in paired_sentences(gold, predicted):
        if right.frames is None and len(right):
            raise InputError(f"gold sentence {number} has no frames to score with")
        if len(right) != len(found):
            raise InputError(f"sentence {number}: {len(right)} gold words but {len(found)} predicted")
        pairs.append((right.frames or (), found.frames or ()))
    return pairs
