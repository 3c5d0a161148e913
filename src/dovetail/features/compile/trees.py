"""Trees as arrays of nodes: what looks at many nodes at once, such as features of paths between them, reads these."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from dovetail.arrays import Int32s, Int64s, offsets_of
from dovetail.features.compile.hashing import Keys, string_keys
from dovetail.kernel import kernel
from dovetail.text.heads import COLLINS, HeadRules
from dovetail.text.tree import Tree, base_label


class Nodes(NamedTuple):
    """The nodes of trees, parents before children and from left to right; nodes and words are counted over all."""

    first: Int64s  # [trees + 1]: where the nodes of each tree begin
    words: Int64s  # [trees + 1]: where its words do
    label: Int32s  # [nodes]: the number of its label
    parent: Int32s  # [nodes]: -1 for a root
    left: Int32s  # [nodes]: the sibling on the left, -1 for none
    right: Int32s  # [nodes]: that on the right
    begin: Int32s  # [nodes]: its first word, and the one after its last
    end: Int32s
    head: Int32s  # [nodes]: the word that is its head
    leaf: Int32s  # [words]: the node over it


class TreeArrays:
    """Trees as arrays, with the keys of their labels, less function tags, and of their words.

    >>> from dovetail.text.brackets import parse_tree
    >>> made = TreeArrays([parse_tree("(S (NP (NNP Ada)) (VP (VBD wrote)))")])
    >>> made.nodes.head.tolist(), made.nodes.end.tolist(), made.labels
    ([1, 0, 0, 1, 1], [2, 1, 1, 2, 2], ['S', 'NP', 'NNP', 'VP', 'VBD'])
    """

    def __init__(self, trees: Sequence[Tree], rules: HeadRules = COLLINS) -> None:
        numbers: dict[str, int] = {}
        base: dict[str, int] = {}
        label: list[int] = []
        parent: list[int] = []
        heir: list[int] = []  # which of its children is the head
        first = [0]
        self.words: list[str] = []
        for tree in trees:
            stack = [(tree, -1)]
            while stack:
                node, above = stack.pop()
                own = len(label)
                number = base.get(node.label, -1)
                if number < 0:
                    number = base[node.label] = numbers.setdefault(base_label(node.label), len(numbers))
                label.append(number)
                parent.append(above)
                if node.word is None:
                    children = node.children
                    heir.append(rules.head_of(node))
                    stack += [(child, own) for child in reversed(children)]
                else:
                    heir.append(-1)
                    self.words.append(node.word)
            first.append(len(label))
        self.labels = list(numbers)
        self.nodes = _nodes(first, offsets_of(trees), label, parent, heir)

    @cached_property
    def label_keys(self) -> Keys:
        """The key of the label of each node: [nodes]."""
        return string_keys(self.labels)[self.nodes.label]

    @cached_property
    def word_keys(self) -> Keys:
        """The key of each word in lower case: [words]."""
        numbers: dict[str, int] = {}
        which = [numbers.setdefault(word, len(numbers)) for word in self.words]
        return string_keys([word.lower() for word in numbers])[np.array(which, np.int64)]

    def of_labels(self, wanted: frozenset[str]) -> Int32s:
        """Whether the label of each node is one of these: 1 or 0, [nodes]."""
        return np.array([name in wanted for name in self.labels], np.int32)[self.nodes.label]


def _nodes(first: list[int], words: Int64s, label: list[int], parent: list[int], heir: list[int]) -> Nodes:
    size = len(label)
    left, right, begin, end, head = (np.full(size, -1, np.int32) for _ in range(5))
    leaf = np.empty(int(words[-1]), np.int32)
    above, heirs = np.array(parent, np.int32), np.array(heir, np.int32)
    _link(above, heirs, left, right, begin, end, head, leaf)
    return Nodes(np.array(first), words, np.array(label, np.int32), above, left, right, begin, end, head, leaf)


@kernel
def _link(
    parent: Int32s, heir: Int32s, left: Int32s, right: Int32s, begin: Int32s, end: Int32s, head: Int32s, leaf: Int32s
) -> None:
    """Set siblings, words and heads, from parents and from which child is the head (-1 of words)."""
    last = np.full(parent.size, -1, np.int32)  # the last child so far
    word = 0
    for i in range(parent.size):
        above = parent[i]
        if above >= 0:
            left[i] = last[above]
            if last[above] >= 0:
                right[last[above]] = i
            last[above] = i
        begin[i] = word
        if heir[i] < 0:
            head[i], end[i], leaf[word] = word, word + 1, i
            word += 1
    for i in range(parent.size - 1, -1, -1):
        if heir[i] >= 0:
            child = i + 1
            for _ in range(heir[i]):
                child = right[child]
            head[i], end[i] = head[child], end[last[i]]
