"""The pages of the documentation: their fenced blocks, commands and links."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "docs" / "examples"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
OTHERS = [ROOT / "CHANGELOG.md"]

_FENCE = re.compile(r"^```(\w*)(?: title=\"([^\"]+)\")?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
_NUMBER = re.compile(r"-?\d+\.\d+")


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, the file it is the text of (or none), and the output shown right after it."""

    language: str
    title: str | None
    body: str
    line: int
    output: str | None


class Command(NamedTuple):
    """A line that begins with ``$``, and what the page shows below it."""

    line: str
    output: str


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page; a ``text`` block without a title right after a ``python`` one is its output."""
    text = page.read_text(encoding="utf-8")
    matches = list(_FENCE.finditer(text))
    found = []
    for match, following in zip_longest(matches, matches[1:]):
        shown = None
        if (
            following
            and following[1] == "text"
            and not following[2]
            and not text[match.end() : following.start()].strip()
        ):
            shown = following[3]
        found.append(Block(match[1], match[2], match[3], text.count("\n", 0, match.start()) + 1, shown))
    return found


def commands(block: Block) -> Iterator[Command]:
    """The commands of a console block; a backslash at the end of a line joins it to the next."""
    for part in re.split(r"^\$ ", block.body.replace("\\\n", " "), flags=re.MULTILINE)[1:]:
        line, _, output = part.partition("\n")
        yield Command(line.strip(), output)


def links(page: Path) -> list[str]:
    """The targets of the links of a page, code left out."""
    text = _FENCE.sub("", page.read_text(encoding="utf-8"))
    return _LINK.findall(re.sub(r"`[^`\n]*`", "", text))


def anchors(page: Path) -> set[str]:
    """The anchors of the headings of a page, as hosts of Markdown make them."""
    text = _FENCE.sub("", page.read_text(encoding="utf-8"))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in _HEADING.findall(text)}


def difference(shown: str, printed: str) -> str | None:
    """What is wrong with the output that a page shows; None if nothing is.

    ``...`` stands for anything, white space may differ in amount, and a number with decimals may be off by two units
    of its last digit, because processors round differently.

    >>> difference("F1 85.51 ...", "F1  85.50 and more")
    >>> difference("F1 85.51", "F1 85.40")
    '85.51 is shown, 85.40 is printed'
    """
    numbers = _NUMBER.findall(shown)
    match = re.fullmatch(_pattern(shown), printed.strip(), re.DOTALL)
    if match is None:
        return f"shown:\n{shown}\nprinted:\n{printed}"
    for number, found in zip(numbers, match.groups(), strict=True):
        if abs(float(number) - float(found)) > 2.01 * 10.0 ** -len(number.partition(".")[2]):
            return f"{number} is shown, {found} is printed"
    return None


def _pattern(shown: str) -> str:
    pieces = []
    for piece in re.split(rf"(\.\.\.|\s+|{_NUMBER.pattern})", shown.strip()):
        if piece == "...":
            pieces.append(".*?")
        elif piece.isspace():
            pieces.append(r"\s+")
        else:
            pieces.append(f"({_NUMBER.pattern})" if _NUMBER.fullmatch(piece) else re.escape(piece))
    return "".join(pieces)
