"""``dovetail train parser --domain`` and ``train dependency --domain``: a parser for each of several domains."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from dovetail.cli.console import count
from dovetail.cli.corpus import Corpora
from dovetail.cli.domains import named_files
from dovetail.cli.output import check_writable
from dovetail.cli.progress import reporting
from dovetail.cli.train.domains import check_files, read_domains
from dovetail.cli.train.summary import file_size
from dovetail.errors import DovetailError

Sigma = Annotated[
    float | None,
    typer.Option(metavar="X", min=0, help="How far a domain goes its own way.", show_default="by the kind of parser"),
]
Fit = Callable[..., Mapping[str | None, Any]]
"""Takes the data of each domain and a reporter, and maybe ``sigma``."""


def domain_output(output: Path, name: str | None) -> Path:
    """Where the parser of a domain is written: beside that for text of no known domain, whose name is None.

    >>> domain_output(Path("models/p.dovetail"), "news").as_posix()
    'models/p.news.dovetail'
    >>> domain_output(Path("models/p.dovetail"), None).as_posix()
    'models/p.dovetail'
    """
    return output if name is None else output.with_name(f"{output.stem}.{name}{output.suffix}")


def domain_files(
    domain: Sequence[str] | None, train: Path | None, sigma: float | None, output: Path, **others: object
) -> dict[str, Path]:
    """The files of the domains, none where there is one file to learn from; ``others`` are options for that alone.

    What does not go together is refused at once, and so are outputs that cannot be written, and names that are no names
    of files.
    """
    files = named_files(domain, "--domain")
    if not files:
        check_files(train, False, sigma=sigma is not None)
        return files
    check_files(train, True, **others)
    for name in files:
        if Path(name).name != name:
            raise DovetailError(f"--domain {name}: the name is part of a file's; leave out slashes")
        check_writable(domain_output(output, name))
    return files


def train_parser_domains(
    files: Mapping[str, Path], corpora: Corpora, fit: Fit, sigma: float | None, output: Path, quiet: bool
) -> None:
    """Train a parser for each domain and one for other text, and write each to a file of its own."""
    began = time.perf_counter()
    with reporting(quiet) as reporter:
        data = read_domains(reporter, corpora, files)
        corpora.warn()
        parsers = fit(data, reporter) if sigma is None else fit(data, reporter, sigma=sigma)
        seconds = time.perf_counter() - began
        for name, parser in parsers.items():
            reporter.doing(f"writing {domain_output(output, name)}")
            parser.save(domain_output(output, name))
    for name, some in data.items():
        where = domain_output(output, name)
        print(f"{name}: trained on {count(len(some), 'sentence')}; model: {where} ({file_size(where)})")
    print(f"trained in {seconds:.1f} s")
    print(f"model for text of no known domain: {output} ({file_size(output)})")
