"""A trained chain model: what is stored, and the chains of new sentences from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dovetail.features.algebra.sets import FeatureSet
from dovetail.features.algebra.templates import Template
from dovetail.features.compile.columns import columns_for
from dovetail.features.compile.design import Compiler
from dovetail.learning.expectations import Expecting, Lessons, Targets, beside
from dovetail.learning.objective import Gold, of_tokens
from dovetail.modelfile import Arrays
from dovetail.models.linear.model import LinearModel, numbers_in
from dovetail.models.linear.training import LinearTraining
from dovetail.models.tagger.labels import LabelSet
from dovetail.scorers.chain import EDGE, NODE, TRANSITION, ChainForm, Forbidden
from dovetail.scorers.hidden_parts import HiddenWeights
from dovetail.scorers.transitions import Transitions, state_count, states_within
from dovetail.scorers.weights import Weights
from dovetail.structures.chain import ChainBatch
from dovetail.structures.contract import Booleans, Floats, Integers, Labels
from dovetail.text.sentence import Sentence, Span
from dovetail.text.tags import tags_to_spans


@dataclass(frozen=True)
class ChainModel(LinearModel):
    """Everything that tagging needs."""

    feature_kind: ClassVar = FeatureSet

    labels: LabelSet
    order: int
    constrain: bool
    outside: float = 0.0
    """Added to the score of the label O when the best tagging is sought, and only then: see ``Tagger.balance``."""

    @property
    def node(self) -> Weights | HiddenWeights:
        """The weights of features of one label."""
        return self.parts[NODE]

    @property
    def edge(self) -> Weights | None:
        """The weights of features of a pair of labels."""
        found = self.parts.get(EDGE)
        assert not isinstance(found, HiddenWeights)  # pairs of labels have no hidden layer
        return found

    @property
    def transition(self) -> NDArray[np.float32]:
        """The weights of label after label, [states, labels]."""
        return self.tables[TRANSITION]

    @cached_property
    def form(self) -> ChainForm:
        """Chains in which the tagging scheme rules out ill-formed sequences, if it is so wanted."""
        return ChainForm(len(self.labels.names), self.order, forbidden(self.labels, self.order, self.constrain))

    def templates(self) -> dict[str, Sequence[Template]]:
        """The templates that look at one label, and those that look at two."""
        return {NODE: (), **self.features.parts}

    def compilers(self, sentences: Sequence[Sentence]) -> Mapping[str, Compiler]:
        """One for all."""
        return dict.fromkeys(self.templates(), Compiler(columns_for(sentences, self.features), sentences))

    def best(self, chains: ChainBatch) -> Any:
        """The tagging to answer with, [tokens]."""
        return self.best_with(chains, self.outside)

    def best_with(self, batch: ChainBatch, bias: float) -> Any:
        """The same with another bias of O."""
        return self.best_labels(batch, bias)

    def best_labels(self, chains: ChainBatch, bias: float) -> Labels:
        """The best tagging when ``bias`` is added to every score of the label O, [tokens]."""
        if not bias:
            return chains.best()
        unary = chains.potentials.unary.copy()
        unary[:, self.labels.names.index("O")] += bias
        return replace(chains, potentials=chains.potentials._replace(unary=unary)).best()

    def knows(self, answer: Sequence[str]) -> bool:
        """Whether these tags are all among the labels."""
        return bool((self.labels.encode([answer]) >= 0).all())

    def numbered(self, sentences: Sequence[Sentence], answers: Sequence[Sequence[str]]) -> Labels:
        """The numbers of tags, [tokens]."""
        return self.labels.encode(answers)

    def types_of_labels(self) -> list[str]:
        """B-PER and I-PER are both of the type PER."""
        names = self.labels.names
        return [n if self.labels.scheme is None or n == "O" else n.partition("-")[2] for n in names]

    def with_probabilities(self, batch: ChainBatch, spans: Sequence[Sequence[Span]] | None = None) -> list[list[Span]]:
        """The given entities of every sentence, or those of the best tagging, with their exact probabilities.

        That just these tokens, no fewer and no more, are an entity of this type: a sum over all taggings in which they
        spell it and the next label does not make it longer, not a product of token marginals.
        """
        if spans is None:
            tags = self.labels.decode(self.best_labels(batch, self.outside), batch.offsets)
            spans = [[Span(*span) for span in tags_to_spans(each)] for each in tags]
        spellings, continuing = cache(self.labels.spellings), cache(self.labels.continuing)
        asked = [(i, span) for i, each in enumerate(spans) for span in each]
        queries = [
            (k, path, before)
            for k, (_, span) in enumerate(asked)
            for path, before in spellings(span.label, span.end - span.start, self.constrain)
        ]  # none where no labels spell such an entity
        probability = np.zeros(len(asked))
        if queries:
            found = batch.path_probabilities(
                [asked[k][0] for k, _, _ in queries],
                [asked[k][1].start for k, _, _ in queries],
                [path for _, path, _ in queries],
                not_before=np.array([before for _, _, before in queries]),
                not_after=np.array([continuing(asked[k][1].label) for k, _, _ in queries]),
            )
            np.add.at(probability, [k for k, _, _ in queries], found)
        chances = iter(probability.tolist())
        return [[replace(span, probability=min(next(chances), 1.0)) for span in each] for each in spans]

    def within(self, labels: LabelSet) -> ChainModel:
        """The model that knows only some of its labels."""
        size = len(self.labels.names)
        kept = np.flatnonzero(np.isin(self.labels.names, labels.names))
        outputs = {NODE: kept, EDGE: (kept[:, None] * size + kept).ravel()}
        transition = self.transition[np.ix_(states_within(kept, size, self.order), kept)]
        parts = {part: weights.within(outputs[part]) for part, weights in self.parts.items()}
        return replace(self, labels=labels, parts=parts, tables={TRANSITION: transition}, consistency=None)

    def outputs_in(self, part: str, other: ChainModel) -> Integers:
        """The number of each label, or pair of labels, in another model, -1 for none."""
        labels = numbers_in(self.labels.names, other.labels.names)
        if part == NODE:
            return labels
        pairs = labels[:, None] * len(other.labels.names) + labels[None, :]
        pairs[(labels[:, None] < 0) | (labels[None, :] < 0)] = -1
        return pairs.ravel()

    def tables_in(self, other: ChainModel) -> dict[str, NDArray[np.float32]]:
        """The transitions of another model, in the order of the labels here."""
        labels = self.outputs_in(NODE, other)
        states = states_within(labels, len(labels), self.order)
        return {TRANSITION: other.transition[np.ix_(states, labels)]}

    def kept_apart(self) -> dict[str, Any]:
        """Labels, the scheme in which they spell entities, and how they depend on each other."""
        names = {"labels": sorted(self.labels.names), "scheme": self.labels.scheme, "order": self.order}
        return names | {"constrain": self.constrain}

    def pooled(self, others: Sequence[ChainModel], mixing: Sequence[float]) -> ChainModel:
        """The product, with the mean of what is added to O."""
        found = super().pooled(others, mixing)
        return replace(found, outside=float(np.mean([m.outside for m in (self, *others)])))

    def header(self) -> dict[str, Any]:
        """What is no array, for the header of a model file."""
        return super().header() | {
            "labels": list(self.labels.names),
            "scheme": self.labels.scheme,
            "order": self.order,
            "constrain": self.constrain,
            "outside": self.outside,
        }

    @classmethod
    def _stored(cls, header: dict[str, Any], arrays: Arrays) -> dict[str, Any]:
        labels, order = LabelSet(tuple(header["labels"]), header["scheme"]), int(header["order"])
        size = len(labels.names)
        if arrays[TRANSITION].shape != (state_count(size, order), size):
            raise ValueError("the table of transitions does not fit the labels")
        own = {"labels": labels, "order": order, "constrain": bool(header["constrain"])}
        return {"tables": {TRANSITION: arrays[TRANSITION]}, "outside": float(header.get("outside", 0.0)), **own}

    def _stored_parts(self, header: dict[str, Any], arrays: Arrays) -> Sequence[str]:
        return [NODE, *([EDGE] if {"edge.keys", "edge.rest"} & set(arrays) else [])]


@dataclass
class ChainTraining(LinearTraining[ChainModel]):
    """A corpus of tags made ready."""

    def shared_in(self, init: ChainModel) -> Floats:
        """The parameters of transitions, if the other model has as many labels in a row."""
        form = self.scorer.form
        assert isinstance(form, ChainForm)
        assert form.transitions is not None
        if init.order != self.model.order:
            return np.zeros(form.shared)
        return form.transitions.initial(init.transition, self.model.outputs_in(NODE, init))

    def dev_scorer(self, sentences: Sequence[Sentence]) -> Any:
        """A function from weights to the chains of other sentences, ruled as in answers."""
        return self.reader(sentences, replace(self.scorer.form, forbidden=self.model.form.forbidden)).batch  # type: ignore[type-var]

    def fingerprint(self) -> list[NDArray[Any]]:
        """What a checkpoint belongs to."""
        known = self.objective.gold(None)[0]
        if not isinstance(known, Lessons):
            return [*super().fingerprint(), known]
        arrays = (known.answers[0], known.targets.ptr, known.targets.probability, known.targets.weight)
        return [*super().fingerprint(), *(each for each in arrays if each is not None)]


def chain_training(
    model: ChainModel,
    sentences: Sequence[Sentence],
    tags: Sequence[Sequence[str]],
    *,
    observed_only: bool = False,
    targets: Targets | None = None,
    expecting: tuple[str, float] = ("squared", 1.0),
    **how: Any,
) -> ChainTraining:
    """Sentences with their tags made ready to train a model; ``how`` is for ``LinearTraining.prepare``.

    ``targets`` are expectations of the last sentences; ``expecting``, how their loss is measured and what it counts.
    """
    gold, size = model.labels.encode(tags), len(model.labels.names)
    compiled = model.compilers(sentences)
    offsets = compiled[NODE].columns.offsets
    observed = {}
    if observed_only:
        observed = {EDGE: _pairs(gold, offsets, size)} | ({} if (gold < 0).any() else {NODE: gold})
    # What sees no neighbour cannot be told by the scheme what may follow it.
    ruled = forbidden(model.labels, model.order, model.constrain and model.order > 0)
    transitions = Transitions.observed(gold, offsets, size, model.order, full=not observed_only)
    form = ChainForm(size, model.order, ruled, transitions)
    labelled = len(sentences) - (len(targets.ptr) - 1 if targets is not None else 0)
    right = chain_gold(gold[: offsets[labelled]], offsets[: labelled + 1], size)
    right = right if targets is None else beside(right, labelled, targets)
    made = ChainTraining.prepare(model, form, compiled, offsets, right, observed=observed, sentences=sentences, **how)
    if targets is not None:
        made.objective.loss = Expecting(made.objective.loss, *expecting)
    return made


def chain_gold(gold: Labels, offsets: Integers, size: int) -> Gold:
    """The right labels of all sentences or of some, and what is allowed where they are not known (-1)."""
    return of_tokens(np.maximum(gold, 0), offsets, allowed_labels(gold, size))


def allowed_labels(gold: Labels, size: int) -> Booleans | None:
    """The labels that each token may have in training, [tokens, size]: all where gold is -1. None: all are known."""
    unknown = gold < 0
    if not unknown.any():
        return None
    allowed = np.zeros((len(gold), size), dtype=np.bool_)
    allowed[np.arange(len(gold)), np.maximum(gold, 0)] = True
    allowed[unknown] = True
    return allowed


def _pairs(gold: Labels, offsets: Integers, size: int) -> Labels:
    """The number of the pair (previous label, label) at each token, -1 where there is none. Shape [tokens]."""
    previous = np.concatenate([[-1], gold[:-1]]).astype(np.int32)
    previous[offsets[:-1][np.diff(offsets) > 0]] = -1
    return np.where((previous >= 0) & (gold >= 0), previous * np.int32(size) + gold, np.int32(-1)).astype(np.int32)


def forbidden(labels: LabelSet, order: int, constrain: bool) -> Forbidden:
    """What the tagging scheme rules out, if it may."""
    if not constrain:
        return Forbidden.nothing(len(labels.names), order)
    return Forbidden.pairs(*labels.forbidden(), order)
