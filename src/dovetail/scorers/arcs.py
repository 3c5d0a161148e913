"""Potentials of dependency trees from hashed features of arcs: see ``features.compile.arcs``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dovetail.arrays import offsets_of, taken
from dovetail.features.compile.arcs import DEPENDENT_COLUMNS, HEAD_COLUMNS, ArcFeatures, ArcKeys
from dovetail.scorers.arc_kernels import ArcWeights, add_gradient, score_arcs
from dovetail.scorers.contract import Floats, Items, Scorer
from dovetail.structures.projective import Places, ProjectiveBatch, ProjectivePotentials
from dovetail.threads import run_shards, sentence_shards

Booleans = NDArray[np.bool_]
Integers = NDArray[np.int64]
Strings = Sequence[Sequence[str]]

ALL = np.empty(0, np.bool_)
SHARDS, SHARD_ARCS = 64, 20_000
GRADIENTS = 4  # shards with a gradient of their own, each as large as the weights


@dataclass(eq=False)
class ArcScorer(Scorer[ProjectiveBatch]):
    """The dependency trees of some sentences; with ``kept`` [arcs], only those of arcs that are kept.

    ``keys``: what is seen at the positions of all sentences; ``offsets`` [sentences + 1]: where their words begin.
    """

    features: ArcFeatures
    keys: ArcKeys = field(repr=False)
    offsets: Integers = field(repr=False)
    threads: int = 1
    kept: Booleans = field(default_factory=lambda: ALL, repr=False)

    @classmethod
    def of(
        cls, features: ArcFeatures, words: Strings, tags: Strings, threads: int = 1, kept: Booleans = ALL
    ) -> ArcScorer:
        """That of sentences with these words and parts of speech."""
        return cls(features, features.keys(words, tags), offsets_of(words), threads, kept)

    def __post_init__(self) -> None:
        self.parameters = self.features.weights
        self.items = len(self.offsets) - 1

    @cached_property
    def places(self) -> Places:
        """Where the parts of each sentence lie."""
        return Places.of(self.offsets)

    def batch(self, weight: NDArray[Any], which: Items | None = None) -> ProjectiveBatch:
        """All trees of the sentences, or of some."""
        if which is not None:
            return self.some(which).batch(weight)
        weights, places = self._parts(weight), self.places
        positions = int(self.offsets[-1]) + self.items
        potentials = ProjectivePotentials(np.empty((int(places.arcs[-1]), 2)), np.empty((positions, 2, 2)))

        def score(shard: tuple[int, int]) -> None:
            score_arcs(self.keys, weights, self._shift, places, *shard, self.kept, potentials)

        run_shards(score, sentence_shards(places.arcs, SHARDS, SHARD_ARCS), self.threads)
        return ProjectiveBatch(potentials, self.offsets, threads=self.threads)

    def backward(self, slope: ProjectivePotentials, out: Floats, which: Items | None = None) -> None:
        """Add to ``out`` [weights] the gradient from the slope of the potentials."""
        if which is not None:
            return self.some(which).backward(slope, out)
        shards = sentence_shards(self.places.arcs, GRADIENTS, SHARD_ARCS)

        def gradient(shard: tuple[int, int]) -> Floats:
            own = out if shard == shards[0] else np.zeros(self.parameters)
            add_gradient(self.keys, slope, self._shift, self.places, *shard, self._parts(own))
            return own

        for other in run_shards(gradient, shards, self.threads)[1:]:
            out += other
        return None

    def some(self, which: Items) -> ArcScorer:
        """That of some of the sentences."""
        positions, _ = taken(self.offsets + np.arange(self.items + 1), which)
        keys, kept = self.keys, self.kept
        at = {name: getattr(keys, name)[positions] for name in BY_POSITION}
        _, offsets = taken(self.offsets, which)
        kept = kept[taken(self.places.arcs, which)[0]] if len(kept) else kept
        return ArcScorer(self.features, keys._replace(**at), offsets, self.threads, kept)

    def usage(self) -> Floats:
        """About how often each weight is used, by arcs of which one in ten is likely: [weights]."""
        counts = ProjectivePotentials(
            np.zeros((int(self.places.arcs[-1]), 2)), np.full((int(self.offsets[-1]) + self.items, 2, 2), 0.5)
        )
        counts.attach[self.kept if len(self.kept) else slice(None)] = 0.1
        found = np.zeros(self.parameters)
        self.backward(counts, found)
        return found

    @property
    def _shift(self) -> np.uint64:
        """How far a key is shifted to give the place of a pair's weight."""
        return np.uint64(64 - self.features.pair_bits)

    def _parts(self, weight: NDArray[Any]) -> ArcWeights:
        """Weights, or a gradient [weights], as the parts that kernels read."""
        rows = 2**self.features.row_bits
        heads, dependents = rows * HEAD_COLUMNS, rows * (HEAD_COLUMNS + DEPENDENT_COLUMNS)
        return ArcWeights(
            weight[:heads].reshape(rows, HEAD_COLUMNS),
            weight[heads:dependents].reshape(rows, DEPENDENT_COLUMNS),
            weight[dependents:],
        )


BY_POSITION = ("head_rows", "dependent_rows", "heads", "dependents", "ends", "tags", "counted")
"""What of ``ArcKeys`` has a row for every position; of ``counted``, only differences within a sentence are read."""
