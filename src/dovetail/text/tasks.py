"""Texts as annotation tools show them, one at a time: whole documents, or of a pile of loose sentences each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import pairwise

from dovetail.text.documents import join_pieces
from dovetail.text.sentence import Document, Sentence
from dovetail.text.spans import with_text


def tasks(items: Iterable[Document | Sentence]) -> Iterator[Document]:
    r"""The texts to show: documents that have a name or a text whole, all others sentence by sentence.

    Words lie apart in the text, and it holds nothing else but white space (`words_apart`).

    >>> loose = Document((Sentence(("Ada", "slept")), Sentence(("She", "dreamt"))))
    >>> [document.text for document in tasks([loose])]
    ['Ada slept', 'She dreamt']
    """
    return map(_tidy, join_pieces(_cut_loose(items)))


def _cut_loose(items: Iterable[Document | Sentence]) -> Iterator[Document]:
    for item in items:
        if isinstance(item, Document) and (item.id is not None or item.text is not None):
            yield item
        else:
            yield from (Document((s,)) for s in (item if isinstance(item, Document) else (item,)) if len(s))


def _tidy(document: Document) -> Document:
    if words_apart(document):
        return _from_zero(document)
    made = with_text(replace(document, text=None, offset=0))
    return replace(made, text=(made.text or "").removesuffix("\n")) if len(made) == 1 else made


def _from_zero(document: Document) -> Document:
    """The document with offsets that count from the beginning of its text; a piece has others."""
    by = document.offset
    if not by:
        return document
    moved = (replace(s, offsets=tuple((a - by, b - by) for a, b in s.offsets or ())) for s in document)
    return replace(document, sentences=tuple(moved), offset=0)


def words_apart(document: Document) -> bool:
    """Whether the words of a document lie one after another in its text, with nothing but white space between them.

    Words of a multiword token, such as ``de`` and ``le`` for ``du``, lie at one place.

    >>> words_apart(Document((Sentence(("de", "le"), offsets=((0, 2), (0, 2))),), "du"))
    False
    """
    if document.text is None or any(sentence.offsets is None for sentence in document):
        return False
    places = [place for sentence in document for place in sentence.offsets or ()]
    words = (word for sentence in document for word in sentence)
    end = document.offset + len(document.text)
    if any(document.slice(*place) != word for place, word in zip(places, words, strict=True)):
        return False
    gaps = pairwise([(0, document.offset), *places, (end, end)])
    return all(before <= after and not document.slice(before, after).strip() for (_, before), (after, _) in gaps)


def is_annotated(document: Document) -> bool:
    """Whether somebody has looked for entities in it, though there may be none."""
    return any(sentence.spans or "ner" in sentence.layers for sentence in document)
