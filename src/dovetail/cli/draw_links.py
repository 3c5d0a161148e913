"""``dovetail draw-links``: pictures of sentences, their translations, and the links between their words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from dovetail.cli import options
from dovetail.cli.align import LANGUAGES, SOURCE, TRANSLATIONS, two_languages
from dovetail.cli.console import warn_all
from dovetail.cli.options import REQUIRED, option, switch
from dovetail.cli.paths import Reads, Writes
from dovetail.errors import DovetailError

if TYPE_CHECKING:
    from dovetail.text.bitext import Pair
    from dovetail.text.links import Link

Drawn = tuple[int, "Pair", "list[Link]"]
MANY = 200
"""More pictures than these are hardly wanted."""


def draw_links(
    links: Path = option("LINKS", "Links, a line for each pair.", Reads(folders=False), default=REQUIRED),
    source: Path = option("FILE", SOURCE, Reads(folders=False), default=REQUIRED),
    target: Path | None = option("FILE", TRANSLATIONS, Reads(folders=False)),
    languages: str | None = option("A,B", LANGUAGES),
    tokenise: bool = switch("The text is not tokenised: find its words."),
    encoding: str = options.ENCODING,
    first: int = option("N", "Number that the first word has in LINKS.", default=0, min=0, max=1),
    line: list[int] = option("N", "Draw this line; may be repeated.", default=[], shown="all", min=1),
    output: Path | None = options.output(
        "PICTURE",
        "Write a picture, .svg, or .txt in characters; of several lines, an .svg each, with the line in its name.",
        Writes(endings=(".svg", ".txt")),
        None,
        "in characters, to the screen",
    ),
) -> None:
    """Draw the links between sentences and their translations.

    Text and links are checked: there must be a line of links for each pair, with links of words that are there.
    """
    from dovetail.text.bitext import linked, read_bitext
    from dovetail.text.report import ReadReport

    report = ReadReport()
    pairs = read_bitext(
        source, target, languages=two_languages(languages), tokenised=not tokenise, encoding=encoding, report=report
    )
    found = _chosen(linked(pairs, links, first=first, encoding=encoding), set(line), links)
    if output is not None and output.suffix.lower() == ".svg":
        _write_svg(list(found), output, [path for path in (links, source, target) if path is not None])
    else:
        _write_text(found, output)
    warn_all(report.lines())


def _chosen(every: Iterable[tuple[Pair, list[Link]]], lines: set[int], path: Path) -> Iterator[Drawn]:
    """The lines that were asked for, with their numbers; all are read, and so checked."""
    number = 0
    for number, (pair, some) in enumerate(every, 1):
        if not lines or number in lines:
            yield number, pair, some
    if lines and max(lines) > number:
        raise DovetailError(f"--line {max(lines)}: {path} has {number:,} lines")


def _write_text(found: Iterable[Drawn], output: Path | None) -> None:
    from dovetail.text.draw_links import draw_links
    from dovetail.text.files import open_target

    with open_target(output or "-") as file:
        for place, (number, pair, some) in enumerate(found):
            file.write(f"{chr(10) if place else ''}line {number}\n{draw_links(pair, some)}\n")


def _write_svg(found: list[Drawn], output: Path, read: list[Path]) -> None:
    from dovetail.text.files import open_target
    from dovetail.text.links_svg import links_svg

    if len(found) > MANY:
        raise DovetailError(f"there is one picture per line, and {len(found):,} lines: choose some with --line")
    paths = [output.with_stem(f"{output.stem}-{number}") if len(found) > 1 else output for number, *_ in found]
    for path in paths:
        if path.exists() and any(other.exists() and path.samefile(other) for other in read):
            raise DovetailError(f"{path}: --output would overwrite what is read; choose another name")
    for path, (number, pair, some) in zip(paths, found, strict=True):
        with open_target(path) as file:
            file.write(links_svg(pair, some, title=f"line {number}: {' '.join(pair.source)}"))
