"""Documents through a model: many small ones in one batch, long ones piece by piece, in bounded memory."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import islice
from typing import TypeVar

from dovetail.text.sentence import Document, Sentence

T = TypeVar("T")

Annotate = Callable[[Iterable[Sentence]], Iterable[Sentence]]


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
