"""The options of the commands that train: what all of them share, and one for each setting of a model."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, Field, fields
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from dovetail.cli import options
from dovetail.cli.command import place_of
from dovetail.cli.paths import Reads, Writes
from dovetail.models.settings import Setting, setting_of

TYPES = {"int": int, "float": float, "bool": bool}
METAVARS = {"int": "N", "float": "X"}


class Options:
    """What is given to a command besides settings; what a kind of model does not take has its default here."""

    output: options.ModelOutput
    train: Annotated[Path | None, typer.Option("--train", metavar="FILE", help="..."), Reads()] = None
    dev: Annotated[
        Path | None,
        typer.Option("--dev", metavar="FILE", help="Held-out text, to stop at the best score and to tune on."),
        Reads(),
    ] = None
    domain: Annotated[
        list[str] | None,
        typer.Option(
            "--domain",
            metavar="NAME=FILE",
            help="Instead of --train: annotated text of one of several domains; repeat it for each.",
        ),
        Reads(named=True),
    ] = None
    dev_domain: Annotated[
        list[str] | None,
        typer.Option("--dev-domain", metavar="NAME=FILE", help="Instead of --dev: held-out text of a domain; repeat."),
        Reads(named=True),
    ] = None
    trees_only: Annotated[
        Path | None,
        typer.Option("--trees-only", metavar="FILE", help="More text, with trees but without entities."),
        Reads(),
    ] = None
    entities_only: Annotated[
        Path | None,
        typer.Option("--entities-only", metavar="FILE", help="More text, with entities but without trees."),
        Reads(),
    ] = None
    input_format: options.InputFormat = None
    columns: options.Columns = None
    encoding: options.Encoding = "utf-8"
    unlabelled: Annotated[
        list[Path] | None,
        typer.Option(
            "--unlabelled",
            metavar="RAW",
            help="Raw text to make word clusters from, words separated by spaces (may be .gz); may be repeated.",
        ),
        Reads(),
    ] = None
    clusters: Annotated[
        list[Path] | None,
        typer.Option("--clusters", metavar="PATHS", help="Existing clusters: a file or a folder; may be repeated."),
        Reads(),
    ] = None
    lexicon: Annotated[
        list[str] | None,
        typer.Option("--lexicon", metavar="NAME=FILE", help="A list of names, one per line; may be repeated."),
        Reads(named=True),
    ] = None
    association: Annotated[
        list[Path] | None,
        typer.Option("--association", metavar="RAW", help="Raw text to count word associations in; may be repeated."),
        Reads(),
    ] = None
    save_clusters: Annotated[
        Path | None,
        typer.Option(
            "--save-clusters", metavar="FOLDER", help="Save the clusters of --unlabelled here, for --clusters."
        ),
        Writes(inside=("brown.paths", "exchange.paths", "fine.paths")),
    ] = None
    init: Annotated[
        Path | None, typer.Option("--init", metavar="MODEL", help="Start from the weights of this model."), Reads()
    ] = None
    resume: Annotated[
        bool,
        typer.Option("--resume", help="Save checkpoints to OUTPUT.checkpoint, and continue from there if it exists."),
    ] = False
    half: Annotated[bool, typer.Option("--half", help="Store weights in half precision, for a smaller file.")] = False
    compact: Annotated[
        bool, typer.Option("--compact", help="Store a weight in one byte, with short keys: the smallest file.")
    ] = False
    quiet: options.Quiet = False

    def __init__(self, given: Mapping[str, Any]) -> None:
        self.__dict__.update(given)


EVERY = ("output", "train", "dev", "input_format", "encoding", "quiet")
"""The options of all commands."""


def common_options(names: str, learns: str, own: Mapping[str, Any]) -> Iterator[inspect.Parameter]:
    """Those of all commands and those named, some in a way of their own. ``learns`` is the help of ``--train``."""
    kinds = {**get_type_hints(Options, include_extras=True), **own}
    some = "domain" in names.split()
    say = f"{learns}; required, unless --domain is given." if some else f"{learns}."
    train = typer.Option("--train", metavar="FILE", help=say)
    kinds["train"] = Annotated[Path | None, train, Reads()] if some else Annotated[Path, train, Reads()]
    for name in (*EVERY, *names.split()):
        required = name == "output" or (name == "train" and not some)
        yield _parameter(name, kinds[name], inspect.Parameter.empty if required else getattr(Options, name))


def shown_settings(settings: type) -> dict[str, Field[Any]]:
    """The settings of a dataclass that the command line shows, by name."""
    hidden = getattr(settings, "hidden", ())
    known = {f.name: (f, setting_of(f)) for f in fields(settings) if f.name not in hidden}
    return {name: f for name, (f, one) in known.items() if one is not None and not one.hidden}


def choices_of(settings: type, name: str) -> tuple[Any, ...]:
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
        words = known.choices and isinstance(known.choices[0], str)
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
