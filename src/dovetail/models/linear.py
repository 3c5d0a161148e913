"""Models whose potentials are linear in features: what is stored, how new text is scored, and how they are trained.

Taggers, segmenters and nested taggers differ in their structure, in their parts and in their tables; the rest is here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from pathlib import Path
from typing import Any, ClassVar, Generic, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from dovetail.arrays import offsets_of
from dovetail.columns import Columns
from dovetail.errors import DovetailError
from dovetail.features.algebra.templates import Template
from dovetail.features.compile.columns import columns_for
from dovetail.features.compile.design import Compiler
from dovetail.features.compile.documents import nothing_left
from dovetail.features.compile.repeats import repeats
from dovetail.features.compile.span_design import SpanCompiler
from dovetail.features.resources.templates import packed, unpacked
from dovetail.learning.losses import LOSSES
from dovetail.learning.objective import Gold, Objective
from dovetail.learning.priors import Prior
from dovetail.learning.tuning import best_bias, calibration
from dovetail.memory import release_memory
from dovetail.modelfile import COMPACT_VERSION, Arrays, save_model
from dovetail.models.base import Estimator
from dovetail.models.consistency.agreement import agreed
from dovetail.models.consistency.coupling import STRENGTHS, Consistency
from dovetail.models.training import Training
from dovetail.scorers.compiled import CompiledPart, PartSettings
from dovetail.scorers.parts import Form, PartsScorer
from dovetail.scorers.weights import Weights
from dovetail.structures.contract import Floats, Integers
from dovetail.text.sentence import Sentence

COARSE_BALANCES = (0.0, -0.8, -1.6)  # tried while training, to choose weights that will score well when balanced
BALANCES = np.round(np.arange(-3.0, 1.01, 0.2), 1)  # what may be added to the score of O


@dataclass(frozen=True)
class LinearModel:
    """Features, the weights of each part of them, and tables of weights that are the same everywhere."""

    features: Any
    parts: Mapping[str, Weights]
    tables: Mapping[str, NDArray[np.float32]]

    feature_kind: ClassVar[Any]
    """What reads the lines of its features."""
    table_prefix: ClassVar[str] = ""
    """What the names of tables begin with in model files."""

    agreement: float = field(default=0.0, kw_only=True)
    """How strongly the places of a name in one document lean towards one type: see ``models.consistency.agreement``."""
    consistency: Consistency | None = field(default=None, kw_only=True)
    """What it knows of linked words: see ``models.consistency.coupling``."""

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
        found = self.form.batch(scores, tables, offsets_of(sentences), threads)
        if not self.agreement and self.consistency is None:
            return found
        return self.consistent(found, next(iter(compiled.values())).columns)

    def consistent(self, batch: Any, columns: Columns) -> Any:
        """The structures of documents, in which names agree with themselves as far as the model wants it."""
        if self.consistency is not None:
            return self.consistency.coupled(batch, columns, self.of_label)
        return agreed(batch, repeats(columns), self.of_label, [self.agreement])[0] if self.agreement else batch

    def types_of_labels(self) -> Sequence[str]:
        """What each label of the structure says, wherever in an entity it stands; O is a type too."""
        raise NotImplementedError

    @cached_property
    def of_label(self) -> Integers:
        """The number of the type of each label: [labels]."""
        names = list(dict.fromkeys(self.types_of_labels()))
        return np.array([names.index(name) for name in self.types_of_labels()], np.int64)

    def structures(self, sentences: Sequence[Sentence], threads: int) -> Any:
        """What answers to new sentences are read from."""
        return self.batch(sentences, threads)

    def best_with(self, batch: Any, bias: float) -> Any:
        """The best answers when ``bias`` is added to all that is O."""
        raise NotImplementedError

    def knows(self, answer: Any) -> bool:
        """Whether the model can give this answer to a sentence."""
        raise NotImplementedError

    def numbered(self, sentences: Sequence[Sentence], answers: Sequence[Any]) -> Any:
        """Answers that it knows, as its structures take them."""
        raise NotImplementedError

    def calibration(self, batch: Any, dev: Sequence[Sentence], gold: Sequence[Any]) -> float:
        """The factor under which the answers to held-out sentences, with these structures, are most likely."""
        known = [i for i, answer in enumerate(gold) if len(dev[i]) and self.knows(answer)]
        if not known:
            return 1.0
        right = self.numbered([dev[i] for i in known], [gold[i] for i in known])
        return calibration(batch.take(np.array(known)), right)

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
            "agreement": self.agreement,
            "consistency": None if self.consistency is None else self.consistency.header(),
        }

    @classmethod
    def from_file(cls, header: dict[str, Any], arrays: Arrays, functions: Sequence[Any] = ()) -> Self:
        """From the header and arrays of a model file, whose parts must fit together: kernels do not check bounds."""
        own, described = cls._stored(header, arrays), header["features"]
        resources = unpacked(header.get("resources", {}), arrays)
        features = cls.feature_kind.from_lines(described["name"], described["templates"], functions, resources)
        made = cls(features=features, parts={}, agreement=float(header.get("agreement", 0.0)), **own)
        if (told := header.get("consistency")) is not None:
            linked = Consistency.from_header(told, len(set(made.types_of_labels())))
            made = replace(made, consistency=linked)
        outputs = {name: made.form.outputs(name) for name in made._stored_parts(header, arrays)}
        bits = header["hash_bits"]
        return replace(made, parts={name: Weights.from_arrays(arrays, name, n, bits) for name, n in outputs.items()})

    @classmethod
    def _stored(cls, header: dict[str, Any], arrays: Arrays) -> dict[str, Any]:
        """The fields that are its own, from a model file."""
        raise NotImplementedError

    def _stored_parts(self, header: dict[str, Any], arrays: Arrays) -> Sequence[str]:
        """The parts that a model file has weights of."""
        if set(header["parts"]) != set(self.features.parts):
            raise ValueError("the features do not fit the weights")
        names: list[str] = header["parts"]
        return names


Model = TypeVar("Model", bound=LinearModel)


def span_compilers(features: Any, sentences: Sequence[Sentence], longest: int, phrase: str) -> dict[str, Compiler]:
    """What compiles features of tokens, and those of the part ``phrase`` of up to ``longest`` tokens."""
    text = columns_for(sentences, features)
    tokens, spans = Compiler(text, sentences), SpanCompiler.over(text, longest)
    return {part: spans if part == phrase else tokens for part in features.parts}


def numbers_in(names: Sequence[str], others: Sequence[str]) -> Integers:
    """The place of each name among others, -1 where it is not there.

    >>> numbers_in(["LOC", "PER"], ["PER"])
    array([-1,  0])
    """
    number = {name: i for i, name in enumerate(others)}
    return np.array([number.get(name, -1) for name in names], dtype=np.int64)


def taken_over(table: NDArray[Any], *axes: Integers) -> Floats:
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
        offsets: Integers,
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

    def dev_scorer(self, sentences: Sequence[Sentence]) -> Callable[[Floats], Any]:
        """A function from weights to the structures of other sentences, which are compiled once."""
        return self.reader(sentences).batch

    def held_out(self) -> Any:
        """The structures of held-out sentences under the weights that were found."""
        return self.dev(self.as_stored(self.weight))

    def as_stored(self, weight: Floats) -> Floats:
        """Weights as a model stores them: the tiny ones zero, and the others in single precision."""
        kept, scorer = weight.astype(np.float32).astype(np.float64), self.scorer
        for part, made in self.parts.items():
            scorer.of_part(part, kept)[~made.matters(scorer.of_part(part, weight))] = 0.0
        return kept

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

    def outputs_in(self, part: str, init: Model) -> Integers:
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


@dataclass(kw_only=True, eq=False)
class LinearEstimator(Estimator):
    """What taggers, segmenters and nested taggers do alike."""

    def _usable(self, features: Any, corpus: Sequence[Sentence], hidden: set[str]) -> Any:
        """A feature set, less what reads hidden layers, or layers that a named set wants and no sentence has."""
        missing = {c for c in features.columns if c != "word" and not any(c in s.layers for s in corpus)}
        features = features.without_columns(hidden | set(self._setting("ignore")) | (missing & features.optional))
        if not features.templates:
            raise DovetailError("no feature template is left; give some that read words or layers that the data has")
        return features

    def _how(self, min_count: int, **more: Any) -> dict[str, Any]:
        """What the settings say of ``LinearTraining.prepare``."""
        settings = PartSettings(min_count, self._setting("hash_bits"), threads=self._threads(), **more)
        return {"settings": settings, "loss": self._loss(), "l2": self._setting("l2"), "l1": self._setting("l1")}

    def _balances(self, model: Any) -> bool:
        """Whether held-out sentences say how readily to answer O."""
        raise NotImplementedError

    def _rater(self, model: Any, held_out: list[Sentence]) -> Callable[[Any], float]:
        """A function from the answers of a model to held-out sentences to their score."""
        raise NotImplementedError

    def _dev_scorer(self, training: Any, held_out: list[Sentence]) -> Callable[[Floats], float]:
        """The score under the best of some biases of O."""
        model, training.dev = training.model, training.dev_scorer(self._seen(held_out))
        rate, biases = self._rater(model, held_out), COARSE_BALANCES if self._balances(model) else (0.0,)

        def dev_score(weight: Floats) -> float:
            batch = training.dev(weight)
            return max(rate(model.best_with(batch, bias)) for bias in biases)

        return dev_score

    def _linked(self, model: Any, corpus: Sequence[Sentence], types: Callable[[Any], Integers]) -> Any:
        """The model with what the documents of a corpus say of linked words; ``types`` gives those of words, [N]."""
        if self._setting("consistency") != "graph" or all(s.document is None for s in corpus):
            return model
        count, engine = len(set(model.types_of_labels())), self._setting("engine")
        return replace(model, consistency=Consistency.learnt(Columns.of(corpus, ()), types(model), count, engine))

    def _held_out_score(self, held_out: list[Any], training: Any) -> float:
        return self._rater(self._model(), held_out)(self._model().best(training.tuned))

    def _agreeing(self, model: Any, batch: Any, held_out: list[Sentence], tries: bool = True) -> tuple[Any, Any]:
        """The model whose documents agree as strongly as scores best on held-out ones, and the structures of these.

        Of equal ones, the least. ``batch`` has the structures of sentences each for itself. Without documents nothing
        is tried: agreement is for text whose sentences belong together.
        """
        columns = Columns.of(self._seen(held_out), ())
        if not tries or self._setting("consistency") == "none" or all(s.document is None for s in held_out):
            return model, model.consistent(batch, columns)
        alone, rate = replace(model, agreement=0.0, consistency=None), self._rater(model, held_out)
        tried = [
            replace(alone, agreement=strength)
            if model.consistency is None  # nothing is known of linked words
            else replace(alone, consistency=replace(model.consistency, strength=strength))
            for strength in STRENGTHS
        ]
        best = (-1.0, model, batch)
        for number, each in enumerate(tried):
            found = each.consistent(batch, columns)
            best = max(best, (rate(each.best(found)) - 1e-9 * number, each, found), key=lambda one: one[0])
        return best[1:]

    def _balanced(self, model: Any, batch: Any, held_out: list[Sentence]) -> Any:
        """The model with the bias of O that scores best on held-out sentences; of equal ones, the smallest.

        Few labels make a tagger timid: it misses more entities than it invents. The best F1 wants them balanced. Only
        the search for the best answer uses the bias; probabilities stay as they are.
        """
        rate = self._rater(model, held_out)
        return replace(model, outside=best_bias(BALANCES, lambda bias: rate(model.best_with(batch, bias))))

    def _seen(self, sentences: list[Sentence]) -> list[Sentence]:
        """Sentences with right answers, as the model sees them."""
        return sentences

    def _batch(self, sentences: Sequence[Sentence]) -> Any:
        return self._model().structures(sentences, self._threads())

    def _stored_settings(self) -> dict[str, Any]:
        return super()._stored_settings() | {"features": self._model().features.name}

    def _layers_read(self) -> tuple[str, ...]:
        return tuple(layer for layer in self._model().features.columns if layer != "word")


@dataclass(kw_only=True, eq=False)
class CompactEstimator(Estimator):
    """An estimator that can store its weights in a byte each."""

    def save(
        self, path: str | Path, *, half: bool = False, compact: bool = False, card: dict[str, Any] | None = None
    ) -> None:
        """Write the model to one file.

        ``half`` stores weights in half precision; ``compact`` stores them in a byte each, and keys in three to five.
        """
        header, arrays = self.packed(half, compact)
        save_model(path, header | {"card": self.card_ | (card or {})}, arrays)

    def packed(self, half: bool = False, compact: bool = False) -> tuple[dict[str, Any], Arrays]:
        """The header and the arrays of a model file."""
        if half and compact:
            raise DovetailError(
                "half and compact are two ways to store weights: choose one (compact files are smaller)"
            )
        header, arrays = super().packed(half)
        if not compact:
            return header, arrays
        model, (layers, more) = self._model().with_short_keys(), self.layers_.packed(compact=True)
        about = header | model.header() | layers | {"version": COMPACT_VERSION}
        return about, model.arrays(compact=True) | more
