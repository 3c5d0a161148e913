"""Mistakes by kind, and the pages on them."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from itertools import product

import numpy as np
import pytest

from dovetail.evaluate import Mistakes, entity_scores, reliability
from dovetail.evaluate.mistakes import KINDS
from dovetail.evaluate.report_page import Evaluated, page_of_answers
from dovetail.evaluate.significance import bootstrap_interval
from dovetail.evaluate.tokens import token_scores
from dovetail.text.brackets import parse_tree
from dovetail.text.sentence import Sentence, Span


class Reader(HTMLParser):
    """Every element that begins also ends, and nothing is asked of any other place."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text = ""
        self.feed(page)
        assert not self.open
        assert not re.search(r"(src|href)=\"(?!data:)|url\(|@import|<script|<link", page)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag not in ("meta", "img"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: object) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.mark.parametrize(
    ("gold", "found", "kinds"),
    [
        ([(0, 2, "A")], [(0, 2, "A")], []),
        ([(0, 2, "A")], [], ["missed"]),
        ([], [(0, 2, "A")], ["invented"]),
        ([(0, 2, "A")], [(0, 2, "B")], ["label"]),
        ([(0, 2, "A")], [(1, 3, "A")], ["boundary"]),
        ([(0, 2, "A")], [(1, 3, "B")], ["both"]),
        ([(0, 4, "A")], [(0, 1, "A"), (1, 4, "A")], ["invented", "boundary"]),
        ([(0, 2, "A"), (3, 4, "A")], [(3, 4, "A")], ["missed"]),
    ],
)
def test_kinds(gold: list[tuple[int, int, str]], found: list[tuple[int, int, str]], kinds: list[str]) -> None:
    assert [one.kind for one in Mistakes.of([gold], [found]).sentences[0]] == kinds


def test_every_entity_is_right_or_in_one_mistake_and_mending_all_is_perfect() -> None:
    rng = np.random.default_rng(1)
    spans = [(i, j, label) for i, j, label in product(range(6), range(1, 7), "AB") if i < j]
    for _ in range(200):
        gold, found = ([spans[k] for k in rng.choice(len(spans), rng.integers(0, 4), replace=False)] for _ in range(2))
        seen = Mistakes.of([gold], [found])
        [own] = seen.sentences
        right = sorted(set(gold) & set(found))
        assert sorted([one.gold for one in own if one.gold] + right) == sorted(gold)
        assert sorted([one.found for one in own if one.found] + right) == sorted(found)
        assert seen.total.correct == len(right)
        better = {kind: seen.mended(kind) for kind in KINDS}
        assert all(one.f1 >= seen.total.f1 - 1e-9 for one in better.values())
        assert sum(seen.confusion.values()) == len(own) + len(right)


def evaluated() -> Evaluated:
    right = [{"ner": ("B-PER", "O", "B-LOC")}, {"ner": ("O", "B-<x>", "O")}]
    words = [("Ada", "saw", "Bern"), ("a", "<b>&", "c")]
    gold = [Sentence(w, layers) for w, layers in zip(words, right, strict=True)]
    found = [Sentence(words[0]).with_entities([Span(0, 1, "PER", 0.9), Span(2, 3, "PER", 0.4)]), Sentence(words[1])]
    found[1] = found[1].with_layer("ner", ("O", "O", "O"))
    tags = [[s.layers["ner"] for s in side] for side in (gold, found)]
    counts = np.array([[2, 2, 1], [1, 0, 0]])
    return Evaluated(
        gold, found, "ner", entity_scores(*tags), bootstrap_interval(counts), reliability([0.9, 0.4], [1, 0])
    )


def test_a_page_on_entities() -> None:
    page = evaluated().page("dev <1>")
    text = Reader(page).text
    for part in (
        "dev <1>",
        "Errors by kind",
        "Missed",
        "Wrong label",
        "What would help",
        "Calibration",
        "Sentence 1, 1 wrong",
    ):
        assert part in text
    assert "There are only 3 entities here" in text
    assert "<b>&" in text
    assert "prefers-color-scheme: dark" in page


def test_a_page_without_mistakes_or_probabilities() -> None:
    one = evaluated()
    text = Reader(Evaluated(one.gold, one.gold, "ner", one.scores, one.interval).page("x")).text
    assert "There is none with a mistake" in text
    assert "no probabilities" in text


def test_a_page_on_plain_labels() -> None:
    gold = [Sentence(("Ada", "slept"), {"pos": ("NNP", "VBD")}), Sentence(("a",), {"pos": ("DT",)})]
    found = [Sentence(("Ada", "slept"), {"pos": ("NN", "VBD")}), gold[1]]
    scores = token_scores(*([s.layers["pos"] for s in side] for side in (gold, found)))
    text = Reader(Evaluated(gold, found, "pos", scores).page("x")).text
    assert "66.67%" in text
    assert "Ada NNP, found as NN" in text


def test_a_page_on_trees() -> None:
    trees = [parse_tree(t) for t in ("(S (NP (NNP Ada)) (VP (VBD slept)))", "(S (NP (NNP Ada)) (NP (VBD slept)))")]
    gold, found = ([Sentence(("Ada", "slept"), tree=tree)] for tree in trees)
    page = page_of_answers("x", "brackets <1>", gold, found)
    assert "Sentence 1, 2 wrong" in Reader(page).text
    assert "There is none with a mistake" in Reader(page_of_answers("x", "", gold, gold)).text


def test_parts_for_notebooks() -> None:
    one = evaluated()
    assert one.calibration is not None
    tags = [[s.layers["ner"] for s in side] for side in (one.gold, one.found)]
    for shown in (one.calibration, one.scores, Mistakes.of([[(0, 1, "A")]], [[(0, 1, "B")]]), entity_scores(*tags)):
        Reader(shown._repr_html_())
