"""The openly licensed corpora that the English model learns from, each one kind of text, with a part held out."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, groupby
from pathlib import Path

import numpy as np

from dovetail import Sentence, Span, read

TYPES = {
    "PER": "PER", "LOC": "LOC", "ORG": "ORG",
    "person": "PER", "location": "LOC", "corporation": "ORG", "group": "ORG",  # WNUT-17
    "place": "LOC", "organization": "ORG",  # GUM
}  # fmt: skip
"""What the types of the corpora are called here; others are no names."""
SINGLE_SENTENCES = 12_000
"""So many of Few-NERD to train on: it has few cities and countries, and would skew the model."""
OPEN_GENRES = ("academic", "bio", "court", "interview", "news", "voyage")
"""The genres of GUM whose text may be shared."""

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
        Corpus("social media", "WNUT-17", "CC BY 4.0", *_as_given(root / "wnut17")),
        Corpus(
            "genres", f"GUM: {', '.join(OPEN_GENRES)}",
            "annotation CC BY 4.0; text CC BY 2.5 (interview, news), CC BY 4.0 (academic, court), "
            "CC BY-SA 3.0 (bio, voyage)",
            gum(root, "train"), gum(root, "dev"),
        ),
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
        Corpus(
            "novels", "LitBank", "CC BY 4.0; text in the public domain",
            *_held_out(_read(own / "litbank.conll.gz"), every=10),
        ),
    ]  # fmt: skip


def other_texts(root: Path) -> dict[str, list[Sentence]]:
    """Other kinds of text, to see how the model does where it has learnt nothing: they are for measuring only."""
    news = chain(*_read(root / "conll2003-en" / "dev.conll.gz"))
    return {"newswire (CoNLL-2003 dev)": list(news), "translated news and Wikipedia (UNER PUD)": _pud(root)}


def gum(root: Path, split: str) -> list[Sentence]:
    """The open genres of GUM: named persons, places and organisations, the outermost of them."""
    with gzip.open(root / "gum" / f"{split}.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [row for row in map(json.loads, lines) if row["domain"] in OPEN_GENRES]
    number = {name: i for i, name in enumerate(dict.fromkeys(row["doc"] for row in rows))}
    return [
        Sentence(tuple(row["words"]), document=number[row["doc"]]).with_entities(_outermost(_named(row)))
        for row in rows
    ]


def as_it_is(sentence: Sentence) -> Sentence:
    """The sentence itself."""
    return sentence


def in_lower_case(sentence: Sentence) -> Sentence:
    """The sentence as people write who never press shift."""
    return replace(sentence, words=tuple(w.lower() or w for w in sentence.words))


def in_capitals(sentence: Sentence) -> Sentence:
    """The sentence as headlines and forms have it."""
    return replace(sentence, words=tuple(w.upper() or w for w in sentence.words))


def case_copies(sentences: Sequence[Sentence], lower: int, upper: int) -> list[Sentence]:
    """Every ``lower``-th document in lower case, and every ``upper``-th in capitals: documents of their own.

    A sentence that stands in no document is one by itself.
    """
    documents = _documents(sentences)
    free = max((s.document or 0 for s in sentences), default=0) + 1
    chosen = [(d, in_lower_case) for d in documents[::lower]] + [(d, in_capitals) for d in documents[1::upper]]
    return [
        replace(written(s), document=None if s.document is None else free + n)
        for n, (document, written) in enumerate(chosen)
        for s in document
    ]


def _documents(sentences: Iterable[Sentence]) -> list[list[Sentence]]:
    keys = groupby(enumerate(sentences), lambda pair: (pair[1].document, pair[0] if pair[1].document is None else 0))
    return [[s for _, s in group] for _, group in keys]


def _named(row: dict[str, list[object]]) -> Iterator[Span]:
    """The named persons, places and organisations of a sentence of GUM."""
    for (start, end, kind), named in zip(row["entities"], row["named"], strict=True):  # type: ignore[misc]
        if named and kind in TYPES:
            yield Span(start, end, TYPES[kind])


def _outermost(spans: Iterable[Span]) -> list[Span]:
    """Those that overlap no longer one, and of equal ones the first."""
    kept: list[Span] = []
    for span in sorted(spans, key=lambda s: s.start - s.end):
        if all(span.end <= other.start or other.end <= span.start for other in kept):
            kept.append(span)
    return sorted(kept, key=lambda s: s.start)


def _pud(root: Path) -> list[Sentence]:
    """The English side of the parallel text."""
    with gzip.open(root / "pud-parallel" / "dev.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line)["en"] for line in lines]
    return [_renamed(Sentence(tuple(row["tok"]), {"ner": tuple(row["tag"])})) for row in rows]


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
