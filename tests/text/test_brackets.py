from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dovetail.errors import DovetailError, InputError
from dovetail.text.brackets import indented, parse_tree, read_brackets, write_brackets
from dovetail.text.formats import read, write
from dovetail.text.report import ReadReport
from dovetail.text.sentence import Sentence
from dovetail.text.tree import Tree, escaped
from tests.text.helpers import trees


def read_all(text: str, report: ReadReport | None = None, **options) -> list[Sentence]:
    report = ReadReport() if report is None else report
    return [
        sentence for document in read_brackets(io.StringIO(text), report=report, **options) for sentence in document
    ]


@pytest.mark.parametrize("layout", ["line", "indented"])
@given(several=st.lists(trees(), max_size=4))
def test_what_is_written_is_read_again(several, layout):
    out = io.StringIO()
    write_brackets([Sentence(tree.words(), tree=tree) for tree in several], out, layout=layout)
    expected = [
        tree.with_leaves([escaped(word) for word in tree.words()], [escaped(tag) for tag in tree.tags()])
        for tree in several
    ]
    assert [sentence.tree for sentence in read_all(out.getvalue())] == expected


def test_dialects():
    text = "( (S (NN a)))\n(TOP(S(NN b)))(ROOT\n  (S\n\t(NN c)\n  )\n)\r\n((S (NN d)) (S (NN e)))\n\n(S (NN f))(NN g)"
    labels = ["ROOT", "TOP", "ROOT", "ROOT", "S", "NN"]
    found = read_all(text)
    assert [sentence.tree.label for sentence in found] == labels
    assert [sentence.words for sentence in found] == [("a",), ("b",), ("c",), ("d", "e"), ("f",), ("g",)]
    assert found[3].layers == {"pos": ("NN", "NN")}


def test_empty_nodes_are_left_out_and_counted():
    report = ReadReport()
    text = "(S (NP-SBJ (-NONE- *-1)) (VP (TO to) (VP (VB go) (SBAR (-NONE- 0) (S (-NONE- *T*-2))))))\n(X (-NONE- *))"
    (sentence,) = read_all(text, report)
    assert str(sentence.tree) == "(S (VP (TO to) (VP (VB go))))"
    assert list(report.counts.values()) == [4, 1]


def test_function_tags_and_odd_words_are_kept():
    tree = parse_tree("(S (NP-SBJ=2 (NNP O'Neil) (-LRB- -LRB-)) (PRT|ADVP (RP up\u00a0there)))")
    assert tree.spans()[1].label == "NP-SBJ=2"
    assert tree.words() == ("O'Neil", "-LRB-", "up\u00a0there")


def test_escapes_can_be_read_as_brackets():
    (sentence,) = read_all("(NP (NN CD4-LRB-+-RRB-) (-LRB- -LRB-))", escapes="read")
    assert sentence.words == sentence.tree.words() == ("CD4(+)", "(")
    assert sentence.layers["pos"] == ("NN", "-LRB-")
    assert str(sentence.tree) == "(NP (NN CD4-LRB-+-RRB-) (-LRB- -LRB-))"


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("(S (NN a))\n(S (NP\n(NN b))", 2, "a closing bracket is missing in the tree that begins here"),
        ("(S (NP (NN b)", 1, "2 closing brackets are missing"),
        ("(S (NN a)))", 1, "a closing bracket too many"),
        ("(S (NN a))\n\nand (S (NN a))", 3, "'and' stands outside of brackets"),
        ("(S (NP) (NN a))", 1, "a bracket 'NP' without a word"),
        ("()", 1, "without a word"),
        ("(S\n(NN a b))", 2, "'b' is not the only thing under 'NN'"),
        ("(S (NN a) b)", 1, "'b' is not the only thing under 'S'"),
        ("(S (NN f(x)))", 1, "a bracket after the word 'f'; those in words are written -LRB-"),
        ("(ROOT (S (NN a))\n(ROOT (S (NN b)))", 2, r"a root \(ROOT\) inside the tree that begins in line 1"),
        ("( (S (NN a))\n( (S (NN b)))", 2, r"a root \(no label\) inside the tree that begins in line 1"),
        ("(S (NN a)) (", 1, "a closing bracket is missing"),
    ],
)
def test_errors_name_the_line(text, line, message):
    with pytest.raises(InputError, match=f"<stream>:{line}: .*{message}"):
        read_all(text)


def test_good_trees_come_before_a_bad_one(tmp_path):
    path = tmp_path / "a.mrg"
    path.write_text("(S (NN a))\n" * 3000 + "(S")
    stream = read(path)
    assert len(next(stream)) == 1000
    with pytest.raises(InputError, match=r"a\.mrg:3001"):
        list(stream)


@pytest.mark.parametrize("text", ["", "(S (NN a)) (S (NN b))", "(S (-NONE- *))"])
def test_one_tree_is_expected_of_a_string(text):
    with pytest.raises(InputError, match=r"x:7: \d trees with words, expected one"):
        parse_tree(text, "x", 7)


def test_sentences_without_trees_cannot_be_written(tmp_path):
    with pytest.raises(DovetailError, match="sentence 2 has no tree"):
        write([Sentence(("a",), tree=Tree("NN", word="a")), Sentence(("b",))], tmp_path / "out.mrg")
    assert list(tmp_path.iterdir()) == []


def test_formats_know_brackets(tmp_path):
    tree = parse_tree("(ROOT (S (NN a)))")
    for name in ("a.mrg", "b.ptb.gz", "c.trees", "d.psd", "e.brackets", "f.tree"):
        write([Sentence(("a",), tree=tree)], tmp_path / name)
        (document,) = read(tmp_path / name)
        assert document.sentences[0].tree == tree


def test_long_trees():
    flat = Tree("S", tuple(Tree("NN", word=f"w{number}") for number in range(5000)))
    assert parse_tree(str(flat)) == flat
    deep = Tree("NN", word="x")
    for _ in range(3000):
        deep = Tree("NP", (deep, Tree("NN", word="y")))
    assert parse_tree(indented(deep).replace("\n", " ")) == deep
