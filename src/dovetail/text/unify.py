"""Chunk layers of any scheme made IOB2 as they are read, with every illegal sequence counted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice, pairwise
from typing import Literal, NamedTuple

from dovetail.errors import InputError
from dovetail.text.report import ReadReport
from dovetail.text.sentence import Sentence
from dovetail.text.tags import Scheme, is_chunk_layer, may_follow, prefixes, recognise_scheme, split_tag, to_iob2

EVIDENCE_SENTENCES = 1000
"""How many sentences are looked at before the first is handed on."""


class Placed(NamedTuple):
    """A sentence and the line where it stands; also its document and text, where its line names them."""

    sentence: Sentence
    line: int
    document: str | None = None
    text: str | None = None


def unify_tags(
    placed: Iterable[Placed],
    scheme: Scheme | Literal["auto"] | None,
    path: str,
    report: ReadReport,
    *,
    word_per_line: bool,
) -> Iterator[Placed]:
    """Sentences whose chunk layers are IOB2, whatever the scheme of the file.

    The first `EVIDENCE_SENTENCES` show which layers are of chunks (`tags.is_chunk_layer`), and with ``auto``
    their schemes. With None nothing is changed. Illegal sequences (I- after O in IOB2, ...) are read as
    conlleval reads them, and reported.
    """
    if scheme is None:
        yield from placed
        return
    stream = iter(placed)
    evidence = list(islice(stream, EVIDENCE_SENTENCES))
    layers = {
        name: _ChunkLayer(name, (recognise_scheme(tags) if scheme == "auto" else scheme) or "iob2", path, report)
        for name, tags in chunk_layers([item.sentence for item in evidence]).items()
    }
    for item in chain(evidence, stream):
        given = item.sentence.layers
        unified = {name: layers[name].read(given[name], item.line, word_per_line) for name in layers if name in given}
        if any(unified[name] is not given[name] for name in unified):
            item = item._replace(sentence=replace(item.sentence, layers={**given, **unified}))
        yield item


def chunk_layers(evidence: Sequence[Sentence]) -> dict[str, list[tuple[str, ...]]]:
    """The layers that spell chunks in these sentences (`tags.is_chunk_layer`), with their tags.

    >>> list(chunk_layers([Sentence(("I",), {"lemma": ("I",), "ner": ("O",)})]))
    ['ner']
    """
    layers = {}
    for name in dict.fromkeys(name for sentence in evidence for name in sentence.layers):
        sequences = [sentence.layers[name] for sentence in evidence if name in sentence.layers]
        if is_chunk_layer(name, set(chain.from_iterable(sequences))):
            layers[name] = sequences
    return layers


@dataclass(slots=True)
class _ChunkLayer:
    """A layer in its scheme, with the transitions that were already found legal."""

    name: str
    scheme: Scheme
    path: str
    report: ReadReport
    legal: set[tuple[str | None, str | None]] = field(default_factory=set)
    examples: dict[bool, str] = field(default_factory=dict)  # a tag with a type, and one without

    def read(self, tags: tuple[str, ...], line: int, word_per_line: bool) -> tuple[str, ...]:
        if not self.legal.issuperset(zip((None, *tags), (*tags, None), strict=True)):
            for position, pair in enumerate(pairwise((None, *tags, None))):
                if pair not in self.legal:
                    self._examine(*pair, line + min(position, len(tags) - 1) if word_per_line else line)
        elif self.scheme == "iob2":
            return tags
        return tuple(to_iob2(tags))

    def _examine(self, previous: str | None, tag: str | None, line: int) -> None:
        if tag is not None and tag != "O" and tag.partition("-")[0] not in tuple(prefixes(self.scheme)):
            advice = "correct the tag, or name the scheme (or None for plain labels)"
            message = f"{tag!r} is not a tag of the scheme {self.scheme} in which the layer {self.name!r} is read"
            raise InputError(f"{message}; {advice}", self.path, line)
        if tag is not None and tag != "O":
            self._check_type(tag, line)
        if may_follow(previous, tag, self.scheme):
            self.legal.add((previous, tag))
        else:
            message = f"illegal {self.scheme} tag sequence in the layer {self.name!r}, read as conlleval reads it"
            self.report.note(message, self.path, line)

    def _check_type(self, tag: str, line: int) -> None:
        """Either all tags have types (B-PER) or none has (B): a lone B among the others is a slip."""
        is_typed = bool(split_tag(tag)[1])
        self.examples.setdefault(is_typed, tag)
        if len(self.examples) == 2:
            problem = f"{self.examples[False]!r} has no type, but {self.examples[True]!r} has one"
            message = f"{tag!r} in the layer {self.name!r}: {problem}; give every tag a type, or none"
            raise InputError(message, self.path, line)
