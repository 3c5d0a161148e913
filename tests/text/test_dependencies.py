from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dovetail.errors import InputError
from dovetail.text.brackets import parse_tree
from dovetail.text.dependencies import (
    dependency_heads,
    find_cycle,
    is_projective,
    projectivise,
    tree_dependencies,
    with_dependencies,
)
from dovetail.text.sentence import Sentence
from tests.text.helpers import trees


@st.composite
def acyclic_heads(draw):
    """Heads of up to nine words: each is below the root or a word that comes before it in some order."""
    order = draw(st.permutations(range(draw(st.integers(1, 9)))))
    heads = [-1] * len(order)
    for place, word in enumerate(order):
        heads[word] = draw(st.sampled_from([-1, *order[:place]]))
    return heads


def crosses(heads) -> bool:
    """The definition by crossing arcs, with an arc to each root from the far left."""
    arcs = [(min(word, head), max(word, head)) for word, head in enumerate(heads)]
    return any(a < c < b < d or c < a < d < b for (a, b), (c, d) in combinations(arcs, 2))


@given(acyclic_heads())
def test_projective_means_that_no_arcs_cross(heads):
    assert is_projective(heads) == (not crosses(heads))


@given(acyclic_heads())
def test_projectivised_heads_are_projective_trees(heads):
    lifted, count = projectivise(heads)
    assert is_projective(lifted)
    assert not find_cycle(lifted)
    assert (count == 0) == (lifted == list(heads))
    assert all(lifted[word] == -1 for word, head in enumerate(heads) if head == -1)


def test_the_shortest_arc_is_lifted_first():
    # "a hearing is scheduled on the issue today": on <- hearing crosses is <- scheduled
    assert projectivise([1, 3, 3, -1, 1, 6, 4, 3]) == ([1, 3, 3, -1, 3, 6, 4, 3], 1)


@given(trees())
def test_trees_give_projective_dependencies(tree):
    heads, relations = tree_dependencies(tree)
    assert is_projective(heads)
    assert heads.count(-1) == relations.count("root") == 1


def test_dependencies_of_a_tree_become_layers():
    tree = parse_tree("(ROOT (S (NP-SBJ (DT the) (NN cat)) (VP (MD will) (VP (VB sleep))) (. .)))")
    sentence = with_dependencies(Sentence(tree.words(), tree=tree), tree_dependencies(tree))
    assert sentence.layers["head"] == ("2", "3", "0", "3", "3")
    assert sentence.layers["deprel"] == ("NP/DT", "S/NP", "root", "VP/VP", "S/.")
    assert dependency_heads(sentence) == [1, 2, -1, 2, 2]


@pytest.mark.parametrize(
    ("head", "message"),
    [
        ("2 3 1", r"sentence 7: the heads make a cycle: a \(1\) <- b \(2\) <- c \(3\) <- a \(1\)"),
        ("0 3 2", r"cycle: b \(2\) <- c \(3\)"),
        ("0 1 4", r"sentence 7: word 3 \(c\) has the head '4', expected another word's number from 1 to 3, or 0"),
        ("0 2 1", r"word 2 \(b\) has the head '2'"),
        ("0 _ 1", r"word 2 \(b\) has the head '_'"),
        ("0 -1 1", r"word 2 \(b\) has the head '-1'"),
        ("0 0 1", r"2 words have the head 0, expected one: a \(1\), b \(2\)"),
    ],
)
def test_bad_heads_are_named(head, message):
    with pytest.raises(InputError, match=message):
        dependency_heads(Sentence(("a", "b", "c"), {"head": tuple(head.split())}), number=7)


def test_several_roots_can_be_allowed_or_mended():
    sentence = Sentence(("a", "b", "c"), {"head": ("2", "0", "0")}, id="s")
    assert dependency_heads(sentence, roots="any") == [1, -1, -1]
    assert dependency_heads(sentence, roots="first") == [1, -1, 1]
    with pytest.raises(InputError, match="sentence s: 2 words"):
        dependency_heads(sentence)
    with pytest.raises(InputError, match="no layer 'head'"):
        dependency_heads(Sentence(("a",)))


def test_cycles_are_no_trees():
    with pytest.raises(ValueError, match="cycle"):
        is_projective([1, 0])


def test_long_chains_are_no_trouble():
    heads = [-1, *range(5000)]
    assert projectivise(heads) == (heads, 0)
