"""Sets of templates: what sets for tokens, for segments, for nested segments and for characters have in common."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Self

from dovetail.errors import DovetailError
from dovetail.features.algebra.attributes import written
from dovetail.features.algebra.syntax import parse
from dovetail.features.algebra.templates import Call, Elsewhere, Template, flatten
from dovetail.features.resources.resource import Resource, Resources

Named = dict[str, tuple[str, tuple[str, ...]]]
"""Sets by name: where each comes from, and its lines."""


@dataclass(frozen=True)
class Features:
    """Templates under a name, each of one of ``PARTS``: what is scored by them."""

    name: str
    templates: tuple[Template, ...]
    optional: frozenset[str] = field(default=frozenset(), compare=False)
    """Columns that the set does without where the data has none, as named sets do without parts of speech."""

    PARTS: ClassVar[tuple[str, ...]] = ()
    SETS: ClassVar[Named] = {}
    USUAL: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """The lines that a resource of a kind adds, with its {name}; a kind that is not here adds its own usual ones."""
    parse = staticmethod(parse)
    """From a line, with the Python functions and the resources that it may name, to its templates."""
    WHAT: ClassVar[str] = ""
    """What these sets are of, for errors."""
    OTHERS: ClassVar[str] = ""
    """What else a user may give."""

    def __post_init__(self) -> None:
        for template in self.templates:
            if template.part not in self.PARTS:
                where = ", ".join(self.PARTS) + ("; it is for taggers alone" if isinstance(template, Call) else "")
                raise DovetailError(f"template {str(template)!r} is of the part {template.part}, not one of {where}")

    @classmethod
    def named(cls, name: str) -> Self:
        """A set by its name."""
        if name not in cls.SETS:
            there = f"there {'is' if len(cls.SETS) == 1 else 'are'} {', '.join(sorted(cls.SETS))}"
            raise DovetailError(f"no feature set {name!r}{cls.WHAT}; {there}{cls.OTHERS}")
        found = cls.from_lines(name, cls.SETS[name][1])
        return replace(found, optional=frozenset(found.columns) - {"word"})

    @classmethod
    def from_lines(
        cls, name: str, lines: Iterable[str], functions: Iterable[Call] = (), resources: Resources | None = None
    ) -> Self:
        """A set from lines of the algebra, with the Python functions and the resources that they name."""
        functions = tuple(functions)
        return cls(name, tuple(flatten([cls.parse(line, functions, resources) for line in lines])))

    @classmethod
    def from_toml(cls, path: str | Path) -> Self:
        """A set from a file, where there are such files."""
        raise DovetailError(f"{path}: give templates{cls.WHAT} as lines, not as a TOML file")

    @classmethod
    def of(
        cls, features: Any, resources: Resources | None = None, functions: Iterable[Call] = (), more: Iterable[str] = ()
    ) -> Self:
        """A set from whatever a user gives: a set, a name, a TOML file, or templates in any nesting.

        Resources join a named set with their usual templates, and ``more`` lines any that is not made yet.
        """
        if isinstance(features, Features) and cls.PARTS == features.PARTS:
            return features  # type: ignore[return-value]
        if isinstance(features, str | Path):
            if str(features).endswith(".toml"):
                return cls.from_toml(features)
            base, features = cls.named(str(features)), [*cls.usual(resources or {}), *more]
            return replace(base.extended(features, resources or {}, functions), name=base.name)
        if not isinstance(features, Iterable):
            raise DovetailError(
                f"features={features!r:.60}: give the name of a set such as 'ner', a TOML file, or a list of templates"
            )
        try:
            functions = tuple(functions)
            made = [cls.parse(f, functions, resources) if isinstance(f, str) else f for f in [*features, *more]]
            return cls("custom", tuple(flatten(made)))
        except (TypeError, ValueError) as error:
            raise DovetailError(f"features: {error}") from None

    @classmethod
    def usual(cls, resources: Resources) -> list[str]:
        """The lines that resources add if nothing else is said."""
        found: list[str] = []
        for name, resource in resources.items():
            lines = cls.USUAL.get(resource.kind)
            shown = written(name)
            found += resource.usual(shown) if lines is None else [line.format(name=shown) for line in lines]
        return found

    def __reduce__(self) -> tuple[Any, ...]:
        functions = [(t.function, t.name) for t in self.templates if isinstance(t, Call)]
        return _read_again, (type(self), self.name, self.lines(), functions, self.resources, self.optional)

    def lines(self) -> list[str]:
        """The set as lines of the algebra, one template each."""
        return [str(template) for template in self.templates]

    @cached_property
    def parts(self) -> dict[str, tuple[Template, ...]]:
        """The templates by what they are of, in the order of ``PARTS``; parts without a template are left out."""
        found = {part: tuple(t for t in self.templates if t.part == part) for part in self.PARTS}
        return {part: templates for part, templates in found.items() if templates}

    def without_columns(self, missing: Iterable[str]) -> Self:
        """The set less the templates that read any of these columns."""
        gone = set(missing)
        return replace(self, templates=tuple(t for t in self.templates if not gone & set(t.columns)))

    @property
    def looks_elsewhere(self) -> bool:
        """Whether some template looks at other sentences of the document."""
        return any(isinstance(t, Elsewhere) for t in self.templates)

    def without_elsewhere(self) -> Self:
        """The set less the templates that look at other sentences of the document."""
        return replace(self, templates=tuple(t for t in self.templates if not isinstance(t, Elsewhere)))

    @cached_property  # asked for with every sentence
    def columns(self) -> tuple[str, ...]:
        """Every column of the text that some template reads."""
        return tuple(dict.fromkeys(c for t in self.templates for c in t.columns))

    @property
    def resources(self) -> dict[str, Resource]:
        """Every resource that some template reads, by name."""
        return {name: resource for t in self.templates for name, resource in t.resources.items()}

    def joined(self, **resources: Resource) -> Self:
        """The set with the usual templates of some resources, each under the name it is given here.

        >>> from dovetail.features.algebra.sets import FeatureSet
        >>> from dovetail.features.resources.clusters import Clusters
        >>> clusters = Clusters.of_paths({"London": "0110", "Paris": "0111", "the": "10"})
        >>> list(FeatureSet.named("plain").joined(news=clusters).resources)
        ['news']
        """
        more = self.extended(self.usual(resources), {**self.resources, **resources})
        return replace(more, name=" + ".join([self.name, *resources]))

    def extended(self, lines: Iterable[str], resources: Resources, functions: Iterable[Call] = ()) -> Self:
        """The set with the templates of some more lines."""
        more = [self.parse(line, functions, resources) for line in lines]
        return replace(self, templates=tuple(flatten([self.templates, more])))


def _read_again(
    kind: type[Features], name: str, lines: list[str], functions: list[tuple[Any, str]],
    resources: dict[str, Resource], optional: frozenset[str],
) -> Features:  # fmt: skip
    """A set out of a pickle: written as lines, because attributes hold functions without a name."""
    calls = [Call(function, called) for function, called in functions]
    return replace(kind.from_lines(name, lines, calls, resources), optional=optional)
