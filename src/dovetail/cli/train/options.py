"""The options of the commands that train: what all of them share, and one for each setting of a model."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Iterator, Mapping
from dataclasses import MISSING, Field, fields
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from dovetail.cli import options
from dovetail.cli.command import place_of
from dovetail.cli.paths import Reads, Writes
from dovetail.models.settings import Setting, setting_of

TYPES = {"int": int, "float": float, "bool": bool}
METAVARS = {"int": "N", "float": "X"}
FILE, FILES, NAMED = Path | None, list[Path] | None, list[str] | None


def named(type_: Any, flag: str, metavar: str, help: str, role: Reads | Writes | None = None) -> Any:
    """An option that names what is read or written."""
    return Annotated[type_, typer.Option(flag, metavar=metavar, help=help), role or Reads(named=type_ == NAMED)]


COMMON: dict[str, Any] = {
    "output": options.ModelOutput,
    "dev": named(FILE, "--dev", "FILE", "Held-out text, to stop at the best score and to tune on."),
    "domain": named(
        NAMED, "--domain", "NAME=FILE",
        "Instead of --train: annotated text of one of several domains; repeat it for each.",
    ),
    "dev_domain": named(NAMED, "--dev-domain", "NAME=FILE", "Instead of --dev: held-out text of a domain; repeat."),
    "trees_only": named(FILE, "--trees-only", "FILE", "More text, with trees but without entities."),
    "entities_only": named(FILE, "--entities-only", "FILE", "More text, with entities but without trees."),
    "input_format": options.InputFormat,
    "columns": options.Columns,
    "encoding": options.Encoding,
    "unlabelled": named(
        FILES, "--unlabelled", "RAW",
        "Raw text to make word clusters from, words separated by spaces (may be .gz); may be repeated.",
    ),
    "clusters": named(FILES, "--clusters", "PATHS", "Existing clusters: a file or a folder; may be repeated."),
    "lexicon": named(NAMED, "--lexicon", "NAME=FILE", "A list of names, one per line; may be repeated."),
    "association": named(
        FILES, "--association", "RAW", "Raw text to count word associations in; may be repeated."
    ),
    "save_clusters": named(
        FILE, "--save-clusters", "FOLDER", "Save the clusters of --unlabelled here, for --clusters.",
        Writes(inside=("brown.paths", "exchange.paths", "fine.paths")),
    ),
    "init": named(FILE, "--init", "MODEL", "Start from the weights of this model."),
    "resume": Annotated[
        bool,
        typer.Option("--resume", help="Save checkpoints to OUTPUT.checkpoint, and continue from there if it exists."),
    ],
    "half": Annotated[bool, typer.Option("--half", help="Store weights in half precision, for a smaller file.")],
    "compact": Annotated[
        bool, typer.Option("--compact", help="Store a weight in one byte, with short keys: the smallest file.")
    ],
    "quiet": options.Quiet,
}  # fmt: skip
"""The options of commands that train, except settings and ``--train``."""
DEFAULTS = {"train": None, **dict.fromkeys(COMMON), "encoding": "utf-8"}
DEFAULTS |= dict.fromkeys(("resume", "half", "compact", "quiet"), False)
EVERY = ("output", "train", "dev", "input_format", "encoding", "quiet")
"""Those of all commands."""


def common_options(names: str, learns: str, own: Mapping[str, Any]) -> Iterator[inspect.Parameter]:
    """Those of all commands and those named, some in a way of their own. ``learns`` is the help of ``--train``."""
    kinds = {**COMMON, **own}
    some = "domain" in names.split()
    say = f"{learns}; required, unless --domain is given." if some else f"{learns}."
    train = typer.Option("--train", metavar="FILE", help=say)
    kinds["train"] = Annotated[Path | None, train, Reads()] if some else Annotated[Path, train, Reads()]
    for name in (*EVERY, *names.split()):
        required = name == "output" or (name == "train" and not some)
        yield _parameter(name, kinds[name], inspect.Parameter.empty if required else DEFAULTS[name])


def shown_settings(settings: type) -> dict[str, Field[Any]]:
    """The settings of a dataclass that the command line shows, by name."""
    not_shown = getattr(settings, "not_shown", ())
    known = {f.name: (f, setting_of(f)) for f in fields(settings) if f.name not in not_shown}
    return {name: f for name, (f, one) in known.items() if one is not None and not one.hidden}


def choices_of(settings: type, name: str) -> Collection[Any]:
    """What may be chosen for a setting."""
    known = setting_of(next(f for f in fields(settings) if f.name == name))
    return known.choices if known is not None else ()


def setting_options(settings: type) -> Iterator[inspect.Parameter]:
    """An option for each setting; one that is not given is None, so that the default stays that of the model."""
    for name, f in shown_settings(settings).items():
        known = setting_of(f)
        assert known is not None
        kind = str(f.type).removesuffix(" | None")
        flag = known.flag or f"--{name.replace('_', '-')}"
        if kind == "bool" and f.default is not False and "/" not in flag:
            flag += f"/--no-{flag[2:]}"
        least = known.least if known.least is not None else known.above
        most = known.most if known.most is not None else known.below
        words = any(isinstance(choice, str) for choice in known.choices)
        if known.choices and not words:
            least, most = min(known.choices), max(known.choices)
        option = typer.Option(
            flag, help=known.help, min=least, max=most, metavar=None if words else metavar_of(known, kind),
            show_default=known.shown or shown_default(f.default),
        )  # fmt: skip
        type_: Any = StrEnum(name, [(c.replace("-", "_"), c) for c in known.choices]) if words else TYPES.get(kind, str)
        default = f.default if kind == "bool" else None
        wanted = Annotated[type_ | None, option] if default is None else Annotated[type_, option]
        yield _parameter(name, Annotated[wanted, Reads(folders=False)] if known.file else wanted, default)


def metavar_of(known: Setting, kind: str) -> str | None:
    """What stands for a value in help; nothing where there is none to give."""
    if known.choices:
        return "|".join(map(str, known.choices))
    return None if kind == "bool" else known.metavar or METAVARS.get(kind, "NAME")


def shown_default(default: Any) -> str | bool:
    """A default as help shows it.

    >>> shown_default(3.0), shown_default(1e-4), shown_default("ner"), shown_default(())
    ('3', '0.0001', 'ner', False)
    """
    if default is MISSING or default is None or default == ():
        return False
    return default if isinstance(default, bool) else f"{default:g}" if isinstance(default, float) else str(default)


def given_settings(settings: type, values: Mapping[str, Any]) -> dict[str, Any]:
    """The settings among the values of options that were given, as a model takes them."""
    found = {}
    for name, f in shown_settings(settings).items():
        value = values[name]
        if str(f.type) == "Sequence[str]":
            value = options.names(value)
        if value is not None:
            found[name] = value.value if isinstance(value, StrEnum) else value
    return found


def _parameter(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def in_order(parameters: Iterator[inspect.Parameter]) -> inspect.Signature:
    """The signature of a command, with its parameters in the order of the headings of help."""
    return inspect.Signature(sorted(parameters, key=lambda one: place_of(one.name)))
