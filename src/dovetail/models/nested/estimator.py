"""NestedTagger: entities within entities, with a probability for every one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import islice, pairwise
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dovetail.errors import DovetailError, ModelFileError
from dovetail.evaluate.nested import NestedScores, nested_scores
from dovetail.features.algebra.nested_sets import TAG_LINES, NestedFeatures, nested_features
from dovetail.features.algebra.templates import call
from dovetail.features.resources.resource import Resource
from dovetail.learning.checkpoint import Checkpoint
from dovetail.learning.monitor import Monitor, Progress
from dovetail.modelfile import load_model, save_model
from dovetail.models.base import Estimator, check_choice
from dovetail.models.batching import in_batches
from dovetail.models.inputs import as_sentences, check_count, check_probability, labelled
from dovetail.models.nested.gold import as_tree
from dovetail.models.nested.model import NestedModel, spans_of
from dovetail.models.nested.training import NestedTraining
from dovetail.models.nested.tuning import COARSE_THRESHOLDS, calibrated, threshold_scores, tuned
from dovetail.models.segmenter.training import length_bound
from dovetail.structures.nested import LONGEST, NestedBatch, NestedSegments
from dovetail.text.sentence import Sentence, Span
from dovetail.text.spans import flat_tags
from dovetail.version import __version__

BATCH_TOKENS = 20_000  # how much text is scored at once: bounds memory, and keeps threads busy
OPTIMISERS = ("adagrad", "lbfgs", "sgd")
DEFAULT_GAIN = 0.05
POS = "pos"
PHRASES = 10  # tokens: the longest entities that are looked at as phrases


@dataclass(frozen=True)
class EntityTree:
    """One of the best trees of entities of a sentence, with its exact probability."""

    spans: tuple[Span, ...]
    probability: float


@dataclass(kw_only=True, eq=False)
class NestedTagger(Estimator):
    """A conditional model of entities within entities: every sentence is a tree of them (Finkel 2010, section 5.3).

    Each entity is scored as a whole, as in a semi-Markov model but of any length, and with what it lies in and what
    stands beside it. ``fit`` takes sentences with their entities in ``spans``, or as tags in the layer ``target``.

    >>> lab = Sentence(("University", "of", "Bern", "said"), spans=(Span(0, 3, "ORG"), Span(2, 3, "LOC")))
    >>> town = Sentence(("Bern", "said"), spans=(Span(0, 1, "LOC"),))
    >>> tagger = NestedTagger(min_count=1, iterations=20).fit([lab, town] * 5)
    >>> [(span.start, span.end, span.label) for span in tagger.predict([lab.words])[0]]
    [(0, 3, 'ORG'), (2, 3, 'LOC')]
    """

    kind: ClassVar[str] = "nested"

    features: Any = "nested"
    """A named set, or lines of templates."""
    resources: Mapping[str, Resource] = field(default_factory=dict)
    """Clusters and lexicons by name; their usual templates are added to a named set."""
    target: str = "ner"
    """The layer whose tags spell the entities of sentences that have no spans; answers are written there as well."""
    ignore: Sequence[str] = ()
    """Layers that a named set does not read, such as ``pos`` where new text will have none."""
    pos: str = "given"
    """given: parts of speech in the layer ``pos`` are read, if there are any. joint: they are found as well."""
    longest: int | None = None
    """The most words in an entity; None for 100, which is no limit for sentences up to that length."""
    max_length: int | None = None
    """Leave longer sentences out of training; None to keep all."""
    optimiser: str = "adagrad"
    """adagrad, lbfgs or sgd."""
    l2: float = 4.0
    """Penalty on squared weights."""
    l1: float = 0.0
    """Penalty on absolute weights."""
    iterations: int | None = None
    """The most passes over the data; None for 15, or with lbfgs for its own limit."""
    batch: int | None = None
    """Sentences per step, for online optimisers."""
    gain: float | None = None
    """Step size, for online optimisers; None for 0.05."""
    min_count: int = 2
    """Drop features that occur less often."""
    hash_bits: int | None = None
    """At most 2**hash_bits features in each part, by hashing."""
    calibrate: bool = True
    """Choose on dev how confident to be."""
    agree: bool = True
    """Choose on dev how strongly mentions of the same words in one document lean towards one answer."""
    balance: bool = True
    """Choose on dev how probable an entity must be, for the best F1; else it is 0.4."""
    patience: int = 4
    """Dev measurements without progress before training stops."""
    seed: int = 1
    """The seed of all random numbers."""
    threads: int | None = None
    """How many cores to use; None for all. The result does not depend on it."""

    model_: NestedModel | None = field(default=None, init=False, repr=False)
    card_: dict[str, Any] = field(default_factory=dict, init=False, repr=False)

    @property
    def classes_(self) -> tuple[str, ...]:
        """The labels of entities."""
        return self._model().labels

    # training

    def fit(
        self,
        sentences: Sequence[Any],
        gold: Sequence[Sequence[Span]] | None = None,
        *,
        dev: Sequence[Any] | None = None,
        checkpoint: str | Path | None = None,
        progress: Callable[[Progress], None] | None = None,
    ) -> NestedTagger:
        """Train. With ``dev``, keep the weights that score best there and stop when they no longer get better.

        ``gold`` has the entities of each sentence, where the sentences do not. ``checkpoint`` names a file from which
        training goes on if it exists, and which is deleted at the end. Ctrl-C ends training early with the best weights
        so far. Entities that no tree can hold are left out, and counted by reason in ``card_["left_out"]``: of two that
        cross, the shorter; of three over the same words, the third.
        """
        self._check_settings()
        given = labelled(as_sentences(sentences), gold, _with_spans, "training")
        corpus = [s for s in given if self.max_length is None or len(s) <= self.max_length]
        if not any(len(s) for s in corpus):
            raise DovetailError("the training data has no tokens; check the file and its format")
        left_out: Counter[str] = Counter()
        trees = [as_tree(self.entities(s), self._longest, left_out) for s in corpus]
        labels = tuple(sorted({span.label for tree in trees for span in tree}))
        if not labels:
            raise DovetailError(
                f"no training sentence has an entity, neither in its spans nor in its layer {self.target!r}"
            )
        training = NestedTraining.prepare(
            corpus, trees, self._features_for(corpus), labels, phrases=min(length_bound(trees), PHRASES),
            longest=self._longest, l2=self.l2, l1=self.l1, min_count=self.min_count, hash_bits=self.hash_bits,
            threads=self._threads(), tags=self._tags(corpus),
        )  # fmt: skip
        monitor = Monitor(report=progress, patience=self.patience, dev_every=10 if self.optimiser == "lbfgs" else 1)
        monitor.save_every = 25 if self.optimiser == "lbfgs" else 1
        held_out = as_sentences(dev) if dev is not None else []
        right = [self.entities(s) for s in held_out]
        if dev is not None:
            monitor.dev_score = self._dev_scorer(training, held_out, right)
        model = training.export(self._minimise(training, monitor, checkpoint))
        if dev is not None and self.calibrate:
            dev_trees = [as_tree(spans, self._longest, Counter()) for spans in right]
            model = calibrated(model, held_out, dev_trees, self._threads())
        if dev is not None and (self.agree or self.balance):
            model = tuned(model, held_out, right, self.agree, self.balance, self._threads())
        self.model_ = model
        self.card_ = {
            "sentences": len(corpus),
            "tokens": sum(map(len, corpus)),
            "entities": sum(map(len, trees)),
            "left_out": dict(left_out),
            "too_long": len(given) - len(corpus),
            "stopped": monitor.reason,
            "dev": self.score(held_out, right) if dev is not None else None,
        }
        return self

    def entities(self, sentence: Sentence) -> tuple[Span, ...]:
        """The entities that a sentence is given with: its spans, or what its layer ``target`` spells."""
        return sentence.spans or sentence.entities(self.target)

    @property
    def _longest(self) -> int:
        return self.longest or LONGEST

    def _features_for(self, corpus: Sequence[Sentence]) -> NestedFeatures:
        """The feature set, less what reads layers to ignore, or layers that a named set wants and no sentence has."""
        found = nested_features(self.features, self.resources, more=TAG_LINES if self.pos == "joint" else ())
        missing = {c for c in found.columns if c != "word" and not any(c in s.layers for s in corpus)}
        hidden = {self.target, *self.ignore, *([POS] if self.pos == "joint" else [])}
        found = found.without_columns(hidden | (missing & found.optional))
        if not found.templates:
            raise DovetailError("no feature template is left; give some that read words or layers that the data has")
        return found

    def _tags(self, corpus: Sequence[Sentence]) -> list[tuple[str, ...]] | None:
        """The parts of speech to learn, None for none."""
        if self.pos != "joint":
            return None
        for number, sentence in enumerate(corpus, 1):
            if len(sentence) and POS not in sentence.layers:
                raise DovetailError(f"training sentence {number} has no layer {POS!r}, and pos='joint' learns it")
        return [sentence.layers.get(POS, ()) for sentence in corpus]

    def _minimise(
        self, training: NestedTraining, monitor: Monitor, checkpoint: str | Path | None
    ) -> NDArray[np.float64]:
        resume, saved = None, None
        objective = training.objective
        if checkpoint is not None:
            free = ("threads", "iterations", "patience", "features", "resources", "agree", "balance", "calibrate")
            settings = {name: value for name, value in self.get_params().items() if name not in free}
            settings["templates"] = training.features.lines()
            data = (np.array([objective.parameters]), objective.offsets, *objective.gold)
            saved = Checkpoint.of(checkpoint, settings, *data)
            resume, monitor.save = saved.load(), saved.save
            if resume is not None:
                monitor.restore(resume)
        hints = {"curvature": training.curvature()} if self.optimiser == "lbfgs" else {}
        start = np.zeros(objective.parameters)
        weight: NDArray[np.float64] = self._optimiser().minimise(
            objective, training.prior, start, monitor, resume, **hints
        )
        if saved is not None and not monitor.interrupted:
            saved.remove()
        return weight

    def _optimiser(self) -> Any:
        if self.optimiser == "lbfgs":
            return super()._optimiser()
        usual = replace(self, gain=self.gain or DEFAULT_GAIN, iterations=self.iterations or 15)
        return Estimator._optimiser(usual)

    def _dev_scorer(
        self, training: NestedTraining, dev: Sequence[Sentence], gold: Sequence[Sequence[Span]]
    ) -> Callable[[NDArray[np.float64]], float]:
        batches = training.batches(dev)
        labels, flat = training.labels, training.objective.flat
        thresholds = COARSE_THRESHOLDS if self.balance else (0.4,)

        def dev_score(weight: NDArray[np.float64]) -> float:
            found = spans_of(batches(weight), labels, min(thresholds))
            return max(threshold_scores(found, gold, thresholds, flat))

        return dev_score

    def _check_settings(self) -> None:
        super()._check_settings()
        check_choice("optimiser", self.optimiser, OPTIMISERS)
        check_choice("pos", self.pos, ("given", "joint"))

    # answers

    def predict(self, sentences: Iterable[Any], threshold: float | None = None) -> list[list[Span]]:
        """The entities of every sentence with their exact probabilities, each before those within it.

        An entity is answered if it is probable enough (see ``balance``), or at least as probable as ``threshold``. Of
        two that cross, which cannot both be right, the more probable one is answered.
        """
        if threshold is not None:
            check_probability("threshold", threshold)
        model = self._model() if threshold is None else replace(self._model(), threshold=threshold)
        return [
            list(sentence.located(spans))
            for some in in_batches(as_sentences(sentences), BATCH_TOKENS)
            for sentence, spans in zip(some, model.answer(model.batch(some, self._threads()), some), strict=True)
        ]

    def predict_marginals(self, sentences: Iterable[Any], least: float = 0.01) -> list[list[Span]]:
        """Every entity with a probability of at least ``least``, whether it is answered or not."""
        check_probability("least", least)
        model = self._model()
        return [
            list(sentence.located(spans))
            for some in in_batches(as_sentences(sentences), BATCH_TOKENS)
            for sentence, spans in zip(
                some, model.probable(model.batch(some, self._threads()), some, least), strict=True
            )
        ]

    def kbest(self, sentences: Iterable[Any], k: int = 10) -> list[list[EntityTree]]:
        """The k most probable trees of entities of every sentence with their probabilities, best first."""
        check_count("k", k)
        found: list[list[EntityTree]] = []
        for batch in self._batches(sentences):
            ranked, scores = batch.kbest(k)
            probabilities = np.exp(scores - batch.log_partition()[:, None])
            spans = [self._spans_in(answer) for answer in ranked]
            for s, size in enumerate(np.diff(batch.offsets).tolist()):
                pairs = zip((own[s] for own in spans), probabilities[s].tolist(), strict=True)
                possible = int(np.sum(scores[s] > -np.inf)) if size else 0
                found.append([EntityTree(tuple(own), p) for own, p in islice(pairs, possible)])
        return found

    def sample(self, sentences: Iterable[Any], n: int = 1, seed: int | None = None) -> list[list[list[Span]]]:
        """``n`` trees of entities of every sentence, drawn exactly from the model's distribution."""
        check_count("n", n)
        rng = self._random(seed)
        found: list[list[list[Span]]] = []
        for batch in self._batches(sentences):
            drawn = [self._spans_in(answer) for answer in batch.sample(n, rng)]
            found += [list(own) for own in zip(*drawn, strict=True)]
        return found

    def _batches(self, sentences: Iterable[Any]) -> Iterator[NestedBatch]:
        model = self._model()
        return (model.batch(some, self._threads()) for some in in_batches(as_sentences(sentences), BATCH_TOKENS))

    def _spans_in(self, segments: NestedSegments) -> list[list[Span]]:
        """The entities of every sentence."""
        columns = zip(segments.start.tolist(), segments.end.tolist(), segments.label.tolist(), strict=True)
        spans = [Span(i, j, self.classes_[x]) for i, j, x in columns]
        return [spans[low:high] for low, high in pairwise(segments.offsets.tolist())]

    def _annotated(self, sentences: Iterable[Sentence], probabilities: bool) -> Iterator[Sentence]:
        """Sentences with their entities in ``spans``, and the outermost as tags in the target layer.

        Where parts of speech are found too, they are in the layer ``pos``.
        """
        model = self._model()
        for some in in_batches(sentences, BATCH_TOKENS):
            batch, tag_scores = model.read(some, self._threads())
            answers = model.answer(batch, some)
            tags = model.best_tags(tag_scores, answers, batch.offsets) if tag_scores is not None else None
            for number, (sentence, found) in enumerate(zip(some, answers, strict=True)):
                spans = tuple(found if probabilities else (replace(span, probability=None) for span in found))
                layers = {**sentence.layers, self.target: flat_tags(spans, len(sentence))}
                if tags is not None:
                    layers[POS] = tuple(tags[number])
                yield replace(sentence, layers=layers, spans=spans)

    def scores(self, sentences: Sequence[Any], gold: Sequence[Sequence[Span]] | None = None) -> NestedScores:
        """Precision, recall and F1 of all entities, of the outermost and of the inner ones."""
        corpus = labelled(as_sentences(sentences), gold, _with_spans, "gold")
        return nested_scores([self.entities(s) for s in corpus], self.predict(corpus))

    def score(self, sentences: Sequence[Any], gold: Sequence[Sequence[Span]] | None = None) -> float:
        """F1 of all entities, in percent."""
        return self.scores(sentences, gold).all.f1

    # files

    def save(self, path: str | Path, *, half: bool = False, card: dict[str, Any] | None = None) -> None:
        """Write the model to one file; ``half`` stores weights in half precision."""
        model = self._model()
        header = model.header()
        settings = self.get_params() | {
            "features": header["features"]["name"], "resources": {}, "ignore": list(self.ignore),
        }  # fmt: skip
        del settings["threads"]  # no part of the model: the same data gives the same file on any number of cores
        about = {"kind": self.kind, "dovetail": __version__, "settings": settings, "card": self.card_ | (card or {})}
        save_model(path, about | header, model.arrays(half))

    @classmethod
    def load(cls, path: str | Path, functions: Sequence[Callable[..., Any]] = ()) -> NestedTagger:
        """Read a model file. Python functions that served as templates are given again, by the same names."""
        header, arrays = load_model(path, cls.kind)
        try:
            known = {f.name for f in fields(cls) if f.init}
            tagger = cls(**{k: v for k, v in header["settings"].items() if k in known})
            tagger.model_ = NestedModel.from_file(header, arrays, [call(f) for f in functions])
        except (LookupError, ValueError, TypeError, AttributeError, ArithmeticError) as error:
            raise ModelFileError(f"{path}: the model does not fit together ({error}); train it again") from None
        tagger.card_ = header.get("card", {})
        return tagger

    def _layers_read(self) -> tuple[str, ...]:
        return tuple(layer for layer in self._model().features.columns if layer != "word")

    def _model(self) -> NestedModel:
        if self.model_ is None:
            raise DovetailError("this tagger is not trained: call fit, or load a model")
        return self.model_


def _with_spans(sentence: Sentence, spans: Sequence[Span]) -> Sentence:
    if any(not 0 <= span.start < span.end <= len(sentence) for span in spans):
        raise ValueError(f"a span does not lie in a sentence of {len(sentence)} words")
    return replace(sentence, spans=tuple(spans))
