"""Sentences and documents as notebooks show them."""

from __future__ import annotations

import re
from base64 import b64decode
from html.parser import HTMLParser

from dovetail.text.brackets import parse_tree
from dovetail.text.html import hue
from dovetail.text.segment import segment
from dovetail.text.sentence import Document, Sentence, Span


class _Reader(HTMLParser):
    """The text of a page, and whether every element that begins also ends."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.text = ""
        self.open: list[str] = []
        self.feed(page)
        assert not self.open

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag != "img":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def test_entities_are_marked_with_labels_and_probabilities() -> None:
    page = Sentence(("Ada", "slept")).with_entities((Span(0, 1, "PER", 0.934),))._repr_html_()
    assert _Reader(page).text == "AdaPER 0.93 slept"
    assert f"hsl({hue('PER')}" in page
    assert hue("PER") != hue("ORG")


def test_everything_is_escaped() -> None:
    sentence = Sentence(("<script>", "&"), {"ner": ("B-<b>", "O")})
    page = sentence._repr_html_()
    assert "<script>" not in page
    assert "<b>" not in page
    assert _Reader(page).text == "<script><b> &"


def test_entities_within_and_across_others() -> None:
    spans = (Span(0, 4, "ORG"), Span(2, 3, "LOC"), Span(3, 5, "X"))
    page = Sentence(("University", "of", "Bern", "Physics", "said"), spans=spans)._repr_html_()
    assert _Reader(page).text == "University of BernLOC PhysicsORG said also Physics saidX"


def test_a_document_keeps_its_text() -> None:
    text = "  Ada slept.\n\nIn Bern, too. \n"
    tagged = tuple(s.with_entities((Span(1, 2, "X"),)) for s in segment(text))
    page = Document(tagged, text)._repr_html_()
    assert _Reader(page).text == "  Ada sleptX.\n\nIn BernX, too. \n"
    assert _Reader(Document((Sentence(("a", "b")), Sentence(("c",))))._repr_html_()).text == "a bc"
    assert _Reader(Document((), "none")._repr_html_()).text == "none"


def test_trees_are_pictures_that_need_nothing_else() -> None:
    tree = parse_tree("(S (NP (NNP Ada)) (VP (VBD slept)))")
    page = Document((Sentence(("Ada", "slept"), tree=tree),), "Ada slept")._repr_html_()
    assert 'src="data:image/svg+xml;base64,' in page
    assert not re.search(r"https?:", page)
    assert "<style" not in page
    _Reader(page)


def test_dependencies_are_pictures_too() -> None:
    layers = {"head": ("2", "0"), "deprel": ("nsubj", "root")}
    sentence = Sentence(("Ada", "slept"), layers, offsets=((0, 3), (4, 9)))
    for page in (sentence._repr_html_(), Document((sentence,), "Ada slept")._repr_html_()):
        [data] = re.findall(r'alt="dependencies" src="data:image/svg\+xml;base64,([^"]*)"', page)
        assert b64decode(data).decode().count('class="arm"') == 2
        assert _Reader(page).text == "Ada slept"


def test_heads_that_are_no_tree_leave_the_text() -> None:
    for heads in (("2", "1"), ("_", "_")):
        page = Sentence(("Ada", "slept"), {"head": heads})._repr_html_()
        assert "<img" not in page
        assert _Reader(page).text == "Ada slept"
    assert "<img" not in Sentence((), {"head": ()})._repr_html_()
