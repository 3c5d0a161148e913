"""DocBins of spaCy (``.spacy``): the files that spaCy trains from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from os import PathLike
from pathlib import Path
from typing import Any

from dovetail.errors import InputError
from dovetail.extras import extra
from dovetail.text.files import Source, atomic_writer, open_text
from dovetail.text.report import ReadReport, reporting
from dovetail.text.segment import Lines
from dovetail.text.sentence import Document, Sentence
from dovetail.text.spacy_docs import from_doc, to_docs

WHAT = "the format spacy (DocBin)"


def read_spacy(path: Source, lines: Lines = "auto", report: ReadReport | None = None) -> Iterator[Document]:
    """The documents of a DocBin; it is held in memory, as spaCy does, and documents are made one by one.

    ``lines`` says how sentences are found where a document has none. A file that spaCy cannot read, such as one of
    another version, is an error that says so.
    """
    known = extra("spacy.tokens", WHAT)
    vocab = extra("spacy.vocab", WHAT).Vocab()
    with open_text(path) as reader:
        name, data = reader.name, reader.data()
    try:
        found = known.DocBin().from_bytes(data)
        if strange := set(found.attrs) - set(extra("spacy.attrs", WHAT).IDS.values()):
            raise ValueError(f"it has attributes of tokens that are not known, numbers {sorted(strange)}")
        docs = iter(found.get_docs(vocab))
    except Exception as error:
        raise _unreadable(error, name) from None
    with reporting(report) as notes:
        number = 0
        while True:
            number += 1
            try:
                doc = next(docs, None)
                document = None if doc is None else from_doc(doc, lines, name, number, notes)
            except InputError:
                raise
            except Exception as error:  # spaCy's own, of all kinds, on what another version has written
                raise _unreadable(error, name, number) from None
            if document is None:
                return
            yield document


def _unreadable(error: Exception, name: str, number: int = 0) -> InputError:
    version = extra("spacy", WHAT).__version__
    told = f"{type(error).__name__}: {error}".split("\n")[0][:120]
    which = f"document {number} of this DocBin" if number else "this DocBin"
    return InputError(
        f"{which} cannot be read by spaCy {version} ({told}); is it a .spacy file, and of this version? Make it again "
        "with DocBin(docs=docs).to_disk(path)",
        name,
    )


def write_spacy(items: Iterable[Document | Sentence], path: str | PathLike[str]) -> None:
    """Write documents as a DocBin, which is held in memory until all are there.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_spacy([Sentence(("Ada", "slept"), {"ner": ("B-PER", "O")})], folder + "/a.spacy")
    ...     [document] = read_spacy(folder + "/a.spacy")
    >>> document.entities()[0].text
    'Ada'
    """
    known: Any = extra("spacy.tokens", WHAT)
    made = known.DocBin(store_user_data=True)
    with atomic_writer(Path(path) if str(path) != "-" else "-", binary=True) as file:
        for doc in to_docs(items):
            made.add(doc)
        file.write(made.to_bytes())
