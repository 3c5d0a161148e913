"""A trained joint parser: what is stored, and the charts of new sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dovetail.features.algebra.sets import FeatureSet
from dovetail.features.compile.index import FeatureIndex
from dovetail.features.resources.templates import unpacked
from dovetail.grammars.entities import without_entity_nodes, without_possessives
from dovetail.grammars.joint import ENTITY, JointGrammar
from dovetail.grammars.treebank import TreebankGrammar
from dovetail.models.joint.entity_parameters import EntityParameters, entity_outputs
from dovetail.models.joint.parameters import JointParameters
from dovetail.models.parser.labels import LabelTable
from dovetail.models.parser.model import ParserModel, layout_of
from dovetail.models.parser.parameters import SentenceLists
from dovetail.models.parser.text import looked_up, sentence_lists, with_gaps
from dovetail.scorers.linear import Layout, output_type
from dovetail.structures.grammar import Derivation, Mask, ParseChart, cells
from dovetail.text.sentence import Span
from dovetail.text.tree import Tree


@dataclass(frozen=True, eq=False)
class JointModel:
    """Everything that joint parsing needs: a parser, entities on its symbols, their features, and all weights.

    ``nameable``: the parts of speech of which an entity has at least one. ``bias``: what every entity is worth when the
    best tree is chosen; probabilities do not know of it.
    """

    kind: ClassVar[str] = "joint"

    parser: ParserModel
    joint: JointGrammar
    entity_features: FeatureSet
    entity_keys: NDArray[np.uint64]
    entity_layout: Layout
    weight: NDArray[np.float32]
    nameable: frozenset[str]
    bias: float = 0.0

    @cached_property
    def parameters(self) -> JointParameters:
        """Where the weights of each block are."""
        return JointParameters(
            self.joint, self.parser.parameters, EntityParameters(len(self.joint.types), self.entity_layout)
        )

    @property
    def plain(self) -> ParserModel:
        """The parser without entities, by the weights that it shares."""
        return self.parser

    @property
    def treebank(self) -> TreebankGrammar:
        """The grammar of the trees."""
        return self.parser.treebank

    @property
    def root(self) -> str:
        """The label of the root."""
        return self.parser.root

    @cached_property
    def labels(self) -> LabelTable:
        """The labels of constituents, by joint symbols and unary rules."""
        return LabelTable.of_joint(self.joint)

    @property
    def costs(self) -> NDArray[np.float64]:
        """How probable a constituent or an entity must be to be worth having, by recall: [labels]."""
        return self.labels.costs(self.bias)

    @cached_property
    def _index(self) -> dict[str, FeatureIndex]:
        return {**self.parser.index, "entity": FeatureIndex(self.entity_keys)}

    @cached_property
    def groups(self) -> dict[str, FeatureSet]:
        """All sets of features."""
        return {**self.parser.features._asdict(), "entity": self.entity_features}

    def lists(self, words: Sequence[Sequence[str]], tags: Sequence[Sequence[str]]) -> list[SentenceLists]:
        """The features of some sentences."""
        extended = [with_gaps(w, t, self.parser.frequent) for w, t in zip(words, tags, strict=True)]
        return sentence_lists(extended, looked_up(extended, self.groups, self._index))

    def mask(self, words: Sequence[str], tags: Sequence[str], threshold: float | None = None) -> Mask:
        """The symbols to be looked at over each span of a sentence; entities where a span has a word for a name."""
        return widened(self.parser.mask(words, tags, threshold), tags, self.nameable, self.joint)

    def chart(self, lists: SentenceLists, mask: Mask, words: Sequence[str]) -> ParseChart:
        """All trees of a sentence with their entities, as a mask allows them, with their potentials."""
        roots = self.treebank.root_count > 0
        return ParseChart(self.joint.grammar, self.parameters.potentials(lists, self.weight, mask, roots), mask)

    def with_weights(self, weight: NDArray[np.floating[Any]]) -> JointModel:
        """The model with other weights."""
        small = weight.astype(np.float32)
        return replace(self, parser=self.parser.with_weights(small[: self.parser.parameters.size]), weight=small)

    def searched(self, chart: ParseChart) -> ParseChart:
        """The chart to choose the best tree from: that with the bias of entities."""
        if self.bias == 0.0:
            return chart
        begin = chart.potentials.unary_begin + self.bias * (self.joint.unary_type >= 0)
        return replace(chart, potentials=chart.potentials._replace(unary_begin=begin))

    def tree(
        self,
        derivation: Derivation,
        words: Sequence[str],
        probabilities: Mapping[tuple[int, int, str], float] | None = None,
    ) -> Tree:
        """The tree of a joint derivation, as the treebank would have it."""
        found = self.treebank.tree(self.joint.parts(derivation)[0], words, probabilities)
        return without_possessives(without_entity_nodes(found))

    def entities(self, derivation: Derivation, chart: ParseChart | None = None) -> list[Span]:
        """The entities of a joint derivation, with their probabilities if its chart is given."""
        found = self.joint.parts(derivation)[1]
        if chart is None or not found:
            return found
        n, unary = len(derivation.tags), chart.span_marginals().unary
        number = {name: i for i, name in enumerate(self.joint.types)}
        result = []
        for entity in found:
            row = unary[int(cells(n, entity.start, entity.end))]
            chance = row[self.joint.unary_type == number[entity.label]].sum()
            result.append(replace(entity, probability=min(1.0, float(chance))))
        return result

    def arrays(self) -> dict[str, NDArray[Any]]:
        """As named arrays for a model file."""
        found = self.parser.arrays() | {"weight": self.weight, "entity.keys": self.entity_keys}
        layout = self.entity_layout
        found["entity.count"] = np.diff(layout.ptr).astype(output_type(layout.outputs + 1))
        return found | {"entity.label": layout.label}

    def header(self) -> dict[str, Any]:
        """The rest, for the header of a model file."""
        return self.parser.header() | {
            "joint": self.joint.header(),
            "entity_features": self.entity_features.lines(),
            "nameable": sorted(self.nameable),
            "bias": self.bias,
        }

    @classmethod
    def from_file(cls, header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> JointModel:
        """From the header and arrays of a model file, whose parts must fit together: kernels do not check bounds."""
        whole = arrays["weight"].astype(np.float32)
        size = ParserModel.size_in_file(header, arrays)
        parser = ParserModel.from_file(header, arrays | {"weight": whole[:size]})
        joint = JointGrammar.from_file(header["joint"], parser.treebank)
        resources = unpacked(header["resources"], arrays)
        features = FeatureSet.from_lines("entities", header["entity_features"], (), resources)
        keys = arrays["entity.keys"]
        layout = layout_of(arrays, "entity", len(keys), entity_outputs(len(joint.types)))
        nameable, bias = frozenset(map(str, header["nameable"])), float(header["bias"])
        made = cls(parser, joint, features, keys, layout, whole, nameable, bias)
        if len(whole) != made.parameters.size:
            raise ValueError("the weights do not fit the features")
        return made


def widened(mask: Mask, tags: Sequence[str], nameable: frozenset[str], joint: JointGrammar) -> Mask:
    """From a mask of the treebank's symbols that of joint ones, [cells, S] each: entities on spans with such a tag."""
    names = np.concatenate([[0], np.cumsum([tag in nameable for tag in tags])])
    begin, end = np.triu_indices(len(tags))
    has_name = names[end + 1] > names[begin]
    found: Mask = mask[:, joint.symbol_base]
    found[np.ix_(~has_name, joint.symbol_place == ENTITY)] = 0
    return found
