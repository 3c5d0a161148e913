"""Annotated sentences for people: entities in colour on a terminal, in brackets elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import IO, TYPE_CHECKING, NamedTuple

from dovetail.text.sentence import Document, Sentence, Span
from dovetail.text.spans import outermost, with_text

if TYPE_CHECKING:
    from rich.text import Text

_COLOURS = ("cyan", "green", "magenta", "yellow", "blue", "red")


class Piece(NamedTuple):
    """A stretch of a sentence: an entity (or a word with its tag) and its probability, or what is between."""

    text: str
    label: str = ""
    probability: float | None = None

    @property
    def mark(self) -> str:
        """The label and the probability."""
        return self.label if self.probability is None else f"{self.label} {self.probability:.2f}"


def pieces(sentence: Sentence, document: Document, target: str) -> Iterator[Piece]:
    """A sentence with offsets into its document, cut at its entities, or at its words where labels are plain.

    >>> document = with_text(Document((Sentence(("Ada", "slept"), {"ner": ("B-PER", "O")}),)))
    >>> [tuple(piece) for piece in pieces(document.sentences[0], document, "ner")]
    [('Ada', 'PER', None), (' slept', '', None)]
    """
    offsets = sentence.offsets or ()
    end = offsets[0][0] if offsets else 0
    for span in _spans(sentence, target):
        first, last = offsets[span.start][0], offsets[span.end - 1][1]
        if first > end:
            yield Piece(_one_line(document.slice(end, first)))
        yield Piece(_one_line(document.slice(first, last)), span.label, span.probability)
        end = last
    if offsets and offsets[-1][1] > end:
        yield Piece(_one_line(document.slice(end, offsets[-1][1])))


def _spans(sentence: Sentence, target: str) -> list[Span]:
    entities = outermost(sentence.spans or sentence.entities(target))
    tags = sentence.layers.get(target, ())
    if entities or set(tags) <= {"O"}:
        return entities
    return [Span(i, i + 1, tag) for i, tag in enumerate(tags)]


def _one_line(text: str) -> str:
    """Line ends as spaces, and no control characters that could upset a terminal."""
    return "".join(c if c.isprintable() else " " if c.isspace() else "\N{REPLACEMENT CHARACTER}" for c in text)


def show(documents: Iterable[Document], file: IO[str], target: str = "ner") -> None:
    """Print a sentence a line: ``[Ada PER 0.98] slept``, or in colour where the file is a terminal."""
    console = None
    if file.isatty():
        from rich.console import Console

        console = Console(file=file, highlight=False)
    colours: dict[str, str] = {}
    for document in map(with_text, documents):
        for sentence in document:
            parts = pieces(sentence, document, target)
            if console is not None:
                brackets = console.no_color or console.color_system is None
                console.print(_coloured(parts, colours, brackets))
            else:
                file.write("".join(f"[{p.text} {p.mark}]" if p.label else p.text for p in parts) + "\n")


def _coloured(parts: Iterable[Piece], colours: dict[str, str], brackets: bool) -> Text:
    """Words stay as they are; entities are bold, with the label and the probability small after them."""
    from rich.text import Text

    text = Text()
    for part in parts:
        if not part.label:
            text.append(part.text)
            continue
        colour = colours.setdefault(part.label, _COLOURS[len(colours) % len(_COLOURS)])
        text.append("[" if brackets else "")
        text.append(part.text, style=f"bold {colour}")
        text.append(f" {part.mark}", style=f"dim {colour}")
        text.append("]" if brackets else "")
    return text
