"""The labels of constituents: what symbols and unary chains mean, and the probabilities of labels over spans."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dovetail.grammars.joint import JointGrammar, is_added
from dovetail.grammars.treebank import TreebankGrammar
from dovetail.structures.grammar import Derivation, ParseChart, cells
from dovetail.text.sentence import Span


@dataclass(frozen=True, eq=False)
class LabelTable:
    """``names`` of labels; ``group`` [S], that of each symbol, -1 for tags and partial symbols; ``chains`` by unary
    rule, those of all its nodes. Labels from number ``entities`` on are types of entities, and no constituents."""

    names: tuple[str, ...]
    group: NDArray[np.int32]
    chains: tuple[NDArray[np.int32], ...]
    treebank: TreebankGrammar
    entities: int

    @classmethod
    def of(cls, treebank: TreebankGrammar) -> LabelTable:
        """The labels of a grammar."""
        inner = {symbol.label for symbol in treebank.symbols if not symbol.is_tag and not symbol.partial}
        inner |= {symbol.label for chain in treebank.chains for symbol in chain}
        number = {label: i for i, label in enumerate(sorted(inner))}
        group = [-1 if s.is_tag or s.partial else number[s.label] for s in treebank.symbols]
        chains = tuple(np.array([number[s.label] for s in chain], np.int32) for chain in treebank.chains)
        return cls(tuple(number), np.array(group, np.int32), chains, treebank, len(number))

    @classmethod
    def of_joint(cls, joint: JointGrammar) -> LabelTable:
        """The labels of a joint grammar, whose symbols are those of its treebank, and the types of its entities."""
        base = cls.of(joint.base)
        chains = []
        for chain, kind in zip(joint.unary_base.tolist(), joint.unary_type.tolist(), strict=True):
            entity = [] if kind < 0 else [base.entities + kind]
            chains.append(np.array([*(base.chains[chain] if chain >= 0 else ()), *entity], np.int32))
        group = np.where(is_added(joint.base), -1, base.group)[joint.symbol_base].astype(np.int32)
        return replace(base, names=(*base.names, *joint.types), group=group, chains=tuple(chains))

    @property
    def of_chart(self) -> tuple[NDArray[np.int32], tuple[NDArray[np.int32], ...]]:
        """The arguments that charts take."""
        return self.group, self.chains

    def costs(self, bias: float = 0.0) -> NDArray[np.float64]:
        """How probable a constituent or entity must be to be worth having, by recall: [labels].

        Half; of entities, what is half if their log-odds are raised by ``bias``.
        """
        found = np.full(len(self.names), 0.5)
        found[self.entities :] = 1.0 / (1.0 + np.exp(bias))
        return found

    def spans(self, chart: ParseChart, least: float) -> list[Span]:
        """All constituents more probable than ``least``, by where they begin and, the longest first, end."""
        n, known = len(chart), chart.label_marginals(*self.of_chart)[:, : self.entities]
        places = [(begin, end) for begin in range(n) for end in range(begin + 1, n + 1)]
        found = [
            Span(*places[cell], self.names[label], min(1.0, float(known[cell, label])))
            for cell, label in np.argwhere(known > least).tolist()
        ]
        return sorted(found, key=lambda span: (span.start, -span.end, -(span.probability or 0.0)))

    def probabilities(self, chart: ParseChart, tree: Derivation) -> dict[tuple[int, int, str], float]:
        """The probability of every constituent and part of speech of a tree, by ``(begin, end, label)``."""
        n, known = len(tree.tags), chart.label_marginals(*self.of_chart)
        of_tags = chart.marginals().tag
        tags = self.treebank.tags
        found: dict[tuple[int, int, str], float] = {}
        for i, tag in enumerate(tree.tags.tolist()):
            same = [t for t, symbol in enumerate(tags) if symbol.label == tags[tag].label]
            found[i, i + 1, tags[tag].label] = min(1.0, float(of_tags[i, same].sum()))
        parents = chart.grammar.parent[tree.binary[:, 0]]
        spans = [(b, e, self.group[a]) for (_, b, _, e), a in zip(tree.binary.tolist(), parents.tolist(), strict=True)]
        spans += [(b, e, label) for u, b, e in tree.unary.tolist() for label in self.chains[u].tolist()]
        for begin, end, label in spans:
            if 0 <= label < self.entities:
                found[begin, end, self.names[label]] = min(1.0, float(known[int(cells(n, begin, end)), label]))
        return found
