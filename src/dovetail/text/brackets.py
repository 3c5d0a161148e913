"""Penn brackets: trees such as ``(ROOT (S (NP (NNP Ada)) (VP (VBD wrote))))``, on one line or many.

A tree without a label at its root, ``( (S ...))``, gets ``ROOT``; ``ROOT`` and ``TOP`` stay as they are, and so
do function tags and indices (``NP-SBJ-1``; see `tree.base_label`). Empty nodes (``-NONE-``) are left out, with the
brackets that are empty without them, and counted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from sys import intern
from typing import Literal

from dovetail.errors import DovetailError, InputError
from dovetail.text.documents import Member, group, ungroup
from dovetail.text.files import Source, Target, open_target, open_text
from dovetail.text.report import ReadReport, reporting
from dovetail.text.sentence import Document, Sentence
from dovetail.text.tree import Tree, escaped, unescaped

Escapes = Literal["keep", "read"]
"""What becomes of ``-LRB-`` and ``-RRB-`` in words: kept, or read as the brackets that they stand for."""

EMPTY = "-NONE-"
_ROOTS = ("ROOT", "TOP")
# Only ASCII spaces separate tokens: a word may hold U+00A0.
_TOKEN = re.compile(r"[()]|[^() \t\n\r\f\v]+")


def read_brackets(
    path: Source, escapes: Escapes = "keep", encoding: str = "utf-8", report: ReadReport | None = None
) -> Iterator[Document]:
    r"""The trees of a file as the sentences of one document, streamed; parts of speech are the layer ``pos``.

    >>> import io
    >>> document, = read_brackets(io.StringIO("( (S (NP-SBJ (NNP Ada))\n (VP (VBD wrote))) )"))
    >>> document.sentences[0].words, document.sentences[0].layers
    (('Ada', 'wrote'), {'pos': ('NNP', 'VBD')})
    >>> print(document.sentences[0].tree)
    (ROOT (S (NP-SBJ (NNP Ada)) (VP (VBD wrote))))
    """
    with open_text(path, encoding) as reader, reporting(report) as notes:
        trees = read_trees(iter(reader), reader.name, notes)
        yield from group(Member(_sentence(tree, escapes), number == 0) for number, tree in enumerate(trees))


def _sentence(tree: Tree, escapes: Escapes) -> Sentence:
    words = tree.words()
    if escapes == "read" and any("-LRB-" in word or "-RRB-" in word for word in words):
        words = tuple(intern(unescaped(word)) for word in words)
        tree = tree.with_leaves(words)
    return Sentence(words, {"pos": tree.tags()}, tree=tree)


def write_brackets(
    items: Iterable[Document | Sentence], target: Target, layout: Literal["line", "indented"] = "line"
) -> None:
    r"""Write the trees of documents or sentences: one a line, or indented with a blank line after each.

    Brackets in words become ``-LRB-`` and ``-RRB-``, spaces U+00A0.

    >>> import io
    >>> out = io.StringIO()
    >>> write_brackets([Sentence((":)",), tree=Tree("X", (Tree("UH", word=":)"),)))], out)
    >>> out.getvalue()
    '(X (UH :-RRB-))\n'
    """
    with open_target(target) as file:
        for number, (sentence, _, _) in enumerate(ungroup(items), 1):
            if sentence.tree is None:
                raise DovetailError(f"sentence {number} has no tree, and brackets hold nothing else; parse it first")
            file.write(f"{sentence.tree}\n" if layout == "line" else f"{indented(sentence.tree)}\n\n")


def parse_tree(text: str, path: object = None, line: int | None = None, report: ReadReport | None = None) -> Tree:
    """The one tree that a string holds; ``path`` and ``line`` say in errors where it is from.

    >>> parse_tree("(TOP (NP (NN rain) (-NONE- *)))")
    Tree('(TOP (NP (NN rain)))')
    """
    trees = list(read_trees([text], path, report or ReadReport(), line))
    if len(trees) != 1:
        raise InputError(f"{len(trees)} trees with words, expected one: {text[:60]!r}", path, line)
    return trees[0]


@dataclass(slots=True)
class _Open:
    """A bracket that is not yet closed, and the line where it stands."""

    line: int
    label: str
    word: str | None = None
    children: list[Tree] = field(default_factory=list)
    had_empty: bool = False  # whether empty nodes in it were left out


def read_trees(lines: Iterable[str], path: object, report: ReadReport, line: int | None = None) -> Iterator[Tree]:
    """The trees of these lines, which are counted from 1, or are all said to be ``line``.

    >>> [tree.label for tree in read_trees(["(NN rain) (TOP", "(NN snow))"], None, ReadReport())]
    ['NN', 'TOP']
    """
    stack: list[_Open] = []
    opened = 0  # the line of the last token if that was an opening bracket, whose label may follow
    number = 0
    for number, text in enumerate(lines, 1) if line is None else ((line, text) for text in lines):
        for token in _TOKEN.findall(text):
            if opened:
                is_label = token not in "()"
                stack.append(_open(token if is_label else "", stack, path, opened))
                opened = 0
                if is_label:
                    continue
            if token == "(":
                if stack and stack[-1].word is not None:
                    message = f"a bracket after the word {stack[-1].word[:40]!r}"
                    raise InputError(f"{message}; those in words are written -LRB- and -RRB-", path, number)
                opened = number
            elif token != ")":
                _add_word(token, stack, path, number)
            elif not stack:
                raise InputError("a closing bracket too many", path, number)
            elif tree := _close(stack, path, number, report):
                yield tree
    if stack or opened:
        missing = len(stack) + bool(opened)
        what = "a closing bracket is" if missing == 1 else f"{missing} closing brackets are"
        raise InputError(f"{what} missing in the tree that begins here", path, stack[0].line if stack else opened)


def _open(label: str, stack: list[_Open], path: object, line: int) -> _Open:
    at_top = not stack or (len(stack) == 1 and label and not stack[0].children)
    if (not label or label in _ROOTS) and not at_top:
        message = f"a root ({label or 'no label'}) inside the tree that begins in line {stack[0].line}"
        raise InputError(f"{message}; is a closing bracket missing before it?", path, line)
    return _Open(line, intern(label or "ROOT"))


def _add_word(word: str, stack: list[_Open], path: object, line: int) -> None:
    if not stack:
        raise InputError(f"{word[:40]!r} stands outside of brackets", path, line)
    node = stack[-1]
    if node.word is not None or node.children or node.had_empty:
        message = f"{word[:40]!r} is not the only thing under {node.label!r}; a word needs a bracket of its own"
        raise InputError(message, path, line)
    node.word = intern(word)


def _close(stack: list[_Open], path: object, line: int, report: ReadReport) -> Tree | None:
    """Close the innermost bracket and hand it to the one around it; the tree if there is none."""
    node = stack.pop()
    around = stack[-1] if stack else None
    if node.word is None and not node.children and not node.had_empty:
        raise InputError(f"a bracket {node.label!r} without a word", path, line)
    if node.label == EMPTY and node.word is not None:
        report.note("empty node (-NONE-), left out with the brackets that it empties", path, line)
    elif node.word is not None or node.children:
        tree = Tree(node.label, tuple(node.children), node.word)
        if around is None:
            return tree
        around.children.append(tree)
        return None
    if around is None:
        report.note("tree of nothing but empty nodes, left out", path, line)
    else:
        around.had_empty = True
    return None


def indented(tree: Tree) -> str:
    """The tree in brackets over several lines; what holds words alone stays on one.

    >>> print(indented(parse_tree("(S (NP (DT the) (NN sea)) (VP (VBZ is) (ADJP (JJ big))))")))
    (S
      (NP (DT the) (NN sea))
      (VP
        (VBZ is)
        (ADJP (JJ big))))
    """
    lines: list[str] = []
    stack: list[tuple[int, Tree]] = [(0, tree)]
    previous = -1  # the depth of the line before
    while stack:
        depth, node = stack.pop()
        if lines:
            lines[-1] += ")" * max(0, previous - depth)
        if all(child.is_preterminal for child in node.children):
            lines.append(f"{'  ' * depth}{node}")
        else:
            lines.append(f"{'  ' * depth}({escaped(node.label)}")
            stack.extend((depth + 1, child) for child in reversed(node.children))
        previous = depth
    return "\n".join(lines) + ")" * previous
