"""What is read and written: spans, sentences and documents. All immutable; character offsets are kept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from dovetail.text.tags import spans_to_tags, tags_to_spans

if TYPE_CHECKING:  # a tree is made of spans
    from dovetail.text.tree import Tree


@dataclass(frozen=True, slots=True)
class Span:
    """Tokens ``start`` up to but not including ``end`` form a ``label``.

    >>> Span(0, 2, "PER", 0.93)
    Span(start=0, end=2, label='PER', probability=0.93)
    """

    start: int
    end: int
    label: str
    probability: float | None = None


@dataclass(frozen=True, slots=True)
class Sentence:
    """Words and everything known about them.

    ``layers`` holds one value a word under a name (``pos``, ``ner`` as IOB2 tags, ...); ``spans`` holds
    entities that a layer cannot (nested ones); ``offsets`` are character positions in the text of the
    document; ``document`` tells which neighbours belong to the same one, where the file tells documents apart;
    ``tree`` is the constituent tree over the words.

    >>> s = Sentence(("Ada", "Lovelace", "wrote"), {"ner": ("B-PER", "I-PER", "O")})
    >>> s.entities()
    (Span(start=0, end=2, label='PER', probability=None),)
    """

    words: tuple[str, ...]
    layers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    spans: tuple[Span, ...] = ()
    offsets: tuple[tuple[int, int], ...] | None = None
    id: str | None = None
    comments: tuple[str, ...] = ()
    document: int | None = field(default=None, compare=False)
    tree: Tree | None = None

    def __post_init__(self) -> None:
        for name, values in self.layers.items():
            if len(values) != len(self.words):
                raise ValueError(f"layer {name!r} has {len(values)} values for {len(self.words)} words")
        if self.offsets is not None and len(self.offsets) != len(self.words):
            raise ValueError(f"{len(self.offsets)} offsets for {len(self.words)} words")
        if self.tree is not None and len(self.tree) != len(self.words):
            raise ValueError(f"a tree of {len(self.tree)} words for {len(self.words)} words")

    def __len__(self) -> int:
        return len(self.words)

    def entities(self, layer: str = "ner") -> tuple[Span, ...]:
        """The entities that the tags of ``layer`` spell out, as conlleval reads them."""
        tags = self.layers.get(layer)
        if tags is None:
            return ()
        return tuple(Span(*span) for span in tags_to_spans(tags))

    def with_layer(self, name: str, values: tuple[str, ...]) -> Sentence:
        """A copy with the layer added or replaced."""
        return replace(self, layers={**self.layers, name: tuple(values)})

    def with_entities(self, spans: tuple[Span, ...], layer: str = "ner") -> Sentence:
        """A copy whose ``layer`` holds these flat entities as IOB2 tags; its ``spans`` keeps them whole."""
        tags = spans_to_tags([(s.start, s.end, s.label) for s in spans], len(self.words))
        return replace(self, layers={**self.layers, layer: tuple(tags)}, spans=tuple(spans))


@dataclass(frozen=True, slots=True)
class Document:
    """Sentences that belong together, with the text that their offsets point into, if there is one.

    A document too long to be held whole comes in pieces: each but the first ``continues`` the one before
    it, and the text of a piece begins at character ``offset`` of the whole.

    >>> piece = Document((Sentence(("Bern",), offsets=((90, 94),)),), " Bern.", offset=89, continues=True)
    >>> piece.slice(90, 94)
    'Bern'
    """

    sentences: tuple[Sentence, ...]
    text: str | None = None
    id: str | None = None
    offset: int = 0
    continues: bool = False

    def slice(self, start: int, end: int) -> str:
        """The characters ``start`` to ``end`` of the whole document, which must lie in this piece."""
        if self.text is None:
            raise ValueError("this document has no text")
        return self.text[start - self.offset : end - self.offset]

    def __len__(self) -> int:
        return len(self.sentences)

    def __iter__(self) -> Iterator[Sentence]:
        return iter(self.sentences)
