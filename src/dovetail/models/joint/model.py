"""A trained joint parser: what is stored, and the charts of new sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dovetail.features.algebra.sets import FeatureSet
from dovetail.features.compile.index import FeatureIndex
from dovetail.features.resources.templates import unpacked
from dovetail.grammars.entities import without_entity_nodes, without_possessives
from dovetail.grammars.joint import ENTITY, JointGrammar
from dovetail.models.parser.carry import NamedBlock, names_of
from dovetail.models.parser.labels import LabelTable
from dovetail.models.parser.model import ParserModel, Probabilities, layout_arrays, layout_of
from dovetail.scorers.entities import PARTS, EntityParameters, entity_outputs
from dovetail.scorers.joint_trees import JointParameters
from dovetail.scorers.linear import Layout, check_features
from dovetail.structures.grammar import Derivation, Mask, ParseChart, cells
from dovetail.text.sentence import Span
from dovetail.text.tree import Tree


@dataclass(frozen=True, eq=False, kw_only=True)
class JointModel(ParserModel):
    """A parser with entities on its symbols, their features, and the weights of trees, of entities and of both.

    ``nameable``: the parts of speech of which an entity has at least one. ``bias``: what every entity is worth when the
    best tree is chosen; probabilities do not know of it.
    """

    kind: ClassVar[str] = "joint"

    joint: JointGrammar
    entity_features: FeatureSet
    entity_keys: NDArray[np.uint64]
    entity_layout: Layout
    nameable: frozenset[str]
    bias: float = 0.0

    def __post_init__(self) -> None:
        check_features(self.entity_keys, self.entity_layout)
        super().__post_init__()

    @cached_property
    def parameters(self) -> JointParameters:
        """From the weights to the potentials of a sentence."""
        return JointParameters(self.joint, self.blocks, EntityParameters(len(self.joint.types), self.entity_layout))

    def named_blocks(self) -> dict[str, NamedBlock]:
        """The weights by what they are of."""
        joint, places, base = self.joint, self.parameters.places, names_of(self.treebank)
        rules, unaries = base["rules"], [*base["unaries"], None]
        below = self.joint.symbol_base[joint.grammar.unary_child]
        types = [*joint.types, None]
        of_rules = [(rules[joint.rule_base[r]], int(joint.rule_kind[r])) for r in self.parameters.mixed]
        of_unaries = [
            (unaries[joint.unary_base[u]], base["symbols"][below[u]], types[joint.unary_type[u]])
            for u in self.parameters.mixed_unary
        ]
        outputs = [(part, name) for part in range(PARTS) for name in types]
        return super().named_blocks() | {
            "entities": NamedBlock(places["entities"], outputs, self.entity_keys, self.entity_layout),
            "joint_rule": NamedBlock(places["joint_rule"], of_rules),
            "joint_unary": NamedBlock(places["joint_unary"], of_unaries),
        }

    @property
    def plain(self) -> ParserModel:
        """The parser without entities, by the weights that it shares."""
        own = {f.name: getattr(self, f.name) for f in fields(ParserModel)}
        return ParserModel(**own | {"weight": self.weight[: self.blocks.size]})

    @cached_property
    def labels(self) -> LabelTable:
        """The labels of constituents, by joint symbols and unary rules."""
        return LabelTable.of_joint(self.joint)

    @property
    def costs(self) -> NDArray[np.float64]:
        """How probable a constituent or an entity must be to be worth having, by recall: [labels]."""
        return self.labels.costs(self.bias)

    @cached_property
    def index(self) -> dict[str, FeatureIndex]:
        """The numbers of features, by group."""
        keys = {**self.keys, "entity": self.entity_keys}
        return {group: FeatureIndex(own) for group, own in keys.items()}

    @property
    def groups(self) -> dict[str, FeatureSet]:
        """All sets of features."""
        return {**self.features._asdict(), "entity": self.entity_features}

    def mask(self, words: Sequence[str], tags: Sequence[str], threshold: float | None = None) -> Mask:
        """The symbols to be looked at over each span of a sentence; entities where a span has a word for a name."""
        return widened(self.plain_mask(words, tags, threshold), tags, self.nameable, self.joint)

    def plain_mask(self, words: Sequence[str], tags: Sequence[str], threshold: float | None = None) -> Mask:
        """The same of the treebank's symbols."""
        return super().mask(words, tags, threshold)

    def searched(self, chart: ParseChart) -> ParseChart:
        """The chart to choose the best tree from: that with the bias of entities."""
        if self.bias == 0.0:
            return chart
        begin = chart.potentials.unary_begin + self.bias * (self.joint.unary_type >= 0)
        return replace(chart, potentials=chart.potentials._replace(unary_begin=begin))

    def tree(self, derivation: Derivation, words: Sequence[str], probabilities: Probabilities | None = None) -> Tree:
        """The tree of a joint derivation, as the treebank would have it."""
        found = self.treebank.tree(self.joint.parts(derivation)[0], words, probabilities)
        return without_possessives(without_entity_nodes(found))

    def entities(self, derivation: Derivation | None, chart: ParseChart | None = None) -> list[Span]:
        """The entities of a joint derivation, with their probabilities if its chart is given."""
        found = [] if derivation is None else self.joint.parts(derivation)[1]
        if derivation is None or chart is None or not found:
            return found
        n, unary = len(derivation.tags), chart.span_marginals().unary
        number = {name: i for i, name in enumerate(self.joint.types)}
        result = []
        for entity in found:
            row = unary[int(cells(n, entity.start, entity.end))]
            chance = row[self.joint.unary_type == number[entity.label]].sum()
            result.append(replace(entity, probability=min(1.0, float(chance))))
        return result

    def arrays(self, half: bool = False) -> dict[str, NDArray[Any]]:
        """As named arrays for a model file."""
        own = layout_arrays("entity", self.entity_layout)
        return super().arrays(half) | {"entity.keys": self.entity_keys, **own}

    def header(self) -> dict[str, Any]:
        """The rest, for the header of a model file."""
        return super().header() | {
            "joint": self.joint.header(),
            "entity_features": self.entity_features.lines(),
            "nameable": sorted(self.nameable),
            "bias": self.bias,
        }

    @classmethod
    def _parts_in_file(cls, header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> dict[str, Any]:
        """The fields of a model."""
        parser = super()._parts_in_file(header, arrays)
        joint = JointGrammar.from_file(header["joint"], parser["treebank"])
        resources = unpacked(header["resources"], arrays)
        return parser | {
            "joint": joint,
            "entity_features": FeatureSet.from_lines("entities", header["entity_features"], (), resources),
            "entity_keys": arrays["entity.keys"],
            "entity_layout": layout_of(arrays, "entity", entity_outputs(len(joint.types))),
            "nameable": frozenset(map(str, header["nameable"])),
            "bias": float(header["bias"]),
        }


def widened(mask: Mask, tags: Sequence[str], nameable: frozenset[str], joint: JointGrammar) -> Mask:
    """From a mask of the treebank's symbols that of joint ones, [cells, S] each: entities on spans with such a tag."""
    names = np.concatenate([[0], np.cumsum([tag in nameable for tag in tags])])
    begin, end = np.triu_indices(len(tags))
    has_name = names[end + 1] > names[begin]
    found: Mask = mask[:, joint.symbol_base]
    found[np.ix_(~has_name, joint.symbol_place == ENTITY)] = 0
    return found
