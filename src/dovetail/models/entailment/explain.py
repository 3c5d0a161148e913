"""Why a pair has its label: its features with their weights, and what its words are aligned with."""

from __future__ import annotations

from typing import NamedTuple

from dovetail.models.entailment.alignment import NONE, align
from dovetail.models.entailment.analysis import Analysis
from dovetail.models.entailment.model import PairModel


class Reason(NamedTuple):
    """A feature of a pair, its value, and what it adds to the log-odds of yes, beyond what is usual."""

    feature: str
    value: float
    margin: float


class Reasons(NamedTuple):
    """What speaks for a hypothesis and what against it, the strongest first."""

    label: str
    probability: float
    """That the hypothesis follows."""
    for_yes: tuple[Reason, ...]
    against_yes: tuple[Reason, ...]
    aligned: tuple[tuple[str, str], ...]
    """Each word of the hypothesis with the word of the text that it is aligned with, empty for none."""


def reasons_of(model: PairModel, analysis: Analysis, probability: float) -> Reasons:
    """The reasons of a judgement."""
    [values] = model.values([analysis])
    odds = model.weight[:, 1] - model.weight[:, 0]
    scales = [*zip(model.scale.tolist(), model.mean.tolist(), strict=True), (1.0, 0.0)]
    found = [
        Reason(name, round(value * scale + mean, 6), value * weight)
        for name, value, weight, (scale, mean) in zip(
            model.features, values.tolist(), odds.tolist(), scales, strict=True
        )
    ]
    text, claim = analysis.sides
    places = align(text, claim).place
    aligned = tuple((w, "" if j == NONE else text.words[j]) for w, j in zip(claim.words, places, strict=True))
    return Reasons(
        "yes" if probability > 0.5 else "no",
        probability,
        tuple(sorted((r for r in found if r.margin > 0), key=lambda r: -r.margin)),
        tuple(sorted((r for r in found if r.margin < 0), key=lambda r: r.margin)),
        aligned,
    )
