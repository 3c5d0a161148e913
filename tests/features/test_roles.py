"""Trees as arrays, candidates of predicates, and what is seen of them."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from dovetail.features.compile.hashing import string_key
from dovetail.features.compile.roles import TEMPLATES, Predicates, RoleText
from dovetail.features.compile.trees import TreeArrays
from dovetail.text.brackets import parse_tree
from dovetail.text.heads import COLLINS
from tests.text.helpers import trees

SOLD = "(S (NP (DT the) (NN boat)) (VP (VBD was) (VP (VBN sold) (PP (IN by) (NP (NNP Ada))) (NP (NN today)))) (. .))"


def text_of(lines, places, reach=4):
    arrays = TreeArrays([parse_tree(line) for line in lines])
    tree = np.array([t for t, _ in places])
    word = arrays.nodes.words[tree] + np.array([w for _, w in places])
    return RoleText.of(arrays, Predicates(tree, word, ["sell"] * len(places), ["sell.01"] * len(places)), reach)


@given(st.lists(trees(), min_size=1, max_size=3))
def test_arrays_are_the_trees(made):
    nodes = TreeArrays(made).nodes
    for t, tree in enumerate(made):
        own, words = slice(*nodes.first[t : t + 2]), nodes.words[t]
        places = list(tree.places())
        assert (nodes.begin[own] - words).tolist() == [place.start for place in places]
        assert (nodes.end[own] - words).tolist() == [place.end for place in places]
        assert (nodes.head[own] - words).tolist() == list(COLLINS.lexical_heads(tree))
        for i, place in enumerate(places, int(nodes.first[t])):
            children = [c for c in range(*nodes.first[t : t + 2]) if nodes.parent[c] == i]
            assert len(children) == len(place.node.children)
            assert nodes.right[children[:-1]].tolist() == children[1:]
            assert nodes.left[children[1:]].tolist() == children[:-1]


@settings(max_examples=25)
@given(st.lists(trees(), min_size=1, max_size=2), st.integers(1, 4))
def test_candidates_are_all_spans_near_the_predicate(made, reach):
    arrays = TreeArrays(made)
    where = [(t, w) for t, tree in enumerate(made) for w in range(len(tree))]
    tree, word = np.array(where).T
    found = RoleText.of(
        arrays, Predicates(tree, arrays.nodes.words[tree] + word, [""] * len(where), [""] * len(where)), reach
    )
    for p, (t, w) in enumerate(where):
        expected = set()

        def walk(node, start, depth, above, w=w, expected=expected):
            inside = start <= w < start + len(node)
            depth = 0 if inside else depth + 1
            here = (start, start + len(node))
            marks = node.word is not None and node.label in (",", "-LRB-")
            if not inside and depth <= reach and here != above and not marks:
                expected.add(here)
            for child in node.children:
                walk(child, start, depth, here)
                start += len(child)

        walk(made[t], 0, 0, None)
        own = slice(*found.candidates.offsets[p : p + 2])
        spans = list(zip(found.candidates.begin[own].tolist(), found.candidates.end[own].tolist(), strict=True))
        assert set(spans) == expected
        assert spans == sorted(spans, key=lambda span: (span[1], span[0]))


def test_what_is_seen_of_a_candidate():
    text = text_of([SOLD], [(0, 3)])
    c = text.candidates
    spans = list(zip(c.begin.tolist(), c.end.tolist(), strict=True))
    atoms = text.atoms()
    subject, agent = spans.index((0, 2)), spans.index((4, 6))
    assert atoms["phrase"][[subject, agent]].tolist() == [string_key("NP"), string_key("PP")]
    assert atoms["head"][[subject, agent]].tolist() == [string_key("boat"), string_key("by")]
    assert atoms["inner"][agent] == string_key("ada")
    assert atoms["mark"][agent] == string_key("by")
    assert atoms["voice"][0] == string_key("voice=1")
    assert atoms["class"][0] == string_key("verb")
    assert atoms["side"][[subject, agent]].tolist() == [string_key("side=0"), string_key("side=1")]
    assert (c.ups[subject], c.downs[subject], c.ups[agent], c.downs[agent]) == (3, 1, 1, 1)
    assert len(list(text.keys())) == len(TEMPLATES)


def test_the_same_place_in_another_tree_has_the_same_path():
    other = "(S (NP (NNS cats)) (VP (VBD were) (VP (VBN seen))) (. !))"
    text = text_of([SOLD, other], [(0, 3), (1, 2)])
    path = text.atoms()["path"]
    first, second = text.candidates.offsets[:2]
    spans = [(int(b), int(e)) for b, e in zip(text.candidates.begin, text.candidates.end, strict=True)]
    one, two = spans.index((0, 2)), int(second) + spans[int(second) :].index((0, 1))
    assert path[one] == path[two] != path[first]
    assert len(text_of([SOLD], [(0, 3)], reach=1).candidates.node) < len(text_of([SOLD], [(0, 3)]).candidates.node)
