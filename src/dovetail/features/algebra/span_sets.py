"""Templates of segments, their named sets, and what resources add to them."""

from __future__ import annotations

from typing import ClassVar

from dovetail.features.algebra.features import Features, Named
from dovetail.features.algebra.spans import ANCHORS, PHRASE, parse_span

_LIANG_BOUNDARIES = tuple(
    f"{name}[{where}]"
    for where in ("start - 1", "start", "end", "end + 1")
    for name in ("word", "lower", "type", "short_type", "prefix(1, 4)", "suffix(1, 4)")
)

ENTITY_LINES = (
    "bias[inside]", "word[inside]", "lower[inside]", "ngrams(1, 6)[inside]", "shape[inside]", "pos[inside]",
    "bias[start]", "bias[end]", "word[start - 2:start + 2]", "word[end - 1:end + 3]", "lower[start - 1:start + 2]",
    "lower[end - 1:end + 2]", "prefix(1, 4)[start - 1:start + 1]", "suffix(1, 4)[start - 1:start + 1]",
    "prefix(1, 4)[end:end + 2]", "suffix(1, 4)[end:end + 2]", "shape[start - 2:start + 2]", "shape[end - 1:end + 3]",
    "pos[start - 2:start + 2]", "pos[end - 1:end + 3]", "word[start - 1] & word[start]", "word[end] & word[end + 1]",
    "word[start - 1] & shape[start]", "shape[end] & word[end + 1]", "shape[start - 1] & shape[start]",
    "shape[end] & shape[end + 1]",
)  # fmt: skip
"""What is seen of an entity inside it and at its ends."""

WHOLE_LINES = ("pos[start - 1] & pos[start]", "pos[end] & pos[end + 1]", "phrase", "lower(phrase)", "shape(phrase)")
"""What is seen of it as a whole, and of the parts of speech at its edges."""

SPAN_SETS: Named = {
    "liang-ner-spans": ("Liang 2005, figure 5-4, the regular features of the semi-Markov model", (
        "bias[start]", *_LIANG_BOUNDARIES, "word[start - 1] & word[start]", "word[end] & word[end + 1]", "phrase",
        "lower(phrase)", "type(phrase)", "short_type(phrase)",
    )),
    "liang-segmentation-spans": (
        "Liang 2005, figure 5-2, the regular features of the semi-Markov model over characters", (
        "bias[start]", "word[start - 2:start + 1]", "word[end:end + 3]", "word[start - 2] & word[start - 1]",
        "word[start - 1] & word[start]", "word[end] & word[end + 1]", "word[end + 1] & word[end + 2]", "phrase",
        ),
    ),
    "words-spans": ("our own set for words as segments of characters", (
        "bias[start]", "word[start - 2:start + 3]", "word[end - 2:end + 3]", "word[start - 2] & word[start - 1]",
        "word[start - 1] & word[start]", "word[start] & word[start + 1]", "word[start + 1] & word[start + 2]",
        "word[start - 1] & word[start + 1]", "word[end - 1] & word[end]", "word[end] & word[end + 1]",
        "word[end - 1] & word[end + 1]", "kind[start - 2:start + 3]", "kind[start - 1] & kind[start]",
        "kind[start - 1] & kind[start] & kind[start + 1]", "kind[end] & kind[end + 1]",
        "kind[end - 1] & kind[end] & kind[end + 1]", "again[start]", "again[start + 1]", "again[end]", "phrase",
        "length",
    )),
    "none-spans": ("next to nothing: for an encoder alone", ("bias[start]",)),
    "ner-spans": ("our own set for named entities as segments of words", (
        *ENTITY_LINES, "shape[start - 2] & shape[start - 1] & shape[start]",
        "shape[end] & shape[end + 1] & shape[end + 2]", *WHOLE_LINES,
    )),
}  # fmt: skip

BITS = "4, 6, 8, 10, 12, 16, 0"
USUAL: dict[str, tuple[str, ...]] = {
    "clusters": (
        *(f"cluster({{name}}, {BITS})[{where}]" for where in ("start - 1:start + 1", "end:end + 2")),
        *(f"cluster({{name}}, {bits}, phrase)" for bits in (4, 8, 12, 0)),
    ),
    "lexicon": ("lexicon({name}, phrase)", "lexicon({name})[start]", "lexicon({name})[end]"),
    "vectors": ("vector({name})[inside]", "vector({name})[start - 1]", "vector({name})[end + 1]"),
    "hints": tuple(f"hint({{name}})[{where}]" for where in ("inside", "start - 1:start + 1", "end:end + 2")),
    "association": ("association({name})[start]", "association({name})[start + 1]", "association({name}, phrase)"),
    "variety": (
        *(f"variety_before({{name}}, {n})[start]" for n in (2, 3, 4)),
        *(f"variety_after({{name}}, {n})[start]" for n in (2, 3, 4)),
        *(f"variety_{side}({{name}}, {n})[end - {n - 1}]" for n in (2, 3, 4) for side in ("before", "after")),
    ),
}
"""The templates that a resource of each kind adds to a set."""


class SpanFeatures(Features):
    """Templates of segments under a name: of their start, their end, each token inside, and of them as a whole.

    >>> SpanFeatures.of(["word[start - 1:start + 1]", "phrase", "length"]).lines()
    ['word[start - 1]', 'word[start]', 'phrase', 'length']
    """

    PARTS: ClassVar = (*ANCHORS, PHRASE)
    SETS: ClassVar = SPAN_SETS
    USUAL: ClassVar = USUAL
    WHAT: ClassVar = " of segments"
    parse = staticmethod(parse_span)


span_features = SpanFeatures.of
