"""JointParser: trees and entities by one model, so that no entity ever crosses a constituent."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dovetail.errors import DovetailError
from dovetail.evaluate.brackets import bracket_scores
from dovetail.evaluate.nested import nested_scores
from dovetail.grammars.entities import RepairReport, fitted_all
from dovetail.learning.monitor import Monitor, Progress
from dovetail.learning.optimisers.online import AdaGrad
from dovetail.learning.priors import Prior
from dovetail.learning.tuning import best_bias
from dovetail.models.inputs import as_sentences, check_probability, labelled
from dovetail.models.joint.model import JointModel
from dovetail.models.joint.settings import JointSettings
from dovetail.models.joint.training import JointCorpus, JointTraining, Least
from dovetail.models.parser.data import treebank_of
from dovetail.models.parser.decoding import LONGEST
from dovetail.models.parser.estimator import BATCH_SENTENCES, Parser, with_tree
from dovetail.models.tagger.estimator import Tagger
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

    kind: ClassVar[str] = "joint"
    target: ClassVar[str] = "ner"
    _stored: ClassVar[Any] = JointModel

    model_: JointModel | None = field(default=None, init=False, repr=False)  # type: ignore[assignment]
    repairs_: RepairReport = field(default_factory=RepairReport, init=False, repr=False)

    def fit(
        self,
        sentences: Iterable[Sentence],
        gold: Sequence[Tree] | None = None,
        *,
        trees_only: Iterable[Sentence] = (),
        entities_only: Iterable[Sentence] = (),
        dev: Iterable[Sentence] | None = None,
        progress: Callable[[Progress], None] | None = None,
        doing: Callable[[str], None] | None = None,
    ) -> JointParser:
        """Train on sentences with trees and entities (of nested ones the outermost).

        ``gold`` has the trees, where the sentences do not; the entities are in their ``spans``.
        ``trees_only`` and ``entities_only`` are other sentences that have one and not the other: they make models of
        their own, on which the weights of the joint one lean. Entities that cross constituents are repaired or left
        out: see ``repairs_``. With ``dev``, keep the weights with the best mean of bracket F1 and entity F1 there.
        """
        self._check_settings()
        if self.features == "generative":
            raise DovetailError("features='generative' is of parsers; a joint parser is trained")
        say = doing or (lambda what: None)
        everything = _outermost(labelled(as_sentences(sentences), gold, with_tree, "training"))
        self.repairs_ = RepairReport()
        both = _clean(fitted_all(_with_trees(everything), self.repairs_), "training", self.max_length)
        trees = _clean(list(trees_only), "trees-only", self.max_length, may_be_empty=True)
        entities = [s for s in _outermost(entities_only) if 0 < len(s) <= (self.max_length or LONGEST)]
        tagger, tags = self._tags([*both, *trees], [s.tree for s in [*both, *trees] if s.tree is not None], say)
        given = self._tags_of_rest(entities, tagger)
        settings = self._settings()
        say("pruning the charts")
        corpus = JointCorpus(both, trees, entities, [*tags, *given])
        least = Least(self.entity_min_count, self.entity_min_documents)
        training = JointTraining.prepare(corpus, settings, tagger, least, self.sigma)
        monitor = Monitor(report=progress, dev_every=1, patience=self.patience)
        held_out = _outermost(as_sentences(dev)) if dev is not None else []
        if dev is not None:
            monitor.dev_score = self._joint_scorer(training, held_out)
        steps = self._steps(len(corpus.sentences))
        if isinstance(steps, AdaGrad):
            steps = replace(steps, memory=training.caution)
        weight = steps.minimise(training.objective, Prior(self.l2), training.start, monitor)
        self.model_ = self._usual(training.export(weight))
        if self.balance and dev is not None:
            self.model_ = self._balanced(self.model_, held_out)
        grammar = self.model_.joint.grammar
        self.card_ = {
            "sentences": len(both), "tokens": sum(map(len, both)), "trees_only": len(trees),
            "entities_only": len(entities), "left_out": len(everything) - len(both) + training.left_out,
            "symbols": grammar.symbols, "rules": grammar.rules + grammar.unaries, "weights": len(self.model_.weight),
            "entities": self.repairs_.entities, "entities_lost": len(self.repairs_.lost),
            "stopped": monitor.reason, "dev": self.score(held_out) if dev is not None else None,
        }  # fmt: skip
        return self

    def _tags_of_rest(self, sentences: Sequence[Sentence], tagger: Tagger | None) -> list[tuple[str, ...]]:
        if tagger is not None:
            return [tuple(tags) for tags in tagger.predict(sentences)]
        lacking = next((i for i, s in enumerate(sentences, 1) if "pos" not in s.layers), None)
        if lacking is not None:
            raise DovetailError(f"entities-only sentence {lacking} has no layer 'pos', which tags='given' needs")
        return [sentence.layers["pos"] for sentence in sentences]

    def _joint_scorer(self, training: JointTraining, dev: Sequence[Sentence]) -> Callable[[NDArray[np.float64]], float]:
        bare = [replace(sentence, spans=()) for sentence in dev]

        def dev_score(weight: NDArray[np.float64]) -> float:
            found = self._parses(self._usual(training.export(weight)), bare)
            return joint_score(
                dev, [replace(s, tree=p.tree, spans=p.entities) for s, p in zip(dev, found, strict=True)]
            )

        return dev_score

    def _usual(self, model: JointModel) -> JointModel:
        """The model with the bias of entities that suits most data."""
        return replace(model, bias=USUAL_BIAS[self.decode]) if self.balance else model

    def _balanced(self, model: JointModel, dev: Sequence[Sentence]) -> JointModel:
        """The model with the bias of entities that scores best on dev; of equal ones, the smallest."""
        bare = [replace(sentence, spans=()) for sentence in dev]
        gold = [sentence.spans for sentence in dev]

        def f1(bias: float) -> float:
            found = self._parses(replace(model, bias=bias), bare)
            return nested_scores(gold, [parse.entities for parse in found]).all.f1

        return replace(model, bias=best_bias(BIASES, f1))

    def predict_entities(self, sentences: Iterable[Any], threshold: float = 0.0) -> list[list[Span]]:
        """The entities of every sentence, each with its probability."""
        check_probability("threshold", threshold)
        corpus = as_sentences(sentences)
        found = self.parse(corpus, probabilities=True)
        return [
            [e for e in sentence.located(each.entities) if (e.probability or 0.0) >= threshold]
            for sentence, each in zip(corpus, found, strict=True)
        ]

    def _annotated(self, sentences: Iterable[Sentence], probabilities: bool) -> Iterator[Sentence]:
        """The sentences with trees, entities, and parts of speech in the layer ``pos``."""
        stream = iter(sentences)
        while some := list(islice(stream, BATCH_SENTENCES)):
            for sentence, found in zip(some, self.parse(some, probabilities), strict=True):
                made = sentence.with_entities(found.entities)
                yield replace(made, tree=found.tree).with_layer("pos", found.tree.tags())

    def score(self, sentences: Iterable[Sentence], gold: Sequence[Tree] | None = None) -> float:
        """The mean of bracket F1 and entity F1, in percent."""
        corpus = _outermost(labelled(as_sentences(sentences), gold, with_tree, "gold"))
        return joint_score(corpus, list(self.annotate([replace(s, spans=()) for s in corpus], False)))


def joint_score(gold: Sequence[Sentence], found: Sequence[Sentence]) -> float:
    """The mean of bracket F1 and entity F1 of annotated sentences, in percent."""
    trees = bracket_scores([s.tree for s in _with_trees(gold) if s.tree], [s.tree for s in found]).f1
    entities = nested_scores([s.spans for s in gold], [s.spans for s in found]).all.f1
    return (trees + entities) / 2


def _outermost(sentences: Iterable[Sentence]) -> list[Sentence]:
    return [replace(s, spans=tuple(outermost(s.spans))) for s in sentences]


def _clean(sentences: list[Sentence], what: str, max_length: int | None, may_be_empty: bool = False) -> list[Sentence]:
    """The sentences with clean trees, up to so many words."""
    if may_be_empty and not sentences:
        return []
    kept, trees = treebank_of(sentences, what, max_length)
    return [replace(sentence, tree=tree) for sentence, tree in zip(kept, trees, strict=True)]


def _with_trees(sentences: Sequence[Sentence]) -> list[Sentence]:
    for number, sentence in enumerate(sentences, 1):
        if sentence.tree is None:
            raise DovetailError(f"sentence {number} has no tree; a joint parser learns from trees with entities")
    return list(sentences)
