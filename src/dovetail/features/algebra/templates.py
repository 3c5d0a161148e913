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

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, overload

from dovetail.errors import DovetailError
from dovetail.features.algebra import attributes
from dovetail.features.algebra.attributes import Attribute
from dovetail.features.compile.hashing import LONGEST_WORD
from dovetail.features.resources.resource import Derivable, Resource

Extracted = Sequence[Iterable[str] | Mapping[str, float]]


@dataclass(frozen=True)
class Template:
    """Base of all templates. ``edge`` says whether its features look at a pair of labels or at one."""

    edge: bool = field(default=False, kw_only=True)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the text that the template reads."""
        return ()

    @property
    def resources(self) -> dict[str, Resource]:
        """The resources that the template reads, by name."""
        return {}

    @property
    def derived(self) -> dict[str, Derivable]:
        """The columns that are to be made from the words before the template is compiled, and what makes each."""
        return {}

    def text(self) -> str:
        """The template as it is written."""
        raise NotImplementedError

    def __str__(self) -> str:
        return f"edge({self.text()})" if self.edge else self.text()

    def __repr__(self) -> str:
        return str(self)


@dataclass(frozen=True, repr=False)
class At(Template):
    """Attributes at positions relative to the token; more than one is a conjunction."""

    parts: tuple[tuple[Attribute, int], ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the text that the template reads."""
        return tuple(dict.fromkeys("word" if a.column in self.derived else a.column for a, _ in self.parts))

    @property
    def resources(self) -> dict[str, Resource]:
        """The resources of the parts."""
        return dict(a.resource for a, _ in self.parts if a.resource is not None)

    @property
    def derived(self) -> dict[str, Derivable]:
        """The derived columns of the parts."""
        return {a.column: a.maker for a, _ in self.parts if a.maker is not None}

    def text(self) -> str:
        """The parts joined by ``&``."""
        return " & ".join(f"{attribute}[{offset}]" for attribute, offset in self.parts)

    def __and__(self, other: At) -> At:
        if not isinstance(other, At):
            raise TypeError(f"only templates at positions can be joined with &, not {other!r}")
        return At(self.parts + other.parts)


@dataclass(frozen=True, repr=False)
class Bag(Template):
    """The set of values of an attribute in a window, positions forgotten.

    An attribute with several values for a word (affixes) has those of each distinct word.
    """

    attribute: Attribute
    first: int
    last: int

    @property
    def columns(self) -> tuple[str, ...]:
        """The column that the bag reads."""
        return At(((self.attribute, 0),)).columns

    @property
    def resources(self) -> dict[str, Resource]:
        """The resource of the attribute."""
        return At(((self.attribute, 0),)).resources

    @property
    def derived(self) -> dict[str, Derivable]:
        """The derived column of the attribute."""
        return At(((self.attribute, 0),)).derived

    def text(self) -> str:
        """The attribute and the window."""
        return f"bag({self.attribute}, {self.first}, {self.last})"


@dataclass(frozen=True, repr=False)
class Elsewhere(Template):
    """The values that an attribute has beside the same word in other sentences of the document.

    Only words written with a capital are looked for again, case ignored. Each distinct word beside them counts once.
    """

    attribute: Attribute
    offset: int

    @property
    def columns(self) -> tuple[str, ...]:
        """The column of the attribute, and the words that come again."""
        return tuple(dict.fromkeys(("word", *At(((self.attribute, 0),)).columns)))

    @property
    def resources(self) -> dict[str, Resource]:
        """The resource of the attribute."""
        return At(((self.attribute, 0),)).resources

    @property
    def derived(self) -> dict[str, Derivable]:
        """The derived column of the attribute."""
        return At(((self.attribute, 0),)).derived

    def text(self) -> str:
        """The attribute and the position."""
        return f"elsewhere({self.attribute}[{self.offset}])"


@dataclass(frozen=True, repr=False)
class Number(Template):
    """A column of numbers as one real-valued feature."""

    column: str
    offset: int = 0
    source: tuple[str, Any] | None = field(default=None, compare=False)
    """Of a derived column: the name of its resource, and the resource."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The column of numbers."""
        return (self.column,) if self.source is None else ("word",)

    @property
    def resources(self) -> dict[str, Resource]:
        """The resource that the numbers come from."""
        return {} if self.source is None else dict([self.source])

    @property
    def derived(self) -> dict[str, Derivable]:
        """The column of numbers, if it is made from the words."""
        return {} if self.source is None else {self.column: self.source[1]}

    def text(self) -> str:
        """The column and the position."""
        name = f"number({attributes.written(self.column)})" if self.source is None else self.column
        return f"{name}[{self.offset}]"

    def __getitem__(self, offset: int) -> Number:
        return replace(self, offset=offset)


@dataclass(frozen=True, repr=False)
class Bias(Template):
    """A feature that is always there: it learns how common each label is."""

    def text(self) -> str:
        """Always ``bias``."""
        return "bias"


@dataclass(frozen=True, repr=False)
class Call(Template):
    """A Python function of a sentence: for every word a set of strings, or a mapping from strings to numbers.

    Slower than the algebra, because it runs per token. A model that uses one is loaded with the function at hand:
    ``Tagger.load(path, functions=[function])``.
    """

    function: Callable[[Any], Extracted] = field(compare=False)
    name: str = ""

    def text(self) -> str:
        """The name of the function."""
        return f"call({self.name})"


def weighted(found: Iterable[str] | Mapping[str, float]) -> dict[str, float]:
    """What a Python function gave for one word, as a mapping: features without a number count one.

    >>> weighted(["a", "b"])
    {'a': 1.0, 'b': 1.0}
    """
    if isinstance(found, str):
        raise DovetailError(f"a function of a sentence gives a list of features a word, not the string {found!r}")
    return dict(found) if isinstance(found, Mapping) else dict.fromkeys(found, 1.0)


MOST_POSITIONS = 1000
"""A longer range of positions is a slip: each of them is a template of its own."""


class Source:
    """An attribute that positions can be taken of: ``word[0]``, ``word[-2:3]``."""

    def __init__(self, attribute: Attribute) -> None:
        self.attribute = attribute

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
            return [At(((self.attribute, offset),)) for offset in range(where.start, where.stop)]
        return At(((self.attribute, int(where)),))

    def __repr__(self) -> str:
        return str(self.attribute)


def column(name: str) -> Source:
    """The value of any column: ``column("pos")[-1]``."""
    return Source(attributes.identity(name))


def prefix(shortest: int, longest: int | None = None, of: str = "word") -> Source:
    """The first ``shortest`` to ``longest`` characters."""
    return Source(attributes.prefix(shortest, longest, of))


def suffix(shortest: int, longest: int | None = None, of: str = "word") -> Source:
    """The last ``shortest`` to ``longest`` characters."""
    return Source(attributes.suffix(shortest, longest, of))


def ngrams(shortest: int, longest: int = LONGEST_WORD + 2, of: str = "word") -> Source:
    """All character n-grams, the edges of the word marked."""
    return Source(attributes.ngrams(shortest, longest, of))


def of_column(name: str, of: str) -> Source:
    """A simple attribute (``shape``, ``lower``, ...) of another column than the word."""
    return Source(attributes.simple(name, of))


def bag(source: Source, first: int, last: int | None = None) -> list[Bag]:
    """The words in a window as a set: ``bag(word, 4)`` left and right apart, ``bag(word, -4, 4)`` as one."""
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
    return Number(name)


def call(function: Callable[[Any], Extracted], name: str | None = None) -> Call:
    """A Python function of a sentence as a template."""
    name = name or str(getattr(function, "__name__", ""))
    if not name.isidentifier():
        raise ValueError(f"give the function a name: call(function, 'my_features'), not {name!r}")
    return Call(function, name)


def edge(*templates: Template | Iterable[Template]) -> list[Template] | Template:
    """The same features, joined with the pair (previous label, label)."""
    made = [replace(t, edge=True) for t in flatten(templates)]
    return made[0] if len(made) == 1 else made


def flatten(templates: Iterable[Any]) -> list[Template]:
    """Templates out of any nesting of lists, in order, without repeats."""
    found: dict[Template, None] = {}
    for item in templates:
        if isinstance(item, Template):
            if isinstance(item, Call) and any(t is not item and t == item for t in found if isinstance(t, Call)):
                raise ValueError(f"two functions with the name {item.name!r}: call(function, 'another_name')")
            found[item] = None
        elif callable(item) and not isinstance(item, Source):
            found[call(item)] = None
        elif isinstance(item, Source):
            found[item[0]] = None
        elif isinstance(item, str) or not isinstance(item, Iterable):
            raise TypeError(f"not a template: {item!r}")
        else:
            found.update(dict.fromkeys(flatten(item)))
    return list(found)


word = column("word")
lower = Source(attributes.simple("lower"))
shape = Source(attributes.simple("shape"))
type_ = Source(attributes.simple("type"))
short_type = Source(attributes.simple("short_type"))
cap = Source(attributes.simple("cap"))
normal = Source(attributes.simple("normal"))
title = Source(attributes.simple("title"))
radicals = Source(attributes.simple("radicals"))
bias = Bias()
