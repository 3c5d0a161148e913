"""Brown clustering: a tree of word classes that keeps as much as it can of what a word tells of the next.

The algorithm of Brown et al. (1992) with a window of fixed size: the most frequent words are classes of their own; then
each further word, most frequent first, comes in as one more class, and the two classes are merged whose merge loses the
least mutual information. At the end the classes themselves are merged down to one, which makes the tree.
"""

from __future__ import annotations

from functools import partial
from time import monotonic

import numpy as np

from dovetail.arrays import Int64s
from dovetail.clusters.brown_kernels import advance, class_heads, close_gap, collapse, fill
from dovetail.clusters.brown_window import Words, empty_window
from dovetail.clusters.clustering import Clustering, ClusterProgress, Report
from dovetail.clusters.counts import BigramCounts
from dovetail.clusters.team import Team
from dovetail.errors import DovetailError

SECONDS_BETWEEN_REPORTS = 0.2
WORTHWHILE = 256
"""With fewer classes than this one thread does it: the others would wait for most of the time."""


def brown(counts: BigramCounts, classes: int, *, threads: int = 1, progress: Report | None = None) -> Clustering:
    """Cluster words into a binary tree with so many leaves, the classes, each known by its path of bits.

    A text with no more types than that gets a class for each. Of merges that lose equally much, the one whose classes
    hold the more frequent words comes first; bit 0 leads to the child that holds the more frequent word. Memory is 24
    bytes for each pair of classes. The result is the same for any number of threads; give no more than there are idle
    cores, for they wait for one another at every merge.

    >>> from dovetail.clusters.counts import count_bigrams_of
    >>> text = "the cat sat . the dog sat . a cat ran . a dog ran ."
    >>> clustering = brown(count_bigrams_of([text.split()]), 4)
    >>> sorted(clustering.members()[clustering.path_of("cat")])
    ['cat', 'dog']
    """
    if classes < 1:
        raise DovetailError(f"{classes} classes; give 1 or more")
    window_size = min(classes, len(counts.words))
    with Team(threads if window_size >= WORTHWHILE else 1) as team:
        heads, merges = _Run(counts, window_size, progress, team).tree()
    paths = tree_paths(merges)
    order = sorted(paths, key=lambda head: paths[head])
    number = np.zeros(len(counts.words), dtype=np.int32)
    number[order] = np.arange(len(order))
    return Clustering(counts.words, number[heads], [paths[head] for head in order], counts.count)


def tree_paths(merges: Int64s) -> dict[int, str]:
    """The path of every leaf of a tree that was made from the leaves up; a leaf alone has the path 0.

    ``merges[i]`` are the two nodes, each named by its first leaf, whose merge left i nodes; row 0 is not used, and 0 is
    the first leaf.

    >>> tree_paths(np.array([[0, 0], [0, 1], [0, 2]]))
    {0: '00', 1: '1', 2: '01'}
    """
    paths = {0: "" if len(merges) > 1 else "0"}
    for left, right in merges[1:].tolist():
        paths[left], paths[right] = paths[left] + "0", paths[left] + "1"
    return paths


class _Run:
    """One clustering: the window of classes, and the words that go through it."""

    def __init__(self, counts: BigramCounts, classes: int, progress: Report | None, team: Team) -> None:
        of = len(counts.words)
        self.classes = classes
        self.progress = progress
        self.team = team
        self.window = empty_window(classes + 1, counts.tokens)
        parent, slot = np.full(of, -1, dtype=np.int64), np.zeros(of, dtype=np.int64)
        self.words = Words(counts.count, counts.both_ways(), parent, slot)

    def tree(self) -> tuple[Int64s, Int64s]:
        """The first word of each word's class [words], and the merges of the classes down to one [classes, 2]."""
        self.team.run(lambda member: fill(self.window, self.words, self.classes, member))
        free = self._enter_all()
        heads = class_heads(self.words)
        close_gap(self.window, self.classes, free)
        merges = np.zeros((self.classes, 2), dtype=np.int64)
        self.team.run(lambda member: collapse(self.window, self.classes, merges, member))
        return heads, merges

    def _enter_all(self) -> int:
        """Words one by one, in runs of a fraction of a second, so that progress is told and Ctrl-C is heard."""
        of = len(self.words.times)
        merges = np.zeros((of, 2), dtype=np.int64)
        free = word = self.classes
        step = 8
        begin = last = monotonic()
        while word < of:
            stop = min(word + step, of)
            state = (self.window, self.classes, free, self.words, word, stop, merges)
            free = self.team.run(partial(advance, *state))
            now = monotonic()
            step = max(1, int(step * min(2.0, SECONDS_BETWEEN_REPORTS / max(now - last, 1e-6))))
            word, last = stop, now
            if self.progress is not None:
                self.progress(ClusterProgress(word, of, now - begin))
        return free
