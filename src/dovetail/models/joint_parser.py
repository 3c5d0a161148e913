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
from dovetail.learning.priors import Prior
from dovetail.models.joint_model import JointModel
from dovetail.models.joint_training import JointTraining
from dovetail.models.parser import BATCH_SENTENCES, Parser
from dovetail.models.parser_data import treebank_of
from dovetail.models.parser_training import ParserSettings
from dovetail.text.sentence import Sentence, Span
from dovetail.text.spans import outermost


@dataclass(kw_only=True, eq=False)
class JointParser(Parser):
    """A parser that finds entities with its trees, trained on sentences that have a tree and ``spans``.

    The settings are those of :class:`Parser`, which it is in all but its entities.
    """

    entity_min_count: int = 2
    """Drop features of entities that occur less often."""

    kind: ClassVar[str] = "joint"
    target: ClassVar[str] = "ner"

    model_: JointModel | None = field(default=None, init=False, repr=False)  # type: ignore[assignment]
    repairs_: RepairReport = field(default_factory=RepairReport, init=False, repr=False)

    def fit(
        self,
        sentences: Iterable[Sentence],
        *,
        dev: Iterable[Sentence] | None = None,
        progress: Callable[[Progress], None] | None = None,
        doing: Callable[[str], None] | None = None,
    ) -> JointParser:
        """Train on sentences with trees and entities (of nested ones the outermost).

        Entities that cross constituents are repaired or left out: see ``repairs_``. With ``dev``, keep the weights
        with the best mean of bracket F1 and entity F1 there.
        """
        self._check_settings()
        if self.features == "generative":
            raise DovetailError("features='generative' is of parsers; a joint parser is trained")
        say = doing or (lambda what: None)
        everything = [replace(s, spans=tuple(outermost(s.spans))) for s in sentences]
        self.repairs_ = RepairReport()
        corpus, trees = treebank_of(fitted_all(_with_trees(everything), self.repairs_), "training", self.max_length)
        tagger, tags = self._tags(corpus, trees, say)
        settings = ParserSettings(
            self._binarisation(), self.relax, self.features == "full", self.clusters or {}, self.threshold,
            self.min_count, self._threads(),
        )  # fmt: skip
        say("pruning the charts")
        training = JointTraining.prepare(corpus, trees, tags, settings, tagger, self.entity_min_count)
        monitor = Monitor(report=progress, dev_every=1, patience=self.patience)
        if dev is not None:
            held_out = [replace(s, spans=tuple(outermost(s.spans))) for s in dev]
            monitor.dev_score = self._joint_scorer(training, held_out)
        weight = self._steps(len(corpus)).minimise(training.objective, Prior(self.l2), training.start, monitor)
        self.model_ = training.export(weight)
        grammar = self.model_.joint.grammar
        self.card_ = {
            "sentences": len(corpus), "tokens": sum(map(len, corpus)),
            "left_out": len(everything) - len(corpus) + training.left_out,
            "symbols": grammar.symbols, "rules": grammar.rules + grammar.unaries, "weights": len(weight),
            "entities": self.repairs_.entities, "entities_lost": len(self.repairs_.lost),
            "stopped": monitor.reason, "dev": monitor.best_dev if monitor.best is not None else None,
        }  # fmt: skip
        return self

    def _joint_scorer(self, training: JointTraining, dev: Sequence[Sentence]) -> Callable[[NDArray[np.float64]], float]:
        bare = [replace(sentence, spans=()) for sentence in dev]

        def dev_score(weight: NDArray[np.float64]) -> float:
            found = self._parses(training.export(weight), bare)
            return joint_score(
                dev, [replace(s, tree=p.tree, spans=p.entities) for s, p in zip(dev, found, strict=True)]
            )

        return dev_score

    def predict_entities(self, sentences: Iterable[Any], threshold: float = 0.0) -> list[list[Span]]:
        """The entities of every sentence, each with its probability."""
        found = self.parse(sentences, probabilities=True)
        return [[e for e in each.entities if (e.probability or 0.0) >= threshold] for each in found]

    def annotate(self, sentences: Iterable[Sentence], probabilities: bool = True) -> Iterator[Sentence]:
        """The sentences with trees, entities, and parts of speech in the layer ``pos``."""
        stream = iter(sentences)
        while some := list(islice(stream, BATCH_SENTENCES)):
            for sentence, found in zip(some, self.parse(some, probabilities), strict=True):
                made = sentence.with_entities(found.entities)
                yield replace(made, tree=found.tree).with_layer("pos", found.tree.tags())

    def score(self, sentences: Iterable[Sentence]) -> float:
        """The mean of bracket F1 and entity F1, in percent."""
        corpus = [replace(s, spans=tuple(outermost(s.spans))) for s in sentences]
        return joint_score(corpus, list(self.annotate([replace(s, spans=()) for s in corpus], False)))


def joint_score(gold: Sequence[Sentence], found: Sequence[Sentence]) -> float:
    """The mean of bracket F1 and entity F1 of annotated sentences, in percent."""
    trees = bracket_scores([s.tree for s in _with_trees(gold) if s.tree], [s.tree for s in found]).f1
    entities = nested_scores([s.spans for s in gold], [s.spans for s in found]).all.f1
    return (trees + entities) / 2


def _with_trees(sentences: Sequence[Sentence]) -> list[Sentence]:
    for number, sentence in enumerate(sentences, 1):
        if sentence.tree is None:
            raise DovetailError(f"sentence {number} has no tree; a joint parser learns from trees with entities")
    return list(sentences)
