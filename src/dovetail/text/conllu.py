"""CoNLL-U, the format of Universal Dependencies: ten columns separated by tabs.

The columns become the words and the layers lemma, upos, xpos, feats, head, deprel, deps and misc. What is
no word is kept as it stands among the ``comments`` of the sentence, in this order: the comment lines, then
the lines of multiword tokens (``1-2``) and empty nodes (``8.1``), which the writer puts back where their
numbers say. A file that is read and written is therefore the same file, up to blank lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from sys import intern
from typing import NamedTuple

from dovetail.errors import DovetailError, InputError
from dovetail.text.documents import DOCSTART, Member, group, ungroup
from dovetail.text.files import Source, Target, open_target, open_text
from dovetail.text.report import ReadReport, reporting
from dovetail.text.sentence import Document, Sentence
from dovetail.text.spans import with_tags
from dovetail.text.unify import Placed, unify_tags

Place = tuple[int, int]
LAYERS = ("lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")
WIDTH = 2 + len(LAYERS)

_NUMBER = re.compile(r"([1-9][0-9]{0,8})(?:-([1-9][0-9]{0,8}))?|[0-9]{1,9}\.[1-9][0-9]{0,8}")
_NEWDOC = re.compile(r"#\s*newdoc(?:\s+id\s*=\s*(.*))?\s*$")
_NER = re.compile(r"(?:^|\|)NER=([^|]*)")


def read_conllu(path: Source, encoding: str = "utf-8", report: ReadReport | None = None) -> Iterator[Document]:
    r"""The documents of a CoNLL-U file, streamed: ``# newdoc`` begins one, long ones come in pieces.

    The text of a document is made of its sentences' ``# text`` or else of their words and
    ``SpaceAfter=No``; offsets point into it (the words of a multiword token that do not spell it have its
    offsets). ``NER=B-PER`` in the last column becomes the layer ``ner``.

    >>> import io
    >>> line = "1\tBern\tBern\tPROPN\t_\t_\t0\troot\t_\tSpaceAfter=No|NER=B-LOC\n"
    >>> document, = read_conllu(io.StringIO(line))
    >>> document.text, document.sentences[0].layers["ner"]
    ('Bern', ('B-LOC',))
    """
    with open_text(path, encoding) as reader, reporting(report) as notes:
        placed = cut_sentences(iter(reader), reader.name)
        unified = unify_tags(placed, "auto", reader.name, notes, word_per_line=False)
        yield from group(placed_members(unified, reader.name, notes))


def cut_sentences(lines: Iterator[str], path: str) -> Iterator[Placed]:
    """The sentences of lines of ten columns, each with the line of its last word."""
    rows: list[list[str]] = []
    comments: list[str] = []
    others: list[str] = []
    for number, line in enumerate(lines, 1):
        if line.startswith("#") and not rows and not others:
            comments.append(line)
        elif not line.strip(" \t\r"):
            if others and not rows:
                raise InputError("a sentence without words ends here", path, number)
            if rows:
                yield Placed(_sentence(rows, comments, others), number - 1)
                rows, comments, others = [], [], []
        else:
            fields = line.split("\t")
            if _is_word(fields, len(rows) + 1, path, number):
                rows.append(fields)
            else:
                others.append(line)
    if rows:
        yield Placed(_sentence(rows, comments, others), number)


def _is_word(fields: list[str], expected: int, path: str, line: int) -> bool:
    """Whether this is the line of a word, and not of a multiword token or an empty node."""
    if len(fields) != WIDTH:
        count = f"{len(fields)} column" + "s" * (len(fields) != 1)
        raise InputError(f"{count}, expected {WIDTH}, separated by tabs", path, line)
    if "" in fields:
        raise InputError(f"column {fields.index('') + 1} is empty; write _ for nothing", path, line)
    number = _NUMBER.fullmatch(fields[0])
    if number is None:
        raise InputError(f"{fields[0][:40]!r} is not a word number; expected {expected}", path, line)
    if number[1] is None:
        return False
    if number[2] is not None:
        if int(number[1]) != expected or int(number[2]) < expected:
            raise InputError(f"multiword token {fields[0]} stands before word {expected}", path, line)
        return False
    if int(number[1]) != expected:
        raise InputError(f"word number {number[1]}, expected {expected}; is a blank line missing?", path, line)
    return True


def _sentence(rows: list[list[str]], comments: list[str], others: list[str]) -> Sentence:
    _, words, *values = (tuple(map(intern, column)) for column in zip(*rows, strict=True))
    layers = dict(zip(LAYERS, values, strict=True))
    entities = [_NER.search(misc) for misc in layers["misc"]]
    if any(entities):
        layers["ner"] = tuple(found[1] if found else "O" for found in entities)
    return Sentence(words, layers, id=_first_value(comments, "sent_id"), comments=(*comments, *others))


def _first_value(comments: Iterable[str], key: str) -> str | None:
    """The value of the first comment ``# key = value``."""
    for comment in comments:
        head, equals, value = comment.partition("=")
        if equals and comment.startswith("#") and head.lstrip("#").strip() == key:
            return value.strip()
    return None


class _Surface(NamedTuple):
    """What the text shows as one: a word, or a multiword token; and the words (first, last + 1) in it."""

    form: str
    first: int
    last: int
    has_space: bool


def _surfaces(sentence: Sentence) -> list[_Surface]:
    ranges = {}
    for line in sentence.comments:
        number, _, rest = line.partition("\t")
        if rest and "-" in number and not line.startswith("#"):
            first, last = number.split("-")
            form, misc = rest.split("\t", 1)[0], rest.rsplit("\t", 1)[-1]
            ranges[int(first) - 1] = _Surface(form, int(first) - 1, int(last), "SpaceAfter=No" not in misc)
    surfaces: list[_Surface] = []
    for position, (word, misc) in enumerate(zip(sentence.words, sentence.layers["misc"], strict=True)):
        if not surfaces or position >= surfaces[-1].last:
            own = _Surface(word, position, position + 1, "SpaceAfter=No" not in misc)
            surfaces.append(ranges.get(position, own))
    return surfaces


def placed_members(sentences: Iterable[Placed], path: str, report: ReadReport) -> Iterator[Member]:
    """Sentences with their text and offsets, and where documents begin."""
    start = 0
    for sentence, line, _, _ in sentences:
        newdoc = next(filter(None, map(_NEWDOC.match, sentence.comments)), None)
        if newdoc:
            start = 0
        surfaces = _surfaces(sentence)
        text = _first_value(sentence.comments, "text")
        places = _find_all(surfaces, text) if text is not None else None
        if text is not None and places is None:
            report.note("sentence whose # text does not hold its words; the words were taken", path, line)
        if text is None or places is None:
            text = "".join(surface.form + " " * surface.has_space for surface in surfaces[:-1]) + surfaces[-1].form
            places = _find_all(surfaces, text) or []
        offsets = [(first + start, last + start) for first, last in _word_offsets(sentence, surfaces, places)]
        text += " " * surfaces[-1].has_space
        start += len(text)
        yield Member(replace(sentence, offsets=tuple(offsets)), newdoc is not None, newdoc and newdoc[1], text)


def _find_all(surfaces: list[_Surface], text: str) -> list[Place] | None:
    """Where the surfaces lie in the text, or None if it holds anything else but white space."""
    places, end = [], 0
    for surface in surfaces:
        start = text.find(surface.form, end)
        if start < 0 or text[end:start].strip():
            return None
        end = start + len(surface.form)
        places.append((start, end))
    return places if not text[end:].strip() else None


def _word_offsets(sentence: Sentence, surfaces: list[_Surface], places: list[Place]) -> Iterator[Place]:
    for surface, (start, end) in zip(surfaces, places, strict=True):
        words = sentence.words[surface.first : surface.last]
        if "".join(words) != surface.form:
            yield from [(start, end)] * len(words)
            continue
        for word in words:
            yield start, start + len(word)
            start += len(word)


def write_conllu(items: Iterable[Document | Sentence], target: Target) -> None:
    r"""Write documents or sentences as CoNLL-U.

    A layer ``ner`` goes to the last column as ``NER=B-PER``, a layer ``pos`` to XPOS where there is no
    ``xpos``, and layers that CoNLL-U does not know to the last column under their names.

    >>> import io
    >>> out = io.StringIO()
    >>> write_conllu([Sentence(("Bern",), {"ner": ("B-LOC",)})], out)
    >>> out.getvalue()
    '1\tBern\t_\t_\t_\t_\t_\t_\t_\tNER=B-LOC\n\n'
    """
    with open_target(target) as file:
        for number, (sentence, document, is_first) in enumerate(ungroup(items), 1):
            if sentence.words:
                file.writelines(f"{line}\n" for line in sentence_lines(sentence, document, is_first, number))
                file.write("\n")


def sentence_lines(sentence: Sentence, document: Document | None, is_first: bool, number: int) -> Iterator[str]:
    """The lines of a sentence: comments, words, multiword tokens, empty nodes."""
    yield from _comments(sentence, document, is_first)
    before, after = _others_by_place(sentence)
    yield from after.get(0, [])
    for position, fields in enumerate(zip(*_columns(sentence, number), strict=True), 1):
        line = "\t".join((str(position), *fields))
        if line.count("\t") != WIDTH - 1 or "\n" in line or "" in fields:
            raise DovetailError(f"sentence {number}, word {position}: a value is empty or has a tab or line end")
        yield from before.get(position, [])
        yield line
        yield from after.get(position, [])


def _comments(sentence: Sentence, document: Document | None, is_first: bool) -> Iterator[str]:
    given = [line for line in sentence.comments if line.startswith("#")]
    if any(line.startswith(DOCSTART) for line in sentence.comments):
        yield "# newdoc"
    elif is_first and document and document.id is not None and not any(map(_NEWDOC.match, given)):
        yield f"# newdoc id = {document.id}"
    if sentence.id is not None and _first_value(given, "sent_id") is None:
        yield f"# sent_id = {sentence.id}"
    yield from given
    is_native = "misc" in sentence.layers  # and says itself how its words are spaced
    if not is_native and document and document.text is not None and sentence.offsets:
        text = document.slice(sentence.offsets[0][0], sentence.offsets[-1][1])
        yield "# text = " + " ".join(text.split())


def _others_by_place(sentence: Sentence) -> tuple[dict[int, list[str]], dict[int, list[str]]]:
    """The lines of multiword tokens by the word they precede, and of empty nodes by the word they follow."""
    before: dict[int, list[str]] = {}
    after: dict[int, list[str]] = {}
    for line in sentence.comments:
        number, tab, _ = line.partition("\t")
        if tab and _NUMBER.fullmatch(number):
            by_place, mark = (before, "-") if "-" in number else (after, ".")
            by_place.setdefault(int(number.split(mark)[0]), []).append(line)
    return before, after


def _columns(sentence: Sentence, number: int) -> list[tuple[str, ...]]:
    layers = dict(with_tags(sentence).layers)
    if "xpos" not in layers and "pos" in layers:
        layers["xpos"] = layers.pop("pos")
    nothing = ("_",) * len(sentence)
    given = _given_misc(sentence)
    extra = {"NER" if name == "ner" else name: layers[name] for name in layers if name not in LAYERS}
    spells_outside = not any(map(_NER.search, given))  # a file that leaves NER=O out stays as it is
    misc = []
    for position, old in enumerate(given):
        new = {name: values[position] for name, values in extra.items()}
        if new.get("NER") == "O" and not spells_outside and not _NER.search(old):
            del new["NER"]
        misc.append(_misc(old, new, number))
    return [sentence.words, *(layers.get(name, nothing) for name in LAYERS[:-1]), tuple(misc)]


def _given_misc(sentence: Sentence) -> tuple[str, ...]:
    if "misc" in sentence.layers or not sentence.offsets:
        return sentence.layers.get("misc", ("_",) * len(sentence))
    touching = [end == start for (_, end), (start, _) in pairwise(sentence.offsets)]
    return tuple("SpaceAfter=No" if touches else "_" for touches in (*touching, False))


def _misc(given: str, extra: Mapping[str, str], number: int) -> str:
    """The last column with these values set: in their places if they have one, else at the end."""
    if any("|" in value for value in extra.values()):
        raise DovetailError(f"sentence {number} has a value with a bar, which the last column cannot hold")
    fields = [] if given == "_" else given.split("|")
    missing = dict(extra)
    for place, field in enumerate(fields):
        name = field.partition("=")[0]
        if name in missing:
            fields[place] = f"{name}={missing.pop(name)}"
    return "|".join([*fields, *(f"{name}={value}" for name, value in missing.items())]) or "_"
