"""A trained parser without a grammar: what is stored, and all bracketings of new sentences from it.

Two sets of weights look at a sentence. The coarse one sees parts of speech at the ends of spans; labels of spans to
which it gives next to no probability are left out, and the fine one scores the rest.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from dovetail.arrays import taken
from dovetail.features.compile.brackets import COARSE, FINE, SpanFeatures
from dovetail.features.resources.clusters import Clusters
from dovetail.features.resources.templates import packed, unpacked
from dovetail.grammars.brackets import BracketLabels
from dovetail.models.parser.spelling import respelled
from dovetail.models.tagger.estimator import Tagger
from dovetail.models.tagging import packed_tagger, unpacked_tagger
from dovetail.scorers.bracket_kernels import Kept
from dovetail.scorers.brackets import BracketScorer, SpanWeights, rows_of
from dovetail.scorers.linear import Layout, output_type
from dovetail.scorers.weights import frozen
from dovetail.structures.brackets import BracketBatch, BracketPotentials, Brackets

Floats = NDArray[np.float64]
Strings = Sequence[Sequence[str]]

CHUNK = 20_000  # spans that are looked at together, at most
NO_SPANS = (np.empty(0, np.int64), np.empty(0, np.int16))


@dataclass(frozen=True, eq=False)
class BracketModel:
    """Everything that parsing needs: labels, coarse and fine features with their weights, and a tagger."""

    kind: ClassVar[str] = "parser"

    labels: BracketLabels
    coarse: SpanWeights
    coarse_weight: NDArray[np.float32]
    fine: SpanWeights
    weight: NDArray[np.float32]
    threshold: float
    """The least probability by the coarse weights of a label that is looked at; 0 looks at all."""
    root: str
    words: frozenset[str]
    """The words of the training data, for the spelling of others."""
    tagger: Tagger | None = None

    @cached_property
    def everything(self) -> Kept:
        """All labels over all spans."""
        return Kept(*NO_SPANS, *(choice.astype(np.int16) for choice in self.labels.choices()))

    def spelled(self, words: Sequence[str]) -> tuple[str, ...]:
        """The words, with quotes, brackets and dashes as the treebank spells them."""
        return respelled(words, self.words)

    def kept(self, words: Strings, tags: Strings, threads: int, gold: Brackets | None = None) -> tuple[Kept, int]:
        """The labels that are looked at over each span, those of the best coarse bracketing among them.

        With ``gold``, its labels are looked at as well, and it comes with how many of them would not have been.
        """
        if not self.threshold:
            return self.everything, 0
        scorer = BracketScorer.of(self.coarse, words, tags, self.everything, threads)
        counts, labels, lost = [np.zeros(1, np.int64)], [np.empty(0, np.int16)], 0
        for which in chunks(scorer.offsets):
            batch = scorer.batch(self.coarse_weight, which)
            keep = batch.marginals().span >= self.threshold
            keep |= batch.indicator(batch.best()).span > 0.0
            if gold is not None:
                right = batch.indicator(some_of(gold, which)).span > 0.0
                lost += int((right & ~keep).sum())
                keep |= right
            counts.append(keep.sum(axis=1))
            labels.append(np.nonzero(keep)[1].astype(np.int16))
        return self.everything._replace(ptr=np.cumsum(np.concatenate(counts)), label=np.concatenate(labels)), lost

    def scorer(self, words: Strings, tags: Strings, threads: int, whole: bool = False) -> BracketScorer:
        """What makes the potentials of new sentences from fine weights; ``whole``: with all labels over all spans."""
        kept = self.everything if whole else self.kept(words, tags, threads)[0]
        return BracketScorer.of(self.fine, words, tags, kept, threads)

    def batch(self, words: Strings, tags: Strings, threads: int) -> BracketBatch:
        """All bracketings of new sentences that pruning leaves."""
        return self.scorer(words, tags, threads).batch(self.weight)

    def with_weights(self, weight: NDArray[np.floating[Any]]) -> Self:
        """The model with other fine weights."""
        return replace(self, weight=frozen(weight.astype(np.float32)))

    def sizes(self) -> dict[str, int]:
        """The numbers of labels, rules and weights."""
        return {"symbols": len(self.labels), "rules": 0, "weights": len(self.weight)}

    # files

    def arrays(self, half: bool = False) -> dict[str, NDArray[Any]]:
        """As named arrays for a model file."""
        found: dict[str, NDArray[Any]] = {
            "single": self.labels.single.astype(np.uint8),
            "wide": self.labels.wide.astype(np.uint8),
        }
        for name, made, weight in self._sets():
            count = np.diff(made.layout.ptr).astype(output_type(made.layout.outputs + 1))
            found |= {f"{name}.keys": made.keys, f"{name}.count": count, f"{name}.label": made.layout.label}
            found[f"{name}.weight"] = weight.astype(np.float16) if half else weight
        found["fine.known"] = self.fine.features.known
        return found | packed(self.fine.features.clusters)[1] | packed_tagger(self.tagger, half=half)[1]

    def _sets(self) -> list[tuple[str, SpanWeights, NDArray[np.float32]]]:
        return [("coarse", self.coarse, self.coarse_weight), ("fine", self.fine, self.weight)]

    def header(self) -> dict[str, Any]:
        """The rest, for the header of a model file."""
        return {
            "brackets": list(self.labels.names),
            "threshold": self.threshold,
            "resources": packed(self.fine.features.clusters)[0],
            "words": sorted(self.words),
            "root": self.root,
            "tagger": packed_tagger(self.tagger)[0],
        }

    @classmethod
    def from_file(cls, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Self:
        """From the header and arrays of a model file, whose parts must fit together: kernels do not check bounds."""
        names = tuple(map(str, header["brackets"]))
        labels = BracketLabels(names, arrays["single"].astype(bool), arrays["wide"].astype(bool))
        if not len(labels.single) == len(labels.wide) == len(names) or not labels.single.any():
            raise ValueError("the labels do not fit together")
        found: Any = unpacked(header["resources"], arrays)
        clusters = {name: each for name, each in found.items() if isinstance(each, Clusters)}
        known = arrays["fine.known"]
        if known.dtype != np.uint64 or np.any(known[1:] <= known[:-1]):
            raise ValueError("the known words are not in order")
        features = {"coarse": SpanFeatures(COARSE), "fine": SpanFeatures(FINE, known, clusters)}
        sets = [weights_in_file(own, name, arrays, len(names)) for name, own in features.items()]
        return cls(
            labels, *sets[0], *sets[1], float(header["threshold"]), str(header["root"]),
            frozenset(map(str, header["words"])), unpacked_tagger(header["tagger"], arrays),
        )  # fmt: skip


def weights_in_file(
    features: SpanFeatures, name: str, arrays: Mapping[str, NDArray[Any]], labels: int
) -> tuple[SpanWeights, NDArray[np.float32]]:
    """The features of one set and their weights, which must fit together."""
    keys, count, label = (arrays[f"{name}.{part}"] for part in ("keys", "count", "label"))
    ptr = np.concatenate([[0], np.cumsum(count, dtype=np.int64)])
    weight = frozen(arrays[f"{name}.weight"].astype(np.float32))
    fits = len(count) == len(keys) and ptr[-1] == len(label) == len(weight) and keys.dtype == np.uint64
    if not fits or np.any(keys[1:] <= keys[:-1]) or (len(label) and int(label.max()) >= labels):
        raise ValueError(f"the {name} weights do not fit the features")
    return SpanWeights(features, keys, Layout(ptr, label.astype(np.uint16), labels)), weight


def chunks(offsets: NDArray[np.int64], most: int = CHUNK) -> Iterator[NDArray[np.int64]]:
    """The numbers of sentences, a few at a time: as many as have so many spans, and at least one."""
    rows, first = rows_of(offsets), 0
    while first < len(rows) - 1:
        after = max(first + 1, int(np.searchsorted(rows, rows[first] + most, side="right")) - 1)
        yield np.arange(first, after)
        first = after


def some_of(brackets: Brackets, which: NDArray[np.int64]) -> Brackets:
    """The brackets of some sentences."""
    where, offsets = taken(brackets.offsets, which)
    return Brackets(brackets.begin[where], brackets.end[where], brackets.label[where], offsets)


def likeliest(batch: BracketBatch, labels: BracketLabels) -> Brackets:
    """The bracketings with the most constituents expected to be right, less half of those that they have."""
    marginals, shares = batch.marginals().span, labels.shares
    some = np.flatnonzero((batch.potentials.span > -np.inf).any(axis=1))
    gain = np.full(marginals.shape, -np.inf)
    gain[some] = np.where(batch.potentials.span[some] > -np.inf, (marginals[some] @ shares - 0.5) @ shares.T, -np.inf)
    return replace(batch, potentials=BracketPotentials(gain)).best()
