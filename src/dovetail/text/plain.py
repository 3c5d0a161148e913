"""Running text in, in pieces of bounded size; one sentence a line out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dovetail.text.documents import ungroup
from dovetail.text.files import Source, Target, TextReader, open_target, open_text
from dovetail.text.line_ends import settled
from dovetail.text.report import ReadReport, reporting
from dovetail.text.segment import Lines, Words, segment
from dovetail.text.sentence import Document, Sentence
from dovetail.text.tokenise import Unspaced

PIECE_CHARACTERS = 1 << 16
MAX_CHARACTERS = 1 << 18
"""A piece is handed on at about the first size; one sentence without an end is cut at the second."""


def read_text(
    path: Source,
    lines: Lines = "auto",
    words: Words = "tokenise",
    unspaced: Unspaced = "characters",
    encoding: str = "utf-8",
    report: ReadReport | None = None,
) -> Iterator[Document]:
    r"""The text of a file as one document, in pieces that end where a sentence does.

    Offsets count from the beginning of the file, and the texts of the pieces put together are the file.
    ``lines="sentences"`` makes each line a sentence; ``words="spaces"`` takes words as white space separates
    them. See `segment` for how sentences and `tokenise` for how words are found.

    >>> import io
    >>> document, = read_text(io.StringIO("It rains.  We wait for Dr. Who."))
    >>> [(sentence.words, sentence.offsets[0]) for sentence in document]
    [(('It', 'rains', '.'), (0, 2)), (('We', 'wait', 'for', 'Dr.', 'Who', '.'), (11, 13))]
    """
    with open_text(path, encoding) as reader, reporting(report) as notes:
        held, start, column = "", 0, 0
        enough = PIECE_CHARACTERS
        for block in reader.blocks():
            held += block
            while len(held) >= enough:
                sentences = segment(held, lines, words, unspaced, start, column)
                end = _settled(sentences, start, settled(held, column) if lines == "auto" else len(held))
                if not end and len(held) < MAX_CHARACTERS:
                    enough *= 2  # so that a long sentence is not looked at again for every block
                    break
                if not end:
                    end = _cut_point(held, reader, notes)
                    sentences = segment(held[:end], lines, words, unspaced, start, column)
                whole = [sentence for sentence in sentences if _start(sentence) < start + end]
                yield Document(tuple(whole), held[:end], offset=start, continues=start > 0)
                last_line = held.rfind("\n", 0, end) + 1
                column = end - last_line if last_line else column + end
                held, start = held[end:], start + end
                enough = PIECE_CHARACTERS
        if held:
            sentences = segment(held, lines, words, unspaced, start, column)
            yield Document(tuple(sentences), held, offset=start, continues=start > 0)


def _start(sentence: Sentence) -> int:
    return sentence.offsets[0][0] if sentence.offsets else 0


def _settled(sentences: list[Sentence], start: int, judged: int) -> int:
    """The length that further text cannot change.

    It is all up to the first sentence that begins where line ends cannot be ``judged`` yet, or up to the last, whose
    end is not in sight.
    """
    begins = [_start(sentence) - start for sentence in sentences]
    return next((at for at in begins if at >= judged), begins[-1]) if begins else 0


def _cut_point(held: str, reader: TextReader, report: ReadReport) -> int:
    report.note(f"sentence of over {MAX_CHARACTERS:,} characters, cut there", reader.name)
    space = max(held.rfind(" ", 1), held.rfind("\n", 1))
    return space + 1 if space > 0 else MAX_CHARACTERS


def write_text(items: Iterable[Document | Sentence], target: Target) -> None:
    r"""Write a sentence a line, with spaces between its words.

    ``read_text(path, lines="sentences", words="spaces")`` reads it again.

    >>> import io
    >>> out = io.StringIO()
    >>> write_text([Sentence(("It", "rains", "."))], out)
    >>> out.getvalue()
    'It rains .\n'
    """
    with open_target(target) as file:
        for sentence, _, _ in ungroup(items):
            file.write(" ".join(sentence.words) + "\n")
