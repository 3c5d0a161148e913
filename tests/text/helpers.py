"""Sentences and documents for the tests, made by hypothesis."""

from __future__ import annotations

from hypothesis import strategies as st

from dovetail.text.sentence import Sentence
from dovetail.text.tags import spans_to_tags
from dovetail.text.tree import Tree

# What a column can hold: anything but line ends and tabs; not blank, and no mark of a document.
CELLS = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\t\n\r\ufeff"), min_size=1, max_size=8
).filter(lambda cell: cell.strip(" ") == cell and cell != "-DOCSTART-")
LABELS = st.sampled_from(["PER", "LOC", "creative-work"])


@st.composite
def flat_spans(draw, length: int):
    edges = sorted(draw(st.sets(st.integers(0, length), max_size=6)))
    spans = []
    for start, end in zip(edges, edges[1:], strict=False):  # noqa: RUF007
        if draw(st.booleans()):
            spans.append((start, end, draw(LABELS)))
    return spans


@st.composite
def tagged_sentences(draw, words=CELLS, layers=("pos",)):
    chosen = draw(st.lists(words, min_size=1, max_size=6))
    tags = spans_to_tags(draw(flat_spans(len(chosen))), len(chosen))
    values = {name: tuple(draw(words) for _ in chosen) for name in layers}
    return Sentence(tuple(chosen), {**values, "ner": tuple(tags)})


NODES = st.sampled_from(["S", "NP", "VP-PRD", "PRT|ADVP", "X=2"])


@st.composite
def trees(draw, words=CELLS, labels=NODES):
    """Trees of up to eight words, with unary chains."""
    row = [
        Tree(draw(st.sampled_from(["NN", "-LRB-", ",", "$("])), word=draw(words))
        for _ in range(draw(st.integers(1, 8)))
    ]
    for _ in range(draw(st.integers(0, 8))):
        start = draw(st.integers(0, len(row) - 1))
        end = draw(st.integers(start + 1, len(row)))
        row[start:end] = [Tree(draw(labels), tuple(row[start:end]))]
    return Tree("ROOT", tuple(row))
