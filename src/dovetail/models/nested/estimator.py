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
from dovetail.learning.tuning import calibration_of, smoothed
from dovetail.modelfile import Arrays
from dovetail.models.answer import Answer, Each, probable
from dovetail.models.base import Estimator
from dovetail.models.choices import Held, f1_of, summed
from dovetail.models.folds import parts_of
from dovetail.models.inputs import as_sentences, check_examples, check_probability, labelled
from dovetail.models.linear.estimator import LinearEstimator
from dovetail.models.nested.agreement import LEAST, agreed
from dovetail.models.nested.gold import as_tree
from dovetail.models.nested.model import NestedModel, NestedTraining, consistent, nested_training, spans_of
from dovetail.models.nested.settings import NestedSettings
from dovetail.models.segmenter.model import Spans, length_bound
from dovetail.models.training import Run
from dovetail.structures.contract import Floats, Integers
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

    def check_settings(self) -> None:
        """As for any model; parts of speech that are found beside entities have no noise."""
        super().check_settings()
        if self.noise is not None and self.pos == "joint":
            raise DovetailError(f"noise={self.noise!r} is for models of entities alone: leave out pos='joint'")

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
        if self.optimiser not in ("sgd", "adagrad", "adam"):
            return super()._optimiser(training)
        usual = replace(self, gain=self.gain or DEFAULT_GAIN, iterations=self.iterations or 15)
        return Estimator._optimiser(usual, training)

    def _dev_counter(self, training: NestedTraining, held_out: list[Sentence]) -> Callable[[Floats], Integers]:
        training.dev, gold = training.dev_scorer(held_out), [self.entities(s) for s in held_out]
        model = training.model
        thresholds = COARSE_THRESHOLDS if self.balance else (0.4,)

        def counts(weight: Floats) -> Integers:
            found = spans_of(training.dev(weight), model.labels, min(thresholds))
            return threshold_counts(found, gold, thresholds, model.flat)

        return counts

    def _answered(self, held_out: list[Sentence]) -> tuple[Sequence[Sentence], Sequence[Any]]:
        return held_out, [as_tree(self.entities(s), self._longest, Counter()) for s in held_out]

    def _tuned(self, model: NestedModel, held_out: list[Sentence], training: Any) -> NestedModel:
        (factor, *rest), _ = self._nested_choice([Held(model, held_out, training.held_out())], model)
        training.tuned = training.held_out().scaled(factor)
        return self._applied(model, (factor, *rest))

    def _choice(self, held: Sequence[Held], model: Any) -> tuple[Any, float]:
        return self._nested_choice(held, model)

    def _applied(self, model: NestedModel, choice: Any) -> NestedModel:
        factor, agreement, threshold = choice
        return replace(model, factor=factor, agreement=agreement, threshold=threshold)

    def _parts(self, training: Any, sentences: int) -> tuple[int, int]:
        return parts_of(self.cross_validate, sentences)

    def _nested_choice(self, held: Sequence[Held], model: NestedModel) -> tuple[tuple[float, float, float], float]:
        """The factor of all potentials, and the strength of agreement and the threshold that then score best together.

        With their score. Of equal ones, the least agreement and the threshold nearest to a half. Scores are smoothed
        over neighbouring thresholds, for less luck in the choice.
        """
        gold = [[self.entities(s) for s in h.sentences] for h in held]
        factor = model.factor
        if self.calibrate:
            trees = [[as_tree(spans, self._longest, Counter()) for spans in own] for own in gold]
            known = (h.model.known(h.seen, h.sentences, own) for h, own in zip(held, trees, strict=True))
            factor = calibration_of(one for each in known for one in each)
        found = [spans_of(h.seen.scaled(factor), h.model.labels, LEAST) for h in held]
        thresholds = THRESHOLDS.tolist() if self.balance else [model.threshold]
        there = self.agree and any(s.document is not None for h in held for s in h.sentences)
        best = (-1.0, 0.0, 0.0, (factor, model.agreement, model.threshold), 0.0)
        for strength in STRENGTHS if there else (0.0,):
            counts = []
            for h, own, right in zip(held, found, gold, strict=True):
                spans = agreed(h.sentences, own, strength) if strength else own
                counts.append(threshold_counts(spans, right, thresholds, h.model.flat))
            scores = [f1_of(each) for each in summed(counts)]
            smooth = np.round(smoothed(scores), 9).tolist()
            for rank, score, threshold in zip(smooth, scores, thresholds, strict=True):
                made = (rank, -strength, -abs(threshold - 0.5), (factor, strength, threshold), score)
                best = max(best, made, key=lambda each: each[:3])
        return best[3], best[4]

    def _held_out_score(self, held_out: list[Any], training: Any) -> float:
        found = self._model().answer(training.tuned, held_out)
        return nested_scores([self.entities(s) for s in held_out], found).all.f1

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
        return Each(self._located(X, model.answer))

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

    def _part_counts(self, held_out: list[Any]) -> Any:
        found = self.scores(held_out).all
        return found.gold, found.predicted, found.correct

    def score(self, X: Sequence[Any], y: Sequence[Sequence[Span]] | None = None) -> float:
        """F1 of all entities, in percent."""
        return self.scores(X, y).all.f1

    def _unpack(self, header: dict[str, Any], arrays: Arrays, functions: Sequence[Any]) -> None:
        self.model_ = NestedModel.from_file(header, arrays, functions)


def threshold_counts(found: Spans, gold: Spans, thresholds: Sequence[float], flat: bool) -> Integers:
    """Entities there are, found and right, at each of some thresholds of the probable ones: [thresholds, 3]."""

    def counts(threshold: float) -> list[int]:
        scores = entity_scores(gold, [consistent(probable(spans, threshold), flat) for spans in found])
        return [scores.gold, scores.predicted, scores.correct]

    return np.array([counts(threshold) for threshold in thresholds])


def _with_spans(sentence: Sentence, spans: Sequence[Span]) -> Sentence:
    if any(not 0 <= span.start < span.end <= len(sentence) for span in spans):
        raise ValueError(f"a span does not lie in a sentence of {len(sentence)} words")
    return replace(sentence, spans=tuple(spans))
