"""A trained model of dependency arcs: what is stored, and all projective trees of new sentences from it.

Two sets of weights look at a sentence. The coarse one sees little and is fast; arcs to which it gives next to no
probability are left out, and the fine one scores the rest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dovetail.features.compile.arcs import COARSE, DEPENDENT_COLUMNS, FINE, HEAD_COLUMNS, ArcFeatures, ArcKeys
from dovetail.features.resources.templates import packed, unpacked
from dovetail.models.dependency.kernels import ArcWeights, score_arcs
from dovetail.scorers.weights import frozen
from dovetail.structures.projective import Places, ProjectiveBatch, ProjectivePotentials
from dovetail.threads import run_shards, sentence_shards

Booleans = NDArray[np.bool_]
Offsets = NDArray[np.int64]
Strings = Sequence[Sequence[str]]

ALL = np.empty(0, np.bool_)
SHARDS, SHARD_ARCS = 64, 20_000


def offsets_of(sentences: Strings) -> Offsets:
    """Where the words of each sentence begin: [sentences + 1]."""
    offsets = np.zeros(len(sentences) + 1, np.int64)
    np.cumsum([len(sentence) for sentence in sentences], out=offsets[1:])
    return offsets


def parts_of(features: ArcFeatures, weight: NDArray[Any]) -> ArcWeights:
    """Weights, or a gradient [weights], as the parts that kernels read."""
    rows = 2**features.row_bits
    heads, dependents = rows * HEAD_COLUMNS, rows * (HEAD_COLUMNS + DEPENDENT_COLUMNS)
    return ArcWeights(
        weight[:heads].reshape(rows, HEAD_COLUMNS),
        weight[heads:dependents].reshape(rows, DEPENDENT_COLUMNS),
        weight[dependents:],
    )


def shift_of(features: ArcFeatures) -> np.uint64:
    """How far a key is shifted to give the place of a pair's weight."""
    return np.uint64(64 - features.pair_bits)


def arc_batch(
    features: ArcFeatures,
    weight: NDArray[Any],
    keys: ArcKeys,
    offsets: Offsets,
    threads: int,
    kept: Booleans = ALL,
) -> ProjectiveBatch:
    """All trees of some sentences; with ``kept`` [arcs], only those of arcs that are kept."""
    places, weights, shift = Places.of(offsets), parts_of(features, weight), shift_of(features)
    positions = int(offsets[-1]) + len(offsets) - 1
    potentials = ProjectivePotentials(np.empty((int(places.arcs[-1]), 2)), np.empty((positions, 2, 2)))

    def score(shard: tuple[int, int]) -> None:
        score_arcs(keys, weights, shift, places, *shard, kept, potentials)

    run_shards(score, sentence_shards(places.arcs, SHARDS, SHARD_ARCS), threads)
    return ProjectiveBatch(potentials, offsets, threads=threads)


@dataclass(frozen=True)
class DependencyModel:
    """Everything that finding heads needs: coarse and fine features, their weights [weights], and what to leave out."""

    coarse: ArcFeatures
    coarse_weight: NDArray[np.float32]
    fine: ArcFeatures
    fine_weight: NDArray[np.float32]
    threshold: float
    """The least probability by the coarse weights of an arc that is looked at; 0 looks at all."""

    def kept(self, words: Strings, tags: Strings, offsets: Offsets, threads: int) -> Booleans:
        """The arcs that are looked at: [arcs]. The best coarse tree is among them."""
        if not self.threshold:
            return ALL
        keys = self.coarse.keys(words, tags)
        batch = arc_batch(self.coarse, self.coarse_weight, keys, offsets, threads)
        kept: Booleans = batch.marginals().attach.sum(axis=1) >= self.threshold
        kept[arc_rows(offsets, batch.best())] = True  # so that there is a tree
        return kept

    def batch(self, words: Strings, tags: Strings, threads: int) -> ProjectiveBatch:
        """All trees of new sentences."""
        offsets = offsets_of(words)
        kept = self.kept(words, tags, offsets, threads)
        return arc_batch(self.fine, self.fine_weight, self.fine.keys(words, tags), offsets, threads, kept)

    def with_weights(self, weight: NDArray[np.floating[Any]]) -> DependencyModel:
        """The model with other fine weights."""
        return replace(self, fine_weight=frozen(weight.astype(np.float32)))

    def scaled(self, factor: float) -> DependencyModel:
        """The model with all fine weights times a factor: the same ranking of trees, with other probabilities."""
        return self.with_weights(self.fine_weight * np.float32(factor))

    def arrays(self, half: bool) -> dict[str, NDArray[Any]]:
        """As named arrays for a model file."""
        fine = self.fine_weight.astype(np.float16) if half else self.fine_weight
        resources = packed(self.fine.clusters)[1]
        return {
            "coarse.weight": self.coarse_weight,
            "fine.weight": fine,
            "fine.known": self.fine.known,
            **resources,
        }

    def header(self) -> dict[str, Any]:
        """The rest, for the header of a model file."""
        return {
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
        return cls(coarse, weights[0], fine, weights[1], float(header["threshold"]))


def _bits(described: Mapping[str, Any]) -> tuple[int, int]:
    rows, pairs = int(described["row_bits"]), int(described["pair_bits"])
    if not (1 <= rows <= 28 and 1 <= pairs <= 30):
        raise ValueError("the numbers of bits are out of range")
    return rows, pairs


def arc_rows(offsets: Offsets, heads: NDArray[np.int32]) -> NDArray[np.int64]:
    """The row of ``attach`` of each word's arc from its head: [words]."""
    sentence = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    dependent = np.arange(int(offsets[-1])) - offsets[sentence] + 1
    rows: NDArray[np.int64] = Places.of(offsets).arcs[sentence] + heads * (np.diff(offsets)[sentence] + 1) + dependent
    return rows
