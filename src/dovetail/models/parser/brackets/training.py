"""Training a parser without a grammar: the labels of spans, the coarse weights, the fine ones over what is left."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dovetail.arrays import frozen
from dovetail.errors import DovetailError
from dovetail.evaluate.brackets import bracket_scores
from dovetail.features.compile.brackets import COARSE, SpanFeatures
from dovetail.features.resources.clusters import Clusters
from dovetail.grammars.binarise import Binarisation
from dovetail.grammars.brackets import NOTHING, Bracket, BracketLabels, bracketed
from dovetail.grammars.clean import ROOTS, clean_tree
from dovetail.learning.losses import Loss, likelihood
from dovetail.learning.monitor import Monitor
from dovetail.learning.objective import Gold, Objective
from dovetail.learning.optimisers.online import AdaGrad
from dovetail.learning.priors import Prior
from dovetail.learning.tuning import calibration
from dovetail.models.parser.brackets.decoding import BracketDecoder, Text
from dovetail.models.parser.brackets.model import NO_SPANS, BracketModel, some_of
from dovetail.models.parser.brackets.unaries import ChainedScorer, Unaries, without_chains
from dovetail.models.tagger.estimator import Tagger
from dovetail.models.training import Training
from dovetail.scorers.bracket_kernels import Kept
from dovetail.scorers.brackets import BracketScorer, RuleScorer, SpanWeights
from dovetail.structures.brackets import Brackets
from dovetail.text.sentence import Sentence
from dovetail.text.tree import Tree

Floats = NDArray[np.float64]

COARSE_SENTENCES = 1500  # more teach a few weights little
COARSE_PASSES = 4
COARSE_GAIN = 0.3
COARSE_L2 = 0.1
COARSE_COUNT = 3
ANY = "X"
"""The label of everything in a model of brackets alone."""


@dataclass(frozen=True)
class BracketSettings:
    """What shapes a parser without a grammar; see :class:`~dovetail.models.parser.estimator.Parser`."""

    binarisation: Binarisation
    labelled: bool
    ruled: bool
    clusters: Mapping[str, Clusters]
    threshold: float
    min_count: int
    threads: int
    l2: float
    loss: Loss
    seed: int
    unaries: str = "joined"


def brackets_of(tree: Tree, settings: BracketSettings) -> list[Bracket]:
    """The spans of a clean tree with the labels that have weights; in a model of brackets alone, with one."""
    found = bracketed(tree, settings.binarisation)
    if not settings.labelled:
        return [(i, j, ANY if j - i > 1 else NOTHING) for i, j, _ in found]
    return found if settings.unaries == "joined" else without_chains(found, settings.unaries == "all")


def unaries_of(
    trees: Sequence[Tree], words: Sequence[Sequence[str]], tags: Sequence[Sequence[str]], settings: BracketSettings
) -> Unaries | None:
    """The classifier of the chains that labels do not have."""
    if not settings.labelled or settings.unaries == "joined":
        return None
    whole = [bracketed(tree, settings.binarisation) for tree in trees]
    return Unaries.learn(whole, words, tags, settings.unaries == "all", settings.threads, settings.seed)


def gold_of(brackets: Brackets) -> Gold:
    """The right answers to all sentences, or to some."""
    return lambda which: (brackets if which is None else some_of(brackets, which), None)


@dataclass
class BracketTraining(Training):
    """A corpus made ready: the objective of the fine weights, its prior, and the way back to a model."""

    model: BracketModel
    scorer: BracketScorer | RuleScorer
    brackets: Brackets
    objective: Objective
    prior: Prior
    settings: BracketSettings
    lost: int
    """How many gold labels the coarse weights would have left out; in training they are kept."""
    size: int
    dev_text: Text | None = field(default=None, init=False, repr=False)

    @classmethod
    def prepare(
        cls,
        sentences: Sequence[Sentence],
        trees: Sequence[Tree],
        tags: Sequence[Sequence[str]],
        settings: BracketSettings,
        tagger: Tagger | None,
        network: Callable[[int], Any] = lambda labels: None,
    ) -> BracketTraining:
        """Compile sentences with clean trees and with the parts of speech that features read.

        ``network``: from the number of labels to what adds to the scores of spans, if anything does.
        """
        spans = [brackets_of(tree, settings) for tree in trees]
        labels = BracketLabels.of(spans)
        gold = Brackets.of([found for tree in spans if (found := labels.numbered(tree)) is not None])
        words = [sentence.words for sentence in sentences]
        everything = Kept(*NO_SPANS, *(choice.astype(np.int16) for choice in labels.choices()))
        coarse, coarse_weight = coarse_weights(words, tags, gold, len(labels), everything, settings)
        features = SpanFeatures.learn(words, 2, settings.clusters)
        roots = Counter(tree.label for tree in trees if tree.label in ROOTS)
        root = roots.most_common(1)[0][0] if roots else ROOTS[0]
        known = frozenset(word for sentence in words for word in sentence)
        unaries = unaries_of(trees, words, tags, settings)
        model = BracketModel(
            labels if unaries is None else unaries.labels, coarse, coarse_weight, coarse, coarse_weight,
            settings.threshold, root, known, tagger, settings.ruled, unaries,
        )  # fmt: skip
        looked = model.kept(words, tags, settings.threads, gold)
        fine = SpanWeights.observed(features, words, tags, looked.likely, len(labels), settings.min_count)
        scorer = model.ruler(BracketScorer.of(fine, words, tags, looked.kept, settings.threads))
        model = replace(model, fine=fine, weight=frozen(np.zeros(scorer.parameters, np.float32)))
        model = replace(model, network=network(len(labels)))
        whole = model.with_network(scorer, words, training=True, seed=settings.seed)
        exempt = None if model.network is None else np.arange(whole.parameters) >= scorer.parameters
        prior = Prior(settings.l2, exempt=exempt)
        objective = Objective(whole, gold_of(gold), settings.loss)
        return cls(model, scorer, gold, objective, prior, settings, looked.lost, len(trees))

    @property
    def memory(self) -> Floats | None:
        """Where the sums of squared gradients of AdaGrad begin."""
        return None

    def start(self, init: Any = None) -> Floats:
        """Zeros, or the weights of another model for the features and labels that it has as well."""
        start = np.zeros(self.scorer.parameters)
        if init is not None:
            if not isinstance(init, BracketModel):
                raise DovetailError("init is a parser of another kind: give one without a grammar")
            carry(init, self.model, start)
        return start if self.model.network is None else np.concatenate([start, self.model.network.weights()])

    def fingerprint(self) -> list[NDArray[Any]]:
        """What a checkpoint belongs to."""
        return [self.brackets.begin, self.brackets.end, self.brackets.label, self.model.fine.keys]

    def of_domain(self, low: int, high: int) -> Any:
        """There are no parsers of several domains without a grammar."""
        raise DovetailError("parsers of several domains have a grammar: leave kind as it is")

    def export(self, weight: Floats) -> BracketModel:
        """The trained model."""
        return self.model.with_weights(weight)

    def calibration(self, model: BracketModel, held_out: Sequence[Sentence]) -> float:
        """The factor on all weights under which held-out trees are most likely; see ``learning.tuning``.

        Sentences whose labels are not known or not looked at are left out, and so are those that are cut.
        """
        assert self.dev_text is not None
        text = self.dev_text
        known = [s for s, i in enumerate(text.owner) if text.owner.count(i) == 1]
        trees = [tree for s in known if (tree := held_out[text.owner[s]].tree) is not None]
        if not known:
            return 1.0
        own = [model.weighed.numbered(brackets_of(clean_tree(tree), self.settings)) or [] for tree in trees]
        scorer = text.scorer.spans if isinstance(text.scorer, ChainedScorer) else text.scorer
        scorer = scorer if model.network is None else replace(scorer, network=model.network)
        return calibration(scorer.batch(model.weight, np.array(known)), Brackets.of(own))

    def dev_scorer(self, text: Text, dev: Sequence[Sentence], by_recall: bool) -> Callable[[Floats], float]:
        """From weights to bracket F1 on other sentences, which are looked at once."""
        gold = [clean_tree(sentence.tree) for sentence in dev if sentence.tree is not None]

        def score(weight: Floats) -> float:
            model = self.export(weight)
            found = BracketDecoder(model, by_recall, threads=self.settings.threads).answers(of_model(text, model))
            return float(bracket_scores(gold, [answer.tree for answer in found]).f1)

        return score


def of_model(text: Text, model: BracketModel) -> Text:
    """The text as a model with another network looks at it."""
    return text if model.network is None else text._replace(scorer=replace(text.scorer, network=model.network))


def coarse_weights(
    words: Sequence[Sequence[str]], tags: Sequence[Sequence[str]], gold: Brackets, labels: int, everything: Kept,
    settings: BracketSettings,
) -> tuple[SpanWeights, NDArray[np.float32]]:  # fmt: skip
    """Which coarse features there are, and their weights, learnt from some of the sentences, taken evenly."""
    features = SpanFeatures(COARSE)
    least = min(COARSE_COUNT, settings.min_count)
    made = SpanWeights.observed(features, words, tags, gold, labels, least, with_all=True)
    if not settings.threshold:
        return made, np.zeros(made.layout.parameters, np.float32)
    some = np.arange(0, len(words), max(1, len(words) // COARSE_SENTENCES))
    own = [words[i] for i in some.tolist()], [tags[i] for i in some.tolist()]
    scorer = BracketScorer.of(made, *own, everything, settings.threads)
    objective = Objective(scorer, gold_of(some_of(gold, some)), likelihood)
    optimiser = AdaGrad(limit=COARSE_PASSES, batch=32, gain=COARSE_GAIN, seed=settings.seed)
    weight = optimiser.minimise(objective, Prior(COARSE_L2), np.zeros(scorer.parameters), Monitor())
    return made, frozen(weight.astype(np.float32))


def carry(old: BracketModel, new: BracketModel, start: Floats) -> None:
    """Set the weights [parameters of the new model] that another model has to those that it has."""
    number = old.weighed.number
    label = np.array([number.get(name, -1) for name in new.weighed.names], np.int64)[new.fine.layout.label]
    place = np.searchsorted(old.fine.keys, new.fine.keys).clip(max=max(len(old.fine.keys) - 1, 0))
    known = old.fine.keys[place] == new.fine.keys if len(old.fine.keys) else np.zeros(len(place), bool)
    feature = np.repeat(np.where(known, place, -1), np.diff(new.fine.layout.ptr))
    size = len(old.weighed)
    own = np.repeat(np.arange(len(old.fine.keys)), np.diff(old.fine.layout.ptr)) * size + old.fine.layout.label
    wanted = np.where((feature >= 0) & (label >= 0), feature * size + label, -1)
    at = np.searchsorted(own, wanted).clip(max=max(len(own) - 1, 0))
    same = (wanted >= 0) & (own[at] == wanted) if len(own) else np.zeros(len(wanted), bool)
    start[: len(same)][same] = old.weight[at[same]]
    if old.weighed.names == new.weighed.names and old.ruled and new.ruled:
        start[len(same) :] = old.weight[old.fine.layout.parameters :]
