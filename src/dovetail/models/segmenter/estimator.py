"""Segmenter: words in text without spaces, or named entities as segments, with a probability for every segment."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dovetail.errors import DovetailError
from dovetail.evaluate.words import WordScores, word_scores
from dovetail.features.algebra.sets import chain_features
from dovetail.features.algebra.span_sets import span_features
from dovetail.features.compile import hashing
from dovetail.modelfile import Arrays
from dovetail.models.answer import Answer
from dovetail.models.base import Estimator
from dovetail.models.inputs import as_sentences, as_texts, check_probability, check_tags, labelled, purpose
from dovetail.models.segmenter.chain import ChainSegments, SpelledTraining
from dovetail.models.segmenter.model import OUTSIDE, SegmentModel, length_bound, segment_training, too_long
from dovetail.models.segmenter.settings import SegmenterSettings
from dovetail.models.segmenter.tuning import balanced, segment_counts, segment_f1
from dovetail.models.settings import check_choice
from dovetail.models.tagger.estimator import usable
from dovetail.models.tagger.explain import Explanation, explain_token
from dovetail.models.tagger.tuning import COARSE_BALANCES
from dovetail.models.training import Run
from dovetail.scorers.compiled import PartSettings
from dovetail.structures.semimarkov import Segments
from dovetail.text.given import as_sentence
from dovetail.text.segment import segment
from dovetail.text.sentence import Document, Sentence, Span
from dovetail.text.spans import flat_tags
from dovetail.text.tags import spans_to_tags
from dovetail.text.words import WORD, character_sentence, half_width, word_spans

DEFAULT_FEATURES = {
    ("markov", True): "words",
    ("markov", False): "ner",
    ("semi-markov", True): "words-spans",
    ("semi-markov", False): "ner-spans",
}


@dataclass(kw_only=True, eq=False)
class Segmenter(SegmenterSettings, Estimator):
    """A conditional model of segments: words as runs of characters, or entities as runs of words.

    Without a ``target`` it learns words: ``fit`` takes sentences as lists of words, ``predict`` takes texts without
    spaces. With one it learns the segments that a layer of tags spells, and ``fit`` and ``predict`` take sentences.

    >>> train = [["北京", "人", "爱", "北京"], ["人", "爱", "人"], ["北京", "爱", "人"]] * 5
    >>> segmenter = Segmenter(l2=0.01).fit(train)
    >>> segmenter.predict(["人爱北京"])
    [['人', '爱', '北京']]
    """

    kind: ClassVar[str] = "segmenter"
    batch_size: ClassVar[int] = 50_000

    model_: ChainSegments | SegmentModel | None = field(default=None, init=False, repr=False)
    vocabulary_: NDArray[np.uint64] | None = field(default=None, init=False, repr=False)

    @property
    def words(self) -> bool:
        """Whether segments are words of a text without spaces."""
        return self.target is None

    @property
    def family(self) -> str:
        """The model that is meant: markov or semi-markov."""
        return self.model or ("markov" if self.words else "semi-markov")

    @property
    def classes_(self) -> tuple[str, ...]:
        """The labels of segments."""
        return tuple(label for label in self._model().labels if label != "O")

    # training

    def _examples(self, given: Any, answers: Sequence[Sequence[str]] | None, what: str) -> list[Sentence]:
        """Sentences with what is to be learnt: the words of each text, or the tags of each sentence."""
        if answers is None:
            corpus = as_sentences(given)
        elif self.words:
            corpus = labelled([Sentence((text,)) for text in as_texts(given)], answers, _cut_so, what)
        else:
            check_tags(answers, what)
            corpus = labelled(as_sentences(given), answers, self._tagged, what)
        for number, sentence in enumerate(corpus if not self.words else (), 1):
            if len(sentence) and self.target not in sentence.layers:
                has = ", ".join(["word", *sentence.layers])
                raise DovetailError(
                    f"{what} sentence {number} has no layer {self.target!r} {purpose(what)} (it has {has}); "
                    f"name the right one as target"
                )
        if what == "training" and not any(map(len, corpus)):
            raise DovetailError("the training data has no tokens; check the file and its format")
        return corpus

    def _tagged(self, sentence: Sentence, tags: Sequence[str]) -> Sentence:
        assert self.target is not None
        return sentence.with_layer(self.target, tuple(tags))

    def _segments(self, corpus: Sequence[Sentence]) -> tuple[list[Sentence], list[list[Span]]]:
        """Sentences of tokens, and the segments of each."""
        if self.target is not None:
            return list(corpus), [list(sentence.entities(self.target)) for sentence in corpus]
        texts = [self._characters("".join(sentence.words)) for sentence in corpus]
        return texts, [word_spans(sentence.words) for sentence in corpus]

    def _finish(self, corpus: list[Sentence], run: Run) -> None:
        self.vocabulary_ = self._vocabulary(corpus) if self.words else None

    def _prepare(self, corpus: list[Sentence], held_out: list[Sentence] | None, run: Run) -> Any:
        """The training of either family; a semi-Markov model leaves out sentences with a segment beyond the bound."""
        sentences, spans = self._segments(corpus)
        self.card_ |= {"tokens": sum(map(len, sentences)), "segments": sum(map(len, spans)), "left_out": 0}
        how: dict[str, Any] = {
            "loss": self._loss(), "l2": self.l2, "l1": self.l1,
            "settings": PartSettings(
                self.min_count or (1 if self.words else 2), self.hash_bits, threads=self._threads()
            ),
        }  # fmt: skip
        features = self.features_for(sentences)
        if not self.words:  # characters have all their layers from themselves
            sentences = self._learn_layers(features, sentences, run.doing)
        if self.family == "markov":
            return SpelledTraining.prepare(sentences, spans, features, self.scheme, self.words, self.order, **how)
        longest = self.longest or length_bound(spans)
        long = too_long(spans, longest)
        self.card_["left_out"] = int(long.sum())
        kept = np.flatnonzero(~long)
        if not len(kept):
            raise DovetailError(f"every training sentence has a segment of more than {longest} tokens; raise longest")
        labels = (WORD,) if self.words else ("O", *sorted({span.label for each in spans for span in each}))
        lengths = np.array([1 if label == OUTSIDE else longest for label in labels], dtype=np.int32)
        order = 0 if self.words else self.order  # one label has nothing to say of its neighbour
        model = SegmentModel(features, {}, {}, labels, lengths, order)
        return segment_training(model, [sentences[i] for i in kept], [spans[i] for i in kept], **how)

    def features_for(self, corpus: Sequence[Sentence]) -> Any:
        """The feature set, less what reads layers that a named set wants and no sentence has."""
        given = self.features if self.features is not None else DEFAULT_FEATURES[self.family, self.words]
        make = chain_features if self.family == "markov" else span_features
        return usable(make(given, self.resources), corpus, {self.target or "", *self.ignore})

    def _dev_scorer(self, training: Any, held_out: list[Sentence]) -> Callable[[NDArray[np.float64]], float]:
        dev, gold = self._segments(held_out)
        answers, labels = training.answers(dev), self._labels_of(training)
        biases = COARSE_BALANCES if self.balance and not self.words else (0.0,)
        return lambda weight: max(segment_f1(gold, dev, answers(weight, bias), labels) for bias in biases)

    @staticmethod
    def _labels_of(training: Any) -> tuple[str, ...]:
        model = training.model
        labels: tuple[str, ...] = model.labels if isinstance(model, SegmentModel) else ChainSegments(model).labels
        return labels

    def _tuned(self, model: Any, held_out: list[Sentence], training: Any) -> Any:
        dev, gold = self._segments(held_out)
        if self.calibrate:
            model = model.calibrated(dev, gold, self._threads())
        if self.balance and not self.words:
            model = balanced(model, dev, gold, self._threads())
        return model

    def check_settings(self) -> None:
        """As for any model; whole segments see one label before them at most."""
        super().check_settings()
        if self.family == "semi-markov":
            check_choice("order", self.order, (0, 1))

    def _vocabulary(self, sentences: Iterable[Sentence]) -> NDArray[np.uint64]:
        return np.unique(self._word_keys([word for sentence in sentences for word in sentence.words]))

    def _word_keys(self, words: Sequence[str]) -> NDArray[np.uint64]:
        return hashing.string_keys([half_width(word) for word in words] if self.normalise_width else words)

    # answers

    def predict(self, X: Iterable[Any]) -> list[list[str]]:
        """The words of every text, or the IOB2 tags of every sentence.

        White space in a text always separates words, and belongs to none.
        """
        if self.words:
            return [words for some in self._batches(as_texts(X)) for words in self._cut(some)]
        return [
            spans_to_tags([(s.start, s.end, s.label) for s in spans], len(sentence))
            for some in self._batches(as_sentences(X))
            for sentence, spans in zip(some, self._spans(some, False), strict=True)
        ]

    def _cut(self, texts: Sequence[str]) -> list[list[str]]:
        """The words of texts, each stretch without white space by itself."""
        stretches = [text.split() for text in texts]
        flat = [stretch for each in stretches for stretch in each]
        model = self._model()
        batch = model.batch([self._characters(stretch) for stretch in flat], self._threads())
        starts = model.best(batch).start
        whole = "".join(flat)
        words = [whole[a:b] for a, b in pairwise([*starts.tolist(), len(whole)])]
        # A stretch begins with a word, so the words of a text are those that start before its last character.
        ends = np.cumsum([sum(map(len, each)) for each in stretches])
        edges = [0, *np.searchsorted(starts, ends).tolist()]
        return [words[a:b] for a, b in pairwise(edges)]

    def _characters(self, text: str) -> Sentence:
        return character_sentence(text, self.normalise_width)

    def predict_entities(self, sentences: Iterable[Any], threshold: float = 0.0) -> list[list[Span]]:
        """The segments of the best segmentation, each with the exact probability that it is one, of just this label.

        Of words, the spans count characters of the text without its white space.
        """
        check_probability("threshold", threshold)
        if self.words:
            found = [spans for some in self._batches(as_texts(sentences)) for spans in self._placed(some)]
        else:
            found = [spans for some in self._batches(as_sentences(sentences)) for spans in self._spans(some, True)]
        return [[s for s in spans if (s.probability or 0.0) >= threshold] for spans in found]

    def predict_marginals(self, X: Iterable[Any], least: float = 0.01) -> list[list[Span]]:
        """Every segment with a probability of at least ``least``, whether it is answered or not."""
        check_probability("least", least)
        model = self._model()
        return [
            list(sentence.located(sorted(spans, key=lambda s: (s.start, -s.end))))
            for some in self._batches(self._tokens(X))
            for sentence, spans in zip(some, model.probable(model.batch(some, self._threads()), least), strict=True)
        ]

    def _placed(self, texts: Sequence[str]) -> list[list[Span]]:
        """The words of texts as spans of characters, the white space left out."""
        stretches = [text.split() for text in texts]
        spans = iter(self._spans([self._characters(stretch) for each in stretches for stretch in each], True))
        result = []
        for each in stretches:
            found, shift = [], 0
            for stretch in each:
                found += [replace(s, start=s.start + shift, end=s.end + shift) for s in next(spans)]
                shift += len(stretch)
            result.append(found)
        return result

    def _spans(self, sentences: Sequence[Sentence], probabilities: bool) -> list[list[Span]]:
        model = self._model()
        batch = model.batch(sentences, self._threads())
        segments = model.best(batch)
        chance = model.probabilities(batch, segments) if probabilities else None
        return self._of(segments, batch.offsets, chance)

    def _of(
        self, segments: Segments, offsets: NDArray[np.int64], chance: NDArray[np.float64] | None = None
    ) -> list[list[Span]]:
        """Segments of a batch as spans of sentences, those of O left out."""
        start = segments.start - np.repeat(offsets[:-1], np.diff(segments.offsets))
        names = [self._model().labels[label] for label in segments.label.tolist()]
        odds: list[float | None] = [None] * len(names) if chance is None else chance.tolist()
        flat = list(map(Span, start.tolist(), (start + segments.length).tolist(), names, odds))
        return [[span for span in flat[a:b] if span.label != "O"] for a, b in pairwise(segments.offsets.tolist())]

    def _answers(self, sentences: list[Sentence], probabilities: bool) -> Iterator[Answer]:
        """Segments in the target layer, with probabilities; of words, what the stretches of a sentence are cut into."""
        if self.words:
            cut = iter(self._cut([word for sentence in sentences for word in sentence.words]))
            for sentence in sentences:
                yield Answer(words=tuple(word for _ in sentence.words for word in next(cut)))
            return
        for sentence, spans in zip(sentences, self._spans(sentences, probabilities), strict=True):
            yield self._answer(spans, len(sentence))

    def _answer(self, spans: Sequence[Span], tokens: int, probability: float | None = None) -> Answer:
        layers = {} if self.target is None else {self.target: flat_tags(spans, tokens)}
        return Answer(layers, tuple(spans), probability=probability)

    def _kbest(self, sentences: list[Sentence], k: int) -> Iterator[list[Answer]]:
        model = self._model()
        batch = model.batch(sentences, self._threads())
        found, probability = model.kbest(batch, k)
        ranked = [self._of(segments, batch.offsets) for segments in found]
        for i, (sentence, odds) in enumerate(zip(sentences, probability.tolist(), strict=True)):
            yield [self._answer(ranked[j][i], len(sentence), odds[j]) for j in range(k) if odds[j] > 0]

    def _sample(self, sentences: list[Sentence], n: int, rng: np.random.Generator) -> Iterator[list[Answer]]:
        model = self._model()
        batch = model.batch(sentences, self._threads())
        drawn = [self._of(segments, batch.offsets) for segments in model.sample(batch, n, rng)]
        for i, sentence in enumerate(sentences):
            yield [self._answer(each[i], len(sentence)) for each in drawn]

    def _given(self, items: Any) -> Any:
        return as_texts(items) if self.words and not isinstance(items, str) else items

    def _read(self, text: str) -> Document:
        if not self.words:
            return super()._read(text)
        return Document(tuple(segment(text, lines="sentences", words="spaces")), text)

    def score(self, X: Sequence[Any], y: Sequence[Sequence[str]] | None = None) -> float:
        """F1 of segments in percent: of words, or of entities. ``y`` has the answers, as for ``fit``."""
        model, counts = self._model(), [(0, 0, 0)]
        for some in self._batches(self._examples(X, y, "gold")):
            sentences, gold = self._segments(some)
            segments = model.best(model.batch(sentences, self._threads()))
            counts.append(segment_counts(gold, sentences, segments, model.labels))
        right, found, correct = np.sum(counts, axis=0)
        return float(200.0 * correct / max(right + found, 1))

    def word_scores(self, sentences: Sequence[Any]) -> WordScores:
        """Precision, recall and F1 of words, and the recall of words that the training data lacks."""
        gold = [list(sentence.words) for sentence in as_sentences(sentences)]
        found = self.predict(["".join(words) for words in gold])
        return word_scores(gold, found, self.known({word for words in gold for word in words}))

    def known(self, words: Iterable[str]) -> set[str] | None:
        """Which of these words the training data has; None where segments are no words."""
        if self.vocabulary_ is None:
            return None
        listed = sorted(words)
        flags = np.isin(self._word_keys(listed), self.vocabulary_)
        return {word for word, flag in zip(listed, flags.tolist(), strict=True) if flag}

    def explain(self, sentence: Any, position: int) -> Explanation:
        """Why the token (of words: the character) at ``position`` has its tag; for markov only."""
        model = self._model()
        if not isinstance(model, ChainSegments):
            raise DovetailError("only tags can be explained, not the whole segments of a semi-Markov model")
        if self.words:
            text = sentence if isinstance(sentence, str) else "".join(as_sentence(sentence).words)
            one = self._characters("".join(text.split()))
        else:
            [one] = self._filled([as_sentence(sentence)])
        if not 0 <= position < len(one):
            raise DovetailError(f"position {position}: there are tokens 0 to {len(one) - 1}")
        return explain_token(model.model, one, position)

    # files

    def packed(self, half: bool = False) -> tuple[dict[str, Any], Arrays]:
        """The header and the arrays of a model file."""
        header, arrays = super().packed(half)
        return header, arrays if self.vocabulary_ is None else arrays | {"vocabulary": self.vocabulary_}

    def _stored_settings(self) -> dict[str, Any]:
        name = self._model().header()["features"]["name"]
        return super()._stored_settings() | {"model": self.family, "features": name}

    def _unpack(self, header: dict[str, Any], arrays: Arrays, functions: Sequence[Any]) -> None:
        family: Any = {"markov": ChainSegments, "semi-markov": SegmentModel}[self.family]
        self.model_ = family.from_file(header, arrays, functions)
        self.vocabulary_ = arrays.get("vocabulary")

    # inner workings

    def _layers_read(self) -> tuple[str, ...]:
        columns = () if self.words else self._model().features.columns
        return tuple(layer for layer in columns if layer != "word")

    def _tokens(self, sentences: Iterable[Any]) -> Iterator[Sentence]:
        """What the model sees: sentences of words, or of characters."""
        if not self.words:
            yield from as_sentences(sentences)
            return
        for text in as_texts(sentences):
            if text.split() != [text][: len(text)]:
                raise DovetailError("give texts without white space, which always separates words")
            yield self._characters(text)


def _cut_so(text: Sentence, words: Sequence[str]) -> Sentence:
    if "".join(words) != "".join(text.words[0].split()):
        raise ValueError(f"the words {' '.join(words)!r} do not make up the text {text.words[0]!r}")
    return as_sentence(words)
