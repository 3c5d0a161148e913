"""The openly licensed corpora that the English model learns from, each one kind of text, with a part held out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

import numpy as np

from dovetail import Sentence, read

TYPES = {
    "PER": "PER", "LOC": "LOC", "ORG": "ORG",
    "person": "PER", "location": "LOC", "corporation": "ORG", "group": "ORG",  # WNUT-17
}  # fmt: skip
"""What the types of the corpora are called here; others are no names."""
SINGLE_SENTENCES = 8000
"""So many of Few-NERD to train on: it has few cities and countries, and would skew the model."""

Split = tuple[list[Sentence], list[Sentence]]


@dataclass(frozen=True)
class Corpus:
    """A kind of text: where it comes from, under which licence, and its sentences to train on and to tune on."""

    name: str
    source: str
    licence: str
    train: list[Sentence]
    dev: list[Sentence]


def corpora(root: Path) -> list[Corpus]:
    """The corpora under a folder that the model learns from."""
    own = root / "open-ner"
    return [
        Corpus("web", "UNER English-EWT", "CC BY-SA 4.0", *_as_given(root / "uner-en-ewt")),
        Corpus(
            "articles", "DocRED and Re-DocRED", "MIT; text of Wikipedia, CC BY-SA 3.0",
            *_held_out(_read(own / "docred.conll.gz"), every=8),
        ),
        Corpus(
            "topics", "CrossNER: politics, science, music, literature, AI", "MIT; text of Wikipedia, CC BY-SA 3.0",
            *_held_out(_blocks(_read(own / "crossner.conll.gz"), 20), every=7),
        ),
        Corpus(
            "single sentences", "Few-NERD, a part", "CC BY-SA 4.0; text of Wikipedia",
            *_few_nerd(own / "fewnerd-part.conll.gz"),
        ),
    ]  # fmt: skip


def other_texts(root: Path) -> dict[str, list[Sentence]]:
    """Other kinds of text, to see how the model does where it has learnt nothing."""
    _, social = _as_given(root / "wnut17")
    _, novels = _held_out(_read(root / "open-ner" / "litbank.conll.gz"), every=10)
    return {"social media (WNUT-17)": social, "novels (LitBank)": novels}


def _few_nerd(path: Path) -> Split:
    """Few-NERD: to train on, sentences whose names are all persons, places and organisations.

    What else it names are cars, aeroplanes and the like, from which a model learns that their makers are no names.
    """
    train, dev = _held_out(_blocks(read(path), 50), every=11)
    train = [s for s in train if all(e.label in TYPES for e in s.entities())]
    chosen = sorted(np.random.default_rng(0).choice(len(train), SINGLE_SENTENCES, replace=False))
    return [_renamed(train[i]) for i in chosen], [_renamed(s) for s in dev]


def _read(path: Path) -> list[list[Sentence]]:
    """The sentences of each document, with persons, places and organisations."""
    return [[_renamed(s) for s in document] for document in read(path)]


def _renamed(sentence: Sentence) -> Sentence:
    spans = tuple(replace(s, label=TYPES[s.label]) for s in sentence.entities() if s.label in TYPES)
    return Sentence(sentence.words, document=sentence.document).with_entities(spans)


def _as_given(folder: Path) -> Split:
    train, dev = (list(chain(*_read(folder / f"{split}.conll.gz"))) for split in ("train", "dev"))
    return train, dev


def _held_out(parts: Sequence[Sequence[Sentence]], every: int) -> Split:
    """The sentences of all parts but the first, the first after ``every`` parts, and so on; and those of these."""
    return [s for i, part in enumerate(parts) if i % every for s in part], list(chain(*parts[::every]))


def _blocks(documents: Iterable[Iterable[Sentence]], size: int) -> list[list[Sentence]]:
    """Sentences that stand in no document, some at a time."""
    loose = [replace(s, document=None) for s in chain(*documents)]
    return [loose[i : i + size] for i in range(0, len(loose), size)]
