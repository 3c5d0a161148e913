"""One JSON object as a sentence or a document, every field checked."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from sys import intern
from typing import Any, Literal

from dovetail.errors import InputError
from dovetail.text.brackets import parse_tree
from dovetail.text.frames import Frame, as_frames
from dovetail.text.report import ReadReport
from dovetail.text.segment import CUT_WORD, Lines, annotate, segment_tokens
from dovetail.text.sentence import Document, Sentence, Span
from dovetail.text.spans import CharacterSpan, flat_tags, outermost, trimmed
from dovetail.text.tokenise import Tokens, tokenise
from dovetail.text.tree import Tree, escaped

Entities = Literal["all", "named"]
"""Which entities of a sentence are read: all, or only those that a parallel list ``named`` marks as true."""
Unit = Literal["words", "characters"]
Place = tuple[int, int]
"""The first character of a token, and the one after its last."""

_WORDS = ("words", "tokens")
_WORD_SPANS = ("entities", "spans")
_SPANS = ("spans", "entities", "label", "labels")  # the last two, of doccano, may also be about the whole text
_SENTENCE_FIELDS = {
    *_WORDS, "doc", "id", "offsets", "text", "comments", "tree", "constituents", "heads", "deprels", "frames",
}  # fmt: skip
_FRAME_FIELDS = {"predicate": "i", "sense": "s", "lemma": "s", "arguments": "?", "probability": "if"}
_LAYERS = ("pos", "ner", "chunk", "lemma", "upos", "xpos")
_SHAPE = re.compile(r"iis[ifn]?")  # of [start, end, label] and perhaps a probability
_EDGES = (("start", "start_offset"), ("end", "end_offset"))  # the second is doccano's


@dataclass(slots=True)
class JsonObject:
    """One object of a file, with its place for error messages."""

    fields: dict[str, Any]
    path: str
    line: int
    report: ReadReport

    def wrong(self, message: str) -> InputError:
        """The error with this message and the place of the object."""
        return InputError(message, self.path, self.line)

    def note(self, message: str, count: int = 1) -> None:
        """Count in the report what was not as it should be."""
        self.report.note(message, self.path, self.line, count=count)

    def is_sentence(self) -> bool:
        """Whether the object is words, and not a text; tokens that are objects point into a text."""
        given = next((self.fields[name] for name in _WORDS if self.fields.get(name) is not None), None)
        points = isinstance(given, list) and any(isinstance(token, dict) for token in given)
        return given is not None and not (points and "text" in self.fields)

    def sentence(self, entities: Entities) -> Sentence:
        """The sentence that the object is."""
        words = self._words()
        layers = {**self._layers(len(words)), **self._dependencies(len(words))}
        spans: tuple[Span, ...] = ()
        given = next((name for name in _WORD_SPANS if name in self.fields), None)
        if given is not None:
            spans = self._entities(given, len(words), entities)
            if "ner" not in layers:
                layers["ner"] = flat_tags(spans, len(words))
                left = len(spans) - len(outermost(spans))
                self.note("entity inside or across another, kept in the spans but not in the layer 'ner'", left)
        offsets = self._offsets(len(words))
        known = _SENTENCE_FIELDS | layers.keys() | {given or "words"}
        comments = self._comments(known if offsets else known - {"text"})
        tree, frames = self._tree(words), self._frames(len(words))
        return Sentence(words, layers, spans, offsets, self.identity("id"), comments, tree=tree, frames=frames)

    def document(self, lines: Lines) -> Document:
        """The document that the object is."""
        if self.is_sentence():
            message = '"words" in a file whose first object is a text; put sentences and texts in separate files'
            raise self.wrong(message)
        text = self.text()
        if text is None:
            raise self.wrong('neither "words" nor "text" is there; a sentence has the one, a document the other')
        places = self._token_places(text)
        tokens = None if places is None else _tokens_at(places, text)
        given = next((name for name in _SPANS if self._holds_spans(name)), None)
        if given is None:
            sentences = segment_tokens(text, tokens or tokenise(text), lines, split_periods=tokens is None)
        else:
            spans = self._character_spans(given, text, places)
            sentences = annotate(text, spans, lines, tokens=tokens, on_cut=lambda _: self.note(CUT_WORD))
        comments = self._comments({"id", "text", "comments", given or "text", *(_WORDS if tokens else ())})
        if comments and sentences:
            sentences[0] = replace(sentences[0], comments=comments)
        return Document(tuple(sentences), text, self.identity("id"))

    def identity(self, name: str) -> str | None:
        """The field of this name as a string."""
        value = self.fields.get(name)
        return None if value is None else str(value)

    def text(self) -> str | None:
        """The field "text", if there is one."""
        value = self.fields.get("text")
        if value is not None and not isinstance(value, str):
            raise self.wrong(f'"text" is {kind_of(value)}, expected a string')
        return value

    def _words(self) -> tuple[str, ...]:
        name = next((name for name in _WORDS if self.fields.get(name) is not None), None)
        if name is None:
            raise self.wrong('no "words", which the first object of the file has')
        words = self.fields[name]
        if not isinstance(words, list):
            advice = '; running text is given as "text"' if isinstance(words, str) else ""
            raise self.wrong(f'"{name}" is {kind_of(words)}, expected an array of strings{advice}')
        for position, word in enumerate(words):
            if not isinstance(word, str) or not word:
                raise self.wrong(f'word {position} of "{name}" is {_shown(word)}, expected a string that is not empty')
        return tuple(map(intern, words))

    def _holds_spans(self, name: str) -> bool:
        given = self.fields.get(name)
        if name in ("spans", "entities"):
            return given is not None
        return isinstance(given, list) and all(isinstance(item, list | dict) for item in given)

    def _token_places(self, text: str) -> list[Place] | None:
        """Where the tokens that the file gives lie in the text, white space among them; None if it gives none."""
        given = self.fields.get("tokens")
        if not isinstance(given, list):
            return None
        pairs: list[list[Any]] = [[token.get("start"), token.get("end")] for token in given if isinstance(token, dict)]
        if len(pairs) < len(given) or any(_letters(pair) != "ii" for pair in pairs):
            raise self.wrong('a token has no whole numbers "start" and "end"; give them, or leave the tokens out')
        flat: list[int] = list(chain.from_iterable(pairs))
        if flat != sorted(flat) or min(flat, default=0) < 0 or max(flat, default=0) > len(text):
            raise self.wrong(f'the "tokens" are not in order, or outside the text of {len(text)} characters')
        if "".join("".join(text[start:end].split()) for start, end in pairs) != "".join(text.split()):
            raise self.wrong('the "tokens" do not cover all of "text"')
        return [(start, end) for start, end in pairs]

    def _layers(self, length: int) -> dict[str, tuple[str, ...]]:
        layers = {}
        for name, values in self.fields.items():
            if name in _SENTENCE_FIELDS or not isinstance(values, list) or not {str, int}.issuperset(map(type, values)):
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
            raise self.wrong(f'"tree" is {_shown(given)}, expected a string with brackets')
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
        except (TypeError, ValueError, OverflowError):
            raise self.wrong('"constituents" are not all [start, end, label, probability]') from None
        return tree.with_probabilities(known) if known else tree

    def _frames(self, length: int) -> tuple[Frame, ...] | None:
        """The predicates with their arguments; arguments that overlap are kept, and counted."""
        given = self.fields.get("frames")
        if given is None:
            return None
        if not isinstance(given, list):
            raise self.wrong(f'"frames" is {kind_of(given)}, expected an array of objects')
        try:
            frames = as_frames([self._frame(item, length) for item in given], length)
        except ValueError as error:
            raise self.wrong(f'"frames": {error}') from None
        self.note("frame whose arguments overlap, kept as it is", sum(frame.overlaps() for frame in frames))
        return frames

    def _frame(self, item: Any, length: int) -> Frame:
        if not isinstance(item, dict) or type(item.get("predicate")) is not int:
            raise self.wrong(f'{_shown(item)} in "frames" is not an object with a whole number "predicate"')
        known = {name: value for name, value in item.items() if name in _FRAME_FIELDS and value is not None}
        for name, value in known.items():
            if _letters([value]) not in _FRAME_FIELDS[name] or isinstance(value, dict | bool):
                raise self.wrong(f'"{name}" of a frame is {kind_of(value)}')
        self.note("field of a frame that is not known, left out", len(item.keys() - _FRAME_FIELDS.keys()))
        if not 0 <= known["predicate"] < length:
            raise self.wrong(f'a predicate at {known["predicate"]} in "frames" is outside {length} words')
        if not 0 <= known.get("probability", 0) <= 1:
            raise self.wrong(f'{_shown(item)} in "frames" has a probability that is not from 0 to 1')
        arguments = self._listed_spans(known.pop("arguments", []), "frames", length, "words")
        return Frame(**known, arguments=tuple(Span(*span) for span in arguments))

    def _entities(self, name: str, length: int, entities: Entities) -> tuple[Span, ...]:
        spans = tuple(Span(*span) for span in self._spans(name, length, "words"))
        if entities == "all":
            return spans
        named = self.fields.get("named")
        if not isinstance(named, list) or len(named) != len(spans):
            raise self.wrong('entities="named" needs a list "named" with one truth value for each entity')
        return tuple(span for span, is_named in zip(spans, named, strict=True) if is_named)

    def _character_spans(self, name: str, text: str, places: list[Place] | None) -> list[CharacterSpan]:
        spans = []
        for start, end, label, probability in self._spans(name, len(text), "characters", places, text):
            span = trimmed(CharacterSpan(start, end, label, probability), text)
            if span is not None:
                spans.append(span)
            else:
                self.note("span of nothing but white space, left out")
        return spans

    def _spans(
        self, name: str, length: int, unit: Unit, places: list[Place] | None = None, text: str = ""
    ) -> Iterator[tuple[int, int, str, float | None]]:
        """The spans of a field: (start, end, label, probability), a span of several labels several times."""
        given = self.fields[name]
        if not isinstance(given, list):
            raise self.wrong(f'"{name}" is {kind_of(given)}, expected an array of [start, end, label]')
        return self._listed_spans(given, name, length, unit, places, text)

    def _listed_spans(
        self, given: list[Any], name: str, length: int, unit: Unit, places: list[Place] | None = None, text: str = ""
    ) -> Iterator[tuple[int, int, str, float | None]]:
        """The spans of a list, which is or belongs to the field of this name."""
        for item in given:
            for values in _span_values(item, unit, places):
                if problem := _span_problem(values, length, unit):
                    raise self.wrong(f'{_shown(item)} in "{name}" {problem}')
                start, end, label, probability = [*values, None][:4]
                mention = item.get("text") if isinstance(item, dict) and text else None
                if isinstance(mention, str) and mention.split() != text[start:end].split():
                    self.note("span whose text differs from the text it points to, which is taken")
                yield start, end, label, probability

    def _offsets(self, length: int) -> tuple[tuple[int, int], ...] | None:
        given = self.fields.get("offsets")
        if given is None:
            return None
        given = given if isinstance(given, list) else [None]
        pairs = [tuple(pair) for pair in given if isinstance(pair, list) and _letters(pair) == "ii"]
        flat = list(chain.from_iterable(pairs))
        if len(pairs) != length or len(given) != length or flat != sorted(flat) or min(flat, default=0) < 0:
            raise self.wrong('"offsets" must hold an increasing [start, end] for each word')
        return tuple((start, end) for start, end in pairs)

    def _comments(self, known: Iterable[str]) -> tuple[str, ...]:
        left = {key: value for key, value in self.fields.items() if key not in set(known)}
        lines = self.fields.get("comments")
        kept = [line for line in lines if isinstance(line, str)] if isinstance(lines, list) else []
        return (*(f"# {_one_line(key)} = {_one_line(value)}" for key, value in left.items()), *map(_one_line, kept))


def kind_of(value: object) -> str:
    """What a JSON value is, in words."""
    names = {list: "an array", dict: "an object", str: "a string", bool: "a boolean", type(None): "null"}
    return names.get(type(value), "a number")


def _letters(values: Iterable[object]) -> str:
    """The types of JSON values, a letter each: i, f and s of Python's types, n for null, ? for all others."""
    known = {int: "i", float: "f", str: "s", type(None): "n"}
    return "".join(known.get(type(value), "?") for value in values)


def _shown(value: object) -> str:
    """A JSON value for a message, cut short where it is long."""
    text = json.dumps(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def _one_line(value: object) -> str:
    """A JSON value for a comment: a string as it is, if it has no line end."""
    if isinstance(value, str) and "\n" not in value and "\r" not in value:
        return value
    return json.dumps(value, ensure_ascii=False)


def _span_values(item: object, unit: Unit, places: list[Place] | None) -> list[list[Any]]:
    """[start, end, label, probability] of an item, once for each of several labels; values that are wrong as they are.

    Prodigy's ``token_start`` and ``token_end`` count tokens, the last of which is inside; they are at ``places``.
    """
    if not isinstance(item, dict):
        return [item if isinstance(item, list) else [item]]
    start, end = (next((item[name] for name in names if name in item), None) for names in _EDGES)
    first, last = item.get("token_start"), item.get("token_end")
    if type(first) is int and type(last) is int:
        if unit == "words":
            start, end = first, last + 1
        elif start is None and end is None and places and 0 <= first <= last < len(places):
            start, end = places[first][0], places[last][1]
    several = item.get("labels")
    labels = several if isinstance(several, list) and "label" not in item else [item.get("label")]
    return [[start, end, label, item.get("probability")] for label in labels]


def _span_problem(values: list[Any], length: int, unit: Unit) -> str | None:
    """What is wrong with the values of a span in a sentence or text of this length; None where nothing is."""
    if not _SHAPE.fullmatch(_letters(values)):
        return "is not [start, end, label]: two whole numbers and a string"
    if not 0 <= values[0] < values[1] <= length:
        return f"is empty or outside {length} {unit}"
    if not values[2]:
        return "has an empty label"
    probability = values[3] if len(values) > 3 else None
    return None if probability is None or 0 <= probability <= 1 else "has a probability that is not from 0 to 1"


def _tokens_at(places: list[Place], text: str) -> Tokens:
    """The tokens at these places that are not white space, less the white space around them."""
    spans = [trimmed(CharacterSpan(start, end, ""), text) for start, end in places]
    kept = [(span.start, span.end) for span in spans if span is not None]
    return Tokens([text[start:end] for start, end in kept], kept)
