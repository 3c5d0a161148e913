"""JointParser: trees and entities by one model, so that no entity ever crosses a constituent."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from dovetail.errors import DovetailError
from dovetail.evaluate.nested import nested_scores
from dovetail.grammars.entities import RepairReport, fitted_all
from dovetail.learning.monitor import Monitor, Progress
from dovetail.models.inputs import as_sentences, check_probability, labelled
from dovetail.models.joint.model import JointModel
from dovetail.models.joint.training import JointCorpus, JointTraining, Least, joint_score
from dovetail.models.parser.data import clean
from dovetail.models.parser.decoding import LONGEST, Decoder, Parse, Passage, answers
from dovetail.models.parser.estimator import BATCH_SENTENCES, Parser, with_tree
from dovetail.models.tagger.estimator import Tagger
from dovetail.models.tagger.tuning import best_bias
from dovetail.text.sentence import Sentence, Span
from dovetail.text.spans import outermost
from dovetail.text.tree import Tree

BIASES = np.arange(-1.0, 3.1, 0.5)  # what an entity may be worth, beyond what the model says
USUAL_BIAS = {"viterbi": 0.5, "recall": 1.5}
"""Models of a few hundred sentences are timid about entities, the more so by recall, which asks for half of the
probability: chosen on ten such genres of GUM."""


@dataclass(kw_only=True, eq=False)
class JointParser(Parser):
    """A parser that finds entities with its trees, trained on sentences that have a tree and ``spans``.

    The settings are those of :class:`Parser`, which it is in all but its entities.
    """

    entity_min_count: int = 2
    """Drop features of entities that occur less often."""
    entity_min_documents: int = 1
    """Drop features of entities that occur in fewer documents: see ``Tagger.min_documents``."""
    sigma: float = 0.3
    """How far models of trees alone and of entities alone may differ from the shared weights; 0 for not at all."""
    balance: bool = True
    """Choose on dev how much an entity adds to the score of a tree, for the best F1; without dev it is 0.5."""

    kind: ClassVar[str] = "joint"
    target: ClassVar[str] = "ner"
    _stored: ClassVar[Any] = JointModel

    model_: JointModel | None = field(default=None, init=False, repr=False)
    repairs_: RepairReport = field(default_factory=RepairReport, init=False, repr=False)

    def fit(
        self,
        sentences: Iterable[Sentence],
        gold: Sequence[Tree] | None = None,
        *,
        trees_only: Iterable[Sentence] = (),
        entities_only: Iterable[Sentence] = (),
        dev: Iterable[Sentence] | None = None,
        init: Parser | None = None,
        checkpoint: str | Path | None = None,
        progress: Callable[[Progress], None] | None = None,
        doing: Callable[[str], None] | None = None,
    ) -> JointParser:
        """Train on sentences with trees and entities (of nested ones the outermost).

        ``gold`` has the trees, where the sentences do not; the entities are in their ``spans``.
        ``trees_only`` and ``entities_only`` are other sentences that have one and not the other: they make models of
        their own, on which the weights of the joint one lean. Entities that cross constituents are repaired or left
        out: see ``repairs_``. With ``dev``, keep the weights with the best mean of bracket F1 and entity F1 there. The
        rest is as in :meth:`Parser.fit`.
        """
        self._check_settings()
        if self.features == "generative":
            raise DovetailError("features='generative' is of parsers; a joint parser is trained")
        say = doing or (lambda what: None)
        everything = _outermost(labelled(as_sentences(sentences), gold, with_tree, "training"))
        self.repairs_ = RepairReport()
        both = clean(fitted_all(_with_trees(everything), self.repairs_), "training", self.max_length)
        lone_trees = list(trees_only)
        trees = clean(lone_trees, "trees-only", self.max_length) if lone_trees else []
        entities = [s for s in _outermost(entities_only) if 0 < len(s) <= (self.max_length or LONGEST)]
        tagger, tags = self._tags([*both, *trees], [s.tree for s in [*both, *trees] if s.tree is not None], say)
        given = self._tags_of_rest(entities, tagger)
        say("pruning the charts")
        corpus = JointCorpus(both, trees, entities, [*tags, *given])
        least = Least(self.entity_min_count, self.entity_min_documents)
        bias = USUAL_BIAS[self.decode] if self.balance else 0.0
        training = JointTraining.prepare_joint(corpus, self._settings(), tagger, least, self.sigma, bias)
        monitor = Monitor(report=progress)
        held_out = _outermost(as_sentences(dev)) if dev is not None else []
        text = self._passages(training.model, [replace(sentence, spans=()) for sentence in held_out])
        model = self._learn(training, len(corpus.sentences), text, held_out, monitor, init, checkpoint)
        if self.balance and dev is not None:
            model = self._balanced(model, text, held_out)
        self.model_ = model
        grammar, score = model.joint.grammar, None
        if dev is not None:
            score = joint_score(held_out, self._answers([model], text)[0])
        self.card_ = {
            "sentences": len(both), "tokens": sum(map(len, both)), "trees_only": len(trees),
            "entities_only": len(entities), "left_out": len(everything) - len(both) + training.left_out,
            "symbols": grammar.symbols, "rules": grammar.rules + grammar.unaries, "weights": len(model.weight),
            "entities": self.repairs_.entities, "entities_lost": len(self.repairs_.lost),
            "stopped": monitor.reason, "dev": score,
        }  # fmt: skip
        return self

    def _tags_of_rest(self, sentences: Sequence[Sentence], tagger: Tagger | None) -> list[tuple[str, ...]]:
        if tagger is not None:
            return [tuple(tags) for tags in tagger.predict(sentences)]
        lacking = next((i for i, s in enumerate(sentences, 1) if "pos" not in s.layers), None)
        if lacking is not None:
            raise DovetailError(f"entities-only sentence {lacking} has no layer 'pos', which tags='given' needs")
        return [sentence.layers["pos"] for sentence in sentences]

    def _answers(self, models: Sequence[JointModel], text: Sequence[Sequence[Passage]]) -> list[list[Parse]]:
        """The parses by models that differ in their bias alone."""
        return answers(Decoder(models[0], self.decode == "recall"), text, self._threads(), models)

    def _balanced(self, model: JointModel, text: Sequence[Sequence[Passage]], dev: Sequence[Sentence]) -> JointModel:
        """The model with the bias of entities that scores best on dev; of equal ones, the smallest."""
        gold, biases = [sentence.spans for sentence in dev], BIASES.tolist()
        every = self._answers([replace(model, bias=bias) for bias in biases], text)
        f1 = {b: nested_scores(gold, [p.entities for p in own]).all.f1 for b, own in zip(biases, every, strict=True)}
        return replace(model, bias=best_bias(BIASES, f1.__getitem__))

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
        return joint_score(_with_trees(corpus), self.parse([replace(s, spans=()) for s in corpus]))


def _outermost(sentences: Iterable[Sentence]) -> list[Sentence]:
    return [replace(s, spans=tuple(outermost(s.spans))) for s in sentences]


def _with_trees(sentences: Sequence[Sentence]) -> list[Sentence]:
    for number, sentence in enumerate(sentences, 1):
        if sentence.tree is None:
            raise DovetailError(f"sentence {number} has no tree; a joint parser learns from trees with entities")
    return list(sentences)
