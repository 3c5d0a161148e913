"""Training a joint parser: entities fitted to trees, one grammar for both, features compiled once for all data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dovetail.errors import DovetailError
from dovetail.features.algebra.parser_sets import ParserFeatures
from dovetail.features.algebra.sets import FeatureSet
from dovetail.features.compile.documents import document_numbers, documents_with, nothing_left
from dovetail.grammars.entities import with_entity_nodes, with_possessives
from dovetail.grammars.joint import Carriers, JointGrammar
from dovetail.learning.hierarchical import BaseModel, HierarchicalObjective
from dovetail.learning.optimisers.lbfgs import LBFGS
from dovetail.learning.priors import Prior
from dovetail.models.joint.entity_objective import EntityObjective
from dovetail.models.joint.entity_parameters import EntityParameters, entity_layout
from dovetail.models.joint.model import JointModel, widened
from dovetail.models.joint.parameters import JointParameters
from dovetail.models.parser.model import ParserModel
from dovetail.models.parser.objective import ParserExample, ParserObjective
from dovetail.models.parser.parameters import ParserParameters, SentenceLists
from dovetail.models.parser.pruning import allow
from dovetail.models.parser.text import compiled, frequent_words, sentence_lists, with_gaps
from dovetail.models.parser.training import ParserSettings, Treebank, make_pruner, rule_layouts, rule_start
from dovetail.models.tagger.estimator import Tagger
from dovetail.scorers.listed import FeatureLists
from dovetail.structures.grammar import Derivation, Mask, cells
from dovetail.text.sentence import Sentence, Span
from dovetail.text.tree import Tree
from dovetail.threads import run_shards

Floats = NDArray[np.float64]

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
    lists: FeatureLists,
    features: int,
    sentences: Sequence[SentenceLists],
    documents: NDArray[np.int64],
    least: Least,
) -> NDArray[np.bool_]:
    """The features that occur often enough, [features]. documents: that of each of the sentences."""
    often: NDArray[np.bool_] = np.bincount(lists.feature, minlength=features) >= least.words
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
            whole.append(with_entity_nodes(with_possessives(sentence.tree, entities), entities))
        return whole

    @property
    def entities(self) -> list[tuple[Span, ...]]:
        """The entities of every sentence; none where they are not annotated."""
        none = [()] * len(self.trees_only)
        return [*(s.spans for s in self.both), *none, *(s.spans for s in self.entities_only)]

    @property
    def annotated_documents(self) -> NDArray[np.int64]:
        """The document of every sentence with entities; no document is in two corpora."""
        own, others = document_numbers(self.both), document_numbers(self.entities_only)
        return np.concatenate([own, others + own.max(initial=-1) + 1])


@dataclass(frozen=True, eq=False)
class _Compiled:
    """A corpus with its grammars and features.

    ``places``: every sentence by its place in the lists of features; ``flat``: its entities, of numbered types;
    ``annotated``: the sentences that have entities; ``made``: the parameters; ``names``: the tags that names have.
    """

    corpus: JointCorpus
    settings: ParserSettings
    treebank: Treebank
    features: ParserFeatures
    entity_features: FeatureSet
    frequent: frozenset[str]
    keys: Mapping[str, NDArray[np.uint64]]
    places: Sequence[SentenceLists]
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
        treebank = Treebank.of(corpus.trees, settings.binarisation, settings.relax)
        base = treebank.grammar
        carriers = Carriers.of(base, zip(treebank.derivations, corpus.entities, strict=False))
        joint = JointGrammar.of(base, types, carriers)
        features, entity_features = (
            ParserFeatures.usual(settings.clusters, settings.rich),
            entity_feature_set(settings.clusters),
        )
        frequent = frequent_words(corpus.sentences)
        extended = [with_gaps(s.words, t, frequent) for s, t in zip(corpus.sentences, corpus.tags, strict=True)]
        lists, keys = compiled(extended, {**features._asdict(), "entity": entity_features})
        places = sentence_lists(extended, lists)
        number = {name: i for i, name in enumerate(types)}
        flat = [[(e.start, e.end, number[e.label]) for e in each] for each in corpus.entities]
        annotated = [i for i in range(len(places)) if i < len(corpus.both) or i >= len(corpus.parsed)]
        where, which = [places[i] for i in annotated], [flat[i] for i in annotated]
        often = wanted_features(lists["entity"], len(keys["entity"]), where, corpus.annotated_documents, least)
        layout = entity_layout(where, which, len(keys["entity"]), len(types), often)
        layouts = rule_layouts(treebank, places[: len(corpus.parsed)], lists, keys, settings.min_count)
        made = JointParameters(joint, ParserParameters(base.grammar, layouts), EntityParameters(len(types), layout))
        names = nameable_tags([corpus.tags[i] for i in annotated], [corpus.entities[i] for i in annotated])
        return cls(
            corpus, settings, treebank, features, entity_features, frequent, keys, places, flat, annotated, made, names
        )

    def entity_objective(self, which: Sequence[int]) -> EntityObjective:
        """The likelihood of the entities of some sentences, by themselves."""
        known = [self.flat[i] for i in which]
        longest = max((end - begin for each in known for begin, end, _ in each), default=1)
        return EntityObjective(
            self.made.entities, [self.places[i] for i in which], known, longest, self.settings.threads
        )

    def start(self) -> Floats:
        """Where training starts [parameters]: rules by their counts, entities as they are best without trees."""
        found = np.zeros(self.made.size)
        found[: self.made.parser.size] = rule_start(self.made.parser, self.treebank.grammar)
        alone = self.entity_objective(self.annotated)
        weight = LBFGS(limit=ENTITY_PASSES).minimise(alone, Prior(ENTITY_L2), np.zeros(alone.parameters))
        found[self.made.places["entities"]] = weight
        return found

    def model(self, weight: Floats, tagger: Tagger | None) -> JointModel:
        """The model with these weights."""
        settings, base, made = self.settings, self.treebank.grammar, self.made
        pruner = make_pruner(self.corpus.trees, base, settings.binarisation, settings.threshold, settings.clusters)
        keys = {group: self.keys[group] for group in ParserFeatures._fields}
        small = weight.astype(np.float32)
        parser = ParserModel(
            base, pruner, self.features, keys, made.parser.layouts, small[: made.parser.size], self.frequent,
            self.treebank.root, settings.clusters, tagger,
        )  # fmt: skip
        return JointModel(
            parser, made.joint, self.entity_features, self.keys["entity"], made.entities.layout, small, self.names
        )

    def examples(self, parser: ParserModel) -> list[ParserExample | None]:
        """The sentences with trees as parts of the objective; None where entities do not fit the grammar."""
        corpus, derivations, joint = self.corpus, self.treebank.derivations, self.made.joint

        def example(i: int) -> ParserExample | None:
            mask = parser.mask(corpus.sentences[i].words, corpus.tags[i])
            allow(mask, derivations[i], self.treebank.grammar)
            if i >= len(corpus.both):
                return ParserExample(self.places[i], mask, derivations[i])
            tree = joint.derivation(derivations[i], corpus.both[i].spans)
            if tree is None:
                return None
            mask = widened(mask, corpus.tags[i], self.names, joint)
            allow_joint(mask, tree, joint)
            return ParserExample(self.places[i], mask, tree)

        return run_shards(example, range(len(corpus.parsed)), self.settings.threads)


@dataclass
class JointTraining:
    """A corpus made ready: the objective, where to start, and the way back to a model.

    Where some sentences have trees alone or entities alone, there are up to three models, for both and for either,
    whose weights lean on each other by a hierarchical prior; the first is the one to keep. ``start`` has the weights of
    entities as they are best without trees.
    """

    model: JointModel
    objective: ParserObjective | HierarchicalObjective
    start: Floats
    left_out: int

    @classmethod
    def prepare(
        cls, corpus: JointCorpus, settings: ParserSettings, tagger: Tagger | None, least: Least, sigma: float
    ) -> JointTraining:
        """Compile a corpus and set up its objective."""
        ready = _Compiled.of(corpus, settings, least)
        made, start = ready.made, ready.start()
        model = ready.model(start, tagger)
        examples = [each for each in ready.examples(model.parser) if each is not None]
        kept = len(examples) - len(corpus.trees_only)
        left_out = len(corpus.both) - kept
        roots = ready.treebank.grammar.root_count > 0
        objective = ParserObjective(made, examples[:kept], roots, settings.threads)
        if not corpus.trees_only and not corpus.entities_only:
            return cls(model, objective, start, left_out)
        models = [BaseModel(objective, None, sigma)]
        if corpus.trees_only:
            trees = ParserObjective(made.parser, examples[kept:], roots, settings.threads)
            models.append(BaseModel(trees, np.arange(made.parser.size), sigma))
        if corpus.entities_only:
            others = ready.entity_objective(range(len(corpus.parsed), len(corpus.sentences)))
            place = made.places["entities"]
            models.append(BaseModel(others, np.arange(place.start, place.stop), sigma))
        together = HierarchicalObjective(models, made.size)
        return cls(model, together, together.start(start), left_out)

    @property
    def caution(self) -> Floats:
        """For ``AdaGrad.memory`` [parameters]: small first steps for all weights but those of trees.

        With full ones, where entities start from would be lost again: words have so many features for entities that
        names are soon known by heart.
        """
        made = self.model.parameters
        found = np.zeros(made.size)
        found[made.parser.size :] = CAUTION
        return found if isinstance(self.objective, ParserObjective) else self.objective.spread_out(found)

    def export(self, weight: Floats) -> JointModel:
        """The trained model."""
        own = weight if isinstance(self.objective, ParserObjective) else self.objective.weights_of(0, weight)
        return self.model.with_weights(own)


def allow_joint(mask: Mask, tree: Derivation, joint: JointGrammar) -> None:
    """Allow all symbols of a joint tree, in place."""
    n, g = len(tree.tags), joint.grammar
    rule, begin, _, end = tree.binary.T
    chain, first, last = tree.unary.T
    mask[cells(n, begin, end), g.parent[rule]] = 1
    mask[cells(n, first, last), g.unary_parent[chain]] = 1
