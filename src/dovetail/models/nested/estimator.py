"""NestedTagger: entities within entities, with a probability for every one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dovetail.errors import DovetailError
from dovetail.evaluate.nested import NestedScores, nested_scores
from dovetail.features.algebra.nested_sets import TAG_LINES, nested_features
from dovetail.modelfile import Arrays
from dovetail.models.answer import Answer
from dovetail.models.base import Estimator
from dovetail.models.inputs import as_sentences, check_probability, labelled
from dovetail.models.nested.gold import as_tree
from dovetail.models.nested.model import NestedModel, NestedTraining, nested_training, spans_of
from dovetail.models.nested.settings import NestedSettings
from dovetail.models.nested.tuning import COARSE_THRESHOLDS, calibrated, threshold_scores, tuned
from dovetail.models.segmenter.model import length_bound
from dovetail.models.tagger.estimator import usable
from dovetail.models.training import Run
from dovetail.scorers.compiled import PartSettings
from dovetail.structures.nested import LONGEST, NestedBatch, NestedSegments
from dovetail.text.sentence import Sentence, Span
from dovetail.text.spans import flat_tags

DEFAULT_GAIN = 0.05
POS = "pos"
PHRASES = 10  # tokens: the longest entities that are looked at as phrases


@dataclass(kw_only=True, eq=False)
class NestedTagger(NestedSettings, Estimator):
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
        if not any(map(len, kept)):
            raise DovetailError("the training data has no tokens; check the file and its format")
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
        return nested_training(
            model,
            self._learn_layers(features, corpus, run.doing),
            trees,
            self._tags(corpus),
            settings=PartSettings(self.min_count, self.hash_bits, threads=self._threads()),
            loss=self._loss(),
            l2=self.l2,
            l1=self.l1,
        )

    def entities(self, sentence: Sentence) -> tuple[Span, ...]:
        """The entities that a sentence is given with: its spans, or what its layer ``target`` spells."""
        return sentence.spans or sentence.entities(self.target)

    @property
    def _longest(self) -> int:
        return self.longest or LONGEST

    def features_for(self, corpus: Sequence[Sentence]) -> Any:
        """The feature set, less what reads layers to ignore, or layers that a named set wants and no sentence has."""
        found = nested_features(self.features, self.resources, more=TAG_LINES if self.pos == "joint" else ())
        return usable(found, corpus, {self.target, *self.ignore, *([POS] if self.pos == "joint" else [])})

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

    def _dev_scorer(self, training: NestedTraining, held_out: list[Sentence]) -> Callable[[NDArray[np.float64]], float]:
        reader, gold = training.reader(held_out), [self.entities(s) for s in held_out]
        model = training.model
        thresholds = COARSE_THRESHOLDS if self.balance else (0.4,)

        def dev_score(weight: NDArray[np.float64]) -> float:
            batch = reader.batch(weight)
            found = spans_of(batch.segments if model.tags else batch, model.labels, min(thresholds))
            return max(threshold_scores(found, gold, thresholds, model.flat))

        return dev_score

    def _tuned(self, model: NestedModel, held_out: list[Sentence], training: Any) -> NestedModel:
        gold, threads = [self.entities(s) for s in held_out], self._threads()
        if self.calibrate:
            trees = [as_tree(spans, self._longest, Counter()) for spans in gold]
            model = calibrated(model, held_out, trees, threads)
        if self.agree or self.balance:
            model = tuned(model, held_out, gold, self.agree, self.balance, threads)
        return model

    # answers

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
            for sentence, spans in zip(some, find(self._model().segments(some, self._threads()), some), strict=True)
        ]

    def _kbest(self, sentences: list[Sentence], k: int) -> Iterator[list[Answer]]:
        batch = self._model().segments(sentences, self._threads())
        found, scores = batch.kbest(k)
        probability = np.exp(scores - batch.log_partition()[:, None]).tolist()
        ranked = [self._spans_in(each) for each in found]
        for i, sentence in enumerate(sentences):
            there = [j for j in range(len(found)) if scores[i, j] > -np.inf]
            yield [self._answer(ranked[j][i], len(sentence), probability[i][j]) for j in there]

    def _sample(self, sentences: list[Sentence], n: int, rng: np.random.Generator) -> Iterator[list[Answer]]:
        batch = self._model().segments(sentences, self._threads())
        drawn = [self._spans_in(each) for each in batch.sample(n, rng)]
        for i, sentence in enumerate(sentences):
            yield [self._answer(each[i], len(sentence)) for each in drawn]

    def _spans_in(self, segments: NestedSegments) -> list[list[Span]]:
        names = [self.classes_[x] for x in segments.label.tolist()]
        flat = list(map(Span, segments.start.tolist(), segments.end.tolist(), names))
        return [flat[a:b] for a, b in pairwise(segments.offsets.tolist())]

    def _answer(self, spans: Sequence[Span], tokens: int, probability: float | None = None) -> Answer:
        return Answer({self.target: flat_tags(spans, tokens)}, tuple(spans), probability=probability)

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
        corpus = labelled(as_sentences(sentences), gold, _with_spans, "gold")
        return nested_scores([self.entities(s) for s in corpus], self.predict(corpus))

    def score(self, X: Sequence[Any], y: Sequence[Sequence[Span]] | None = None) -> float:
        """F1 of all entities, in percent."""
        return self.scores(X, y).all.f1

    def _stored_settings(self) -> dict[str, Any]:
        return super()._stored_settings() | {"features": self._model().features.name}

    def _unpack(self, header: dict[str, Any], arrays: Arrays, functions: Sequence[Any]) -> None:
        self.model_ = NestedModel.from_file(header, arrays, functions)

    def _layers_read(self) -> tuple[str, ...]:
        return tuple(layer for layer in self._model().features.columns if layer != "word")


def _with_spans(sentence: Sentence, spans: Sequence[Span]) -> Sentence:
    if any(not 0 <= span.start < span.end <= len(sentence) for span in spans):
        raise ValueError(f"a span does not lie in a sentence of {len(sentence)} words")
    return replace(sentence, spans=tuple(spans))
