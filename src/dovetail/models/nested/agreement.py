"""Agreement within a document: the same words tend to be the same entity wherever they come.

With p the probability of an entity, and q the mean of those of the same label over the same words at their other places
in the document, its probability becomes ``(1 - strength) p + strength q``. The places of some words are those where any
entity over them is at all probable.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from dovetail.text.sentence import Sentence, Span

LEAST = 0.02  # of an entity to be looked at


def agreed(sentences: Sequence[Sentence], found: Sequence[Sequence[Span]], strength: float) -> list[list[Span]]:
    """The entities of some sentences with probabilities that lean towards agreement.

    >>> text = [Sentence(("Basel",), document=1), Sentence(("Basel",), document=1)]
    >>> agreed(text, [[Span(0, 1, "LOC", 0.8)], [Span(0, 1, "LOC", 0.4)]], 0.25)
    [[Span(start=0, end=1, label='LOC', probability=0.7)], [Span(start=0, end=1, label='LOC', probability=0.5)]]
    """
    answer = [list(spans) for spans in found]
    places: dict[tuple[object, tuple[str, ...]], dict[tuple[int, int], list[int]]] = defaultdict(dict)
    for i, (sentence, spans) in enumerate(zip(sentences, found, strict=True)):
        if sentence.document is not None:
            for k, span in enumerate(spans):
                words = (sentence.document, sentence.words[span.start : span.end])
                places[words].setdefault((i, span.start), []).append(k)
    for same in places.values():
        if len(same) < 2:
            continue
        total: dict[str, float] = defaultdict(float)
        for (i, _), numbers in same.items():
            for k in numbers:
                total[found[i][k].label] += found[i][k].probability or 0.0
        for (i, _), numbers in same.items():
            for k in numbers:
                own = found[i][k].probability or 0.0
                others = (total[found[i][k].label] - own) / (len(same) - 1)
                answer[i][k] = replace(found[i][k], probability=round((1 - strength) * own + strength * others, 12))
    return answer
