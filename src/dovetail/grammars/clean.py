"""Trees as grammars see them: bare labels, no node that repeats the label above it."""

from __future__ import annotations

from dataclasses import replace

from dovetail.text.tree import Tree, base_label

ROOTS = ("ROOT", "TOP", "S1")


def clean_tree(tree: Tree) -> Tree:
    """The tree without function tags and indices, and without unary chains that come back to a label they had.

    >>> from dovetail.text.brackets import parse_tree
    >>> print(clean_tree(parse_tree("(S (NP-SBJ-1 (NP (NN rain))) (VP (VBZ falls)))")))
    (S (NP (NN rain)) (VP (VBZ falls)))
    """
    bare = tree.fold(
        lambda node, below: node if not below else replace(node, label=base_label(node.label), children=below)
    )
    return bare.fold(lambda node, below: _without_cycle(replace(node, children=below) if below else node))


def _without_cycle(node: Tree) -> Tree:
    """The node, or the one further down its unary chain that has the same label."""
    below = node
    while len(below.children) == 1 and not below.children[0].is_preterminal:
        below = below.children[0]
        if below.label == node.label:
            return below
    return node


def under_root(tree: Tree) -> Tree:
    """The one node under a root that says nothing itself; else the tree as it is.

    >>> from dovetail.text.brackets import parse_tree
    >>> print(under_root(parse_tree("(ROOT (S (VP (VB Go))))")))
    (S (VP (VB Go)))
    """
    return tree.children[0] if tree.label in ROOTS and len(tree.children) == 1 else tree
