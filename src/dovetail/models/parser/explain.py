"""Why this constituent: the best tree against the best one without it, and the features that tell them apart."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dovetail.errors import DovetailError
from dovetail.features.algebra.parser_sets import ParserFeatures
from dovetail.features.algebra.sets import FeatureSet
from dovetail.features.compile.columns import with_derived
from dovetail.features.compile.named import named_features
from dovetail.models.parser.decoding import WIDER
from dovetail.models.parser.model import ParserModel
from dovetail.models.parser.text import with_gaps
from dovetail.scorers.trees import BLOCKS, length_classes
from dovetail.structures.grammar import Derivation, Mask, ParseChart, cells
from dovetail.text.sentence import Sentence
from dovetail.text.tree import Tree


@dataclass(frozen=True)
class TreeEvidence:
    """A feature, and what it adds to the score of the best tree less what it adds to that of its rival."""

    feature: str
    margin: float


@dataclass(frozen=True)
class ConstituentExplanation:
    """A constituent, the best tree without it, and what speaks for either, strongest first.

    ``margin`` is the difference of their scores: the best tree is exp(margin) times as probable as the rival.
    """

    label: str
    start: int
    end: int
    probability: float
    rival: Tree | None
    margin: float
    evidence: tuple[TreeEvidence, ...]

    what: ClassVar[str] = "tree"
    """What the rival is."""

    @property
    def for_it(self) -> tuple[TreeEvidence, ...]:
        """Features that speak for the tree with the constituent, strongest first."""
        return tuple(e for e in self.evidence if e.margin > 0)

    @property
    def against_it(self) -> tuple[TreeEvidence, ...]:
        """Features that speak for the rival, strongest first."""
        return tuple(reversed([e for e in self.evidence if e.margin < 0]))


def explain_constituent(
    model: ParserModel, words: Sequence[str], tags: Sequence[str], start: int, end: int, label: str, probability: float
) -> ConstituentExplanation:
    """Explain a constituent of the best tree of a sentence."""
    [lists] = model.lists([words], [tags])
    best = rival = None
    for threshold in (None, *WIDER):  # where pruning leaves no tree without the constituent, with less of it
        mask = model.mask(words, tags, threshold)
        chart = model.chart(lists, mask, words)
        best = best or chart.best()
        without = _without(model, mask, len(words), start, end, label)
        rival = ParseChart(model.treebank.grammar, chart.potentials, without).best()
        if rival is not None:
            break
    if best is None:
        raise DovetailError("the grammar has no tree for this sentence, so there is nothing to explain")
    if rival is None:
        return ConstituentExplanation(label, start, end, probability, None, np.inf, ())
    uses = Counter(_uses(model, best))
    uses.subtract(_uses(model, rival))
    evidence = _evidence(model, words, tags, {use: amount for use, amount in uses.items() if amount})
    return ConstituentExplanation(
        label, start, end, probability, Tree(model.root, (model.treebank.tree(rival, words),)),
        chart.score(best) - chart.score(rival), evidence,
    )  # fmt: skip


def _without(model: ParserModel, mask: Mask, n: int, start: int, end: int, label: str) -> Mask:
    """The mask with no symbol of this label over the span.

    A unary chain in which the label stands below the top is left: the rival then shows it.
    """
    given = mask.copy()
    place = int(cells(n, start, end))
    for number, symbol in enumerate(model.treebank.symbols):
        if symbol.label == label and not symbol.partial and not symbol.is_tag:
            given[place, number] = 0
    return given


Use = tuple[str, int, int]  # a block, a position, an output


def _uses(model: ParserModel, tree: Derivation) -> list[Use]:
    """The parts of a tree by the blocks that score them; the length of a span stands for its position."""
    g, found = model.treebank.grammar, []
    classes = length_classes(len(tree.tags))
    for position, tag in enumerate(tree.tags.tolist()):
        found.append(("tag", position, tag))
    for rule, begin, split, end in tree.binary.tolist():
        parent = int(g.parent[rule])
        for part, place in (("begin", begin), ("split", split), ("end", end)):
            found += [(f"rule_{part}", place, rule), (f"label_{part}", place, parent)]
        found += [("rule", 0, rule), ("length", int(classes[end - begin]), parent)]
    for rule, begin, end in tree.unary.tolist():
        parent = int(g.unary_parent[rule])
        for part, place in (("begin", begin), ("end", end)):
            found += [(f"unary_{part}", place, rule), (f"label_{part}", place, parent)]
        found += [("unary", 0, rule), ("length", int(classes[end - begin]), parent)]
    return [*found, ("root", 0, tree.root)]


def _evidence(
    model: ParserModel, words: Sequence[str], tags: Sequence[str], uses: dict[Use, int]
) -> tuple[TreeEvidence, ...]:
    everything = FeatureSet("parser", tuple(t for part in model.features for t in part.templates))
    sentence = with_derived(with_gaps(words, tags, model.frequent), everything)
    totals: defaultdict[str, float] = defaultdict(float)
    for use, amount in uses.items():
        for name, weight in _weights(model, sentence, use):
            totals[name] += amount * weight
    found = [TreeEvidence(name, total) for name, total in totals.items() if abs(total) > 1e-9]
    return tuple(sorted(found, key=lambda e: -e.margin))


def _weights(model: ParserModel, sentence: Sentence, use: Use) -> list[tuple[str, float]]:
    """What each feature adds to the score of one part, by name."""
    block, position, output = use
    place = model.blocks.places[block]
    if block not in BLOCKS:
        symbols = model.treebank.grammar.symbols
        number = position * symbols + output if block == "length" else output
        return [(f"{block} {_name(model, block, output)}", float(model.weight[place][number]))]
    group, layout = BLOCKS[block][0], model.layouts[block]
    templates = model.features[ParserFeatures._fields.index(group)].templates
    features = [f for template in templates for f in named_features(template, sentence, position)]
    numbers = model.index[group].number(np.array([f.key for f in features], np.uint64))
    found = []
    for feature, number in zip(features, numbers.tolist(), strict=True):
        if number >= 0:
            mine = slice(int(layout.ptr[number]), int(layout.ptr[number + 1]))
            for weight in model.weight[place][mine][layout.label[mine] == output]:
                where = f"{_name(model, block, output)} {block.partition('_')[2]} {position}".replace("  ", " ")
                found.append((f"{where}: {feature.name}", float(weight)))
    return found


def _name(model: ParserModel, block: str, output: int) -> str:
    """What a block's output is, for people."""
    treebank = model.treebank
    g, symbols = treebank.grammar, treebank.symbols
    if block.startswith("rule"):
        parts = [symbols[int(side[output])].name for side in (g.parent, g.left, g.right)]
        return f"{parts[0]} -> {parts[1]} {parts[2]}"
    if block.startswith("unary"):
        chain = " -> ".join(symbol.name for symbol in treebank.chains[output])
        return f"{chain} -> {symbols[int(g.unary_child[output])].name}"
    return symbols[output].name
