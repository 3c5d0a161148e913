"""The pass before parsing: a small generative grammar says which symbols are worth a look over which spans."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dovetail.features.resources.clusters import Clusters
from dovetail.grammars.coarse import symbol_posteriors
from dovetail.grammars.lexicon import Lexicon
from dovetail.grammars.pcfg import log_probabilities
from dovetail.grammars.treebank import TreebankGrammar
from dovetail.structures.contract import Floats
from dovetail.structures.grammar import GrammarPotentials, Mask, cell_count, cells

PREFIX = 8  # of a path: words of unlike use are apart, and yet a class has enough of them


def word_groups(clusters: Mapping[str, Clusters]) -> Callable[[str], str | None] | None:
    """The cluster of a word in the first of some clusterings, for the tags of words that the treebank does not have."""
    if not clusters:
        return None
    first = next(iter(clusters.values()))

    def group(word: str) -> str | None:
        number = int(first.classes_of([word])[0])
        return None if number < 0 else first.paths[number][:PREFIX] if first.levels != (0,) else str(number)

    return group


@dataclass(frozen=True, eq=False)
class Pruner:
    """A generative grammar without annotation, and what its symbols are in the grammar to be pruned.

    ``symbol`` [S of the finer grammar]: the symbol here that each of its symbols stands for.
    """

    treebank: TreebankGrammar
    lexicon: Lexicon
    symbol: NDArray[np.int32]
    threshold: float

    @cached_property
    def _rules(self) -> tuple[Floats, Floats, Floats]:
        return log_probabilities(self.treebank)

    def posteriors(self, scores: Floats) -> Floats:
        """How probable each symbol of the small grammar is over each span: [cells, symbols]; zeros without a parse.

        scores: [n, tags], those of words with their tags.
        """
        binary, unary, root = self._rules
        potentials = GrammarPotentials.of(self.treebank.grammar, scores, begin=binary, unary_begin=unary, root=root)
        return symbol_posteriors(self.treebank.grammar, potentials)

    def mask(
        self, words: Sequence[str], tags: Sequence[int], threshold: float | None = None, only_given: bool = False
    ) -> Mask:
        """The symbols to be looked at over each span: [cells, S].

        A word may have its tag in ``tags`` (-1 for none), or with ``only_given`` no other. A threshold of 0 rules
        nothing else out.
        """
        n, given = len(words), np.asarray(tags, np.int64)
        known = np.flatnonzero(given >= 0)
        least = self.threshold if threshold is None else threshold
        if least:
            scores = self.lexicon.log_scores(words)
            if only_given:
                scores[known] = -np.inf
                scores[known, self.symbol[given[known]]] = 0.0
            mask = (self.posteriors(scores) > least).astype(np.uint8)[:, self.symbol]
        else:
            mask = np.ones((cell_count(n), len(self.symbol)), np.uint8)
        single = cells(n, np.arange(n), np.arange(1, n + 1))
        if only_given:
            mask[np.ix_(single[known], self.symbol < self.treebank.grammar.tags)] = 0
        mask[single[known], given[known]] = 1
        return mask
