"""``dovetail align-sentences``: from a document and its translation to pairs of sentences, line by line."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from dovetail.cli import options
from dovetail.cli.align import links_of, two_languages
from dovetail.cli.console import count, warn_all
from dovetail.cli.options import REQUIRED, option, switch
from dovetail.cli.paths import Reads, Writes
from dovetail.cli.progress import Reporter, reporting
from dovetail.errors import DovetailError, InputError

if TYPE_CHECKING:
    from dovetail.models.aligner.aligner import Aligner
    from dovetail.models.aligner.windows import Bead
    from dovetail.text.bitext import Pair

KEPT, UNSURE, UNLIKE, ALONE = "kept", "unsure", "unlike", "alone"
"""What becomes of a bead: a pair that is kept, filtered by either filter, or a sentence without translation."""


def align_sentences(
    source: Path = option("FILE", "A document, a sentence a line (may be .gz).", Reads(folders=False),
                          default=REQUIRED),
    target: Path = option("FILE", "Its translation, a sentence a line, not line by line.", Reads(folders=False),
                          default=REQUIRED),
    tokenise: bool = switch("The text is not tokenised: find its words."),
    encoding: str = options.ENCODING,
    model: Path | None = option("FILE", "An aligner that knows translations (dovetail align --save).", Reads(),
                                short="-m"),
    least_confidence: float = option("X", "Filter pairs that are less likely to belong together.", default=0.5,
                                     min=0.0, max=1.0),
    least_translated: float = option("X", "Filter pairs of whose words a lower share have translations, by --model, or "
                                          "by what the pairs teach.", default=0.0, min=0.0, max=1.0),
    output: Path = options.output("FILE", "Write pairs as SOURCE ||| TARGET, or as .tmx.", Writes()),
    output_target: Path | None = option("FILE", "Write two files line by line: this one, and --output for the source.",
                                        Writes()),
    languages: str | None = option("A,B", "The two languages that a .tmx names, such as de,en."),
    beads: Path | None = option("FILE", "Write which lines go together, how likely, and whether they were kept.",
                                Writes()),
    quiet: bool = options.QUIET,
) -> None:  # fmt: skip
    """Pair the sentences of a document and of its translation.

    For documents that are not line by line. One or two sentences may go with one or two others, and a sentence may
    have no translation. Both must be in the same order.
    """
    names = _checked(output, output_target, two_languages(languages))
    begin = time.monotonic()
    with reporting(quiet) as work:
        from dovetail.models.aligner.aligner import Aligner
        from dovetail.models.aligner.sentences import align_sentences

        sides = _Side.read(source, encoding, tokenise), _Side.read(target, encoding, tokenise)
        aligner = Aligner.load(model) if model is not None else None
        work.doing(f"pairing {len(sides[0].texts):,} and {len(sides[1].texts):,} sentences")
        found = _Found(sides, align_sentences(sides[0].words, sides[1].words, aligner=aligner))
        found.judge(least_confidence)
        if least_translated > 0:
            found.compare(least_translated, aligner, work)
        found.write(output, output_target, names)
        if beads is not None:
            found.write_beads(beads)
    warn_all(found.warnings(least_confidence, least_translated))
    print(found.summary())
    print(f"{output}: written after {time.monotonic() - begin:.1f} s")


def _checked(output: Path, other: Path | None, names: tuple[str, str] | None) -> tuple[str, str] | None:
    """The languages of a translation memory, None where none is written."""
    if output.name.removesuffix(".gz").endswith(".tmx"):
        if other is not None:
            raise DovetailError("a .tmx holds both sides: leave --output-target out")
        if names is None:
            raise DovetailError("a .tmx names its languages: give them, as in --languages de,en")
        if names[0].lower() == names[1].lower():
            raise DovetailError(f"--languages: {names[0]} twice, and a .tmx tells its sides apart by their languages")
    elif names is not None:
        raise DovetailError("--languages is for a .tmx; leave it out, or write one with --output FILE.tmx")
    return names


@dataclass
class _Side:
    """The sentences of a document: their lines, texts and words."""

    path: Path
    lines: list[int] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    words: list[tuple[str, ...]] = field(default_factory=list)

    @classmethod
    def read(cls, path: Path, encoding: str, tokenise: bool) -> _Side:
        """A sentence for each line that is not blank."""
        from dovetail.text.files import open_text
        from dovetail.text.tokenise import tokenise as tokenised

        side = cls(path)
        with open_text(path, encoding) as reader:
            for number, line in enumerate(reader, 1):
                if text := " ".join(line.split()):
                    side.lines.append(number)
                    side.texts.append(text)
                    side.words.append(tuple(tokenised(text).words if tokenise else text.split()))
        if not side.texts:
            raise InputError("no sentence: expected one a line", path)
        return side

    def text(self, place: tuple[int, int]) -> str:
        """Some sentences in a row as one line."""
        return " ".join(self.texts[slice(*place)])

    def numbers(self, place: tuple[int, int]) -> str:
        """Their lines in the file."""
        return ",".join(map(str, self.lines[slice(*place)]))


class _Found:
    """The beads of two documents, and what becomes of each."""

    def __init__(self, sides: tuple[_Side, _Side], beads: Sequence[Bead]) -> None:
        self.sides, self.beads = sides, beads
        self.fate = [ALONE] * len(beads)
        self.translated: list[float | None] = [None] * len(beads)
        self.too_long: list[int] = []

    def judge(self, least: float) -> None:
        """Keep what has two sides and is likely enough."""
        for i, bead in enumerate(self.beads):
            if bead.source[0] < bead.source[1] and bead.target[0] < bead.target[1]:
                self.fate[i] = KEPT if bead.confidence >= least else UNSURE

    def compare(self, least: float, aligner: Aligner | None, work: Reporter) -> None:
        """Keep only pairs of whose words a share have translations."""
        from dovetail.models.aligner.aligner import Aligner
        from dovetail.models.aligner.corpus import LONGEST

        pairs: dict[int, Pair] = {}
        for i in self.of(KEPT):
            pair = self.beads[i].pair(self.sides[0].words, self.sides[1].words)
            if max(map(len, pair)) > LONGEST:
                self.too_long.append(i)
            else:
                pairs[i] = pair
        links = links_of(aligner or Aligner(), pairs.values(), aligner is None, work) if pairs else []
        for i, some in zip(pairs, links, strict=True):
            self.translated[i] = some.confidence
            if some.confidence < least:
                self.fate[i] = UNLIKE

    def of(self, fate: str) -> list[int]:
        """The beads of which this became."""
        return [i for i, one in enumerate(self.fate) if one == fate]

    def texts(self) -> Iterator[tuple[str, str]]:
        """The pairs that are kept."""
        for i in self.of(KEPT):
            yield self.sides[0].text(self.beads[i].source), self.sides[1].text(self.beads[i].target)

    def write(self, output: Path, other: Path | None, languages: tuple[str, str] | None) -> None:
        """The pairs that are kept, in one file or in two."""
        from dovetail.text.files import open_target
        from dovetail.text.tmx import write_tmx

        if languages is not None:
            write_tmx(output, self.texts(), languages)
            return
        if other is None:
            self.check_bars()
        with ExitStack() as stack:
            files = [stack.enter_context(open_target(path)) for path in (output, other) if path is not None]
            for pair in self.texts():
                for file, text in zip(files, pair if other is not None else [" ||| ".join(pair)], strict=True):
                    file.write(f"{text}\n")

    def check_bars(self) -> None:
        """Refuse text that cannot be told from what stands between the sides."""
        for side in self.sides:
            for number, text in zip(side.lines, side.texts, strict=True):
                if "|||" in text.split():
                    message = "'|||' in the text, which separates the sides of a pair; give --output-target, or a .tmx"
                    raise InputError(message, side.path, number)

    def write_beads(self, path: Path) -> None:
        """A line for each bead: lines of both files, its probability, the share of words, and what became of it."""
        from dovetail.text.files import open_target

        with open_target(path) as file:
            for bead, share, fate in zip(self.beads, self.translated, self.fate, strict=True):
                lines = f"{self.sides[0].numbers(bead.source)}\t{self.sides[1].numbers(bead.target)}"
                file.write(f"{lines}\t{bead.confidence:.4f}\t{'' if share is None else f'{share:.4f}'}\t{fate}\n")

    def summary(self) -> str:
        """What there is, in one line."""
        kept = self.of(KEPT)
        mean = sum(self.beads[i].confidence for i in kept) / max(len(kept), 1)
        filtered = len(self.of(UNSURE)) + len(self.of(UNLIKE))
        return f"{count(len(kept), 'pair')} kept, mean confidence {mean:.2f}; {filtered:,} filtered; " + (
            f"{count(len(self.of(ALONE)), 'sentence')} without translation"
        )

    def place(self, i: int) -> str:
        """Where a bead begins, for messages."""
        return f"{self.sides[0].path}:{self.sides[0].lines[self.beads[i].source[0]]}"

    def warnings(self, least: float, translated: float) -> Iterator[str]:
        """What the user should know."""
        pairs = len(self.beads) - len(self.of(ALONE))
        for fate, why in (
            (UNSURE, f"their confidence below {least:g}"),
            (UNLIKE, f"the share of their words with translations below {translated:g}"),
        ):
            if some := self.of(fate):
                share = 100.0 * len(some) / pairs
                yield f"{count(len(some), 'pair')} ({share:.1f} %) filtered, {why} (first: {self.place(some[0])})"
        if some := self.too_long:
            yield f"{count(len(some), 'pair')} too long for words to be compared, kept (first: {self.place(some[0])})"
        if not self.of(KEPT):
            yield "no pair was kept; are these a text and its translation, in the same order?"
        same = sum(a == b for a, b in self.texts())
        if same > len(self.of(KEPT)) / 2:
            yield f"both sides of {count(same, 'pair')} are the same text; are these the right files?"
