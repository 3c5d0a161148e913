"""Why this constituent, why this entity: the best answer against the best one without it, and which couplings count.

After belief propagation each structure is one by itself, with what the other has told it added to its scores: so the
two answers differ by weights of features, and by what couplings said at the spans that only one of them has.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dovetail.features.compile.columns import with_derived
from dovetail.features.compile.named import named_features
from dovetail.models.joint.soft.couplings import OTHER, PART
from dovetail.models.joint.soft.decoding import SoftDecoder
from dovetail.models.joint.soft.model import SoftModel
from dovetail.models.joint.soft.pair import Pair
from dovetail.models.parser.brackets.decoding import Text
from dovetail.models.parser.brackets.explain import explain_bracket
from dovetail.models.parser.explain import ConstituentExplanation, TreeEvidence
from dovetail.models.segmenter.model import SegmentModel
from dovetail.scorers.segments import PHRASE
from dovetail.structures.grammar import cells
from dovetail.structures.semimarkov import Segments
from dovetail.text.sentence import Sentence, Span

Use = tuple[int, int, int]  # begin, end, label


@dataclass(frozen=True)
class EntityExplanation(ConstituentExplanation):
    """An entity, the best entities without one at its span as ``rival``, and what speaks for either."""

    rival: Any
    """Spans."""

    what: ClassVar[str] = "entities"


def explain_constituent_of(
    model: SoftModel, text: Text, start: int, end: int, label: str, probability: float
) -> ConstituentExplanation:
    """Explain a constituent of the best tree of the one sentence of a text, by what entities have told it, too."""
    pair, told = _pair(model, text)
    own, informed = pair.coupled.first.potentials.span, told[0].potentials.span
    n, entities = len(text.shown[0]), _Chances(model, pair)

    def of_coupling(use: Use) -> Iterator[tuple[str, float]]:
        i, j, x = use
        row, number = int(cells(n, i, j)), int(model.group[x])
        if (said := float(informed[row, number] - own[row, number])) != 0.0:
            yield f"coupling of {_class(model, number)} {i}-{j} with {entities.named(i, j)}", said

    return explain_bracket(model.brackets, text, start, end, label, probability, batch=pair.informed, more=of_coupling)


def explain_entity(model: SoftModel, text: Text, start: int, end: int, label: str, probability: float) -> Any:
    """Explain an entity of the answer to the one sentence of a text, by what trees have told it, too."""
    pair, told = _pair(model, text)
    own, informed = pair.coupled.second, model.with_bonus(told[1], model.bonus)
    number = model.entities.labels.index(label)
    allowed = np.ones(informed.potentials.segment.shape, bool)
    allowed[start, end - start - 1, 1:] = False
    answer, rival = informed.best(), informed.restrict(allowed).best()
    if (start, end, number) not in _uses(answer):  # an engine has chosen otherwise
        allowed[...] = True
        allowed[start:end, :, :] = False
        allowed[start, end - start - 1, number] = True
        answer = informed.restrict(allowed).best()
    best, others, trees = _uses(answer), _uses(rival), _Trees(model, pair)
    sentence = Sentence(tuple(text.shown[0]), {"pos": tuple(text.tags[0])})
    totals: defaultdict[str, float] = defaultdict(float)
    factor = 1.0 + float(model.weight[0])
    for uses, sign in ((best - others, 1.0), (others - best, -1.0)):
        for i, j, y in uses:
            known = 0.0
            for name, weight in _features(model.entities, sentence, (i, j, y)):
                totals[f"{model.entities.labels[y]} {i}-{j}: {name}"] += sign * factor * weight
                known += factor * weight
            alone = float(own.potentials.segment[i, j - i - 1, y])
            totals[f"{model.entities.labels[y]} {i}-{j}: the phrase as a whole"] += sign * (alone - known)
            said = float(told[1].potentials.segment[i, j - i - 1, y]) - alone
            totals[f"coupling of an entity {i}-{j} with {trees.named(i, j)}"] += sign * said  # of whatever type
            totals["what an entity is worth"] += sign * model.bonus * (y > 0)
    evidence = [TreeEvidence(name, total) for name, total in totals.items() if abs(total) > 1e-6]
    margin = float(informed.score(answer)[0] - informed.score(rival)[0])
    [spans] = SoftDecoder(model).spans_of(rival, pair.coupled)
    return EntityExplanation(
        label, start, end, probability, rival=tuple(spans), margin=margin,
        evidence=tuple(sorted(evidence, key=lambda each: -each.margin)),
    )  # fmt: skip


def _pair(model: SoftModel, text: Text) -> tuple[Pair, tuple[Any, Any]]:
    """The coupled structures of the one sentence of a text, and both with what the other has told them."""
    [(_, pair)] = SoftDecoder(model).pairs(text)
    return pair, pair.coupled.informed


def _uses(segments: Segments) -> set[Use]:
    begin, length, label = (part.tolist() for part in segments[:3])
    return {(i, i + d, y) for i, d, y in zip(begin, length, label, strict=True)}


class _Chances:
    """What entities by themselves think of a span."""

    def __init__(self, model: SoftModel, pair: Pair) -> None:
        self.labels, self.chance = model.entities.labels, pair.coupled.second.marginals().segment

    def named(self, begin: int, end: int) -> str:
        """The likeliest type there, and how probable it is."""
        if end - begin > self.chance.shape[1]:
            return "no entity"
        row = self.chance[begin, end - begin - 1, 1:]
        return f"{self.labels[1 + int(row.argmax())]} (alone {row.max():.2f})"


class _Trees:
    """What trees by themselves think of a span."""

    def __init__(self, model: SoftModel, pair: Pair) -> None:
        self.model, self.chance = model, pair.coupled.first.marginals().span
        self.n = int(pair.whole.offsets[-1])

    def named(self, begin: int, end: int) -> str:
        """The likeliest class there, and how probable it is."""
        row = self.chance[int(cells(self.n, begin, end))]
        number = 1 + int(row[1:].argmax())
        return f"{_class(self.model, number)} (alone {row[number]:.2f})"


def _class(model: SoftModel, number: int) -> str:
    """A class of constituents for people."""
    name = ("", *model.couplings.classes)[number]
    return {PART: "a part of a constituent", OTHER: "another constituent", "": "no constituent"}.get(name, name)


def _features(model: SegmentModel, sentence: Sentence, use: Use) -> Iterator[tuple[str, float]]:
    """What each feature of the words of a segment adds to its score, by name; not those of the whole phrase."""
    begin, end, label = use
    places = {"start": [begin], "end": [end - 1], "inside": range(begin, end)}
    one = with_derived(sentence, model.features)
    for part, templates in model.templates().items():
        for position in places.get(part, ()) if part != PHRASE else ():
            found = [f for template in templates for f in named_features(template, one, position)]
            yield from _weighed(model.parts[part], found, label)


def _weighed(weights: Any, features: Sequence[Any], label: int) -> Iterator[tuple[str, float]]:
    numbers = weights.index.number(np.array([f.key for f in features], np.uint64)).tolist()
    for feature, number in zip(features, numbers, strict=True):
        if number >= 0:
            mine = slice(int(weights.layout.ptr[number]), int(weights.layout.ptr[number + 1]))
            for weight in weights.weight[mine][weights.layout.label[mine] == label]:
                yield feature.name, feature.value * float(weight)


def span_at(spans: Sequence[Span], start: int, end: int, label: str | None) -> Span | None:
    """What is at a span, with this label if one is given."""
    return next((s for s in spans if (s.start, s.end) == (start, end) and label in (None, s.label)), None)
