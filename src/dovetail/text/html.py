"""Sentences and documents as HTML, for notebooks: entities as coloured marks, trees and dependencies as pictures.

Colours are thin enough to be read on white and on black; the letters keep the colour of the page.
"""

from __future__ import annotations

import zlib
from base64 import b64encode
from collections.abc import Iterable
from html import escape
from itertools import pairwise
from typing import TYPE_CHECKING

from dovetail.errors import InputError
from dovetail.text.links import Link
from dovetail.text.sentence import Document, Sentence, Span

if TYPE_CHECKING:
    from dovetail.text.bitext import Pair

_HUES = {"PER": 210, "PERSON": 210, "LOC": 140, "GPE": 140, "ORG": 30, "MISC": 280}
_BLOCK = "margin:0.3em 0;line-height:2.1;white-space:pre-wrap;max-width:60em"
_MARK = "padding:0.2em 0.3em;border-radius:0.35em;border:1px solid hsl({hue} 70% 50% / 0.55)"
_CHIP = "font-size:0.7em;font-weight:600;margin-left:0.4em;opacity:0.85;white-space:nowrap"


def sentence_html(sentence: Sentence) -> str:
    """The text of a sentence with its entities marked, and its tree and dependencies.

    >>> ada = Sentence(("Ada", "<3"), {"ner": ("B-PER", "O")})
    >>> "Ada" in sentence_html(ada), "&lt;3" in sentence_html(ada)
    (True, True)
    """
    return _block(_marked(sentence)) + _tree(sentence) + _dependencies(sentence)


def document_html(document: Document) -> str:
    """The text of a document with its entities marked; with pictures, a sentence at a time."""
    if any(sentence.tree is not None or "head" in sentence.layers for sentence in document):
        return "".join(map(sentence_html, document))
    if document.text is None or any(sentence.offsets is None for sentence in document):
        return "".join(_block(_marked(sentence)) for sentence in document)
    edges = [(document.offset, document.offset)]
    edges += [(s.offsets[0][0], s.offsets[-1][1]) for s in document if s.offsets]
    gaps = [escape(document.slice(before[1], after[0])) for before, after in pairwise(edges)]
    marked = [_marked(sentence) for sentence in document if sentence.offsets]
    rest = escape(document.slice(edges[-1][1], document.offset + len(document.text)))
    return _block("".join(gap + text for gap, text in zip(gaps, marked, strict=True)) + rest)


def alternatives_html(answers: Iterable[tuple[float | None, Sentence]]) -> str:
    """Other answers to a sentence, each with its probability, folded away until somebody asks for them.

    >>> print(alternatives_html([]), "0.25" in alternatives_html([(0.25, Sentence(("Ada",)))]))
     True
    """
    shown = "".join(f"<div>{'' if p is None else f'{p:.3f}'}{sentence_html(one)}</div>" for p, one in answers)
    return f'<details class="dovetail"><summary>other answers</summary>{shown}</details>' if shown else ""


def links_html(pair: Pair, links: Iterable[Link]) -> str:
    """The links between the words of a sentence and of its translation, as a picture.

    >>> from dovetail.text.bitext import Pair
    >>> "<img" in links_html(Pair(("das", "Haus"), ("the", "house")), [Link(0, 0), Link(1, 1)])
    True
    """
    from dovetail.text.links_svg import links_svg

    return _picture("links", links_svg(pair, links))


def hue(label: str) -> int:
    """The colour of a label, the same everywhere."""
    return _HUES.get(label, zlib.crc32(label.encode()) % 12 * 30)


def _block(inner: str) -> str:
    return f'<div class="dovetail" style="{_BLOCK}">{inner}</div>'


def _marked(sentence: Sentence) -> str:
    """The text of a sentence with marks around its entities, those within others inside their marks."""
    text, places = sentence.source.placed()
    spans = sorted(sentence.spans or sentence.entities(), key=lambda span: (span.start, -span.end))
    parts: list[str] = []
    open_spans: list[Span] = []
    crossing, done = [], 0
    for position, (begin, end) in enumerate(places):
        parts.append(escape(text[done:begin]))
        while spans and spans[0].start == position:
            span = spans.pop(0)
            if open_spans and span.end > open_spans[-1].end:
                crossing.append(span)
            else:
                open_spans.append(span)
                colour = f"hsl({hue(span.label)} 70% 50% / 0.2)"
                parts.append(f'<span style="background:{colour};{_MARK.format(hue=hue(span.label))}">')
        parts.append(escape(text[begin:end]))
        done = end
        while open_spans and open_spans[-1].end == position + 1:
            parts.append(f"{_chip(open_spans.pop())}</span>")
    # Entities that cross others, which no mark can show, by their words.
    parts += [f' <span style="opacity:0.75">also {escape(span.text)}{_chip(span)}</span>' for span in crossing]
    return "".join(parts)


def _chip(span: Span) -> str:
    sure = f" {span.probability:.2f}" if span.probability is not None else ""
    return f'<span style="{_CHIP}">{escape(span.label)}{sure}</span>'


def _tree(sentence: Sentence) -> str:
    if sentence.tree is None:
        return ""
    from dovetail.text.tree_svg import tree_svg

    return _picture("tree", tree_svg(sentence.tree, sentence.spans))


def _dependencies(sentence: Sentence) -> str:
    """The arcs over the words; none where the layer ``head`` is no tree, which is to be shown all the same."""
    if "head" not in sentence.layers or not len(sentence):
        return ""
    from dovetail.text.draw_dependencies import dependency_svg

    try:
        return _picture("dependencies", dependency_svg(sentence))
    except InputError:
        return ""


def _picture(name: str, svg: str) -> str:
    """An image of its own, so that its style touches nothing else on the page."""
    data = b64encode(svg.encode()).decode()
    frame = f'<div style="overflow-x:auto" tabindex="0" role="region" aria-label="{name}">'
    return f'{frame}<img alt="{name}" src="data:image/svg+xml;base64,{data}"></div>'
