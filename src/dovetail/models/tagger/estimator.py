"""Tagger: sequence labelling and named entities, with a probability for every answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Self, cast

import numpy as np

from dovetail.arrays import offsets_of
from dovetail.errors import DovetailError
from dovetail.evaluate import entity_scores, token_scores
from dovetail.features.algebra.sets import SETS, FeatureSet
from dovetail.features.compile.documents import token_documents
from dovetail.learning.losses import ROUGH
from dovetail.learning.tuning import expected_bias
from dovetail.modelfile import Arrays
from dovetail.models.answer import Answer, Each, probable
from dovetail.models.choices import Held, Tuning
from dovetail.models.documents import half_loosened, whole_documents
from dovetail.models.folds import parts_of
from dovetail.models.inputs import (
    as_sentences,
    check_as_many,
    check_examples,
    check_probability,
    check_size,
    check_tags,
)
from dovetail.models.linear.compact import CompactEstimator
from dovetail.models.linear.estimator import LinearEstimator
from dovetail.models.tagger.expected import as_expectations, spelled_out, targets_of, unlabelled
from dovetail.models.tagger.explain import Explanation, explain_token
from dovetail.models.tagger.labels import UNKNOWN, LabelSet
from dovetail.models.tagger.model import ChainModel, ChainTraining, chain_training
from dovetail.models.tagger.scratch import fitted_on_disk, layers_of, prepared_on_disk
from dovetail.models.tagger.settings import TaggerSettings
from dovetail.models.training import Run
from dovetail.scorers.compiled import Spread
from dovetail.structures.chain import ChainBatch
from dovetail.structures.contract import Floats, Integers, Labels, at_most_one
from dovetail.text.expectations import Expectation
from dovetail.text.given import as_sentence
from dovetail.text.sentence import Document, Sentence, Span, as_span
from dovetail.text.spans import flat_tags
from dovetail.text.stored import StoredSentences

ASKED = 20_000
"""So many sentences say how readily to answer O, at most."""
Input = Sequence[Sentence] | Sequence[Sequence[str]] | Sequence[Document]


@dataclass(kw_only=True, eq=False)
class Tagger(TaggerSettings, CompactEstimator, LinearEstimator):
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
    _expected: list[Expectation] = field(default_factory=list, init=False, repr=False)
    """What ``fit`` was told to expect."""
    _scratch: Path | None = field(default=None, init=False, repr=False)
    """Where features are kept, while it is trained on disk."""

    @property
    def classes_(self) -> tuple[str, ...]:
        """The labels, in the order of the columns of ``predict_marginals``."""
        names: tuple[str, ...] = self._model().labels.names
        return names

    @property
    def writes(self) -> tuple[str, ...]:
        """The target layer, and the entities that chunk tags spell."""
        return (self.target,) if self._model().labels.scheme is None else (self.target, "spans")

    # training

    def fit(
        self,
        X: Any = None,
        y: Any = None,
        *,
        dev: Any = None,
        dev_tags: Any = None,
        expectations: Any = (),
        scratch: str | Path | None = None,
        **how: Any,
    ) -> Self:
        """Train: see ``Estimator.fit``. ``y`` and ``dev_tags`` are the tags, where sentences do not have them.

        ``expectations``: sentences that nobody has labelled, with what is expected of their labels, beside the labelled
        ones, ``X``, or in place of them. ``scratch``: a folder that features are kept in while training, where there
        are more of them than memory; see ``models.tagger.scratch``.
        """
        if scratch is not None:
            return fitted_on_disk(
                self, X, y, Path(scratch), dev=dev, dev_tags=dev_tags, expectations=expectations, **how
            )
        if dev is not None and dev_tags is not None:
            dev = self._examples(dev, dev_tags, "dev")
        self._expected = as_expectations(expectations)
        if X is None and not any(map(len, self._expected)):
            raise DovetailError("nothing to learn from: give sentences, or expectations of some")
        if self._expected and self._loss() in ROUGH:
            raise DovetailError("expectations are of probabilities: use a loss and an optimiser other than perceptron")
        try:
            return super().fit([] if X is None else X, y, dev=dev, **how)
        finally:
            self._expected = []

    def _examples(self, given: Any, answers: Any, what: str) -> list[Sentence]:
        """Sentences with their tags in the target layer."""
        corpus: Any = given if isinstance(given, StoredSentences) else as_sentences(given)
        if answers is not None:
            check_as_many(corpus, answers, what, "tag sequences")
            check_tags(answers, what)
            for number, (sentence, tags) in enumerate(zip(corpus, answers, strict=True), 1):
                if len(sentence) != len(tags):
                    raise DovetailError(f"{what} sentence {number} has {len(sentence)} words but {len(tags)} tags")
            corpus = [s.with_layer(self.target, tuple(tags)) for s, tags in zip(corpus, answers, strict=True)]
        check_examples(corpus, self.target, "labelled" if what == "training" and self._expected else what)
        check_tags(layers_of(corpus, self.target), what)
        return corpus  # type: ignore[no-any-return]

    def tags_of(self, sentences: Sequence[Sentence]) -> list[tuple[str, ...]]:
        """The tags of sentences in the target layer."""
        return [s.layers.get(self.target, ()) for s in sentences]

    def _prepare(self, corpus: list[Sentence], held_out: list[Sentence] | None, run: Run) -> ChainTraining:
        if isinstance(corpus, StoredSentences):
            return prepared_on_disk(self, corpus, held_out, run)
        beside = unlabelled(self._expected, self.target)
        features = self.features_for([*corpus, *beside], held_out)
        if self._expected:
            self.card_["expectations"] = len(beside)
        return self.prepared(self._learn_layers(features, corpus, run.doing), features, self._filled(beside))

    def prepared(
        self, corpus: Sequence[Sentence], features: FeatureSet, beside: Sequence[Sentence] = ()
    ) -> ChainTraining:
        """Sentences with tags and their features made ready to train on; ``beside``: those with expectations."""
        tags = self.tags_of(corpus)
        labels = LabelSet.learn([*tags, *(spelled_out(self._expected, tags) if beside else ())], self.scheme)
        model = ChainModel(features, {}, {}, labels, self.order, self.constrain)
        if model.labels.scheme is not None:
            model = self._linked(model, corpus, lambda made: np.append(made.of_label, -1)[made.labels.encode(tags)])
        spread = Spread(token_documents([*corpus, *beside]), self.min_documents) if self.min_documents > 1 else None
        seen = half_loosened(corpus) if features.looks_elsewhere else corpus
        how = self._how(self.min_count, twins=self.merge_twins, spread=spread)
        if beside:
            how["targets"] = targets_of(self._expected, labels)
            how["expecting"] = self.expectation_loss, self.expectation_weight
        every = [*tags, *self.tags_of(beside)]
        return chain_training(model, [*seen, *beside], every, observed_only=self.observed_only, **how)

    def features_for(self, corpus: Sequence[Sentence], dev: Sequence[Sentence] | None) -> FeatureSet:
        """The feature set, less what reads layers to ignore, or layers that a named set wants and no sentence has.

        Where documents are not whole, nothing can be learnt from what stands ``elsewhere``.
        """
        features = FeatureSet.of(self.features)
        if features.looks_elsewhere and not whole_documents(corpus, dev):
            features = features.without_elsewhere()
        features = cast(FeatureSet, self._usable(features, corpus, {self.target}))
        if self.order == 0 and any(t.edge for t in features.templates):
            raise DovetailError("edge(...) templates look at two labels, and with order 0 each label stands alone")
        return features

    def _balances(self, model: ChainModel) -> bool:
        return self.balance and model.labels.scheme is not None

    def _counter(self, model: ChainModel, held_out: list[Sentence]) -> Callable[[Labels], Integers]:
        gold, offsets, labels = self.tags_of(held_out), offsets_of(held_out), model.labels
        return lambda found: tagging_counts(gold, labels.decode(found, offsets), labels.scheme is not None)

    def _answered(self, held_out: list[Sentence]) -> tuple[list[Sentence], list[tuple[str, ...]]]:
        return held_out, self.tags_of(held_out)

    def _agrees(self, model: ChainModel) -> bool:
        return super()._agrees(model) and model.labels.scheme is not None

    def tuning(self, model: ChainModel, held_out: list[Sentence], batch: ChainBatch) -> tuple[Tuning, ChainBatch]:
        """What held-out sentences decide about a model, as far as the settings let them, and their chains so tuned.

        ``batch`` has their chains under the weights of the model, each sentence for itself.
        """
        found, [held] = self._tuning([Held(model, held_out, batch)])
        return found, held.seen

    # choosing without dev

    def _finish(self, corpus: list[Sentence], run: Run) -> None:
        """Where nothing but expectations says how readily to answer O, the tagger's own probabilities do."""
        super()._finish(corpus, run)
        model = self._model()
        if self._expected and self._balances(model) and not {"dev", "cross_validated"} & set(self.card_):
            some = self._filled(unlabelled(self._expected[:: 1 + len(self._expected) // ASKED], self.target))
            marginals = model.batch(some, self._threads()).marginals().unary
            self.model_ = replace(model, outside=expected_bias(1.0 - marginals[:, model.labels.names.index("O")]))

    def _parts(self, training: Any, sentences: int) -> tuple[int, int]:
        """Plain labels have nothing to balance, and are not worth the time unless it is asked for.

        Nor are expectations: they would be learnt from again in every part.
        """
        if self._scratch is not None:
            return 0, 0
        if self.cross_validate is None and (training.model.labels.scheme is None or self._expected):
            return 0, 0
        return parts_of(self.cross_validate, sentences)

    def _judges(self, item: Sentence) -> bool:
        return UNKNOWN not in item.layers.get(self.target, ())

    def _comparable(self, training: Any, whole: Any) -> bool:
        return (training.model.labels.scheme is None) == (whole.model.labels.scheme is None)

    def _part_counts(self, held_out: list[Sentence]) -> Any:
        return tagging_counts(self.tags_of(held_out), self.predict(held_out), self._model().labels.scheme is not None)

    # answers

    def predict(self, X: Input) -> list[list[str]]:
        """The best tags of every sentence."""
        decode, best = self._model().labels.decode, self._model().best
        return Each(tags for batch in self.chains(X) for tags in decode(best(batch), batch.offsets))

    def predict_marginals(self, X: Input) -> list[Floats]:
        """For every sentence the probability of each label at each token, [tokens, labels]; columns as ``classes_``."""
        every = self.chains(X)
        return [own for batch in every for own in np.split(at_most_one(batch.marginals().unary), batch.offsets[1:-1])]

    def predict_entities(self, sentences: Input, threshold: float = 0.0) -> list[list[Span]]:
        """The entities of the best tagging, each with the exact probability that just this span has just this type."""
        check_probability("threshold", threshold)
        return [
            probable(sentence.located(spans), threshold)
            for some in self._batches(as_sentences(sentences))
            for sentence, spans in zip(some, self._entities(some), strict=True)
        ]

    def _entities(self, sentences: Sequence[Sentence]) -> list[list[Span]]:
        """The entities of a batch of sentences, with their probabilities."""
        found: list[list[Span]] = self._model().with_probabilities(self._batch(sentences))
        return found

    def span_probability(self, sentence: Sentence | Sequence[str], span: Span | tuple[int, int, str]) -> float:
        """The exact probability that the tokens of a span form an entity of its type, no longer and no shorter."""
        [one], span = self._filled([as_sentence(sentence)]), as_span(span)
        if not 0 <= span.start < span.end <= len(one):
            raise DovetailError(f"the span {span.start} to {span.end} does not lie in a sentence of {len(one)} words")
        model = self._model()
        if span.label not in (types := model.labels.types):
            raise DovetailError(f"label={span.label!r}: choose one that the tagger knows: {', '.join(types)}")
        return model.with_probabilities(self._batch([one]), [[span]])[0][0].probability or 0.0

    def _answers(self, sentences: Sequence[Sentence], probabilities: bool) -> Iterator[Answer]:
        """The tags in the target layer and, for chunk tags, the entities with their probabilities."""
        model = self._model()
        if model.labels.scheme is not None and probabilities:
            for sentence, spans in zip(sentences, self._entities(sentences), strict=True):
                yield Answer({self.target: flat_tags(spans, len(sentence))}, tuple(spans))
            return
        batch = self._batch(sentences)
        yield from self._decoded(batch, model.best(batch), sentences)

    def _decoded(self, batch: ChainBatch, found: Labels, sentences: Sequence[Sentence]) -> list[Answer]:
        labels = self._model().labels
        spans = None if labels.scheme is None else ()
        return [Answer({self.target: tuple(tags)}, spans) for tags in labels.decode(found, batch.offsets)]

    def score(self, X: Input, y: Sequence[Sequence[str]] | None = None) -> float:
        """Entity F1 in percent, or token accuracy in percent for plain labels."""
        corpus = self._examples(X, y, "gold")
        return tagging_score(self.tags_of(corpus), self.predict(corpus), self._model().labels.scheme is not None)

    def chains(self, sentences: Input) -> Iterator[ChainBatch]:
        """The chains of the sentences, many at a time: for answers that no other method gives."""
        return self.structures(sentences)

    def explain(
        self, sentence: Sentence | Sequence[str], position: int, document: Sequence[Sentence] = ()
    ) -> Explanation:
        """Why the token at ``position`` has its tag.

        document: all sentences of its document, in order, itself among them, where what they say is to count.
        """
        one = as_sentence(sentence)
        if not 0 <= position < len(one):
            raise DovetailError(f"position {position}: the sentence has tokens 0 to {len(one) - 1}")
        if document and not any(other is one for other in document):
            raise DovetailError("the sentence is not one of the document")
        text = list(document) or [one]
        filled = self._filled(text)
        same = filled[next(i for i, other in enumerate(text) if other is one)]
        return explain_token(self._model(), same, position, filled)

    # files

    def pruned(self, smallest: float) -> Tagger:
        """A tagger like this one without weights that are smaller than this, for a smaller file."""
        check_size("smallest", smallest)
        found = Tagger(**self.get_params())
        found.model_, found.card_, found.layers_ = self._model().pruned(smallest), self.card_, self.layers_
        return found

    def _unpack(self, header: dict[str, Any], arrays: Arrays, functions: Sequence[Any]) -> None:
        self.model_ = ChainModel.from_file(header, arrays, functions)
        if self.features not in SETS:
            self.features = self.model_.features


def tagging_score(gold: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]], chunks: bool) -> float:
    """Entity F1 for chunk tags, else token accuracy; both in percent."""
    return entity_scores(gold, predicted).f1 if chunks else token_scores(gold, predicted).accuracy or 0.0


def tagging_counts(gold: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]], chunks: bool) -> Integers:
    """The same as counts, [3]: of entities there are, found and right; or of tokens, which are all found."""
    if chunks:
        scores = entity_scores(gold, predicted)
        return np.array([scores.gold, scores.predicted, scores.correct])
    tokens = token_scores(gold, predicted)
    return np.array([tokens.tokens or 0, tokens.tokens or 0, tokens.correct_tokens or 0])
