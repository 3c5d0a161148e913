"""What is seen of a predicate and of the constituents that may be its arguments, as keys of features.

The features are those of Gildea and Jurafsky (2002), Xue and Palmer (2004) and Toutanova and others (2008): the path
between the two, the kind of phrase, heads and words around, voice, subcategorisation, and what goes with the lemma.
Each candidate has values by name, its *atoms*; a template is a conjunction of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dovetail.arrays import Int32s, Int64s
from dovetail.features.compile.hashing import PRIME, Keys, conjoined, mix, string_key, string_keys
from dovetail.features.compile.trees import Nodes, TreeArrays
from dovetail.kernel import kernel
from dovetail.text.heads import PUNCTUATION

REACH = 4
"""How far below the lowest constituent that it shares with the predicate a candidate lies, at most."""
TEMPLATES = (
    "bias", "phrase", "phrase&class", "chain", "head", "head_tag", "path", "path&class", "above", "above&class",
    "below", "side", "side&voice", "side&phrase&voice", "side&phrase&class", "ups&downs&side", "distance&side",
    "length&phrase", "sub", "sub&phrase&side", "frame", "frame&lemma", "frame&voice", "rank&phrase&side",
    "rank&phrase&side&voice", "rank&phrase&side&lemma", "rank&phrase&side&sense", "phrase&lemma", "phrase&sense",
    "head&lemma", "head&sense", "head&class", "head&phrase", "head_tag&lemma", "path&lemma", "path&sense",
    "path&voice", "above&lemma", "side&lemma", "side&sense", "side&sense&voice", "side&phrase&sense&voice",
    "first&phrase", "first_tag&phrase", "last&phrase", "last_tag&phrase", "first&sense&side", "before",
    "before_tag&phrase", "after", "after_tag&phrase", "parent&phrase", "parent&side&phrase&voice",
    "parent_head&phrase", "left&phrase", "right&phrase", "left_head&phrase", "right_head&phrase", "left_tag&phrase",
    "right_tag&phrase", "mark&inner", "inner&phrase", "inner_tag&phrase", "mark&inner_tag", "mark&sense",
    "mark&inner&side", "mark&path", "head&path", "head_tag&path", "common&side&phrase", "lemma", "sense",
    "sense&voice", "tag&path", "word&side&phrase", "first&path", "clauses&side&phrase", "chain&sense&side",
    "head&side&voice", "between&side&phrase",
)  # fmt: skip
"""Conjunctions of atoms."""

BE = frozenset("be am is are was were been being 's 're 'm get gets got getting gotten".split())
HAVE = frozenset("have has had having 've 'd".split())
CLAUSES = frozenset(["S", "SBAR", "SINV", "SQ", "SBARQ"])
VERBAL = frozenset(["VP", "SQ", "SINV", "S", "UCP", "ADJP"])
MARKED = frozenset(["PP", "SBAR", "ADVP", "WHPP", "PRT", "CONJP"])
CLASSES = {"V": "verb", "N": "noun", "J": "adjective", "R": "adverb"}
DISTANCES = np.array([0, 1, 2, 3, 4, 5, 6, 6, 7, 7, 7, 8, 8, 8, 8, 8, 9])
LENGTHS = np.array([0, 1, 2, 3, 4, 5, 5, 6, 6, 6, 6, 7])


class Predicates(NamedTuple):
    """Predicates of trees: the tree and the word of each, counted over all words, and their lemmas and senses."""

    tree: Int64s
    word: Int64s
    lemma: Sequence[str]
    sense: Sequence[str]


class Candidates(NamedTuple):
    """The constituents that may be arguments of predicates, by predicate and in the order of their ends.

    ``offsets`` [predicates + 1]: where those of each begin. ``begin`` and ``end`` count words from the first of the
    tree. The rest describes the way from the predicate up to ``common``, the lowest constituent of both, and down.
    """

    offsets: Int64s
    predicate: Int32s
    node: Int32s
    common: Int32s
    branch: Int32s  # the child of ``common`` that it is, or is in
    begin: Int32s
    end: Int32s
    ups: Int32s
    downs: Int32s
    clauses: Int32s
    down: Keys  # the labels from ``common`` down
    up: Keys  # the labels from the predicate up to ``common``


@dataclass(frozen=True, eq=False)
class RoleText:
    """Trees with predicates, and their candidates."""

    trees: TreeArrays
    predicates: Predicates
    candidates: Candidates

    @classmethod
    def of(cls, trees: TreeArrays, predicates: Predicates, reach: int = REACH) -> RoleText:
        """Find the candidates of all predicates."""
        return cls(trees, predicates, find_candidates(trees, predicates, reach))

    def atoms(self) -> dict[str, Keys]:
        """What is seen of each candidate: keys [candidates] by name."""
        c, nodes = self.candidates, self.trees.nodes
        labels, words = self.trees.label_keys, self.trees.word_keys
        tags = labels[nodes.leaf]
        owner, node = c.predicate, c.node
        word = self.predicates.word
        klass = string_keys([CLASSES.get(tag[:1], tag) for tag in self._tags()])
        voice = _numbered("voice", _voices(nodes, word, self._verbal(), self._auxiliaries()))
        tree = self.predicates.tree[owner]
        first, last = nodes.begin[node], nodes.end[node] - 1
        side = (first > word[owner]).astype(np.int64)
        gap = np.where(side == 1, first - word[owner], word[owner] - last) - 1
        inner = _inner(nodes, node, self.trees.of_labels(MARKED))
        frame, rank = _siblings(nodes, labels, c, word)
        found = {
            "bias": np.full(len(node), string_key("bias")), "phrase": labels[node],
            "chain": _chains(nodes, labels, node), "path": _joined(c.up, c.down), "above": c.up, "below": c.down,
            "side": _numbered("side", side), "voice": voice[owner], "class": klass[owner], "tag": tags[word][owner],
            "word": words[word][owner], "sub": _rules(nodes, labels, word)[owner], "frame": frame,
            "rank": _numbered("rank", rank), "ups": _numbered("ups", c.ups), "downs": _numbered("downs", c.downs),
            "clauses": _numbered("clauses", c.clauses),
            "distance": _numbered("distance", DISTANCES[np.minimum(gap, len(DISTANCES) - 1)]),
            "length": _numbered("length", LENGTHS[np.minimum(last + 1 - first, len(LENGTHS) - 1)]),
            "common": labels[c.common], "lemma": string_keys(self.predicates.lemma)[owner],
            "sense": string_keys(self.predicates.sense)[owner],
            "between": _commas(nodes, self._punctuation(), c, word),
        }  # fmt: skip
        spots = {"head": nodes.head[node], "first": first, "last": last, "before": first - 1, "after": last + 1}
        low, high = nodes.words[tree], nodes.words[tree + 1]
        for name, at in spots.items():
            found[name], found[f"{name}_tag"] = _at(words, at, low, high), _at(tags, at, low, high)
        for name, at in (("parent", nodes.parent[node]), ("left", nodes.left[node]), ("right", nodes.right[node])):
            heads = np.where(at >= 0, nodes.head[at], -1)
            found[name] = np.where(at >= 0, labels[at], EMPTY)
            found[f"{name}_head"], found[f"{name}_tag"] = _at(words, heads, low, high), _at(tags, heads, low, high)
        heads = np.where(inner >= 0, nodes.head[inner], -1)
        found["inner"], found["inner_tag"] = _at(words, heads, low, high), _at(tags, heads, low, high)
        found["mark"] = np.where(inner >= 0, found["head"], EMPTY)
        return found

    def keys(self, templates: Sequence[str] = TEMPLATES) -> Iterator[Keys]:
        """The key of each candidate's feature, template by template: [candidates] each."""
        atoms = self.atoms()
        for template in templates:
            yield conjoined(string_key(template), [atoms[name] for name in template.split("&")])

    def _tags(self) -> list[str]:
        """The parts of speech of the predicates."""
        nodes = self.trees.nodes
        return [self.trees.labels[i] for i in nodes.label[nodes.leaf[self.predicates.word]].tolist()]

    def _verbal(self) -> Int32s:
        return self.trees.of_labels(VERBAL)

    def _punctuation(self) -> Int32s:
        """Whether each word is punctuation: [words]."""
        nodes = self.trees.nodes
        return self.trees.of_labels(PUNCTUATION)[nodes.leaf]

    def _auxiliaries(self) -> Int32s:
        """1 for words that go before a passive, 2 for those of the perfect: [words]."""
        return np.array([1 if w in BE else 2 if w in HAVE else 0 for w in map(str.lower, self.trees.words)], np.int32)


EMPTY = string_key("")


def _numbered(name: str, values: Int64s | Int32s) -> Keys:
    """The keys of small numbers, 0 or more."""
    table = string_keys([f"{name}={value}" for value in range(int(values.max(initial=0)) + 1)])
    return table[values]


def _at(keys: Keys, position: Int64s | Int32s, low: Int64s, high: Int64s) -> Keys:
    """The keys of words, or of nothing where they are outside a sentence."""
    inside = (position >= low) & (position < high)
    return np.where(inside, keys[np.where(inside, position, 0)], EMPTY) if len(keys) else np.empty(0, np.uint64)


def _joined(one: Keys, other: Keys) -> Keys:
    return conjoined(EMPTY, [one, other])


def find_candidates(trees: TreeArrays, predicates: Predicates, reach: int) -> Candidates:
    """Every constituent and word without the predicate in it that lies near enough; of equal ones the highest."""
    nodes = trees.nodes
    sizes = np.diff(nodes.first)[predicates.tree]
    room = int(sizes.sum())
    ints = np.empty((9, room), np.int32)
    ways = np.empty((2, room), np.uint64)
    counts = np.zeros(len(predicates.tree) + 1, np.int64)
    kinds = trees.of_labels(PUNCTUATION), trees.of_labels(CLAUSES)
    size = _find(nodes, trees.label_keys, predicates.tree, predicates.word, *kinds, reach, counts[1:], ints, ways)
    owner, begin, end = ints[0, :size], ints[4, :size], ints[5, :size]
    order = np.lexsort((begin, end, owner))
    return Candidates(np.cumsum(counts), *ints[:, order], *ways[:, order])


@kernel
def _find(
    nodes: Nodes, labels: Keys, tree: Int64s, word: Int64s, punctuation: Int32s, clause: Int32s, reach: int,
    counts: Int64s, ints: Int32s, ways: Keys,
) -> int:  # fmt: skip
    """Set the fields of ``Candidates`` in the order in which they stand there, numbers [9, room] and keys [2, room]."""
    owner, node, common, branch = ints[0], ints[1], ints[2], ints[3]
    begins, ends, ups, downs, clauses = ints[4], ints[5], ints[6], ints[7], ints[8]
    down, up = ways[0], ways[1]
    found = 0
    most = 0
    for t in range(nodes.first.size - 1):
        most = max(most, nodes.first[t + 1] - nodes.first[t])
    depth, level, crossed = np.zeros(most, np.int32), np.zeros(most, np.int32), np.zeros(most, np.int32)
    shared, under = np.zeros(most, np.int32), np.zeros(most, np.int32)
    way, path = np.zeros(most, np.uint64), np.zeros(most, np.uint64)
    for p in range(tree.size):
        first, last, at = nodes.first[tree[p]], nodes.first[tree[p] + 1], word[p]
        origin = nodes.words[tree[p]]
        i, steps, key, over = nodes.leaf[at], 0, np.uint64(0), 0
        while i >= 0:
            key = mix(key * PRIME + labels[i])
            over += clause[i]
            way[i - first], level[i - first], crossed[i - first] = key, steps, over
            steps += 1
            i = nodes.parent[i]
        for i in range(first, last):
            own, above = i - first, nodes.parent[i]
            if nodes.begin[i] <= at and at < nodes.end[i]:
                depth[own], path[own] = 0, labels[i]
                continue
            up_there = above - first
            depth[own] = depth[up_there] + 1
            path[own] = mix(path[up_there] * PRIME + labels[i])
            shared[own] = above if depth[own] == 1 else shared[up_there]
            under[own] = i if depth[own] == 1 else under[up_there]
            if depth[own] > reach or (nodes.begin[above] == nodes.begin[i] and nodes.end[above] == nodes.end[i]):
                continue
            if punctuation[i] and nodes.end[i] == nodes.begin[i] + 1:
                continue
            owner[found], node[found], common[found], branch[found] = p, i, shared[own], under[own]
            begins[found], ends[found] = nodes.begin[i] - origin, nodes.end[i] - origin
            ups[found], downs[found] = level[shared[own] - first], depth[own]
            clauses[found] = crossed[shared[own] - first]
            down[found], up[found] = path[own], way[shared[own] - first]
            found += 1
            counts[p] += 1
    return found


@kernel
def _voices(nodes: Nodes, word: Int64s, verbal: Int32s, auxiliary: Int32s) -> Int64s:
    """Of each predicate: 1 after a form of be or get, 2 after a form of have, 0 after neither: [predicates]."""
    out = np.zeros(word.size, np.int64)
    for p in range(word.size):
        node = nodes.leaf[word[p]]
        for _ in range(4):
            other = nodes.left[node]
            while other >= 0 and out[p] == 0:
                if nodes.end[other] == nodes.begin[other] + 1:
                    out[p] = auxiliary[nodes.begin[other]]
                other = nodes.left[other]
            node = nodes.parent[node]
            if out[p] or node < 0 or not verbal[node]:
                break
    return out


@kernel
def _rules(nodes: Nodes, labels: Keys, word: Int64s) -> Keys:
    """Of each predicate the rule by which its parent is made: [predicates]."""
    out = np.zeros(word.size, np.uint64)
    for p in range(word.size):
        node = nodes.leaf[word[p]]
        parent = nodes.parent[node]
        if parent < 0:
            continue
        key, child = labels[parent], parent + 1
        while child >= 0:
            key = mix(key * PRIME + labels[child] + np.uint64(child == node))
            child = nodes.right[child]
        out[p] = key
    return out


@kernel
def _chains(nodes: Nodes, labels: Keys, node: Int32s) -> Keys:
    """The labels of a candidate and of those below it that cover the same words: [candidates]."""
    out = np.empty(node.size, np.uint64)
    for c in range(node.size):
        i = node[c]
        key = labels[i]
        while i != nodes.leaf[nodes.begin[i]] and nodes.end[i + 1] == nodes.end[i]:
            i += 1
            key = mix(key * PRIME + labels[i])
        out[c] = key
    return out


@kernel
def _inner(nodes: Nodes, node: Int32s, marked: Int32s) -> Int32s:
    """Of candidates such as "in the house", the last part, -1 of others: [candidates]."""
    out = np.full(node.size, -1, np.int32)
    for c in range(node.size):
        if marked[node[c]] and node[c] != nodes.leaf[nodes.begin[node[c]]]:
            child = node[c] + 1
            while nodes.right[child] >= 0:
                child = nodes.right[child]
            out[c] = child
    return out


@kernel
def _siblings(nodes: Nodes, labels: Keys, candidates: Candidates, word: Int64s) -> tuple[Keys, Int64s]:
    """Of each candidate: the children of the common constituent with predicate and candidate marked, and how many of
    the label of the candidate's branch lie between the two: [candidates] each."""
    frame, rank = np.empty(candidates.node.size, np.uint64), np.zeros(candidates.node.size, np.int64)
    for c in range(candidates.node.size):
        at, own = word[candidates.predicate[c]], candidates.branch[c]
        key, child, between, count = np.uint64(0), candidates.common[c] + 1, False, 0
        while child >= 0:
            holds = nodes.begin[child] <= at and at < nodes.end[child]
            mark = np.uint64(1) if holds else np.uint64(2) if child == own else np.uint64(3)
            key = mix(key * PRIME + labels[child] + mark)
            if holds or child == own:
                between = not between
            elif between and nodes.label[child] == nodes.label[own]:
                count += 1
            child = nodes.right[child]
        frame[c], rank[c] = key, min(count, 3)
    return frame, rank


@kernel
def _commas(nodes: Nodes, punctuation: Int32s, candidates: Candidates, word: Int64s) -> Keys:
    """How many marks of punctuation lie between predicate and candidate, up to 2: [candidates]."""
    out = np.zeros(candidates.node.size, np.uint64)
    for c in range(candidates.node.size):
        at, i = word[candidates.predicate[c]], candidates.node[c]
        low, high = (at + 1, nodes.begin[i]) if nodes.begin[i] > at else (nodes.end[i], at)
        for w in range(low, high):
            out[c] += np.uint64(punctuation[w])
        out[c] = min(out[c], np.uint64(2))
    return out
