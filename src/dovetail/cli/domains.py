"""Models of several domains on the command line: ``--domain NAME`` for one of them, ``NAME=FILE`` for its data."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from dovetail.errors import DovetailError

Domain = Annotated[
    str | None,
    typer.Option(
        "--domain",
        metavar="NAME",
        help="Of a model of several domains, which one the text is of.",
        show_default="what the domains share",
    ),
]


def load_model(model: Path | None, domain: str | None) -> Any:
    """A model; of several domains, the tagger or parser of the one that is named, or of what they share."""
    import dovetail

    found: Any = dovetail.load(model) if model is not None else dovetail.load()
    for one in ("tagger_of", "parser_of"):
        if hasattr(found, one):
            return getattr(found, one)(domain)
    if domain is not None:
        raise DovetailError(f"--domain {domain}: this model is not one of several domains; leave the option out")
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
            raise DovetailError(f"{option} {pair}: write a name and a file, such as {option} news=news.conll")
        if name in found:
            raise DovetailError(f"{option} {name} is given twice; put all of its text into one file")
        found[name] = Path(path)
    return found
