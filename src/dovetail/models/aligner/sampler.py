"""Independent samplers of links, each of both directions, and what they find on average."""

from __future__ import annotations

from dataclasses import dataclass
from threading import Lock
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dovetail.arrays import Int32s, Int64s
from dovetail.models.aligner.corpus import Told, silent
from dovetail.models.aligner.lexicon_kernels import Singles
from dovetail.models.aligner.sampling_kernels import (
    FERTILITIES,
    JUMPS,
    Cells,
    Counts,
    Prior,
    brought_back,
    count_jumps,
    count_links,
    linked_places,
    start,
    sweep,
    turned,
)
from dovetail.threads import run_shards

MOST = (1 << 8) - 1
"""The probabilities of the sweeps of one sampler are added up in a byte."""
Whole = NDArray[np.uint16]


@dataclass(frozen=True)
class Schedule:
    """How many samplers draw every link how often, and in which sweeps jumps and fertility count and sums are made."""

    samplers: int
    sweeps: int
    seed: int

    @property
    def collected(self) -> int:
        """The sweeps at the end whose probabilities are averaged: three of eight, but no more than a byte can hold."""
        return min(self.sweeps * 3 // 8, MOST // 5)

    @property
    def unit(self) -> int:
        """What a probability of one is in the sums of one sweep."""
        return MOST // self.collected

    def with_jumps(self, number: int) -> bool:
        """From an eighth of the sweeps on."""
        return number >= self.sweeps // 8

    def with_fertility(self, number: int) -> bool:
        """From three eighths of the sweeps on."""
        return number >= 3 * self.sweeps // 8

    def state(self, sampler: int) -> NDArray[np.uint64]:
        """Where the random numbers of a sampler begin."""
        return np.random.SeedSequence([self.seed, sampler]).generate_state(1, np.uint64) | np.uint64(1)


class Lattice(NamedTuple):
    """The cells where links may be, by target token and by source token."""

    forward: Cells
    backward: Cells

    @classmethod
    def of(cls, forward: Cells) -> Lattice:
        """From those by target token."""
        first, place, pair = turned(forward, len(forward.source))
        source, target = (forward.source, forward.source_begin), (forward.target, forward.target_begin)
        return cls(forward, Cells(first, place, pair, *target, *source))


class Posteriors(NamedTuple):
    """How likely each cell [cells], by target token, is a link to its target's word, and to its source's.

    They are whole numbers, to be multiplied by ``scale``: as numbers with fractions they would take twice the memory.
    """

    forward: Whole
    backward: Whole
    scale: float

    def of(self, low: int, high: int) -> tuple[Singles, Singles]:
        """The probabilities of some cells in a row, forward and backward."""
        scale = np.float32(self.scale)
        return self.forward[low:high] * scale, self.backward[low:high] * scale


def empty_counts(pairs: int, sources: int, targets: int, classes: int) -> Counts:
    """Counts of nothing."""
    return Counts(
        np.zeros(pairs, np.float32), np.zeros(sources, np.float32), np.zeros(targets, np.float32),
        np.zeros((classes, JUMPS)), np.zeros((sources, FERTILITIES), np.float32),
    )  # fmt: skip


def _zeros_like(counts: Counts) -> Counts:
    (pairs,), (sources,), (targets,), (classes, _), _ = (array.shape for array in counts)
    return empty_counts(pairs, sources, targets, classes)


class _Chain:
    """One direction of one sampler."""

    def __init__(self, cells: Cells, counts: Counts, prior: Prior, learn: bool) -> None:
        self.cells, self.counts, self.prior, self.learn = cells, counts, prior, learn
        self.link: Int32s = np.full(len(cells.target), -1, np.int32)
        self.fertile: Int32s = np.zeros(len(cells.source), np.int32)
        self.sums = np.zeros(len(cells.place), np.uint8)

    def begin(self, weight: Singles, state: NDArray[np.uint64]) -> None:
        start(self.cells, weight, state, self.link)
        if self.learn:
            count_links(self.cells, self.link, self.prior.jump_class, self.fertile, self.counts)
        else:
            self.recount_fertile()

    def recount_fertile(self) -> None:
        places = np.empty(len(self.link), np.int32)
        linked_places(self.cells, self.link, places)
        sentence = np.repeat(self.cells.source_begin[:-1], np.diff(self.cells.target_begin))
        self.fertile[:] = np.bincount((sentence + places)[places >= 0], minlength=len(self.fertile))

    def draw(self, other: _Chain, number: int, schedule: Schedule, state: NDArray[np.uint64]) -> None:
        linked = np.empty(len(other.link), np.int32)
        linked_places(other.cells, other.link, linked)
        collect = number >= schedule.sweeps - schedule.collected
        sweep(
            self.cells, self.link, self.fertile, self.counts, self.prior, linked, schedule.with_jumps(number),
            schedule.with_fertility(number), self.learn, state, self.sums if collect else self.sums[:0], schedule.unit,
        )  # fmt: skip
        if self.learn:
            count_jumps(self.cells, self.link, self.prior.jump_class, self.counts.jump)


class Sampled(NamedTuple):
    """What samplers found: probabilities, and, where they learnt, their counts of both directions, added up."""

    posteriors: Posteriors
    counts: tuple[Counts, Counts]


def sample(
    lattice: Lattice, counts: tuple[Counts, Counts], priors: tuple[Prior, Prior], weight: Singles, schedule: Schedule,
    *, learn: bool = True, threads: int | None = 1, told: Told | None = None,
) -> Sampled:  # fmt: skip
    """Run samplers that begin with links drawn by ``weight`` [pairs].

    Where they ``learn``, ``counts`` are empty, and the sum of what samplers have counted at the end is put into them;
    else they are those of a model, and stay.
    """
    tell = told or silent
    total = [np.zeros(len(cells.place), np.uint16) for cells in lattice]
    lock, done = Lock(), [0]

    def work(number: int) -> None:
        state = schedule.state(number)
        own = [_zeros_like(c) for c in counts] if learn else counts
        chains = [_Chain(*given, learn) for given in zip(lattice, own, priors, strict=True)]
        for chain in chains:
            chain.begin(weight, state)
        for at in range(schedule.sweeps):
            for chain, other in (chains, chains[::-1]):
                chain.draw(other, at, schedule, state)
            with lock:
                done[0] += 1
                tell("drawing links", done[0], schedule.sweeps * schedule.samplers)
        with lock:  # whole numbers: the order in which samplers end does not matter
            for sums, chain in zip(total, chains, strict=True):
                sums += chain.sums
            if learn:
                for whole, chain in zip(counts, chains, strict=True):
                    for mine, its in zip(whole, chain.counts, strict=True):
                        np.add(mine, its, out=mine)

    run_shards(work, range(schedule.samplers), threads)
    back = np.empty_like(total[1])
    brought_back(lattice.forward, lattice.backward.first, total[1], back)
    scale = 1.0 / (schedule.unit * schedule.samplers * schedule.collected)
    return Sampled(Posteriors(total[0], back, scale), counts)


def jump_classes(seen: Int64s, classes: int) -> Int32s:
    """A class for each of the most frequent words, and the last for all others: [words]."""
    found = np.full(len(seen), classes - 1, np.int32)
    often = np.argsort(-seen, kind="stable")[: classes - 1]
    found[often] = np.arange(len(often))
    return found
