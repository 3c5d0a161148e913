"""Sentences as tables of pandas, a row a token or a row an entity, and back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, Any, Literal

from dovetail.errors import DovetailError
from dovetail.extras import extra
from dovetail.text.documents import marked
from dovetail.text.formats import documents_in
from dovetail.text.sentence import Document, Sentence, Span
from dovetail.text.spans import all_spans, flat_tags

if TYPE_CHECKING:
    from pandas import DataFrame

PLACES = ("document", "sentence", "token")
TOKENS = (*PLACES, "word", "start_char", "end_char")
ENTITIES = ("document", "sentence", "start", "end", "label", "text", "probability", "start_char", "end_char")


def to_frame(items: Any, rows: Literal["tokens", "entities"] = "tokens") -> DataFrame:
    """A table of documents or sentences: a row a token with a column a layer, or a row an entity.

    ``document`` is the name of a document, else its number; sentences are numbered in it, and tokens in these. Entities
    are those of ``spans``, or of the layer ``ner`` where a sentence has none.

    >>> ada = Sentence(("Ada", "slept"), {"ner": ("B-PER", "O")})
    >>> to_frame([ada])["ner"].tolist()
    ['B-PER', 'O']
    >>> to_frame([ada], rows="entities")[["start", "end", "label", "text"]].values.tolist()
    [[0, 1, 'PER', 'Ada']]
    """
    pandas = extra("pandas", "a table")
    if rows not in ("tokens", "entities"):
        raise DovetailError(f"rows={rows!r}: choose tokens or entities")
    numbered = _numbered(items)
    if rows == "entities":
        found = [_entity(place, sentence, span) for *place, sentence in numbered for span in all_spans(sentence)]
        return pandas.DataFrame(found, columns=list(ENTITIES)).astype({"probability": float})
    columns: dict[str, list[Any]] = {name: [] for name in TOKENS}
    length = 0
    for document, number, sentence in numbered:
        places = sentence.offsets or ((None, None),) * len(sentence)
        values: dict[str, Any] = {
            "document": [document] * len(sentence), "sentence": [number] * len(sentence),
            "token": range(len(sentence)), "word": sentence.words,
            "start_char": [start for start, _ in places], "end_char": [end for _, end in places],
        }  # fmt: skip
        if taken := sentence.layers.keys() & columns.keys() & set(TOKENS):
            raise DovetailError(f"a layer is called {min(taken)}, as a column of every table is; rename it")
        for name, some in (values | dict(sentence.layers)).items():
            columns.setdefault(name, [None] * length).extend(some)
        length += len(sentence)
        for some in columns.values():
            some.extend([None] * (length - len(some)))
    whole = {"start_char": "Int64", "end_char": "Int64"}
    return pandas.DataFrame(columns).astype(whole)


def _numbered(items: Any) -> Iterator[tuple[str | int, int, Sentence]]:
    """Every sentence with the name or number of its document, and its own number there."""
    number, first = -1, 0
    for document in documents_in(items):
        if not document.continues:
            number, first = number + 1, 0
        for position, sentence in enumerate(document, first):
            yield number if document.id is None else document.id, position, sentence
        first += len(document)


def _entity(place: list[Any], sentence: Sentence, span: Span) -> tuple[Any, ...]:
    (known,) = sentence.located([span])
    edges = (known.start_char, known.end_char) if sentence.offsets else (None, None)
    return (*place, span.start, span.end, span.label, known.text, span.probability, *edges)


def from_frame(tokens: DataFrame, entities: DataFrame | None = None) -> list[Document]:
    """The documents of a table of tokens, and perhaps of one of entities, as `to_frame` makes them.

    Needed is a column ``word``; ``document`` and ``sentence`` say what belongs together, in the order of the rows;
    ``start_char`` and ``end_char`` are offsets; all other columns, ``token`` aside, are layers. A layer that is missing
    in the whole of a sentence is none.

    >>> import pandas
    >>> [document] = from_frame(pandas.DataFrame({"sentence": [0, 0], "word": ["Ada", "slept"], "ner": ["B-PER", "O"]}))
    >>> document.sentences[0].entities()[0].text
    'Ada'
    """
    pandas = extra("pandas", "a table")
    if not isinstance(tokens, pandas.DataFrame) or "word" not in tokens.columns:
        has = ", ".join(map(str, getattr(tokens, "columns", ()))) or type(tokens).__name__
        raise DovetailError(f"give a table of tokens with a column 'word' (this has: {has})")
    spans = _spans(pandas, entities)
    layers = [name for name in tokens.columns if name not in TOKENS]
    rows = tokens.astype(object).where(tokens.notna(), None).to_dict("records")
    found: list[Document] = []
    used = set()
    for document, inside in groupby(enumerate(rows), key=lambda row: row[1].get("document")):
        sentences = []
        for sentence, own in groupby(inside, key=lambda row: row[1].get("sentence")):
            made, key = _sentence(list(own), layers), (document, sentence)
            sentences.append(made if entities is None else _with_spans(made, spans.get(key, []), key))
            used.add(key)
        found.append(Document(tuple(sentences), id=document if isinstance(document, str) else None))
    if lost := spans.keys() - used:
        document, sentence = min(lost, key=str)
        raise DovetailError(
            f"entities of sentence {sentence} of document {document}, which the table of tokens has not"
        )
    return list(marked(iter(found)))


def _sentence(rows: list[tuple[int, dict[Any, Any]]], columns: list[Any]) -> Sentence:
    for number, row in rows:
        if not isinstance(row["word"], str) or not row["word"]:
            raise DovetailError(f"row {number} has the word {row['word']!r}; give a string that is not empty")
    layers = {}
    for name in columns:
        values = [row[name] for _, row in rows]
        if any(value is not None for value in values):
            if None in values:
                raise DovetailError(f"row {rows[values.index(None)][0]} of the table has no value of layer {name!r}")
            layers[str(name)] = tuple(map(str, values))
    places: list[tuple[Any, Any]] = [(row.get("start_char"), row.get("end_char")) for _, row in rows]
    known = all(start is not None and end is not None for start, end in places)
    offsets = tuple((int(start), int(end)) for start, end in places) if known else None
    return Sentence(tuple(row["word"] for _, row in rows), layers, offsets=offsets)


def _spans(pandas: Any, entities: DataFrame | None) -> dict[tuple[Any, Any], list[Span]]:
    if entities is None:
        return {}
    needed = {"sentence", "start", "end", "label"}
    if not isinstance(entities, pandas.DataFrame) or not needed <= set(entities.columns):
        raise DovetailError(f"give a table of entities with the columns {', '.join(sorted(needed))}")
    found: dict[tuple[Any, Any], list[Span]] = {}
    for row in entities.astype(object).where(entities.notna(), None).to_dict("records"):
        chance = row.get("probability")
        span = Span(int(row["start"]), int(row["end"]), str(row["label"]), None if chance is None else float(chance))
        found.setdefault((row.get("document"), row["sentence"]), []).append(span)
    return found


def _with_spans(sentence: Sentence, spans: list[Span], key: tuple[Any, Any]) -> Sentence:
    for span in spans:
        if not span.start < span.end <= len(sentence):
            told = f"the entity from {span.start} to {span.end} of sentence {key[1]} of document {key[0]}"
            raise DovetailError(f"{told} is outside {len(sentence)} words")
    found = replace(sentence, spans=tuple(spans))
    return found if "ner" in found.layers else found.with_layer("ner", flat_tags(spans, len(found)))
