"""The options of the commands that train: what all of them share, and one for each setting of a model."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Iterator, Mapping
from dataclasses import MISSING, Field, fields
from enum import StrEnum
from pathlib import Path
from typing import Any

from dovetail.cli import options
from dovetail.cli.config import CONFIG, SAVE_CONFIG
from dovetail.cli.formats import CorpusFormat
from dovetail.cli.options import REQUIRED, Param, option, switch
from dovetail.cli.paths import Reads, Writes
from dovetail.models.settings import Setting, setting_of

TYPES = {"int": int, "float": float, "bool": bool}
METAVARS = {"int": "N", "float": "X"}
FILE, FILES, NAMED = Path | None, list[Path] | None, list[str] | None
PAIR = Reads(named=True)
CLUSTER_FILES = Writes(inside=("brown.paths", "exchange.paths", "fine.paths"))
UNLABELLED = "Raw text to make word clusters from, words separated by spaces (may be .gz); may be repeated."
HINTS = "Another tagger whose answers are features: english, another name of a model, or NAME=FILE."
EXPECTATIONS = (
    "Sentences that nobody has labelled, with what is expected of their labels, as dovetail project writes them."
)
SCRATCH = "Keep text and features in this folder while training: for more of them than memory."
NOISE_TEXT = "Raw text to noise as well, words separated by spaces (may be .gz); may be repeated."

VECTORS = "Word vectors: word2vec, GloVe or fastText (may be .gz); may be repeated."

COMMON: dict[str, tuple[Any, Param]] = {
    "output": (Path, options.output("FILE", "Write the model to this file.", Writes(beside=(".checkpoint",)))),
    "dev": (FILE, option("FILE", "Held-out text, to stop at the best score and to tune on.", Reads())),
    "domain": (
        NAMED,
        option("NAME=FILE", "Instead of --train: annotated text of one of several domains; repeat it for each.", PAIR),
    ),
    "dev_domain": (NAMED, option("NAME=FILE", "Instead of --dev: held-out text of a domain; repeat.", PAIR)),
    "expectations": (FILE, option("FILE", EXPECTATIONS, Reads())),
    "trees_only": (FILE, option("FILE", "More text, with trees but without entities.", Reads())),
    "entities_only": (FILE, option("FILE", "More text, with entities but without trees.", Reads())),
    "input_format": (CorpusFormat | None, options.CORPUS_FORMAT),
    "columns": (str | None, options.COLUMNS),
    "encoding": (str, options.ENCODING),
    "unlabelled": (FILES, option("RAW", UNLABELLED, Reads())),
    "clusters": (FILES, option("PATHS", "Existing clusters: a file or a folder; may be repeated.", Reads())),
    "vectors": (NAMED, option("[NAME=]FILE", VECTORS, PAIR)),
    "lexicon": (NAMED, option("NAME=FILE", "A list of names, one per line; may be repeated.", PAIR)),
    "hints": (NAMED, option("MODEL", HINTS, Reads(named=True))),
    "association": (FILES, option("RAW", "Raw text to count word associations in; may be repeated.", Reads())),
    "noise_text": (FILES, option("RAW", NOISE_TEXT, Reads())),
    "save_clusters": (FILE, option("FOLDER", "Save the clusters of --unlabelled here, for --clusters.", CLUSTER_FILES)),
    "init": (FILE, option("MODEL", "Start from the weights of this model.", Reads())),
    "resume": (bool, switch("Save checkpoints to OUTPUT.checkpoint, and continue from there if it exists.")),
    "half": (bool, switch("Store weights in half precision, for a smaller file.")),
    "compact": (bool, switch("Store a weight in one byte, and all else as small as can be.")),
    "ray": (bool, options.RAY),
    "scratch": (FILE, option("FOLDER", SCRATCH, Writes(inside=("dovetail-*",)))),
    "quiet": (bool, options.QUIET),
    "read_config": (FILE, CONFIG),
    "save_config": (FILE, SAVE_CONFIG),
}
"""The types and options of commands that train, except settings and ``--train``."""
DEFAULTS = {"train": None} | {name: one.default for name, (_, one) in COMMON.items()}
EVERY = ("read_config", "output", "train", "dev", "input_format", "encoding", "quiet", "save_config")
"""Those of all commands."""


def common_options(names: str, learns: str, own: Mapping[str, Any]) -> Iterator[inspect.Parameter]:
    """Those of all commands and those named, some in a way of their own. ``learns`` is the help of ``--train``."""
    if "domain" in names.split():
        instead = "--domain or --expectations" if "expectations" in names.split() else "--domain"
        train = FILE, option("FILE", f"{learns}; required, unless {instead} is given.", Reads())
    else:
        train = Path, option("FILE", f"{learns}.", Reads(), default=REQUIRED)
    known = {**COMMON, "train": train, **own}
    for name in (*EVERY, *names.split()):
        type_, one = known[name]
        yield one.named(name, type_)


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
        type_: Any = StrEnum(name, [(c.replace("-", "_"), c) for c in known.choices]) if words else TYPES.get(kind, str)
        default = f.default if kind == "bool" else None
        one: Param = option(
            None if words else metavar_of(known, kind), known.help, Reads(folders=False) if known.file else None,
            default=default, shown=known.shown or shown_default(f.default), flag=flag, min=least, max=most,
        )  # fmt: skip
        yield one.named(name, type_ | None if default is None else type_)


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
