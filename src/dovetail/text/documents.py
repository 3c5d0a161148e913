"""From sentences to documents and back: boundaries kept, memory bounded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain, pairwise
from typing import NamedTuple

from dovetail.text.sentence import Document, Sentence

MAX_SENTENCES = 1000
MAX_TOKENS = 100_000
"""A document is handed on in pieces of about so much, so that a file without boundaries is not held whole."""

LONGEST_ARTICLE = 200
"""A text of so many sentences may be one document, even if nothing says so; a longer one is a collection."""

DOCSTART = "-DOCSTART-"
"""The first column of a line that begins a document in CoNLL files; a comment of the sentence after it."""


class Member(NamedTuple):
    """A sentence on its way into a document: whether it begins one, and the text it adds, if known."""

    sentence: Sentence
    starts: bool = False
    id: str | None = None
    text: str | None = None


def group(members: Iterable[Member]) -> Iterator[Document]:
    """Documents from a stream of sentences, long ones in pieces that say that they continue.

    >>> stream = [Member(Sentence(("a",)), True), Member(Sentence(("b",))), Member(Sentence(("c",)), True)]
    >>> [len(document) for document in group(stream)]
    [2, 1]
    """
    held: list[Member] = []
    tokens = 0
    offset = 0
    identity: str | None = None
    continues = False
    for member in members:
        full = len(held) >= MAX_SENTENCES or tokens >= MAX_TOKENS
        if held and (member.starts or full):
            document = _piece(held, identity, offset, continues)
            yield document
            offset += len(document.text or "")
            held, tokens, continues = [], 0, True
        if member.starts:
            offset, continues, identity = 0, False, member.id
        held.append(member)
        tokens += len(member.sentence.words)
    if held:
        yield _piece(held, identity, offset, continues)


def _piece(held: list[Member], identity: str | None, offset: int, continues: bool) -> Document:
    texts = [member.text for member in held if member.text is not None]
    text = "".join(texts) if len(texts) == len(held) else None
    return Document(tuple(member.sentence for member in held), text, identity, offset, continues)


def ungroup(items: Iterable[Document | Sentence]) -> Iterator[tuple[Sentence, Document | None, bool]]:
    """Each sentence with its document, and whether it is that document's first.

    >>> [(s.words, first) for s, _, first in ungroup([Sentence(("a",)), Document((Sentence(("b",)),))])]
    [(('a',), False), (('b',), True)]
    """
    for item in items:
        if isinstance(item, Sentence):
            yield item, None, False
        else:
            for position, sentence in enumerate(item.sentences):
                yield sentence, item, position == 0 and not item.continues


def join_pieces(documents: Iterable[Document]) -> Iterator[Document]:
    """Each document whole: its pieces put together, which holds all of it in memory.

    >>> pieces = [Document((Sentence(("a",)),), "a "), Document((Sentence(("b",)),), "b", None, 2, True)]
    >>> [document.text for document in join_pieces(pieces)]
    ['a b']
    """
    held: list[Document] = []
    for document in documents:
        if held and not document.continues:
            yield _joined(held)
            held = []
        held.append(document)
    if held:
        yield _joined(held)


def _joined(pieces: list[Document]) -> Document:
    texts = [piece.text for piece in pieces if piece.text is not None]
    return Document(
        tuple(sentence for piece in pieces for sentence in piece),
        "".join(texts) if len(texts) == len(pieces) else None,
        pieces[0].id,
        pieces[0].offset,
    )


def marked(documents: Iterable[Document]) -> Iterator[Document]:
    """The documents with sentences that know their ``document`` by number.

    A file that is one document without a name may be any pile of sentences: its sentences belong to no document,
    unless it has a text of its own and is no longer than an article.

    >>> one, other = Document((Sentence(("a",)),)), Document((Sentence(("b",)),))
    >>> [[s.document for s in d] for d in marked([one, other])], [[s.document for s in d] for d in marked([one])]
    ([[0], [1]], [[None]])
    """
    number = -1
    told = False
    for document, following in pairwise(chain(documents, [None])):
        assert document is not None
        if not document.continues:
            number += 1
            alone = number == 0 and (following is None or following.continues)
            article = document.text is not None and len(document) <= LONGEST_ARTICLE and following is None
            told = not alone or document.id is not None or article
        if told:
            document = replace(document, sentences=tuple(replace(s, document=number) for s in document))
        yield document
