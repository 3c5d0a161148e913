"""Training a joint parser: entities fitted to trees, one grammar for both, features compiled once for all data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dovetail.errors import DovetailError
from dovetail.features.parse_sets import ParserFeatures
from dovetail.features.sets import FeatureSet
from dovetail.grammars.entities import with_entity_nodes, with_possessives
from dovetail.grammars.joint import JointGrammar, carriers_of
from dovetail.grammars.pcfg import log_probabilities
from dovetail.learning.hierarchical import BaseModel, HierarchicalObjective
from dovetail.learning.lbfgs import LBFGS
from dovetail.learning.priors import Prior
from dovetail.models.entity_objective import EntityObjective
from dovetail.models.entity_parameters import EntityParameters, entity_layout
from dovetail.models.joint_model import JointModel, widened
from dovetail.models.joint_parameters import JointParameters
from dovetail.models.parser_model import ParserModel, outputs_of
from dovetail.models.parser_objective import ParserExample, ParserObjective
from dovetail.models.parser_parameters import BLOCKS, ParserParameters, SentenceLists, used_outputs
from dovetail.models.parser_pruning import allow
from dovetail.models.parser_text import compiled, frequent_words, sentence_lists, with_gaps
from dovetail.models.parser_training import UNSEEN, ParserSettings, Treebank, make_pruner
from dovetail.models.tagger import Tagger
from dovetail.scorers.listed import observed_layout
from dovetail.structures.grammar import Derivation, cells
from dovetail.structures.grammar_parts import Mask
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
        cls, corpus: JointCorpus, settings: ParserSettings, tagger: Tagger | None, entity_min_count: int, sigma: float
    ) -> JointTraining:
        """Compile a corpus and set up its objective."""
        types = sorted({entity.label for each in corpus.entities for entity in each})
        if not types:
            raise DovetailError("the training data has no entities: train a parser, or give entities")
        whole = corpus.trees()
        treebank = Treebank.of(whole, settings.binarisation, settings.relax)
        base, both = treebank.grammar, len(corpus.both)
        joint = JointGrammar.of(
            base, types, *carriers_of(base, zip(treebank.derivations, corpus.entities, strict=False))
        )
        joined = [joint.derivation(d, s.spans) for d, s in zip(treebank.derivations, corpus.both, strict=False)]
        features = ParserFeatures.usual(settings.clusters, settings.rich)
        frequent = frequent_words(corpus.sentences)
        extended = [with_gaps(s.words, t, frequent) for s, t in zip(corpus.sentences, corpus.tags, strict=True)]
        entity_features = entity_feature_set(settings.clusters)
        lists, keys = compiled(extended, {**features._asdict(), "entity": entity_features})
        places = sentence_lists(extended, lists)
        uses = used_outputs(treebank.derivations, [p.first for p in places[: len(corpus.parsed)]], base.grammar)
        layouts = {
            name: observed_layout(
                lists[group], *uses[name], len(keys[group]), outputs_of(base, name), settings.min_count
            )
            for name, (group, _) in BLOCKS.items()
        }
        annotated = [i for i in range(len(places)) if i < both or i >= len(corpus.parsed)]
        number = {name: i for i, name in enumerate(types)}
        flat = [[(e.start, e.end, number[e.label]) for e in each] for each in corpus.entities]
        layout = entity_layout(
            [places[i] for i in annotated],
            [flat[i] for i in annotated],
            len(keys["entity"]),
            len(types),
            entity_min_count,
        )
        made = JointParameters(joint, ParserParameters(base.grammar, layouts), EntityParameters(len(types), layout))
        start = np.zeros(made.size)
        binary, unary, _ = log_probabilities(base)
        start[made.parser.places["rule"]] = np.maximum(binary, UNSEEN)
        start[made.parser.places["unary"]] = np.maximum(unary, UNSEEN)
        alone = _entity_objective(made, places, flat, annotated, settings.threads)
        of_entities = LBFGS(limit=ENTITY_PASSES).minimise(alone, Prior(ENTITY_L2), np.zeros(alone.parameters))
        start[made.places["entities"]] = of_entities
        pruner = make_pruner(whole, base, settings.binarisation, settings.threshold, settings.clusters)
        parser_keys = {group: keys[group] for group in ParserFeatures._fields}
        weight = start.astype(np.float32)
        parts = (base, pruner, features, parser_keys, layouts, weight[: made.parser.size], frequent, treebank.root)
        parser = ParserModel(*parts, settings.clusters, tagger)
        known = [corpus.entities[i] for i in annotated]
        names = nameable_tags([corpus.tags[i] for i in annotated], known)
        model = JointModel(parser, joint, entity_features, keys["entity"], layout, weight, names)

        def example(i: int) -> ParserExample | None:
            mask = parser.mask(corpus.sentences[i].words, corpus.tags[i])
            allow(mask, treebank.derivations[i], base)
            if i >= both:
                return ParserExample(places[i], mask, treebank.derivations[i])
            tree = joined[i]
            if tree is None:
                return None
            mask = widened(mask, corpus.tags[i], names)
            allow_joint(mask, tree, joint)
            return ParserExample(places[i], mask, tree)

        found = run_shards(example, range(len(corpus.parsed)), settings.threads)
        examples = [each for each in found if each is not None]
        kept = len(examples) - len(corpus.trees_only)
        roots = base.root_count > 0
        objective = ParserObjective(made, examples[:kept], roots, settings.threads)
        if not corpus.trees_only and not corpus.entities_only:
            return cls(model, objective, start, both - kept)
        models = [BaseModel(objective, None, sigma)]
        if corpus.trees_only:
            trees = ParserObjective(made.parser, examples[kept:], roots, settings.threads)
            models.append(BaseModel(trees, np.arange(made.parser.size), sigma))
        if corpus.entities_only:
            rest = range(len(corpus.parsed), len(places))
            place = made.places["entities"]
            others = _entity_objective(made, places, flat, rest, settings.threads)
            models.append(BaseModel(others, np.arange(place.start, place.stop), sigma))
        together = HierarchicalObjective(models, made.size)
        return cls(model, together, together.start(start), both - kept)

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


def _entity_objective(
    made: JointParameters,
    places: Sequence[SentenceLists],
    entities: Sequence[Sequence[tuple[int, int, int]]],
    which: Sequence[int],
    threads: int,
) -> EntityObjective:
    """The likelihood of the entities of some sentences, by themselves."""
    known = [entities[i] for i in which]
    longest = max((end - begin for each in known for begin, end, _ in each), default=1)
    return EntityObjective(made.entities, [places[i] for i in which], known, longest, threads)


def allow_joint(mask: Mask, tree: Derivation, joint: JointGrammar) -> None:
    """Allow all symbols of a joint tree, in place."""
    n, g = len(tree.tags), joint.grammar
    rule, begin, _, end = tree.binary.T
    chain, first, last = tree.unary.T
    mask[cells(n, begin, end), g.parent[rule]] = 1
    mask[cells(n, first, last), g.unary_parent[chain]] = 1
