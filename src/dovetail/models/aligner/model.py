"""What an aligner has learnt: counts of both directions, from which new pairs of sentences are linked; and its file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from dovetail.arrays import Floats, Int32s, Int64s
from dovetail.modelfile import Arrays
from dovetail.models.aligner.candidates import Candidates
from dovetail.models.aligner.corpus import Vocabulary
from dovetail.models.aligner.lexicon_kernels import Singles
from dovetail.models.aligner.parts import PartCounts, Parts, count_parts, likenesses
from dovetail.models.aligner.sampling_kernels import FERTILITIES, JUMPS, Counts, Prior
from dovetail.models.aligner.settings import AlignerSettings


class Seen(NamedTuple):
    """How often the words of each side occur in the text that was learnt from."""

    source: Int64s
    target: Int64s


@dataclass
class AlignerModel:
    """The counts of a trained aligner. Pairs of words are in the order of ``key``, ``s * target words + t``."""

    source: Vocabulary
    target: Vocabulary
    seen: Seen
    key: Int64s  # [pairs]
    forward: Counts
    backward: Counts

    @classmethod
    def of(
        cls, words: tuple[Vocabulary, Vocabulary], seen: Seen, cells: Candidates, counts: tuple[Counts, Counts],
        samplers: int,
    ) -> AlignerModel:  # fmt: skip
        """From what some samplers have counted; pairs that none linked at the end are left out."""
        key = cells.source.astype(np.int64) * max(len(words[1]), 1) + cells.target
        kept = np.flatnonzero(counts[0].pair + counts[1].pair)
        kept = kept[np.argsort(key[kept], kind="stable")]
        return cls(*words, seen, key[kept], *(_mean(c, kept, samplers) for c in counts))

    def chances(self, source: Int32s, target: Int32s) -> tuple[Singles, Singles]:
        """The counts of pairs of words, which may be numbered beyond the vocabularies: [pairs] each."""
        words = max(len(self.target), 1)
        keys = source.astype(np.int64) * words + target
        at = np.minimum(np.searchsorted(self.key, keys), max(len(self.key) - 1, 0))
        known = (source < len(self.source)) & (target < words)
        known &= self.key[at] == keys if len(self.key) else False
        none = np.float32(0)
        return np.where(known, self.forward.pair[at], none), np.where(known, self.backward.pair[at], none)

    def linked_parts(self, sides: tuple[Parts, Parts]) -> PartCounts:
        """The links of parts of words; ``sides`` are those of vocabularies that begin with these."""
        words = max(len(self.target), 1)
        source, target = (self.key // words).astype(np.int32), (self.key % words).astype(np.int32)
        return count_parts(source, target, (self.forward.pair + self.backward.pair) / 2, *sides)

    def of_words(self, sources: int, targets: int) -> tuple[Floats, Floats]:
        """The links of each source and target word, in vocabularies grown to so many words: [sources], [targets]."""
        words = max(len(self.target), 1)
        count = (self.forward.pair + self.backward.pair) / 2
        return (
            np.bincount(self.key // words, count, sources).astype(np.float64),
            np.bincount(self.key % words, count, targets).astype(np.float64),
        )

    def translations(self, least: float) -> tuple[Int32s, Int32s]:
        """The pairs of source and target words that were linked more often than this: [pairs] each, by source."""
        words = max(len(self.target), 1)
        key = self.key[(self.forward.pair + self.backward.pair) / 2 > least]
        return (key // words).astype(np.int32), (key % words).astype(np.int32)

    def arrays(self) -> Arrays:
        """What a model file holds."""
        found: Arrays = {
            "source.words": _bytes(self.source), "target.words": _bytes(self.target),
            "source.seen": self.seen.source, "target.seen": self.seen.target, "pairs": self.key,
        }  # fmt: skip
        for name, counts in (("forward", self.forward), ("backward", self.backward)):
            found |= {f"{name}.{part}": array for part, array in counts._asdict().items()}
        return found

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> AlignerModel:
        """The model of a file; ValueError or KeyError where its arrays do not go together."""
        source, target = (_vocabulary(arrays[f"{side}.words"]) for side in ("source", "target"))
        seen = Seen(arrays["source.seen"].astype(np.int64), arrays["target.seen"].astype(np.int64))
        key = arrays["pairs"].astype(np.int64)
        sides = []
        for name, own, other in (("forward", source, target), ("backward", target, source)):
            one = Counts(*(arrays[f"{name}.{part}"] for part in Counts._fields))
            one = one._replace(jump=one.jump.astype(np.float64))
            shapes = [a.shape for a in one]
            classes = one.jump.shape[0] if one.jump.ndim else 0
            if classes < 1 or shapes != [
                key.shape, (len(own),), (len(other),), (classes, JUMPS), (len(own), FERTILITIES)
            ]:  # fmt: skip
                raise ValueError("the counts do not fit the words")
            sides.append(one)
        if seen.source.shape != (len(source),) or seen.target.shape != (len(target),) or (np.diff(key) <= 0).any():
            raise ValueError("the pairs do not fit the words")
        return cls(source, target, seen, key, *sides)


def _mean(counts: Counts, kept: Int64s, samplers: int) -> Counts:
    """The counts of one sampler on average, of some pairs."""
    by = np.float32(samplers)
    return Counts(
        counts.pair[kept] / by, counts.word / by, counts.none / by, counts.jump / samplers, counts.fertility / by
    )


def _bytes(vocabulary: Vocabulary) -> Any:
    return np.frombuffer("\n".join(vocabulary.number).encode("utf-8", "surrogatepass"), np.uint8)


def _vocabulary(array: Any) -> Vocabulary:
    text = array.tobytes().decode("utf-8", "surrogatepass")
    return Vocabulary.of(text.split("\n") if text else [])


def priors_of(
    settings: AlignerSettings, likely: tuple[Singles, Singles], words: tuple[int, int], classes: tuple[Int32s, Int32s]
) -> tuple[Prior, Prior]:
    """What both directions believe of pairs, given what parts of words say (``likely``, [pairs] each).

    The mass a = prior * V that each word has beforehand is spread evenly but for the share of the parts.
    """

    def one(q: Singles, others: int, kinds: Int32s) -> Prior:
        mass = settings.prior * others
        share = settings.prior * (1.0 - settings.parts)
        pair = (share + mass * settings.parts * q).astype(np.float32)
        return Prior(
            np.maximum(pair, np.float32(1e-12)),
            mass,
            1e-3,
            settings.null,
            settings.fertility,
            settings.agreement,
            kinds,
        )

    return one(likely[0], words[1], classes[0]), one(likely[1], words[0], classes[1])


def likely_by_parts(
    cells: Candidates, counts: PartCounts, own: tuple[Singles, Floats, Floats], sides: tuple[Parts, Parts], seen: Seen
) -> tuple[Singles, Singles]:
    """What parts of words say of the pairs of some cells, in pieces that bound the memory: [pairs] each."""
    step = 1 << 18
    found: tuple[list[Singles], list[Singles]] = ([], [])
    for a in range(0, len(cells.source), step):
        piece = slice(a, a + step)
        one = likenesses(cells.source[piece], cells.target[piece], (own[0][piece], own[1], own[2]), counts, sides, seen)
        for listed, array in zip(found, one, strict=True):
            listed.append(array)
    none = np.zeros(0, np.float32)
    return np.concatenate([none, *found[0]]), np.concatenate([none, *found[1]])


def linked_parts(
    cells: Candidates, sides: tuple[Parts, Parts], words: tuple[int, int]
) -> tuple[PartCounts, tuple[Singles, Floats, Floats]]:
    """The links that IBM model 1 expects of parts of words, and what each pair and word has given to them."""
    counts = count_parts(cells.source, cells.target, cells.count, *sides)
    own = (
        cells.count,
        np.bincount(cells.source, cells.count, words[0]).astype(np.float64),
        np.bincount(cells.target, cells.count, words[1]).astype(np.float64),
    )
    return counts, own


def grown(array: Any, size: int) -> Any:
    """The array with zeros behind it, for words that came later."""
    return np.concatenate([array, np.zeros((size - len(array), *array.shape[1:]), array.dtype)])
