"""Models whose potentials are linear in features: what is stored, how new text is scored, and how they are trained.

Taggers, segmenters and nested taggers differ in their structure, in their parts and in their tables; the rest is here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
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
from dovetail.models.base import Training
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
