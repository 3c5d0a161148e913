"""Sentences and documents for the tests, made by hypothesis, and the memory that reading takes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import strategies as st

from dovetail.text.frames import Frame
from dovetail.text.segment import annotate
from dovetail.text.sentence import Document, Sentence, Span
from dovetail.text.spans import CharacterSpan
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
def trees(draw, words=CELLS, labels=NODES, tags=("NN", "-LRB-", ",", "$(")):
    """Trees of up to eight words, with unary chains."""
    row = [Tree(draw(st.sampled_from(tags)), word=draw(words)) for _ in range(draw(st.integers(1, 8)))]
    for _ in range(draw(st.integers(0, 8))):
        start = draw(st.integers(0, len(row) - 1))
        end = draw(st.integers(start + 1, len(row)))
        row[start:end] = [Tree(draw(labels), tuple(row[start:end]))]
    return Tree("ROOT", tuple(row))


@st.composite
def annotated_documents(draw):
    """Documents with a text whose words are those of the tokeniser, with flat entities, some with probabilities."""
    words = st.text("abAB😀é", min_size=1, max_size=4)
    gaps = st.sampled_from([" ", "  ", "\n", " \n ", "\t"])
    text = draw(st.sampled_from(["", " ", "\n"]))
    places = []
    for _ in range(draw(st.integers(1, 8))):
        word = draw(words)
        places.append((len(text), len(text) + len(word)))
        text += word + draw(gaps)
    chances = st.one_of(st.none(), st.sampled_from([0.25, 0.5, 1.0]))
    spans = [
        CharacterSpan(places[first][0], places[last - 1][1], label, draw(chances))
        for first, last, label in draw(flat_spans(len(places)))
    ]
    cut = annotate(text, spans)
    return Document(tuple(cut), text, draw(st.sampled_from(["a", "letter 1", "12", "0x", "é/b"])))


@st.composite
def rich_sentences(draw):
    """Sentences with all that one can have: layers, nested entities, a tree, dependencies, frames, comments."""
    tree = draw(trees(st.text("abcé", min_size=1, max_size=4), tags=("NN", ",")))
    words = tree.words()
    length = len(words)
    places = st.tuples(st.integers(0, length - 1), st.integers(1, 3)).map(lambda p: (p[0], min(p[0] + p[1], length)))
    flat = draw(flat_spans(length))
    spans = {place: Span(*place, draw(LABELS), draw(st.sampled_from([None, 0.5]))) for place in draw(st.sets(places))}
    layers = {name: tuple(draw(CELLS) for _ in words) for name in draw(st.sets(st.sampled_from(["pos", "mood"])))}
    if draw(st.booleans()):
        heads = draw(st.permutations(range(length)))  # each hangs on one drawn before it, the first on the root
        above = {word: heads[draw(st.integers(0, i - 1))] + 1 if i else 0 for i, word in enumerate(heads)}
        layers["head"] = tuple(str(above[i]) for i in range(length))
        layers["deprel"] = tuple(draw(st.sampled_from(["root", "obj", "nmod:of"])) for _ in words)
    frames = {p: Frame(p, draw(st.sampled_from([None, "go.01"])), "go", [(0, length, "ARG0")]) for p in
              draw(st.sets(st.integers(0, length - 1), max_size=2))}  # fmt: skip
    return Sentence(
        words,
        {**layers, "ner": tuple(spans_to_tags(flat, length))},
        tuple(spans.values()) or tuple(Span(*one) for one in flat),
        tree=tree,
        frames=draw(st.sampled_from([None, tuple(frames.values())])),
        id=draw(st.sampled_from([None, "s1"])),
        comments=draw(st.sampled_from([(), ("# genre = news", "# told")])),
    )


def kilobytes_grown(setup: str, work: str) -> tuple[int, int]:
    """Return the number that a program computes, and by how much its peak memory grew meanwhile, in kB.

    The peak is that of its own memory: ``ru_maxrss`` would be at least that of the process that starts it.
    """
    if not Path("/proc/self/status").exists():
        pytest.skip("needs /proc")
    peak = "int(open('/proc/self/status').read().split('VmHWM:')[1].split()[0])"
    program = f"{setup}\nbefore = {peak}\nprint({work}, {peak} - before)"
    out = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    number, grown = map(int, out.split())
    return number, grown
