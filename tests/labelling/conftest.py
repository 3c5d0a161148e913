"""A session over made-up sentences, and a browser."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dovetail.labelling.models import Models
from dovetail.labelling.session import Session
from dovetail.labelling.store import open_store
from dovetail.labelling.texts import Texts
from dovetail.text.sentence import Document, Sentence
from tests.browser import chromium

__all__ = ["chromium"]

NAMES, VERBS = ("Ada", "Bela", "Clara", "Dora", "Emil"), ("saw", "left", "praised", "knew")
PLACES = ("London", "Vienna", "Bern")
SENTENCES = [
    Sentence((name, verb, "the", "Bank", "of", place, number, "."))
    for name, verb, place, number in itertools.product(NAMES, VERBS, PLACES, ("once", "twice"))
]
GOLD = [[0, 1, "PER"], [3, 6, "ORG"]]
"""The entities of each of them."""


@pytest.fixture
def make_session(tmp_path: Path) -> Iterator[Any]:
    """Sessions whose answers are kept in one file; all are closed at the end, if they are not before."""
    made: list[Session] = []

    def make(task: str = "entities", labels: tuple[str, ...] = ("PER", "LOC", "ORG"), **how: Any) -> Session:
        texts = Texts.of([Document(tuple(SENTENCES))])
        store = open_store(tmp_path / "a.labels.jsonl", task, labels)
        session = Session(texts, store, Models(task, store.labels, **how), "ann")
        made.append(session)
        return session

    yield make
    for session in made:
        session.close()
