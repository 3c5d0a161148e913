"""A trained parser: what is stored, and the charts of new sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from dovetail.features.algebra.parser_sets import ParserFeatures
from dovetail.features.algebra.sets import FeatureSet
from dovetail.features.compile.index import FeatureIndex
from dovetail.features.resources.clusters import Clusters
from dovetail.features.resources.templates import packed, unpacked
from dovetail.grammars.lexicon import Lexicon
from dovetail.grammars.treebank import TreebankGrammar, projection
from dovetail.models.parser.carry import NamedBlock, names_of
from dovetail.models.parser.labels import LabelTable
from dovetail.models.parser.pruning import Pruner, word_groups
from dovetail.models.parser.text import looked_up, respelled, sentence_lists, with_gaps
from dovetail.models.tagger.estimator import Tagger
from dovetail.models.tagging import packed_tagger, prefixed, unpacked_tagger
from dovetail.scorers.linear import WEIGHT, Layout, check_features, output_type
from dovetail.scorers.listed import SentenceLists
from dovetail.scorers.trees import BLOCKS, SentenceParameters, TreeParameters, TreeScorer, block_outputs
from dovetail.stored import check
from dovetail.structures.grammar import Derivation, Mask, ParseChart
from dovetail.text.sentence import Span
from dovetail.text.tree import Tree

Probabilities = Mapping[tuple[int, int, str], float]
"""Those of constituents, by begin, end and label."""


@dataclass(frozen=True, eq=False)
class ParserModel:
    """Everything that parsing needs: grammars, lexicon, tagger, features and weights."""

    kind: ClassVar[str] = "parser"

    treebank: TreebankGrammar
    pruner: Pruner
    features: ParserFeatures
    keys: Mapping[str, NDArray[np.uint64]]
    layouts: Mapping[str, Layout]
    weight: NDArray[np.float32]
    frequent: frozenset[str]
    root: str
    clusters: Mapping[str, Clusters]
    tagger: Tagger | None = None
    is_generative: bool = False
    """Whether words are scored by the lexicon, and not by features."""

    def __post_init__(self) -> None:
        for name, (group, _) in BLOCKS.items():
            check_features(self.keys[group], self.layouts[name])
        check("the parser", WEIGHT, {"weight": self.weight}, parameters=self.parameters.size)

    @cached_property
    def blocks(self) -> TreeParameters:
        """Where the weights of trees are, by block."""
        return TreeParameters(self.treebank.grammar, self.layouts)

    @property
    def parameters(self) -> SentenceParameters:
        """From the weights to the potentials of a sentence."""
        return self.blocks

    def named_blocks(self) -> dict[str, NamedBlock]:
        """The weights by what they are of."""
        places, names = self.blocks.places, names_of(self.treebank)
        found = {
            name: NamedBlock(places[name], names[outputs], self.keys[group], self.layouts[name])
            for name, (group, outputs) in BLOCKS.items()
        }
        shared = {"rule": "rules", "unary": "unaries", "length": "lengths", "root": "symbols"}
        return found | {name: NamedBlock(places[name], names[of]) for name, of in shared.items()}

    @property
    def plain(self) -> ParserModel:
        """The parser without anything that is joined to it: itself."""
        return self

    @property
    def groups(self) -> dict[str, FeatureSet]:
        """All sets of features."""
        return self.features._asdict()

    def entities(self, derivation: Derivation | None, chart: ParseChart | None = None) -> list[Span] | None:
        """None: a parser finds trees alone."""
        return None

    @cached_property
    def labels(self) -> LabelTable:
        """The labels of constituents."""
        return LabelTable.of(self.treebank)

    @property
    def costs(self) -> NDArray[np.float64]:
        """How probable a constituent must be to be worth having, by recall: [labels]."""
        return self.labels.costs()

    @cached_property
    def index(self) -> dict[str, FeatureIndex]:
        """The numbers of features, by group."""
        return {group: FeatureIndex(keys) for group, keys in self.keys.items()}

    @cached_property
    def tag_number(self) -> dict[str, int]:
        """The number of each part of speech (the first, where tags are annotated)."""
        return {tag.label: i for i, tag in reversed(list(enumerate(self.treebank.tags)))}

    def spelled(self, words: Sequence[str]) -> tuple[str, ...]:
        """The words, with quotes, brackets and dashes as the treebank spells them."""
        return respelled(words, self.pruner.lexicon.words)

    def lists(self, words: Sequence[Sequence[str]], tags: Sequence[Sequence[str]]) -> list[SentenceLists]:
        """The features of some sentences."""
        extended = [with_gaps(w, t, self.frequent) for w, t in zip(words, tags, strict=True)]
        return sentence_lists(extended, looked_up(extended, self.groups, self.index))

    def mask(self, words: Sequence[str], tags: Sequence[str], threshold: float | None = None) -> Mask:
        """The symbols to be looked at over each span of a sentence; without a tagger, ``tags`` are all there are."""
        numbers = [self.tag_number.get(tag, -1) for tag in tags]
        return self.pruner.mask(words, numbers, threshold, only_given=self.tagger is None)

    def tree(self, derivation: Derivation, words: Sequence[str], probabilities: Probabilities | None = None) -> Tree:
        """The tree of a derivation."""
        return self.treebank.tree(derivation, words, probabilities)

    def chart(self, lists: SentenceLists, mask: Mask, words: Sequence[str]) -> ParseChart:
        """All trees of a sentence that a mask allows, with their potentials."""
        chart = self.scorer([lists], [mask]).batch(self.weight).chart(0)
        if self.is_generative:
            tag = self.pruner.lexicon.log_scores(words)
            chart = replace(chart, potentials=chart.potentials._replace(tag=tag))
        return chart

    def scorer(self, lists: Sequence[SentenceLists], masks: Sequence[Mask], threads: int = 1) -> TreeScorer:
        """What makes the charts of some sentences from weights."""
        return TreeScorer(self.parameters, lists, masks, self.treebank.root_count > 0, threads)

    def sizes(self) -> dict[str, int]:
        """The sizes of the grammar and of the vector of weights."""
        grammar = self.parameters.grammar
        return {"symbols": grammar.symbols, "rules": grammar.rules + grammar.unaries, "weights": len(self.weight)}

    def with_weights(self, weight: NDArray[np.floating[Any]]) -> Self:
        """The model with other weights."""
        return replace(self, weight=weight.astype(np.float32))

    def searched(self, chart: ParseChart) -> ParseChart:
        """The chart to choose the best tree from: the same."""
        return chart

    def arrays(self, half: bool = False) -> dict[str, NDArray[Any]]:
        """As named arrays for a model file."""
        found: dict[str, NDArray[Any]] = {"weight": self.weight.astype(np.float16) if half else self.weight}
        found |= self.treebank.arrays() | self.pruner.lexicon.arrays()
        found |= {f"coarse.{name}": array for name, array in self.pruner.treebank.arrays().items()}
        found |= {f"{group}.keys": keys for group, keys in self.keys.items()}
        for name, layout in self.layouts.items():
            found |= layout_arrays(name, layout)
        return found | packed(self.clusters)[1] | packed_tagger(self.tagger, half=half)[1]

    def header(self) -> dict[str, Any]:
        """The rest, for the header of a model file."""
        return {
            "grammar": self.treebank.header(),
            "coarse": self.pruner.treebank.header(),
            "lexicon": self.pruner.lexicon.header(),
            "threshold": self.pruner.threshold,
            "features": {group: getattr(self.features, group).lines() for group in ParserFeatures._fields},
            "resources": packed(self.clusters)[0],
            "frequent": sorted(self.frequent),
            "root": self.root,
            "generative": self.is_generative,
            "tagger": packed_tagger(self.tagger)[0],
        }

    @classmethod
    def from_file(cls, header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Self:
        """From the header and arrays of a model file."""
        return cls(**cls._parts_in_file(header, arrays))

    @classmethod
    def _parts_in_file(cls, header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> dict[str, Any]:
        """The fields of a model."""
        treebank = TreebankGrammar.from_file(header["grammar"], arrays)
        coarse = TreebankGrammar.from_file(header["coarse"], prefixed(arrays, "coarse."))
        resources = unpacked(header["resources"], arrays)
        clusters = {name: found for name, found in resources.items() if isinstance(found, Clusters)}
        lexicon = Lexicon.from_file(header["lexicon"], arrays, word_groups(clusters))
        if len(lexicon.total) != coarse.grammar.tags:
            raise ValueError("the lexicon does not fit the grammar")
        groups = ParserFeatures._fields
        sets = (FeatureSet.from_lines(f"parser-{g}", header["features"][g], (), resources) for g in groups)
        return {
            "treebank": treebank,
            "pruner": Pruner(coarse, lexicon, projection(treebank, coarse), float(header["threshold"])),
            "features": ParserFeatures(*sets),
            "keys": {group: arrays[f"{group}.keys"] for group in groups},
            "layouts": {name: layout_of(arrays, name, block_outputs(treebank.grammar, name)) for name in BLOCKS},
            "weight": arrays["weight"].astype(np.float32),
            "frequent": frozenset(map(str, header["frequent"])),
            "root": str(header["root"]),
            "clusters": clusters,
            "tagger": unpacked_tagger(header["tagger"], arrays),
            "is_generative": bool(header["generative"]),
        }


def layout_arrays(name: str, layout: Layout) -> dict[str, NDArray[Any]]:
    """The layout of a block for a model file."""
    count = np.diff(layout.ptr).astype(output_type(layout.outputs + 1))
    return {f"{name}.count": count, f"{name}.label": layout.label}


def layout_of(arrays: Mapping[str, NDArray[Any]], name: str, outputs: int) -> Layout:
    """The layout of a block in a model file."""
    return Layout.counted(arrays[f"{name}.count"], arrays[f"{name}.label"], outputs)
