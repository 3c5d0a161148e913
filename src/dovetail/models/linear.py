"""Models whose potentials are linear in features: what is stored, how new text is scored, and how they are trained.

Taggers, segmenters and nested taggers differ in their structure, in their parts and in their tables; the rest is here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, ClassVar, Generic, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from dovetail.arrays import offsets_of
from dovetail.features.algebra.templates import Template
from dovetail.features.compile.design import Compiler
from dovetail.features.compile.documents import nothing_left
from dovetail.features.resources.templates import packed
from dovetail.learning.losses import LOSSES
from dovetail.learning.objective import Gold, Objective
from dovetail.learning.priors import Prior
from dovetail.memory import release_memory
from dovetail.models.training import Training
from dovetail.scorers.compiled import CompiledPart, PartSettings
from dovetail.scorers.parts import Form, PartsScorer
from dovetail.scorers.weights import Weights
from dovetail.text.sentence import Sentence

Floats = NDArray[np.float64]
Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class LinearModel:
    """Features, the weights of each part of them, and tables of weights that are the same everywhere."""

    features: Any
    parts: Mapping[str, Weights]
    tables: Mapping[str, NDArray[np.float32]]

    table_prefix: ClassVar[str] = ""
    """What the names of tables begin with in model files."""

    @property
    def form(self) -> Form:
        """How scores become potentials."""
        raise NotImplementedError

    def templates(self) -> dict[str, Sequence[Template]]:
        """The templates of each part, in the order of their weights."""
        return dict(self.features.parts)

    def compilers(self, sentences: Sequence[Sentence]) -> Mapping[str, Compiler]:
        """What compiles each part of the features of some sentences."""
        raise NotImplementedError

    def batch(self, sentences: Sequence[Sentence], threads: int, compiled: Mapping[str, Compiler] | None = None) -> Any:
        """The structures of new sentences, with their potentials; ``compiled`` is what ``compilers`` gave for them."""
        compiled, templates = compiled or self.compilers(sentences), self.templates()
        scores = {part: weights.score(compiled[part], templates[part], threads) for part, weights in self.parts.items()}
        tables = {name: table.astype(np.float64) for name, table in self.tables.items()}
        return self.form.batch(scores, tables, offsets_of(sentences), threads)

    def scaled(self, factor: float) -> Self:
        """The model with all weights times a factor: the same ranking of answers, with other probabilities."""
        tables = {name: table * np.float32(factor) for name, table in self.tables.items()}
        return replace(self._each(lambda weights: weights.scaled(factor)), tables=tables)

    def pruned(self, smallest: float) -> Self:
        """The model without weights that are smaller, and without the features that have no other."""
        return self._each(lambda weights: weights.pruned(smallest))

    def with_short_keys(self) -> Self:
        """The model as compact files hold it."""
        return self._each(Weights.with_short_keys)

    def _each(self, function: Any) -> Self:
        return replace(self, parts={part: function(weights) for part, weights in self.parts.items()})

    # files

    def arrays(self, half: bool = False, compact: bool = False) -> Arrays:
        """As named arrays for a model file."""
        found: Arrays = {f"{self.table_prefix}{name}": table for name, table in self.tables.items()}
        for part, weights in self.parts.items():
            found |= weights.arrays(part, half, compact)
        return found | packed(self.features.resources)[1]

    def header(self) -> dict[str, Any]:
        """The rest, for the header of a model file."""
        return {
            "features": {"name": self.features.name, "templates": self.features.lines()},
            "hash_bits": next(iter(self.parts.values())).index.bits,
            "resources": packed(self.features.resources)[0],
        }

    @staticmethod
    def stored_parts(header: Mapping[str, Any], arrays: Arrays, names: Sequence[str], form: Form) -> dict[str, Weights]:
        """The weights of parts from a model file, whose arrays must fit together: kernels do not check bounds."""
        bits = header["hash_bits"]
        return {name: Weights.from_arrays(arrays, name, form.outputs(name), bits) for name in names}


Model = TypeVar("Model", bound=LinearModel)


def numbers_in(names: Sequence[str], others: Sequence[str]) -> NDArray[np.int64]:
    """The place of each name among others, -1 where it is not there.

    >>> numbers_in(["LOC", "PER"], ["PER"])
    array([-1,  0])
    """
    number = {name: i for i, name in enumerate(others)}
    return np.array([number.get(name, -1) for name in names], dtype=np.int64)


def taken_over(table: NDArray[Any], *axes: NDArray[np.int64]) -> Floats:
    """A table whose entry i, j, ... is that of another at axes[0][i], axes[1][j], ..., or 0 where one of them is -1.

    >>> taken_over(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([1, -1]), np.array([0, 1]))
    array([[3., 4.],
           [0., 0.]])
    """
    inside = reduce(np.logical_and.outer, [axis >= 0 for axis in axes])
    return np.where(inside, table[np.ix_(*axes)], 0.0)


@dataclass
class LinearTraining(Training, Generic[Model]):
    """A corpus made ready: the objective, its prior, and the way back to a model.

    ``model`` is what is to be trained, without weights; ``form`` may forbid less in training than in answers.
    """

    model: Model
    parts: dict[str, CompiledPart]
    objective: Objective
    prior: Prior

    @classmethod
    def prepare(
        cls,
        model: Model,
        form: Form,
        compiled: Mapping[str, Compiler],
        offsets: NDArray[np.int64],
        gold: Gold,
        *,
        observed: Mapping[str, NDArray[np.int32] | None],
        settings: PartSettings,
        loss: str,
        l2: float,
        l1: float,
        trimmed: Any = lambda part, scorer: scorer,
    ) -> Self:
        """Compile the corpus and set up its objective.

        ``observed``: of parts that have parameters only for outputs that occur, those outputs [tokens]. ``trimmed``
        takes from the scorer of a part the parameters that it cannot use.
        """
        parts = {}
        for part, templates in model.templates().items():
            outputs = observed.get(part)
            made = CompiledPart.compile(compiled[part], list(templates), outputs, form.outputs(part), settings)
            parts[part] = replace(made, scorer=trimmed(part, made.scorer))
        scorer = PartsScorer(form, offsets, {part: made.scorer for part, made in parts.items()}, settings.threads)
        if not scorer.after_parts:
            least = settings.spread.least if settings.spread is not None else 1
            raise nothing_left("feature", ("min_count", settings.min_count), ("min_documents", least))
        release_memory()
        prior = Prior(l2, l1, scorer.scale() if l1 else None)
        return cls(model, parts, Objective(scorer, gold, LOSSES[loss]), prior)

    @property
    def scorer(self) -> PartsScorer:
        """The scorer of the training corpus."""
        scorer = self.objective.scorer
        assert isinstance(scorer, PartsScorer)
        return scorer

    def reader(self, sentences: Sequence[Sentence], form: Form | None = None) -> PartsScorer:
        """The scorer of other sentences, compiled once, by the weights of this corpus."""
        compiled = self.model.compilers(sentences)
        parts = {part: made.reader(compiled[part]) for part, made in self.parts.items()}
        return PartsScorer(form or self.scorer.form, offsets_of(sentences), parts, self.scorer.threads)

    def start(self, init: Model | None = None) -> Floats:
        """Zeros, or the weights of another model where it has the same features and labels."""
        weight, scorer = np.zeros(self.objective.parameters), self.scorer
        if init is None:
            return weight
        for part, made in self.parts.items():
            if part in init.parts:
                scorer.of_part(part, weight)[:] = made.initial(init.parts[part], self.outputs_in(part, init))
        weight[scorer.after_parts :] = self.shared_in(init)
        return weight

    def outputs_in(self, part: str, init: Model) -> NDArray[np.int64]:
        """The number that each output of a part has in another model, -1 for none."""
        raise NotImplementedError

    def shared_in(self, init: Model) -> Floats:
        """The parameters of tables as another model has them, [shared]."""
        return np.zeros(self.scorer.form.shared)

    def curvature(self) -> Floats:
        """A guess at the diagonal of the Hessian, for L-BFGS: ``2 l2 + 0.1 sqrt(places where the feature fires)``."""
        guess: Floats = 2.0 * self.prior.l2 + 0.1 * np.sqrt(self.scorer.firing())
        return guess

    def export(self, weight: Floats) -> Model:
        """The trained model."""
        scorer = self.scorer
        parts = {part: made.export(scorer.of_part(part, weight)) for part, made in self.parts.items()}
        tables = scorer.form.tables(weight[scorer.after_parts :])
        return replace(self.model, parts=parts, tables={name: t.astype(np.float32) for name, t in tables.items()})

    def fingerprint(self) -> list[NDArray[Any]]:
        """What a checkpoint belongs to: the features and the data."""
        keys = [part.collector.keys for part in self.parts.values()]
        return [np.array([self.objective.parameters]), self.scorer.offsets, *keys]
