"""Segmenter: words in text without spaces, or named entities as segments, with a probability for every segment."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dovetail.errors import DovetailError, ModelFileError
from dovetail.evaluate.words import WordScores, word_scores
from dovetail.features.algebra.span_sets import span_features
from dovetail.features.algebra.templates import call
from dovetail.features.algebra.word_sets import chain_features
from dovetail.features.compile import hashing
from dovetail.learning.checkpoint import Checkpoint
from dovetail.learning.monitor import Monitor, Progress
from dovetail.modelfile import load_model, save_model
from dovetail.models.base import Estimator, check_loss
from dovetail.models.batching import in_batches
from dovetail.models.inputs import (
    as_sentences,
    as_texts,
    check_count,
    check_probability,
    check_tags,
    labelled,
    purpose,
)
from dovetail.models.segmenter.chain import ChainSegments, ChainTraining
from dovetail.models.segmenter.model import SegmentModel
from dovetail.models.segmenter.settings import SegmenterSettings
from dovetail.models.segmenter.training import SegmentTraining, length_bound, too_long
from dovetail.models.segmenter.tuning import balanced, segment_counts, segment_f1
from dovetail.models.settings import check_choice
from dovetail.models.tagger.explain import Explanation, explain_token
from dovetail.models.tagger.tuning import COARSE_BALANCES
from dovetail.structures.semimarkov import Segments
from dovetail.text.given import as_sentence
from dovetail.text.segment import segment
from dovetail.text.sentence import Document, Sentence, Span
from dovetail.text.tags import spans_to_tags
from dovetail.text.words import WORD, character_sentence, half_width, word_spans
from dovetail.version import __version__

BATCH_TOKENS = 50_000  # how much text is scored at once: bounds memory, and keeps threads busy
DEFAULT_FEATURES = {
    ("markov", True): "words",
    ("markov", False): "ner",
    ("semi-markov", True): "words-spans",
    ("semi-markov", False): "ner-spans",
}


@dataclass(frozen=True)
class Segmentation:
    """One of the best segmentations of a sentence, with its exact probability."""

    spans: tuple[Span, ...]
    probability: float


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

    model_: ChainSegments | SegmentModel | None = field(default=None, init=False, repr=False)
    vocabulary_: NDArray[np.uint64] | None = field(default=None, init=False, repr=False)
    card_: dict[str, Any] = field(default_factory=dict, init=False, repr=False)

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

    def fit(
        self,
        sentences: Sequence[Any],
        gold: Sequence[Sequence[str]] | None = None,
        *,
        dev: Sequence[Any] | None = None,
        checkpoint: str | Path | None = None,
        progress: Callable[[Progress], None] | None = None,
    ) -> Segmenter:
        """Train. With ``dev``, keep the weights that score best there and stop when they no longer get better.

        ``gold`` has the answers where the sentences do not: the words of each text, or the tags of each sentence.
        ``checkpoint`` names a file from which training goes on if it exists, and which is deleted at the end. Ctrl-C
        ends training early with the best weights so far. A semi-Markov model cannot learn from sentences with a
        segment beyond the bound; they are left out and counted in ``card_["left_out"]``.
        """
        self._check_settings()
        given = self._labelled(sentences, gold, "training")
        corpus, spans = self._examples(given, "training")
        if not any(len(s) for s in corpus):
            raise DovetailError("the training data has no tokens; check the file and its format")
        card = {"sentences": len(corpus), "tokens": sum(map(len, corpus)), "segments": sum(map(len, spans))}
        training, left_out = self._prepare(corpus, spans)
        held_out, right = self._examples(as_sentences(dev), "dev") if dev is not None else ([], [])
        monitor = Monitor(report=progress, patience=self.patience)
        if self.optimiser != "lbfgs":
            monitor.dev_every = 1
        if dev is not None:
            monitor.dev_score = self._dev_scorer(training, held_out, right)
        weight = self._minimise(training, monitor, checkpoint)
        model = training.export(weight)
        if dev is not None and self.calibrate:
            model = model.calibrated(held_out, right, self._threads())
        if dev is not None and self.balance and not self.words:
            model = balanced(model, held_out, right, self._threads())
        self.model_ = model
        self.vocabulary_ = self._vocabulary(given) if self.words else None
        score = self._f1(held_out, right) if dev is not None else None
        self.card_ = card | {"left_out": left_out, "stopped": monitor.reason, "dev": score}
        return self

    def _prepare(self, corpus: list[Sentence], gold: list[list[Span]]) -> tuple[Any, int]:
        """The training of either family, and how many sentences it has to leave out."""
        settings: dict[str, Any] = {
            "loss": "perceptron" if self.optimiser == "perceptron" else self.loss,
            "l2": self.l2, "l1": self.l1, "min_count": self.min_count or (1 if self.words else 2),
            "hash_bits": self.hash_bits, "merge_twins": True, "threads": self._threads(),
        }  # fmt: skip
        features = self._features_for(corpus)
        if self.family == "markov":
            settings["order"] = self.order
            return ChainTraining.prepare(corpus, gold, features, self.scheme, self.words, **settings), 0
        longest = self.longest or length_bound(gold)
        long = too_long(gold, longest)
        kept = np.flatnonzero(~long)
        if not len(kept):
            raise DovetailError(f"every training sentence has a segment of more than {longest} tokens; raise longest")
        labels = (WORD,) if self.words else ("O", *sorted({span.label for each in gold for span in each}))
        settings["order"] = 0 if self.words else self.order  # one label has nothing to say of its neighbour
        sentences, spans = [corpus[i] for i in kept], [gold[i] for i in kept]
        return SegmentTraining.prepare(sentences, spans, features, labels, longest, **settings), int(long.sum())

    def _features_for(self, corpus: Sequence[Sentence]) -> Any:
        """The feature set, less what reads layers that a named set wants and no sentence has."""
        given = self.features if self.features is not None else DEFAULT_FEATURES[self.family, self.words]
        make = chain_features if self.family == "markov" else span_features
        found: Any = make(given, self.resources)
        missing = {c for c in found.columns if c != "word" and not any(c in s.layers for s in corpus)}
        found = found.without_columns({self.target, *self.ignore} - {None} | (missing & found.optional))
        if not found.templates:
            raise DovetailError("no feature template is left; give some that read words or layers that the data has")
        return found

    def _minimise(self, training: Any, monitor: Monitor, checkpoint: str | Path | None) -> NDArray[np.float64]:
        resume, saved = None, None
        if checkpoint is not None:
            free = ("threads", "iterations", "patience", "features", "resources", "balance", "calibrate")
            settings = {name: value for name, value in self.get_params().items() if name not in free}
            objective = training.objective
            gold = objective.gold if self.family == "markov" else objective.length
            saved = Checkpoint.of(checkpoint, settings, np.array([objective.parameters]), objective.offsets, gold)
            resume, monitor.save = saved.load(), saved.save
            if resume is not None:
                monitor.restore(resume)
        hints = {"curvature": training.curvature()} if self.optimiser == "lbfgs" else {}
        start = np.zeros(training.objective.parameters)
        weight: NDArray[np.float64] = self._optimiser().minimise(
            training.objective, training.prior, start, monitor, resume, **hints
        )
        if saved is not None and not monitor.interrupted:
            saved.remove()
        return weight

    def _dev_scorer(
        self, training: Any, dev: Sequence[Sentence], gold: Sequence[Sequence[Span]]
    ) -> Callable[[NDArray[np.float64]], float]:
        answers = training.answers(dev)
        labels = training.export(np.zeros(training.objective.parameters)).labels
        biases = COARSE_BALANCES if self.balance and not self.words else (0.0,)
        return lambda weight: max(segment_f1(gold, dev, answers(weight, bias), labels) for bias in biases)

    def _check_settings(self) -> None:
        super()._check_settings()
        if self.family == "semi-markov":
            check_choice("order", self.order, (0, 1))
        check_loss(self.loss, self.optimiser)

    def _labelled(self, sentences: Any, gold: Sequence[Sequence[str]] | None, what: str) -> list[Sentence]:
        """Sentences with what is to be learnt: the words of each text, or the tags of each sentence."""
        if gold is None:
            return as_sentences(sentences)
        if self.words:
            return labelled([Sentence((text,)) for text in as_texts(sentences)], gold, _cut_so, what)
        check_tags(gold, what)
        return labelled(as_sentences(sentences), gold, self._tagged, what)

    def _tagged(self, sentence: Sentence, tags: Sequence[str]) -> Sentence:
        assert self.target is not None
        return sentence.with_layer(self.target, tuple(tags))

    def _examples(self, corpus: list[Sentence], what: str) -> tuple[list[Sentence], list[list[Span]]]:
        """Sentences of tokens, and the segments of each."""
        if self.words:
            texts = [self._characters("".join(sentence.words)) for sentence in corpus]
            return texts, [word_spans(sentence.words) for sentence in corpus]
        for number, sentence in enumerate(corpus, 1):
            if len(sentence) and self.target not in sentence.layers:
                has = ", ".join(["word", *sentence.layers])
                raise DovetailError(
                    f"{what} sentence {number} has no layer {self.target!r} {purpose(what)} (it has {has}); "
                    f"name the right one as target"
                )
        assert self.target is not None
        return corpus, [list(sentence.entities(self.target)) for sentence in corpus]

    def _vocabulary(self, sentences: Iterable[Sentence]) -> NDArray[np.uint64]:
        return np.unique(self._word_keys([word for sentence in sentences for word in sentence.words]))

    def _word_keys(self, words: Sequence[str]) -> NDArray[np.uint64]:
        return hashing.string_keys([half_width(word) for word in words] if self.normalise_width else words)

    # answers

    def predict(self, sentences: Iterable[Any]) -> list[list[str]]:
        """The words of every text, or the IOB2 tags of every sentence.

        White space in a text always separates words, and belongs to none.
        """
        if self.words:
            return [words for some in in_batches(as_texts(sentences), BATCH_TOKENS) for words in self._cut(some)]
        return [
            spans_to_tags([(s.start, s.end, s.label) for s in spans], len(sentence))
            for some in in_batches(as_sentences(sentences), BATCH_TOKENS)
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
            found = [spans for some in in_batches(as_texts(sentences), BATCH_TOKENS) for spans in self._placed(some)]
        else:
            found = [
                spans for some in in_batches(as_sentences(sentences), BATCH_TOKENS) for spans in self._spans(some, True)
            ]
        return [[s for s in spans if (s.probability or 0.0) >= threshold] for spans in found]

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

    def kbest(self, sentences: Iterable[Any], k: int = 10) -> list[list[Segmentation]]:
        """The k most probable segmentations of every sentence with their probabilities, best first."""
        check_count("k", k)
        model, result = self._model(), []
        for some in in_batches(self._tokens(sentences), BATCH_TOKENS):
            batch = model.batch(some, self._threads())
            found, probability = model.kbest(batch, k)
            ranked = [self._of(segments, batch.offsets) for segments in found]
            for i in range(len(some)):
                odds = probability[i].tolist()
                result.append([Segmentation(tuple(ranked[j][i]), odds[j]) for j in range(k) if odds[j] > 0])
        return result

    def sample(self, sentences: Iterable[Any], n: int = 1, seed: int | None = None) -> list[list[list[Span]]]:
        """``n`` segmentations of every sentence, drawn exactly from the model's distribution."""
        check_count("n", n)
        model, rng, result = self._model(), self._random(seed), []
        for some in in_batches(self._tokens(sentences), BATCH_TOKENS):
            batch = model.batch(some, self._threads())
            drawn = [self._of(s, batch.offsets) for s in model.sample(batch, n, rng)]
            result.extend([list(each) for each in zip(*drawn, strict=True)])
        return result

    def _annotated(self, sentences: Iterable[Sentence], probabilities: bool) -> Iterator[Sentence]:
        """Sentences of words with their segments in the target layer, and their entities with probabilities.

        Of words: sentences whose stretches between white space are cut into words.
        """
        for some in in_batches(sentences, BATCH_TOKENS):
            if self.target is None:
                yield from self._cut_further(some)
                continue
            for sentence, spans in zip(some, self._spans(some, probabilities), strict=True):
                yield sentence.with_entities(tuple(spans), self.target)

    def _cut_further(self, sentences: Sequence[Sentence]) -> Iterator[Sentence]:
        flat = iter(self._cut([word for sentence in sentences for word in sentence.words]))
        for sentence in sentences:
            parts = [next(flat) for _ in sentence.words]
            starts = [begin for begin, _ in sentence.offsets or ((0, 0),) * len(parts)]
            places = [
                (a + s.start, a + s.end) for a, words in zip(starts, parts, strict=True) for s in word_spans(words)
            ]
            yield replace(
                sentence, words=tuple(word for words in parts for word in words), layers={}, spans=(), tree=None,
                offsets=tuple(places) if sentence.offsets is not None else None,
            )  # fmt: skip

    def _given(self, items: Any) -> Any:
        return as_texts(items) if self.words and not isinstance(items, str) else items

    def _read(self, text: str) -> Document:
        if not self.words:
            return super()._read(text)
        return Document(tuple(segment(text, lines="sentences", words="spaces")), text)

    def score(self, sentences: Sequence[Any], gold: Sequence[Sequence[str]] | None = None) -> float:
        """F1 of segments in percent: of words, or of entities. ``gold`` has the answers, as for ``fit``."""
        return self._f1(*self._examples(self._labelled(sentences, gold, "gold"), "gold"))

    def _f1(self, corpus: list[Sentence], gold: list[list[Span]]) -> float:
        model = self._model()
        counts = []
        for low, high in _ranges(corpus):
            segments = model.best(model.batch(corpus[low:high], self._threads()))
            counts.append(segment_counts(gold[low:high], corpus[low:high], segments, model.labels))
        right, found, correct = np.sum(counts, axis=0) if counts else (0, 0, 0)
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
            one = as_sentence(sentence)
        if not 0 <= position < len(one):
            raise DovetailError(f"position {position}: there are tokens 0 to {len(one) - 1}")
        return explain_token(model.model, one, position)

    # files

    def save(self, path: str | Path, *, half: bool = False, card: dict[str, Any] | None = None) -> None:
        """Write the model to one file; ``half`` stores weights in half precision."""
        model = self._model()
        header = model.header()
        settings = self.get_params() | {
            "model": self.family, "features": header["features"]["name"], "resources": {}, "ignore": list(self.ignore),
        }  # fmt: skip
        del settings["threads"]  # no part of the model: the same data gives the same file on any number of cores
        about = {"kind": "segmenter", "dovetail": __version__, "settings": settings, "card": self.card_ | (card or {})}
        vocabulary = {} if self.vocabulary_ is None else {"vocabulary": self.vocabulary_}
        save_model(path, about | header, model.arrays(half) | vocabulary)

    @classmethod
    def load(cls, path: str | Path, functions: Sequence[Callable[..., Any]] = ()) -> Segmenter:
        """Read a model file. Python functions that served as templates are given again, by the same names."""
        header, arrays = load_model(path, "segmenter")
        try:
            known = {f.name for f in fields(cls) if f.init}
            segmenter = cls(**{k: v for k, v in header["settings"].items() if k in known})
            family: Any = {"markov": ChainSegments, "semi-markov": SegmentModel}[segmenter.family]
            segmenter.model_ = family.from_file(header, arrays, [call(f) for f in functions])
        except (LookupError, ValueError, TypeError, AttributeError, ArithmeticError) as error:
            raise ModelFileError(f"{path}: the model does not fit together ({error}); train it again") from None
        segmenter.vocabulary_ = arrays.get("vocabulary")
        segmenter.card_ = header.get("card", {})
        return segmenter

    # inner workings

    def _layers_read(self) -> tuple[str, ...]:
        columns = () if self.words else self._model().features.columns
        return tuple(layer for layer in columns if layer != "word")

    def _model(self) -> Any:
        if self.model_ is None:
            raise DovetailError("this segmenter is not trained: call fit, or load a model")
        return self.model_

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


def _ranges(corpus: Sequence[Sentence]) -> list[tuple[int, int]]:
    sizes = [len(some) for some in in_batches(corpus, BATCH_TOKENS)]
    return list(pairwise([0, *np.cumsum(sizes).tolist()]))
