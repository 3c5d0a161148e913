"""Why this constituent, in a parser without a grammar: the best tree against the best one without it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

from dovetail.arrays import offsets_of
from dovetail.features.algebra.strings import normalise_digits
from dovetail.grammars.brackets import PARTIAL
from dovetail.models.parser.brackets.decoding import BracketDecoder, Text
from dovetail.models.parser.brackets.model import BracketModel
from dovetail.models.parser.explain import ConstituentExplanation, TreeEvidence
from dovetail.scorers.bracket_kernels import keys_of_span
from dovetail.structures.brackets import BracketBatch, Brackets
from dovetail.structures.grammar import cells
from dovetail.structures.ruled import RuledBatch

Use = tuple[int, int, int]


def explain_bracket(
    model: BracketModel, text: Text, start: int, end: int, label: str, probability: float,
    batch: BracketBatch | RuledBatch | None = None, more: Callable[[Use], Iterable[tuple[str, float]]] = lambda use: (),
) -> ConstituentExplanation:  # fmt: skip
    """Explain a constituent of the best tree of the one sentence of a text.

    ``batch``: its bracketings where they are not as the model has them, and ``more``: what is added to a label.
    """
    [words], [tags] = text.shown, text.tags
    spelled = [model.spelled(words)]
    batch = text.scorer.batch(model.weight) if batch is None else batch
    best = batch.best()
    place, number = int(cells(len(words), start, end)), model.labels.constituents.index(label)
    allowed = batch.potentials.span > -np.inf
    allowed[place, model.labels.shares[:, number] > 0] = False
    without = batch.restrict(allowed)
    if not without.possible()[0]:  # what pruning leaves out has no score that training has looked at
        return ConstituentExplanation(label, start, end, probability, None, np.inf, ())
    rival = without.best()
    own, other = _uses(best), _uses(rival)
    if label not in {part for i, j, x in own if (i, j) == (start, end) for part in model.labels.parts[x]}:
        best = _with(batch, start, end, model.labels.shares[:, number] > 0)  # the tree by recall is not the best
        own = _uses(best)
    totals: defaultdict[str, float] = defaultdict(float)
    for uses, sign in ((own - other, 1.0), (other - own, -1.0)):
        for use in uses:
            total = 0.0
            for name, weight in (*_weights(model, spelled[0], tags, use), *more(use)):
                totals[name] += sign * weight
                total += weight
            if model.unaries is not None or model.network is not None:
                i, j, x = use
                score = float(batch.potentials.span[int(cells(len(words), i, j)), x])
                rest = "encoder" if model.unaries is None else "chain of unary nodes"
                totals[f"{_shown(model.labels.names[x])} {i}-{j}: {rest}"] += sign * (score - total)
    if isinstance(batch, RuledBatch):
        for brackets, sign in ((best, 1.0), (rival, -1.0)):
            for name, weight in _rules(model, batch, brackets):
                totals[name] += sign * weight
    evidence = sorted(
        (TreeEvidence(name, total) for name, total in totals.items() if abs(total) > 1e-9), key=lambda e: -e.margin
    )
    tree = BracketDecoder(model).tree(rival, 0, words, tags)
    margin = float(batch.score(best)[0] - batch.score(rival)[0])
    return ConstituentExplanation(label, start, end, probability, tree, margin, tuple(evidence))


def _with(batch: BracketBatch | RuledBatch, start: int, end: int, labels: NDArray[np.bool_]) -> Brackets:
    """The best bracketing that has one of some labels [L] at a span: nothing in it crosses the span."""
    n = int(batch.offsets[-1])
    first, last = np.triu_indices(n)
    after = last + 1
    crossing = ((first < start) & (start < after) & (after < end)) | ((start < first) & (first < end) & (end < after))
    allowed = (batch.potentials.span > -np.inf) & ~crossing[:, None]
    allowed[int(cells(n, start, end)), ~labels] = False
    return batch.restrict(allowed).best()


def _uses(brackets: Brackets) -> set[Use]:
    return set(zip(*(part.tolist() for part in brackets[:3]), strict=True))


def _weights(model: BracketModel, words: tuple[str, ...], tags: tuple[str, ...], use: Use) -> list[tuple[str, float]]:
    """What each feature adds to the score of a label over a span, by name."""
    i, j, x = use
    features, layout = model.fine.features, model.fine.layout
    seen = features.keys([words], [tags])
    both = keys_of_span(seen, offsets_of([words]), 0, i, j)
    begins, ends, pairs = features.names()
    named = [
        *((f"begins {_read(one, words, tags, i)}", seen.first[i, t]) for t, one in enumerate(begins)),
        *((f"ends {_read(one, words, tags, j)}", seen.last[j, t]) for t, one in enumerate(ends)),
        *zip((_both(name, words, tags, i, j) for name in pairs), both, strict=True),
    ]
    numbers = model.fine.index.number(np.array([key for _, key in named], np.uint64)).tolist()
    shown, left = _shown(model.labels.names[x]), x if model.unaries is None else int(model.unaries.above[x])
    found = []
    for (name, _), number in zip(named, numbers, strict=True):
        if number >= 0:
            own = slice(int(layout.ptr[number]), int(layout.ptr[number + 1]))
            for weight in model.weight[own][layout.label[own] == left]:
                found.append((f"{shown} {i}-{j}: {name}", float(weight)))
    return found


def _rules(model: BracketModel, batch: RuledBatch, brackets: Brackets) -> list[tuple[str, float]]:
    """What each rule adds to the score of a bracketing, by name."""
    label = {(i, j): x for i, j, x in _uses(brackets)}
    found = []
    for (i, j), x in label.items():
        for k in range(i + 1, j):
            if (i, k) in label and (k, j) in label:
                three = (x, label[i, k], label[k, j])
                parent, left, right = (_shown(model.labels.names[y]) for y in three)
                found.append((f"rule {parent} -> {left} {right}", float(batch.potentials.rule[three])))
    return found


def _shown(label: str) -> str:
    """A label for people."""
    if label.startswith(PARTIAL):
        return f"part of {label.removeprefix(PARTIAL)}"
    return label.replace(" ", "+") or "none"


def _both(name: str, words: tuple[str, ...], tags: tuple[str, ...], i: int, j: int) -> str:
    """The name of a feature of both ends, with what is seen there."""
    if ".." not in name:
        return name
    begin, _, rest = name.partition(" .. ")
    more = [word for word in rest.split() if word in MORE]
    atoms = [atom for atom in rest.split() if atom not in MORE and atom != "*"]
    found = f"{_read(begin, words, tags, i)} .. {_read(' '.join(atoms), words, tags, j)}"
    return " ".join([found, *more])


MORE = ("length", "verbs", "coordinators", "marks")
"""What some features see beside both ends."""


def _read(template: str, words: tuple[str, ...], tags: tuple[str, ...], gap: int) -> str:
    """A template with what is seen at a gap, as in ``tag+1=DT``."""
    if template in ("", "*"):
        return "anything"
    found = []
    for atom in template.split():
        name, offset = (atom[:-2], int(atom[-2:])) if atom[-2] in "+-" else (atom, 0)
        place = gap - 1 + offset
        inside = 0 <= place < len(words)
        value = "-" if not inside else tags[place] if name == "tag" else words[place]
        if inside and name in ("lower", "suffix"):
            value = normalise_digits(value.lower())[-3 if name == "suffix" else 0 :]
        found.append(f"{name}[{offset - 1:+d}]={value}".replace("[+0]", "[0]"))
    return " ".join(found)
