"""CoNLL-U Plus: columns that the first line names, frames of semantic roles among them, as in Universal PropBanks.

``UP:PRED`` holds the sense of a predicate, ``UP:ARGSPANS`` its arguments (``ARG0:1-2|ARG1:4-4``), ``UP:ARGHEADS`` those
of which only the head is given. The ten columns of CoNLL-U are as there; other columns are layers under their names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain, islice

from dovetail.errors import DovetailError, InputError
from dovetail.text.conllu import LAYERS, WIDTH, cut_sentences, placed_members, sentence_lines
from dovetail.text.documents import group, ungroup
from dovetail.text.files import Source, Target, open_target, open_text
from dovetail.text.frames import Frame
from dovetail.text.report import ReadReport, reporting
from dovetail.text.sentence import Document, Sentence, Span
from dovetail.text.unify import EVIDENCE_SENTENCES, Placed, unify_tags

PREDICATE, SPANS, HEADS = "UP:PRED", "UP:ARGSPANS", "UP:ARGHEADS"
STANDARD = ("ID", "FORM", *(name.upper() for name in LAYERS))
_COLUMNS = re.compile(r"#\s*global\.columns\s*=\s*(.+)")
_ARGUMENT = re.compile(r"(.+):(\d{1,9})(?:-(\d{1,9}))?")
UNKNOWN = ".XX"
"""How the sense of a predicate ends that is not known."""


def read_conllup(path: Source, encoding: str = "utf-8", report: ReadReport | None = None) -> Iterator[Document]:
    r"""The documents of a CoNLL-U Plus file, streamed; see `read_conllu` for the ten columns that both have.

    >>> import io
    >>> file = "# global.columns = ID FORM UP:PRED UP:ARGSPANS\n1\tAda\t_\t_\n2\tslept\tsleep.01\tARG0:1-1\n"
    >>> document, = read_conllup(io.StringIO(file))
    >>> document.sentences[0].frames[0].arguments
    (Span(start=0, end=1, label='ARG0', probability=None),)
    """
    with open_text(path, encoding) as reader, reporting(report) as notes:
        lines = enumerate(reader, 1)
        columns, head = _find_columns(lines, reader.name)
        rows = _Rows(columns, reader.name, notes)
        plain = rows.plain(chain(head, lines))
        whole = (rows.completed(one) for one in cut_sentences(plain, reader.name))
        unified = unify_tags(whole, "auto", reader.name, notes, word_per_line=False)
        yield from group(placed_members(unified, reader.name, notes))


def _find_columns(lines: Iterator[tuple[int, str]], path: str) -> tuple[list[str], list[tuple[int, str]]]:
    number, first = next(lines, (1, ""))
    match = _COLUMNS.fullmatch(first.rstrip())
    if match is None:
        raise InputError("expected # global.columns = ID FORM ... in the first line", path, number)
    columns = match[1].split()
    if columns[:1] != ["ID"] or "FORM" not in columns or len(set(columns)) < len(columns):
        raise InputError("the columns must begin with ID, hold FORM, and none twice", path, number)
    return columns, [(number, "")]  # a blank line, so that lines keep their numbers


class _Rows:
    """Lines with the columns of CoNLL-U, and what the others say beside."""

    def __init__(self, columns: list[str], path: str, report: ReadReport) -> None:
        self.path, self.report = path, report
        self.width = len(columns)
        self.standard = [columns.index(name) if name in columns else None for name in STANDARD]
        self.others = {name: i for i, name in enumerate(columns) if name not in STANDARD}
        self.held: list[tuple[int, list[str]]] = []

    def plain(self, lines: Iterable[tuple[int, str]]) -> Iterator[str]:
        for number, line in lines:
            if (line.startswith("#") and not self.held) or not line.strip():
                yield line
                continue
            fields = line.split("\t")
            if len(fields) != self.width:
                count = f"{len(fields)} column" + "s" * (len(fields) != 1)
                raise InputError(f"{count}, and the first line of the file names {self.width}", self.path, number)
            if "" in fields:
                raise InputError(f"column {fields.index('') + 1} is empty; write _ for nothing", self.path, number)
            if fields[0].isdecimal():
                self.held.append((number, fields))
            yield "\t".join("_" if at is None else fields[at] for at in self.standard)

    def completed(self, placed: Placed) -> Placed:
        """The sentence with the layers and frames of the other columns; it is that of the rows held."""
        rows, self.held = self.held, []
        sentence = placed.sentence
        layers = {name: values for name, values in sentence.layers.items()}
        for name, at in self.others.items():
            if name not in (PREDICATE, SPANS, HEADS):
                values = tuple(fields[at] for _, fields in rows)
                layers["ner" if name.rpartition(":")[2].upper() == "NER" else name] = values
        if PREDICATE in self.others:
            frames = tuple(self._frames(rows))
            return placed._replace(sentence=replace(sentence, layers=layers, frames=frames))
        return placed._replace(sentence=replace(sentence, layers=layers))

    def _frames(self, rows: list[tuple[int, list[str]]]) -> Iterator[Frame]:
        for position, (number, fields) in enumerate(rows):
            sense = fields[self.others[PREDICATE]]
            if sense == "_":
                continue
            lemma = sense.rpartition(".")[0] or None
            known = None if sense.endswith(UNKNOWN) else sense
            yield Frame(position, known, lemma, tuple(self._arguments(fields, number, len(rows))))

    def _arguments(self, fields: list[str], number: int, length: int) -> Iterator[Span]:
        name = (
            SPANS if SPANS in self.others and (fields[self.others[SPANS]] != "_" or HEADS not in self.others) else HEADS
        )
        cell = fields[self.others[name]] if name in self.others else "_"
        for one in cell.split("|") if cell != "_" else ():
            match = _ARGUMENT.fullmatch(one)
            if match is None:
                raise InputError(f"{one!r} is no argument, such as ARG0:1-2", self.path, number)
            first, last = int(match[2]), int(match[3] or match[2])
            if not 1 <= first <= last <= length:
                raise InputError(f"the argument {one!r} is outside {length} words", self.path, number)
            if name == HEADS:
                self.report.note("argument of which only the head is given, read as that word", self.path, number)
            yield Span(first - 1, last, match[1])


def write_conllup(items: Iterable[Document | Sentence], target: Target) -> None:
    r"""Write documents or sentences as CoNLL-U Plus: the ten columns of CoNLL-U, predicates and arguments.

    Layers whose names have a colon, as columns of CoNLL-U Plus have, get columns of their own, if they occur in the
    first 1,000 sentences; all else is written as in CoNLL-U.

    >>> import io
    >>> out = io.StringIO()
    >>> write_conllup([Sentence(("Ada", "slept"), frames=(Frame(1, "sleep.01", None, [(0, 1, "ARG0")]),))], out)
    >>> print(*out.getvalue().split("\n")[2].split("\t"))
    2 slept _ _ _ _ _ _ _ _ sleep.01 ARG0:1-1
    """
    stream = ungroup(items)
    evidence = list(islice(stream, EVIDENCE_SENTENCES))
    extra = list(dict.fromkeys(n for s, _, _ in evidence for n in s.layers if ":" in n and n == "_".join(n.split())))
    with open_target(target) as file:
        file.write(f"# global.columns = {' '.join([*STANDARD, *extra, PREDICATE, SPANS])}\n")
        for number, (sentence, document, is_first) in enumerate(chain(evidence, stream), 1):
            if not sentence.words:
                continue
            layers = {name: values for name, values in sentence.layers.items() if name not in extra}
            columns = [sentence.layers.get(name, ("_",) * len(sentence)) for name in extra]
            more = list(zip(*columns, *_frame_columns(sentence), strict=True))
            for line in sentence_lines(replace(sentence, layers=layers), document, is_first, number):
                if line.startswith("#") and line.count("\t") < WIDTH - 1:
                    file.write(f"{line}\n")
                    continue
                place = line.partition("\t")[0]
                own = more[int(place) - 1] if place.isdecimal() else ("_",) * (len(extra) + 2)
                if not all(own) or any(len(one.split("\t")) > 1 or "\n" in one for one in own):
                    raise DovetailError(f"sentence {number}: a value is empty or has a tab or line end")
                file.write("\t".join([line, *own]) + "\n")
            file.write("\n")


def _frame_columns(sentence: Sentence) -> tuple[list[str], list[str]]:
    predicates, arguments = ["_"] * len(sentence), ["_"] * len(sentence)
    for frame in sentence.frames or ():
        unknown = f"{frame.lemma or sentence.words[frame.predicate]}{UNKNOWN}"
        predicates[frame.predicate] = frame.sense or unknown
        spans = "|".join(f"{span.label}:{span.start + 1}-{span.end}" for span in frame.arguments)
        arguments[frame.predicate] = spans or "_"
    return predicates, arguments
