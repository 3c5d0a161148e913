"""From sentences to documents and back, and through a model: boundaries kept, memory bounded."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import chain, islice, pairwise
from typing import NamedTuple, TypeVar

from dovetail.text.sentence import Document, Sentence

MAX_SENTENCES = 1000
MAX_TOKENS = 100_000
"""A document is handed on in pieces of about so much, so that a file without boundaries is not held whole."""

LONGEST_ARTICLE = 200
"""A text of so many sentences may be one document, even if nothing says so; a longer one is a collection."""

DOCSTART = "-DOCSTART-"
"""The first column of a line that begins a document in CoNLL files; a comment of the sentence after it."""

T = TypeVar("T")
Annotate = Callable[[Iterable[Sentence]], Iterable[Sentence]]


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
    identity: str | None = None
    tokens, offset, continues = 0, 0, False
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
    text = _whole_text(member.text for member in held)
    return Document(tuple(member.sentence for member in held), text, identity, offset, continues)


def _whole_text(texts: Iterable[str | None]) -> str | None:
    known = list(texts)
    return None if None in known else "".join(filter(None, known))


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
    sentences, text = tuple(chain.from_iterable(pieces)), _whole_text(piece.text for piece in pieces)
    return Document(sentences, text, pieces[0].id, pieces[0].offset)


def marked(documents: Iterable[Document]) -> Iterator[Document]:
    """The documents with sentences that know their ``document`` by number.

    A file that is one document without a name may be any pile of sentences: its sentences belong to no document,
    unless it has a text of its own and is no longer than an article.

    >>> one, other = Document((Sentence(("a",)),)), Document((Sentence(("b",)),))
    >>> [[s.document for s in d] for d in marked([one, other])], [[s.document for s in d] for d in marked([one])]
    ([[0], [1]], [[None]])
    """
    number, told = -1, False
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


def annotate_documents(documents: Iterable[Document], annotate: Annotate) -> Iterator[Document]:
    """The documents with annotated sentences; ``annotate`` may look as far ahead in the stream as it likes.

    >>> a, b, c = (Sentence((word,)) for word in "abc")
    >>> documents = [Document((a, b)), Document(()), Document((c,))]
    >>> [len(document) for document in annotate_documents(documents, list)]
    [2, 0, 1]
    """
    waiting: deque[Document] = deque()

    def sentences() -> Iterator[Sentence]:
        for document in documents:
            waiting.append(document)
            yield from document.sentences

    done: list[Sentence] = []
    for sentence in annotate(sentences()):
        yield from _empty(waiting)
        done.append(sentence)
        if len(done) == len(waiting[0]):
            yield replace(waiting.popleft(), sentences=tuple(done))
            done = []
    yield from _empty(waiting)


def blocks(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """The items of a stream, so many at a time.

    >>> list(blocks("abc", 2))
    [['a', 'b'], ['c']]
    """
    stream = iter(items)
    while block := list(islice(stream, size)):
        yield block


def _empty(waiting: deque[Document]) -> Iterator[Document]:
    while waiting and not waiting[0].sentences:
        yield waiting.popleft()
