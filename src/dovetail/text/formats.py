"""All formats by name: reading and writing where only the name of the file is known."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import Any, NamedTuple

from dovetail.errors import DovetailError
from dovetail.text.brackets import read_brackets, write_brackets
from dovetail.text.brat import read_brat, write_brat
from dovetail.text.conll import read_conll, write_conll
from dovetail.text.conllu import read_conllu, write_conllu
from dovetail.text.docbin import read_spacy, write_spacy
from dovetail.text.doccano import read_doccano, write_doccano
from dovetail.text.documents import marked
from dovetail.text.given import as_sentence, kind_of
from dovetail.text.jsonl import read_jsonl, write_jsonl
from dovetail.text.label_studio import read_label_studio, write_label_studio
from dovetail.text.plain import read_text, write_text
from dovetail.text.prodigy import read_prodigy, write_prodigy
from dovetail.text.sentence import Document, Sentence


class Format(NamedTuple):
    """How a format is read and written, and the endings of its files."""

    read: Callable[..., Iterator[Document]]
    write: Callable[..., None]
    suffixes: tuple[str, ...]


FORMATS: dict[str, Format] = {
    "conll": Format(read_conll, write_conll, (".conll", ".conll03", ".bio", ".iob", ".iob2", ".iobes", ".tsv")),
    "conllu": Format(read_conllu, write_conllu, (".conllu",)),
    "jsonl": Format(read_jsonl, write_jsonl, (".jsonl", ".ndjson", ".json")),
    "text": Format(read_text, write_text, (".txt", ".text")),
    "brat": Format(read_brat, write_brat, (".ann",)),
    "brackets": Format(read_brackets, write_brackets, (".mrg", ".ptb", ".tree", ".trees", ".brackets", ".psd")),
    "prodigy": Format(read_prodigy, write_prodigy, (".prodigy.jsonl",)),
    "doccano": Format(read_doccano, write_doccano, (".doccano.jsonl",)),
    "label-studio": Format(read_label_studio, write_label_studio, (".label-studio.json",)),
    "spacy": Format(read_spacy, write_spacy, (".spacy",)),
}


def read(path: str | PathLike[str], format: str | None = None, **options: Any) -> Iterator[Document]:
    """The documents of a file. ``options`` are those of the format's own reader.

    Without a ``format`` it is taken from the ending of the name (``.gz`` aside); a folder is read as brat standoff.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write([Sentence(("Bern",), {"ner": ("B-LOC",)})], folder + "/a.conll.gz")
    ...     [document] = read(folder + "/a.conll.gz")
    >>> document.sentences[0].words
    ('Bern',)
    """
    return marked(_format_of(path, format).read(path, **options))


def sentences(path: str | PathLike[str], format: str | None = None, **options: Any) -> Iterator[Sentence]:
    """The sentences of a file, one by one; the arguments are those of `read`."""
    for document in read(path, format, **options):
        yield from document


def write(
    items: Document | Sentence | Iterable[Document | Sentence | Sequence[str]],
    path: str | PathLike[str],
    format: str | None = None,
    **options: Any,
) -> None:
    """Write documents or sentences in the format that is named, else in the one that the file name ends in.

    A document or sentence may come alone, and a sentence may be a list of words.
    """
    _format_of(path, format).write(_items(items), path, **options)


def _items(given: Any) -> Iterator[Document | Sentence]:
    """What there is to write, one by one; a string, or anything else that cannot be written, is an error at once."""
    if isinstance(given, Document | Sentence):
        return iter([given])
    if isinstance(given, str):
        raise DovetailError("give documents or sentences to write; dovetail.segment(text) finds those of a text")
    if isinstance(given, bytes | Mapping) or not isinstance(given, Iterable):
        raise DovetailError(f"give documents or sentences to write; this is {kind_of(given)}")
    return (i if isinstance(i, Document | Sentence) else as_sentence(i, n) for n, i in enumerate(given, 1))


def guess_format(path: str | PathLike[str]) -> str | None:
    """The name of the format that a file name ends in; None if it is that of no format.

    >>> guess_format("train.conll.gz"), guess_format("-")
    ('conll', None)
    """
    name = Path(fspath(path).removesuffix(".gz")).name.lower()
    ending = "".join(Path(name).suffixes[-2:])
    for suffix in (ending, Path(name).suffix):  # .prodigy.jsonl before .jsonl
        for format, known in FORMATS.items():
            if suffix in known.suffixes:
                return format
    return "brat" if Path(path).is_dir() else None


def _format_of(path: str | PathLike[str], name: str | None) -> Format:
    found = name or guess_format(path)
    if found is None or found not in FORMATS:
        listing = ", ".join(f"{known} ({' '.join(form.suffixes)})" for known, form in FORMATS.items())
        what = f"unknown format {found!r}" if found else f"{path}: no format ends like this name"
        raise DovetailError(f"{what}; name one of: {listing}")
    return FORMATS[found]
