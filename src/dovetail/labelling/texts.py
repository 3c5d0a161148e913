"""The sentences that are there to be labelled, each once, and how a page shows them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from dovetail.errors import DovetailError
from dovetail.text.sentence import Document, Sentence

CONTEXT = 300
"""Characters of the neighbouring sentences that are shown, at most."""


@dataclass
class Texts:
    """Sentences by number; those with the same words are one, and empty ones are left out."""

    sentences: list[Sentence]
    given: list[Sentence]
    """As they came, with whatever is labelled in them; in the same order."""
    repeated: int = 0
    _numbers: dict[tuple[str, ...], int] = field(default_factory=dict)
    _lower: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, documents: Iterable[Document]) -> Texts:
        """The sentences of some documents.

        >>> twice = Document((Sentence(("Ada", "slept")), Sentence(("Ada", "slept"))))
        >>> texts = Texts.of([twice])
        >>> len(texts.sentences), texts.repeated
        (1, 1)
        """
        found = cls([], [])
        for document in documents:
            for sentence in document:
                found._add(sentence)
        if not found.sentences:
            raise DovetailError("there are no sentences to label; check the file and its format")
        return found

    def _add(self, sentence: Sentence) -> None:
        if not sentence.words:
            return
        if sentence.words in self._numbers:
            self.repeated += 1
            return
        self._numbers[sentence.words] = len(self.sentences)
        self.given.append(sentence)
        self.sentences.append(replace(sentence, layers={}, spans=(), tree=None, frames=None))

    def number(self, words: tuple[str, ...]) -> int | None:
        """The number of the sentence with these words; None where there is none."""
        return self._numbers.get(words)

    def __len__(self) -> int:
        return len(self.sentences)

    def shown(self, number: int) -> dict[str, Any]:
        """What a page needs to show a sentence: its words, where white space is, and what stands around it.

        >>> text = Document((Sentence(("Ada", "slept", "."), offsets=((0, 3), (4, 9), (9, 10))),), "Ada slept.")
        >>> Texts.of([text]).shown(0)["spaces"]
        [False, True, False]
        """
        sentence = self.sentences[number]
        _, places = sentence.source.placed()
        spaces = [i > 0 and begin > places[i - 1][1] for i, (begin, _) in enumerate(places)]
        before, after = self._neighbour(number, -1), self._neighbour(number, 1)
        return {
            "number": number, "words": list(sentence.words), "spaces": spaces,
            "before": before[-CONTEXT:], "after": after[:CONTEXT], "id": sentence.id or "",
        }  # fmt: skip

    def _neighbour(self, number: int, step: int) -> str:
        """The sentence before or after it in the same document."""
        other = number + step
        if not 0 <= other < len(self.sentences):
            return ""
        own, there = self.sentences[number], self.sentences[other]
        known = own.document is None and own.offsets is not None
        return there.text if known or (own.document is not None and own.document == there.document) else ""

    def search(self, wanted: str, limit: int = 30) -> list[int]:
        """The sentences that hold these characters, in order; letters in any case."""
        if not self._lower:
            self._lower = [sentence.text.lower() for sentence in self.sentences]
        key = wanted.lower()
        found: list[int] = []
        for number, text in enumerate(self._lower):
            if key in text:
                found.append(number)
                if len(found) == limit:
                    break
        return found


def tokens_of(sentences: Sequence[Sentence]) -> int:
    """How many words they have."""
    return sum(map(len, sentences))
