"""One session: the sentences, what has been said of them, the models, and who has what before them."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from dovetail.errors import DovetailError
from dovetail.labelling.agreement import agreement
from dovetail.labelling.answers import Answers, new_only
from dovetail.labelling.forecast import Point, next_point
from dovetail.labelling.leases import Leases
from dovetail.labelling.models import Models
from dovetail.labelling.ranking import without_model
from dovetail.labelling.store import STATES, Entry, Store
from dovetail.labelling.tasks import TASKS, Task
from dovetail.labelling.texts import Texts
from dovetail.text.sentence import Sentence

SECOND_LOOK = 10
"""One sentence in so many that one annotator has labelled is shown to another, too."""
SECOND_LOOK_EVERY = 5
"""An annotator gets such a sentence after so many others."""


@dataclass
class Session:
    """What the page talks to. Every method may be called from several threads at once."""

    texts: Texts
    store: Store
    models: Models
    annotator: str = "me"
    leases: Leases = field(default_factory=Leases)
    queue: list[int] = field(default_factory=list)
    seed: int = 1
    _lock: threading.RLock = field(default_factory=threading.RLock)

    def __post_init__(self) -> None:
        self.task: Task = TASKS[self.store.task]
        self.answers = Answers(self.task)
        self.answers.hear(*self.store.entries)
        self.models.curve = [Point(int(a), int(b), *rest) for a, b, *rest in self.store.points]
        self.queue = without_model(self.texts.sentences, self._taken(), self.store.task != "words", self.seed)

    def start(self) -> None:
        """Begin to train in the background."""
        self.models.start(self.texts.sentences, self._ranked, self._judged, self._material)
        self.models.consider(len(self.answers.done()), at_once=True)

    def close(self) -> None:
        """End training, and let the file go."""
        self.models.close()
        self.store.close()

    # what is shown

    def take(self, tab: str, annotator: str) -> dict[str, Any] | None:
        """The next sentence for a tab, with a guess; None when nothing is left for this annotator."""
        with self._lock:
            number = next((n for n in self._candidates(annotator) if self.leases.take(n, tab)), None)
        return None if number is None else self.item(number, annotator)

    def open(self, number: int, tab: str, annotator: str) -> dict[str, Any]:
        """A sentence that somebody wants to see, labelled or not."""
        if not 0 <= number < len(self.texts):
            raise DovetailError(f"there is no sentence {number}; there are 0 to {len(self.texts) - 1}")
        with self._lock:
            lent = self.leases.take(number, tab)
        return self.item(number, annotator) | {"elsewhere": not lent}

    def item(self, number: int, annotator: str) -> dict[str, Any]:
        """A sentence as a page shows it: what the annotator said of it, and what a model thinks."""
        began = time.perf_counter()
        sentence = self.texts.sentences[number]
        with self._lock:
            entry = self.answers.of(sentence.words, annotator)
        told: dict[str, Any] = self.texts.shown(number)
        told["state"] = "" if entry is None else entry.state
        told["note"] = "" if entry is None else entry.note
        told["answer"] = None if entry is None else entry.answer
        told["guess"] = self._guess(number, sentence)
        told["milliseconds"] = round(1000 * (time.perf_counter() - began), 1)
        return told

    def _guess(self, number: int, sentence: Sentence) -> dict[str, Any] | None:
        guesser = self.models.guesser
        if guesser is not None:
            return guesser.guess(sentence) | {"by": guesser.name}
        with suppress(DovetailError):
            given = self.task.check(self.task.read(self.texts.given[number]), len(sentence), self.store.labels)
            if any(given):
                told = {"words": [[[one, None]] if one else [] for one in given]}
                return (told if self.task.name == "words" else {"entities": [[*one, None] for one in given]}) | {
                    "by": "the file"
                }
        return None

    def _candidates(self, annotator: str) -> Iterable[int]:
        """Sentences for an annotator, in the order in which they are worth showing."""
        if self.answers.count(annotator) % SECOND_LOOK_EVERY == SECOND_LOOK_EVERY - 1:
            yield from self._second_looks(annotator)
        yield from (n for n in self.queue if self._fresh(n, annotator))
        yield from (n for n in range(len(self.texts)) if self._fresh(n, annotator))
        yield from self._second_looks(annotator)

    def _fresh(self, number: int, annotator: str) -> bool:
        words = self.texts.sentences[number].words
        return not self.answers.annotators(words) and self.answers.of(words, annotator) is None

    def _second_looks(self, annotator: str) -> Iterable[int]:
        """Sentences that exactly one other annotator has labelled, a fixed tenth of them."""
        for words in self.answers.done():
            number = self.texts.number(words)
            others = self.answers.annotators(words)
            if number is None or annotator in others or len(others) != 1 or others[0].startswith("file "):
                continue
            if number % SECOND_LOOK == 0 and self.answers.of(words, annotator) is None:
                yield number

    # what is said

    def answer(
        self, number: int, tab: str, annotator: str, state: str, answer: Any = None, note: str = "",
        seconds: float | None = None,
    ) -> None:  # fmt: skip
        """Keep what an annotator says of a sentence: when this returns, it is on the disk."""
        if not 0 <= number < len(self.texts):
            raise DovetailError(f"there is no sentence {number}; there are 0 to {len(self.texts) - 1}")
        if state not in STATES or state == "undone":
            raise DovetailError(f"state {state!r:.40}: choose done, skipped or flagged")
        words = self.texts.sentences[number].words
        checked = None if answer is None and state != "done" else self.task.check(answer, len(words), self.store.labels)
        entry = Entry(words, check_name(annotator), state, checked, note[:500], _now(), seconds)
        with self._lock:
            self.store.add(entry)
            self.answers.hear(entry)
            self.leases.release(tab)
            count = len(self.answers.done())
        self.models.consider(count)

    def undo(self, tab: str, annotator: str) -> dict[str, Any] | None:
        """Take back the last that an annotator said; that sentence again, with the answer that it had."""
        with self._lock:
            last = self.answers.latest(annotator)
            if last is None or (number := self.texts.number(last.words)) is None:
                return None
            entry = Entry(last.words, annotator, "undone", time=_now())
            self.store.add(entry)
            self.answers.hear(entry)
            self.leases.take(number, tab)
        return self.item(number, annotator) | {"answer": last.answer, "note": last.note}

    def add_labelled(self, name: str, sentences: Iterable[Sentence]) -> int:
        """Sentences of a file that are labelled already, as answers of an annotator of its name; how many are new."""
        entries = []
        for sentence in sentences:
            if sentence.words:
                answer = self.task.check(self.task.read(sentence), len(sentence), self.store.labels)
                entries.append(Entry(sentence.words, f"file {name}", "done", answer, time=_now()))
        with self._lock:
            new = new_only(self.answers, entries)
            if new:
                self.store.add(*new)
                self.answers.hear(*new)
        return len(new)

    # figures

    def status(self, tab: str, annotator: str) -> dict[str, Any]:
        """Where the session stands; a page asks every second or two."""
        with self._lock:
            self.leases.renew(tab)
            done = self.answers.done()
            there = sum(self.texts.number(words) is not None for words in done)
            said = self.answers.by_annotator()
            agreed = agreement(self.task, said, list(self.answers.lengths().values()))
            counts = {
                "total": len(self.texts), "done": len(done), "left": len(self.texts) - there,
                "mine": self.answers.count(annotator), "tokens": tokens_of_words(done),
                "skipped": len(self.answers.in_state("skipped")), "flagged": len(self.answers.in_state("flagged")),
            }  # fmt: skip
        curve = self.models.curve
        return {
            "task": self.store.task, "labels": list(self.store.labels), "annotator": annotator, "counts": counts,
            "metric": "accuracy" if self.store.task == "words" else "F1", "curve": [list(p) for p in curve],
            "next_point": next_point(curve), "agreement": [one._asdict() for one in agreed],
            "annotators": sorted(said), "file": self.store.path.name, "warnings": self.store.warnings,
            **self.models.status(),
        }  # fmt: skip

    def why(self, number: int, position: int) -> dict[str, Any]:
        """Why a word has the label that the model gives it."""
        if not 0 <= number < len(self.texts) or not 0 <= position < len(self.texts.sentences[number]):
            raise DovetailError(f"there is no word {position} of sentence {number}")
        guesser = self.models.guesser
        if guesser is None:
            raise DovetailError("there is no model yet that could say why; label a few sentences first")
        return guesser.why(self.texts.sentences[number], position)

    def search(self, wanted: str, state: str, annotator: str, limit: int = 30) -> list[dict[str, Any]]:
        """Sentences that hold these characters, or of which this was said last; both may be asked for."""
        with self._lock:
            if state:
                told = (self.texts.number(words) for words in self.answers.in_state(state))
                key = wanted.lower()
                every = sorted(n for n in told if n is not None)
                found = [n for n in every if key in self.texts.sentences[n].text.lower()][-limit:]
            else:
                found = self.texts.search(wanted, limit) if wanted.strip() else []
            return [self._line(n, annotator) for n in found]

    def _line(self, number: int, annotator: str) -> dict[str, Any]:
        words = self.texts.sentences[number].words
        own = self.answers.of(words, annotator)
        state = own.state if own is not None else "done" if self.answers.annotators(words) else ""
        return {"number": number, "text": self.texts.sentences[number].text[:200], "state": state}

    def labelled(self) -> list[Sentence]:
        """The labelled sentences with their answers, in the order of the text."""
        with self._lock:
            return list(self.answers.labelled(self.texts))

    # what the models hear and say

    def _taken(self) -> set[int]:
        said = (self.texts.number(words) for words in [*self.answers.done(), *self.answers.in_state("flagged")])
        return {number for number in said if number is not None}

    def _material(self) -> tuple[list[Sentence], set[int]]:
        with self._lock:
            return list(self.answers.labelled(self.texts)), self._taken()

    def _ranked(self, ranked: list[int]) -> None:
        with self._lock:
            self.queue = ranked

    def _judged(self, point: Point) -> None:
        with self._lock:
            self.store.add_point(point)


def check_name(annotator: str) -> str:
    """The name of an annotator, if it can be one."""
    name = annotator.strip()
    if not 0 < len(name) <= 60 or not name.isprintable():
        raise DovetailError("annotator: give a name of 1 to 60 characters")
    return name


def tokens_of_words(every: Iterable[tuple[str, ...]]) -> int:
    """How many words some sentences have."""
    return sum(map(len, every))


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
