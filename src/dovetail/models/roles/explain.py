"""Why a span is an argument, or why not: the features that speak for its label and for the next best."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dovetail.errors import DovetailError
from dovetail.features.compile.hashing import Keys, string_keys
from dovetail.features.compile.roles import TEMPLATES, RoleText
from dovetail.models.roles.model import RoleModel
from dovetail.structures.contract import Floats
from dovetail.text.frames import Frame
from dovetail.text.sentence import Sentence

NONE = "no argument"
UNNAMED = frozenset(["path", "above", "below", "frame", "sub", "chain", "between"])
"""Atoms of which only keys are kept: they are named, but not spelled out."""


class RoleEvidence(NamedTuple):
    """A feature, and by how much it favours the label over its rival."""

    feature: str
    margin: float


class ArgumentExplanation(NamedTuple):
    """What is known of a span as an argument of a predicate, by the local model."""

    predicate: int
    start: int
    end: int
    label: str
    """The most probable label, or "no argument"."""
    probability: float
    rival: str
    alternatives: list[tuple[str, float]]
    """All labels, and none, with their probabilities; the most probable first."""
    for_it: list[RoleEvidence]
    against_it: list[RoleEvidence]


def explain_argument(model: RoleModel, sentence: Sentence, frame: Frame, start: int, end: int) -> ArgumentExplanation:
    """Of a sentence with a tree."""
    text, batch = model.look([sentence], [[frame]])
    places = np.flatnonzero((batch.begin == start) & (batch.end == end))
    if not places.size:
        words = " ".join(sentence.words[start:end])
        raise DovetailError(f"{words!r} is no constituent near {sentence.words[frame.predicate]!r}, so no candidate")
    c = int(places[0])
    chances = batch.marginals().role[c]
    named = [*zip(model.labels, chances.tolist(), strict=True), (NONE, max(0.0, 1.0 - float(chances.sum())))]
    ranked = sorted(named, key=lambda pair: -pair[1])
    (label, probability), (rival, _) = ranked[:2]
    rows = _margins(model, text, c, label, rival)
    for_it = sorted((r for r in rows if r.margin > 0), key=lambda r: -r.margin)
    against = sorted((r for r in rows if r.margin < 0), key=lambda r: r.margin)
    return ArgumentExplanation(frame.predicate, start, end, label, probability, rival, ranked, for_it, against)


def _margins(model: RoleModel, text: RoleText, c: int, label: str, rival: str) -> list[RoleEvidence]:
    atoms = {name: keys[c] for name, keys in text.atoms().items()}
    spelled = _spelled(text, model)
    found = []
    for template, keys in zip(TEMPLATES, text.keys(), strict=True):
        number = int(model.index.number(keys[c : c + 1])[0])
        if number < 0:
            continue
        own = _weights(model, number)
        margin = _score(model, own, label) - _score(model, own, rival)
        names = template.split("&")
        shown = " & ".join(
            n if n in UNNAMED or n == "bias" else f"{n}={spelled.get(int(atoms[n]), '?')}" for n in names
        )
        found.append(RoleEvidence(shown, margin))
    return found


def _weights(model: RoleModel, feature: int) -> Floats:
    """The weights of a feature by output, the last for all labels: [L + 1]."""
    out, own = np.zeros(model.layout.outputs), slice(*model.layout.ptr[feature : feature + 2])
    out[model.layout.label[own]] = model.weight[own]
    return out


def _score(model: RoleModel, weights: Floats, label: str) -> float:
    return 0.0 if label == NONE else float(weights[model.labels.index(label)] + weights[-1])


def _spelled(text: RoleText, model: RoleModel) -> dict[int, str]:
    """What keys stand for: words, labels, lemmas and small numbers."""
    names = [
        *dict.fromkeys([*text.trees.labels, *map(str.lower, text.trees.words), "verb", "noun", "adjective", "adverb"])
    ]
    names += [*text.predicates.lemma, *text.predicates.sense]
    known: dict[int, str] = dict(zip(map(int, string_keys(names)), names, strict=True))
    known[int(string_keys([""])[0])] = "nothing"
    sides = {"side": ("before", "after"), "voice": ("active", "passive", "perfect")}
    for name in ("side", "voice", "rank", "ups", "downs", "clauses", "distance", "length"):
        values = sides.get(name, tuple(map(str, range(60))))
        keys: Keys = string_keys([f"{name}={i}" for i in range(len(values))])
        known |= dict(zip(map(int, keys), values, strict=True))
    return known
