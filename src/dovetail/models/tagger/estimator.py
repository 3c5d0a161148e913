"""Tagger: sequence labelling and named entities, with a probability for every answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self, cast

import numpy as np
from numpy.typing import NDArray

from dovetail.columns import Columns
from dovetail.errors import DovetailError
from dovetail.evaluate import entity_scores, token_scores
from dovetail.features.algebra.sets import SETS, FeatureSet
from dovetail.features.compile.documents import token_documents
from dovetail.features.compile.repeats import share_repeated
from dovetail.modelfile import Arrays
from dovetail.models.answer import Answer
from dovetail.models.inputs import as_sentences, check_as_many, check_probability, check_size, check_tags, purpose
from dovetail.models.tagger.compact import CompactEstimator
from dovetail.models.tagger.entities import entity_probabilities
from dovetail.models.tagger.explain import Explanation, explain_token
from dovetail.models.tagger.labels import LabelSet
from dovetail.models.tagger.model import ChainModel, ChainTraining, best_with_bias, chain_training
from dovetail.models.tagger.settings import TaggerSettings
from dovetail.models.tagger.tuning import COARSE_BALANCES, Tuning, agreeing, balanced, calibration
from dovetail.models.training import Run
from dovetail.scorers.compiled import PartSettings, Spread
from dovetail.structures.chain import ChainBatch
from dovetail.text.given import as_sentence
from dovetail.text.sentence import Document, Sentence, Span, as_span
from dovetail.text.spans import flat_tags

WHOLE = 0.5  # documents count as whole if names come again in them this often, as a part of what is expected
USUAL_SHARE = 0.4  # of the words written with a capital, so many come again in a document, as a rule

Input = Sequence[Sentence] | Sequence[Sequence[str]] | Sequence[Document]


@dataclass(kw_only=True, eq=False)
class Tagger(TaggerSettings, CompactEstimator):
    """A conditional random field over sentences (order 0: a MaxEnt classifier of tokens).

    Sentences are ``Sentence`` objects, or plain lists of words. Tags are given to ``fit`` or read from the ``target``
    layer of the sentences. Chunk tags may be in any scheme (IOB1, IOB2, IOBES, BILOU); answers are in IOB2.

    >>> train = [["Ada", "Lovelace", "met", "Babbage"], ["Babbage", "slept"]] * 5
    >>> tags = [["B-PER", "I-PER", "O", "B-PER"], ["B-PER", "O"]] * 5
    >>> tagger = Tagger(features=["word[-1:2]", "shape[0]"], l2=0.01).fit(train, tags)
    >>> tagger.predict([["Ada", "slept"]])
    [['B-PER', 'O']]
    >>> [entity] = tagger.predict_entities([["Ada", "slept"]])[0]
    >>> entity.label, entity.probability > 0.5
    ('PER', True)
    """

    kind: ClassVar[str] = "tagger"

    model_: ChainModel | None = field(default=None, init=False, repr=False)

    @property
    def classes_(self) -> tuple[str, ...]:
        """The labels, in the order of the columns of ``predict_marginals``."""
        names: tuple[str, ...] = self._model().labels.names
        return names

    # training

    def fit(self, X: Any, y: Any = None, *, dev: Any = None, dev_tags: Any = None, **how: Any) -> Self:
        """Train: see ``Estimator.fit``. ``y`` and ``dev_tags`` are the tags, where sentences do not have them."""
        if dev is not None and dev_tags is not None:
            dev = self._examples(dev, dev_tags, "dev")
        return super().fit(X, y, dev=dev, **how)

    def _examples(self, given: Any, answers: Any, what: str) -> list[Sentence]:
        """Sentences with their tags in the target layer."""
        corpus = as_sentences(given)
        tags = [s.layers.get(self.target, ()) for s in corpus] if answers is None else answers
        if answers is None:
            lacking = next((i for i, (s, t) in enumerate(zip(corpus, tags, strict=True)) if len(s) != len(t)), None)
            if lacking is not None:
                has = ", ".join(["word", *corpus[lacking].layers])
                raise DovetailError(
                    f"{what} sentence {lacking + 1} has no layer {self.target!r} {purpose(what)} (it has {has}); "
                    f"name the right one as target"
                )
        else:
            check_as_many(corpus, tags, what, "tag sequences")
        check_tags(tags, what)
        for i, (sentence, own) in enumerate(zip(corpus, tags, strict=True)):
            if len(sentence) != len(own):
                raise DovetailError(f"{what} sentence {i + 1} has {len(sentence)} words but {len(own)} tags")
        if what == "training" and not any(map(len, corpus)):
            raise DovetailError("the training data has no tokens; check the file and its format")
        if answers is None:
            return corpus
        return [s.with_layer(self.target, tuple(own)) for s, own in zip(corpus, tags, strict=True)]

    def tags_of(self, sentences: Sequence[Sentence]) -> list[tuple[str, ...]]:
        """The tags of sentences in the target layer."""
        return [s.layers.get(self.target, ()) for s in sentences]

    def _prepare(self, corpus: list[Sentence], held_out: list[Sentence] | None, run: Run) -> ChainTraining:
        features = self.features_for(corpus, held_out)
        return self.prepared(self._learn_layers(features, corpus, run.doing), features)

    def prepared(self, corpus: Sequence[Sentence], features: FeatureSet) -> ChainTraining:
        """Sentences with tags and their features made ready to train on."""
        tags = self.tags_of(corpus)
        model = ChainModel(features, {}, {}, LabelSet.learn(tags, self.scheme), self.order, self.constrain)
        spread = Spread(token_documents(corpus), self.min_documents) if self.min_documents > 1 else None
        return chain_training(
            model,
            half_loosened(corpus) if features.looks_elsewhere else corpus,
            tags,
            observed_only=self.observed_only,
            settings=PartSettings(self.min_count, self.hash_bits, self.merge_twins, self._threads(), spread),
            loss=self._loss(),
            l2=self.l2,
            l1=self.l1,
        )

    def features_for(self, corpus: Sequence[Sentence], dev: Sequence[Sentence] | None) -> FeatureSet:
        """The feature set, less what reads layers to ignore, or layers that a named set wants and no sentence has.

        Where documents are not whole, nothing can be learnt from what stands ``elsewhere``.
        """
        features = FeatureSet.of(self.features)
        if features.looks_elsewhere and not whole_documents(corpus, dev):
            features = features.without_elsewhere()
        features = cast(FeatureSet, usable(features, corpus, {self.target, *self.ignore}))
        if self.order == 0 and any(t.edge for t in features.templates):
            raise DovetailError("edge(...) templates look at two labels, and with order 0 each label stands alone")
        return features

    def _dev_scorer(self, training: ChainTraining, held_out: list[Sentence]) -> Callable[[NDArray[np.float64]], float]:
        return self.scorer_of(training.dev_scorer(held_out), training.model.labels, self.tags_of(held_out))

    def scorer_of(
        self, chains: Callable[[NDArray[np.float64]], ChainBatch], labels: LabelSet, gold: Sequence[Sequence[str]]
    ) -> Callable[[NDArray[np.float64]], float]:
        """A function from weights to the score of the chains that they make, under the best of some biases of O."""
        chunks = labels.scheme is not None
        biases = COARSE_BALANCES if self.balance and chunks else (0.0,)

        def dev_score(weight: NDArray[np.float64]) -> float:
            batch = chains(weight)
            answers = [labels.decode(best_with_bias(batch, labels, bias), batch.offsets) for bias in biases]
            return max(tagging_score(gold, answer, chunks) for answer in answers)

        return dev_score

    def _tuned(self, model: ChainModel, held_out: list[Sentence], training: Any) -> ChainModel:
        return self.tuning(model, held_out).applied(model)

    def tuning(self, model: ChainModel, held_out: list[Sentence]) -> Tuning:
        """What held-out sentences decide about a model, as far as the settings let them."""
        gold, threads = self.tags_of(held_out), self._threads()
        factor = calibration(model, held_out, gold, threads) if self.calibrate else 1.0
        model = model.scaled(factor)
        if model.labels.scheme is not None:
            if self.agree:
                model = agreeing(model, held_out, gold, threads)
            if self.balance:
                model = balanced(model, held_out, gold, threads)
        return Tuning(factor, model.agreement, model.outside)

    # answers

    def predict(self, X: Input) -> list[list[str]]:
        """The best tags of every sentence."""
        decode, best = self._model().labels.decode, self._model().best
        return [tags for batch in self.chains(X) for tags in decode(best(batch), batch.offsets)]

    def predict_marginals(self, X: Input) -> list[NDArray[np.float64]]:
        """For every sentence the probability of each label at each token, [tokens, labels]; columns as ``classes_``."""
        found: list[NDArray[np.float64]] = []
        for batch in self.chains(X):
            unary = batch.marginals().unary
            found.extend(np.split(unary, batch.offsets[1:-1]))
        return found

    def predict_entities(self, sentences: Input, threshold: float = 0.0) -> list[list[Span]]:
        """The entities of the best tagging, each with the exact probability that just this span has just this type."""
        check_probability("threshold", threshold)
        return [
            [s for s in sentence.located(spans) if (s.probability or 0.0) >= threshold]
            for some in self._batches(as_sentences(sentences))
            for sentence, spans in zip(some, self._entities(some), strict=True)
        ]

    def _entities(self, sentences: Sequence[Sentence]) -> list[list[Span]]:
        """The entities of a batch of sentences, with their probabilities."""
        return entity_probabilities(self._model(), self._chains(sentences))

    def _chains(self, sentences: Sequence[Sentence]) -> ChainBatch:
        chains: ChainBatch = self._model().batch(sentences, self._threads())
        return chains

    def span_probability(self, sentence: Sentence | Sequence[str], span: Span | tuple[int, int, str]) -> float:
        """The exact probability that the tokens of a span form an entity of its type, no longer and no shorter."""
        [one], span = self._filled([as_sentence(sentence)]), as_span(span)
        if not 0 <= span.start < span.end <= len(one):
            raise DovetailError(f"the span {span.start} to {span.end} does not lie in a sentence of {len(one)} words")
        types = self._model().labels.types
        if span.label not in types:
            raise DovetailError(f"label={span.label!r}: choose one that the tagger knows: {', '.join(types)}")
        return entity_probabilities(self._model(), self._chains([one]), [[span]])[0][0].probability or 0.0

    def _answers(self, sentences: Sequence[Sentence], probabilities: bool) -> Iterator[Answer]:
        """The tags in the target layer and, for chunk tags, the entities with their probabilities."""
        model = self._model()
        if model.labels.scheme is not None and probabilities:
            for sentence, spans in zip(sentences, self._entities(sentences), strict=True):
                yield Answer({self.target: flat_tags(spans, len(sentence))}, tuple(spans))
            return
        batch = self._chains(sentences)
        for tags in model.labels.decode(model.best(batch), batch.offsets):
            yield self._answer(tags)

    def _answer(self, tags: Sequence[str], probability: float | None = None) -> Answer:
        spans = None if self._model().labels.scheme is None else ()
        return Answer({self.target: tuple(tags)}, spans, probability=probability)

    def _kbest(self, sentences: list[Sentence], k: int) -> Iterator[list[Answer]]:
        batch, decode = self._chains(sentences), self._model().labels.decode
        labels, scores = batch.kbest(k)
        ranked = [decode(row, batch.offsets) for row in labels]
        probability = np.exp(scores - batch.log_partition()[:, None]).tolist()
        for i in range(len(batch)):
            found = [j for j in range(k) if scores[i, j] > -np.inf]
            yield [self._answer(ranked[j][i], probability[i][j]) for j in found]

    def _sample(self, sentences: list[Sentence], n: int, rng: np.random.Generator) -> Iterator[list[Answer]]:
        batch, decode = self._chains(sentences), self._model().labels.decode
        drawn = [decode(labels, batch.offsets) for labels in batch.sample(n, rng)]
        for each in zip(*drawn, strict=True):
            yield [self._answer(tags) for tags in each]

    def score(self, X: Input, y: Sequence[Sequence[str]] | None = None) -> float:
        """Entity F1 in percent, or token accuracy in percent for plain labels."""
        corpus = self._examples(X, y, "gold")
        return tagging_score(self.tags_of(corpus), self.predict(corpus), self._model().labels.scheme is not None)

    def chains(self, sentences: Input) -> Iterator[ChainBatch]:
        """The chains of the sentences, many at a time: for answers that no other method gives."""
        return (self._chains(some) for some in self._batches(as_sentences(sentences)))

    def explain(self, sentence: Sentence | Sequence[str], position: int) -> Explanation:
        """Why the token at ``position`` has its tag."""
        [one] = self._filled([as_sentence(sentence)])
        if not 0 <= position < len(one):
            raise DovetailError(f"position {position}: the sentence has tokens 0 to {len(one) - 1}")
        return explain_token(self._model(), one, position)

    # files

    def pruned(self, smallest: float) -> Tagger:
        """A tagger like this one without weights that are smaller than this, for a smaller file."""
        check_size("smallest", smallest)
        found = Tagger(**self.get_params())
        found.model_, found.card_, found.layers_ = self._model().pruned(smallest), self.card_, self.layers_
        return found

    def _stored_settings(self) -> dict[str, Any]:
        return super()._stored_settings() | {"features": self._model().features.name}

    def _unpack(self, header: dict[str, Any], arrays: Arrays, functions: Sequence[Any]) -> None:
        self.model_ = ChainModel.from_file(header, arrays, functions)
        if self.features not in SETS:
            self.features = self.model_.features

    # inner workings

    def _layers_read(self) -> tuple[str, ...]:
        return tuple(layer for layer in self._model().features.columns if layer != "word")


def usable(features: Any, corpus: Sequence[Sentence], hidden: set[str]) -> Any:
    """A feature set, less what reads hidden layers, or layers that a named set wants and no sentence has."""
    missing = {c for c in features.columns if c != "word" and not any(c in s.layers for s in corpus)}
    features = features.without_columns(hidden | (missing & features.optional))
    if not features.templates:
        raise DovetailError("no feature template is left; give some that read words or layers that the data has")
    return features


def whole_documents(corpus: Sequence[Sentence], dev: Sequence[Sentence] | None) -> bool:
    """Whether names come again in the documents of a corpus about as often as they will in text to be tagged.

    A random sample of sentences has documents with holes: what is beside a name elsewhere is seen now and then in
    training and all the time later, and weights learnt so do harm (1.2 F1 with 500 sentences of CoNLL-2003, where a
    few names in a hundred come again, against half of them in whole documents).
    """
    if all(s.document is None for s in corpus):
        return False
    expected = share_repeated(Columns.of(dev, ())) if dev is not None else USUAL_SHARE
    return share_repeated(Columns.of(corpus, ())) >= WHOLE * expected


def half_loosened(corpus: Sequence[Sentence]) -> list[Sentence]:
    """The sentences, every other document taken apart, so that a model learns to do with documents and without.

    Trained on whole documents alone, it leans on them: on CoNLL-2003 dev it has an F1 of 93.4 with documents and 90.1
    without, trained so 93.3 and 91.7.
    """
    return [replace(s, document=None) if s.document is not None and s.document % 2 else s for s in corpus]


def tagging_score(gold: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]], chunks: bool) -> float:
    """Entity F1 for chunk tags, else token accuracy; both in percent."""
    return entity_scores(gold, predicted).f1 if chunks else token_scores(gold, predicted).accuracy or 0.0
