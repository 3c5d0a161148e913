"""JointParser: trees and entities by one model, so that no entity ever crosses a constituent."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from dovetail.errors import DovetailError
from dovetail.evaluate.nested import nested_scores
from dovetail.grammars.entities import RepairReport, fitted_all
from dovetail.learning.losses import LOSSES
from dovetail.learning.tuning import best_bias
from dovetail.modelfile import Arrays
from dovetail.models.answer import Answer, probable
from dovetail.models.inputs import as_sentences, check_probability, labelled
from dovetail.models.joint.model import JointModel
from dovetail.models.joint.settings import JointSettings
from dovetail.models.joint.soft.alone import SoftCorpus, SoftSettings
from dovetail.models.joint.soft.decoding import SoftDecoder
from dovetail.models.joint.soft.explain import explain_constituent_of, explain_entity, span_at
from dovetail.models.joint.soft.model import SoftModel
from dovetail.models.joint.soft.training import BONUSES, SoftTraining
from dovetail.models.joint.training import JointCorpus, JointTraining, Least, joint_score
from dovetail.models.parser.brackets.decoding import Text
from dovetail.models.parser.data import clean
from dovetail.models.parser.decoding import LONGEST, Decoder, Passage, answers
from dovetail.models.parser.estimator import SPAN_L2, Parser, with_tree
from dovetail.models.parser.explain import ConstituentExplanation
from dovetail.models.tagger.estimator import Tagger
from dovetail.models.training import Run
from dovetail.text.given import as_sentence
from dovetail.text.sentence import Sentence, Span
from dovetail.text.spans import outermost
from dovetail.text.tree import Tree

BIASES = np.arange(-1.0, 3.1, 0.5)  # what an entity may be worth, beyond what the model says
USUAL_BIAS = {"viterbi": 0.5, "recall": 1.5}
"""Models of a few hundred sentences are timid about entities, the more so by recall, which asks for half of the
probability: chosen on ten such genres of GUM."""


@dataclass(kw_only=True, eq=False)
class JointParser(JointSettings, Parser):
    """A parser that finds entities with its trees, trained on sentences that have a tree and ``spans``.

    The settings are those of :class:`Parser`, which it is in all but its entities.
    """

    kind: ClassVar[str] = "joint"  # type: ignore[misc]  # one kind, and no setting
    target: ClassVar[str] = "ner"
    _stored: ClassVar[Any] = JointModel

    model_: Any = field(default=None, init=False, repr=False)
    """A ``JointModel``, or a ``SoftModel``."""
    repairs_: RepairReport = field(default_factory=RepairReport, init=False, repr=False)
    _more: tuple[list[Sentence], list[Sentence]] = field(default=([], []), init=False, repr=False)

    @classmethod
    def stored_kind(cls) -> str:
        """What model files say that it is."""
        return cls.kind

    def fit(
        self,
        X: Iterable[Sentence],
        y: Sequence[Tree] | None = None,
        *,
        trees_only: Iterable[Sentence] = (),
        entities_only: Iterable[Sentence] = (),
        **how: Any,
    ) -> Self:
        """Train on sentences with trees and entities (of nested ones the outermost): see ``Estimator.fit``.

        ``y`` has the trees, where the sentences do not; the entities are in their ``spans``. ``trees_only`` and
        ``entities_only`` are other sentences that have one and not the other: they make models of their own, on which
        the weights of the joint one lean. Entities that cross constituents are repaired or left out: see ``repairs_``.
        With ``dev``, keep the weights with the best mean of bracket F1 and entity F1 there.
        """
        self._more = list(trees_only), list(entities_only)
        try:
            return super().fit(X, y, **how)
        finally:
            self._more = [], []

    def check_settings(self) -> None:
        """As for a parser, but that it is trained."""
        super().check_settings()
        if self.features == "generative":
            raise DovetailError("features='generative' is of parsers; a joint parser is trained")
        if self.encoder is not None:
            raise DovetailError("encoder is of parsers without a grammar; a joint parser has none")
        if self.cross_validate:
            raise DovetailError("cross_validate is of parsers; a joint parser chooses on dev alone")
        if self.engine != "bp" and not self._soft:
            raise DovetailError(f"engine={self.engine!r} is for coupling='soft': one grammar has one best tree")
        if self.pool is not None:
            raise DovetailError("pool is of parsers of trees alone; a joint parser is one model")

    def _examples(self, given: Any, answers: Sequence[Tree] | None, what: str) -> list[Sentence]:
        """Sentences with trees and flat entities; those of training fit their clean trees."""
        corpus = _outermost(labelled(as_sentences(given), answers, with_tree, what))
        if what != "training":
            return _with_trees(corpus)
        self.repairs_ = RepairReport()
        fitted = fitted_all(_with_trees(corpus), self.repairs_)
        kept = clean(_with_trees(corpus) if self._soft else fitted, what, self.max_length)
        self.card_["left_out"] = len(corpus) - len(kept)
        return kept

    @property
    def _soft(self) -> bool:
        return self.coupling == "soft"

    @property
    def _by_recall(self) -> bool:
        return self._soft if self.decode is None else self.decode == "recall"

    def _prepare(self, corpus: list[Sentence], held_out: list[Sentence] | None, run: Run) -> Any:
        lone_trees, lone_entities = self._more
        trees = clean(lone_trees, "trees-only", self.max_length) if lone_trees else []
        entities = [s for s in _outermost(lone_entities) if 0 < len(s) <= (self.max_length or LONGEST)]
        parsed = [*corpus, *trees]
        tagger, tags = self._tags(parsed, [s.tree for s in parsed if s.tree is not None], run.doing)
        tags = [*tags, *self._tags_of_rest(entities, tagger)]
        self.card_ |= {
            "trees_only": len(trees), "entities_only": len(entities), "entities": self.repairs_.entities,
            "entities_lost": 0 if self._soft else len(self.repairs_.lost),
        }  # fmt: skip
        if self._soft:
            how = SoftSettings(
                self._bracket_settings(), self.entity_min_count, self.clusters or {}, self._threads(),
                SPAN_L2 if self.l2 is None else self.l2,
                LOSSES[self._loss()], self.seed, self.coupled_training == "all",
            )  # fmt: skip
            return SoftTraining.prepare(SoftCorpus(corpus, trees, entities, tags), how, tagger, run.doing)
        everything = JointCorpus(corpus, trees, entities, tags)
        run.doing("pruning the charts")
        least = Least(self.entity_min_count, self.entity_min_documents)
        bias = USUAL_BIAS["recall" if self._by_recall else "viterbi"] if self.balance else 0.0
        training = JointTraining.prepare_joint(everything, self._settings(), tagger, least, self.sigma, bias)
        self.card_["left_out"] += training.left_out
        return training

    def _tags_of_rest(self, sentences: Sequence[Sentence], tagger: Tagger | None) -> list[tuple[str, ...]]:
        if tagger is not None:
            return [tuple(tags) for tags in tagger.predict(sentences)]
        lacking = next((i for i, s in enumerate(sentences, 1) if "pos" not in s.layers), None)
        if lacking is not None:
            raise DovetailError(f"entities-only sentence {lacking} has no layer 'pos', which tags='given' needs")
        return [sentence.layers["pos"] for sentence in sentences]

    def _dev_scorer(self, training: Any, held_out: list[Sentence]) -> Callable[[NDArray[np.float64]], float]:
        if not self._soft:
            return super()._dev_scorer(training, held_out)
        training.dev_text = self._soft_text(training.model, held_out)
        scorer: Callable[[NDArray[np.float64]], float] = training.dev_scorer(
            training.dev_text, held_out, self._by_recall
        )
        return scorer

    def _held_out_score(self, held_out: list[Sentence], training: Any) -> float:
        if not self._soft:
            return super()._held_out_score(held_out, training)
        return self._score_of(held_out, self._soft_decoder().answers(training.dev_text))

    def _tuned(self, model: Any, held_out: list[Sentence], training: Any) -> Any:
        """The model with the bias of entities that scores best on dev; of equal ones, the smallest."""
        gold = [sentence.spans for sentence in held_out]
        if self._soft:
            if not self.balance:
                return model
            every = SoftDecoder(model, self._by_recall).by_each(training.dev_text, BONUSES.tolist())
            scores = dict(zip(BONUSES.tolist(), (_entity_f1(gold, own) for own in every), strict=True))
            return replace(model, bonus=best_bias(BONUSES, scores.__getitem__))
        model = super()._tuned(model, held_out, training)
        if not self.balance:
            return model
        biases = BIASES.tolist()
        every = self._by_each([replace(model, bias=bias) for bias in biases], training.dev_text)
        f1 = {b: _entity_f1(gold, own) for b, own in zip(biases, every, strict=True)}
        return replace(model, bias=best_bias(BIASES, f1.__getitem__))

    def _by_each(self, models: Sequence[JointModel], text: Sequence[Sequence[Passage]]) -> list[list[Answer]]:
        """The answers of models that differ in their bias alone."""
        return answers(Decoder(models[0], self._by_recall), text, self._threads(), models)

    @property
    def writes(self) -> tuple[str, ...]:
        """The tree, its parts of speech, and the entities as spans and as tags."""
        return ("tree", *(("pos",) if "pos" not in self.reads else ()), "ner", "spans")

    def stages(self) -> list[Any]:
        """As of a parser; where trees and entities are coupled softly, itself alone."""
        return [self] if self._soft else super().stages()

    def _scaled(self, factor: float) -> Any:
        return None if self._soft else super()._scaled(factor)

    def _draws(self, sentences: Sequence[Any], counts: Sequence[int], rngs: Any) -> Iterator[list[Answer]]:
        if not self._soft:
            yield from super()._draws(sentences, counts, rngs)
            return
        for sentence, count, rng in zip(sentences, counts, rngs, strict=True):
            yield from self._sample([sentence], count, rng)

    # answers of coupled structures

    def _answers(self, sentences: list[Sentence], probabilities: bool) -> list[Answer]:
        if not self._soft:
            return super()._answers(sentences, probabilities)
        if not sentences:
            return []
        return self._soft_decoder(probabilities).answers(self._soft_text(self._model(), sentences))

    def _kbest(self, sentences: list[Sentence], k: int) -> Iterator[list[Answer]]:
        if not self._soft:
            return super()._kbest(sentences, k)
        return self._soft_decoder().kbest(self._soft_text(self._model(), sentences, whole=True), k)

    def _sample(self, sentences: list[Sentence], n: int, rng: np.random.Generator) -> Iterator[list[Answer]]:
        if not self._soft:
            return super()._sample(sentences, n, rng)
        return self._soft_decoder().sample(self._soft_text(self._model(), sentences, whole=True), n, rng)

    def predict_marginals(self, X: Iterable[Any], least: float = 0.0) -> list[list[Span]]:
        """For every sentence all constituents that are more probable than ``least``, with their probabilities."""
        if not self._soft:
            return super().predict_marginals(X, least)
        check_probability("least", least)
        corpus = as_sentences(X)
        return self._soft_decoder().constituents(self._soft_text(self._model(), corpus), least) if corpus else []

    def explain(self, sentence: Any, start: int, end: int, label: str | None = None) -> ConstituentExplanation:
        """Why words ``start`` up to ``end`` are a constituent or an entity, with this label if one is given.

        Only with ``coupling="soft"``. A constituent comes first: for an entity, give its type.
        """
        if not self._soft:
            raise DovetailError("trees and entities of one grammar cannot be explained, only those of coupling='soft'")
        one, model = as_sentence(sentence), self._model()
        [found] = self.parse([one], probabilities=True)
        constituents, entities = found.tree.spans()[1:] if found.tree is not None else [], found.spans or ()
        for spans, why in ((constituents, explain_constituent_of), (entities, explain_entity)):
            if (span := span_at(spans, start, end, label)) is not None:
                text = self._soft_text(model, [one], whole=True)
                return why(model, text, start, end, span.label, float(span.probability or 0.0))
        there = ", ".join(f"{s.label} {' '.join(one.words[s.start : s.end])!r}" for s in (*constituents, *entities))
        given = " ".join(one.words[start:end])
        raise DovetailError(
            f"{given!r} is not a {label or 'constituent, and no entity,'} of the answer; it has {there}"
        )

    def _soft_decoder(self, probabilities: bool = False) -> SoftDecoder:
        return SoftDecoder(self._model(), self._by_recall, probabilities, self.engine)

    def _soft_text(self, model: SoftModel, corpus: Sequence[Sentence], whole: bool = False) -> Text:
        return self._text(model.brackets, corpus, whole)

    def _unpack(self, header: dict[str, Any], arrays: Arrays, functions: Sequence[Any]) -> None:
        stored: Any = SoftModel if self._soft else JointModel
        self.model_ = stored.from_file(header, arrays)

    def predict_entities(self, sentences: Iterable[Any], threshold: float = 0.0) -> list[list[Span]]:
        """The entities of every sentence, each with its probability."""
        check_probability("threshold", threshold)
        corpus = as_sentences(sentences)
        found = self.parse(corpus, probabilities=True)
        pairs = zip(corpus, found, strict=True)
        return [probable(sentence.located(each.spans or ()), threshold) for sentence, each in pairs]

    def _score_of(self, gold: Sequence[Sentence], found: Sequence[Answer]) -> float:
        """The mean of bracket F1 and entity F1, in percent."""
        return joint_score(gold, found)

    def _dev_gold(self, held_out: list[Sentence]) -> list[Sentence]:
        return held_out


def _entity_f1(gold: Sequence[Sequence[Span]], found: Sequence[Answer]) -> float:
    return float(nested_scores(gold, [answer.spans or () for answer in found]).all.f1)


def _outermost(sentences: Iterable[Sentence]) -> list[Sentence]:
    return [replace(s, spans=tuple(outermost(s.spans))) for s in sentences]


def _with_trees(sentences: Sequence[Sentence]) -> list[Sentence]:
    for number, sentence in enumerate(sentences, 1):
        if sentence.tree is None:
            raise DovetailError(f"sentence {number} has no tree; a joint parser learns from trees with entities")
    return list(sentences)
