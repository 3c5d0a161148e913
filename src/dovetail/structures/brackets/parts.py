"""The arrays that binary bracketings are made of, and complaints where they do not fit together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dovetail.errors import InputError
from dovetail.structures.contract import Floats, Integers, Labels
from dovetail.structures.ragged import contiguous


class BracketPotentials(NamedTuple):
    """One number for every label of every span.

    A bracketing of m words has 2 m - 1 spans: each of more than one word is cut in two, down to the words, and each has
    one label. Its score is the sum of ``span[c, label]`` over them. As marginals, each entry is a probability.
    """

    span: Floats
    """``[C, L]``: the spans of sentence after sentence; of each those from word 0, the shortest first, then from 1."""


class Brackets(NamedTuple):
    """The spans of a bracketing of every sentence: each before those within it, from left to right.

    A sentence that has words and no possible bracketing has no spans.

    >>> Brackets.of([[(0, 2, 1), (0, 1, 0), (1, 2, 0)], []]).end
    array([2, 1, 2])
    """

    begin: Integers
    """``[spans]``: the first word, counted in its sentence."""
    end: Integers
    """``[spans]``: the word after the last."""
    label: Labels
    """``[spans]``."""
    offsets: Integers
    """``[n + 1]``: the spans of sentence i are offsets[i] .. offsets[i + 1]."""

    @classmethod
    def of(cls, sentences: Sequence[Sequence[tuple[int, int, int]]]) -> Brackets:
        """From (begin, end, label) of the spans of every sentence, in order."""
        flat = np.array([each for spans in sentences for each in spans], np.int64).reshape(-1, 3)
        offsets = np.concatenate([[0], np.cumsum([len(spans) for spans in sentences], dtype=np.int64)])
        return cls(flat[:, 0].copy(), flat[:, 1].copy(), flat[:, 2].astype(np.int32), offsets.astype(np.int64))

    @classmethod
    def where_labelled(cls, table: Integers, offsets: Integers) -> Brackets:
        """From begin, end and label of as many spans as each sentence can have, [3, spans]; a label of -1 is none."""
        known = table[2] >= 0
        before = np.concatenate([[0], np.cumsum(known)])
        begin, end, label = table[:, known]
        return cls(begin.copy(), end.copy(), label.astype(np.int32), before[offsets])


def check_shape(potentials: BracketPotentials, cells: int) -> BracketPotentials:
    """The potentials as a contiguous array, or an error where sentences have more or fewer spans."""
    found = contiguous(potentials)
    if found.span.ndim != 2 or found.span.shape[0] != cells or found.span.shape[1] == 0:
        raise InputError(f"span has shape {found.span.shape}, expected ({cells}, labels): a row for every span")
    return found


def check_brackets(given: Brackets, offsets: Integers, labels: int) -> Brackets:
    """Brackets as kernels want them, or an error where they are of other sentences, or of unknown labels."""
    begin, end = (np.ascontiguousarray(part, np.int64) for part in given[:2])
    label, own = np.ascontiguousarray(given.label, np.int32), np.ascontiguousarray(given.offsets, np.int64)
    sizes = {begin.shape, end.shape, label.shape, (int(own[-1]) if own.size else 0,)}
    if len(own) != len(offsets) or len(sizes) > 1 or own[0] != 0 or (np.diff(own) < 0).any():
        raise InputError(f"the brackets are not those of {len(offsets) - 1} sentences")
    words = np.repeat(np.diff(offsets), np.diff(own))
    wrong = (begin < 0) | (end <= begin) | (end > words) | (label < 0) | (label >= labels)
    if wrong.any():
        place = int(np.argmax(wrong))
        sentence = int(np.searchsorted(own, place, side="right")) - 1
        shown = f"({begin[place]}, {end[place]}, {label[place]})"
        raise InputError(f"sentence {sentence}: {shown} is no span of its words with a label below {labels}")
    return Brackets(begin, end, label, own)
