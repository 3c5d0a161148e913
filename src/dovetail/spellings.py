"""Old spellings of names that are formats. Files, requests, commands and programs that use them keep being read."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping
from functools import wraps
from typing import TYPE_CHECKING, Any, ClassVar

from dovetail.errors import NewerVersionWarning

OLD_SPELLINGS: dict[str, dict[str, str | None]] = {
    "settings": {},  # of models, in files, checkpoints and constructors, and attributes: [KIND. or CLASS.]NAME
    "header": {},  # of model files: KIND.NAME, FIELD.NAME, FIELD.*.NAME
    "arrays": {},  # of model files: the end of their names
    "state": {},  # of optimisers, in checkpoints
    "labels": {},  # of the labelling store
    "log": {},  # of curves, simulations, tuning and tables of types: [Run. or Outcome. or TypeTable.]NAME
    "request": {},  # to servers: [PATH.]NAME
    "option": {},  # [COMMAND.]--NAME
    "command": {},
    "python": {},  # PACKAGE.NAME, FUNCTION.PARAMETER, CLASS.METHOD.PARAMETER
}
"""For each table the old spellings, oldest first, and the present ones; None for names that have no effect any more."""


def present(table: str, name: str, *places: str, warn: int = 0) -> str | None:
    """Return the present spelling of a name, looked up in some places and then in all; ``warn`` at a stack level."""
    old = OLD_SPELLINGS[table]
    new = next((old[key] for key in (*(f"{place}.{name}" for place in places), name) if key in old), name)
    if warn > 0 and new != name:
        advice = f"is called {new} now" if new is not None else "has no effect any more; leave it out"
        warnings.warn(f"{name} {advice}", FutureWarning, stacklevel=warn)
    return new


def original(table: str, name: str, *places: str) -> str:
    """Return the oldest spelling of a name. Checkpoints hash it, so that they outlive the renaming of a setting."""
    outer, under, inner = name.rpartition("__")
    keys = [key.rpartition(".") for key, new in OLD_SPELLINGS[table].items() if new == inner]
    return outer + under + next((old for place, _, old in keys if place in ("", *places)), inner)


def respelled(table: str, given: Mapping[str, Any], *places: str, warn: int = 0) -> dict[str, Any]:
    """Return a mapping with the present spellings of its keys, without those that have no effect any more."""
    found: dict[Any, Any] = {}
    for name, value in given.items():
        found[present(table, name, *places, warn=warn)] = value
    found.pop(None, None)
    return found


def known(table: str, given: Mapping[str, Any], names: Collection[str], where: object, *places: str) -> dict[str, Any]:
    """Return what a file says under these names, in whatever spelling; a warning tells what else it says."""
    found = respelled(table, given, *places)
    if strange := [name for name in found if name not in names]:
        told = f"{where}: left out {', '.join(map(repr, strange)):.300}, which this version of dovetail does not know"
        advice = "the file may be of a newer version, and answers may differ: upgrade dovetail"
        warnings.warn(f"{told}; {advice}", NewerVersionWarning, stacklevel=3)
    return {name: value for name, value in found.items() if name in names}


def respelled_header(about: Any, *places: str) -> Any:
    """Return the header of a model file, or a value in it, with present spellings; keys that are data stay."""
    if isinstance(about, list):
        return [respelled_header(each, *places) for each in about]
    if not isinstance(about, dict) or not OLD_SPELLINGS["header"]:
        return about
    places = (str(about["kind"]),) if "kind" in about else places
    fields = respelled("header", about, *places).items()
    return {name: respelled_header(value, name, *(f"{place}.*" for place in places[:1])) for name, value in fields}


def reads_old_spellings(function: Any, table: str = "python", *places: str) -> Any:
    """Let a function take its parameters by old spellings as well, with a warning."""
    own = places or (function.__qualname__,)
    return wraps(function)(lambda *args, **given: function(*args, **respelled(table, given, *own, warn=4)))


class OfKind:
    """A class of models. Its settings and attributes can be named by their old spellings as well, with a warning."""

    kind: ClassVar[str]
    """What model files say of it."""

    @classmethod
    def stored_kind(cls) -> str:
        """What model files say that it is."""
        return cls.kind

    @classmethod
    def _places(cls) -> tuple[str, ...]:
        return cls.stored_kind(), *(base.__name__ for base in cls.__mro__)

    if not TYPE_CHECKING:  # type checkers would take any name for right

        def __new__(cls, *args, **given):
            """Make the constructor read old spellings, once it is given one."""
            if any(present("settings", name, *cls._places()) != name for name in given):
                cls.__init__ = reads_old_spellings(cls.__init__, "settings", *cls._places())
            return super().__new__(cls)

        def __getattr__(self, name):
            return object.__getattribute__(self, present("settings", name, *self._places(), warn=3) or name)
