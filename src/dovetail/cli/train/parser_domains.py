"""``dovetail train parser --domain`` and ``train dependency --domain``: parsers of several domains, in one file."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from dovetail.cli.console import count, warn_all
from dovetail.cli.corpus import Corpora
from dovetail.cli.domains import named_files
from dovetail.cli.progress import Reporter, reporting
from dovetail.cli.train.domains import Data, check_files, read_domains
from dovetail.cli.train.summary import STOPPED, file_size

if TYPE_CHECKING:
    from dovetail.models.domains.parser import MultiDomainParser


def sigma_option(default: str) -> Any:
    """``--sigma`` of a command whose parsers have this default."""
    return typer.Option(
        "--sigma", metavar="X", min=0, help="How far a domain may deviate from the others.", show_default=default
    )


def domain_files(
    domain: Sequence[str] | None, train: Path | None, sigma: float | None, **others: object
) -> dict[str, Path]:
    """The files of the domains, none where there is one file to learn from; ``others`` are options for that alone."""
    files = named_files(domain, "--domain")
    if files:
        check_files(train, True, **others)
    else:
        check_files(train, False, sigma=sigma is not None)
    return files


def train_parser_domains(
    files: Mapping[str, Path],
    corpora: Corpora,
    new: Callable[[Data, Reporter], MultiDomainParser],
    doubts: Callable[[Mapping[str, int]], list[str]],
    output: Path,
    quiet: bool,
) -> None:
    """Train parsers of several domains and write them.

    ``new`` makes what is to be trained, of the data; ``doubts`` are warnings of what training left out.
    """
    began = time.perf_counter()
    with reporting(quiet) as reporter:
        data = read_domains(reporter, corpora, files)
        for name, path in files.items():
            corpora.check_training(data[name], path)
        corpora.warn()
        parsers = new(data, reporter).fit(data, progress=reporter.trained, doing=reporter.doing)
        seconds = time.perf_counter() - began
        reporter.doing(f"writing {output}")
        parsers.save(output)
    card = parsers.parser_of().card_
    warn_all(doubts(card))
    for name, some in data.items():
        print(f"{name}: trained on {count(len(some), 'sentence')}, {count(sum(map(len, some)), 'word')}")
    print(f"trained in {seconds:.1f} s")
    print(f"stopped: {STOPPED.get(card['stopped'], card['stopped'])}")
    print(f"model: {output} ({file_size(output)}, {count(len(parsers.domains_), 'domain')})")
