"""Training a joint parser: entities fitted to trees, one grammar for both, features compiled once for all data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dovetail.errors import DovetailError
from dovetail.features.parse_sets import ParserFeatures
from dovetail.features.sets import FeatureSet
from dovetail.grammars.entities import with_entity_nodes, with_possessives
from dovetail.grammars.joint import JointGrammar, carriers_of
from dovetail.grammars.pcfg import log_probabilities
from dovetail.models.joint_model import JointModel, widened
from dovetail.models.joint_parameters import ENTITY_BLOCKS, JointParameters
from dovetail.models.parser_model import ParserModel, outputs_of
from dovetail.models.parser_objective import ParserExample, ParserObjective
from dovetail.models.parser_parameters import BLOCKS, ParserParameters, used_outputs
from dovetail.models.parser_pruning import allow
from dovetail.models.parser_text import compiled, frequent_words, sentence_lists, with_gaps
from dovetail.models.parser_training import UNSEEN, ParserSettings, Treebank, make_pruner
from dovetail.models.tagger import Tagger
from dovetail.scorers.linear import Layout, output_type
from dovetail.scorers.listed import FeatureLists, observed_layout
from dovetail.structures.grammar import Derivation, cells
from dovetail.structures.grammar_parts import Mask
from dovetail.text.sentence import Sentence, Span
from dovetail.text.tree import Tree
from dovetail.threads import run_shards

Floats = NDArray[np.float64]

COVERED = 0.998  # of the entities have a word with one of the tags that names have


def entity_feature_set(clusters: Mapping[str, Any]) -> FeatureSet:
    """The features of a word for the entity around it: those of a tagger of names, and parts of speech."""
    lines = [str(t) for t in FeatureSet.named("ner").without_elsewhere().templates if "pos" not in str(t)]
    lines += ["pos[-1]", "pos[0]", "pos[1]", "pos[-1] & pos[0]", "pos[0] & pos[1]"]
    for name, found in clusters.items():
        lines.append(f"cluster({name}, {', '.join(map(str, found.levels))})[-1:2]")
    return FeatureSet.from_lines("entities", [line for line in lines if not line.startswith("edge")], (), clusters)


def full_layout(lists: FeatureLists, features: int, outputs: int, min_count: int) -> Layout:
    """A parameter for every output of the features that occur so often."""
    often = np.bincount(lists.feature, minlength=features) >= min_count
    ptr = np.concatenate([[0], np.cumsum(often * outputs)])
    return Layout(
        ptr.astype(np.int64), np.tile(np.arange(outputs, dtype=output_type(outputs)), int(often.sum())), outputs
    )


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


@dataclass
class JointTraining:
    """A jointly annotated corpus made ready: the objective, where to start, and the way back to a model."""

    model: JointModel
    objective: ParserObjective
    start: Floats
    left_out: int

    @classmethod
    def prepare(
        cls,
        sentences: Sequence[Sentence],
        trees: Sequence[Tree],
        tags: Sequence[Sequence[str]],
        settings: ParserSettings,
        tagger: Tagger | None,
        entity_min_count: int,
    ) -> JointTraining:
        """Compile sentences whose ``spans`` are entities that fit their clean trees."""
        entities = [sentence.spans for sentence in sentences]
        types = sorted({entity.label for each in entities for entity in each})
        if not types:
            raise DovetailError("the training data has no entities: train a parser, or give entities")
        whole = [with_entity_nodes(with_possessives(t, e), e) for t, e in zip(trees, entities, strict=True)]
        treebank = Treebank.of(whole, settings.binarisation, settings.relax)
        base = treebank.grammar
        joint = JointGrammar.of(base, types, *carriers_of(base, zip(treebank.derivations, entities, strict=True)))
        joined = [joint.derivation(d, e) for d, e in zip(treebank.derivations, entities, strict=True)]
        pruner = make_pruner(whole, base, settings.binarisation, settings.threshold, settings.clusters)
        features, frequent = ParserFeatures.usual(settings.clusters, settings.rich), frequent_words(sentences)
        extended = [with_gaps(s.words, t, frequent) for s, t in zip(sentences, tags, strict=True)]
        entity_features = entity_feature_set(settings.clusters)
        lists, keys = compiled(extended, {**features._asdict(), "entity": entity_features})
        places = sentence_lists(extended, lists)
        uses = used_outputs(treebank.derivations, [place.first for place in places], base.grammar)
        layouts = {
            name: observed_layout(
                lists[group], *uses[name], len(keys[group]), outputs_of(base, name), settings.min_count
            )
            for name, (group, _) in BLOCKS.items()
        }
        of_entities = full_layout(lists["entity"], len(keys["entity"]), len(types), entity_min_count)
        parser_made = ParserParameters(base.grammar, layouts)
        made = JointParameters(joint, parser_made, dict.fromkeys(ENTITY_BLOCKS, of_entities))
        start = np.zeros(made.size)
        binary, unary, _ = log_probabilities(base)
        start[parser_made.places["rule"]] = np.maximum(binary, UNSEEN)
        start[parser_made.places["unary"]] = np.maximum(unary, UNSEEN)
        weight = start.astype(np.float32)
        parser_keys = {group: keys[group] for group in ParserFeatures._fields}
        parser = ParserModel(
            base, pruner, features, parser_keys, layouts, weight[: parser_made.size], frequent, treebank.root,
            settings.clusters, tagger,
        )  # fmt: skip
        names = nameable_tags(tags, entities)
        model = JointModel(parser, joint, entity_features, keys["entity"], dict(made.layouts), weight, names)

        def mask(i: int) -> Mask:
            plain = parser.mask(sentences[i].words, tags[i])
            allow(plain, treebank.derivations[i], base)
            found = widened(plain, tags[i], names)
            tree = joined[i]
            if tree is not None:
                allow_joint(found, tree, joint)
            return found

        kept = [i for i, tree in enumerate(joined) if tree is not None]
        masks = run_shards(mask, kept, settings.threads)
        examples = [
            ParserExample(places[i], found, tree)
            for i, found in zip(kept, masks, strict=True)
            if (tree := joined[i]) is not None
        ]
        objective = ParserObjective(made, examples, base.root_count > 0, settings.threads)
        return cls(model, objective, start, len(sentences) - len(examples))

    def export(self, weight: Floats) -> JointModel:
        """The trained model."""
        small = weight.astype(np.float32)
        parser = replace(self.model.parser, weight=small[: self.model.parser.parameters.size])
        return replace(self.model, parser=parser, weight=small)


def allow_joint(mask: Mask, tree: Derivation, joint: JointGrammar) -> None:
    """Allow all symbols of a joint tree, in place."""
    n, g = len(tree.tags), joint.grammar
    rule, begin, _, end = tree.binary.T
    chain, first, last = tree.unary.T
    mask[cells(n, begin, end), g.parent[rule]] = 1
    mask[cells(n, first, last), g.unary_parent[chain]] = 1
