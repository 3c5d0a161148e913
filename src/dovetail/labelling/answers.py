"""What all annotators have said so far: their latest answers, what can be taken back, and what a model learns from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from dovetail.labelling.store import Entry
from dovetail.labelling.tasks import Task
from dovetail.labelling.texts import Texts
from dovetail.text.sentence import Sentence

Words = tuple[str, ...]


@dataclass
class Answers:
    """Entries by sentence and annotator; a sentence is known by its words.

    >>> from dovetail.labelling.tasks import TASKS
    >>> answers = Answers(TASKS["entities"])
    >>> answers.hear(Entry(("Ada",), "ann", "done", [[0, 1, "PER"]]), Entry(("Ada",), "ann", "undone"))
    >>> answers.done(), answers.of(("Ada",), "ann")
    ([], None)
    """

    task: Task
    _said: dict[Words, dict[str, list[Entry]]] = field(default_factory=dict)
    _order: dict[str, list[Words]] = field(default_factory=dict)
    """The sentences of each annotator, the latest last: what undo goes back through."""
    _heard: dict[int, int] = field(default_factory=dict)
    """The place of each entry among all that were heard: clocks are too coarse to tell which came first."""
    _count: int = 0

    def hear(self, *entries: Entry) -> None:
        """Entries in the order in which they were made."""
        for entry in entries:
            said = self._said.setdefault(entry.words, {}).setdefault(entry.annotator, [])
            order = self._order.setdefault(entry.annotator, [])
            if entry.state != "undone":
                self._heard[id(entry)] = self._count
                self._count += 1
                said.append(entry)
                order.append(entry.words)
            elif said:
                said.pop()
                last = len(order) - 1 - order[::-1].index(entry.words)
                del order[last]

    def of(self, words: Words, annotator: str) -> Entry | None:
        """The latest of an annotator about a sentence."""
        said = self._said.get(words, {}).get(annotator)
        return said[-1] if said else None

    def latest(self, annotator: str) -> Entry | None:
        """The last that an annotator said, which undo takes back."""
        order = self._order.get(annotator)
        return self.of(order[-1], annotator) if order else None

    def annotators(self, words: Words, state: str = "done") -> list[str]:
        """Who has said this of a sentence last."""
        return [name for name, said in self._said.get(words, {}).items() if said and said[-1].state == state]

    def count(self, annotator: str) -> int:
        """How many sentences an annotator has labelled."""
        return sum(self._state(said.get(annotator)) == "done" for said in self._said.values())

    def in_state(self, state: str) -> list[Words]:
        """The sentences of which somebody has said this last."""
        return [words for words in self._said if self.annotators(words, state)]

    def done(self) -> list[Words]:
        """The sentences that somebody has labelled."""
        return self.in_state("done")

    def decided(self, words: Words) -> list[Any]:
        """The answer to a labelled sentence: that of most annotators; of equally many the latest."""
        latest = [said[-1] for said in self._said[words].values() if self._state(said) == "done"]
        votes = Counter(str(entry.answer) for entry in latest)
        best = max(latest, key=lambda entry: (votes[str(entry.answer)], self._heard[id(entry)]))
        return best.answer or []

    def labelled(self, texts: Texts) -> Iterator[Sentence]:
        """The labelled sentences as models learn them, in the order of the text; those not in it come last."""
        place: dict[Words, int] = {words: n for words in self.done() if (n := texts.number(words)) is not None}
        for words in sorted(place, key=place.__getitem__):
            yield self.task.write(texts.sentences[place[words]], self.decided(words))
        for words in self.done():
            if words not in place:
                yield self.task.write(Sentence(words), self.decided(words))

    def by_annotator(self) -> dict[str, dict[int, list[Any]]]:
        """The answers of every annotator by a number for each sentence, as ``agreement`` takes them."""
        found: dict[str, dict[int, list[Any]]] = {}
        for number, words in enumerate(self.lengths()):
            for name in self.annotators(words):
                entry = self.of(words, name)
                assert entry is not None
                found.setdefault(name, {})[number] = entry.answer or []
        return found

    def lengths(self) -> dict[Words, int]:
        """The sentences that ``by_annotator`` numbers, with how long they are."""
        return {words: len(words) for words in self._said}

    @staticmethod
    def _state(said: list[Entry] | None) -> str:
        return said[-1].state if said else ""


def new_only(answers: Answers, entries: Iterable[Entry]) -> list[Entry]:
    """Entries that say something that their annotator has not said already: a file may be imported twice."""
    found = []
    for entry in entries:
        known = answers.of(entry.words, entry.annotator)
        if known is None or known.state != entry.state or known.answer != entry.answer:
            found.append(entry)
    return found
