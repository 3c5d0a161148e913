"""What an aligner has learnt as hidden Markov models of both directions: chains of the library, to be coupled.

The chain of a direction has a label for each word of the other side that its words may be linked to, and remembers,
where a word is linked to none, which the last link was: labels ``i < n`` for a link to word i, ``n + i`` for none after
it, and ``2n`` for none before any. A sequence of labels has the score::

    sum over words t linked to s of  log (1 - q) (c(s, t) + a b(t | s)) / (c(s) + a)  +  log J(jump from the last link)
    + sum over words t of no link of  log q c(t) / c
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from dovetail.arrays import Floats, Int32s
from dovetail.models.aligner.sampler import Lattice
from dovetail.models.aligner.sampling_kernels import REACH, Counts, Prior, jump_probabilities
from dovetail.structures.chain.batch import ChainBatch
from dovetail.structures.chain.parts import ChainPotentials
from dovetail.text.bitext import Pair

LONGEST = 150
"""A pair with a side of more words has no chains: their work grows with the cube of that."""


class Known(NamedTuple):
    """What an aligner believes of some pairs: all their cells, and counts and priors of both directions."""

    lattice: Lattice
    counts: tuple[Counts, Counts]
    priors: tuple[Prior, Prior]


class LinkChains(NamedTuple):
    """Both directions of a pair of n source and m target words: a chain over each side, of one sentence."""

    forward: ChainBatch
    """Over the target words, of 2n + 1 labels."""
    backward: ChainBatch
    """Over the source words, of 2m + 1 labels."""

    def posteriors(self) -> tuple[Floats, Floats]:
        """How likely each link is by either direction: [n, m] each."""
        n, m = self.backward.tokens, self.forward.tokens
        return self.forward.marginals().unary[:, :n].T, self.backward.marginals().unary[:, :m]


def short_enough(pair: Pair) -> bool:
    """Whether a pair has chains: both sides have words, and not too many.

    >>> short_enough(Pair(("Haus",), ("house",))), short_enough(Pair(("Haus",), ()))
    (True, False)
    """
    return all(pair) and max(map(len, pair)) <= LONGEST


def chains_of(known: Known) -> Iterator[LinkChains | None]:
    """The chains of each pair; None where it has none."""
    cells = known.lattice.forward
    jumps = [jump_probabilities(counts.jump) for counts in known.counts]
    for k in range(len(cells.source_begin) - 1):
        tokens = slice(cells.target_begin[k], cells.target_begin[k + 1])
        words = cells.source[cells.source_begin[k] : cells.source_begin[k + 1]], cells.target[tokens]
        if not len(words[0]) or not len(words[1]):
            yield None
            continue
        own = slice(cells.first[tokens.start], cells.first[tokens.stop])
        row = np.repeat(np.arange(len(words[1])), np.diff(cells.first[tokens.start : tokens.stop + 1]))
        pair = np.full((len(words[1]), len(words[0])), -1)
        pair[row, cells.place[own]] = cells.pair[own]
        yield LinkChains(
            _chain(pair, words, known.counts[0], known.priors[0], jumps[0]),
            _chain(pair.T, words[::-1], known.counts[1], known.priors[1], jumps[1]),
        )


def _chain(pair: Int32s, words: tuple[Int32s, Int32s], counts: Counts, prior: Prior, jump: Floats) -> ChainBatch:
    """One direction: ``pair`` [m, n] are the numbers of pairs of words, -1 where there is none."""
    source, target = words
    m, n = pair.shape
    links = np.where(pair >= 0, (counts.pair + prior.pair)[pair], 1e-12) / (counts.word[source] + prior.word)
    none = (counts.none[target] + prior.none) / (counts.none.sum() + prior.none * len(counts.none))
    unary = np.empty((m, 2 * n + 1))
    unary[:, :n] = np.log((1.0 - prior.to_none) * links)
    unary[:, n:] = np.log(prior.to_none * none)[:, None]
    with np.errstate(divide="ignore"):
        potentials = ChainPotentials.of(unary, *(np.log(table) for table in _moves(prior.jump_class[source], jump)))
    return ChainBatch(potentials, np.array([0, m]), threads=1)


def _moves(kind: Int32s, jump: Floats) -> tuple[Floats, Floats, Floats]:
    """How likely states follow each other [2n + 1, 2n + 1], come first, and come last, from the jumps of classes."""
    n = len(kind)
    places = np.arange(n)

    def chance(classes: Int32s, jumps: Int32s) -> Floats:
        found: Floats = jump[classes, np.clip(jumps, -REACH, REACH) + REACH]
        return found

    to_first, to_end = chance(np.int32(0), places + 1), chance(kind, n - places)  # type: ignore[arg-type]
    within = chance(kind[:, None], places - places[:, None])
    moves = np.zeros((2 * n + 1, 2 * n + 1))
    moves[:n, :n] = moves[n : 2 * n, :n] = within
    moves[2 * n, :n] = to_first
    moves[places, n + places] = moves[n + places, n + places] = moves[2 * n, 2 * n] = 1.0
    begin, end = np.zeros((2, 2 * n + 1))
    begin[:n], begin[2 * n] = to_first, 1.0
    end[:n] = end[n : 2 * n] = to_end
    end[2 * n] = chance(np.int32(0), np.int32(n + 1))  # type: ignore[arg-type]
    return moves, begin, end
