"""Dependency trees as constituents, for parsers of spans, and back.

Every word has a node over all that is below it, named by its relation; the word itself is a bare leaf there, and each
of its dependents a node beside it. So trees of nodes with one bare leaf each are projective dependency trees.
"""

from __future__ import annotations

from collections.abc import Sequence

from dovetail.text.dependencies import ROOT, from_root
from dovetail.text.tree import Tree

PREFIX = "r_"  # so that no relation is taken for a label that means something to treebanks
TOP = "ROOT"


def as_constituents(
    words: Sequence[str], tags: Sequence[str], heads: Sequence[int], relations: Sequence[str] | None = None
) -> Tree:
    """The tree of a sentence whose heads, positions from 0 with -1 for the root, are projective.

    Relations lose their subtypes; without any, all nodes are alike.

    >>> print(as_constituents(("Ada", "wrote", "notes"), ("NNP", "VBD", "NNS"), (1, -1, 1), ("nsubj", "root", "obj")))
    (ROOT (r_root (r_nsubj (NNP Ada)) (VBD wrote) (r_obj (NNS notes))))
    """
    below, order = from_root(heads)
    made: dict[int, Tree] = {}
    for word in reversed(order):  # those below come after their head
        leaf = Tree(tags[word], (), words[word])
        before, after = ([made[d] for d in below[word] if (d < word) == left] for left in (True, False))
        name = "dep" if relations is None else "_".join(relations[word].split(":")[0].split())
        made[word] = Tree(PREFIX + name, (*before, leaf, *after))
    return Tree(TOP, tuple(made[word] for word in below[ROOT]))


def heads_of(tree: Tree) -> list[int]:
    """The heads of the words of a tree of constituents, positions from 0 with -1 for the root.

    The head of a node is its bare leaf; the first of several, and where there is none, the head of its first child.

    >>> from dovetail.text.brackets import parse_tree
    >>> heads_of(parse_tree("(ROOT (r_root (r_nsubj (NNP Ada)) (VBD wrote) (r_obj (NNS notes))))"))
    [1, -1, 1]
    """
    heads = [ROOT] * len(tree)
    below: list[tuple[int, bool]] = []  # the heads of nodes that wait for their parents, and whether they are leaves
    for start, _, node in reversed(list(tree.places())):
        if node.word is not None:
            below.append((start, True))
            continue
        children = [below.pop() for _ in node.children]
        chosen = next((word for word, bare in children if bare), children[0][0])
        for word, _ in children:
            if word != chosen:
                heads[word] = chosen
        below.append((chosen, False))
    return heads
