"""Which child of a constituent is its head: rules in a table that can be replaced.

A line of a table is a label, a direction and candidates, and says how the children are searched::

    VP left TO VBD VBN MD VBZ VB VBG VBP VP ADJP NN NNS NP
    NP right-any NN NNP NNPS NNS NX POS JJR
    NP left NP

``left`` begins at the leftmost child and looks for the first candidate among all children, then for the second,
and so on; ``left-any`` goes over the children once and takes the first that is any of the candidates. ``right`` and
``right-any`` begin at the rightmost. Several lines for a label are tried in turn. Where none finds a candidate, the
head is the first child in the direction of the last line that is no punctuation; ``*`` is the line of labels that
have none. Labels are compared without their function tags (`tree.base_label`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from dovetail.errors import InputError
from dovetail.text.files import Source, open_text
from dovetail.text.tree import Tree, base_label

DIRECTIONS = ("left", "right", "left-any", "right-any")
PUNCTUATION = frozenset([",", ":", ".", "``", "''", '"', "-LRB-", "-RRB-", "HYPH", "NFP"])
"""Parts of speech that are heads only where there is nothing else."""

# Collins (1999), appendix A; his special rule for noun phrases as the lines of NP and NX.
COLLINS_TABLE = """
ADJP left NNS QP NN $ ADVP JJ VBN VBG ADJP JJR NP JJS DT FW RBR RBS SBAR RB
ADVP right RB RBR RBS FW ADVP TO CD JJR JJ IN NP JJS NN
CONJP right CC RB IN
FRAG right
INTJ left
LST right LS :
NAC left NN NNS NNP NNPS NP NAC EX $ CD QP PRP VBG JJ JJS JJR ADJP FW
NP right-any NN NNP NNPS NNS NX POS JJR
NP left NP
NP right-any $ ADJP PRN
NP right CD
NP right-any JJ JJS RB QP
NX right-any NN NNP NNPS NNS NX POS JJR
NX left NP
NX right-any $ ADJP PRN
NX right CD
NX right-any JJ JJS RB QP
PP right IN TO VBG VBN RP FW
PRN left
PRT right RP
QP left $ IN NNS NN JJ RB DT CD NCD QP JJR JJS
RRC right VP NP ADVP ADJP PP
S left TO IN VP S SBAR ADJP UCP NP
SBAR left WHNP WHPP WHADVP WHADJP IN DT S SQ SINV SBAR FRAG
SBARQ left SQ S SINV SBARQ FRAG
SINV left VBZ VBD VBP VB MD VP S SINV ADJP NP
SQ left VBZ VBD VBP VB MD VP SQ
UCP right
VP left TO VBD VBN MD VBZ VB VBG VBP VP ADJP NN NNS NP
WHADJP left CC WRB JJ ADJP
WHADVP right CC WRB
WHNP left WDT WP WP$ WHADJP WHPP WHNP
WHPP right IN TO FW
* left
"""


class HeadRules:
    """Finds the heads of constituents by a table: that of Collins, a file's, or a dictionary.

    After the table, in a coordination ("cats and dogs") the head moves to the conjunct before: where a conjunction
    stands right before the head, the head is what stands before the conjunction, as in Collins.

    >>> rules = HeadRules({"NP": [("right", ["NN"])], "*": [("left", [])]})
    >>> rules.head_index("NP-SBJ", ["DT", "NN", "PP"]), rules.head_index("X", ["DT", "NN"])
    (1, 0)
    """

    def __init__(self, rules: Mapping[str, Iterable[tuple[str, Iterable[str]]]] | None = None) -> None:
        if rules is None:
            rules = _parsed(COLLINS_TABLE.strip().splitlines(), "the table of Collins")
        self.rules = {
            label: tuple((direction, tuple(candidates)) for direction, candidates in lines)
            for label, lines in rules.items()
        }
        for label, lines in self.rules.items():
            if not lines or any(direction not in DIRECTIONS for direction, _ in lines):
                raise InputError(f"head rules of {label!r}: each needs a direction, one of {', '.join(DIRECTIONS)}")
        self._known: dict[tuple[str, tuple[str, ...]], int] = {}

    @classmethod
    def read(cls, path: Source) -> HeadRules:
        r"""The rules of a text file, as the module says; lines that begin with ``#`` are comments.

        >>> import io
        >>> HeadRules.read(io.StringIO("NP right NN NNS\n* left\n")).head_index("NP", ["NNS", "JJ"])
        0
        """
        with open_text(path) as reader:
            return cls(_parsed(reader, reader.name))

    def head_index(self, label: str, children: Sequence[str]) -> int:
        """The position of the head among the labels of the children."""
        key = (label, tuple(children))
        found = self._known.get(key)
        if found is None:
            names = [base_label(child) for child in children]
            rules = self.rules.get(base_label(label)) or self.rules.get("*") or (("left", ()),)
            found = self._known[key] = _before_conjunction(_search(rules, names), names)
        return found

    def head_of(self, node: Tree) -> int:
        """The position of a node's head among its children; a part of speech has none."""
        if not node.children:
            raise ValueError(f"{node.label!r} is a part of speech and has no children")
        if len(node.children) == 1:
            return 0
        return self.head_index(node.label, [child.label for child in node.children])

    def lexical_heads(self, tree: Tree) -> tuple[int, ...]:
        """For each node of ``tree.nodes()``, the position of the word that is its head.

        >>> from dovetail.text.brackets import parse_tree
        >>> HeadRules().lexical_heads(parse_tree("(S (NP (DT the) (NN sea)) (VP (VBZ is) (ADJP (JJ big))))"))
        (2, 1, 0, 1, 2, 2, 3, 3)
        """
        found: list[int] = []
        below: list[int] = []  # the heads of nodes that wait for their parents
        for start, _, node in reversed(list(tree.places())):
            children = [below.pop() for _ in node.children]
            below.append(children[self.head_of(node)] if children else start)
            found.append(below[-1])
        return tuple(reversed(found))


def _parsed(lines: Iterable[str], path: str) -> dict[str, list[tuple[str, list[str]]]]:
    rules: dict[str, list[tuple[str, list[str]]]] = {}
    for number, line in enumerate(lines, 1):
        label, *fields = line.split() or ["#"]
        # "#" is a part of speech of the Penn Treebank too, but never the label of a constituent.
        if label.startswith("#"):
            continue
        if not fields or fields[0] not in DIRECTIONS:
            given = repr(fields[0]) if fields else "nothing"
            raise InputError(f"{given} after {label!r}, expected a direction: {', '.join(DIRECTIONS)}", path, number)
        rules.setdefault(label, []).append((fields[0], fields[1:]))
    if not rules:
        raise InputError("no head rules; write lines such as: NP right NN NNS", path)
    return rules


def _search(rules: Sequence[tuple[str, tuple[str, ...]]], children: list[str]) -> int:
    order = range(len(children))
    for direction, candidates in rules:
        order = range(len(children)) if direction.startswith("left") else range(len(children))[::-1]
        turns = [candidates] if direction.endswith("-any") else [(candidate,) for candidate in candidates]
        for wanted in turns:
            for index in order:
                if children[index] in wanted:
                    return index
    return next((index for index in order if children[index] not in PUNCTUATION), order[0])


def _before_conjunction(head: int, children: list[str]) -> int:
    """The head, or the conjunct before it if it is not the first of a coordination."""
    if head < 2 or children[head - 1] not in ("CC", "CONJP"):
        return head
    before = (index for index in range(head - 2, -1, -1) if children[index] not in PUNCTUATION)
    return next(before, head)


COLLINS = HeadRules()
"""The rules of Collins' table."""
