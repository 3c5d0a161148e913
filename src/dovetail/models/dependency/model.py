"""A trained model of dependency arcs: what is stored, and all projective trees of new sentences from it.

Two sets of weights look at a sentence. The coarse one sees little and is fast; arcs to which it gives next to no
probability are left out, and the fine one scores the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dovetail.arrays import frozen, offsets_of
from dovetail.features.compile.arcs import COARSE, FINE, ArcFeatures
from dovetail.features.resources.templates import packed, unpacked
from dovetail.modelfile import NEURAL_VERSION
from dovetail.scorers.arcs import ALL, ArcScorer, Booleans, Integers, Strings
from dovetail.structures.projective import Places, ProjectiveBatch, ProjectivePotentials

Heads = NDArray[np.int32]


@dataclass(frozen=True)
class DependencyModel:
    """Everything that finding heads needs: coarse and fine features, their weights [weights], and what to leave out."""

    coarse: ArcFeatures
    coarse_weight: NDArray[np.float32]
    fine: ArcFeatures
    fine_weight: NDArray[np.float32]
    threshold: float
    """The least probability by the coarse weights of an arc that is looked at; 0 looks at all."""
    network: Any = None
    """What adds to the scores of arcs, a ``neural.network.Network``; None for none."""

    def kept(self, words: Strings, tags: Strings, threads: int) -> Booleans:
        """The arcs that are looked at: [arcs]. The best coarse tree is among them."""
        if not self.threshold:
            return ALL
        batch = ArcScorer.of(self.coarse, words, tags, threads).batch(self.coarse_weight)
        kept: Booleans = batch.marginals().attach.sum(axis=1) >= self.threshold
        kept[arc_rows(batch.offsets, batch.best())] = True  # so that there is a tree
        return kept

    def scorer(self, words: Strings, tags: Strings, threads: int, heads: Heads | None = None) -> tuple[Any, int]:
        """What makes potentials of sentences from fine weights; with ``heads`` [words], their arcs are among those
        looked at, and it comes with how many of them would not have been."""
        kept, lost = self.kept(words, tags, threads), 0
        if heads is not None and len(kept):
            right = arc_rows(offsets_of(words), heads)
            lost = int((~kept[right]).sum())
            kept[right] = True
        return self.with_network(ArcScorer.of(self.fine, words, tags, threads, kept), words), lost

    def with_network(self, scorer: ArcScorer, words: Strings, **how: Any) -> Any:
        """A scorer of arcs to which the network adds, if there is one; ``how`` is for ``BesideScorer``."""
        if self.network is None:
            return scorer
        from dovetail.neural.beside import BesideScorer

        return BesideScorer(scorer, self.network, self.network.inputs(words), **how)

    def batch(self, words: Strings, tags: Strings, threads: int) -> ProjectiveBatch:
        """All trees of new sentences."""
        batch: ProjectiveBatch = self.scorer(words, tags, threads)[0].batch(self.fine_weight)
        return batch

    def with_weights(self, weight: NDArray[np.floating[Any]]) -> DependencyModel:
        """The model with other fine weights, and others of the network if they are among these."""
        own, rest = weight[: self.fine.weights], weight[self.fine.weights :]
        network = self.network.with_weights(rest.astype(np.float64)) if len(rest) else self.network
        return replace(self, fine_weight=frozen(own.astype(np.float32)), network=network)

    def scaled(self, factor: float) -> DependencyModel:
        """The model with all fine weights times a factor: the same ranking of trees, with other probabilities."""
        network = None if self.network is None else self.network.scaled(factor)
        return replace(self.with_weights(self.fine_weight * np.float32(factor)), network=network)

    def arrays(self, half: bool) -> dict[str, NDArray[Any]]:
        """As named arrays for a model file."""
        fine = self.fine_weight.astype(np.float16) if half else self.fine_weight
        resources = packed(self.fine.clusters)[1]
        found = {"coarse.weight": self.coarse_weight, "fine.weight": fine, "fine.known": self.fine.known, **resources}
        return found if self.network is None else found | self.network.arrays(half)

    def header(self) -> dict[str, Any]:
        """The rest, for the header of a model file."""
        network = {} if self.network is None else {"network": self.network.header(), "version": NEURAL_VERSION}
        return network | {
            "coarse": {"row_bits": self.coarse.row_bits, "pair_bits": self.coarse.pair_bits},
            "fine": {"row_bits": self.fine.row_bits, "pair_bits": self.fine.pair_bits},
            "threshold": self.threshold,
            "resources": packed(self.fine.clusters)[0],
        }

    @classmethod
    def from_file(cls, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> DependencyModel:
        """From the header and arrays of a model file, whose parts must fit together: kernels do not check bounds."""
        clusters: Any = unpacked(header.get("resources", {}), arrays)
        known = arrays["fine.known"]
        coarse = ArcFeatures(COARSE, *_bits(header["coarse"]))
        fine = ArcFeatures(FINE, *_bits(header["fine"]), known, clusters)
        weights = [frozen(arrays[f"{name}.weight"].astype(np.float32)) for name in ("coarse", "fine")]
        for features, weight in zip((coarse, fine), weights, strict=True):
            if weight.shape != (features.weights,):
                raise ValueError("the number of weights does not fit the features")
        if known.dtype != np.uint64 or np.any(known[1:] <= known[:-1]):
            raise ValueError("the known words are not in order")
        network = None
        if "network" in header:
            from dovetail.neural.network import Network

            network = Network.from_file(header["network"], arrays, None)
        return cls(coarse, weights[0], fine, weights[1], float(header["threshold"]), network)


def _bits(described: Mapping[str, Any]) -> tuple[int, int]:
    rows, pairs = int(described["row_bits"]), int(described["pair_bits"])
    if not (1 <= rows <= 28 and 1 <= pairs <= 30):
        raise ValueError("the numbers of bits are out of range")
    return rows, pairs


def arc_rows(offsets: Integers, heads: Heads) -> NDArray[np.int64]:
    """The row of ``attach`` of each word's arc from its head: [words]."""
    sentence = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    dependent = np.arange(int(offsets[-1])) - offsets[sentence] + 1
    rows: NDArray[np.int64] = Places.of(offsets).arcs[sentence] + heads * (np.diff(offsets)[sentence] + 1) + dependent
    return rows


def joined(pieces: Iterable[Sequence[int]]) -> list[int]:
    """The heads of a sentence from those of its pieces, positions from 0: later roots hang on the first.

    >>> joined([[1, -1], [-1, 0]])
    [1, -1, 1, 2]
    """
    heads: list[int] = []
    root = -1
    for piece in pieces:
        start = len(heads)
        heads.extend(start + head if head >= 0 else root for head in piece)
        if root < 0 and -1 in piece:
            root = start + piece.index(-1)
    return heads


def surest(batch: ProjectiveBatch, marginals: ProjectivePotentials | None = None) -> NDArray[np.int32]:
    """The heads of the tree with the largest sum of the probabilities of its arcs: [words].

    That is the most heads right on average, where the best tree is the likeliest to have all of them right.
    """
    probability = (batch.marginals() if marginals is None else marginals).attach.sum(axis=1)
    attach = np.stack([probability, probability], axis=1)
    return replace(batch, potentials=ProjectivePotentials(attach, np.zeros_like(batch.potentials.stop))).best()
