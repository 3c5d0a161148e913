"""Configurations: named settings of a model, from the command line or a TOML file."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, cached_property
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import Any

from dovetail.errors import DovetailError, InputError
from dovetail.spellings import respelled
from dovetail.text.files import read_whole

KINDS = ("tagger", "segmenter")
"""The kinds of models that have configurations."""


@dataclass(frozen=True)
class Configuration:
    """A name, the kind of model, and its settings by name."""

    name: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    kind: str = "tagger"

    def build(self, threads: int | None = None) -> Any:
        """A new, untrained model; what is wrong with the settings is told here."""
        if self.kind not in KINDS:
            raise DovetailError(f"configuration {self.name!r}: no kind {self.kind!r}; choose {' or '.join(KINDS)}")
        try:
            return _built(self.kind, self.settings, threads)
        except DovetailError as error:
            raise DovetailError(f"configuration {self.name!r}: {error}") from None

    @cached_property
    def identity(self) -> dict[str, Any]:
        """All that shapes the model, as JSON can hold it: the kind, the settings, the contents of files they name."""
        plain = str | int | float | bool | None
        settings = {name: value if isinstance(value, plain) else repr(value) for name, value in self.settings.items()}
        named = [Path(value) for value in strings_in(list(self.settings.values()))]
        inside = [sorted(path.iterdir()) if path.is_dir() else [path] for path in named]
        files = [contents_of(file) for file in chain.from_iterable(inside) if file.is_file()]
        return {"kind": self.kind, "settings": settings, "files": files}


def strings_in(value: Any) -> Iterator[str]:
    """All strings in lists and tables."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | tuple | Mapping):
        for item in value.values() if isinstance(value, Mapping) else value:
            yield from strings_in(item)


def contents_of(path: Path) -> list[Any]:
    """A digest of a file; of a TOML file also of those that it names, such as clusters."""
    named: list[Any] = []
    if path.suffix == ".toml":
        with suppress(tomllib.TOMLDecodeError):
            files = (path.parent / name for name in strings_in(tomllib.loads(read_whole(path))) if "\n" not in name)
            named = [contents_of(file) for file in files if file != path and file.is_file()]
    return [sha256(path.read_bytes()).hexdigest(), *named]


def _built(kind: str, settings: Mapping[str, Any], threads: int | None) -> Any:
    """A model of a kind from settings, which are checked; resources join the features of a tagger."""
    from dovetail.features.algebra.sets import FeatureSet
    from dovetail.models.segmenter.estimator import Segmenter
    from dovetail.models.tagger.estimator import Tagger

    own_class: Any = Tagger if kind == "tagger" else Segmenter
    own, resources = _divided(settings, own_class().get_params(), kind)
    if kind == "segmenter":
        own = {"resources": resources, **own}
    model = own_class(**{"threads": threads, **own})
    model.check_settings()
    if kind == "tagger":
        model.features = FeatureSet.of(model.features).joined(**resources)
    return model


def _divided(settings: Mapping[str, Any], known: Mapping[str, Any], kind: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The settings that a model has, checked, and the resources that the others name: ``clusters=en.paths``."""
    from dovetail.features.resources.templates import FROM_FILES

    own: dict[str, Any] = {}
    resources: dict[str, Any] = {}
    for name, value in respelled("settings", settings, kind).items():
        if name in known:
            own[name] = _of_kind(name, value, known[name])
        elif name in FROM_FILES:
            resources |= _resources(name, tuple(map(str, value if isinstance(value, list) else [value])))
        else:
            raise DovetailError(f"a {kind} has no setting {name!r}; it has {', '.join([*known, *FROM_FILES])}")
    return own, resources


def _of_kind(name: str, value: Any, default: Any) -> Any:
    """The value, if it is of the kind of the setting's default."""
    for kind, what in ((bool, "true or false"), (int | float, "a number"), (str, "a name")):
        anything = kind is str and name == "features"
        if isinstance(default, kind) and not isinstance(value, kind) and not anything:
            raise DovetailError(f"{name}={value}: expected {what}")
    return value


@cache
def _resources(kind: str, paths: tuple[str, ...]) -> dict[str, Any]:
    """Resources from their files, read once a process: runs share them. Clusters bring casing along, as in training."""
    from dovetail.features.resources.recipe import as_resources, read_clusterings
    from dovetail.features.resources.templates import class_of

    if kind == "clusters":
        return {**as_resources(read_clusterings(paths))}
    return {Path(path).name.split(".")[0]: class_of(kind).read(path) for path in paths}


def parse_configuration(text: str) -> Configuration:
    """A configuration as the command line writes it: ``NAME=SETTING=VALUE,SETTING=VALUE``, or just ``NAME``.

    Values are numbers, ``true``, ``false`` or names. A part without ``=`` goes on with the list before it.

    >>> parse_configuration("plain=features=plain,l2=1,ignore=pos,chunk").settings
    {'features': 'plain', 'l2': 1, 'ignore': ['pos', 'chunk']}
    """
    name, _, rest = text.partition("=")
    settings: dict[str, list[Any]] = {}
    last = ""
    for part in filter(None, (part.strip() for part in rest.split(","))):
        setting, equals, value = part.partition("=")
        if equals:
            last = setting.strip()
            settings[last] = [_scalar(value.strip())]
        elif last:
            settings[last].append(_scalar(part))
        else:
            raise DovetailError(f"configuration {text!r}: {part!r} is not a setting; write {name}=SETTING=VALUE")
    lists = {key: found if key == "ignore" or len(found) > 1 else found[0] for key, found in settings.items()}
    return _checked(name.strip(), lists, text)


def _scalar(text: str) -> Any:
    """A number or a truth value as TOML reads it, else the text itself."""
    if text in ("true", "false"):
        return text == "true"
    for number in (int, float):
        with suppress(ValueError):
            return number(text)
    return text


def _checked(name: str, settings: dict[str, Any], where: object) -> Configuration:
    if not name:
        raise DovetailError(f"configuration {where!r} has no name; write NAME=SETTING=VALUE")
    kind = settings.pop("kind", "tagger")
    return Configuration(name, settings, str(kind))


def read_configurations(path: str | Path) -> list[Configuration]:
    """The configurations of a TOML file: a table each, ``[NAME]`` with its settings below it."""
    try:
        tables = tomllib.loads(read_whole(path))
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"not TOML: {error}", path) from None
    stray = [name for name, table in tables.items() if not isinstance(table, dict)]
    if stray:
        raise InputError(f"{stray[0]!r} stands outside a table; put [NAME] above the settings", path)
    if not tables:
        raise InputError("no configurations; write [NAME] with settings below it", path)
    return [_checked(name, dict(table), path) for name, table in tables.items()]
