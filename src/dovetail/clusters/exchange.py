"""Exchange clustering: words move from class to class as long as a class-bigram model of the text gets better.

The two-sided exchange algorithm of Martin, Liermann and Ney (1998), with a morphological prior after Clark (2003) if
asked for. It starts from Brown's classes of the most frequent words, but takes decisions back, and its classes predict
the text better. What is raised is written down in `dovetail.clusters.exchange_kernels`; every move raises it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from time import monotonic

import numpy as np

from dovetail.arrays import Int64s
from dovetail.clusters.brown import brown
from dovetail.clusters.clustering import Clustering, ClusterProgress, Report
from dovetail.clusters.counts import BigramCounts
from dovetail.clusters.exchange_kernels import NOWHERE, ClassCounts, apply, propose, room
from dovetail.clusters.morphology import no_spelling, spelling_model
from dovetail.errors import DovetailError
from dovetail.threads import run_shards

TABLE = 1 << 16
"""Numbers whose x log x is looked up."""
LARGEST_BLOCK = 512
"""Words whose moves are proposed from the same state."""
SHARDS = 8
"""Parts of a block that are searched abreast; the moves do not depend on how many threads do it."""
GROWTH = 4
PASSES_BETWEEN = 2
"""Before the most frequent n words become GROWTH times as many, so many passes over the words that are in."""
ENOUGH = 1e-5
"""A pass that raises the objective by fewer nats a running word is the last."""


def exchange(
    counts: BigramCounts, classes: int, *, morphology: float = 0.0, iterations: int = 30, seed: int = 0,
    threads: int | None = None, progress: Report | None = None,
) -> Clustering:  # fmt: skip
    """Cluster words into so many classes (at most), and the classes into a binary tree.

    ``morphology`` weighs the spelling of the words against the text; 0 leaves it out. At most so many ``iterations``
    over all words are made. ``seed`` decides in which order words of like frequency are looked at: another seed may
    find somewhat better or worse classes. The result is the same for any number of threads.

    >>> from dovetail.clusters.counts import count_bigrams_of
    >>> text = "the cat sat . the dog sat . a cat ran . a dog ran ."
    >>> clustering = exchange(count_bigrams_of([text.split()]), 4)
    >>> sorted(clustering.members()[clustering.path_of("cat")])
    ['cat', 'dog']
    """
    run = Exchange(counts, classes, morphology=morphology, seed=seed, threads=threads)
    run.run(iterations, progress)
    return run.clustering()


class Exchange:
    """A run of exchange clustering that can be stopped and looked at between passes.

    >>> from dovetail.clusters.counts import count_bigrams_of
    >>> run = Exchange(count_bigrams_of(["abcabdabc"]), 2)
    >>> run.insert()
    >>> moved, rise = run.improve()
    >>> rise >= 0
    True
    """

    def __init__(
        self, counts: BigramCounts, classes: int, *, morphology: float = 0.0, seed: int = 0, threads: int | None = None
    ) -> None:
        if classes < 1:
            raise DovetailError(f"{classes} classes; give 1 or more")
        if not 0 <= morphology < np.inf:
            raise DovetailError(f"a weight of {morphology:g} for morphology; give 0 or more")
        self.text = counts
        self.threads = threads
        self.passes = 0
        self.words = len(counts.words)
        classes = min(classes, self.words)
        self.spelling = spelling_model(counts.words, classes, morphology) if morphology else no_spelling()
        self.counts = _empty_classes(self.words, classes, counts.tokens)
        self.inserted = 0
        self._random = np.random.default_rng(seed)
        self._bigrams = counts.both_ways()
        self._room = room(classes)
        self._shard_rooms = [(room(classes), np.zeros(classes)) for _ in range(SHARDS)]
        self._tell: Callable[[int], None] = lambda visits: None

    def run(self, iterations: int, progress: Report | None = None) -> None:
        """Insert all words, then make passes until a pass brings little, or so many are done."""
        if progress is not None:
            self._tell = _teller(progress, self._visits_to_insert() + iterations * self.words)
        self.insert()
        while self.passes < iterations:
            moved, rise = self.improve()
            self.passes += 1
            if not moved or rise < ENOUGH * self.text.tokens:
                break

    def insert(self) -> None:
        """Put every word into a class, most frequent first.

        The first ones, four for each class, get the classes of Brown. Then there are passes over these; three times as
        many come in, each put where it raises the objective of the words that are in; and so on.
        """
        first = min(GROWTH * len(self.counts.sizes), self.words)
        start = brown(_most_frequent(self.text, first), len(self.counts.sizes)).classes
        apply(np.arange(first), start, self._bigrams, self.counts, self.spelling, self._room)
        self.inserted = first
        while self.inserted < self.words:
            for _ in range(PASSES_BETWEEN):
                self.improve()
            upto = min(self.inserted * GROWTH, self.words)
            self._visit(np.arange(self.inserted, upto))
            self.inserted = upto

    def improve(self) -> tuple[int, float]:
        """A pass: every word that is in may move once; returns how many did, and by how much the objective rose."""
        rank = np.arange(self.inserted)
        # Of like frequency: ranks 1 to 2, 3 to 6, 7 to 14, ...
        return self._visit(np.lexsort((self._random.random(self.inserted), np.floor(np.log2(rank + 1.0)))))

    def clustering(self) -> Clustering:
        """The classes as they stand, less empty ones, with Brown's tree over them."""
        pairs = self.counts.pairs
        total = np.zeros(len(pairs), np.int64)
        np.add.at(total, self.counts.classes, self.text.count)
        order = np.argsort(-total, kind="stable")[: np.count_nonzero(self.counts.sizes)]
        first, second = np.nonzero(pairs[np.ix_(order, order)])
        names, between = [str(number) for number in order], (first, second, pairs[order[first], order[second]])
        tree = brown(BigramCounts.of_pairs(names, total[order], between, self.text.tokens), len(order))
        leaf = np.zeros(len(pairs), np.int32)
        leaf[order] = tree.classes
        return Clustering(self.text.words, leaf[self.counts.classes], tree.paths, self.text.count)

    def _visit(self, words: Int64s) -> tuple[int, float]:
        moved, rise = 0, 0.0
        for block in _blocks(words):
            more, higher = self._move(block)
            moved, rise = moved + more, rise + higher
            self._tell(len(block))
        return moved, rise

    def _move(self, block: Int64s) -> tuple[int, float]:
        """Classes are proposed on all threads from the same state; then moves are made one by one, each checked."""
        proposals = np.zeros(len(block), np.int32)

        def search(shard: int) -> None:
            words = block[shard::SHARDS].copy()
            found = np.zeros(len(words), np.int32)
            propose(words, self._bigrams, self.counts, self.spelling, *self._shard_rooms[shard], found)
            proposals[shard::SHARDS] = found

        run_shards(search, range(SHARDS), self.threads)
        return apply(block, proposals, self._bigrams, self.counts, self.spelling, self._room)

    def _visits_to_insert(self) -> int:
        visits, inside = self.words, len(self.counts.sizes) * GROWTH
        while inside < self.words:
            visits, inside = visits + PASSES_BETWEEN * inside, inside * GROWTH
        return visits


def _most_frequent(counts: BigramCounts, number: int) -> BigramCounts:
    """The counts of the first words alone."""
    stop = int(counts.indptr[number])
    first = np.repeat(np.arange(number), np.diff(counts.indptr[: number + 1]))
    kept = counts.follower[:stop] < number
    pairs = first[kept], counts.follower[:stop][kept], counts.times[:stop][kept]
    return BigramCounts.of_pairs(counts.words[:number], counts.count[:number], pairs, counts.tokens)


def _empty_classes(words: int, classes: int, tokens: int) -> ClassCounts:
    cells = np.int32 if tokens < 1 << 31 else np.int64
    x = np.arange(TABLE, dtype=np.float64)
    return ClassCounts(
        classes=np.full(words, NOWHERE, np.int32),
        pairs=np.zeros((classes, classes), cells),
        pairs_turned=np.zeros((classes, classes), cells),
        firsts=np.zeros(classes, np.int64),
        seconds=np.zeros(classes, np.int64),
        sizes=np.zeros(classes, np.int64),
        x_log_x=x * np.log(np.maximum(x, 1.0)),
    )


def _blocks(words: Int64s) -> Iterator[Int64s]:
    """Words in blocks that grow: a frequent word that moves changes much for the others, a rare one little."""
    start = 0
    while start < len(words):
        size = min(max(SHARDS, int(words[start]) // 8), LARGEST_BLOCK)
        yield words[start : start + size]
        start += size


def _teller(progress: Report, of: int) -> Callable[[int], None]:
    begin, done = monotonic(), 0

    def tell(visits: int) -> None:
        nonlocal done
        done += visits
        progress(ClusterProgress(done, of, monotonic() - begin))

    return tell
