"""Dependencies drawn: as indented lines for a terminal, as arcs over the words in SVG."""

from __future__ import annotations

from collections.abc import Sequence

from dovetail.text.dependencies import ROOT, dependency_heads
from dovetail.text.draw_tree import draw_indented
from dovetail.text.sentence import Sentence
from dovetail.text.svg import MARGIN, SIZE, faded, svg_document, svg_text, text_width
from dovetail.text.width import printable

_GAP, _LEVEL = 18, 30


def draw_dependencies(sentence: Sentence) -> str:
    """The layers ``head`` and ``deprel`` of a sentence as indented lines, each word under its head.

    >>> sentence = Sentence(("Ada", "wrote", "notes"), {"head": ("2", "0", "2"), "deprel": ("nsubj", "root", "obj")})
    >>> print(draw_dependencies(sentence))
    wrote (root)
    ├── Ada (nsubj)
    └── notes (obj)
    """
    heads = dependency_heads(sentence, roots="any")
    relations = sentence.layers.get("deprel", ("",) * len(sentence))
    below: dict[int, list[int]] = {}
    for word, head in enumerate(heads):
        below.setdefault(head, []).append(word)

    def text(word: int) -> str:
        relation = f" ({printable(relations[word])})" if relations[word] else ""
        return printable(sentence.words[word]) + relation

    return "\n".join(draw_indented(top, text, lambda word: below.get(word, [])) for top in below.get(ROOT, []))


def dependency_svg(sentence: Sentence, probabilities: Sequence[float] | None = None, title: str | None = None) -> str:
    """The dependencies as a standalone SVG document: arcs from heads to words, with parts of speech below.

    ``probabilities`` are those of the arcs, one for each word: the less probable, the fainter.

    >>> sentence = Sentence(("Ada", "wrote"), {"head": ("2", "0"), "deprel": ("nsubj", "root")})
    >>> dependency_svg(sentence).count('class="arm"')
    2
    """
    heads = dependency_heads(sentence, roots="any")
    nothing = ("",) * len(sentence)
    relations = sentence.layers.get("deprel", nothing)
    tags = next((sentence.layers[name] for name in ("pos", "xpos", "upos") if name in sentence.layers), nothing)
    middles, x = [], float(MARGIN)
    for texts in zip(sentence.words, tags, relations, strict=True):
        width = max(map(text_width, texts))
        middles.append(x + width / 2)
        x += width + _GAP
    levels = _levels(heads)
    base = MARGIN + SIZE + _LEVEL * (max(levels, default=0) + 0.5)
    shapes = []
    for word, head in enumerate(heads):
        probability = None if probabilities is None else probabilities[word]
        shapes.append(faded(_arc(word, head, relations[word], levels[word], middles, base), probability))
        shapes.append(svg_text("word", middles[word], base + SIZE + 6, sentence.words[word]))
        shapes.append(svg_text("tag", middles[word], base + 2 * SIZE + 10, tags[word]))
    return svg_document(shapes, x - _GAP + MARGIN, base + 2 * SIZE + 10 + MARGIN, title)


def _arc(word: int, head: int, relation: str, level: int, middles: list[float], base: float) -> str:
    top = base - _LEVEL * level
    end = middles[word]
    tip = f'<path fill="#8a94a3" d="M{end:.1f} {base:.1f}l-3.5 -7h7z"/>'
    if head == ROOT:
        line = f'<path class="arm" d="M{end:.1f} {top:.1f}V{base - 6:.1f}"/>'
        return line + tip + svg_text("small", end, top - 4, relation, "#1b3a6b")
    start = middles[head] + (5 if head < word else -5)  # beside the arrow that enters the head
    bend = min(_LEVEL * 0.6, abs(end - start) / 2) * (1 if start < end else -1)
    path = f"M{start:.1f} {base:.1f}Q{start:.1f} {top:.1f} {start + bend:.1f} {top:.1f}H{end - bend:.1f}"
    line = f'<path class="arm" d="{path}Q{end:.1f} {top:.1f} {end:.1f} {base - 6:.1f}"/>'
    return line + tip + svg_text("small", (start + end) / 2, top - 4, relation, "#1b3a6b")


def _levels(heads: Sequence[int]) -> list[int]:
    """How high each word's arc goes: above all shorter ones that share words with it; those of roots highest."""
    levels = [0] * len(heads)
    highest = [0] * (len(heads) - 1)  # over each gap between two words
    arcs = [(min(word, head), max(word, head), word) for word, head in enumerate(heads) if head != ROOT]
    for left, right, word in sorted(arcs, key=lambda arc: (arc[1] - arc[0], arc[0])):
        levels[word] = 1 + max(highest[left:right])
        highest[left:right] = [levels[word]] * (right - left)
    top = 1 + max(levels, default=0)
    return [top if head == ROOT else level for head, level in zip(heads, levels, strict=True)]
