"""The template algebra: small expressions over columns that say which features a token has.

>>> word[-1] & shape[0]
word[-1] & shape[0]
>>> prefix(1, 3)[-1:1]          # a range of positions makes one template each
[prefix(1, 3)[-1], prefix(1, 3)[0]]
>>> bag(word, 4)                # the set of words up to four to the left, and the same to the right
[bag(word, -4, -1), bag(word, 1, 4)]
>>> edge(word[0])               # joined with the pair (previous label, label) instead of the label alone
edge(word[0])
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import Any, ClassVar, overload

from dovetail.errors import DovetailError
from dovetail.features.algebra import attributes
from dovetail.features.algebra.attributes import Attribute
from dovetail.features.compile import hashing
from dovetail.features.compile.hashing import LONGEST_WORD
from dovetail.features.resources.resource import Derivable, Resource

Extracted = Sequence[Iterable[str] | Mapping[str, float]]

NODE, EDGE = "node", "edge"


@dataclass(frozen=True)
class Template:
    """Base of all templates. ``part`` says what its features are of: a token's label, a pair of labels, a segment."""

    part: str = field(default=NODE, kw_only=True)

    FORM: ClassVar[str] = ""
    """How the template is written: its fields by name, and ``place`` for the position."""

    @property
    def edge(self) -> bool:
        """Whether its features look at a pair of labels."""
        return self.part == EDGE

    @property
    def reads(self) -> tuple[Attribute, ...]:
        """The attributes that the template is made of."""
        return ()

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the text that the template reads."""
        return tuple(dict.fromkeys(a.column if a.maker is None else "word" for a in self.reads))

    @property
    def resources(self) -> dict[str, Resource]:
        """The resources that the template reads, by name."""
        return dict(a.resource for a in self.reads if a.resource is not None)

    @property
    def derived(self) -> dict[str, Derivable]:
        """The columns that are to be made from the words before the template is compiled, and what makes each."""
        return {a.column: a.maker for a in self.reads if a.maker is not None}

    def text(self) -> str:
        """What is seen, apart from whose feature it is: features of different parts may have one key."""
        return self.written(str)

    def written(self, place: Callable[[int], str]) -> str:
        """The template with its positions written by ``place``."""
        return self.FORM.format_map({**vars(self), "place": place(getattr(self, "offset", 0))})

    def __str__(self) -> str:
        match self.part:
            case "start" | "end" | "inside" as anchor:
                text = self.written(lambda n: f"{anchor} {'-' if n < 0 else '+'} {abs(n)}" if n else anchor)
                return text if f"[{anchor}" in text else f"{text}[{anchor}]"
            case "edge" | "tag" | "joint" as part:
                return f"{part}({self.text()})"
        return self.text()

    def __repr__(self) -> str:
        return str(self)

    def __and__(self, other: Any) -> Any:
        raise DovetailError(f"{self!r} & {other!r}: each side of & must be at one position, like word[-1]")

    __rand__ = __and__

    def __getitem__(self, where: Any) -> Any:
        raise DovetailError(f"{self}[{where}]: {self} has no positions; attributes have, like word[-1]")


@dataclass(frozen=True, repr=False)
class At(Template):
    """Attributes at positions relative to the token; more than one is a conjunction."""

    parts: tuple[tuple[Attribute, int], ...]

    @property
    def reads(self) -> tuple[Attribute, ...]:
        """The attributes at all positions."""
        return tuple(attribute for attribute, _ in self.parts)

    def written(self, place: Callable[[int], str]) -> str:
        """The parts joined by ``&``."""
        return " & ".join(f"{attribute}[{place(offset)}]" for attribute, offset in self.parts)

    def __and__(self, other: Any) -> At:
        return At(self.parts + other.parts) if isinstance(other, At) else super().__and__(other)


@dataclass(frozen=True, repr=False)
class OfOne(Template):
    """Base of the templates of one attribute."""

    attribute: Attribute

    @property
    def reads(self) -> tuple[Attribute, ...]:
        """The one attribute."""
        return (self.attribute,)


@dataclass(frozen=True, repr=False)
class Bag(OfOne):
    """The set of values of an attribute in a window, positions forgotten.

    An attribute with several values for a word (affixes) has those of each distinct word.
    """

    first: int
    last: int

    FORM: ClassVar = "bag({attribute}, {first}, {last})"


@dataclass(frozen=True, repr=False)
class Elsewhere(OfOne):
    """The values that an attribute has beside the same word in other sentences of the document.

    Only words written with a capital are looked for again, case ignored. Each distinct word beside them counts once.
    """

    offset: int

    FORM: ClassVar = "elsewhere({attribute}[{place}])"

    @property
    def columns(self) -> tuple[str, ...]:
        """The column of the attribute, and the words that come again."""
        return tuple(dict.fromkeys(("word", *super().columns)))


@dataclass(frozen=True, repr=False)
class Number(OfOne):
    """A column of numbers as one real-valued feature."""

    offset: int = 0

    FORM: ClassVar = "{attribute}[{place}]"

    def __getitem__(self, offset: int) -> Number:
        return replace(self, offset=offset)


@dataclass(frozen=True, repr=False)
class Vector(OfOne):
    """The vector that a resource has for a word: as many real-valued features as it has dimensions.

    The attribute's resource gives them: ``of_words`` from words to [words, dimensions].
    """

    offset: int = 0

    FORM: ClassVar = "{attribute}[{place}]"

    @property
    def table(self) -> Any:
        """The resource."""
        assert self.attribute.resource is not None
        return self.attribute.resource[1]

    def keys(self) -> hashing.Keys:
        """The key of each dimension: [dimensions]."""
        names = [str(d) for d in range(self.table.dimensions)]
        return hashing.conjoined(hashing.string_key(self.text()), [hashing.string_keys(names)])


@dataclass(frozen=True, repr=False)
class Bias(Template):
    """A feature that is always there: it learns how common each label is."""

    FORM: ClassVar = "bias"


@dataclass(frozen=True, repr=False)
class Call(Template):
    """A Python function of a sentence: for every word a set of strings, or a mapping from strings to numbers.

    Slower than the algebra, because it runs per token. A model that uses one is loaded with the function at hand:
    ``Tagger.load(path, functions=[function])``.
    """

    function: Callable[[Any], Extracted] = field(compare=False)
    name: str = ""

    FORM: ClassVar = "call({name})"


def weighted(found: Iterable[str] | Mapping[str, float]) -> dict[str, float]:
    """What a Python function gave for one word, as a mapping: features without a number count one.

    >>> weighted(["a", "b"])
    {'a': 1.0, 'b': 1.0}
    """
    if isinstance(found, str) or not isinstance(found, Iterable):
        raise DovetailError(f"a function of a sentence gives a list of features a word, not {found!r}")
    features = dict(found) if isinstance(found, Mapping) else dict.fromkeys(found, 1.0)
    if not all(isinstance(name, str) and isinstance(value, Real) for name, value in features.items()):
        raise DovetailError(f"a function of a sentence gives strings, or a number for each of them, not {found!r}")
    return features


MOST_POSITIONS = 1000
"""A longer range of positions is a slip: each of them is a template of its own."""


class Source:
    """An attribute that positions can be taken of: ``word[0]``, ``word[-2:3]``."""

    def __init__(self, attribute: Attribute) -> None:
        self.attribute = attribute

    def at(self, offset: int) -> Any:
        """The template at one position."""
        return At(((self.attribute, offset),))

    @overload
    def __getitem__(self, where: int) -> At: ...
    @overload
    def __getitem__(self, where: slice) -> list[At]: ...
    def __getitem__(self, where: int | slice) -> At | list[At]:
        if isinstance(where, slice):
            if where.start is None or where.stop is None or where.step not in (None, 1):
                raise ValueError(f"give both ends of the range of positions: {self.attribute}[-2:3]")
            if where.stop - where.start > MOST_POSITIONS:
                raise ValueError(
                    f"{where.stop - where.start} positions of {self.attribute}; give {MOST_POSITIONS} at most"
                )
            return [self.at(offset) for offset in range(where.start, where.stop)]
        found: At = self.at(int(where))
        return found

    def __repr__(self) -> str:
        return str(self.attribute)


class VectorSource(Source):
    """A table of vectors that positions can be taken of: ``vector(news)[-1:2]``."""

    def at(self, offset: int) -> Any:
        """The vector at one position."""
        return Vector(self.attribute, offset)


def column(name: str) -> Source:
    """The value of any column: ``column("pos")[-1]``."""
    return Source(attributes.identity(name))


def prefix(shortest: int, longest: int | None = None, of: str = "word") -> Source:
    """The first characters: ``prefix(1, 6)`` for lengths one to six, ``prefix(3)`` for three alone."""
    return Source(attributes.substrings("prefix", shortest, longest, of))


def suffix(shortest: int, longest: int | None = None, of: str = "word") -> Source:
    """The last characters: ``suffix(1, 6)`` for lengths one to six, ``suffix(3)`` for three alone."""
    return Source(attributes.substrings("suffix", shortest, longest, of))


def ngrams(shortest: int, longest: int = LONGEST_WORD + 2, of: str = "word") -> Source:
    """All distinct character n-grams of the word with its edges marked; ``ngrams(1)`` takes every length."""
    return Source(attributes.substrings("ngrams", shortest, longest, of))


def simple(name: str, of: str = "word") -> Source:
    """An attribute by its name, of any column."""
    return Source(attributes.simple(name, of))


def bag(source: Source, first: int, last: int | None = None) -> list[Bag]:
    """The words in a window as a set: ``bag(word, 4)`` left and right apart, ``bag(word, -4, 4)`` as one."""
    if isinstance(source, VectorSource):
        raise ValueError(f"bag({source}, ...): a vector is no set; give it a position, like {source}[0]")
    if last is None:
        if first < 1:
            raise ValueError(f"bag({source}, {first}): give the size of the window, 1 or more")
        return [Bag(source.attribute, -first, -1), Bag(source.attribute, 1, first)]
    if first > last:
        raise ValueError(f"bag({source}, {first}, {last}): the first position lies after the last")
    return [Bag(source.attribute, first, last)]


def elsewhere(*templates: At | Iterable[At]) -> list[Elsewhere]:
    """The same beside the word in other sentences of its document: ``elsewhere(word[-1])``."""
    made = []
    for template in flatten(templates):
        if not isinstance(template, At) or len(template.parts) != 1:
            raise ValueError(f"elsewhere({template}): give an attribute at a position, like word[-1]")
        made.append(Elsewhere(*template.parts[0]))
    return made


def number(name: str) -> Number:
    """A column of numbers as a real-valued feature: ``number("score")[0]``."""
    return Number(attributes.mapped(f"number({attributes.written(name)})", name, str))


def call(function: Callable[[Any], Extracted], name: str | None = None) -> Call:
    """A Python function of a sentence as a template."""
    name = name or str(getattr(function, "__name__", ""))
    if not name.isidentifier():
        raise ValueError(f"give the function a name: call(function, 'my_features'), not {name!r}")
    return Call(function, name)


def edge(*templates: Template | Iterable[Template]) -> list[Template] | Template:
    """The same features, joined with the pair (previous label, label)."""
    made = [replace(t, part=EDGE) for t in flatten(templates)]
    return made[0] if len(made) == 1 else made


def flatten(templates: Iterable[Any]) -> list[Template]:
    """Templates out of any nesting of lists, in order, without repeats."""
    found: dict[Template, Any] = {}
    for template in _each(templates):
        if isinstance(template, Call) and found.get(template, template).function is not template.function:
            raise ValueError(f"two functions with the name {template.name!r}: call(function, 'another_name')")
        found.setdefault(template, template)
    return list(found)


def _each(templates: Iterable[Any]) -> Iterator[Template]:
    for item in templates:
        if isinstance(item, Template | Source):
            yield item if isinstance(item, Template) else item[0]
        elif callable(item):
            yield call(item)
        elif isinstance(item, str) or not isinstance(item, Iterable):
            raise TypeError(f"not a template: {item!r}")
        else:
            yield from _each(item)


word = column("word")
lower = simple("lower")
shape = simple("shape")
type_ = simple("type")
short_type = simple("short_type")
cap = simple("cap")
normal = simple("normal")
title = simple("title")
radicals = simple("radicals")
bias = Bias()
