"""CoNLL columns: one word a line, a column a layer, a blank line after each sentence.

Columns are separated by tabs if the first line of data holds one (words may then hold spaces), else by spaces.
A line whose first column is ``-DOCSTART-`` begins a document. A line that begins with ``# `` is a comment
if it has no tab in a file of tabs, or another number of columns in a file of spaces: ``#`` may be a word.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from sys import intern
from typing import Literal, NamedTuple

from dovetail.errors import DovetailError, InputError
from dovetail.text.documents import DOCSTART, Member, group, ungroup
from dovetail.text.files import Source, Target, TextReader, open_target, open_text
from dovetail.text.report import ReadReport, reporting
from dovetail.text.sentence import Document, Sentence
from dovetail.text.spans import with_tags
from dovetail.text.tags import CHUNK_LAYERS, Scheme, convert
from dovetail.text.unify import EVIDENCE_SENTENCES, Placed, chunk_layers, unify_tags

MAX_WORDS = 1_000_000
"""A longer sentence means that the file lacks its blank lines, and would not fit in memory."""

_BLANKS = " \t\r"


class Layout(NamedTuple):
    """How the lines of a file are cut: the name of each column, and what separates them (a tab or a space)."""

    columns: tuple[str, ...]
    separator: str


def default_columns(width: int) -> tuple[str, ...]:
    """The names of the columns where none are given: the word first, the entities last."""
    known = {1: ("word",), 2: ("word", "ner"), 3: ("word", "pos", "ner"), 4: ("word", "pos", "chunk", "ner")}
    return known.get(width) or ("word", *(f"c{i}" for i in range(1, width - 1)), "ner")


def read_conll(
    path: Source,
    columns: Sequence[str] | None = None,
    scheme: Scheme | Literal["auto"] | None = "auto",
    encoding: str = "utf-8",
    separator: str | None = None,
    report: ReadReport | None = None,
) -> Iterator[Document]:
    r"""The documents of a CoNLL file, streamed: long ones come in pieces (`documents.group`).

    ``columns`` names the columns, one of them ``word`` (default: `default_columns`). Every column of chunk
    tags becomes IOB2: with ``scheme="auto"`` its scheme is recognised in the first 1,000 sentences; None
    leaves all tags alone. A ``-DOCSTART-`` line is kept among the ``comments`` of the next sentence, and
    written again by `write_conll`.

    >>> import io
    >>> document, = read_conll(io.StringIO("Ada NNP I-PER\nwrote VBD O\n"))
    >>> document.sentences[0].layers
    {'pos': ('NNP', 'VBD'), 'ner': ('B-PER', 'O')}
    """
    if columns is not None and list(columns).count("word") != 1:
        raise ValueError(f"one of the columns must be called 'word', not {list(columns)}")
    with open_text(path, encoding) as reader, reporting(report) as notes:
        placed = unify_tags(_cut(reader, columns, separator, notes), scheme, reader.name, notes, word_per_line=True)
        yield from group(Member(item.sentence, _has_mark(item.sentence.comments)) for item in placed)


def _cut(
    reader: TextReader, columns: Sequence[str] | None, separator: str | None, report: ReadReport
) -> Iterator[Placed]:
    """The sentences as they stand in the file, each with the line of its first word."""
    lines = iter(reader)
    layout, head = _find_layout(lines, columns, separator)
    width = len(layout.columns)
    by_tab = layout.separator == "\t"
    rows: list[list[str]] = []
    comments: list[str] = []
    first = 0
    for number, line in enumerate(chain(head, lines), 1):
        fields = line.split("\t") if by_tab else _split_spaces(line)
        if len(fields) == width and "" not in fields and fields[0] != DOCSTART:
            if not rows:
                first = number
            rows.append(fields)
            if len(rows) > MAX_WORDS:
                message = f"no blank line for {MAX_WORDS:,} lines; one must follow each sentence"
                raise InputError(message, reader.name, number)
            continue
        kind = _kind_of(line, by_tab)
        if kind == "data":
            raise _bad_row(fields, layout, reader.name, number)
        if rows and kind != "comment":
            yield Placed(_sentence(rows, comments, layout), first)
            rows, comments = [], []
        if kind == "mark" and _has_mark(comments):
            report.note("document without a sentence", reader.name, number)
        if kind != "blank":
            comments.append(line.strip(_BLANKS) if kind == "mark" else line)
    if rows:
        yield Placed(_sentence(rows, comments, layout), first)
    elif _has_mark(comments):
        report.note("document without a sentence", reader.name)


def _find_layout(
    lines: Iterator[str], columns: Sequence[str] | None, separator: str | None
) -> tuple[Layout, list[str]]:
    """The layout, taken from the first line of data, and the lines read to find it."""
    head: list[str] = []
    for line in lines:
        head.append(line)
        found = separator or ("\t" if "\t" in line else " ")
        if _kind_of(line, found == "\t") == "data":
            width = len(line.split("\t") if found == "\t" else _split_spaces(line))
            return Layout(tuple(columns or default_columns(width)), found), head
    return Layout(tuple(columns or ("word",)), separator or " "), head


def _split_spaces(line: str) -> list[str]:
    fields = line.split(" ")
    if "" in fields or "\t" in line:
        fields = [field for field in line.replace("\t", " ").split(" ") if field]
    return fields


def _kind_of(line: str, by_tab: bool) -> Literal["blank", "mark", "comment", "data"]:
    if not line.strip(_BLANKS):
        return "blank"
    if line.replace("\t", " ").lstrip(" ").split(" ", 1)[0] == DOCSTART:
        return "mark"
    if line.startswith("# ") and not (by_tab and "\t" in line):
        return "comment"
    return "data"


def _has_mark(comments: Iterable[str]) -> bool:
    return any(comment.startswith(DOCSTART) for comment in comments)


def _bad_row(fields: list[str], layout: Layout, path: str, line: int) -> InputError:
    names = ", ".join(layout.columns)
    if len(fields) == len(layout.columns):
        empty = layout.columns[fields.index("")]
        return InputError(f"the column {empty!r} is empty; columns: {names}", path, line)
    separators = "tabs" if layout.separator == "\t" else "spaces"
    count = f"{len(fields)} column" + "s" * (len(fields) != 1)
    advice = "; is this CSV? Replace its commas by tabs" if path.removesuffix(".gz").endswith(".csv") else ""
    message = f"{count}, expected {len(layout.columns)}: {names}, separated by {separators}{advice}"
    return InputError(message, path, line)


def _sentence(rows: list[list[str]], comments: list[str], layout: Layout) -> Sentence:
    # Interned, so that a corpus in memory holds each word and tag once.
    values = (tuple(map(intern, column)) for column in zip(*rows, strict=True))
    layers = dict(zip(layout.columns, values, strict=True))
    return Sentence(layers.pop("word"), layers, comments=tuple(comments))


def write_conll(
    items: Iterable[Document | Sentence],
    target: Target,
    columns: Sequence[str] | None = None,
    scheme: Scheme = "iob2",
    separator: str = "\t",
) -> None:
    r"""Write documents or sentences as CoNLL columns, chunk layers in ``scheme``.

    ``columns`` defaults to the word, then the layers of the first sentence, ``ner`` last; nested spans are
    written only as far as the ``ner`` layer has them. Comments are kept in files of tabs; with
    ``separator=" "`` they are left out, since they could pass for words. A document that was read from a
    ``-DOCSTART-`` line, or has an id, begins with one.

    >>> import io
    >>> out = io.StringIO()
    >>> write_conll([Sentence(("Ada", "wrote"), {"ner": ("B-PER", "O")})], out, scheme="iobes")
    >>> out.getvalue()
    'Ada\tS-PER\nwrote\tO\n\n'
    """
    stream = ungroup(items)
    # IOB2 is written as it is; another scheme needs to know which layers are of chunks, as in reading.
    evidence = list(islice(stream, 1 if scheme == "iob2" else EVIDENCE_SENTENCES))
    known = [with_tags(sentence) for sentence, _, _ in evidence]
    names = tuple(columns or ("word", *sorted(known[0].layers if known else (), key="ner".__eq__)))
    layout = Layout(names, separator)
    converted = () if scheme == "iob2" else tuple(chunk_layers(known))
    with open_target(target) as file:
        for number, (sentence, document, is_first) in enumerate(chain(evidence, stream), 1):
            if sentence.words:
                file.writelines(_heading(sentence, document, is_first, layout))
                whole = with_tags(sentence)
                if columns is None and not whole.layers.keys() <= set(names):
                    extra = ", ".join(sorted(whole.layers.keys() - set(names)))
                    raise DovetailError(f"sentence {number} has layers that the first lacks: {extra}; name the columns")
                file.write(_lines(whole, layout, scheme, converted, number) + "\n\n")


def _heading(sentence: Sentence, document: Document | None, is_first: bool, layout: Layout) -> Iterator[str]:
    """The mark of the document and the comments, where they are to be written."""
    marks = [comment for comment in sentence.comments if comment.startswith(DOCSTART)]
    if is_first and not marks and document is not None and document.id is not None:
        marks = [DOCSTART]
    for mark in marks:
        fields = _split_spaces(mark)
        if len(fields) != len(layout.columns):
            fields = [DOCSTART, *("O" if name in CHUNK_LAYERS else "-X-" for name in layout.columns[1:])]
        yield layout.separator.join(fields) + "\n\n"
    if layout.separator == "\t":
        for line in sentence.comments:
            if _kind_of(line, by_tab=False) == "comment" and "\t" not in line:
                yield line + "\n"


def _lines(sentence: Sentence, layout: Layout, scheme: Scheme, converted: Sequence[str], number: int) -> str:
    length, width = len(sentence), len(layout.columns)
    cells = []
    for name in layout.columns:
        filler = "O" if name in CHUNK_LAYERS else "_"
        values = sentence.words if name == "word" else sentence.layers.get(name, (filler,) * length)
        if name in converted:
            try:
                values = tuple(convert(values, "iob2", scheme))
            except ValueError as error:
                raise DovetailError(f"sentence {number}, layer {name!r}: {error}") from None
        cells.append(values)
    if not all(chain.from_iterable(cells)):
        raise DovetailError(f"sentence {number} has an empty word or value, which CoNLL columns cannot hold")
    text = "\n".join(map(layout.separator.join, zip(*cells, strict=True)))
    # Read again, the text must fall into the same cells.
    separator = layout.separator if width > 1 else " "
    same_cells = text.count("\n") == length - 1 and text.count(separator) == length * (width - 1)
    is_split = (separator == " " and "\t" in text) or "\r\n" in text + "\n"
    if not same_cells or is_split or DOCSTART in cells[0]:
        what = "tab" if separator == "\t" else "space"
        raise DovetailError(f"sentence {number} has a line end, a {what} or {DOCSTART} in a word or value")
    return text
