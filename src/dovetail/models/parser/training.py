"""Training a parser: read the grammar off the trees, prune the charts, compile the features, set up the objective."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dovetail.errors import DovetailError
from dovetail.features.algebra.parser_sets import ParserFeatures
from dovetail.features.algebra.sets import FeatureSet
from dovetail.features.resources.clusters import Clusters
from dovetail.grammars.binarise import Binarisation
from dovetail.grammars.clean import ROOTS, clean_tree, under_root
from dovetail.grammars.lexicon import Lexicon
from dovetail.grammars.pcfg import log_probabilities
from dovetail.grammars.relax import relaxed
from dovetail.grammars.treebank import TreebankGrammar, projection
from dovetail.learning.losses import Loss, likelihood
from dovetail.learning.objective import AnyObjective, Objective, Share
from dovetail.learning.priors import Prior
from dovetail.models.answer import Answer
from dovetail.models.domains.training import Domain
from dovetail.models.parser.carry import carried
from dovetail.models.parser.decoding import Decoder, Passage, answers
from dovetail.models.parser.model import ParserModel
from dovetail.models.parser.pruning import Pruner, word_groups
from dovetail.models.parser.text import compiled, frequent_words, sentence_lists, with_gaps
from dovetail.models.tagger.estimator import Tagger
from dovetail.models.training import Training
from dovetail.scorers.linear import Layout
from dovetail.scorers.listed import FeatureLists, SentenceLists, observed_layout
from dovetail.scorers.trees import BLOCKS, TreeParameters, TreeScorer, block_outputs, used_outputs
from dovetail.structures.contract import Floats, Integers
from dovetail.structures.grammar import Derivation, Mask
from dovetail.structures.grammar.parts import occupied
from dovetail.text.sentence import Sentence
from dovetail.text.tree import Tree
from dovetail.threads import run_shards

UNSEEN = -12.0  # where the weight of a rule that no tree has begins, a log-probability


@dataclass(frozen=True)
class ParserSettings:
    """What shapes a parser; see :class:`~dovetail.models.parser.estimator.Parser`."""

    binarisation: Binarisation
    relax: int | None
    rich: bool
    clusters: Mapping[str, Clusters]
    threshold: float
    min_count: int
    threads: int
    l2: float = 1.0
    loss: Loss = likelihood


@dataclass(frozen=True, eq=False)
class Treebank:
    """Clean trees with the grammar that is read off them, and each as a derivation of it."""

    grammar: TreebankGrammar
    binarisation: Binarisation
    derivations: list[Derivation]
    root: str

    @classmethod
    def of(cls, trees: Sequence[Tree], binarisation: Binarisation, relax: int | None = None) -> Treebank:
        """Read a grammar off clean trees; with ``relax``, add rules (see :func:`relaxed`)."""
        binarised = [binarisation(under_root(tree)) for tree in trees]
        grammar = TreebankGrammar.of(binarised)
        if relax is not None:
            grammar = relaxed(grammar, relax)
        derivations = [found for tree in binarised if (found := grammar.derivation(tree)) is not None]
        roots = Counter(tree.label for tree in trees if tree.label in ROOTS)
        return cls(grammar, binarisation, derivations, roots.most_common(1)[0][0] if roots else ROOTS[0])

    def pruner(self, trees: Sequence[Tree], settings: ParserSettings) -> Pruner:
        """The small grammar of the same trees, as a filter for this one."""
        coarse = Treebank.of(trees, Binarisation(direction=self.binarisation.direction))
        words, tags = [tree.words() for tree in trees], [tree.tags.tolist() for tree in coarse.derivations]
        lexicon = Lexicon.of(words, tags, coarse.grammar.grammar.tags, word_groups(settings.clusters))
        symbol = projection(self.grammar, coarse.grammar)
        if np.any(symbol < 0):
            raise DovetailError("the grammar has symbols that the trees do not have")  # cannot be: of one treebank
        return Pruner(coarse.grammar, lexicon, symbol, settings.threshold)

    def derivation(self, tree: Tree) -> Derivation | None:
        """A clean tree by the rules of the grammar; None where it does not have them."""
        return self.grammar.derivation(self.binarisation(under_root(tree)))


@dataclass(frozen=True, eq=False)
class TreebankText:
    """Sentences with their trees as features see them.

    ``keys`` by group, sorted, are those of features; ``lists`` and ``places``: the features of every sentence;
    ``layouts``: the parameters of what features are seen with in trees, by block.
    """

    treebank: Treebank
    features: ParserFeatures
    frequent: frozenset[str]
    lists: Mapping[str, FeatureLists]
    keys: Mapping[str, NDArray[np.uint64]]
    places: Sequence[SentenceLists]
    layouts: Mapping[str, Layout]

    @classmethod
    def of(
        cls, sentences: Sequence[Sentence], trees: Sequence[Tree], tags: Sequence[Sequence[str]],
        settings: ParserSettings, more: Mapping[str, FeatureSet] | None = None,
    ) -> TreebankText:  # fmt: skip
        """Read grammar and features off sentences, the first of which have the clean trees; ``more`` features too."""
        treebank = Treebank.of(trees, settings.binarisation, settings.relax)
        grammar, features = treebank.grammar.grammar, ParserFeatures.usual(settings.clusters, settings.rich)
        frequent = frequent_words(sentences)
        extended = [with_gaps(s.words, t, frequent) for s, t in zip(sentences, tags, strict=True)]
        lists, keys = compiled(extended, {**features._asdict(), **(more or {})})
        places = sentence_lists(extended, lists)
        uses = used_outputs(treebank.derivations, [place.first for place in places[: len(trees)]], grammar)
        layouts = {
            name: observed_layout(
                lists[group], *uses[name], len(keys[group]), block_outputs(grammar, name), settings.min_count
            )
            for name, (group, _) in BLOCKS.items()
        }
        return cls(treebank, features, frequent, lists, keys, places, layouts)

    def model_fields(
        self, weight: Floats, trees: Sequence[Tree], settings: ParserSettings, tagger: Tagger | None
    ) -> dict[str, Any]:
        """What a model is made of."""
        return {
            "treebank": self.treebank.grammar, "pruner": self.treebank.pruner(trees, settings),
            "features": self.features, "keys": {group: self.keys[group] for group in ParserFeatures._fields},
            "layouts": self.layouts, "weight": weight.astype(np.float32), "frequent": self.frequent,
            "root": self.treebank.root, "clusters": settings.clusters, "tagger": tagger,
        }  # fmt: skip


def rule_start(made: TreeParameters, grammar: TreebankGrammar) -> Floats:
    """Where training starts [parameters]: with the log-probabilities of the rules, and else with zero."""
    start = np.zeros(made.size)
    binary, unary, _ = log_probabilities(grammar)
    start[made.places["rule"]] = np.maximum(binary, UNSEEN)
    start[made.places["unary"]] = np.maximum(unary, UNSEEN)
    return start


def tree_objective(scorer: TreeScorer, trees: Sequence[Derivation], loss: Loss = likelihood) -> Objective:
    """The loss of the right trees of the sentences of a scorer."""

    def gold(which: Integers | None) -> tuple[Sequence[Derivation], None]:
        return (trees if which is None else [trees[i] for i in which.tolist()]), None

    return Objective(scorer, gold, loss)


@dataclass
class ParserTraining(Training):
    """A treebank made ready: the objective, where to start, and the way back to a model."""

    model: ParserModel
    treebank: Treebank
    scorer: TreeScorer
    trees: Sequence[Derivation]
    objective: AnyObjective
    origin: Floats
    settings: ParserSettings
    size: int
    """How many sentences there are to learn from."""
    dev_text: Sequence[Sequence[Passage]] = field(default=(), init=False, repr=False)
    """What is parsed of held-out sentences, looked at once."""

    @classmethod
    def prepare(
        cls,
        sentences: Sequence[Sentence],
        trees: Sequence[Tree],
        tags: Sequence[Sequence[str]],
        settings: ParserSettings,
        tagger: Tagger | None,
    ) -> ParserTraining:
        """Compile sentences with clean trees and with the parts of speech that features read."""
        text = TreebankText.of(sentences, trees, tags, settings)
        treebank = text.treebank
        start = rule_start(TreeParameters(treebank.grammar.grammar, text.layouts), treebank.grammar)
        model = ParserModel(**text.model_fields(start, trees, settings, tagger))

        def mask(i: int) -> Mask:
            found = model.mask(sentences[i].words, tags[i])
            found[occupied(treebank.grammar.grammar, treebank.derivations[i])] = 1
            return found

        masks = run_shards(mask, range(len(trees)), settings.threads)
        scorer = model.scorer(text.places, masks, settings.threads)
        right = treebank.derivations
        objective = tree_objective(scorer, right, settings.loss)
        return cls(model, treebank, scorer, right, objective, start, settings, len(trees))

    @property
    def prior(self) -> Prior:
        """The penalty on weights."""
        return Prior(self.settings.l2)

    def of_domain(self, low: int, high: int) -> Domain:
        """Some of the sentences, with the weights that any of their trees uses."""
        own = replace(self.scorer, sentences=self.scorer.sentences[low:high], masks=self.scorer.masks[low:high])
        objective = tree_objective(own, self.trees[low:high], self.settings.loss)
        share = Share.used(replace(objective, loss=likelihood), self.origin).share
        return Domain(replace(self), Share(objective, share), share, None)

    @property
    def memory(self) -> Floats | None:
        """Where the sums of squared gradients of AdaGrad begin."""
        return None

    def start(self, init: ParserModel | None = None) -> Floats:
        """Where training starts: with the log-probabilities of rules, and with what another model knows."""
        if init is None:
            return self.origin
        return carried(init.named_blocks(), init.weight, self.model.named_blocks(), self.origin)

    def derivations(self, sentences: Sequence[Sentence]) -> list[Derivation | None]:
        """The clean trees of other sentences by the rules of the grammar; None where it does not have them."""
        trees = [None if s.tree is None else clean_tree(s.tree) for s in sentences]
        return [None if tree is None else self.treebank.derivation(tree) for tree in trees]

    def fingerprint(self) -> list[NDArray[Any]]:
        """What a checkpoint belongs to."""
        return [part for tree in self.trees for part in (tree.tags, tree.binary, tree.unary)]

    def export(self, weight: Floats) -> ParserModel:
        """The trained model."""
        return self.model.with_weights(weight)

    def dev_scorer(
        self, text: Sequence[Sequence[Passage]], rate: Callable[[Sequence[Answer]], float], by_recall: bool
    ) -> Callable[[Floats], float]:
        """From weights to what the answers to other sentences, which are looked at once, are rated."""
        threads = self.settings.threads
        return lambda weight: rate(answers(Decoder(self.export(weight), by_recall), text, threads)[0])


def generative_model(trees: Sequence[Tree], settings: ParserSettings, smoothing: float) -> ParserModel:
    """A model whose scores are the log-probabilities of rules, and of words by the lexicon: counted, not trained."""
    treebank = Treebank.of(trees, settings.binarisation, settings.relax)
    none = FeatureSet("parser", ())
    layouts = {
        name: Layout(np.zeros(1, np.int64), np.zeros(0, np.uint16), block_outputs(treebank.grammar.grammar, name))
        for name in BLOCKS
    }
    made = TreeParameters(treebank.grammar.grammar, layouts)
    binary, unary, root = log_probabilities(treebank.grammar, smoothing)
    weight = np.zeros(made.size, np.float32)
    for name, values in (("rule", binary), ("unary", unary), ("root", root)):
        weight[made.places[name]] = np.maximum(values, -1e30)
    keys = {group: np.zeros(0, np.uint64) for group in ParserFeatures._fields}
    return ParserModel(
        treebank.grammar, treebank.pruner(trees, settings), ParserFeatures(none, none, none), keys, layouts, weight,
        frozenset(), treebank.root, settings.clusters, is_generative=True,
    )  # fmt: skip
