"""The aligner: trained on a bitext, it links the words of that text, or of new pairs of sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from itertools import islice, pairwise
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np

from dovetail.arrays import Int64s
from dovetail.errors import DovetailError, ModelFileError
from dovetail.memory import release_memory
from dovetail.modelfile import load_model, save_model
from dovetail.models.aligner.candidates import Candidates, candidates_of
from dovetail.models.aligner.chains import Known, LinkChains, chains_of, short_enough
from dovetail.models.aligner.corpus import Bitext, Told, Vocabulary, frequencies, numbered, silent
from dovetail.models.aligner.lexicon import Lexicon
from dovetail.models.aligner.lexicon_kernels import Singles
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
from dovetail.spellings import OfKind, known
from dovetail.text.bitext import Pair
from dovetail.text.links import Link
from dovetail.version import __version__

TOGETHER = 1000
"""Pairs of new text that are linked together."""
MANY, MORE = 40_000, 5.0
"""Of fewer pairs links are drawn more often, by the root of how many fewer, and up to so many times as often: what few
sentences tell comes late, and costs little."""
TRUST = 0.97
"""What a probability of one becomes: of links that all samplers have, about 3 in 100 are wrong."""


class Linked(list[Link]):
    """The links of a pair, and how far the samplers believe that its sentences are translations."""

    def __init__(self, links: Iterable[Link] = (), confidence: float = 0.0) -> None:
        super().__init__(links)
        self.confidence = confidence
        """The share of the words of both sides that have a translation on the other, as expected: 0 to 1."""


@dataclass(kw_only=True, eq=False)
class Aligner(AlignerSettings, OfKind):
    """Links the words of sentences and their translations, with a probability for each link.

    >>> from dovetail.models.aligner.aligner import Aligner
    >>> lines = ["das Haus ||| the house", "ein Haus ||| a house", "das Buch ||| the book", "ein Buch ||| a book"]
    >>> pairs = [Pair(*(tuple(side.split()) for side in line.split(" ||| "))) for line in lines]
    >>> [[(i, j) for i, j, *_ in links] for links in Aligner(threads=1).fit_align(pairs * 5)[:2]]
    [[(0, 0), (1, 1)], [(0, 0), (1, 1)]]
    """

    kind: ClassVar[str] = "aligner"

    def __post_init__(self) -> None:
        self.lexicon_: Lexicon | None = None
        for field in fields(self):
            if (one := setting_of(field)) is not None:
                one.check(field.name, getattr(self, field.name))
        self.model_: AlignerModel | None = None

    def fit(self, pairs: Iterable[Pair], *, told: Told | None = None) -> Aligner:
        """Learn from pairs of sentences."""
        self._learnt(pairs, told)
        return self

    def fit_align(self, pairs: Iterable[Pair], *, told: Told | None = None) -> list[Linked]:
        """Learn from pairs of sentences, and link them: a list of links for each pair."""
        return list(self.fit_links(pairs, told=told))

    def fit_links(self, pairs: Iterable[Pair], *, told: Told | None = None) -> Iterator[Linked]:
        """As `fit_align`, the links one pair after another, once all is learnt."""
        lattice, found = self._learnt(pairs, told)
        return self._links(lattice.forward, found)

    def align(self, pairs: Iterable[Pair]) -> Iterator[Linked]:
        """The links of new pairs, streamed, by what was learnt; what is linked does not depend on other pairs."""
        model = self.learnt
        stream = iter(pairs)
        while some := list(islice(stream, TOGETHER)):
            yield from self._linked(model, some)

    def _learnt(self, pairs: Iterable[Pair], told: Told | None) -> tuple[Lattice, Posteriors]:
        words = Vocabulary(), Vocabulary()
        (told or silent)("reading", 0, 0)
        text = numbered(pairs, *words, self.lowercase)
        if not len(text.source.word) or not len(text.target.word):
            raise DovetailError("no pair of sentences with words on both sides, so there is nothing to align")
        sizes = len(words[0]), len(words[1])
        cells = candidates_of(text, *sizes, threads=self.threads, told=told)
        release_memory()
        seen = Seen(frequencies(text.source, sizes[0]), frequencies(text.target, sizes[1]))
        (told or silent)("comparing parts of words", 0, 0)
        priors = self._priors_of_training(cells, words, seen)
        lattice = _lattice(text, cells)
        classes = self.jump_classes
        counts = (
            empty_counts(len(cells.source), *sizes, classes),
            empty_counts(len(cells.source), *sizes[::-1], classes),
        )
        cells.count += np.float32(1e-9)
        release_memory()
        found = sample(lattice, counts, priors, cells.count, self._schedule(len(text)), threads=self.threads, told=told)
        self.model_ = AlignerModel.of(words, seen, cells, counts, self.samplers)
        return lattice, found.posteriors

    def _priors_of_training(self, cells: Candidates, words: tuple[Vocabulary, Vocabulary], seen: Seen) -> Any:
        sizes = len(words[0]), len(words[1])
        kinds = jump_classes(seen.source, self.jump_classes), jump_classes(seen.target, self.jump_classes)
        if self.parts:
            sides = parts(words[0].words), parts(words[1].words)
            counts, own = linked_parts(cells, sides, sizes)
            likely = likely_by_parts(cells, counts, own, sides, seen)
        else:
            likely = np.zeros(len(cells.source), np.float32), np.zeros(len(cells.source), np.float32)
        forward, backward = priors_of(self, likely, sizes, kinds)
        if self.lexicon_ is not None:
            self.lexicon_.believe(cells, words, (forward, backward))
        return forward, backward

    def given(self, lexicon: Lexicon) -> Aligner:
        """This aligner with a list of translations that it believes beforehand."""
        self.lexicon_ = lexicon
        return self

    def _schedule(self, pairs: int = MANY) -> Schedule:
        """How often links are drawn; so many pairs are learnt from."""
        more = min(max(MANY / max(pairs, 1), 1.0) ** 0.5, MORE)
        return Schedule(self.samplers, round(self.sweeps * more), self.seed)

    def chains(self, pairs: Iterable[Pair]) -> Iterator[LinkChains | None]:
        """Both directions of new pairs as hidden Markov models with what was learnt, to be coupled with others.

        They have translations and jumps, but no fertility. None for a pair that has an empty side or a long one.
        """
        model = self.learnt
        stream = iter(pairs)
        while some := list(islice(stream, TOGETHER)):
            yield from chains_of(self._known(model, [p if short_enough(p) else Pair((), ()) for p in some]))

    def _known(self, model: AlignerModel, pairs: Sequence[Pair]) -> Known:
        """What is believed of the words of some new pairs: every cell, and counts and priors of both directions."""
        words = model.source.copy(), model.target.copy()
        text = numbered(pairs, *words, self.lowercase)
        sizes = len(words[0]), len(words[1])
        cells = candidates_of(text, *sizes, passes=0, least=0.0, threads=self.threads)
        seen = Seen(grown(model.seen.source, sizes[0]), grown(model.seen.target, sizes[1]))
        sides = parts(words[0].words), parts(words[1].words)
        counted = model.chances(cells.source, cells.target)
        own = (counted[0] + counted[1]) / 2, *model.of_words(*sizes)
        likely = likely_by_parts(cells, model.linked_parts(sides), own, sides, seen)
        kinds = jump_classes(seen.source, self.jump_classes), jump_classes(seen.target, self.jump_classes)
        priors = priors_of(self, likely, (len(model.source), len(model.target)), kinds)
        forward, backward = (
            mine._replace(pair=pair, word=grown(mine.word, n), none=grown(mine.none, m),
                          fertility=grown(mine.fertility, n))
            for mine, pair, n, m in ((model.forward, counted[0], *sizes), (model.backward, counted[1], *sizes[::-1]))
        )  # fmt: skip
        return Known(_lattice(text, cells), (forward, backward), priors)

    def _linked(self, model: AlignerModel, pairs: Sequence[Pair]) -> Iterator[Linked]:
        """The links of some new pairs together."""
        lattice, counts, priors = self._known(model, pairs)
        weight = counts[0].pair + counts[1].pair + priors[0].pair
        found = sample(lattice, counts, priors, weight, self._schedule(), learn=False, threads=self.threads)
        return self._links(lattice.forward, found.posteriors)

    def _links(self, cells: Cells, found: Posteriors) -> Iterator[Linked]:
        """The links of all sentences, one after another."""
        ends = [*range(TOGETHER, len(cells.target_begin) - 1, TOGETHER), len(cells.target_begin) - 1]
        for low, high in zip([0, *ends], ends, strict=False):
            some = _Some.of(cells, found, low, high)
            yield from some.soft(self.threshold) if self.symmetrise == "soft" else some.hard(self.symmetrise)

    def save(self, path: str | Path) -> None:
        """Write settings and counts to one file."""
        settings = {k: v for k, v in asdict(self).items() if k != "threads"}
        header = {"kind": self.kind, "dovetail": __version__, "settings": settings}
        save_model(path, header, self.learnt.arrays())

    @classmethod
    def load(cls, path: str | Path, **changed: Any) -> Aligner:
        """An aligner from a file; settings that say how links are found may be changed."""
        header, arrays = load_model(path, cls.kind)
        try:
            names = {field.name for field in fields(cls)}
            aligner = cls(**known("settings", header["settings"], names, path, cls.kind) | changed)
            aligner.model_ = AlignerModel.from_arrays(arrays)
        except (KeyError, ValueError, TypeError, AttributeError) as error:
            raise ModelFileError(f"{path}: the file is damaged ({error}); copy or train it again") from None
        return aligner

    @property
    def learnt(self) -> AlignerModel:
        """What was learnt."""
        if self.model_ is None:
            raise DovetailError("this aligner has learnt nothing yet; call fit, or load one")
        return self.model_


def _lattice(text: Bitext, cells: Candidates) -> Lattice:
    return Lattice.of(Cells(cells.first, cells.place, cells.pair, *text.source, *text.target))


class _Some(NamedTuple):
    """The cells of some sentences in a row, by target token: [cells] each.

    ``begin`` is where those of each sentence begin, and ``words`` how many words both sides of it have.
    """

    source: Int64s
    target: Int64s
    forward: Singles
    backward: Singles
    begin: Int64s
    words: Int64s

    @classmethod
    def of(cls, cells: Cells, found: Posteriors, low: int, high: int) -> _Some:
        tokens = cells.target_begin[low : high + 1]
        a, b = int(tokens[0]), int(tokens[-1])
        first = cells.first[a : b + 1]
        place = np.arange(a, b) - np.repeat(tokens[:-1], np.diff(tokens))
        own = int(first[0]), int(first[-1])
        begin = cells.first[tokens] - own[0]
        words = np.diff(tokens) + np.diff(cells.source_begin[low : high + 1])
        return cls(
            cells.place[slice(*own)].astype(np.int64), np.repeat(place, np.diff(first)), *found.of(*own), begin, words
        )

    def probability(self) -> Singles:
        """The mean of both directions, a little less: samplers are surer than they should be."""
        return np.float32(TRUST / 2) * (self.forward + self.backward)

    def confidence(self) -> list[float]:
        """The expected share of words with a translation, of each sentence."""
        whole = np.concatenate([[0.0], np.cumsum(self.forward + self.backward, dtype=np.float64)])
        found: list[float] = (np.diff(whole[self.begin]) / np.maximum(self.words, 1)).tolist()
        return found

    def soft(self, threshold: float) -> Iterator[Linked]:
        """The links of at least this probability, by source and target position."""
        chance = self.probability()
        kept = np.flatnonzero(chance >= max(threshold, 1e-9))
        sentence = np.searchsorted(self.begin, kept, side="right") - 1
        order = np.lexsort((self.target[kept], self.source[kept], sentence))
        columns = [array[kept][order].tolist() for array in (self.source, self.target, chance)]
        links = list(map(Link, *columns))
        begin = np.searchsorted(sentence[order], np.arange(len(self.begin))).tolist()
        for (a, b), sure in zip(pairwise(begin), self.confidence(), strict=True):
            yield Linked(links[a:b], sure)

    def hard(self, way: str) -> Iterator[Linked]:
        """The links that a symmetrisation leaves of the best ones of both directions."""
        chance = self.probability()
        for (a, b), sure in zip(pairwise(self.begin.tolist()), self.confidence(), strict=True):
            source, target = self.source[a:b].tolist(), self.target[a:b].tolist()
            forward = best_links(zip(source, target, self.forward[a:b].tolist(), strict=True), 1)
            backward = best_links(zip(source, target, self.backward[a:b].tolist(), strict=True), 0)
            chances = dict(zip(zip(source, target, strict=True), chance[a:b].tolist(), strict=True))
            links = [Link(i, j, chances[i, j]) for i, j in sorted(WAYS[way](forward, backward))]
            yield Linked(links, sure)
