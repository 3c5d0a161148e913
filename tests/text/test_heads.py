from __future__ import annotations

import io

import pytest

from dovetail.errors import InputError
from dovetail.text.brackets import parse_tree
from dovetail.text.heads import COLLINS, HeadRules


@pytest.mark.parametrize(
    ("label", "children", "head"),
    [
        ("NP", "DT JJ NN", 2),
        ("NP", "NP POS", 1),
        ("NP-SBJ", "NP-1 PP", 0),
        ("NP", "DT JJ", 1),
        ("NP", "CD CD", 1),
        ("NP", "NP , NP , CC NP", 0),
        ("NP", "NN CC NN", 0),
        ("NP", "NN , CC NN", 0),
        ("VP", "MD RB VP", 0),
        ("VP", "TO VP", 0),
        ("VP", "VBD NP PP", 0),
        ("S", "NP VP .", 1),
        ("S", "S , CC S .", 0),
        ("PP", "IN NP", 0),
        ("SBAR", "WHNP S", 0),
        ("ADVP", "RB RB", 1),
        ("INTJ", ", UH .", 1),
        ("FRAG", "NP .", 0),
        ("ROOT", "S", 0),
        ("FOO", ". X Y", 1),
        ("FOO", ". ,", 0),
    ],
)
def test_collins(label, children, head):
    assert COLLINS.head_index(label, children.split()) == head


def test_lexical_heads():
    tree = parse_tree("(ROOT (S (NP (DT the) (NN cat)) (VP (MD will) (VP (VB sleep)))))")
    heads = dict(zip([node.label for node in tree.nodes()], COLLINS.lexical_heads(tree), strict=True))
    assert (heads["ROOT"], heads["NP"], heads["DT"], heads["VP"]) == (2, 1, 0, 3)


def test_a_table_of_ones_own():
    table = "# German\nNP right NN\nNP left-any PPER NE\n\n* right\n"
    rules = HeadRules.read(io.StringIO(table))
    assert rules.head_index("NP", ["NE", "NN", "X"]) == 1
    assert rules.head_index("NP", ["X", "NE", "PPER"]) == 1
    assert rules.head_index("NP", ["X", "Y"]) == 0
    assert rules.head_index("S", ["X", "Y"]) == 1
    assert HeadRules(rules.rules).rules == rules.rules


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("NP right NN\nVP down VB", "<stream>:2: 'down' after 'VP', expected a direction"),
        ("NP", "<stream>:1: nothing after 'NP'"),
        ("# nothing", "no head rules"),
    ],
)
def test_bad_tables_are_refused(table, message):
    with pytest.raises(InputError, match=message):
        HeadRules.read(io.StringIO(table))


def test_bad_dictionaries_are_refused():
    with pytest.raises(InputError, match="head rules of 'NP'"):
        HeadRules({"NP": [("up", ["NN"])]})


def test_a_word_has_no_head_child():
    with pytest.raises(ValueError, match="part of speech"):
        COLLINS.head_of(parse_tree("(NN a)"))
