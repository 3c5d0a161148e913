"""Answers of models into documents of spaCy."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from spacy.parts_of_speech import IDS as UNIVERSAL
from spacy.tokens import Doc, Span

from dovetail.text.jsonl import compact_json, sentence_object
from dovetail.text.sentence import Sentence
from dovetail.text.spacy_docs import GROUP, OWN, from_doc, probability_key, register_probability
from dovetail.text.spans import outermost

Answered = Sequence[tuple[list[int], Sentence, Sentence]]
"""The words of every sentence of a document by their positions, the sentence as the model saw it and as it answered."""
_PLACES = {"pos": "tag_", "xpos": "tag_", "upos": "pos_", "lemma": "lemma_"}


def register() -> None:
    """Make known to spaCy what models find and it has no place for.

    ``span._.probability``; ``span._.tree`` and ``span._.frames`` of sentences; ``doc._.dovetail``, all as a `Document`.
    """
    register_probability()
    for name in ("tree", "frames"):
        if not Span.has_extension(name):
            Span.set_extension(name, getter=partial(_kept, name=name))
    if not Doc.has_extension(OWN):
        Doc.set_extension(OWN, getter=from_doc)


def _kept(span: Span, name: str) -> Any:
    """What is kept of the sentence that a span is."""
    if OWN not in span.doc.user_data:
        return None
    words = [token.i for token in span if token.text.strip()]
    first = 0
    for one in json.loads(span.doc.user_data[OWN])["sentences"]:
        own = [token.i for token in span.doc if token.text.strip()][first : first + one["n"]]
        if own == words:
            return one.get(name)
        first += one["n"]
    return None


def write_answers(doc: Doc, answered: Answered, replace: bool) -> None:
    """Write what a model found into a document; ``replace`` its entities, else add where there are none."""
    found = {name for _, before, after in answered for name in after.layers if name not in before.layers}
    if any(after.spans or ("ner" in after.layers and "ner" not in before.layers) for _, before, after in answered):
        _write_entities(doc, answered, replace)
    for name in found & _PLACES.keys():
        for places, _, after in answered:
            for place, value in zip(places, after.layers[name], strict=True):
                if name != "upos" or value in UNIVERSAL:
                    setattr(doc[place], _PLACES[name], value)
    if "head" in found:
        _write_heads(doc, answered)
    elif not doc.has_annotation("SENT_START") and _own_names(answered):
        for places, _, _ in answered:
            for number, place in enumerate(places):
                doc[place].is_sent_start = number == 0
    if names := _own_names(answered):
        _keep(doc, answered, names)


def _own_names(answered: Answered) -> set[str]:
    """The fields of what spaCy has no place for."""
    names = {"tree", "constituents"} if any(b.tree is None and a.tree is not None for _, b, a in answered) else set()
    if any(b.frames is None and a.frames is not None for _, b, a in answered):
        names.add("frames")
    layers = {name for _, before, after in answered for name in after.layers if name not in before.layers}
    return names | (layers - _PLACES.keys() - {"head", "deprel", "ner", "feats"})


def _write_entities(doc: Doc, answered: Answered, replace: bool) -> None:
    flat, every = ([], []) if replace else (list(doc.ents), list(doc.spans.get(GROUP, ())))
    taken = {i for span in flat for i in range(span.start, span.end)}
    overlapping = bool(every)
    data: dict[Any, Any] = doc.user_data
    for places, _, after in answered:
        spans = after.spans or after.entities()
        outer = outermost(spans) if len(spans) > 1 else list(spans)
        overlapping |= len(outer) < len(spans)
        for span in spans:
            start, end = places[span.start], places[span.end - 1] + 1
            made = Span(doc, start, end, span.label)
            every.append(made)
            if span.probability is not None:
                data[probability_key(made.start_char, made.end_char)] = span.probability
            if span in outer and taken.isdisjoint(range(start, end)):
                taken.update(range(start, end))
                flat.append(made)
    doc.set_ents(flat, default="outside")
    if overlapping:
        doc.spans[GROUP] = every
    elif GROUP in doc.spans and replace:
        del doc.spans[GROUP]


def _write_heads(doc: Doc, answered: Answered) -> None:
    """All heads at once; white space hangs on the word before it."""
    heads = np.zeros(len(doc), np.int64)
    relations = np.full(len(doc), doc.vocab.strings.add("dep"), np.uint64)
    is_word = np.zeros(len(doc), bool)
    for places, _, after in answered:
        above = [int(head) - 1 for head in after.layers["head"]]
        is_word[places] = True
        for place, head, relation in zip(places, above, after.layers["deprel"], strict=True):
            heads[place] = 0 if head < 0 else places[head] - place
            relations[place] = doc.vocab.strings.add("ROOT" if relation == "root" else relation)
    last = answered[0][0][0] if answered else 0
    for place in range(len(doc)):
        if is_word[place]:
            last = place
        else:
            heads[place] = last - place
    values: Any = np.stack([heads.view(np.uint64), relations], axis=1)
    doc.from_array(["HEAD", "DEP"], values)


def _keep(doc: Doc, answered: Answered, names: set[str]) -> None:
    """Keep these fields of the sentences in the document, beside what is kept there."""
    own = json.loads(doc.user_data.get(OWN, "{}"))
    kept = own.get("sentences", [])
    if [one["n"] for one in kept] != [len(places) for places, _, _ in answered]:
        kept = [{"n": len(places)} for places, _, _ in answered]
    for one, (_, _, after) in zip(kept, answered, strict=True):
        fields = sentence_object(after, None)
        one |= {name: fields[name] for name in names if name in fields}
    doc.user_data[OWN] = compact_json({**own, "sentences": kept})
