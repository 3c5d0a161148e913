"""A trained parser without a grammar: what is stored, and all bracketings of new sentences from it.

Two sets of weights look at a sentence. The coarse one sees parts of speech at the ends of spans; labels of spans to
which it gives next to no probability are left out, and the fine one scores the rest.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from dovetail.arrays import frozen, offsets_of, taken
from dovetail.features.compile.brackets import COARSE, FINE, SpanFeatures
from dovetail.features.resources.clusters import Clusters
from dovetail.features.resources.templates import packed, unpacked
from dovetail.grammars.brackets import BracketLabels
from dovetail.modelfile import NEURAL_VERSION
from dovetail.models.parser.brackets.unaries import Unaries
from dovetail.models.parser.text import respelled
from dovetail.models.tagger.estimator import Tagger
from dovetail.models.tagging import packed_tagger, unpacked_tagger
from dovetail.scorers.bracket_kernels import Kept
from dovetail.scorers.brackets import BracketScorer, RuleScorer, SpanWeights, rows_of
from dovetail.scorers.linear import Layout, check_features, output_type
from dovetail.structures.brackets import BracketBatch, BracketPotentials, Brackets
from dovetail.structures.ruled import RuledBatch

Floats = NDArray[np.float64]
Strings = Sequence[Sequence[str]]

LIKELY = 0.02  # labels of spans that are so probable by the coarse weights have features of their own, right or not
CHUNK = 20_000  # spans that are looked at together, at most
NO_SPANS = (np.empty(0, np.int64), np.empty(0, np.int16))


class Looked(NamedTuple):
    """The labels that are looked at; how many right ones would not have been; those that are likely, or right."""

    kept: Kept
    lost: int
    likely: Brackets


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
    ruled: bool = False
    """Whether the last of the weights are those of rules."""
    unaries: Unaries | None = None
    """What puts chains back that the weights know nothing of."""
    network: Any = None
    """What adds to the scores of spans, a ``neural.network.Network``; None for none."""

    @property
    def weighed(self) -> BracketLabels:
        """The labels that have weights: all, or what is left of them without their chains."""
        return self.labels if self.unaries is None else self.unaries.left

    @cached_property
    def everything(self) -> Kept:
        """All labels over all spans."""
        return Kept(*NO_SPANS, *(choice.astype(np.int16) for choice in self.weighed.choices()))

    def spelled(self, words: Sequence[str]) -> tuple[str, ...]:
        """The words, with quotes, brackets and dashes as the treebank spells them."""
        return respelled(words, self.words)

    def kept(self, words: Strings, tags: Strings, threads: int, gold: Brackets | None = None) -> Looked:
        """The labels that are looked at over each span, those of the best coarse bracketing among them.

        With ``gold``, its labels are looked at as well.
        """
        if not self.threshold:
            return Looked(self.everything, 0, Brackets.of([()] * len(words)) if gold is None else gold)
        counts, labels, lost, likely = [np.zeros(1, np.int64)], [np.empty(0, np.int16)], 0, []
        for which in chunks(offsets_of(words)):
            some, own = ([given[i] for i in which.tolist()] for given in (words, tags))
            batch = BracketScorer.of(self.coarse, some, own, self.everything, threads).batch(self.coarse_weight)
            marginals = batch.marginals().span
            keep = marginals >= self.threshold
            keep |= batch.indicator(batch.best()).span > 0.0
            if gold is not None:
                right = batch.indicator(some_of(gold, which)).span > 0.0
                lost += int((right & ~keep).sum())
                keep |= right
                likely.append(listed(batch, right | (marginals >= LIKELY)))
            counts.append(keep.sum(axis=1))
            labels.append(np.nonzero(keep)[1].astype(np.int16))
        kept = self.everything._replace(ptr=np.cumsum(np.concatenate(counts)), label=np.concatenate(labels))
        return Looked(kept, lost, joined(likely))

    def scorer(self, words: Strings, tags: Strings, threads: int) -> Any:
        """What makes the potentials of new sentences from fine weights."""
        kept = self.kept(words, tags, threads).kept
        found = self.ruler(BracketScorer.of(self.fine, words, tags, kept, threads))
        return self.with_network(found, words) if self.unaries is None else self.unaries.scorer(found, words, tags)

    def with_network(self, scorer: BracketScorer | RuleScorer, words: Strings, **how: Any) -> Any:
        """A scorer of spans to which the network adds, if there is one; ``how`` is for ``BesideScorer``."""
        if self.network is None:
            return scorer
        from dovetail.neural.beside import BesideScorer

        return BesideScorer(scorer, self.network, self.network.inputs(words), **how)

    def ruler(self, spans: BracketScorer) -> BracketScorer | RuleScorer:
        """A scorer of spans, with rules if there are any."""
        return RuleScorer(spans) if self.ruled else spans

    def with_weights(self, weight: NDArray[np.floating[Any]]) -> Self:
        """The model with other fine weights, and others of the network if they are among these."""
        own, rest = weight[: len(self.weight)], weight[len(self.weight) :]
        network = self.network.with_weights(rest.astype(np.float64)) if len(rest) else self.network
        return replace(self, weight=frozen(own.astype(np.float32)), network=network)

    def scaled(self, factor: float) -> Self:
        """The model with all fine weights times a factor: the same ranking of trees, with other probabilities."""
        network = None if self.network is None else self.network.scaled(factor)
        return replace(self.with_weights(self.weight * np.float32(factor)), network=network)

    def sizes(self) -> dict[str, int]:
        """The numbers of labels, rules and weights."""
        rules, labels = self.weight[self.fine.layout.parameters :], len(self.weighed)
        used = int(np.count_nonzero(rules[: labels**3]))
        weights = self.fine.layout.parameters + int(np.count_nonzero(rules))
        return {"symbols": labels, "rules": used, "weights": weights}

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
            own = weight[: made.layout.parameters]
            found[f"{name}.weight"] = own.astype(np.float16) if half else own
        if self.ruled:
            rules = self.weight[self.fine.layout.parameters :]
            used = np.flatnonzero(rules)
            found |= {"rule.index": used, "rule.weight": rules[used].astype(np.float16 if half else np.float32)}
        found["fine.known"] = self.fine.features.known
        found |= packed(self.fine.features.clusters)[1] | packed_tagger(self.tagger, half=half)[1]
        found |= {} if self.network is None else self.network.arrays(half)
        return found if self.unaries is None else found | self.unaries.arrays(half)

    def _sets(self) -> list[tuple[str, SpanWeights, NDArray[np.float32]]]:
        return [("coarse", self.coarse, self.coarse_weight), ("fine", self.fine, self.weight)]

    def header(self) -> dict[str, Any]:
        """The rest, for the header of a model file."""
        network = {} if self.network is None else {"network": self.network.header(), "version": NEURAL_VERSION}
        return network | {
            "brackets": list(self.labels.names),
            "threshold": self.threshold,
            "resources": packed(self.fine.features.clusters)[0],
            "words": sorted(self.words),
            "root": self.root,
            "tagger": packed_tagger(self.tagger)[0],
            "unaries": None if self.unaries is None else self.unaries.header(),
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
        unaries = Unaries.from_file(labels, header.get("unaries"), arrays)
        size = len(names) if unaries is None else len(unaries.left)
        sets = [weights_in_file(own, name, arrays, size) for name, own in features.items()]
        ruled, (fine, weight) = "rule.index" in arrays, sets[1]
        if ruled:
            rules, index = np.zeros(size**3 + 3 * size**2, np.float32), arrays["rule.index"]
            if np.any((index < 0) | (index >= len(rules))) or index.shape != arrays["rule.weight"].shape:
                raise ValueError("the rules do not fit the labels")
            rules[index] = arrays["rule.weight"]
            weight = frozen(np.concatenate([weight, rules]))
        network = None
        if "network" in header:
            from dovetail.neural.network import Network

            network = Network.from_file(header["network"], arrays, None)
            if network.module.head.made != {"labels": size}:
                raise ValueError("the network does not fit the labels")
        return cls(
            labels, *sets[0], fine, weight, float(header["threshold"]), str(header["root"]),
            frozenset(map(str, header["words"])), unpacked_tagger(header["tagger"], arrays), ruled, unaries,
            network,
        )  # fmt: skip


def weights_in_file(
    features: SpanFeatures, name: str, arrays: Mapping[str, NDArray[Any]], labels: int
) -> tuple[SpanWeights, NDArray[np.float32]]:
    """The features of one set and their weights, which must fit together."""
    keys, count, label = (arrays[f"{name}.{part}"] for part in ("keys", "count", "label"))
    weight = frozen(arrays[f"{name}.weight"].astype(np.float32))
    made = SpanWeights(features, keys, Layout.counted(count, label, labels))
    check_features(keys, made.layout, weight)
    return made, weight


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


def listed(batch: BracketBatch, chosen: NDArray[np.bool_]) -> Brackets:
    """Some labels [C, L] of the spans of a batch."""
    sizes, (row, label) = np.diff(batch.offsets), np.nonzero(chosen)
    begin = np.concatenate([np.empty(0, np.int64), *(np.triu_indices(n)[0] for n in sizes.tolist())])
    end = np.concatenate([np.empty(0, np.int64), *(np.triu_indices(n)[1] + 1 for n in sizes.tolist())])
    return Brackets(begin[row], end[row], label.astype(np.int32), np.searchsorted(row, batch.rows))


def joined(parts: Sequence[Brackets]) -> Brackets:
    """The brackets of some sentences after those of others."""
    counts = np.concatenate([np.zeros(1, np.int64), *(np.diff(part.offsets) for part in parts)])
    empty = Brackets.of([])
    begin, end, label = (np.concatenate([empty[i], *(part[i] for part in parts)]) for i in range(3))
    return Brackets(begin, end, label, np.cumsum(counts))


def likeliest(batch: BracketBatch | RuledBatch, labels: BracketLabels) -> Brackets:
    """The bracketings with the most constituents expected to be right, less half of those that they have."""
    marginals, shares = batch.marginals().span, labels.shares
    some = np.flatnonzero((batch.potentials.span > -np.inf).any(axis=1))
    gain = np.full(marginals.shape, -np.inf)
    gain[some] = np.where(batch.potentials.span[some] > -np.inf, (marginals[some] @ shares - 0.5) @ shares.T, -np.inf)
    return BracketBatch(BracketPotentials(gain), batch.offsets, batch.threads).best()
