"""The aligner: trained on a bitext, it links the words of that text, or of new pairs of sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from dovetail.errors import DovetailError, ModelFileError
from dovetail.modelfile import load_model, save_model
from dovetail.models.aligner.candidates import Candidates, candidates_of
from dovetail.models.aligner.corpus import Bitext, Told, Vocabulary, frequencies, numbered
from dovetail.models.aligner.model import AlignerModel, Seen, grown, likely_by_parts, linked_parts, priors_of
from dovetail.models.aligner.parts import parts
from dovetail.models.aligner.sampler import (
    Lattice,
    Posteriors,
    Schedule,
    empty_counts,
    jump_classes,
    sample,
)
from dovetail.models.aligner.sampling_kernels import Cells
from dovetail.models.aligner.settings import AlignerSettings
from dovetail.models.aligner.symmetrise import WAYS, best_links
from dovetail.models.settings import setting_of
from dovetail.text.bitext import Pair
from dovetail.text.links import Link

TOGETHER = 1000
"""Pairs of new text that are linked together."""


@dataclass(kw_only=True, eq=False)
class Aligner(AlignerSettings):
    """Links the words of sentences and their translations, with a probability for each link.

    >>> from dovetail.models.aligner.aligner import Aligner
    >>> lines = ["das Haus ||| the house", "ein Haus ||| a house", "das Buch ||| the book", "ein Buch ||| a book"]
    >>> pairs = [Pair(*(tuple(side.split()) for side in line.split(" ||| "))) for line in lines]
    >>> [[(i, j) for i, j, *_ in links] for links in Aligner(threads=1).fit_align(pairs * 5)[:2]]
    [[(0, 0), (1, 1)], [(0, 0), (1, 1)]]
    """

    kind: ClassVar[str] = "aligner"

    def __post_init__(self) -> None:
        for field in fields(self):
            known = setting_of(field)
            if known is not None:
                known.check(field.name, getattr(self, field.name))
        self.model_: AlignerModel | None = None

    def fit(self, pairs: Iterable[Pair], *, told: Told | None = None) -> Aligner:
        """Learn from pairs of sentences."""
        self._learnt(pairs, told)
        return self

    def fit_align(self, pairs: Iterable[Pair], *, told: Told | None = None) -> list[list[Link]]:
        """Learn from pairs of sentences, and link them: a list of links for each pair."""
        return list(self.fit_links(pairs, told=told))

    def fit_links(self, pairs: Iterable[Pair], *, told: Told | None = None) -> Iterator[list[Link]]:
        """As `fit_align`, the links one pair after another, once all is learnt."""
        lattice, found = self._learnt(pairs, told)
        return self._links(lattice.forward, found)

    def align(self, pairs: Iterable[Pair]) -> Iterator[list[Link]]:
        """The links of new pairs, streamed, by what was learnt; what is linked does not depend on other pairs."""
        model = self._model()
        stream = iter(pairs)
        while some := list(islice(stream, TOGETHER)):
            yield from self._linked(model, some)

    def _learnt(self, pairs: Iterable[Pair], told: Told | None) -> tuple[Lattice, Posteriors]:
        words = Vocabulary(), Vocabulary()
        (told or _silent)("reading")
        text = numbered(pairs, *words, self.lowercase)
        if not len(text.source.word) or not len(text.target.word):
            raise DovetailError("no pair of sentences with words on both sides, so there is nothing to align")
        sizes = len(words[0]), len(words[1])
        cells = candidates_of(text, *sizes, threads=self.threads, told=told)
        seen = Seen(frequencies(text.source, sizes[0]), frequencies(text.target, sizes[1]))
        (told or _silent)("comparing parts of words")
        priors = self._priors_of_training(cells, words, seen)
        lattice = _lattice(text, cells)
        classes = self.jump_classes
        counts = (
            empty_counts(len(cells.source), *sizes, classes),
            empty_counts(len(cells.source), *sizes[::-1], classes),
        )
        weight = cells.count + np.float32(1e-9)
        found = sample(lattice, counts, priors, weight, self._schedule(), threads=self.threads, told=told)
        self.model_ = AlignerModel.of(words, seen, cells, counts, self.samplers)
        return lattice, found.posteriors

    def _priors_of_training(self, cells: Candidates, words: tuple[Vocabulary, Vocabulary], seen: Seen) -> Any:
        sizes = len(words[0]), len(words[1])
        kinds = jump_classes(seen.source, self.jump_classes), jump_classes(seen.target, self.jump_classes)
        if self.parts:
            sides = parts(words[0].words), parts(words[1].words)
            likely = likely_by_parts(cells, *linked_parts(cells, sides, sizes), sides, seen)
        else:
            likely = np.zeros(len(cells.source), np.float32), np.zeros(len(cells.source), np.float32)
        return priors_of(self, likely, sizes, kinds)

    def _schedule(self) -> Schedule:
        return Schedule(self.samplers, self.sweeps, self.seed)

    def _linked(self, model: AlignerModel, pairs: Sequence[Pair]) -> Iterator[list[Link]]:
        """The links of some new pairs together."""
        words = model.source.copy(), model.target.copy()
        text = numbered(pairs, *words, self.lowercase)
        sizes = len(words[0]), len(words[1])
        cells = candidates_of(text, *sizes, passes=0, least=0.0, threads=self.threads)
        seen = Seen(grown(model.seen.source, sizes[0]), grown(model.seen.target, sizes[1]))
        sides = parts(words[0].words), parts(words[1].words)
        counted = model.chances(cells.source, cells.target)
        own = (
            (counted[0] + counted[1]) / 2,
            *((grown(a.word, n) + grown(b.none * 0, n)) for a, b, n in _both(model, sizes)),
        )
        likely = likely_by_parts(cells, model.linked_parts(sides), own, sides, seen)
        kinds = jump_classes(seen.source, self.jump_classes), jump_classes(seen.target, self.jump_classes)
        priors = priors_of(self, likely, (len(model.source), len(model.target)), kinds)
        counts = tuple(
            mine._replace(pair=pair, word=grown(mine.word, n), none=grown(mine.none, m),
                          fertility=grown(mine.fertility, n))
            for mine, pair, n, m in ((model.forward, counted[0], *sizes), (model.backward, counted[1], *sizes[::-1]))
        )  # fmt: skip
        lattice = _lattice(text, cells)
        weight = counted[0] + counted[1] + priors[0].pair
        found = sample(
            lattice, (counts[0], counts[1]), priors, weight, self._schedule(), learn=False, threads=self.threads
        )
        return self._links(lattice.forward, found.posteriors)

    def _links(self, cells: Cells, found: Posteriors) -> Iterator[list[Link]]:
        """The links of all sentences, one after another."""
        mean = (found.forward + found.backward) / 2
        if self.symmetrise == "soft":
            yield from _soft(cells, mean, self.threshold)
        else:
            yield from _hard(cells, found, mean, self.symmetrise)

    def save(self, path: str | Path) -> None:
        """Write settings and counts to one file."""
        settings = {k: v for k, v in asdict(self).items() if k != "threads"}
        save_model(path, {"kind": self.kind, "settings": settings}, self._model().arrays())

    @classmethod
    def load(cls, path: str | Path, **changed: Any) -> Aligner:
        """An aligner from a file; settings that say how links are found may be changed."""
        header, arrays = load_model(path, cls.kind)
        try:
            settings = dict(header["settings"])
            known = {field.name for field in fields(cls)}
            aligner = cls(**{k: v for k, v in settings.items() if k in known} | changed)
            aligner.model_ = AlignerModel.from_arrays(arrays)
        except (KeyError, ValueError, TypeError) as error:
            raise ModelFileError(f"{path}: the file is damaged ({error}); copy or train it again") from None
        return aligner

    def _model(self) -> AlignerModel:
        if self.model_ is None:
            raise DovetailError("this aligner has learnt nothing yet; call fit, or load one")
        return self.model_


def _silent(_: str) -> None:
    pass


def _both(model: AlignerModel, sizes: tuple[int, int]) -> Any:
    return (model.forward, model.forward, sizes[0]), (model.backward, model.backward, sizes[1])


def _lattice(text: Bitext, cells: Candidates) -> Lattice:
    return Lattice.of(Cells(cells.first, cells.place, cells.pair, *text.source, *text.target))


def _soft(cells: Cells, mean: Any, threshold: float) -> Iterator[list[Link]]:
    """The links of at least this probability, by source and target position."""
    kept = np.flatnonzero(mean >= max(threshold, 1e-9))
    token = np.searchsorted(cells.first, kept, side="right") - 1
    sentence = np.searchsorted(cells.target_begin, token, side="right") - 1
    source, target = cells.place[kept].astype(np.int64), token - cells.target_begin[sentence]
    order = np.lexsort((target, source, sentence))
    begin = np.searchsorted(sentence[order], np.arange(len(cells.target_begin)))
    columns = [array[order].tolist() for array in (source, target, np.minimum(mean[kept], 1.0))]
    links = [Link(i, j, p) for i, j, p in zip(*columns, strict=True)]
    for a, b in zip(begin[:-1].tolist(), begin[1:].tolist(), strict=True):
        yield links[a:b]


def _hard(cells: Cells, found: Posteriors, mean: Any, way: str) -> Iterator[list[Link]]:
    """The links that a symmetrisation leaves of the best ones of both directions."""
    for a, b in zip(cells.target_begin[:-1].tolist(), cells.target_begin[1:].tolist(), strict=True):
        own = slice(int(cells.first[a]), int(cells.first[b]))
        source = cells.place[own].tolist()
        target = np.repeat(np.arange(b - a), np.diff(cells.first[a : b + 1])).tolist()
        forward = best_links(zip(source, target, found.forward[own].tolist(), strict=True), 1)
        backward = best_links(zip(source, target, found.backward[own].tolist(), strict=True), 0)
        chances = dict(zip(zip(source, target, strict=True), mean[own].tolist(), strict=True))
        yield [Link(i, j, min(chances[i, j], 1.0)) for i, j in sorted(WAYS[way](forward, backward))]
