"""Dependencies: read out of a sentence and checked, made of trees, made projective.

In a sentence they are the layers ``head`` (numbers of words from 1, "0" for the root, as in CoNLL-U) and ``deprel``.
Here heads are lists of positions from 0, with -1 for the root.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dovetail.errors import InputError
from dovetail.text.heads import COLLINS, HeadRules
from dovetail.text.sentence import Sentence
from dovetail.text.tree import Tree, base_label

ROOT = -1
ROOT_RELATION = "root"


def dependency_heads(
    sentence: Sentence, number: int | None = None, roots: Literal["one", "any", "first"] = "one"
) -> list[int]:
    """The heads of a sentence, found to be a tree; `InputError` names the sentence (its id, or ``number``) and word.

    Several roots are an error too, unless ``roots`` allows ``any``, or makes the ``first`` the head of the others.

    >>> dependency_heads(Sentence(("Ada", "wrote"), {"head": ("2", "0"), "deprel": ("nsubj", "root")}))
    [1, -1]
    >>> dependency_heads(Sentence(("Ada", "wrote"), {"head": ("2", "1")}, id="s1"))
    Traceback (most recent call last):
    dovetail.errors.InputError: sentence s1: the heads make a cycle: Ada (1) <- wrote (2) <- Ada (1)
    """
    name = "a sentence" if sentence.id is None and number is None else f"sentence {sentence.id or number}"
    given = sentence.layers.get("head")
    if given is None:
        raise InputError(f"{name} has no layer 'head': dependencies are needed")
    heads = []
    for position, (word, head) in enumerate(zip(sentence.words, given, strict=True)):
        if not head.isdecimal() or len(head) > 9 or int(head) > len(given) or int(head) == position + 1:
            expected = f"expected another word's number from 1 to {len(given)}, or 0"
            raise InputError(f"{name}: word {position + 1} ({word}) has the head {head!r}, {expected}")
        heads.append(int(head) - 1)
    if cycle := find_cycle(heads):
        way = " <- ".join(f"{sentence.words[position]} ({position + 1})" for position in [*cycle, cycle[0]])
        raise InputError(f"{name}: the heads make a cycle: {way}")
    tops = [position for position, head in enumerate(heads) if head == ROOT]
    if len(tops) > 1 and roots == "one":
        listing = ", ".join(f"{sentence.words[position]} ({position + 1})" for position in tops[:5])
        raise InputError(f"{name}: {len(tops)} words have the head 0, expected one: {listing}")
    if roots == "first":
        for position in tops[1:]:
            heads[position] = tops[0]
    return heads


def find_cycle(heads: Sequence[int]) -> list[int]:
    """The words of a cycle, each before its head; none if the heads make trees.

    >>> find_cycle([1, 2, 1]), find_cycle([1, -1])
    ([1, 2], [])
    """
    seen_from = [-1] * len(heads)  # the word from which the way up first met each word
    for start in range(len(heads)):
        position = start
        while position != ROOT and seen_from[position] < 0:
            seen_from[position] = start
            position = heads[position]
        if position != ROOT and seen_from[position] == start:
            cycle = [position]
            while heads[cycle[-1]] != position:
                cycle.append(heads[cycle[-1]])
            return cycle
    return []


class Dependencies(NamedTuple):
    """The head of each word, counted from 0 with -1 for the root, and the relation between them."""

    heads: tuple[int, ...]
    relations: tuple[str, ...]


def tree_dependencies(tree: Tree, rules: HeadRules = COLLINS) -> Dependencies:
    """The projective dependencies of a tree: the head word of a node governs those of its other children.

    A relation is named by the labels of the parent and of the child that is not its head: ``S/NP`` is a subject.

    >>> from dovetail.text.brackets import parse_tree
    >>> tree_dependencies(parse_tree("(S (NP-SBJ (NNP Ada)) (VP (VBD wrote) (NP (NNS notes))))"))
    Dependencies(heads=(1, -1, 1), relations=('S/NP', 'root', 'VP/NP'))
    """
    heads, relations = [ROOT] * len(tree), [ROOT_RELATION] * len(tree)
    below: list[int] = []  # the head words of nodes that wait for their parents
    for start, _, node in reversed(list(tree.places())):
        if node.word is not None:
            below.append(start)
            continue
        words = [below.pop() for _ in node.children]
        chosen = words[rules.head_of(node)]
        for child, word in zip(node.children, words, strict=True):
            if word != chosen:
                heads[word] = chosen
                relations[word] = f"{base_label(node.label)}/{base_label(child.label)}"
        below.append(chosen)
    return Dependencies(tuple(heads), tuple(relations))


def with_dependencies(sentence: Sentence, dependencies: Dependencies) -> Sentence:
    """A copy with these dependencies as its layers ``head`` and ``deprel``."""
    heads = tuple(str(head + 1) for head in dependencies.heads)
    return sentence.with_layer("head", heads).with_layer("deprel", dependencies.relations)


def is_projective(heads: Sequence[int]) -> bool:
    """Whether every word between a word and its head is below that head, so that no two arcs cross."""
    return _shortest_crossed(heads) is None


def projectivise(heads: Sequence[int]) -> tuple[list[int], int]:
    """Projective heads, and how many times an arc was lifted (Nivre and Nilsson, 2005).

    The shortest arc over a word that is not below its head goes to the head of its head, until there is none.

    >>> projectivise([2, 3, -1, 2])
    ([2, 2, -1, 2], 1)
    """
    lifted, count = list(heads), 0
    while (word := _shortest_crossed(lifted)) is not None:
        lifted[word] = lifted[lifted[word]]
        count += 1
    return lifted, count


def _shortest_crossed(heads: Sequence[int]) -> int | None:
    """The word whose arc is the shortest of those over a word that is not below its head; the heads have no cycle."""
    first, last = _tour(heads)
    arcs = sorted((abs(head - word), word) for word, head in enumerate(heads) if head != ROOT)
    for _, word in arcs:
        head = heads[word]
        between = first[min(word, head) + 1 : max(word, head)]
        if len(between) and (between.min() <= first[head] or between.max() > last[head]):
            return word
    return None


def from_root(heads: Sequence[int]) -> tuple[list[list[int]], list[int]]:
    """What hangs on each word, with what hangs on the root last; and words in an order in which heads come first.

    >>> from_root((1, -1, 1))
    ([[], [0, 2], [], [1]], [1, 2, 0])
    """
    below: list[list[int]] = [[] for _ in range(len(heads) + 1)]  # the last is below the root
    for word, head in enumerate(heads):
        below[head].append(word)
    order: list[int] = []
    stack = list(below[ROOT])
    while stack:
        word = stack.pop()
        order.append(word)
        stack.extend(below[word])
    return below, order


def _tour(heads: Sequence[int]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Numbers in the order of a walk from the root: what is below a word has those after its own, up to ``last``."""
    _, order = from_root(heads)
    if len(order) != len(heads):
        raise ValueError("the heads make a cycle; see find_cycle")
    first = np.empty(len(heads), dtype=np.int64)
    first[order] = np.arange(len(heads))
    last = first.copy()
    for word in reversed(order):  # those below come after their head
        if heads[word] != ROOT:
            last[heads[word]] = max(last[heads[word]], last[word])
    return first, last
