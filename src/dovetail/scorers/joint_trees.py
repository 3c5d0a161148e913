"""Potentials of trees with entities from weights of trees, of entities, and of both together."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dovetail.grammars.joint import NONE, OUTSIDE, JointGrammar
from dovetail.scorers.contract import Floats
from dovetail.scorers.entities import EntityParameters
from dovetail.scorers.listed import SentenceLists
from dovetail.scorers.trees import SentenceParameters, TreeParameters, fold_columns
from dovetail.structures.grammar import Grammar, GrammarPotentials, Mask


@dataclass(frozen=True, eq=False)
class JointParameters(SentenceParameters):
    """The parameters of the parser, then those of entities, then those of both together: a weight for every rule and
    unary rule that has to do with an entity.

    An entity has the parser's scores of its symbol over its span, too, which the constituent below it has had already:
    a good constituent is more likely an entity.
    """

    joint: JointGrammar
    parser: TreeParameters
    entities: EntityParameters

    @property
    def grammar(self) -> Grammar:  # type: ignore[override]
        """The joint grammar."""
        return self.joint.grammar

    @cached_property
    def places(self) -> dict[str, slice]:
        """Where each block lies in the vector of weights; the parser's come first, as they are there."""
        sizes = {"entities": self.entities.size, "joint_rule": len(self.mixed), "joint_unary": len(self.mixed_unary)}
        edges = (self.parser.size + np.concatenate([[0], np.cumsum(list(sizes.values()))])).tolist()
        return {name: slice(edges[i], edges[i + 1]) for i, name in enumerate(sizes)}

    @property
    def size(self) -> int:
        """The number of parameters."""
        return int(self.places["joint_unary"].stop)

    @cached_property
    def mixed(self) -> NDArray[np.int64]:
        """The rules that have an entity below, at or above them."""
        return np.flatnonzero(self.joint.rule_kind > 0)

    @cached_property
    def mixed_unary(self) -> NDArray[np.int64]:
        """The same of unary rules."""
        return np.flatnonzero(self.joint.symbol_place[self.grammar.unary_parent] != OUTSIDE)

    @cached_property
    def _entity_rules(self) -> NDArray[np.int64]:
        return np.flatnonzero(self.joint.unary_type != NONE)

    @cached_property
    def _chain_rules(self) -> NDArray[np.int64]:
        return np.flatnonzero(self.joint.unary_base != NONE)

    def potentials(
        self, sentence: SentenceLists, weight: NDArray[np.floating[Any]], mask: Mask, roots: NDArray[np.bool_]
    ) -> GrammarPotentials:
        """The potentials of a sentence. mask: [cells, joint symbols]; roots: [S], those of the parser."""
        joint = self.joint
        plain = np.ascontiguousarray(mask[:, : self.parser.grammar.symbols])
        base = self.parser.potentials(sentence, weight[: self.parser.size], plain, roots)
        begin = base.begin[:, joint.rule_base]
        begin[:, self.mixed] += weight[self.places["joint_rule"]]
        split, end = base.split[:, joint.rule_base], base.end[:, joint.rule_base]
        unary_begin, unary_end = np.zeros((2, sentence.length + 1, self.grammar.unaries))
        unary_begin[:, self.mixed_unary] = weight[self.places["joint_unary"]]
        chained, chains = self._chain_rules, joint.unary_base[self._chain_rules]
        unary_begin[:, chained] += base.unary_begin[:, chains]
        unary_end[:, chained] += base.unary_end[:, chains]
        begins, ends = self.entities.scores(sentence, weight[self.places["entities"]])
        entities, types = self._entity_rules, joint.unary_type[self._entity_rules]
        unary_begin[:, entities] += begins[:, types]
        unary_end[:, entities] += ends[:, types]
        span = base.span[:, joint.symbol_base]
        root = np.where(joint.may_be_root, base.root[joint.symbol_base], -np.inf)
        return GrammarPotentials(base.tag, begin, split, end, span, unary_begin, unary_end, root)

    def backward(self, sentence: SentenceLists, slope: GrammarPotentials, out: Floats) -> None:
        """Add to out [parameters] the gradient from that of the potentials of a sentence."""
        joint, base, n = self.joint, self.parser.grammar, sentence.length
        out[self.places["joint_rule"]] += slope.begin[:, self.mixed].sum(axis=0)
        out[self.places["joint_unary"]] += slope.unary_begin[:, self.mixed_unary].sum(axis=0)
        begin, split, end = np.zeros((3, n + 1, base.rules))
        for of_joint, of_base in ((slope.begin, begin), (slope.split, split), (slope.end, end)):
            fold_columns(of_joint, joint.rule_base, of_base)
        unary_begin, unary_end = np.zeros((2, n + 1, base.unaries))
        begins, ends = np.zeros((2, n + 1, len(joint.types)))
        for table, of_base, of_types in ((slope.unary_begin, unary_begin, begins), (slope.unary_end, unary_end, ends)):
            fold_columns(table, joint.unary_base, of_base)
            fold_columns(table, joint.unary_type, of_types)
        self.entities.backward(sentence, begins, ends, out[self.places["entities"]])
        span, root = np.zeros((len(slope.span), base.symbols)), np.zeros((1, base.symbols))
        fold_columns(slope.span, joint.symbol_base, span)
        fold_columns(slope.root[None], joint.symbol_base, root)
        folded = GrammarPotentials(slope.tag, begin, split, end, span, unary_begin, unary_end, root[0])
        self.parser.backward(sentence, folded, out[: self.parser.size])
