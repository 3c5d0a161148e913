"""Named sets of templates, and sets read from TOML files."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from dovetail.errors import DovetailError
from dovetail.features.algebra.attributes import written
from dovetail.features.algebra.parse import parse
from dovetail.features.algebra.templates import Call, Elsewhere, Template, flatten
from dovetail.features.resources.resource import Resource
from dovetail.features.resources.templates import FROM_FILES, class_of

SETS: dict[str, tuple[str, tuple[str, ...]]] = {
    "finkel-ner": (
        "Finkel 2010, table 3.1, named entities",
        (
            "bias",
            "word[-1:2]",
            "ngrams(1)[0]",
            "pos[0]",
            "pos[-1] & pos[0]",
            "pos[0] & pos[1]",
            "pos[-1] & pos[0] & pos[1]",
            "shape[0]",
            "shape[-1] & shape[0]",
            "shape[0] & shape[1]",
            "shape[-1] & shape[0] & shape[1]",
            "bag(word, 4)",
        ),
    ),
    "finkel-template": (
        "Finkel 2010, table 3.1, template filling",
        (
            "bias",
            "word[-1:2]",
            "ngrams(1, 6)[0]",
            "shape[0]",
            "shape[-1] & shape[0]",
            "shape[0] & shape[1]",
            "shape[-1] & shape[0] & shape[1]",
            "bag(word, 9)",
        ),
    ),
    "liang-ner": (
        "Liang 2005, figure 5-3, the regular features of the Markov model",
        (
            "bias",
            "word[-1:2]",
            "lower[-1:2]",
            "type[-1:2]",
            "short_type[-1:2]",
            "prefix(1, 4)[-1:2]",
            "suffix(1, 4)[-1:2]",
            "word[-1] & word[0]",
            "word[0] & word[1]",
            "edge(word[-1] & word[0])",
        ),
    ),
    "liang-segmentation": (
        "Liang 2005, figure 5-1, the regular features of the Markov model over characters",
        (
            "bias",
            "word[-2:3]",
            "word[-2] & word[-1]",
            "word[-1] & word[0]",
            "word[0] & word[1]",
            "word[1] & word[2]",
            "edge(word[-1] & word[0])",
        ),
    ),
    "wang-english": (
        "Wang 2014, table 2.2, English, node features",
        (
            "bias",
            "word[-1:2]",
            "shape[-1:2]",
            "word[0] & shape[-1]",
            "word[-1] & word[-2] & shape[-1]",
            "bag(word, -4, 4)",
            "cap[-1] & cap[0] & cap[1]",
            "title[-1:1]",
        ),
    ),
    "wang-chinese": (
        "Wang 2014, table 2.2, Chinese, node features",
        (
            "bias",
            "word[-1:2]",
            "word[-1] & word[0]",
            "word[0] & word[1]",
            "shape[-4:5]",
            "prefix(1, 4)[-1:1]",
            "suffix(1, 4)[-1:1]",
            "radicals[0]",
        ),
    ),
    "plain": (
        "the 26 plain templates of the comparison with CRFsuite",
        (
            "word[-2:3]",
            "lower[0]",
            "suffix(2, 4)[0]",
            "prefix(2, 3)[0]",
            "shape[-2:3]",
            "pos[-2:3]",
            "word[-1] & word[0]",
            "word[0] & word[1]",
            "pos[-1] & pos[0]",
            "pos[0] & pos[1]",
            "shape[-1] & shape[0]",
        ),
    ),
    "ner": (
        "our own set for named entities",
        (
            "bias",
            "word[-2:3]",
            "lower[-1:2]",
            "ngrams(1, 6)[0]",
            "prefix(1, 4)[-1]",
            "suffix(1, 4)[-1]",
            "prefix(1, 4)[1]",
            "suffix(1, 4)[1]",
            "shape[-2:3]",
            "pos[-2:3]",
            "bag(lower, 4)",
            "word[-1] & word[0]",
            "word[0] & word[1]",
            "word[-1] & shape[0]",
            "shape[0] & word[1]",
            "shape[-1] & shape[0]",
            "shape[0] & shape[1]",
            "shape[-2] & shape[-1] & shape[0]",
            "shape[-1] & shape[0] & shape[1]",
            "shape[0] & shape[1] & shape[2]",
            "pos[-1] & pos[0]",
            "pos[0] & pos[1]",
            "elsewhere(lower[-1])",
            "elsewhere(lower[1])",
            "elsewhere(shape[-1:2])",
        ),
    ),
}

for _language in ("english", "chinese"):
    _about, _lines = SETS[f"wang-{_language}"]
    SETS[f"wang-{_language}-edges"] = (
        _about.replace("node features", "node and edge features"),
        _lines + tuple(f"edge({line})" for line in _lines),
    )


@dataclass(frozen=True)
class FeatureSet:
    """Templates under a name.

    >>> FeatureSet.named("plain").name
    'plain'
    """

    name: str
    templates: tuple[Template, ...]
    optional: frozenset[str] = field(default=frozenset(), compare=False)
    """Columns that the set does without where the data has none, as named sets do without parts of speech."""

    @classmethod
    def named(cls, name: str) -> FeatureSet:
        """A set by its name."""
        if name not in SETS:
            raise DovetailError(f"no feature set {name!r}; there are {', '.join(sorted(SETS))}, or give a .toml file")
        found = cls.from_lines(name, SETS[name][1])
        return replace(found, optional=frozenset(found.columns) - {"word"})

    @classmethod
    def from_lines(
        cls,
        name: str,
        lines: Iterable[str],
        functions: Iterable[Call] = (),
        resources: Mapping[str, Resource] | None = None,
    ) -> FeatureSet:
        """A set from lines of the algebra, with the Python functions and the resources that they name."""
        functions = tuple(functions)
        return cls(name, tuple(flatten([parse(line, functions, resources) for line in lines])))

    @classmethod
    def from_toml(cls, path: str | Path) -> FeatureSet:
        """A set from a file with ``templates = [...]`` and, if wished, ``extends = "ner"`` and ``name``.

        Tables ``[clusters]``, ``[lexicon]`` and ``[association]`` give files by name, relative to this one.
        """
        try:
            data = tomllib.loads(Path(path).read_text(encoding="utf-8"))
        except OSError as error:
            raise DovetailError(f"{path}: cannot be read ({error.strerror})") from None
        except (ValueError, RecursionError) as error:  # not TOML, not UTF-8, or a number of thousands of digits
            raise DovetailError(f"{path}: not a TOML file: {error}") from None
        unknown = set(data) - {"name", "extends", "templates", *FROM_FILES}
        lines = data.get("templates", [])
        tables = [data.get(kind, {}) for kind in FROM_FILES]
        if (
            unknown
            or not all(isinstance(data.get(name, ""), str) for name in ("name", "extends"))
            or not (isinstance(lines, list) and all(isinstance(line, str) for line in lines))
            or not all(isinstance(t, dict) and all(isinstance(p, str) for p in t.values()) for t in tables)
        ):
            raise DovetailError(
                f'{path}: expected name = "...", extends = "...", templates = ["..."] and tables of files under '
                f"{', '.join(f'[{kind}]' for kind in FROM_FILES)}; found {', '.join(map(repr, data))}"
            )
        resources = {
            name: class_of(kind).read(Path(path).parent / file)
            for kind, table in zip(FROM_FILES, tables, strict=True)
            for name, file in table.items()
        }
        base = cls.named(data["extends"]) if "extends" in data else cls("", ())
        own = cls.from_lines(str(path), lines, (), resources)
        if not base.templates + own.templates:
            raise DovetailError(f'{path}: no templates; write templates = ["word[-1:2]", ...]')
        everything = tuple(flatten([base.templates, own.templates]))
        found = cls(data.get("name", Path(path).stem), everything, base.optional - set(own.columns))
        unused = {name: r for name, r in resources.items() if name not in found.resources}
        return found.joined(**unused)  # a resource that no template names adds the usual templates of its kind

    @classmethod
    def of(cls, features: Any) -> FeatureSet:
        """A set from whatever a user gives: a set, a name, a TOML file, or templates in any nesting."""
        if isinstance(features, FeatureSet):
            return features
        if isinstance(features, str | Path):
            if str(features).endswith(".toml"):
                return cls.from_toml(features)
            return cls.named(str(features))
        if not isinstance(features, Iterable):
            raise DovetailError(
                f"features={features!r:.60}: give the name of a set such as 'ner', a TOML file, or a list of templates"
            )
        try:
            made = [parse(f) if isinstance(f, str) else f for f in features]
            return cls("custom", tuple(flatten(made)))
        except (TypeError, ValueError) as error:
            raise DovetailError(f"features: {error}") from None

    def __reduce__(self) -> tuple[Any, ...]:
        functions = [(t.function, t.name) for t in self.templates if isinstance(t, Call)]
        return _read_again, (self.name, self.lines(), functions, self.resources, self.optional)

    def lines(self) -> list[str]:
        """The set as lines of the algebra, one template each."""
        return [str(template) for template in self.templates]

    def without_columns(self, missing: Iterable[str]) -> FeatureSet:
        """The set less the templates that read any of these columns."""
        gone = set(missing)
        return replace(self, templates=tuple(t for t in self.templates if not gone & set(t.columns)))

    @property
    def looks_elsewhere(self) -> bool:
        """Whether some template looks at other sentences of the document."""
        return any(isinstance(t, Elsewhere) for t in self.templates)

    def without_elsewhere(self) -> FeatureSet:
        """The set less the templates that look at other sentences of the document."""
        return replace(self, templates=tuple(t for t in self.templates if not isinstance(t, Elsewhere)))

    @property
    def columns(self) -> tuple[str, ...]:
        """Every column of the text that some template reads."""
        return tuple(dict.fromkeys(c for t in self.templates for c in t.columns))

    @property
    def resources(self) -> dict[str, Resource]:
        """Every resource that some template reads, by name."""
        return {name: resource for t in self.templates for name, resource in t.resources.items()}

    def joined(self, **resources: Resource) -> FeatureSet:
        """The set with the usual templates of some resources, each under the name it is given here.

        >>> from dovetail.features.resources.clusters import Clusters
        >>> clusters = Clusters.of_paths({"London": "0110", "Paris": "0111", "the": "10"})
        >>> list(FeatureSet.named("plain").joined(news=clusters).resources)
        ['news']
        """
        if not resources:
            return self
        usual = [line for name, resource in resources.items() for line in resource.usual(written(name))]
        more = FeatureSet.from_lines(self.name, usual, (), {**self.resources, **resources})
        everything = tuple(flatten([self.templates, more.templates]))
        return replace(self, name=" + ".join([self.name, *resources]), templates=everything)


def _read_again(
    name: str,
    lines: list[str],
    functions: list[tuple[Any, str]],
    resources: dict[str, Resource],
    optional: frozenset[str],
) -> FeatureSet:
    """A set out of a pickle: written as lines, because attributes hold functions without a name."""
    calls = [Call(function, called) for function, called in functions]
    return replace(FeatureSet.from_lines(name, lines, calls, resources), optional=optional)
