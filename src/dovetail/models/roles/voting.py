"""Frames by votes: what several trees of a sentence say together.

Each tree, sampled or one of the best, gives probabilities of arguments; their mean is that of a pipeline that has not
thrown its doubt away. The set of arguments is chosen that has the most of them expected to be right, less ``least`` for
each: exactly, among those without overlap and without repeated core roles.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np

from dovetail.evaluate.roles import is_core
from dovetail.structures.frames import FrameBatch, FramePotentials
from dovetail.structures.frames.parts import MOST
from dovetail.text.frames import Frame
from dovetail.text.sentence import Span

LEAST = 0.25
"""The probability that an argument must have to be worth having: as in the settings of a labeller."""
SEEN = 0.01
"""Arguments that are less probable, given a tree, have no vote."""
Chances = Mapping[tuple[int, int, str], float]


def elected(votes: Sequence[tuple[float, Sequence[Frame]]], least: float = LEAST) -> tuple[Frame, ...]:
    """The frames of a sentence from weighted votes, whose arguments have probabilities and may overlap.

    The weights sum to one. A predicate that has less than half of them is left out; of senses the one with the most
    wins.

    >>> one = [Frame(1, "sell.01", None, (Span(0, 1, "ARG0", 0.9), Span(2, 3, "ARG1", 0.6)))]
    >>> other = [Frame(1, "sell.01", None, (Span(0, 1, "ARG0", 0.8), Span(2, 4, "ARG1", 1.0)))]
    >>> [frame] = elected([(0.4, one), (0.6, other)])
    >>> [(a.start, a.end, a.label, round(a.probability, 2)) for a in frame.arguments]
    [(0, 1, 'ARG0', 0.84), (2, 4, 'ARG1', 0.6)]
    """
    there: defaultdict[int, float] = defaultdict(float)
    senses: defaultdict[tuple[int, str | None, str | None], float] = defaultdict(float)
    chances: defaultdict[int, defaultdict[tuple[int, int, str], float]] = defaultdict(lambda: defaultdict(float))
    for weight, frames in votes:
        for frame in frames:
            there[frame.predicate] += weight
            senses[frame.predicate, frame.sense, frame.lemma] += weight
            for span in frame.arguments:
                p = 1.0 if span.probability is None else span.probability
                chances[frame.predicate][span.start, span.end, span.label] += weight * p
    found = []
    for predicate in sorted(place for place, weight in there.items() if weight >= 0.5):
        _, sense, lemma = max((key for key in senses if key[0] == predicate), key=lambda key: senses[key])
        arguments = best_set(chances[predicate], least)
        found.append(Frame(predicate, sense, lemma, arguments, min(1.0, there[predicate])))
    return tuple(found)


def best_set(chances: Chances, least: float = LEAST) -> tuple[Span, ...]:
    """The arguments with the greatest sum of probabilities less ``least``, of which no two share a word."""
    worth = {part: p for part, p in chances.items() if p > least}
    spans = sorted({part[:2] for part in worth}, key=lambda span: (span[1], span[0]))
    labels = sorted({part[2] for part in worth})
    core = [label for label in labels if is_core(label)][:MOST]
    role = np.full((len(spans), len(labels)), -np.inf)
    rows, columns = {span: i for i, span in enumerate(spans)}, {label: i for i, label in enumerate(labels)}
    for (start, end, label), p in worth.items():
        role[rows[start, end], columns[label]] = p - least
    begin, end_ = np.array(spans, np.int32).reshape(-1, 2).T
    once = np.array([core.index(label) if label in core else -1 for label in labels], np.int32)
    best = FrameBatch(FramePotentials(role), np.array([0, len(spans)]), begin, end_, once).best().tolist()
    chosen = [(*span, labels[y]) for span, y in zip(spans, best, strict=True) if y >= 0]
    return tuple(Span(*part, min(1.0, worth[part])) for part in chosen)
