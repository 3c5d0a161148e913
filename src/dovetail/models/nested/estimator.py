"""NestedTagger: entities within entities, with a probability for every one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from dovetail.errors import DovetailError
from dovetail.evaluate.entities import entity_scores
from dovetail.evaluate.nested import NestedScores, nested_scores
from dovetail.features.algebra.nested_sets import TAG_LINES, nested_features
from dovetail.learning.tuning import smoothed
from dovetail.modelfile import Arrays
from dovetail.models.answer import Answer, probable
from dovetail.models.base import Estimator
from dovetail.models.inputs import as_sentences, check_examples, check_probability, labelled
from dovetail.models.linear import LinearEstimator
from dovetail.models.nested.agreement import LEAST, agreed
from dovetail.models.nested.gold import as_tree
from dovetail.models.nested.model import NestedModel, NestedTraining, consistent, nested_training, spans_of
from dovetail.models.nested.settings import NestedSettings
from dovetail.models.segmenter.model import Spans, length_bound
from dovetail.models.training import Run
from dovetail.structures.contract import Floats
from dovetail.structures.nested import LONGEST, NestedBatch, NestedSegments
from dovetail.text.sentence import Sentence, Span
from dovetail.text.spans import flat_tags

DEFAULT_GAIN = 0.05
POS = "pos"
COARSE_THRESHOLDS = (0.5, 0.4, 0.3)  # tried while training, to choose weights that will score well when balanced
THRESHOLDS = np.round(np.arange(0.2, 0.601, 0.025), 3)  # how probable an entity may have to be
STRENGTHS = (0.0, 0.1, 0.2, 0.3, 0.4)  # of agreement within a document
PHRASES = 10  # tokens: the longest entities that are looked at as phrases


@dataclass(kw_only=True, eq=False)
class NestedTagger(NestedSettings, LinearEstimator):
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
    batch_size: ClassVar[int] = 20_000

    model_: NestedModel | None = field(default=None, init=False, repr=False)

    @property
    def classes_(self) -> tuple[str, ...]:
        """The labels of entities."""
        labels: tuple[str, ...] = self._model().labels
        return labels

    # training

    def _examples(self, given: Any, answers: Sequence[Sequence[Span]] | None, what: str) -> list[Sentence]:
        """Sentences with their entities; of training sentences, those that are not too long."""
        corpus = labelled(as_sentences(given), answers, _with_spans, what)
        if what != "training":
            return corpus
        kept = [s for s in corpus if self.max_length is None or len(s) <= self.max_length]
        check_examples(kept, None, what)
        self.card_["too_long"] = len(corpus) - len(kept)
        return kept

    def _prepare(self, corpus: list[Sentence], held_out: list[Sentence] | None, run: Run) -> NestedTraining:
        """Entities that no tree can hold are left out, and counted by reason in the card.

        Of two that cross, the shorter; of three over the same words, the third.
        """
        left_out: Counter[str] = Counter()
        trees = [as_tree(self.entities(s), self._longest, left_out) for s in corpus]
        self.card_ |= {"entities": sum(map(len, trees)), "left_out": dict(left_out)}
        labels = tuple(sorted({span.label for tree in trees for span in tree}))
        if not labels:
            raise DovetailError(
                f"no training sentence has an entity, neither in its spans nor in its layer {self.target!r}"
            )
        phrases = min(length_bound(trees), PHRASES)
        features = self.features_for(corpus)
        model = NestedModel(features, {}, {}, labels, phrases, self._longest)
        text, tags = self._learn_layers(features, corpus, run.doing), self._tags(corpus)
        return nested_training(model, text, trees, tags, **self._how(self.min_count))

    def entities(self, sentence: Sentence) -> tuple[Span, ...]:
        """The entities that a sentence is given with: its spans, or what its layer ``target`` spells."""
        return sentence.spans or sentence.entities(self.target)

    @property
    def _longest(self) -> int:
        return self.longest or LONGEST

    def features_for(self, corpus: Sequence[Sentence]) -> Any:
        """The feature set, less what reads layers to ignore, or layers that a named set wants and no sentence has."""
        found = nested_features(self.features, self.resources, more=TAG_LINES if self.pos == "joint" else ())
        return self._usable(found, corpus, {self.target, *([POS] if self.pos == "joint" else [])})

    def _tags(self, corpus: Sequence[Sentence]) -> list[tuple[str, ...]] | None:
        """The parts of speech to learn, None for none."""
        if self.pos != "joint":
            return None
        for number, sentence in enumerate(corpus, 1):
            if len(sentence) and POS not in sentence.layers:
                raise DovetailError(f"training sentence {number} has no layer {POS!r}, and pos='joint' learns it")
        return [sentence.layers.get(POS, ()) for sentence in corpus]

    def _optimiser(self, training: Any = None) -> Any:
        if self.optimiser in ("lbfgs", "perceptron"):
            return super()._optimiser(training)
        usual = replace(self, gain=self.gain or DEFAULT_GAIN, iterations=self.iterations or 15)
        return Estimator._optimiser(usual, training)

    def _dev_scorer(self, training: NestedTraining, held_out: list[Sentence]) -> Callable[[Floats], float]:
        training.dev, gold = training.dev_scorer(held_out), [self.entities(s) for s in held_out]
        model = training.model
        thresholds = COARSE_THRESHOLDS if self.balance else (0.4,)

        def dev_score(weight: Floats) -> float:
            found = spans_of(training.dev(weight), model.labels, min(thresholds))
            return max(threshold_scores(found, gold, thresholds, model.flat))

        return dev_score

    def _tuned(self, model: NestedModel, held_out: list[Sentence], training: Any) -> NestedModel:
        gold, batch = [self.entities(s) for s in held_out], training.held_out()
        if self.calibrate:
            trees = [as_tree(spans, self._longest, Counter()) for spans in gold]
            model = replace(model, factor=model.calibration(batch, held_out, trees))
        training.tuned = batch.scaled(model.factor)
        return self._agreeing_spans(model, training.tuned, held_out, gold) if self.agree or self.balance else model

    def _held_out_score(self, held_out: list[Any], training: Any) -> float:
        found = self._model().answer(training.tuned, held_out)
        return nested_scores([self.entities(s) for s in held_out], found).all.f1

    def _agreeing_spans(
        self, model: NestedModel, batch: NestedBatch, held_out: list[Sentence], gold: Spans
    ) -> NestedModel:
        """The model with the strength of agreement and the threshold that score best together.

        Of equal ones, the least agreement and the threshold nearest to a half. Scores are smoothed over neighbouring
        thresholds, for less luck in the choice.
        """
        found = spans_of(batch, model.labels, LEAST)
        thresholds = THRESHOLDS.tolist() if self.balance else [model.threshold]
        best = (-1.0, 0.0, 0.0, model)
        for strength in STRENGTHS if self.agree and any(s.document is not None for s in held_out) else (0.0,):
            spans = agreed(held_out, found, strength) if strength else found
            scores = threshold_scores(spans, gold, thresholds, model.flat)
            for score, threshold in zip(np.round(smoothed(scores), 9).tolist(), thresholds, strict=True):
                made = replace(model, agreement=strength, threshold=threshold)
                best = max(best, (score, -strength, -abs(threshold - 0.5), made), key=lambda each: each[:3])
        return best[3]

    # answers

    @property
    def writes(self) -> tuple[str, ...]:
        """The target layer and the entities, with nested ones."""
        return (self.target, "spans")

    def predict(self, X: Iterable[Any], threshold: float | None = None) -> list[list[Span]]:
        """The entities of every sentence with their exact probabilities, each before those within it.

        An entity is answered if it is probable enough (see ``balance``), or at least as probable as ``threshold``. Of
        two that cross, which cannot both be right, the more probable one is answered.
        """
        if threshold is not None:
            check_probability("threshold", threshold)
        model = self._model() if threshold is None else replace(self._model(), threshold=threshold)
        return self._located(X, model.answer)

    def predict_marginals(self, X: Iterable[Any], least: float = 0.01) -> list[list[Span]]:
        """Every entity with a probability of at least ``least``, whether it is answered or not."""
        check_probability("least", least)
        return self._located(X, lambda batch, some: self._model().probable(batch, some, least))

    def _located(self, given: Iterable[Any], find: Callable[[NestedBatch, list[Sentence]], Any]) -> list[list[Span]]:
        """What is found in the nested segmentations of sentences, as spans that know their text."""
        return [
            list(sentence.located(spans))
            for some in self._batches(as_sentences(given))
            for sentence, spans in zip(some, find(self._batch(some), some), strict=True)
        ]

    def _decoded(self, batch: NestedBatch, found: NestedSegments, sentences: Sequence[Sentence]) -> list[Answer]:
        names = [self.classes_[x] for x in found.label.tolist()]
        flat = list(map(Span, found.start.tolist(), found.end.tolist(), names))
        spans = [flat[a:b] for a, b in pairwise(found.offsets.tolist())]
        return list(map(self._answer, spans, map(len, sentences)))

    def _answer(self, spans: Sequence[Span], tokens: int) -> Answer:
        return Answer({self.target: flat_tags(spans, tokens)}, tuple(spans))

    def _answers(self, sentences: list[Sentence], probabilities: bool) -> Iterator[Answer]:
        """Entities in ``spans``, the outermost as tags in the target layer; where tags are found too, those."""
        model = self._model()
        batch, tagged = model.read(sentences, self._threads())
        found = model.answer(batch, sentences)
        tags = model.best_tags(tagged, found) if tagged is not None else None
        for number, (sentence, spans) in enumerate(zip(sentences, found, strict=True)):
            own = spans if probabilities else [replace(span, probability=None) for span in spans]
            answer = self._answer(own, len(sentence))
            yield answer if tags is None else replace(answer, layers={**answer.layers, POS: tags[number]})

    def scores(self, sentences: Sequence[Any], gold: Sequence[Sequence[Span]] | None = None) -> NestedScores:
        """Precision, recall and F1 of all entities, of the outermost and of the inner ones."""
        corpus = self._examples(sentences, gold, "gold")
        return nested_scores([self.entities(s) for s in corpus], self.predict(corpus))

    def score(self, X: Sequence[Any], y: Sequence[Sequence[Span]] | None = None) -> float:
        """F1 of all entities, in percent."""
        return self.scores(X, y).all.f1

    def _unpack(self, header: dict[str, Any], arrays: Arrays, functions: Sequence[Any]) -> None:
        self.model_ = NestedModel.from_file(header, arrays, functions)


def threshold_scores(found: Spans, gold: Spans, thresholds: Sequence[float], flat: bool) -> list[float]:
    """F1 of all entities in percent, at each of some thresholds of the probable ones."""

    def f1(threshold: float) -> float:
        answers = [consistent(probable(spans, threshold), flat) for spans in found]
        return entity_scores(gold, answers).f1

    return [f1(threshold) for threshold in thresholds]


def _with_spans(sentence: Sentence, spans: Sequence[Span]) -> Sentence:
    if any(not 0 <= span.start < span.end <= len(sentence) for span in spans):
        raise ValueError(f"a span does not lie in a sentence of {len(sentence)} words")
    return replace(sentence, spans=tuple(spans))
