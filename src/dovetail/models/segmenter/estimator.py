"""Segmenter: words in text without spaces, or named entities as segments, with a probability for every segment."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from heapq import nlargest
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
from dovetail.models.answer import Answer, Each, probable
from dovetail.models.choices import f1_of
from dovetail.models.folds import parts_of
from dovetail.models.inputs import as_sentences, as_texts, check_examples, check_probability, check_tags, labelled
from dovetail.models.linear.estimator import LinearEstimator
from dovetail.models.segmenter.chain import ChainSegments, labels_of, tags_of
from dovetail.models.segmenter.model import OUTSIDE, SegmentModel, length_bound, segment_counts, segment_training
from dovetail.models.segmenter.settings import SegmenterSettings
from dovetail.models.settings import check_choice
from dovetail.models.tagger.explain import Explanation, explain_token
from dovetail.models.tagger.model import chain_training
from dovetail.models.training import Run
from dovetail.structures.contract import Floats, Integers
from dovetail.structures.semimarkov import Segments
from dovetail.text.given import as_sentence
from dovetail.text.segment import segment
from dovetail.text.sentence import Document, Sentence, Span
from dovetail.text.spans import flat_tags
from dovetail.text.words import WORD, character_sentence, half_width, word_spans

DEFAULT_FEATURES = {
    ("markov", True): "words",
    ("markov", False): "ner",
    ("semi-markov", True): "words-spans",
    ("semi-markov", False): "ner-spans",
}


@dataclass(kw_only=True, eq=False)
class Segmenter(SegmenterSettings, LinearEstimator):
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
        return tuple(label for label in self._model().types if label != OUTSIDE)

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
        check_examples(corpus, self.target, what)
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

    def _raw(self, text: Any) -> list[Sentence]:
        if not self.words:
            return super()._raw(text)
        whole = (line if isinstance(line, str) else "".join(as_sentence(line).words) for line in text)
        return [self._characters("".join(line.split())) for line in whole]

    def _seen(self, sentences: list[Sentence]) -> list[Sentence]:
        return self._segments(sentences)[0]

    def _finish(self, corpus: list[Sentence], run: Run) -> None:
        words = [word for sentence in corpus for word in sentence.words]
        self.vocabulary_ = np.unique(self._word_keys(words)) if self.words else None

    def _prepare(self, corpus: list[Sentence], held_out: list[Sentence] | None, run: Run) -> Any:
        """The training of either family; a semi-Markov model leaves out sentences with a segment beyond the bound."""
        sentences, spans = self._segments(corpus)
        self.card_ |= {"tokens": sum(map(len, sentences)), "segments": sum(map(len, spans)), "left_out": 0}
        features = self.features_for(sentences)
        if not self.words:  # characters have all their layers from themselves
            sentences = self._learn_layers(features, sentences, run.doing)
        how = self._how(self.min_count or (1 if self.words else 2))
        if self.family == "markov":
            labels = labels_of(spans, sentences, self.scheme, self.words)
            chain = ChainSegments(features, {}, {}, labels, self.order, constrain=True)
            chain = self._linked_entities(chain, sentences, spans)
            return chain_training(chain, sentences, tags_of(spans, sentences), **how)
        longest = self.longest or length_bound(spans)
        kept = [i for i, each in enumerate(spans) if all(s.end - s.start <= longest for s in each)]
        self.card_["left_out"] = len(spans) - len(kept)
        if not kept:
            raise DovetailError(f"every training sentence has a segment of more than {longest} tokens; raise longest")
        types = (WORD,) if self.words else (OUTSIDE, *sorted({span.label for each in spans for span in each}))
        lengths = np.array([1 if label == OUTSIDE else longest for label in types], dtype=np.int32)
        order = 0 if self.words else self.order  # one label has nothing to say of its neighbour
        model = self._linked_entities(SegmentModel(features, {}, {}, types, lengths, order), sentences, spans)
        return segment_training(model, [sentences[i] for i in kept], [spans[i] for i in kept], **how)

    def _linked_entities(self, model: Any, sentences: Sequence[Sentence], spans: Sequence[Sequence[Span]]) -> Any:
        """The model with what it learns of linked words, unless its segments are words."""
        if self.words:
            return model
        names = list(dict.fromkeys(model.types_of_labels()))

        def types(made: Any) -> Integers:
            tags = [tag for own in tags_of(spans, sentences) for tag in own]
            return np.array([names.index(tag if tag == OUTSIDE else tag[2:]) for tag in tags], np.int64)

        return self._linked(model, sentences, types)

    def features_for(self, corpus: Sequence[Sentence]) -> Any:
        """The feature set, less what reads layers that a named set wants and no sentence has."""
        given = self.features if self.features is not None else DEFAULT_FEATURES[self.family, self.words]
        make = chain_features if self.family == "markov" else span_features
        return self._usable(make(given, self.resources), corpus, {self.target or ""})

    def _balances(self, model: Any) -> bool:
        return self.balance and not self.words

    def _counter(self, model: Any, held_out: list[Sentence]) -> Callable[[Segments], Integers]:
        dev, gold = self._segments(held_out)
        return lambda found: segment_counts(gold, dev, found, model.types)

    def _answered(self, held_out: list[Sentence]) -> tuple[list[Sentence], list[list[Span]]]:
        return self._segments(held_out)

    def _agrees(self, model: Any) -> bool:
        return super()._agrees(model) and not self.words

    def _parts(self, training: Any, sentences: int) -> tuple[int, int]:
        """Words have nothing to balance, and are not worth the time unless it is asked for."""
        return (0, 0) if self.cross_validate is None and self.words else parts_of(self.cross_validate, sentences)

    def check_settings(self) -> None:
        """As for any model; whole segments see one label before them at most."""
        super().check_settings()
        if self.family == "semi-markov":
            check_choice("order", self.order, (0, 1))

    def _word_keys(self, words: Sequence[str]) -> NDArray[np.uint64]:
        return hashing.string_keys([half_width(word) for word in words] if self.normalise_width else words)

    # answers

    @property
    def writes(self) -> tuple[str, ...]:
        """The words, or entities and the layer of their tags."""
        return ("words",) if self.words else ("spans",) if self.target is None else (self.target, "spans")

    def predict(self, X: Iterable[Any]) -> list[list[str]]:
        """The words of every text, or the IOB2 tags of every sentence.

        White space in a text always separates words, and belongs to none.
        """
        if self.words:
            return Each(words for some in self._batches(as_texts(X)) for words in self._cut(some))
        every = self._batches(as_sentences(X))
        return Each(tags for some in every for tags in tags_of(self._spans(some, False), some))

    def _cut(self, texts: Sequence[str]) -> list[list[str]]:
        """The words of texts, each stretch without white space by itself."""
        stretches = [text.split() for text in texts]
        flat = [stretch for each in stretches for stretch in each]
        batch = self._batch([self._characters(stretch) for stretch in flat])
        starts = self._model().best(batch).start
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
        return [probable(spans, threshold) for spans in found]

    def predict_marginals(self, X: Iterable[Any], least: float = 0.01) -> list[list[Span]]:
        """Every segment with a probability of at least ``least``, whether it is answered or not."""
        check_probability("least", least)
        find = self._model().probable
        return [
            list(sentence.located(sorted(spans, key=lambda s: (s.start, -s.end))))
            for some in self._batches(self._tokens(X))
            for sentence, spans in zip(some, find(self._batch(some), least), strict=True)
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
        model, batch = self._model(), self._batch(sentences)
        segments = model.best(batch)
        return self._of(segments, batch.offsets, model.probabilities(batch, segments) if probabilities else None)

    def _of(self, segments: Segments, offsets: Integers, chance: Floats | None = None) -> list[list[Span]]:
        """Segments of a batch as spans of sentences, those of O left out."""
        start = segments.start - np.repeat(offsets[:-1], np.diff(segments.offsets))
        names = [self._model().types[label] for label in segments.label.tolist()]
        odds: list[float | None] = [None] * len(names) if chance is None else chance.tolist()
        flat = list(map(Span, start.tolist(), (start + segments.length).tolist(), names, odds))
        return [[span for span in flat[a:b] if span.label != OUTSIDE] for a, b in pairwise(segments.offsets.tolist())]

    def _answers(self, sentences: list[Sentence], probabilities: bool) -> Iterator[Answer]:
        """Segments in the target layer, with probabilities; of words, what the stretches of a sentence are cut into."""
        if self.words:
            cut = iter(self._cut([word for sentence in sentences for word in sentence.words]))
            for sentence in sentences:
                yield Answer(words=tuple(word for _ in sentence.words for word in next(cut)))
            return
        yield from map(self._answer, self._spans(sentences, probabilities), map(len, sentences))

    def _answer(self, spans: Sequence[Span], tokens: int) -> Answer:
        return Answer({} if self.target is None else {self.target: flat_tags(spans, tokens)}, tuple(spans))

    def _decoded(self, batch: Any, found: Any, sentences: Sequence[Sentence]) -> list[Answer]:
        spans = self._of(self._model().segments(found, batch.offsets), batch.offsets)
        return list(map(self._answer, spans, map(len, sentences)))

    # as a stage of a pipeline

    def listed_answers(self, sentences: Sequence[Sentence], k: int) -> list[list[Answer]]:
        """The k most probable answers; where they are words, of all stretches of a sentence together."""
        if not self.words:
            return super().listed_answers(sentences, k)
        lists = iter(super().listed_answers([self._characters(stretch) for s in sentences for stretch in s.words], k))
        found = []
        for sentence in sentences:
            best: list[tuple[float, tuple[str, ...]]] = [(1.0, ())]
            for stretch in sentence.words:
                own = [(a.probability or 0.0, words_in(stretch, a.spans or ())) for a in next(lists)]
                pairs = ((p * q, (*before, *words)) for p, before in best for q, words in own)
                best = nlargest(k, pairs, key=lambda one: one[0])
            found.append([Answer(words=words, probability=p) for p, words in best])
        return found

    def draws(self, sentences: Sequence[Sentence], counts: Sequence[int], rngs: Any) -> list[list[Answer]]:
        """So many answers to each sentence; where they are words, each stretch of a sentence is drawn by itself."""
        if not self.words:
            return super().draws(sentences, counts, rngs)
        stretches = [stretch for s in sentences for stretch in s.words]
        each = [count for s, count in zip(sentences, counts, strict=True) for _ in s.words]
        own = [one for s, rng in zip(sentences, rngs, strict=True) for one in rng.spawn(len(s))]
        drawn = iter(super().draws([self._characters(stretch) for stretch in stretches], each, own))
        found = []
        for sentence in sentences:
            cut = [[words_in(stretch, a.spans or ()) for a in next(drawn)] for stretch in sentence.words]
            known: dict[tuple[str, ...], Answer] = {}
            rows = (tuple(word for part in row for word in part) for row in zip(*cut, strict=True))
            found.append([known.setdefault(words, Answer(words=words)) for words in rows])
        return found

    def _given(self, items: Any) -> Any:
        return as_texts(items) if self.words and not isinstance(items, str) else items

    def _read(self, text: str) -> Document:
        if not self.words:
            return super()._read(text)
        return Document(tuple(segment(text, lines="sentences", words="spaces")), text)

    def score(self, X: Sequence[Any], y: Sequence[Sequence[str]] | None = None) -> float:
        """F1 of segments in percent: of words, or of entities. ``y`` has the answers, as for ``fit``."""
        return f1_of(self._part_counts(self._examples(X, y, "gold")))

    def _part_counts(self, held_out: list[Any]) -> Any:
        model, counts = self._model(), [np.zeros(3, np.int64)]
        for some in self._batches(held_out):
            sentences, gold = self._segments(some)
            counts.append(segment_counts(gold, sentences, model.best(self._batch(sentences)), model.types))
        return np.sum(counts, axis=0)

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
        return explain_token(model, one, position)

    # files

    def packed(self, half: bool = False, compact: bool = False) -> tuple[dict[str, Any], Arrays]:
        """The header and the arrays of a model file."""
        header, arrays = super().packed(half, compact)
        return header, arrays if self.vocabulary_ is None else arrays | {"vocabulary": self.vocabulary_}

    def _stored_settings(self) -> dict[str, Any]:
        return super()._stored_settings() | {"model": self.family}

    def _unpack(self, header: dict[str, Any], arrays: Arrays, functions: Sequence[Any]) -> None:
        family: Any = {"markov": ChainSegments, "semi-markov": SegmentModel}[self.family]
        self.model_ = family.from_file(header, arrays, functions)
        self.vocabulary_ = arrays.get("vocabulary")

    # inner workings

    def _layers_read(self) -> tuple[str, ...]:
        return () if self.words else super()._layers_read()

    def _tokens(self, sentences: Iterable[Any]) -> Iterator[Sentence]:
        """What the model sees: sentences of words, or of characters."""
        if not self.words:
            yield from as_sentences(sentences)
            return
        for text in as_texts(sentences):
            if text.split() != [text][: len(text)]:
                raise DovetailError("give texts without white space, which always separates words")
            yield self._characters(text)


def words_in(text: str, spans: Iterable[Span]) -> tuple[str, ...]:
    """The words of a text that spans of its characters are."""
    return tuple(text[span.start : span.end] for span in spans)


def _cut_so(text: Sentence, words: Sequence[str]) -> Sentence:
    if "".join(words) != "".join(text.words[0].split()):
        raise ValueError(f"the words {' '.join(words)!r} do not make up the text {text.words[0]!r}")
    return as_sentence(words)
