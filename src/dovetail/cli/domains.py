"""Models of several domains on the command line: ``--domain NAME`` for one of them, ``NAME=FILE`` for its data."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from dovetail.cli.compiling import watch
from dovetail.errors import DovetailError

Domain = Annotated[
    str | None,
    typer.Option(
        "--domain",
        metavar="NAME",
        help="The domain of the text, for a model of several domains.",
        show_default="what all domains share",
    ),
]


def load_model(model: Path | None, domain: str | None) -> Any:
    """A model; of several domains, the tagger or parser of the one that is named, or of what they share."""
    import dovetail

    watch()
    found: Any = dovetail.load(model) if model is not None else dovetail.load()
    if hasattr(found, "model_of"):
        return found.model_of(domain)
    if domain is not None:
        raise DovetailError(f"--domain {domain}: this model does not have several domains; leave out the option")
    return found


def named_files(given: Sequence[str] | None, option: str) -> dict[str, Path]:
    """Files by their names.

    >>> named_files(["news=a.conll", "web=b.conll"], "--domain")
    {'news': PosixPath('a.conll'), 'web': PosixPath('b.conll')}
    """
    found: dict[str, Path] = {}
    for pair in given or ():
        name, equals, path = pair.partition("=")
        if not (name and equals and path):
            raise DovetailError(f"{option} {pair}: give a name and a file, such as {option} news=news.conll")
        if name in found:
            raise DovetailError(f"{option} {name} is given twice; put all its text into one file")
        found[name] = Path(path)
    return found
