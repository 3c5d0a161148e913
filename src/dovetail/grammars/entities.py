"""Entities and trees made to fit: an entity is to be a constituent, or some children in a row of one.

That is so where the entity crosses no constituent. Where it does, a few things that annotators disagree on can be
repaired (Finkel 2010, appendix A): a final period inside the entity, and determiners or adjectives that stand before
an entity inside a smaller noun phrase than the entity. What cannot be repaired is left out, and listed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from dovetail.text.sentence import Sentence, Span
from dovetail.text.tree import Tree

DETERMINERS = frozenset({"DT", "PDT", "PRP$", "WP$", "WDT", "POS"})
MODIFIERS = DETERMINERS | {"JJ", "JJR", "JJS", "CD", "RB", "VBN", "VBG", "NN", "NNP", "NNS", "HYPH", ","}
PERIODS = frozenset({".", "?", "!"})
ENTITY_NODE = "NAMEDENTITY"
POSSESSIVE = "POSSNP"
KINDS = ("final period", "determiner before a phrase", "modifier before a phrase")


@dataclass(frozen=True)
class Lost:
    """An entity that could not be made to fit, and the first constituent or entity that it crosses."""

    sentence: str
    span: Span
    crossed: Span
    text: str


@dataclass
class RepairReport:
    """What was done to entities and trees, by kind, and what was left out."""

    entities: int = 0
    constituents: int = 0  # entities that are a constituent
    rows: int = 0  # entities that are children in a row of a constituent
    repaired: Counter[str] = field(default_factory=Counter)
    lost: list[Lost] = field(default_factory=list)

    def lines(self) -> list[str]:
        """The report, a line for each kind."""
        found = [
            f"{self.entities:,} entities: {self.constituents:,} are constituents, {self.rows:,} children in a row",
            *(f"repaired: {kind}: {self.repaired[kind]:,}" for kind in KINDS if self.repaired[kind]),
        ]
        return [*found, f"left out: {len(self.lost):,}"]


def crosses(one: Span, other: Span) -> bool:
    """Whether two spans overlap and neither holds the other.

    >>> crosses(Span(0, 2, "A"), Span(1, 3, "B")), crosses(Span(0, 3, "A"), Span(1, 3, "B"))
    (True, False)
    """
    return one.start < other.start < one.end < other.end or other.start < one.start < other.end < one.end


def fitted(sentence: Sentence, report: RepairReport) -> Sentence:
    """The sentence with a tree that none of its entities crosses; those that cannot be made to fit are left out."""
    tree = sentence.tree
    if tree is None:
        raise ValueError("the sentence has no tree")
    constituents = list(tree.spans())
    tags = tree.tags()
    kept: list[Span] = []
    for entity in sentence.spans:
        report.entities += 1
        found = _fit(entity, constituents, tags, report)
        rival = next((other for other in kept if crosses(found, other)), None) if found else None
        if found is None or rival is not None:
            crossed = rival or next(c for c in constituents if crosses(entity, c))
            words = " ".join(sentence.words[entity.start : entity.end])
            report.lost.append(Lost(sentence.id or "", entity, crossed, words))
            continue
        is_constituent = any((c.start, c.end) == (found.start, found.end) for c in constituents)
        is_word = found.end == found.start + 1
        report.constituents += is_constituent or is_word
        report.rows += not is_constituent and not is_word
        kept.append(found)
    if constituents != list(tree.spans()):
        tree = Tree.from_spans(tree.words(), tags, constituents[1:], constituents[0].label)
    return replace(sentence, tree=tree, spans=tuple(kept))


def _fit(entity: Span, constituents: list[Span], tags: Sequence[str], report: RepairReport) -> Span | None:
    """The entity, or a part of it, so that it crosses no constituent; these may be changed, too."""
    crossed = [c for c in constituents if crosses(entity, c)]
    if not crossed:
        return entity
    if entity.end == len(tags) and tags[-1] in PERIODS and entity.end > entity.start + 1:
        shorter = replace(entity, end=entity.end - 1)
        if not any(crosses(shorter, c) for c in constituents):
            report.repaired["final period"] += 1
            return shorter
    if len(crossed) == 1 and crossed[0].start < entity.start and _is_inner(crossed[0], constituents):
        [phrase] = crossed
        before = tags[phrase.start : entity.start]
        place = constituents.index(phrase)
        if all(tag in DETERMINERS for tag in before):
            del constituents[place]
            report.repaired["determiner before a phrase"] += 1
            return entity
        if all(tag in MODIFIERS for tag in before):
            constituents[place] = replace(phrase, start=entity.start)
            report.repaired["modifier before a phrase"] += 1
            return entity
    return None


def _is_inner(phrase: Span, constituents: Sequence[Span]) -> bool:
    """Whether a phrase is a noun phrase in another one that goes on after it: (NP (NP ...) (PP ...) ...)."""
    around = [c for c in constituents if c.start <= phrase.start and phrase.end < c.end]
    nearest = min(reversed(around), key=lambda c: c.end - c.start, default=None)
    return nearest is not None and phrase.label.startswith("NP") and nearest.label.startswith("NP")


def fitted_all(sentences: Iterable[Sentence], report: RepairReport) -> list[Sentence]:
    """All sentences, made to fit."""
    return [fitted(sentence, report) for sentence in sentences]


# Trees whose nodes are entities


def with_entity_nodes(tree: Tree, entities: Sequence[Span]) -> Tree:
    """The tree with a node for every entity that is neither a constituent nor a word.

    >>> from dovetail.text.brackets import parse_tree
    >>> print(with_entity_nodes(parse_tree("(NP (NNP New) (NNP York) (NNS stocks))"), [Span(0, 2, "LOC")]))
    (NP (NAMEDENTITY (NNP New) (NNP York)) (NNS stocks))
    """
    spans = list(tree.spans())
    there = {(span.start, span.end) for span in spans}
    wanted = {(e.start, e.end) for e in entities if e.end > e.start + 1} - there
    if not wanted:
        return tree
    spans += [Span(start, end, ENTITY_NODE) for start, end in sorted(wanted)]
    return Tree.from_spans(tree.words(), tree.tags(), spans[1:], spans[0].label)


def without_entity_nodes(tree: Tree) -> Tree:
    """The tree without the nodes that :func:`with_entity_nodes` has added.

    >>> from dovetail.text.brackets import parse_tree
    >>> print(without_entity_nodes(parse_tree("(NP (NAMEDENTITY (NNP New) (NNP York)) (NNS stocks))")))
    (NP (NNP New) (NNP York) (NNS stocks))
    """

    def spliced(node: Tree, below: tuple[tuple[Tree, ...], ...]) -> tuple[Tree, ...]:
        if not node.children:
            return (node,)
        children = tuple(child for part in below for child in part)
        return children if node.label == ENTITY_NODE else (replace(node, children=children),)

    found = tree.fold(spliced)
    return found[0] if len(found) == 1 else replace(tree, children=found)


def with_possessives(tree: Tree, entities: Sequence[Span] = ()) -> Tree:
    """Noun phrases that end in a possessive, with a noun phrase for what stands before it, if no entity crosses that.

    >>> from dovetail.text.brackets import parse_tree
    >>> print(with_possessives(parse_tree("(NP (NNP Ada) (POS 's))")))
    (POSSNP (NP (NNP Ada)) (POS 's))
    """
    tags, spans = tree.tags(), tree.spans()
    there = {(span.start, span.end) for span in spans if span.label == "NP"}
    found: list[Span] = []
    for span in spans:
        inner = Span(span.start, span.end - 1, "NP")
        is_last_word = not any(other.start > span.start and other.end == span.end for other in spans)
        ends_so = span.label == "NP" and span.end > span.start + 1 and tags[span.end - 1] == "POS" and is_last_word
        if not ends_so or any(crosses(inner, entity) for entity in entities):
            found.append(span)
            continue
        found.append(replace(span, label=POSSESSIVE))
        found += [inner] if (inner.start, inner.end) not in there else []
    if len(found) == len(spans) and all(one.label == other.label for one, other in zip(found, spans, strict=True)):
        return tree
    # A tree may be a noun phrase itself, and the root of what is built from spans says nothing.
    return Tree.from_spans(tree.words(), tags, found[1:], found[0].label)


def without_possessives(tree: Tree) -> Tree:
    """The reverse of :func:`with_possessives`.

    >>> from dovetail.text.brackets import parse_tree
    >>> print(without_possessives(parse_tree("(POSSNP (NP (NNP Ada)) (POS 's))")))
    (NP (NNP Ada) (POS 's))
    """

    def joined(node: Tree, below: tuple[Tree, ...]) -> Tree:
        if not below:
            return node
        if node.label != POSSESSIVE:
            return replace(node, children=below)
        inside = below[0].children if below[0].label == "NP" and below[0].children else (below[0],)
        return replace(node, label="NP", children=(*inside, *below[1:]))

    return tree.fold(joined)
