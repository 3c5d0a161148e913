"""Documents of spaCy from ours and back: words, layers, entities, dependencies.

What a ``Doc`` has no place for (trees, frames, comments, other layers) is kept in its ``user_data`` under ``dovetail``,
as JSON, and comes back with it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from dovetail.errors import InputError
from dovetail.extras import extra
from dovetail.text.json_object import JsonObject
from dovetail.text.jsonl import compact_json, sentence_object
from dovetail.text.report import ReadReport
from dovetail.text.segment import Lines, segment_tokens
from dovetail.text.sentence import Document, Sentence, Span
from dovetail.text.spans import all_spans, flat_tags, outermost
from dovetail.text.tasks import tasks
from dovetail.text.tokenise import Tokens

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token
    from spacy.vocab import Vocab

GROUP = "sc"
"""The group of a ``Doc``'s spans that holds entities which overlap; it is that of spaCy's own span categorizer."""
OWN = "dovetail"
"""The key of ``user_data`` under which is kept what spaCy has no place for."""
PROBABILITY = "probability"
"""The extension of spans that holds a probability: ``span._.probability``."""

_OURS = ("doc", "words", "offsets", "text")  # a Doc has them in ways of its own


def probability_key(start: int, end: int) -> tuple[str, str, int, int]:
    """Where spaCy keeps the extension ``probability`` of the span of these characters in ``user_data``."""
    return ("._.", PROBABILITY, start, end)


def register_probability() -> None:
    """Make ``span._.probability`` known to spaCy; None for spans that have none."""
    span = extra("spacy.tokens", "documents of spaCy").Span
    if not span.has_extension(PROBABILITY):
        span.set_extension(PROBABILITY, default=None)


# from ours


def to_docs(items: Iterable[Document | Sentence], vocab: Vocab | None = None) -> Iterator[Doc]:
    """Documents as spaCy has them, one by one; of a pile of loose sentences each becomes one.

    ``doc.text`` is the text of the document, so characters mean the same. Entities are in ``doc.ents``, those that
    overlap in ``doc.spans["sc"]``, their probabilities in ``span._.probability``.
    """
    known = extra("spacy.vocab", "documents of spaCy").Vocab() if vocab is None else vocab
    register_probability()
    for document in tasks(items):
        yield _to_doc(document, known)


def _to_doc(document: Document, vocab: Vocab) -> Doc:
    words, spaces, places = _spaced(document)
    sentences = [(sentence, places[first : first + len(sentence)]) for first, sentence in _numbered(document)]
    values = _values(sentences, len(words), vocab)
    doc: Doc = extra("spacy.tokens", "documents of spaCy").Doc(vocab, words=words, spaces=spaces, **values)
    _set_entities(doc, sentences)
    report = ReadReport()
    more = []
    back = list(_cut(doc, "sentences", "", 0, report))
    same = [positions for positions, _ in back] == [where for _, where in sentences]
    for number, (sentence, _) in enumerate(sentences):
        seen = back[number][1] if same else {}
        fields = json.loads(compact_json(sentence_object(sentence, document)))
        kept = {name: value for name, value in fields.items() if name not in _OURS and seen.get(name) != value}
        kept |= dict.fromkeys(name for name in seen if name not in _OURS and name not in fields)  # null: not there
        more.append(kept | {"n": len(sentence)})
    if document.id is not None or any(len(kept) > 1 for kept in more):
        named = {} if document.id is None else {"id": document.id}
        doc.user_data[OWN] = compact_json(named | {"sentences": more})
    return doc


def _numbered(document: Document) -> Iterator[tuple[int, Sentence]]:
    first = 0
    for sentence in document:
        yield first, sentence
        first += len(sentence)


def _spaced(document: Document) -> tuple[list[str], list[bool], list[int]]:
    """All tokens of a text, whether a space follows each, and which are the words; the others are white space."""
    text = document.text or ""
    tokens: list[str] = []
    spaces: list[bool] = []
    places: list[int] = []
    end = 0
    for start, after in [*(place for s in document for place in s.offsets or ()), (len(text), len(text))]:
        gap = text[end:start]
        if gap and tokens and gap[0] == " ":
            spaces[-1], gap = True, gap[1:]
        if gap:
            is_spaced = len(gap) > 1 and gap[-1] == " "
            tokens.append(gap[:-1] if is_spaced else gap)
            spaces.append(is_spaced)
        if after > start:
            places.append(len(tokens))
            tokens.append(text[start:after])
            spaces.append(False)
        end = after
    return tokens, spaces, places


Placed = Sequence[tuple[Sentence, list[int]]]
"""Sentences with the positions of their words among all tokens."""


def _values(sentences: Placed, length: int, vocab: Vocab) -> dict[str, Any]:
    """What a ``Doc`` is told of its tokens when it is made."""
    known = {name for sentence, _ in sentences for name in sentence.layers}
    tag = "pos" if "pos" in known else "xpos"
    values: dict[str, Any] = {}
    for name, layer in (("tags", tag), ("pos", "upos"), ("lemmas", "lemma"), ("morphs", "feats")):
        if layer in known:
            row = [""] * length
            for sentence, places in sentences:
                for place, value in zip(places, sentence.layers.get(layer, ()), strict=False):
                    row[place] = _fitting(name, value)
            values[name] = row
    starts = [-1] * length
    for _, places in sentences:
        starts[places[0]] = 1
    values["sent_starts"] = starts
    if sentences and all(map(_is_rooted, (sentence for sentence, _ in sentences))):
        heads, relations = _heads(sentences, length)
        values |= {"heads": heads, "deps": relations}
        del values["sent_starts"]  # they follow from the heads
    return values


def _fitting(name: str, value: str) -> str:
    if value == "_" and name != "lemmas":
        return ""
    if name == "pos":
        return value if value in extra("spacy.parts_of_speech", "documents of spaCy").IDS else ""
    if name == "morphs":
        return value if all("=" in field for field in value.split("|")) else ""
    return value


def _is_rooted(sentence: Sentence) -> bool:
    """Whether the words hang together under one root, as those of a sentence in spaCy do."""
    heads = sentence.layers.get("head")
    if heads is None or "deprel" not in sentence.layers or heads.count("0") != 1:
        return False
    if not all(head.isdecimal() and len(head) < 10 and int(head) <= len(heads) for head in heads):
        return False
    above = [int(head) - 1 for head in heads]
    for word in range(len(above)):
        steps = 0
        while word >= 0 and steps <= len(above):
            word, steps = above[word], steps + 1
        if word >= 0:
            return False
    return True


def _heads(sentences: Placed, length: int) -> tuple[list[int], list[str]]:
    """The head of every token by position, a root its own; white space hangs on the word before it, else after it."""
    heads, relations, last = [-1] * length, ["dep"] * length, sentences[0][1][0]
    for sentence, places in sentences:
        for place, head, relation in zip(places, sentence.layers["head"], sentence.layers["deprel"], strict=True):
            heads[place] = place if head == "0" else places[int(head) - 1]
            relations[place] = relation
    for place in range(length):
        if heads[place] < 0:
            heads[place] = last
        else:
            last = place
    return heads, relations


def _set_entities(doc: Doc, sentences: Placed) -> None:
    span_of = extra("spacy.tokens", "documents of spaCy").Span
    flat, every, annotated = [], [], []
    for sentence, places in sentences:
        if sentence.spans or "ner" in sentence.layers:
            annotated.append(doc[places[0] : places[-1] + 1])
        spans = all_spans(sentence)
        outer = outermost(spans)
        for span in spans:
            found = span_of(doc, places[span.start], places[span.end - 1] + 1, span.label)
            every.append(found)
            if span in outer:
                flat.append(found)
                outer.remove(span)
            if span.probability is not None:
                found._.probability = span.probability
    if annotated:
        doc.set_ents(flat, outside=[], default="missing" if len(annotated) < len(sentences) else "outside")
        if len(annotated) < len(sentences):
            inside = {i for span in flat for i in range(span.start, span.end)}
            outside = [doc[i : i + 1] for span in annotated for i in range(span.start, span.end) if i not in inside]
            doc.set_ents(flat, outside=outside, default="missing")
    if len(flat) < len(every):
        doc.spans[GROUP] = every


# to ours


def from_doc(
    doc: Doc, lines: Lines = "auto", path: str = "<doc>", number: int = 1, report: ReadReport | None = None
) -> Document:
    """A document of spaCy as ours: its sentences, or where it knows of none those that we find, as `segment` does.

    ``tag_`` becomes the layer ``pos``, ``pos_`` ``upos``, ``lemma_`` ``lemma``, ``morph`` ``feats``. Its entities are
    ``doc.spans["sc"]`` if that group is there, else ``doc.ents``. White space is no word.
    """
    notes = ReadReport() if report is None else report
    own = _own(doc, path, number)
    parts = list(_cut(doc, lines, path, number, notes))
    more = own.get("sentences")
    fits = isinstance(more, list) and [one.get("n") for one in more] == [len(where) for where, _ in parts]
    if more and not fits:
        notes.note("sentences were changed, and what spaCy has no place for is lost", path, count=len(parts))
    sentences = []
    for i, (where, fields) in enumerate(parts):
        if fits:
            fields |= {name: value for name, value in more[i].items() if name != "n"}  # type: ignore[index]
            fields = {name: value for name, value in fields.items() if value is not None}
        made = JsonObject(fields, path, number, notes).sentence("all")
        offsets = tuple((doc[at].idx, doc[at].idx + len(doc[at])) for at in where)
        sentences.append(replace(made, offsets=offsets))
    identity = own.get("id")
    return Document(tuple(sentences), doc.text, identity if isinstance(identity, str) else None)


def _own(doc: Doc, path: str, number: int) -> dict[str, Any]:
    """What we kept in a ``Doc``, if anything."""
    given = doc.user_data.get(OWN)
    if given is None:
        return {}
    try:
        own = json.loads(given)
    except (TypeError, ValueError, RecursionError):
        own = None
    is_right = isinstance(own, dict) and isinstance(own.get("sentences", []), list)
    if not is_right or not all(isinstance(one, dict) for one in own.get("sentences", [])):
        raise InputError(f"document {number}: its user_data[{OWN!r}] is not what dovetail writes", path)
    return dict(own)


def words_of(doc: Doc, lines: Lines = "auto") -> list[list[int]]:
    """The positions of the words of every sentence; white space is left out.

    Sentences are those of the document, or where it knows of none those that we find.
    """
    words = [token.i for token in doc if token.text.strip()]  # is_space is not known to an empty vocabulary
    if doc.has_annotation("SENT_START"):
        inside = set(words)
        found = [[i for i in range(sentence.start, sentence.end) if i in inside] for sentence in doc.sents]
        return [where for where in found if where]
    offsets = [(doc[i].idx, doc[i].idx + len(doc[i])) for i in words]
    rest = iter(words)
    cut = segment_tokens(doc.text, Tokens([doc[i].text for i in words], offsets), lines, split_periods=False)
    return [[next(rest) for _ in sentence] for sentence in cut]


def _cut(
    doc: Doc, lines: Lines, path: str, number: int, report: ReadReport
) -> Iterator[tuple[list[int], dict[str, Any]]]:
    """The sentences of a document: the positions of their words, and what is known of them as a JSON object has it."""
    known = {name: doc.has_annotation(name) for name in ("TAG", "POS", "LEMMA", "MORPH", "DEP", "ENT_IOB")}
    group = GROUP in doc.spans
    spans = list(doc.spans[GROUP] if group else doc.ents)
    for where in words_of(doc, lines):
        tokens = [doc[i] for i in where]
        place = {at: i for i, at in enumerate(where)}
        fields: dict[str, Any] = {"words": [token.text for token in tokens]}
        if known["TAG"]:
            fields["pos"] = [token.tag_ or "_" for token in tokens]
        if known["POS"]:
            fields["upos"] = [token.pos_ or "_" for token in tokens]
        if known["LEMMA"]:
            fields["lemma"] = [token.lemma_ or "_" for token in tokens]
        if known["MORPH"]:
            fields["feats"] = [str(token.morph) or "_" for token in tokens]
        if known["DEP"]:
            fields["heads"] = [_head(token, place) for token in tokens]
            fields["deprels"] = [token.dep_ or "_" for token in tokens]
        if group or (known["ENT_IOB"] and any(token.ent_iob for token in tokens)):
            fields["entities"] = list(_entities(spans, doc, where, report, path))
            flat = _entities(list(doc.ents), doc, where, ReadReport(), path)
            outer = [Span(one["start"], one["end"], one["label"]) for one in flat]
            fields["ner"] = list(flat_tags(outer, len(where)))
        yield where, fields


def _head(token: Token, place: dict[int, int]) -> int:
    """The head of a token among the words of its sentence; white space in between is passed."""
    head = token.head
    while head.i not in place and head.head.i != head.i:
        head = head.head
    return -1 if head.i == token.i else place.get(head.i, -1)


def _entities(
    spans: Sequence[Any], doc: Doc, where: list[int], report: ReadReport, path: str
) -> Iterator[dict[str, Any]]:
    given: dict[Any, Any] = doc.user_data
    first, last = where[0], where[-1]
    for span in spans:
        inside = [i for i, at in enumerate(where) if span.start <= at < span.end] if span.start <= last else []
        if not inside or span.end <= first or not span.label_:
            continue
        if span.start < first:
            continue  # it belongs to the sentence in which it begins
        if span.end > last + 1 and doc[last + 1 : span.end].text.strip():
            report.note("entity that goes on in the next sentence, cut there", path)
        fields = {"start": inside[0], "end": inside[-1] + 1, "label": span.label_}
        chance = given.get(probability_key(span.start_char, span.end_char))
        if isinstance(chance, int | float) and 0 <= chance <= 1:
            fields[PROBABILITY] = chance
        yield {**fields, "text": span.text}
