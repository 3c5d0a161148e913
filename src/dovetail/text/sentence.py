"""What is read and written: spans, sentences and documents. All immutable; character offsets are kept."""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from operator import is_
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, overload

from dovetail.errors import DovetailError
from dovetail.text.tags import spans_to_tags, tags_to_spans

if TYPE_CHECKING:  # frames and trees are made of spans
    from dovetail.text.frames import Frame
    from dovetail.text.tree import Tree


class Source(NamedTuple):
    """The words of a sentence as they were written: what a span needs to know its text."""

    words: tuple[str, ...]
    offsets: tuple[tuple[int, int], ...] | None
    raw: str | None

    def placed(self) -> tuple[str, list[tuple[int, int]]]:
        """The text of the sentence, and where each word begins and ends in it.

        >>> Source(("Ada", "slept", "."), ((4, 7), (8, 13), (13, 14)), None).placed()
        ('Ada slept.', [(0, 3), (4, 9), (9, 10)])
        >>> Source(("slept", "."), None, None).placed()
        ('slept .', [(0, 5), (6, 7)])
        """
        first, last = (self.offsets[0][0], self.offsets[-1][1]) if self.offsets else (0, 0)
        if self.offsets is not None and self.raw is not None and len(self.raw) == last - first:
            return self.raw, [(begin - first, end - first) for begin, end in self.offsets]
        text, places = "", []
        for number, word in enumerate(self.words):
            if number:
                text += " " * (1 if self.offsets is None else self.offsets[number][0] - self.offsets[number - 1][1])
            places.append((len(text), len(text) + len(word)))
            text += word
        return text, places


@dataclass(frozen=True, slots=True)
class Span:
    """Tokens ``start`` up to but not including ``end`` form a ``label``.

    A span that a sentence holds knows its ``text``, and its characters if the sentence has offsets.

    >>> Span(0, 2, "PER", 0.93)
    Span(start=0, end=2, label='PER', probability=0.93)
    """

    start: int
    end: int
    label: str
    probability: float | None = None
    source: Source | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        try:
            if 0 <= self.start <= self.end:  # equal: a constituent without words
                return
        except TypeError:
            pass
        advice = "give the numbers of its first word, from 0, and of the word after its last"
        raise DovetailError(f"a span from {self.start!r} to {self.end!r}: {advice}")

    @property
    def text(self) -> str:
        """The characters of the span.

        >>> Sentence(("Ada", "Lovelace", "slept"), {"ner": ("B-PER", "I-PER", "O")}).entities()[0].text
        'Ada Lovelace'
        """
        text, places = self._source().placed()
        return text[places[self.start][0] : places[self.end - 1][1]]

    @property
    def start_char(self) -> int:
        """The place of its first character in the text of the document."""
        return self._offsets()[self.start][0]

    @property
    def end_char(self) -> int:
        """The place after its last character in the text of the document."""
        return self._offsets()[self.end - 1][1]

    def _source(self) -> Source:
        if self.source is None:
            raise DovetailError("this span belongs to no sentence, so it has no text; see Sentence.located")
        return self.source

    def _offsets(self) -> tuple[tuple[int, int], ...]:
        offsets = self._source().offsets
        if offsets is None:
            raise DovetailError("the sentence of this span has no character offsets; sentences of running text have")
        return offsets


_SPANS = frozenset({Span})
_TUPLES = frozenset({tuple})


def as_spans(given: Iterable[Any]) -> tuple[Span, ...]:
    """Spans, those that are plain tuples made into such."""
    spans = tuple(given)
    return spans if _SPANS.issuperset(map(type, spans)) else tuple(map(as_span, spans))


def as_span(given: Any) -> Span:
    """A span, from itself or a plain tuple (start, end, label), a probability perhaps after them."""
    if isinstance(given, Span):
        return given
    if type(given) not in (tuple, list) or len(given) not in (3, 4) or not isinstance(given[2], str):
        raise DovetailError(f"give a span as Span(start, end, label), which count words; this is {given!r:.60}")
    return Span(*given)


class Layers(dict[str, tuple[str, ...]]):
    """The layers of a sentence: a dictionary that nobody can change, so that sentences can be shared and hashed.

    >>> layers = Layers(pos=("NN",))
    >>> layers["pos"], {**layers, "ner": ("O",)}
    (('NN',), {'pos': ('NN',), 'ner': ('O',)})
    >>> layers["ner"] = ("O",)
    Traceback (most recent call last):
    TypeError: the layers of a sentence do not change; with_layer gives a sentence with another
    """

    __slots__ = ()

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def __reduce__(self) -> tuple[Any, ...]:
        return Layers, (dict(self),)  # pickle would fill an empty one, which cannot be filled

    def __deepcopy__(self, memo: object) -> Layers:
        return self

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError("the layers of a sentence do not change; with_layer gives a sentence with another")

    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _refuse


@dataclass(frozen=True, slots=True)
class Sentence:
    """Words and everything known about them.

    ``layers`` holds one value a word under a name (``pos``, ``ner`` as IOB2 tags, ...); ``spans`` holds
    entities that a layer cannot (nested ones); ``offsets`` are character positions in the text of the
    document; ``document`` tells which neighbours belong to the same one, where the file tells documents apart;
    ``tree`` is the constituent tree over the words; ``frames`` are predicates with their arguments, None where nobody
    has looked for them; ``raw`` holds the characters from the first word to the last, where there is a text.
    Iteration goes over the words, and ``sentence[0]`` is the first. Words and values may be given as lists; they are
    kept as tuples.

    >>> s = Sentence(("Ada", "Lovelace", "wrote"), {"ner": ("B-PER", "I-PER", "O")})
    >>> s.entities()
    (Span(start=0, end=2, label='PER', probability=None),)
    >>> print(s)
    Ada Lovelace wrote
    """

    words: tuple[str, ...]
    layers: Mapping[str, tuple[str, ...]] = field(default_factory=Layers)
    spans: tuple[Span, ...] = ()
    offsets: tuple[tuple[int, int], ...] | None = None
    id: str | None = None
    comments: tuple[str, ...] = ()
    document: int | None = field(default=None, compare=False)
    tree: Tree | None = None
    raw: str | None = field(default=None, compare=False, repr=False)
    frames: tuple[Frame, ...] | None = None

    def __post_init__(self) -> None:
        if type(self.words) is not tuple:
            object.__setattr__(self, "words", _listed("words", self.words))
        if self.spans:
            object.__setattr__(self, "spans", self.located(self.spans))
        if type(self.layers) is not Layers:
            object.__setattr__(self, "layers", _as_layers(self.layers))
        length = len(self.words)
        for name, values in self.layers.items():
            if len(values) != length:
                raise ValueError(f"layer {name!r} has {len(values)} values for {length} words")
        if self.offsets is not None and len(self.offsets) != length:
            raise ValueError(f"{len(self.offsets)} offsets for {length} words")
        if self.tree is not None and len(self.tree) != length:
            raise ValueError(f"a tree of {len(self.tree)} words for {length} words")
        if self.frames is not None:
            from dovetail.text.frames import as_frames

            frames = as_frames(self.frames, length)
            located = tuple(f.with_arguments(self.located(f.arguments)) if f.arguments else f for f in frames)
            object.__setattr__(self, "frames", located)

    def __len__(self) -> int:
        return len(self.words)

    def __iter__(self) -> Iterator[str]:
        return iter(self.words)

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[str, ...]: ...

    def __getitem__(self, place: int | slice) -> str | tuple[str, ...]:
        return self.words[place]

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        from dovetail.text.html import sentence_html

        return sentence_html(self)

    @property
    def text(self) -> str:
        """The sentence as it was written; of words without offsets, the words with spaces between them."""
        return self.source.placed()[0]

    @property
    def source(self) -> Source:
        """The words as they were written, for spans to know their text."""
        return Source(self.words, self.offsets, self.raw)

    def located(self, spans: Iterable[Span]) -> tuple[Span, ...]:
        """The spans, which from then on know their text and characters in this sentence.

        >>> Sentence(("Ada", "slept")).located([Span(0, 1, "PER")])[0].text
        'Ada'
        """
        given = as_spans(spans)
        known = given[0].source if given else None
        own = self.words, self.offsets, self.raw
        if known is not None and all(map(is_, known, own)) and all(span.source is known for span in given):
            return given
        source = self.source
        return tuple(Span(span.start, span.end, span.label, span.probability, source) for span in given)

    def entities(self, layer: str = "ner") -> tuple[Span, ...]:
        """The entities that the tags of ``layer`` spell out, as conlleval reads them."""
        tags = self.layers.get(layer)
        if tags is None:
            _check_name(layer)
            return ()
        source = self.source
        return tuple(Span(start, end, label, None, source) for start, end, label in tags_to_spans(tags))

    def with_layer(self, name: str, values: tuple[str, ...]) -> Sentence:
        """A copy with the layer added or replaced."""
        return replace(self, layers={**self.layers, name: tuple(values)})

    def with_entities(self, spans: Iterable[Span | tuple[int, int, str]], layer: str = "ner") -> Sentence:
        """A copy whose ``layer`` holds these flat entities as IOB2 tags; its ``spans`` keeps them whole.

        >>> Sentence(("Ada", "slept")).with_entities([(0, 1, "PER")]).layers["ner"]
        ('B-PER', 'O')
        """
        found = as_spans(spans)
        tags = spans_to_tags([(s.start, s.end, s.label) for s in found], len(self.words))
        return replace(self, layers={**self.layers, layer: tuple(tags)}, spans=found)


def _listed(what: str, values: Any) -> tuple[str, ...]:
    """What was given as a list, as a tuple; a string is no list of words, though Python takes it for one."""
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        advice = "give a list of strings, one a word; dovetail.segment(text) finds those of a text"
        raise DovetailError(f"{what}={values!r:.60}: {advice}")
    return tuple(values)


def _as_layers(given: Any) -> Layers:
    if not isinstance(given, Mapping):
        raise DovetailError(f"layers={given!r:.60}: give a dictionary, from names to a value for each word")
    if _TUPLES.issuperset(map(type, given.values())):
        return Layers(given)
    return Layers({name: _listed(f"layer {name!r}", values) for name, values in given.items()})


def _check_name(layer: object) -> None:
    if not isinstance(layer, str):
        raise DovetailError(f"layer={layer!r}: a layer is known by its name, such as 'ner'")


@dataclass(frozen=True, slots=True)
class Document:
    """Sentences that belong together, with the text that their offsets point into, if there is one.

    Iteration goes over the sentences, and ``document[0]`` is the first. A document too long to be held whole comes in
    pieces: each but the first ``continues`` the one before it, and the text of a piece begins at character ``offset``
    of the whole.

    >>> piece = Document((Sentence(("Bern",), offsets=((90, 94),)),), " Bern.", offset=89, continues=True)
    >>> piece.slice(90, 94)
    'Bern'
    """

    sentences: tuple[Sentence, ...]
    text: str | None = None
    id: str | None = None
    offset: int = 0
    continues: bool = False

    def __post_init__(self) -> None:
        if self.text is not None and any(s.raw is None and s.offsets for s in self.sentences):
            object.__setattr__(self, "sentences", tuple(map(self._with_raw, self.sentences)))

    def _with_raw(self, sentence: Sentence) -> Sentence:
        if sentence.raw is not None or not sentence.offsets:
            return sentence
        return replace(sentence, raw=self.slice(sentence.offsets[0][0], sentence.offsets[-1][1]))

    def entities(self, layer: str = "ner") -> tuple[Span, ...]:
        """All entities: the ``spans`` of each sentence, or where it has none what the tags of ``layer`` spell.

        >>> bern = Sentence(("In", "Bern"), {"ner": ("O", "B-LOC")}, offsets=((0, 2), (3, 7)))
        >>> [(e.text, e.label, e.start_char, e.end_char) for e in Document((bern,), "In Bern").entities()]
        [('Bern', 'LOC', 3, 7)]
        """
        _check_name(layer)
        return tuple(span for s in self.sentences for span in s.spans or s.entities(layer))

    def __str__(self) -> str:
        return self.text if self.text is not None else "\n".join(map(str, self.sentences))

    def _repr_html_(self) -> str:
        from dovetail.text.html import document_html

        return document_html(self)

    def slice(self, start: int, end: int) -> str:
        """The characters ``start`` to ``end`` of the whole document, which must lie in this piece."""
        if self.text is None:
            raise ValueError("this document has no text")
        return self.text[start - self.offset : end - self.offset]

    def __len__(self) -> int:
        return len(self.sentences)

    def __iter__(self) -> Iterator[Sentence]:
        return iter(self.sentences)

    @overload
    def __getitem__(self, place: int) -> Sentence: ...
    @overload
    def __getitem__(self, place: builtins.slice) -> tuple[Sentence, ...]: ...

    def __getitem__(self, place: int | builtins.slice) -> Sentence | tuple[Sentence, ...]:
        return self.sentences[place]
