from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest
from hypothesis import given

from dovetail.errors import InputError
from dovetail.evaluate.report import align_columns
from dovetail.text.bitext import Pair
from dovetail.text.brackets import parse_tree
from dovetail.text.draw_dependencies import dependency_svg, draw_dependencies
from dovetail.text.draw_tree import draw_tree, layout
from dovetail.text.links import Link
from dovetail.text.links_svg import links_svg
from dovetail.text.sentence import Sentence, Span
from dovetail.text.tree import Tree
from dovetail.text.tree_svg import tree_svg
from dovetail.text.width import display_width
from tests.text.helpers import trees

SEA = parse_tree("(S (NP (DT the) (NN sea)) (VP (VBZ is) (ADJP (JJ big))))")
TEXT, PATH = "{http://www.w3.org/2000/svg}text", "{http://www.w3.org/2000/svg}path"
RAIN = Sentence(("It", "rains", "<now>"), {"head": ("2", "0", "2"), "deprel": ("nsubj", "root", "advmod")})


def heights(svg: str) -> dict[str, float]:
    """Return how far below the top each text of a picture stands; everything must lie inside the picture."""
    root = ElementTree.fromstring(svg)
    width, height = (float(root.attrib[name]) for name in ("width", "height"))
    assert root.attrib["viewBox"] == f"0 0 {root.attrib['width']} {root.attrib['height']}"
    found = {}
    for element in root.iter(TEXT):
        x, y = float(element.attrib["x"]), float(element.attrib["y"])
        assert 0 < x < width
        assert 10 < y < height
        found[element.text or ""] = y
    for element in root.iter(PATH):
        for x, y in re.findall(r"[ML]([-\d.]+) ([-\d.]+)", element.attrib["d"]):
            assert 0 <= float(x) <= width
            assert 0 <= float(y) <= height
    return found


@given(trees())
def test_no_two_nodes_of_a_row_overlap(tree):
    plan = layout(tree, lambda node: len(node.label) + len(node.word or ""), gap=2)
    rows: dict[int, list[tuple[float, float]]] = {}
    for node, depth, middle, _ in plan.nodes:
        half = (len(node.label) + len(node.word or "")) / 2
        assert middle - half >= -1e-9
        assert middle + half <= plan.width + 1e-9
        rows.setdefault(depth if node.word is None else -1, []).append((middle - half, middle + half))
    for row in rows.values():
        row.sort()
        assert all(left[1] + 2 <= right[0] + 1e-9 for left, right in zip(row, row[1:], strict=False))  # noqa: RUF007


@given(trees())
def test_every_word_is_drawn_within_the_width(tree):
    drawing = draw_tree(tree, width=200)
    assert all(display_width(line) <= 200 for line in drawing.splitlines())
    for text in (drawing, draw_tree(tree, width=1)):
        for label in set(tree.tags()):
            assert label in text


def test_a_drawing():
    assert draw_tree(SEA, width=40).splitlines() == [
        "         S",
        "    ┌────┴────┐",
        "   NP        VP",
        " ┌──┴─┐    ┌──┴──┐",
        " │    │    │   ADJP",
        " │    │    │     │",
        " DT   NN  VBZ   JJ",
        "the  sea   is   big",
    ]


def test_a_narrow_screen_gets_lines():
    tree = Tree("NP", (Tree("NN", word="rain"),), probability=0.25)
    assert draw_tree(tree, width=3, probabilities=True) == "NP 0.25\n└── NN rain"


def test_line_ends_and_wide_characters_do_not_disturb():
    tree = Tree("X", (Tree("A", word="a\nb"), Tree("B", word="人物"), Tree("C", word="e\u0301")))
    assert draw_tree(tree, width=40).splitlines()[-1] == "a\ufffdb  人物  e\u0301"


def test_deep_trees_are_drawn_in_bounded_lines():
    tree = Tree("NN", word="x")
    for _ in range(5000):
        tree = Tree("NP", (tree, Tree("NN", word="y")))
    lines = draw_tree(tree, width=80).splitlines()
    assert len(lines) == 10_001
    assert max(map(len, lines)) < 260
    ElementTree.fromstring(tree_svg(tree))


@given(trees())
def test_svg_is_xml_that_holds_all_labels_and_words(tree):
    svg = tree_svg(tree, [Span(0, 1, "A<B", 0.3), Span(0, len(tree), "C")], title="t & u")
    heights(svg)
    root = ElementTree.fromstring(svg)
    texts = [element.text or "" for element in root.iter(TEXT)]
    expected = sum(1 for _ in tree.nodes()) + len(tree) + 2
    assert len(texts) == expected
    assert "A<B" in texts


def test_probable_constituents_are_darker():
    svg = tree_svg(Tree("NP", (Tree("NN", word="rain"),), probability=0.5))
    assert svg.count("opacity=") == 1
    assert 'opacity="0.60"' in svg


def test_nested_spans_do_not_share_a_row():
    svg = tree_svg(SEA, [Span(0, 4, "A"), Span(0, 2, "B"), Span(3, 4, "C")])
    places = heights(svg)
    assert places["S"] < places["NP"] < places["the"] < places["B"] == places["C"] < places["A"]


def test_dependencies_are_drawn():
    assert draw_dependencies(RAIN) == "rains (root)\n├── It (nsubj)\n└── <now> (advmod)"
    svg = dependency_svg(RAIN, probabilities=[0.5, 1.0, 0.1], title="rain")
    places, root = heights(svg), ElementTree.fromstring(svg)
    assert places["nsubj"] < places["It"] == places["rains"]
    texts = {element.text for element in root.iter(TEXT)}
    assert {"It", "rains", "<now>", "nsubj", "root", "advmod"} <= texts


def test_cyclic_dependencies_are_not_drawn():
    with pytest.raises(InputError, match="cycle"):
        draw_dependencies(RAIN.with_layer("head", ("2", "1", "0")))


def test_one_word_is_drawn():
    ElementTree.fromstring(dependency_svg(Sentence(("Go",), {"head": ("0",)})))
    assert draw_tree(Tree("VB", word="go"), width=80) == "VB\ngo"


def test_marks_without_a_class_and_tones_of_skin_take_no_column_of_their_own() -> None:
    thaana, thumb = "\u078b\u07a8", "\U0001f44d\U0001f3fd"  # a letter with its vowel; a sign with its colour
    assert (display_width(thaana), display_width(thumb)) == (1, 2)
    rows = align_columns([["label", "F1"], [thaana, "9.50"]]).splitlines()
    assert [display_width(row) for row in rows] == [11, 11]


def test_links_as_a_picture() -> None:
    pair = Pair(("AT&T", "wächst", "<sehr>"), ("AT&T", "grows"))
    svg = links_svg(pair, [Link(0, 0), Link(1, 1, 0.25), Link(2, 1, 0.5, sure=False)], title="a & b")
    assert heights(svg)["wächst"] < heights(svg)["grows"]
    root = ElementTree.fromstring(svg)
    assert [element.text for element in root.iter(TEXT)] == [*pair.source, *pair.target]
    assert svg.count('class="arm"') == 3
    assert svg.count("stroke-dasharray") == 1
    assert "<title>0.250</title>" in svg
    grey = [e.text for e in ElementTree.fromstring(links_svg(pair, [Link(0, 0)])).iter(TEXT) if e.get("class") == "tag"]
    assert grey == ["wächst", "<sehr>", "grows"]


@pytest.mark.parametrize("pair", [Pair((), ()), Pair((), ("a", "b")), Pair(("a",), ())])
def test_empty_sides_are_drawn(pair: Pair) -> None:
    assert len(list(ElementTree.fromstring(links_svg(pair, [])).iter(TEXT))) == len(pair.source) + len(pair.target)


def test_all_of_a_picture_of_links_is_in_its_frame() -> None:
    pair = Pair(tuple(f"word{i}" for i in range(30)), ("one", "two"))
    root = ElementTree.fromstring(links_svg(pair, [Link(29, 0), Link(0, 1)]))
    places = [(float(e.get("x", "")), float(e.get("y", ""))) for e in root.iter(TEXT)]
    assert all(0 < x < float(root.get("width", "")) and 0 < y < float(root.get("height", "")) for x, y in places)
