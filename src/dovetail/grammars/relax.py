"""Grammar relaxation: rules that no tree has, made by lending the rules of a symbol to its like (Finkel 2010, 5.2.2).

A symbol with a parent annotation, ``NP^S``, gets the rules that ``NP`` has under other parents, ``NP^VP``, if it is in
more than ``least`` rules itself.
"""

from __future__ import annotations

from collections import Counter, defaultdict

from dovetail.grammars.binarise import Symbol
from dovetail.grammars.treebank import Chain, TreebankGrammar


def relaxed(treebank: TreebankGrammar, least: int = 5) -> TreebankGrammar:
    """The grammar with a copy of every rule for each sibling of its parent that is in more than ``least`` rules. The
    copies have a count of zero. Chains are copied by their top."""
    g, symbols = treebank.grammar, treebank.symbols
    binary: dict[tuple[Symbol, Symbol, Symbol], float] = {}
    for a, b, c, count in zip(g.parent, g.left, g.right, treebank.binary_count, strict=True):
        binary[symbols[a], symbols[b], symbols[c]] = float(count)
    child = [symbols[i] for i in g.unary_child]
    unary: dict[Chain, float] = dict(zip(zip(treebank.chains, child, strict=True), treebank.unary_count, strict=True))
    uses: Counter[Symbol] = Counter()
    for rule in binary:
        uses.update(set(rule))
    for chain, below in unary:
        uses.update({chain[0], below})
    siblings: dict[tuple[object, ...], list[Symbol]] = defaultdict(list)
    for symbol in symbols[g.tags :]:
        siblings[_family(symbol)].append(symbol)
    for parent, left, right in list(binary):
        for other in siblings[_family(parent)]:
            if uses[other] > least:
                binary.setdefault((other, left, right), 0.0)
    for chain, below in list(unary):
        for other in siblings[_family(chain[0])]:
            if uses[other] > least and other != below:
                unary.setdefault(((other, *chain[1:]), below), 0.0)
    roots = {symbols[i]: float(n) for i, n in enumerate(treebank.root_count) if n}
    return TreebankGrammar.counted(treebank.tags, binary, unary, roots)


def _family(symbol: Symbol) -> tuple[object, ...]:
    """What symbols that differ only in what they show of their parents share."""
    head, siblings = symbol.name.partition("|")[::2]
    own, mark, tag = head.partition("~")
    return symbol.partial, own.split("^")[0], mark + tag, siblings
