"""Spans of tokens and of characters, and the way from one to the other."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import accumulate
from operator import itemgetter
from typing import NamedTuple

from dovetail.text.documents import join_pieces
from dovetail.text.sentence import Document, Sentence, Span
from dovetail.text.tags import spans_to_tags


class CharacterSpan(NamedTuple):
    """Characters ``start`` up to but not including ``end`` form a ``label``."""

    start: int
    end: int
    label: str
    probability: float | None = None


def outermost(spans: Iterable[Span]) -> list[Span]:
    """The spans that no other holds, in order; of two that cross, the first.

    >>> outermost([Span(2, 3, "LOC"), Span(0, 3, "ORG")])
    [Span(start=0, end=3, label='ORG', probability=None)]
    """
    kept: list[Span] = []
    for span in sorted(spans, key=lambda span: (span.start, -span.end)):
        if not kept or span.start >= kept[-1].end:
            kept.append(span)
    return kept


def flat_tags(spans: Iterable[Span], length: int) -> tuple[str, ...]:
    """The outermost spans as the IOB2 tags of ``length`` tokens."""
    return tuple(spans_to_tags([(s.start, s.end, s.label) for s in outermost(spans)], length))


def with_tags(sentence: Sentence) -> Sentence:
    """The sentence with the outermost of its spans as the layer ``ner``, where it lacks that."""
    if sentence.spans and "ner" not in sentence.layers:
        return sentence.with_layer("ner", flat_tags(sentence.spans, len(sentence)))
    return sentence


def all_spans(sentence: Sentence) -> tuple[Span, ...]:
    """The entities of a sentence: its spans, or where it has none those that its ``ner`` layer spells."""
    return sentence.spans or sentence.entities()


def covered_tokens(offsets: Sequence[tuple[int, int]], start: int, end: int) -> tuple[int, int]:
    """The tokens (first, last + 1) that touch characters ``start`` to ``end``; an empty range where none do.

    >>> covered_tokens([(0, 3), (4, 12), (13, 18)], 4, 14)
    (1, 3)
    """
    return bisect_right(offsets, start, key=itemgetter(1)), bisect_left(offsets, end, key=itemgetter(0))


def trimmed(span: CharacterSpan, text: str) -> CharacterSpan | None:
    """The span less the white space at its edges; None where nothing else is in it.

    >>> trimmed(CharacterSpan(0, 5, "X"), " ab  cd")
    CharacterSpan(start=1, end=3, label='X', probability=None)
    """
    covered = text[span.start : span.end]
    start = span.start + len(covered) - len(covered.lstrip())
    end = span.end - (len(covered) - len(covered.rstrip()))
    return span._replace(start=start, end=end) if start < end else None


def character_spans(document: Document) -> list[CharacterSpan]:
    """The entities of a document by their characters in its text; every sentence must have offsets.

    >>> sentence = Sentence(("Ada", "Lovelace"), spans=(Span(0, 2, "PER"),), offsets=((0, 3), (4, 12)))
    >>> character_spans(Document((sentence,), "Ada Lovelace"))
    [CharacterSpan(start=0, end=12, label='PER', probability=None)]
    """
    found = []
    for sentence in document.sentences:
        if sentence.offsets is None:
            raise ValueError("a sentence without offsets has no place in the text; see with_text")
        for span in all_spans(sentence):
            start, end = sentence.offsets[span.start][0], sentence.offsets[span.end - 1][1]
            found.append(CharacterSpan(start, end, span.label, span.probability))
    return found


def whole_documents(items: Iterable[Document | Sentence]) -> Iterator[Document]:
    """Documents with their pieces put together and with a text; a sentence alone is one."""
    documents = (item if isinstance(item, Document) else Document((item,)) for item in items)
    return map(with_text, join_pieces(documents))


def with_text(document: Document) -> Document:
    """The document itself if it has its text, else one with words separated by spaces and a sentence a line.

    >>> with_text(Document((Sentence(("Hello", "!")),))).text
    'Hello !\\n'
    """
    if document.text is not None and all(sentence.offsets is not None for sentence in document):
        return document
    lines, sentences, position = [], [], document.offset
    for sentence in document:
        starts = accumulate((len(word) + 1 for word in sentence.words), initial=position)
        offsets = [(start, start + len(word)) for start, word in zip(starts, sentence.words, strict=False)]
        sentences.append(replace(sentence, offsets=tuple(offsets)))
        lines.append(" ".join(sentence.words) + "\n")
        position += len(lines[-1])
    return replace(document, sentences=tuple(sentences), text="".join(lines))
