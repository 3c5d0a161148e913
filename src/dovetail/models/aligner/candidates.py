"""Where links may be: the cells of each pair of sentences that IBM model 1 does not rule out.

It is trained in both directions at once (Liang, Taskar and Klein 2006)::

    p(t | s) = (c(s, t) + a) / (c(s) + a V)          forward(i, j) = p(t_j | s_i) / (none_j + sum_i' p(t_j | s_i'))

and likewise backward; the expected count of a link is the product of both posteriors, so one table c serves both.
A cell stays where either posterior is above a small number: about five of every word.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dovetail.arrays import Int32s, Int64s, pointers
from dovetail.models.aligner.corpus import Bitext, Told, frequencies, silent
from dovetail.models.aligner.lexicon_kernels import (
    Model,
    Singles,
    Walk,
    add_forward,
    expect,
    first_counts,
    likely,
    row_sizes,
    sort_places,
    target_words,
)
from dovetail.threads import run_shards

Places = NDArray[np.uint16]
SHARDS = 4
NONE = 0.1
"""How likely a word is linked to none, before it is looked at."""
PRIOR = 3e-3
PASSES = 3
LEAST = 1e-2
MANY = 25_000_000
"""Of a text with more cells than these, fewer are kept, which bounds memory: with much text IBM model 1 is surer."""


@dataclass
class Candidates:
    """Cells by target token: those of token j are ``first[j]`` to ``first[j + 1]``, by source position ``place``.

    ``pair`` is the number of the pair of words of a cell, and ``source``, ``target``, ``count`` [pairs] are its words
    and how often IBM model 1 expects them to be linked.
    """

    first: Int64s  # [target tokens + 1]
    place: Places  # [cells]
    pair: Int32s  # [cells]
    source: Int32s
    target: Int32s
    count: Singles


class _Lexicon:
    """A bitext on the way to its candidates."""

    def __init__(self, text: Bitext, words: tuple[int, int], threads: int | None) -> None:
        self.text, (self.sources, self.targets), self.threads = text, words, threads
        source, target = text.source, text.target
        often = frequencies(source, self.sources)
        sentence = np.repeat(np.arange(len(text), dtype=np.int32), np.diff(source.begin))
        token = np.argsort(source.word, kind="stable").astype(np.int32)
        row = np.zeros(self.sources + 1, np.int64)
        self.walk = Walk(pointers(often), token, sentence, source.begin, target.word, target.begin, row)
        lengths = np.diff(target.begin)
        work = pointers(np.bincount(source.word, lengths[sentence], self.sources).astype(np.int64))
        edges = np.unique(np.searchsorted(work, np.linspace(0, work[-1], SHARDS + 1)[1:-1]))
        self.shards = list(zip([0, *edges.tolist()], [*edges.tolist(), self.sources], strict=True))
        self.longest = int(lengths.max(initial=0))
        sizes = np.zeros(self.sources, np.int64)
        self._each(lambda low, high, mark, _: row_sizes(low, high, self.walk, mark, sizes))
        np.cumsum(sizes, out=row[1:])
        self.pairs = int(row[-1])

    def _each(self, function: Callable[[int, int, Int32s, Int32s], object]) -> None:
        """Call with the range of source words of each shard, and marks of its own."""

        def work(shard: tuple[int, int]) -> None:
            function(*shard, np.full(self.targets, -1, np.int32), np.zeros(self.targets, np.int32))

        run_shards(work, self.shards, self.threads)

    def first(self) -> Model:
        """Counts where every word may be linked to every other."""
        count = np.zeros(self.pairs, np.float32)
        of_s, of_t = np.zeros(self.sources), np.zeros((SHARDS, self.targets))
        places = {low: place for place, (low, _) in enumerate(self.shards)}
        self._each(
            lambda low, high, mark, slot: first_counts(low, high, self.walk, mark, slot, count, of_s, of_t[places[low]])
        )
        return self._model(count, of_s, of_t.sum(axis=0))

    def _model(self, count: Singles, of_s: NDArray[np.float64], of_t: NDArray[np.float64]) -> Model:
        source, target = self.text.source, self.text.target
        seen_s, seen_t = frequencies(source, self.sources), frequencies(target, self.targets)
        return Model(
            count,
            PRIOR,
            (1.0 / (of_s + PRIOR * self.targets)).astype(np.float32),
            (1.0 / (of_t + PRIOR * self.sources)).astype(np.float32),
            (NONE * seen_s / max(len(source.word), 1)).astype(np.float32),
            (NONE * seen_t / max(len(target.word), 1)).astype(np.float32),
        )

    def sums(self, model: Model) -> Singles:
        """What each target token's posteriors are divided by: [target tokens]."""
        parts = np.zeros((len(self.shards), len(self.text.target.word)), np.float32)
        places = {low: place for place, (low, _) in enumerate(self.shards)}
        self._each(
            lambda low, high, mark, slot: add_forward(low, high, self.walk, mark, slot, model, parts[places[low]])
        )
        found: Singles = model.none_target[self.text.target.word]
        for part in parts:
            found += part
        return found

    def better(self, model: Model) -> Model:
        """One pass of expectation maximisation, both directions together."""
        sums = self.sums(model)
        count = np.zeros(self.pairs, np.float32)
        of_s, of_t = np.zeros(self.sources), np.zeros((len(self.shards), self.targets))
        places = {low: place for place, (low, _) in enumerate(self.shards)}

        def work(low: int, high: int, mark: Int32s, slot: Int32s) -> None:
            weight = np.zeros(self.longest, np.float32)
            expect(low, high, self.walk, mark, slot, model, sums, weight, count, of_s, of_t[places[low]])

        self._each(work)
        return self._model(count, of_s, of_t.sum(axis=0))

    def candidates(self, model: Model, least: float) -> Candidates:
        """The cells that are likely enough, and their pairs, numbered by source word."""
        sums = self.sums(model)
        tokens = len(self.text.target.word)
        number = np.zeros(self.pairs, np.int32)
        counts = np.zeros((len(self.shards), tokens), np.int32)
        shard = {low: place for place, (low, _) in enumerate(self.shards)}
        none = np.zeros(0, np.uint16), np.zeros(0, np.int32)

        def look(low: int, high: int, at: NDArray[np.integer], marks: tuple[Int32s, Int32s], out: tuple[Places, Int32s],
                 fill: bool) -> None:  # fmt: skip
            weight = np.zeros(self.longest, np.float32)
            likely(low, high, self.walk, *marks, model, sums, weight, least, number, at, *out, fill)

        self._each(lambda low, high, mark, slot: look(low, high, counts[shard[low]], (mark, slot), none, False))
        kept = number > 0
        np.cumsum(kept, out=number, dtype=np.int32)
        number -= 1
        first = pointers(counts.sum(axis=0))
        starts = counts  # in their place: memory is dear here
        _begins(starts, first)
        cells = int(first[-1])
        place, pair = np.zeros(cells, np.uint16), np.zeros(cells, np.int32)
        self._each(lambda low, high, mark, slot: look(low, high, starts[shard[low]], (mark, slot), (place, pair), True))
        sort_places(first, place, pair)
        kept_before = np.where(self.walk.row > 0, number[self.walk.row - 1] + 1, 0)
        source = np.repeat(np.arange(self.sources, dtype=np.int32), np.diff(kept_before))
        target = np.zeros(len(source), np.int32)
        target_words(first, pair, self.text.target.word, target)
        return Candidates(first, place, pair, source, target, model.links[kept])


def _begins(counts: Int32s, first: Int64s) -> None:
    """Counts of cells [shards, tokens] turned into where the cells of each shard and token begin."""
    begin = first[:-1].astype(np.int32)
    for shard in counts:
        begin += shard
        np.subtract(begin, shard, out=shard)


def candidates_of(
    text: Bitext, sources: int, targets: int, *, passes: int = PASSES, least: float | None = None,
    threads: int | None = 1, told: Told | None = None,
) -> Candidates:  # fmt: skip
    """Train IBM model 1 on a bitext whose vocabularies have so many words, and keep the cells that may be links.

    ``least`` is the posterior that they have in a direction: by default 0.01, of large texts up to 0.03. With
    ``passes=0`` and ``least=0`` all cells are kept.
    """
    tell = told or silent
    tell(f"pairing words of {len(text):,} sentence pairs", 0, 0)
    lexicon = _Lexicon(text, (sources, targets), threads)
    model = lexicon.first()
    for number in range(passes):
        tell("IBM model 1", number + 1, passes)
        model = lexicon.better(model)
    if least is None:
        cells = int(np.diff(text.source.begin) @ np.diff(text.target.begin))
        least = LEAST * min(max(cells / MANY, 1.0), 3.0)
    return lexicon.candidates(model, least)
