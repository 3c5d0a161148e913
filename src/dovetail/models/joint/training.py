"""Training a joint parser: entities fitted to trees, one grammar for both, features compiled once for all data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from dovetail.errors import DovetailError
from dovetail.evaluate.brackets import bracket_scores
from dovetail.evaluate.nested import nested_scores
from dovetail.features.algebra.sets import FeatureSet
from dovetail.features.compile.documents import document_numbers, documents_with, nothing_left
from dovetail.grammars.clean import clean_tree
from dovetail.grammars.entities import RepairReport, fitted_all, with_entity_nodes, with_possessives
from dovetail.grammars.joint import Carriers, JointGrammar
from dovetail.learning.hierarchical import BaseModel, HierarchicalObjective
from dovetail.learning.losses import Loss, likelihood
from dovetail.learning.objective import Objective
from dovetail.learning.optimisers.lbfgs import LBFGS
from dovetail.learning.priors import Prior
from dovetail.models.answer import Answer
from dovetail.models.joint.model import JointModel, widened
from dovetail.models.parser.carry import carried
from dovetail.models.parser.data import gold_trees
from dovetail.models.parser.model import ParserModel
from dovetail.models.parser.training import ParserSettings, ParserTraining, TreebankText, rule_start, tree_objective
from dovetail.models.tagger.estimator import Tagger
from dovetail.scorers.entities import EntityParameters, EntityScorer, entity_layout
from dovetail.scorers.joint_trees import JointParameters
from dovetail.scorers.listed import FeatureLists, SentenceLists
from dovetail.scorers.trees import TreeParameters, TreeScorer
from dovetail.structures.contract import Booleans, Floats, Integers
from dovetail.structures.grammar import Derivation, Mask
from dovetail.structures.grammar.parts import occupied
from dovetail.structures.semimarkov import Segments
from dovetail.text.sentence import Sentence, Span
from dovetail.text.tree import Tree
from dovetail.threads import run_shards

ENTITY_PASSES = 100
ENTITY_L2 = 0.2  # on the weights of entities where these begin, learnt without trees
CAUTION = 1.0  # as if the gradients of these weights had been 1 once: the parser's own weights start without
COVERED = 0.998  # of the entities have a word with one of the tags that names have


def entity_feature_set(clusters: Mapping[str, Any]) -> FeatureSet:
    """The features of a word for the entity around it: those of a tagger of names, and parts of speech."""
    lines = [str(t) for t in FeatureSet.named("ner").without_elsewhere().templates if "pos" not in str(t)]
    lines += ["pos[-1]", "pos[0]", "pos[1]", "pos[-1] & pos[0]", "pos[0] & pos[1]"]
    for name, found in clusters.items():
        lines.append(f"cluster({name}, {', '.join(map(str, found.levels))})[-1:2]")
    return FeatureSet.from_lines("entities", [line for line in lines if not line.startswith("edge")], (), clusters)


class Least(NamedTuple):
    """How often a feature of entities must occur: at so many words, in so many documents."""

    words: int
    documents: int


def wanted_features(
    lists: FeatureLists, features: int, sentences: Sequence[SentenceLists], documents: Integers, least: Least
) -> Booleans:
    """The features that occur often enough, [features]. documents: that of each of the sentences."""
    often: Booleans = np.bincount(lists.feature, minlength=features) >= least.words
    if least.documents > 1:
        where = np.full(len(lists.ptr) - 1, -1, np.int64)
        for sentence, document in zip(sentences, documents.tolist(), strict=True):
            where[sentence.first : sentence.first + sentence.length] = document
        often &= documents_with(*lists, where, features) >= least.documents
    if not often.any():
        limits = ("entity_min_count", least.words), ("entity_min_documents", least.documents)
        raise nothing_left("feature of entities", *limits)
    return often


def nameable_tags(tags: Sequence[Sequence[str]], entities: Sequence[Sequence[Span]]) -> frozenset[str]:
    """The fewest tags, taken greedily, such that nearly every entity has a word with one of them."""
    left = [set(t[e.start : e.end]) for t, each in zip(tags, entities, strict=True) for e in each]
    allowed = len(left) * (1 - COVERED)
    found: set[str] = set()
    while len(left) > allowed:
        counts = Counter(tag for some in left for tag in some)
        best = max(counts, key=lambda tag: (counts[tag], tag))
        found.add(best)
        left = [some for some in left if best not in some]
    return frozenset(found)


def with_nodes(tree: Tree, entities: Sequence[Span]) -> Tree:
    """A clean tree with possessives split, and a node for every entity."""
    return with_entity_nodes(with_possessives(tree, entities), entities)


@dataclass(frozen=True)
class JointCorpus:
    """Sentences with clean trees and fitting entities, with trees alone, with entities alone; and all their tags."""

    both: list[Sentence]
    trees_only: list[Sentence]
    entities_only: list[Sentence]
    tags: list[tuple[str, ...]]

    @property
    def sentences(self) -> list[Sentence]:
        """All of them, in this order."""
        return [*self.both, *self.trees_only, *self.entities_only]

    @property
    def parsed(self) -> list[Sentence]:
        """Those with trees."""
        return [*self.both, *self.trees_only]

    @cached_property
    def trees(self) -> list[Tree]:
        """The trees, with possessives split and a node for every entity."""
        whole = []
        for number, sentence in enumerate(self.parsed):
            entities = sentence.spans if number < len(self.both) else ()
            assert sentence.tree is not None
            whole.append(with_nodes(sentence.tree, entities))
        return whole

    @property
    def entities(self) -> list[tuple[Span, ...]]:
        """The entities of every sentence; none where they are not annotated."""
        none = [()] * len(self.trees_only)
        return [*(s.spans for s in self.both), *none, *(s.spans for s in self.entities_only)]

    @property
    def annotated_documents(self) -> Integers:
        """The document of every sentence with entities; no document is in two corpora."""
        own, others = document_numbers(self.both), document_numbers(self.entities_only)
        return np.concatenate([own, others + own.max(initial=-1) + 1])


@dataclass(frozen=True, eq=False)
class _Compiled:
    """A corpus with its grammars and features.

    ``flat``: the entities of every sentence, of numbered types; ``annotated``: the sentences that have entities;
    ``made``: the parameters; ``names``: the tags that names have.
    """

    corpus: JointCorpus
    settings: ParserSettings
    text: TreebankText
    entity_features: FeatureSet
    flat: Sequence[Sequence[tuple[int, int, int]]]
    annotated: Sequence[int]
    made: JointParameters
    names: frozenset[str]

    @classmethod
    def of(cls, corpus: JointCorpus, settings: ParserSettings, least: Least) -> _Compiled:
        """Read the grammars and the features off a corpus."""
        types = sorted({entity.label for each in corpus.entities for entity in each})
        if not types:
            raise DovetailError("the training data has no entities: train a parser, or give entities")
        more = {"entity": entity_feature_set(settings.clusters)}
        text = TreebankText.of(corpus.sentences, corpus.trees, corpus.tags, settings, more)
        base, places, size = text.treebank.grammar, text.places, len(text.keys["entity"])
        carriers = Carriers.of(base, zip(text.treebank.derivations, corpus.entities, strict=False))
        number = {name: i for i, name in enumerate(types)}
        flat = [[(e.start, e.end, number[e.label]) for e in each] for each in corpus.entities]
        annotated = [i for i in range(len(places)) if i < len(corpus.both) or i >= len(corpus.parsed)]
        where, which = [places[i] for i in annotated], [flat[i] for i in annotated]
        often = wanted_features(text.lists["entity"], size, where, corpus.annotated_documents, least)
        entities = EntityParameters(len(types), entity_layout(where, which, size, len(types), often))
        joint = JointGrammar.of(base, types, carriers)
        made = JointParameters(joint, TreeParameters(base.grammar, text.layouts), entities)
        names = nameable_tags([corpus.tags[i] for i in annotated], [corpus.entities[i] for i in annotated])
        return cls(corpus, settings, text, more["entity"], flat, annotated, made, names)

    def entity_objective(self, which: Sequence[int]) -> Objective:
        """The loss of the entities of some sentences, by themselves."""
        known = [self.flat[i] for i in which]
        longest = max((end - begin for each in known for begin, end, _ in each), default=1)
        places = [self.text.places[i] for i in which]
        scorer = EntityScorer(self.made.entities, places, longest, self.settings.threads)
        return entity_objective(scorer, known, self.settings.loss)

    def start(self) -> Floats:
        """Where training starts [parameters]: rules by their counts, entities as they are best without trees."""
        found = np.zeros(self.made.size)
        found[: self.made.parser.size] = rule_start(self.made.parser, self.text.treebank.grammar)
        alone = replace(self.entity_objective(self.annotated), loss=likelihood)
        weight = LBFGS(limit=ENTITY_PASSES).minimise(alone, Prior(ENTITY_L2), np.zeros(alone.parameters))
        found[self.made.places["entities"]] = weight
        return found

    def model(self, weight: Floats, tagger: Tagger | None, bias: float) -> JointModel:
        """The model with these weights."""
        made, keys = self.made, self.text.keys["entity"]
        return JointModel(
            **self.text.model_fields(weight, self.corpus.trees, self.settings, tagger), joint=made.joint,
            entity_features=self.entity_features, entity_keys=keys, entity_layout=made.entities.layout,
            nameable=self.names, bias=bias,
        )  # fmt: skip

    def examples(self, model: JointModel) -> list[tuple[SentenceLists, Mask, Derivation] | None]:
        """The sentences with trees, their masks and trees; None where entities do not fit the grammar."""
        corpus, places, joint = self.corpus, self.text.places, self.made.joint
        base, derivations = self.text.treebank.grammar.grammar, self.text.treebank.derivations

        def example(i: int) -> tuple[SentenceLists, Mask, Derivation] | None:
            mask = model.plain_mask(corpus.sentences[i].words, corpus.tags[i])
            mask[occupied(base, derivations[i])] = 1
            if i >= len(corpus.both):
                return places[i], mask, derivations[i]
            tree = joint.derivation(derivations[i], corpus.both[i].spans)
            if tree is None:
                return None
            mask = widened(mask, corpus.tags[i], self.names, joint)
            mask[occupied(joint.grammar, tree)] = 1
            return places[i], mask, tree

        return run_shards(example, range(len(corpus.parsed)), self.settings.threads)


def entity_objective(
    scorer: EntityScorer, entities: Sequence[Sequence[tuple[int, int, int]]], loss: Loss = likelihood
) -> Objective:
    """The loss of the entities of the sentences of a scorer: of each, ``(begin, end, type)``, flat."""

    def gold(which: Integers | None) -> tuple[Segments, None]:
        some = range(len(entities)) if which is None else which.tolist()
        offsets = np.cumsum([0, *(scorer.sentences[i].length for i in some)])
        length, label = np.ones(int(offsets[-1]), np.int32), np.zeros(int(offsets[-1]), np.int32)
        for i, first in zip(some, offsets.tolist(), strict=False):
            for begin, end, kind in entities[i]:
                length[first + begin : first + end] = 0
                length[first + begin], label[first + begin] = end - begin, kind + 1
        return Segments.of_tokens(length, label, offsets), None

    return Objective(scorer, gold, loss)


@dataclass
class JointTraining(ParserTraining):
    """A corpus made ready: the objective, where to start, and the way back to a model.

    Where some sentences have trees alone or entities alone, there are up to three models, for both and for either,
    whose weights lean on each other by a hierarchical prior; the first is the one to keep. ``origin`` has the
    weights of entities as they are best without trees.
    """

    model: JointModel
    left_out: int

    @classmethod
    def prepare_joint(
        cls,
        corpus: JointCorpus,
        settings: ParserSettings,
        tagger: Tagger | None,
        least: Least,
        sigma: float,
        bias: float = 0.0,
    ) -> JointTraining:
        """Compile a corpus and set up its objective."""
        ready = _Compiled.of(corpus, settings, least)
        made, start = ready.made, ready.start()
        model = ready.model(start, tagger, bias)
        examples = [each for each in ready.examples(model) if each is not None]
        kept = len(examples) - len(corpus.trees_only)
        places, masks, trees = zip(*examples[:kept], strict=True)
        scorer = model.scorer(places, masks, settings.threads)
        objective = tree_objective(scorer, trees, settings.loss)
        left_out = len(corpus.both) - kept
        done = cls(
            model, ready.text.treebank, scorer, trees, objective, start, settings, len(corpus.sentences), left_out
        )
        if not corpus.trees_only and not corpus.entities_only:
            return done
        models = [BaseModel(objective, None, sigma)]
        if corpus.trees_only:
            places, masks, trees = zip(*examples[kept:], strict=True)
            alone = tree_objective(
                TreeScorer(made.parser, places, masks, scorer.roots, settings.threads), trees, settings.loss
            )
            models.append(BaseModel(alone, np.arange(made.parser.size), sigma))
        if corpus.entities_only:
            others = ready.entity_objective(range(len(corpus.parsed), len(corpus.sentences)))
            place = made.places["entities"]
            models.append(BaseModel(others, np.arange(place.start, place.stop), sigma))
        together = HierarchicalObjective(models, made.size)
        return replace(done, objective=together, origin=together.start(start))

    @property
    def memory(self) -> Floats:
        """For ``AdaGrad.memory`` [parameters]: small first steps for all weights but those of trees.

        With full ones, where entities start from would be lost again: words have so many features for entities that
        names are soon known by heart.
        """
        found = np.zeros(self.scorer.parameters)
        found[self.model.blocks.size :] = CAUTION
        whole = self.objective
        return whole.spread_out(found) if isinstance(whole, HierarchicalObjective) else found

    def start(self, init: ParserModel | None = None) -> Floats:
        """Where training starts: with what another model knows, be it a joint one or not."""
        whole = self.objective
        if init is None or not isinstance(whole, HierarchicalObjective):
            return super().start(init)
        blocks = init.named_blocks(), init.weight, self.model.named_blocks()
        return whole.start(carried(*blocks, whole.weights_of(0, self.origin)))

    def derivations(self, sentences: Sequence[Sentence]) -> list[Derivation | None]:
        """The trees and entities of other sentences by the rules of the grammar; None where it does not have them."""
        found = []
        for sentence in fitted_all(sentences, RepairReport()):
            tree = with_nodes(clean_tree(sentence.tree), sentence.spans) if sentence.tree is not None else None
            plain = self.treebank.derivation(tree) if tree is not None else None
            known = {span.label for span in sentence.spans} <= set(self.model.joint.types)
            found.append(self.model.joint.derivation(plain, sentence.spans) if plain is not None and known else None)
        return found

    def export(self, weight: Floats) -> JointModel:
        """The trained model."""
        whole = self.objective
        return self.model.with_weights(
            whole.weights_of(0, weight) if isinstance(whole, HierarchicalObjective) else weight
        )


def joint_score(gold: Sequence[Sentence], found: Sequence[Answer]) -> float:
    """The mean of bracket F1 and entity F1, in percent."""
    trees = bracket_scores(gold_trees(gold, "gold"), [answer.tree for answer in found]).f1
    entities = nested_scores([s.spans for s in gold], [answer.spans or () for answer in found]).all.f1
    return (trees + entities) / 2
