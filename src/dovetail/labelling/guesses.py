"""What a model shows of a sentence: its guess, how probable that is, what else may be, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from dovetail.text.sentence import Sentence, Span

ALTERNATIVES = 8
"""Answers in which other entities are looked for."""
LEAST = 0.1
"""How probable something else must be to be shown."""
SHOWN = 6
"""Features for and against that are shown."""
ALSO = {
    "PERSON": "PER", "LOCATION": "LOC", "PLACE": "LOC", "GPE": "LOC", "ORGANIZATION": "ORG", "ORGANISATION": "ORG",
    "OTHER": "MISC", "OTH": "MISC", "MISCELLANEOUS": "MISC",
}  # fmt: skip
"""Names of labels that mean the same."""


@dataclass
class Guesser:
    """A model, and how its labels are called here."""

    model: Any
    task: str
    labels: Sequence[str]
    name: str
    own: bool = True
    """It was trained on what is labelled here."""
    called: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        types = self.types()
        self.called = {name: label for name in types for label in self.labels if same(name, label)}

    def types(self) -> tuple[str, ...]:
        """The labels that the model knows."""
        known = getattr(getattr(self.model, "model_", None), "labels", None)
        found = getattr(known, "types", None) or getattr(self.model, "classes_", None) or ()
        return tuple(dict.fromkeys(name[2:] if name[:2] in ("B-", "I-") else name for name in found if name != "O"))

    def guess(self, sentence: Sentence) -> dict[str, Any]:
        """The answer of the model as a page shows it; spans and labels with their probabilities."""
        if self.task == "words":
            return self._words(sentence)
        if hasattr(self.model, "predict_marginals") and getattr(self.model, "kind", "") == "nested":
            every = self.model.predict_marginals([sentence], LEAST)[0]
            best = self.model.predict([sentence])[0]
            return self._spans(best, every)
        [annotated] = self.model.annotate([sentence])
        return self._spans(annotated.spans, self._others(sentence))

    def _others(self, sentence: Sentence) -> list[Span]:
        """Entities of the most probable answers, each with the share of these that have it."""
        shares: dict[tuple[int, int, str], float] = {}
        for answer in self.model.kbest([sentence], ALTERNATIVES)[0]:
            for span in answer.spans or ():
                key = span.start, span.end, span.label
                shares[key] = shares.get(key, 0.0) + (answer.probability or 0.0)
        return [Span(*key, probability=min(share, 1.0)) for key, share in shares.items() if share >= LEAST]

    def _spans(self, best: Sequence[Span], every: Sequence[Span]) -> dict[str, Any]:
        known = [span for span in best if span.label in self.called]
        if self.task != "nested":
            known = _outer(known)
        chosen = {(span.start, span.end, span.label) for span in known}
        other = [s for s in every if (s.start, s.end, s.label) not in chosen and s.label in self.called]
        other.sort(key=lambda span: -(span.probability or 0.0))
        return {"entities": [self._told(s) for s in known], "maybe": [self._told(s) for s in other[:ALTERNATIVES]]}

    def _told(self, span: Span) -> list[Any]:
        return [span.start, span.end, self.called[span.label], round(span.probability or 0.0, 4)]

    def _words(self, sentence: Sentence) -> dict[str, Any]:
        names, rows = self.model.classes_, self.model.predict_marginals([sentence])[0]
        found = []
        for row, best in zip(rows, self.model.predict([sentence])[0], strict=True):
            ranked = sorted(zip(names, row.tolist(), strict=True), key=lambda pair: (pair[0] != best, -pair[1]))
            told = [[self.called[name], round(p, 4)] for name, p in ranked if name in self.called]
            found.append([pair for n, pair in enumerate(told) if n == 0 or pair[1] >= LEAST][:4])
        return {"words": found}

    def why(self, sentence: Sentence, position: int) -> dict[str, Any]:
        """The tag of a word, its rivals, and the features that speak for and against it, strongest first."""
        told: dict[str, Any] = {"by": self.name, "word": sentence.words[position], "position": position}
        if not hasattr(self.model, "explain"):
            return told | self._spans_over(sentence, position)
        found = self.model.explain(sentence, position)
        return told | {
            "tag": in_words(found.tag),
            "rival": in_words(found.rival),
            "alternatives": [[in_words(tag), round(p, 4)] for tag, p in found.alternatives[:5] if p >= 0.0005],
            "for": [[e.feature, round(e.margin, 3)] for e in found.for_tag[:SHOWN]],
            "against": [[e.feature, round(-e.margin, 3)] for e in found.against_tag[:SHOWN]],
        }

    def _spans_over(self, sentence: Sentence, position: int) -> dict[str, Any]:
        """Of a model that names no features: the entities over the word, by probability."""
        spans = [s for s in self.model.predict_marginals([sentence], 0.01)[0] if s.start <= position < s.end]
        spans.sort(key=lambda span: -(span.probability or 0.0))
        rows = [
            [f"{s.label}: {' '.join(sentence.words[s.start : s.end])}", round(s.probability or 0.0, 4)] for s in spans
        ]
        return {
            "tag": spans[0].label if spans else "no entity",
            "rival": "",
            "alternatives": rows[:5],
            "for": [],
            "against": [],
        }

    def answers(self, sentences: Sequence[Sentence]) -> list[list[list[Any]]]:
        """Plain answers to many sentences, to be counted against those of annotators."""
        if self.task == "words":
            return [[[self.called.get(tag)] for tag in tags] for tags in self.model.predict(list(sentences))]
        found = []
        for annotated in self.model.annotate(list(sentences)):
            spans = [s for s in annotated.spans if s.label in self.called]
            kept = spans if self.task == "nested" else _outer(spans)
            found.append([[s.start, s.end, self.called[s.label]] for s in kept])
        return found


def in_words(tag: str) -> str:
    """A tag as people say it.

    >>> in_words("B-PER"), in_words("I-PER"), in_words("O"), in_words("NOUN")
    ('PER', 'PER (inside)', 'no entity', 'NOUN')
    """
    plain = {"B-": tag[2:], "I-": f"{tag[2:]} (inside)"}.get(tag[:2], tag)
    return "no entity" if tag == "O" else plain


def same(theirs: str, ours: str) -> bool:
    """Whether two labels mean the same.

    >>> same("PERSON", "PER"), same("per", "PER"), same("PER", "LOC")
    (True, True, False)
    """
    a, b = theirs.upper(), ours.upper()
    return a == b or ALSO.get(a, a) == ALSO.get(b, b)


def _outer(spans: Sequence[Span]) -> list[Span]:
    from dovetail.text.spans import outermost

    return outermost(spans)
