"""Constituent trees: immutable, of any depth (nothing here recurses)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import eq
from typing import NamedTuple, TypeVar

from dovetail.text.sentence import Span

T = TypeVar("T")

_CUT = re.compile(r"[-=|]")
_SPACE = re.compile(r"[ \t\n\r\f\v]")  # what separates the tokens of a bracket file


class Place(NamedTuple):
    """A node of a tree, and the words ``start`` up to but not including ``end`` that it covers."""

    start: int
    end: int
    node: Tree


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Tree:
    """A node with all that is below it: a part of speech over one ``word``, or a label over ``children``.

    ``probability`` is that of this constituent, where a parser gives one; it does not count in comparisons.

    >>> tree = Tree("S", (Tree("NP", (Tree("NNP", word="Ada"),)), Tree("VP", (Tree("VBD", word="wrote"),))))
    >>> print(tree, len(tree), tree.words())
    (S (NP (NNP Ada)) (VP (VBD wrote))) 2 ('Ada', 'wrote')
    >>> tree.spans()[1]
    Span(start=0, end=1, label='NP', probability=None)
    """

    label: str
    children: tuple[Tree, ...] = ()
    word: str | None = None
    probability: float | None = None
    _length: int = field(init=False)

    def __post_init__(self) -> None:
        if not self.label:
            raise ValueError("a node needs a label")
        if bool(self.children) == (self.word is not None):
            raise ValueError(f"{self.label!r} needs children or a word, and not both")
        object.__setattr__(self, "_length", sum(child._length for child in self.children) or 1)

    def __len__(self) -> int:
        return self._length

    @property
    def is_preterminal(self) -> bool:
        """Whether this is a part of speech over a word."""
        return self.word is not None

    def nodes(self) -> Iterator[Tree]:
        """This node and all below it, parents before children, from left to right.

        >>> [node.label for node in Tree("NP", (Tree("DT", word="the"), Tree("NN", word="sea"))).nodes()]
        ['NP', 'DT', 'NN']
        """
        stack = [self]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(reversed(node.children))

    def places(self) -> Iterator[Place]:
        """The same with the words that each covers, counted from the first word of this node.

        >>> [tuple(place)[:2] for place in Tree("NP", (Tree("DT", word="the"), Tree("NN", word="sea"))).places()]
        [(0, 2), (0, 1), (1, 2)]
        """
        start = 0
        for node in self.nodes():
            yield Place(start, start + node._length, node)
            start += node.word is not None

    def leaves(self) -> tuple[Tree, ...]:
        """The parts of speech with their words."""
        return tuple(node for node in self.nodes() if node.word is not None)

    def words(self) -> tuple[str, ...]:
        """The words, from left to right."""
        return tuple(node.word for node in self.nodes() if node.word is not None)

    def tags(self) -> tuple[str, ...]:
        """The part of speech of each word."""
        return tuple(node.label for node in self.nodes() if node.word is not None)

    def spans(self) -> tuple[Span, ...]:
        """Every constituent, this node first and parents before children; parts of speech are none."""
        return tuple(Span(start, end, n.label, n.probability) for start, end, n in self.places() if n.word is None)

    def fold(self, combine: Callable[[Tree, tuple[T, ...]], T]) -> T:
        """The value of this node, where ``combine`` makes a node's value of it and its children's values.

        >>> Tree("NP", (Tree("DT", word="the"), Tree("NN", word="sea"))).fold(lambda node, below: 1 + sum(below))
        3
        """
        values: list[T] = []
        for node in reversed(list(self.nodes())):
            # The values of the children lie on top, the leftmost highest.
            values.append(combine(node, tuple([values.pop() for _ in node.children])))
        return values[0]

    def relabelled(self, rename: Callable[[str], str]) -> Tree:
        """The tree with every label, of parts of speech too, renamed."""
        return self.fold(lambda node, below: replace(node, label=rename(node.label), children=below))

    def with_leaves(self, words: Sequence[str], tags: Sequence[str] | None = None) -> Tree:
        """The tree over other words, and other parts of speech where they are given.

        >>> print(Tree("NP", (Tree("NN", word="rain"),)).with_leaves(["snow"]))
        (NP (NN snow))
        """
        labels = self.tags() if tags is None else tags
        if len(words) != len(self) or len(labels) != len(self):
            raise ValueError(f"{len(words)} words and {len(labels)} tags for a tree of {len(self)}")
        waiting = list(zip(labels, words, strict=True))

        def renewed(node: Tree, below: tuple[Tree, ...]) -> Tree:
            label, word = (node.label, None) if below else waiting.pop()  # `fold` comes from the right
            return replace(node, label=label, word=word, children=below)

        return self.fold(renewed)

    def with_probabilities(self, known: Mapping[tuple[int, int, str], float]) -> Tree:
        """The tree with the probabilities of its constituents by ``(start, end, label)``.

        >>> Tree("NP", (Tree("NN", word="rain"),)).with_probabilities({(0, 1, "NP"): 0.9}).probability
        0.9
        """
        built: list[Tree] = []
        for start, end, node in reversed(list(self.places())):
            children = tuple([built.pop() for _ in node.children])
            built.append(replace(node, children=children, probability=known.get((start, end, node.label))))
        return built[0]

    @classmethod
    def from_spans(cls, words: Sequence[str], tags: Sequence[str], spans: Sequence[Span], root: str = "ROOT") -> Tree:
        """The tree of these constituents, under a root; of equal extents the first is above.

        >>> print(Tree.from_spans(["Ada", "wrote"], ["NNP", "VBD"], [Span(0, 1, "NP"), Span(0, 2, "S")]))
        (ROOT (S (NP (NNP Ada)) (VBD wrote)))
        """
        starting: dict[int, list[Span]] = {}
        for span in spans:
            if not 0 <= span.start < span.end <= len(words):
                raise ValueError(f"{span} is empty or outside {len(words)} words")
            starting.setdefault(span.start, []).append(span)
        open_spans: list[tuple[Span, list[Tree]]] = [(Span(0, len(words), root), [])]
        for position, (word, tag) in enumerate(zip(words, tags, strict=True)):
            for span in sorted(starting.get(position, []), key=lambda span: -span.end):
                if span.end > open_spans[-1][0].end:
                    raise ValueError(f"{span} crosses {open_spans[-1][0]}")
                open_spans.append((span, []))
            open_spans[-1][1].append(cls(tag, word=word))
            while len(open_spans) > 1 and open_spans[-1][0].end == position + 1:
                span, children = open_spans.pop()
                open_spans[-1][1].append(cls(span.label, tuple(children), probability=span.probability))
        return cls(root, tuple(open_spans[0][1]))

    def __str__(self) -> str:
        """The tree in Penn brackets, on one line."""
        pieces: list[str] = []
        stack: list[Tree | str] = [self]
        while stack:
            item = stack.pop()
            if isinstance(item, str):
                pieces.append(item)
            elif item.word is not None:
                pieces.append(f"({escaped(item.label)} {escaped(item.word)})")
            else:
                pieces.append(f"({escaped(item.label)}")
                stack.append(")")
                for child in reversed(item.children):
                    stack += (child, " ")
        return "".join(pieces)

    def __repr__(self) -> str:
        return f"Tree({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tree):
            return NotImplemented
        same_length = len(self) == len(other)
        return self is other or (same_length and all(map(eq, self._shape(), other._shape())))

    def __hash__(self) -> int:
        return hash(tuple(self._shape()))

    def _shape(self) -> Iterator[tuple[str, str | None, int]]:
        return ((node.label, node.word, len(node.children)) for node in self.nodes())

    def __reduce__(self) -> tuple[Callable[..., Tree], tuple[object, ...]]:
        # Flat, because pickle and copy would recurse.
        return _unflattened, ([(n.label, n.word, n.probability, len(n.children)) for n in self.nodes()],)


def _unflattened(flat: list[tuple[str, str | None, float | None, int]]) -> Tree:
    built: list[Tree] = []
    for label, word, probability, count in reversed(flat):
        built.append(Tree(label, tuple([built.pop() for _ in range(count)]), word, probability))
    return built[0]


def base_label(label: str) -> str:
    """The label less its function tags and indices: cut at the first ``-``, ``=`` or ``|``.

    Labels that begin with one of these (``-LRB-``, ``-RRB-``, ``-NONE-``) are whole.

    >>> base_label("NP-SBJ-1"), base_label("NP=2"), base_label("PRT|ADVP"), base_label("-LRB-")
    ('NP', 'NP', 'PRT', '-LRB-')
    """
    cut = _CUT.search(label)
    return label[: cut.start()] if cut and cut.start() else label


def escaped(text: str) -> str:
    """A word or label as bracket files can hold it: ``-LRB-`` and ``-RRB-`` for brackets, no spaces.

    >>> escaped("CD4(+)"), escaped("1 000") == "1" + chr(0xA0) + "000"
    ('CD4-LRB-+-RRB-', True)
    """
    return _SPACE.sub("\u00a0", text.replace("(", "-LRB-").replace(")", "-RRB-"))


def unescaped(text: str) -> str:
    """The word that is meant: real brackets for ``-LRB-`` and ``-RRB-``."""
    return text.replace("-LRB-", "(").replace("-RRB-", ")")
