"""All formats by name: reading and writing where only the name of the file is known."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from os import PathLike, fspath
from pathlib import Path
from typing import Any, NamedTuple

from dovetail.errors import DovetailError
from dovetail.text.brackets import read_brackets, write_brackets
from dovetail.text.brat import read_brat, write_brat
from dovetail.text.conll import read_conll, write_conll
from dovetail.text.conllu import read_conllu, write_conllu
from dovetail.text.conllup import read_conllup, write_conllup
from dovetail.text.csv_spans import read_csv, write_csv
from dovetail.text.docbin import read_spacy, write_spacy
from dovetail.text.doccano import read_doccano, write_doccano
from dovetail.text.documents import marked
from dovetail.text.given import as_sentence, kind_of
from dovetail.text.huggingface import MARKS, read_huggingface, write_huggingface
from dovetail.text.jsonl import read_jsonl, write_jsonl
from dovetail.text.label_studio import read_label_studio, write_label_studio
from dovetail.text.plain import read_text, write_text
from dovetail.text.prodigy import read_prodigy, write_prodigy
from dovetail.text.sentence import Document, Sentence
from dovetail.text.tmx_texts import read_tmx_texts, write_tmx_texts
from dovetail.text.webanno import is_webanno, read_webanno, write_webanno


class Format(NamedTuple):
    """How a format is read and written, the endings of its files, and what it keeps of what is known of a sentence."""

    read: Callable[..., Iterator[Document]]
    write: Callable[..., None]
    suffixes: tuple[str, ...]
    keeps: frozenset[str] = frozenset()
    """Names of `kept.KINDS`, and of layers beside ``ner``."""


def _keeps(names: str) -> frozenset[str]:
    return frozenset(names.split())


_CONLLU = "words ner pos lemma upos xpos feats head deprel deps misc text ids comments"
_ALL = "words layers text nested probabilities trees frames ids comments"

FORMATS: dict[str, Format] = {
    "conll": Format(
        read_conll,
        write_conll,
        (".conll", ".conll03", ".bio", ".iob", ".iob2", ".iobes", ".tsv"),
        _keeps("words layers comments"),
    ),
    "conllu": Format(read_conllu, write_conllu, (".conllu",), _keeps(_CONLLU)),
    "conllup": Format(read_conllup, write_conllup, (".conllup",), _keeps(f"{_CONLLU} frames")),
    "jsonl": Format(read_jsonl, write_jsonl, (".jsonl", ".ndjson", ".json"), _keeps(_ALL)),
    "text": Format(read_text, write_text, (".txt", ".text")),
    "brat": Format(read_brat, write_brat, (".ann",), _keeps("text ner nested probabilities documents")),
    "brackets": Format(
        read_brackets,
        write_brackets,
        (".mrg", ".ptb", ".tree", ".trees", ".brackets", ".psd"),
        _keeps("words pos trees"),
    ),
    "csv": Format(read_csv, write_csv, (".csv",), _keeps("text ner nested probabilities documents")),
    "prodigy": Format(
        read_prodigy, write_prodigy, (".prodigy.jsonl",), _keeps("text ner nested probabilities documents")
    ),
    "doccano": Format(read_doccano, write_doccano, (".doccano.jsonl",), _keeps("text ner nested documents")),
    "label-studio": Format(
        read_label_studio,
        write_label_studio,
        (".label-studio.json",),
        _keeps("text ner nested probabilities documents"),
    ),
    "webanno": Format(
        read_webanno, write_webanno, (".webanno.tsv",), _keeps("words text ner nested pos lemma head deprel documents")
    ),
    "huggingface": Format(read_huggingface, write_huggingface, (".parquet", ".arrow"), _keeps(_ALL)),
    "spacy": Format(read_spacy, write_spacy, (".spacy",), _keeps(_ALL)),
    "tmx": Format(read_tmx_texts, write_tmx_texts, (".tmx",), _keeps("text translations")),
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


def documents_in(given: Any) -> Iterator[Document]:
    """The documents that were given; sentences that come without any are one."""
    for together, some in groupby(_items(given), key=lambda item: isinstance(item, Document)):
        members: Any = list(some)
        yield from members if together else [Document(tuple(members))]


def guess_format(path: str | PathLike[str]) -> str | None:
    """The name of the format that a file name ends in; None if it is that of no format.

    >>> guess_format("train.conll.gz"), guess_format("-")
    ('conll', None)
    """
    if Path(path).is_dir():
        return "huggingface" if any((Path(path) / mark).exists() for mark in MARKS) else "brat"
    name = Path(fspath(path).removesuffix(".gz")).name.lower()
    ending = "".join(Path(name).suffixes[-2:])
    for suffix in (ending, Path(name).suffix):  # .prodigy.jsonl before .jsonl
        for format, known in FORMATS.items():
            if suffix in known.suffixes:
                is_other = suffix == ".tsv" and Path(path).is_file() and is_webanno(Path(path))
                return "webanno" if is_other else format
    return None


def _format_of(path: str | PathLike[str], name: str | None) -> Format:
    found = name or guess_format(path)
    if found is None or found not in FORMATS:
        listing = ", ".join(f"{known} ({' '.join(form.suffixes)})" for known, form in FORMATS.items())
        what = f"unknown format {found!r}" if found else f"{path}: no format ends like this name"
        raise DovetailError(f"{what}; name one of: {listing}")
    return FORMATS[found]
