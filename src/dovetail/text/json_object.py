"""One JSON object as a sentence or a document, every field checked."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain
from sys import intern
from typing import Any, Literal

from dovetail.errors import InputError
from dovetail.text.brackets import parse_tree
from dovetail.text.report import ReadReport
from dovetail.text.segment import Lines, annotate, segment
from dovetail.text.sentence import Document, Sentence, Span
from dovetail.text.spans import CharacterSpan, flat_tags, outermost, trimmed
from dovetail.text.tree import Tree, escaped

Entities = Literal["all", "named"]
"""Which entities of a sentence are read: all, or only those that a parallel list ``named`` marks as true."""

_WORDS = ("words", "tokens")
_SPANS = ("spans", "entities")
_SENTENCE_FIELDS = {
    *_WORDS,
    "entities",
    "doc",
    "id",
    "offsets",
    "text",
    "comments",
    "tree",
    "constituents",
    "heads",
    "deprels",
}


class JsonObject:
    """One object of a file, with its place for error messages."""

    def __init__(self, fields: dict[str, Any], path: str, line: int, report: ReadReport) -> None:
        self.fields = fields
        self.path = path
        self.line = line
        self.report = report

    def wrong(self, message: str) -> InputError:
        """The error with this message and the place of the object."""
        return InputError(message, self.path, self.line)

    def is_sentence(self) -> bool:
        """Whether the object has words."""
        return any(isinstance(self.fields.get(name), list) for name in _WORDS)

    def sentence(self, entities: Entities) -> Sentence:
        """The sentence that the object is."""
        words = self._words()
        layers = {**self._layers(len(words)), **self._dependencies(len(words))}
        spans: tuple[Span, ...] = ()
        if "entities" in self.fields:
            spans = self._entities(len(words), entities)
            if "ner" not in layers:
                layers["ner"] = flat_tags(spans, len(words))
                left = len(spans) - len(outermost(spans))
                message = "entity inside or across another, kept in the spans but not in the layer 'ner'"
                self.report.note(message, self.path, self.line, count=left)
        offsets = self._offsets(len(words))
        known = _SENTENCE_FIELDS | layers.keys()
        comments = self._comments(known if offsets else known - {"text"})
        return Sentence(words, layers, spans, offsets, self.identity("id"), comments, tree=self._tree(words))

    def document(self, lines: Lines) -> Document:
        """The document that the object is."""
        text = self.text()
        if text is None or self.is_sentence():
            raise self.wrong('expected a document with "text" and without "words", as the first object is none')
        given = next((name for name in _SPANS if name in self.fields), None)
        if given is None:
            sentences = segment(text, lines)
        else:
            sentences = annotate(text, self._character_spans(given, text), lines)
        comments = self._comments({"id", "text", given or "text"})
        if comments and sentences:
            sentences[0] = replace(sentences[0], comments=comments)
        return Document(tuple(sentences), text, self.identity("id"))

    def identity(self, name: str) -> str | None:
        """The field of this name as a string."""
        value = self.fields.get(name)
        return None if value is None else str(value)

    def text(self) -> str | None:
        """The field "text", if it is one."""
        value = self.fields.get("text")
        return value if isinstance(value, str) else None

    def _words(self) -> tuple[str, ...]:
        name = next((name for name in _WORDS if isinstance(self.fields.get(name), list)), None)
        if name is None:
            raise self.wrong('no list "words", as the first object of the file has one')
        words = self.fields[name]
        for position, word in enumerate(words):
            if not isinstance(word, str) or not word:
                raise self.wrong(
                    f'word {position} of "{name}" is {json.dumps(word)}, expected a string that is not empty'
                )
        return tuple(map(intern, words))

    def _layers(self, length: int) -> dict[str, tuple[str, ...]]:
        layers = {}
        for name, values in self.fields.items():
            if name in _SENTENCE_FIELDS or not isinstance(values, list):
                continue
            if not all(isinstance(value, str | int) and not isinstance(value, bool) for value in values):
                continue
            if len(values) == length:
                layers[name] = tuple(intern(str(value)) for value in values)
            elif name in _LAYERS:
                raise self.wrong(f'"{name}" has {len(values)} values for {length} words')
        return layers

    def _dependencies(self, length: int) -> dict[str, tuple[str, ...]]:
        """The layers ``head`` and ``deprel`` as in CoNLL-U, where the head of the root is 0."""
        heads, relations = self.fields.get("heads"), self.fields.get("deprels")
        layers = {}
        if heads is not None:
            is_list = isinstance(heads, list) and len(heads) == length
            if not is_list or not all(type(head) is int and -1 <= head < length for head in heads):
                raise self.wrong(f'"heads" must hold the head of each of {length} words, counted from 0, or -1')
            layers["head"] = tuple(intern(str(head + 1)) for head in heads)
        if relations is not None:
            is_list = isinstance(relations, list) and len(relations) == length
            if not is_list or not all(isinstance(relation, str) and relation for relation in relations):
                raise self.wrong(f'"deprels" must hold a string for each of {length} words')
            layers["deprel"] = tuple(map(intern, relations))
        return layers

    def _tree(self, words: tuple[str, ...]) -> Tree | None:
        """The tree over the words as "words" spells them: in brackets ``(`` is ``-LRB-``."""
        given = self.fields.get("tree")
        if given is None or not words:
            return None
        if not isinstance(given, str):
            raise self.wrong(f'"tree" is {json.dumps(given)[:40]}, expected a string with brackets')
        tree = parse_tree(given, self.path, self.line, self.report)
        leaves = tree.words()
        if len(leaves) != len(words):
            raise self.wrong(f'"tree" has {len(leaves)} words, "words" {len(words)}')
        for position, (leaf, word) in enumerate(zip(leaves, words, strict=True)):
            if leaf != word and leaf != escaped(word):
                raise self.wrong(f'word {position} is {leaf!r} in "tree" but {word!r} in "words"')
        return self._with_probabilities(tree if leaves == words else tree.with_leaves(words))

    def _with_probabilities(self, tree: Tree) -> Tree:
        """The tree with the probabilities of ``constituents``, where a parser has written them."""
        try:
            known = {(int(s), int(e), str(label)): float(p) for s, e, label, p in self.fields.get("constituents", [])}
        except (TypeError, ValueError):
            raise self.wrong('"constituents" are not all [start, end, label, probability]') from None
        return tree.with_probabilities(known) if known else tree

    def _entities(self, length: int, entities: Entities) -> tuple[Span, ...]:
        spans = tuple(Span(*span) for span in self._spans("entities", length, "words"))
        if entities == "all":
            return spans
        named = self.fields.get("named")
        if not isinstance(named, list) or len(named) != len(spans):
            raise self.wrong('entities="named" needs a list "named" with one truth value for each entity')
        return tuple(span for span, is_named in zip(spans, named, strict=True) if is_named)

    def _character_spans(self, name: str, text: str) -> list[CharacterSpan]:
        spans = []
        for start, end, label, probability in self._spans(name, len(text), "characters"):
            span = trimmed(CharacterSpan(start, end, label, probability), text)
            if span is not None:
                spans.append(span)
            else:
                self.report.note("span of nothing but white space, left out", self.path, self.line)
        return spans

    def _spans(self, name: str, length: int, unit: str) -> Iterator[tuple[int, int, str, float | None]]:
        given = self.fields[name]
        if not isinstance(given, list):
            raise self.wrong(f'"{name}" is no list')
        for item in given:
            keys = ("start", "end", "label", "probability")
            values = [item.get(key) for key in keys] if isinstance(item, dict) else item
            if not isinstance(values, list) or not _SHAPE.match("".join(map(_letter, values))):
                raise self.wrong(f'{json.dumps(item)} in "{name}" is no [start, end, label]')
            start, end, label, probability = [*values, None][:4]
            if not 0 <= start < end <= length:
                raise self.wrong(f'{json.dumps(item)} in "{name}" is empty or outside {length} {unit}')
            yield start, end, label, probability

    def _offsets(self, length: int) -> tuple[tuple[int, int], ...] | None:
        given = self.fields.get("offsets")
        if given is None:
            return None
        pairs = [tuple(pair) for pair in given if isinstance(pair, list) and "".join(map(_letter, pair)) == "ii"]
        flat = list(chain.from_iterable(pairs))
        if len(pairs) != length or len(given) != length or flat != sorted(flat) or min(flat, default=0) < 0:
            raise self.wrong('"offsets" must hold an increasing [start, end] for each word')
        return tuple((start, end) for start, end in pairs)

    def _comments(self, known: Iterable[str]) -> tuple[str, ...]:
        comments = [f"# {key} = {_one_line(value)}" for key, value in self.fields.items() if key not in set(known)]
        kept = self.fields.get("comments", [])
        return (*comments, *(line for line in kept if isinstance(line, str)))


_LAYERS = ("pos", "ner", "chunk", "lemma", "upos", "xpos")
_SHAPE = re.compile(r"iis[ifn]?$")  # of [start, end, label] and perhaps a probability


def _letter(value: object) -> str:
    """The type of a JSON value as one letter."""
    return {int: "i", float: "f", str: "s", type(None): "n"}.get(type(value), "?")


def _one_line(value: object) -> str:
    if isinstance(value, str) and "\n" not in value and "\r" not in value:
        return value
    return json.dumps(value, ensure_ascii=False)
