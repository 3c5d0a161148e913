"""``dovetail models``: the models that come with dovetail, and those in folders of a user."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING

from dovetail.cli import options
from dovetail.cli.console import some
from dovetail.cli.options import argument, option
from dovetail.cli.paths import Reads
from dovetail.cli.train.training import file_size
from dovetail.errors import DovetailError

if TYPE_CHECKING:
    from dovetail.catalogue import Entry

WIDTH = 80
INDENT = 22
LABELS = 12
"""So many labels of a model are named."""


def models(
    name: str | None = argument("NAME", "A model whose card is to be shown.", shown="a list of all"),
    folder: Path | None = option("FOLDER", "List the models of this folder too.", Reads()),
    as_json: bool = options.AS_JSON,
) -> None:
    """List the models that have a name.

    With NAME, show its card instead. A name stands wherever a model file does: dovetail annotate --model
    english-names "..." The environment variable DOVETAIL_MODELS names folders of more models. Nothing is ever
    downloaded.
    """
    from dovetail.catalogue import entries
    from dovetail.shipped import ALIASES, located

    if folder is not None and not folder.is_dir():
        raise DovetailError(f"{folder}: there is no such folder; --folder names one with model files")
    found = entries(folder)
    if name is not None:
        wanted = ALIASES.get(name, name)
        found = [entry for entry in found if entry.name == wanted]
        if not found:
            located(name)  # says which there are
            raise DovetailError(f"{name}: this is no name of a model; for a file of your own, see dovetail info")
    if as_json:
        print(json.dumps({"models": [entry.record() for entry in found]}, ensure_ascii=False))
    elif name is not None:
        print(_card(found[0]))
    else:
        print("\n".join(line for entry in found for line in _lines(entry)))


def _card(entry: Entry) -> str:
    """The whole card, or what the file itself tells."""
    if entry.card is not None:
        return entry.card.read_text(encoding="utf-8").rstrip()
    return "\n".join(_lines(entry))


def _lines(entry: Entry) -> Iterator[str]:
    """What a list says of a model: what it finds, where, how well, how large it is, under which licence."""
    from dovetail.text.languages import LANGUAGES

    languages = ", ".join(LANGUAGES.get(code, code) for code in entry.languages)
    labels = f": {some(entry.labels, LABELS)}" if entry.labels else ""
    scores = ", ".join(f"{text} {value:.1f}" for text, value in entry.scores.items())
    told = [
        f"{entry.task}{f', {languages}' if languages else ''}{labels}",
        f"{entry.measure}: {scores}" if scores else "",
        f"{file_size(entry.file)}, {entry.licence or 'no licence told'}",
    ]
    rows = [row for text in filter(None, told) for row in wrap(text, WIDTH - INDENT, break_on_hyphens=False)]
    for number, row in enumerate(rows):
        yield f"{'' if number else entry.name:{INDENT - 1}} {row}"
