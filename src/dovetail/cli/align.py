"""``dovetail align``: links between the words of sentences and those of their translations."""

from __future__ import annotations

import inspect
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dovetail.cli import options
from dovetail.cli.command import place_of
from dovetail.cli.console import count, warn_all
from dovetail.cli.options import REQUIRED, Param, option, switch, with_parameters
from dovetail.cli.paths import Reads, Writes
from dovetail.cli.progress import Reporter, reporting
from dovetail.cli.train.options import given_settings, setting_options
from dovetail.errors import DovetailError
from dovetail.models.aligner.settings import AlignerSettings

if TYPE_CHECKING:
    from dovetail.models.aligner.aligner import Aligner, Linked
    from dovetail.text.bitext import Pair

FILE = Path | None
SOURCE = "Sentences, one a line, words separated by spaces; or both sides, SOURCE ||| TARGET or .tmx (may be .gz)."
TRANSLATIONS = "Their translations, line by line."
LANGUAGES = "Two languages, such as de,en: those of a .tmx, or the endings of two files whose beginning is --source."
LEARNT = ("prior", "parts", "lowercase", "jump_classes")
"""Settings that a trained model has for good."""

OPTIONS: dict[str, tuple[Any, Param]] = {
    "source": (Path, option("FILE", SOURCE, Reads(folders=False), default=REQUIRED)),
    "target": (FILE, option("FILE", TRANSLATIONS, Reads(folders=False))),
    "languages": (str | None, option("A,B", LANGUAGES)),
    "tokenise": (bool, switch("The text is not tokenised: find its words.")),
    "output": (Path, options.output("LINKS", "Write a line of links such as 0-1 2-3 for each pair.", Writes())),
    "model": (FILE, option("FILE", "Link with this trained model; nothing is learnt.", Reads(), short="-m")),
    "save": (FILE, option("FILE", "Write what was learnt, for --model.", Writes())),
    "priors": (FILE, option("FILE", "Translations that are known: word, tab, translation, a line each.", Reads())),
    "probabilities": (bool, switch("Write the probability of each link, as 0-1:0.93.")),
    "least_confidence": (
        float,
        option("X", "Leave pairs without links of whose words fewer are believed to have translations.", default=0.0,
               min=0.0, max=1.0),
    ),
    "encoding": (str, options.ENCODING),
    "quiet": (bool, options.QUIET),
}  # fmt: skip


def run(**given: Any) -> None:
    """Link the words of sentences and of their translations.

    It learns from the pairs of sentences that it is given, the more the better, and links them. Links are written in
    the order of the pairs, counted from 0, an empty line where nothing is linked.
    """
    source, target, model, save = (given[name] for name in ("source", "target", "model", "save"))
    settings = given_settings(AlignerSettings, given)
    _check(given, settings)
    begin = time.monotonic()
    with reporting(given["quiet"]) as work:
        from dovetail.models.aligner.aligner import Aligner
        from dovetail.models.aligner.lexicon import Lexicon
        from dovetail.text.bitext import read_bitext
        from dovetail.text.links import write_links
        from dovetail.text.report import ReadReport

        report, tally = ReadReport(), _Tally(given["least_confidence"])
        text = read_bitext(
            source, target, languages=two_languages(given["languages"]), tokenised=not given["tokenise"],
            encoding=given["encoding"], report=report,
        )  # fmt: skip
        pairs = tally.read(text)
        aligner = Aligner.load(model, **settings) if model is not None else Aligner(**settings)
        if given["priors"] is not None:
            aligner.given(Lexicon.read(given["priors"], given["encoding"]))
        links = tally.kept(links_of(aligner, pairs, model is None, work))
        write_links(given["output"], links, probabilities=given["probabilities"])
        if save is not None:
            aligner.save(save)
    warn_all([*report.lines(), *tally.warnings()])
    print(f"{count(tally.pairs, 'pair')}, {count(tally.links, 'link')}, mean confidence {tally.mean():.2f}")
    print(f"{given['output']}: written after {time.monotonic() - begin:.1f} s")


def _check(given: dict[str, Any], settings: dict[str, Any]) -> None:
    if given["model"] is None:
        return
    if given["save"] is not None or given["priors"] is not None:
        raise DovetailError("--model links with what was learnt before: leave --save and --priors out, or --model")
    if changed := [name for name in LEARNT if name in settings and settings[name] != _default(name)]:
        raise DovetailError(f"--{changed[0].replace('_', '-')} is for learning, and --model has learnt; leave one out")
    for name in LEARNT:
        settings.pop(name, None)


def _default(name: str) -> Any:
    return getattr(AlignerSettings, name)


def two_languages(given: str | None) -> tuple[str, str] | None:
    """The two that ``--languages`` names.

    >>> two_languages("de,en")
    ('de', 'en')
    """
    names = options.names(given)
    if names is None:
        return None
    if len(names) != 2:
        raise DovetailError(f"--languages {given}: give two, such as de,en")
    return names[0], names[1]


def links_of(aligner: Aligner, pairs: Iterable[Pair], learn: bool, work: Reporter) -> Iterable[Linked]:
    """The links of all pairs, while somebody is told how far it is."""

    def told(what: str, done: int, of: int) -> None:
        if of:
            work.standing(done, of, f"{done} of {of}", what)
        else:
            work.doing(what)

    return aligner.fit_links(pairs, told=told) if learn else aligner.align(pairs)


class _Tally:
    """What went by, counted."""

    def __init__(self, least: float) -> None:
        self.least = least
        self.pairs = self.links = self.left_out = self.first_left_out = self.same = 0
        self.confidence = 0.0
        self.too_long: list[int] = []
        self.unlinked: list[int] = []
        self._empty: set[int] = set()

    def read(self, pairs: Iterable[Pair]) -> Iterator[Pair]:
        """The pairs as they are read."""
        from dovetail.models.aligner.corpus import LONGEST

        for number, pair in enumerate(pairs, 1):
            self.same += pair.source == pair.target and bool(pair.source)
            if max(map(len, pair)) > LONGEST:
                self.too_long.append(number)
            if not all(pair) or max(map(len, pair)) > LONGEST:
                self._empty.add(number)
            yield pair

    def kept(self, links: Iterable[Linked]) -> Iterator[Linked | list[Any]]:
        """The links of each pair, none of one that is no translation."""
        for linked in links:
            self.pairs += 1
            self.confidence += linked.confidence
            if linked.confidence < self.least:
                self.left_out += 1
                self.first_left_out = self.first_left_out or self.pairs
                yield []
            else:
                self.links += len(linked)
                if not linked and self.pairs not in self._empty:
                    self.unlinked.append(self.pairs)
                yield linked

    def mean(self) -> float:
        """The mean confidence."""
        return self.confidence / max(self.pairs, 1)

    def warnings(self) -> Iterator[str]:
        """What the user should know."""
        if self.left_out:
            share = 100.0 * self.left_out / self.pairs
            yield (
                f"{count(self.left_out, 'pair')} ({share:.1f} %) left without links, their confidence below "
                f"{self.least:g} (first at line {self.first_left_out})"
            )
        if self.unlinked:
            where = f"(first at line {self.unlinked[0]})"
            yield f"{count(len(self.unlinked), 'pair')} {where} without a link that is likely enough"
        if self.too_long:
            yield (
                f"{count(len(self.too_long), 'pair')} too long to be linked (first at line {self.too_long[0]}); cut "
                "them into sentences"
            )
        if self.same > self.pairs / 2:
            yield f"both sides of {count(self.same, 'pair')} are the same text; are these the right files?"


def _with_settings() -> Any:
    own = [one.named(name, type_) for name, (type_, one) in OPTIONS.items()]
    every = [*own, *setting_options(AlignerSettings)]
    return with_parameters(run, sorted(every, key=_place))


def _place(one: inspect.Parameter) -> tuple[int, int]:
    names = list(OPTIONS)
    return (names.index(one.name) if one.name in names else len(names)), place_of(one.name)


align = _with_settings()
align.__name__ = "align"
