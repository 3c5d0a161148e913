"""Independent samplers of links, each of both directions, and what they find on average."""

from __future__ import annotations

import os
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
"""The probabilities of the sweeps of one sampler add up to a byte at most, those of all samplers to two."""
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

    def states(self, sampler: int) -> list[NDArray[np.uint64]]:
        """Where the random numbers of both directions of a sampler begin."""
        both = np.random.SeedSequence([self.seed, sampler]).generate_state(2, np.uint64) | np.uint64(1)
        return [both[:1].copy(), both[1:].copy()]


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

    def __init__(
        self, cells: Cells, counts: Counts, prior: Prior, learn: bool, state: NDArray[np.uint64], sums: Whole,
        weight: Singles,
    ) -> None:  # fmt: skip
        self.cells, self.counts, self.prior, self.learn, self.state = cells, counts, prior, learn, state
        self.link: Int32s = np.full(len(cells.target), -1, np.int32)
        self.fertile = np.zeros(len(cells.source), np.int16)
        self.sums = sums
        start(cells, weight, state, self.link)
        if learn:
            count_links(cells, self.link, prior.jump_class, self.fertile, counts)
        else:
            self._count_fertile()

    def _count_fertile(self) -> None:
        places = self.places()
        sentence = np.repeat(self.cells.source_begin[:-1], np.diff(self.cells.target_begin))
        self.fertile[:] = np.bincount((sentence + places)[places >= 0], minlength=len(self.fertile))

    def places(self) -> NDArray[np.int16]:
        """The source position of each target token's link, -1 for none."""
        found = np.empty(len(self.link), np.int16)
        linked_places(self.cells, self.link, found)
        return found

    def draw(self, other: NDArray[np.int16], number: int, schedule: Schedule) -> None:
        """Draw all links anew; ``other`` are the links of the other direction before."""
        collect = number >= schedule.sweeps - schedule.collected
        sweep(
            self.cells, self.link, self.fertile, self.counts, self.prior, other, schedule.with_jumps(number),
            schedule.with_fertility(number), self.learn, self.state, self.sums if collect else self.sums[:0],
            schedule.unit,
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

    cores = threads or os.cpu_count() or 1
    many = cores > 3  # else the directions of one sampler share two cores: two samplers would take twice the memory

    def work(number: int) -> None:
        states = schedule.states(number)
        own = [_zeros_like(c) for c in counts] if learn else counts
        sums = [np.zeros_like(whole) for whole in total] if many else total
        chains = [
            _Chain(cells, counted, prior, learn, state, its, weight)
            for cells, counted, prior, state, its in zip(lattice, own, priors, states, sums, strict=True)
        ]
        for at in range(schedule.sweeps):
            before = [chain.places() for chain in chains]
            both = list(zip(chains, reversed(before), strict=True))
            run_shards(lambda one, at=at: one[0].draw(one[1], at, schedule), both, 1 if many else cores)  # type: ignore[misc]
            with lock:
                done[0] += 1
                tell("drawing links", done[0], schedule.sweeps * schedule.samplers)
        with lock:  # whole numbers: the order in which samplers end does not matter
            for whole, its in zip(total if many else (), sums, strict=False):
                whole += its
            if learn:
                for mine, chain in zip(counts, chains, strict=True):
                    for array, its_array in zip(mine, chain.counts, strict=True):
                        np.add(array, its_array, out=array)

    run_shards(work, range(schedule.samplers), cores if many else 1)
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
