"""Options from a TOML file (``--config``), and the options of a command as such a file (``--save-config``).

A key is the name of an option without its dashes: ``l2 = 0.03``. Names of files are relative to the folder of the file
that names them. Options of the command line win.
"""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from enum import Enum
from pathlib import Path
from typing import Any

from dovetail.cli.options import option
from dovetail.cli.paths import Reads, Writes
from dovetail.errors import InputError
from dovetail.spellings import present

CONFIG = option("TOML", "Options from this file, NAME = VALUE; those given here win.", Reads(inside=False),
                flag="--config")  # fmt: skip
SAVE_CONFIG = option("TOML", "Write the options of this command to this file, for --config.", Writes())
READ, SAVE = "read_config", "save_config"
"""The names of the parameters."""
NOT_SAVED = frozenset({READ, SAVE, "quiet", "resume", "help"})


def with_config(command: Any, ctx: Any, args: list[str], roles: Mapping[str, Reads | Writes]) -> list[str]:
    """The arguments of a command, after those that its configuration file gives and the command line does not."""
    if not any(param.name == READ for param in command.params):
        return args
    try:
        given, _, order = command.make_parser(ctx).parse_args(args=list(args))
    except Exception:  # what is wrong is reported when they are parsed for good
        return args
    path = given.get(READ)
    if not path:
        return args
    named = {param.name for param in order}
    found: list[str] = []
    for key, value in read_config(path).items():
        param = _param(command, key, path)
        if param.name not in named:
            found += _arguments(param, value, key, Path(path), roles.get(param.name))
    return [*found, *args]


def read_config(path: str | Path) -> dict[str, Any]:
    """The keys and values of a file."""
    from dovetail.text.files import read_whole

    try:
        return tomllib.loads(read_whole(path))
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"not TOML: {error}; write NAME = VALUE, texts in quotes", path) from None


def _param(command: Any, key: str, path: str | Path) -> Any:
    """The parameter that a key names."""
    known = {one[2:]: p for p in command.params for one in p.opts if one.startswith("--") and p.name not in NOT_SAVED}
    now = str(present("option", f"--{key.replace('_', '-')}", _title(command), warn=1))
    if (found := known.get(now[2:])) is not None:
        return found
    near = get_close_matches(key.replace("_", "-"), known, 1, 0.5)
    advice = f"did you mean {near[0]!r}?" if near else f"see dovetail {_title(command)} --help"
    raise InputError(f"there is no option {key!r}; {advice}", path)


def _title(command: Any) -> str:
    name = str(getattr(command.callback, "__name__", command.name))
    return name.replace("_", " ", 1).replace("_", "-")


def _arguments(param: Any, value: Any, key: str, path: Path, role: Reads | Writes | None) -> list[str]:
    """An option as the command line writes it."""
    flag = next(one for one in param.opts if one.startswith("--"))
    if param.is_flag or param.secondary_opts:
        if not isinstance(value, bool):
            raise InputError(f"{key} = {_toml(value)}: expected true or false", path)
        off = next(iter(param.secondary_opts), None)
        return [flag] if value else [off] if off else []
    if isinstance(value, Mapping):
        value = [f"{name}={one}" for name, one in value.items()]
    several = getattr(param, "multiple", False)
    values = value if isinstance(value, list) else [value]
    if not all(isinstance(one, str | int | float) and not isinstance(one, bool) for one in values):
        raise InputError(f"{key} = {_toml(value)}: expected a number or a text in quotes", path)
    if not several and isinstance(value, list):
        values = [",".join(map(str, value))]
    texts = [_located(str(one), path.parent, role) for one in values]
    return [f"{flag}={text}" for text in texts]


def _located(text: str, folder: Path, role: Reads | Writes | None) -> str:
    """The name of a file as it is from here, if it is one."""
    if role is None or text == "-" or folder == Path():
        return text
    name, equals, file = text.partition("=") if getattr(role, "named", False) else ("", "", text)
    if equals or not getattr(role, "named", False):
        there = Path(os.path.normpath(folder / file))
        if isinstance(role, Writes) or _exists(there):
            return f"{name}{equals}{there}"
        return text
    return os.path.normpath(folder / text) if _exists(folder / text) else text


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def write_config(path: str | Path, values: Mapping[str, Any], roles: Mapping[str, Reads | Writes], about: str) -> None:
    """Options as a file, those that are None left out. ``about`` is its first line, a comment."""
    from dovetail.text.files import atomic_writer

    folder = Path(path).parent
    with atomic_writer(path) as file:
        file.write(f"# {about}\n")
        for name, value in values.items():
            if value is not None and value not in ((), []):
                key = name.replace("_", "-")
                file.write(f"{key} = {_toml(_relative(value, folder, roles.get(name)))}\n")


def _relative(value: Any, folder: Path, role: Reads | Writes | None) -> Any:
    """Names of files as they are from a folder."""
    if isinstance(value, list | tuple):
        return [_relative(one, folder, role) for one in value]
    if role is None or str(value) == "-":
        return value
    name, equals, file = str(value).rpartition("=") if getattr(role, "named", False) else ("", "", str(value))
    known = isinstance(role, Writes) or _exists(Path(file))
    if not known or Path(file).is_absolute():
        return str(value)
    return f"{name}{equals}{os.path.relpath(file, folder)}"


def given_options(ctx: Any) -> dict[str, Any]:
    """The options of a command that were given, by the names of their flags, in the order of its help."""
    found: dict[str, Any] = {}
    for param in ctx.command.params:
        source = ctx.get_parameter_source(param.name)
        if param.name in NOT_SAVED or source is None or source.name == "DEFAULT":
            continue
        found[flag_name(param)] = ctx.params[param.name]
    return found


def flag_name(param: Any) -> str:
    """What a configuration calls an option: ``min-count``."""
    return str(next(one for one in param.opts if one.startswith("--"))[2:])


def _toml(value: Any) -> str:
    """A value as TOML writes it.

    >>> print(_toml(["a", 1.0, True]))
    ["a", 1.0, true]
    """
    if isinstance(value, Enum):
        value = value.value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(name)} = {_toml(one)}" for name, one in value.items()) + "}"
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else json.dumps(name)


def role_names(roles: Mapping[str, Reads | Writes], params: Iterable[Any]) -> dict[str, Reads | Writes]:
    """The roles by the names of the flags."""
    return {flag_name(p): roles[p.name] for p in params if p.name in roles and p.param_type_name == "option"}


def save_config(ctx: Any, roles: Mapping[str, Reads | Writes]) -> None:
    """Write the options of a command where it was asked to."""
    if ctx.params.get(SAVE) is not None:
        about = f"Options of dovetail {_title(ctx.command)}, for --config."
        write_config(ctx.params[SAVE], given_options(ctx), role_names(roles, ctx.command.params), about)
