"""``dovetail train tagger --domain``: one model of several domains."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from enum import StrEnum
from itertools import chain, combinations
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dovetail.cli.console import count, warn_all
from dovetail.cli.corpus import Corpora
from dovetail.cli.layers import read_by, will_need
from dovetail.cli.paths import Reads
from dovetail.cli.progress import Reporter, reporting
from dovetail.cli.scores import label_of, score, tagset
from dovetail.cli.train.doubts import doubts
from dovetail.cli.train.summary import STOPPED, file_size
from dovetail.errors import DovetailError

if TYPE_CHECKING:
    from dovetail.features.algebra.sets import FeatureSet
    from dovetail.models.domains.tagger import MultiDomainTagger
    from dovetail.models.tagger.estimator import Tagger
    from dovetail.text.sentence import Sentence

Data = Mapping[str, "list[Sentence]"]

DomainFiles = Annotated[
    list[str] | None,
    typer.Option(
        "--domain",
        metavar="NAME=FILE",
        help="Instead of --train: annotated text of one of several domains; repeat it for each.",
    ),
    Reads(named=True),
]


class Strategy(StrEnum):
    """What domains share."""

    hierarchical = "hierarchical"
    target = "target"
    all = "all"
    augment = "augment"


def check_files(train: Path | None, domains: bool, **others: object) -> None:
    """Either one file to learn from, or those of domains, and no option that is for the other case."""
    if (train is None) != domains:
        raise DovetailError("give --train FILE, or --domain NAME=FILE for each of several domains")
    misplaced = [name.replace("_", "-") for name, value in others.items() if value]
    if misplaced:
        which = "is not for several domains" if domains else "is for several domains, given by --domain"
        raise DovetailError(f"--{misplaced[0]} {which}")


def read_domains(reporter: Reporter, corpora: Corpora, files: Mapping[str, Path]) -> dict[str, list[Sentence]]:
    """The sentences of each domain."""
    found = {}
    for name, path in files.items():
        reporter.doing(f"reading {path}")
        found[name] = corpora.sentences(path)
    return found


def domain_doubts(data: Data, dev: Data, target: str) -> list[str]:
    """Warnings about each domain, and about domains that have too little in common to learn from each other."""
    found = [f"domain {n}: {doubt}" for n, some in data.items() for doubt in doubts(some, dev.get(n), target)]
    labels = {name: {label_of(tag) for tag in tagset(some, target)} - {"O"} for name, some in data.items()}
    strange = [f"{a} and {b}" for a, b in combinations(labels, 2) if not labels[a] & labels[b]]
    if strange:
        found.append(
            f"domains without a label in common, which can learn little from each other: {', '.join(strange)}; "
            f"use the same label for the same thing"
        )
    return found


def train_domains(
    tagger: Tagger,
    settings: Mapping[str, Any],
    files: Mapping[str, Path],
    dev_files: Mapping[str, Path],
    corpora: Corpora,
    features: Callable[[Reporter], FeatureSet],
    output: Path,
    half: bool,
    compact: bool,
    quiet: bool,
) -> None:
    """Train a model of several domains, whose taggers are like ``tagger``, and write it."""
    from dovetail.models.domains.tagger import MultiDomainTagger

    model = MultiDomainTagger(tagger=tagger, **{k: v for k, v in settings.items() if v is not None})
    began = time.perf_counter()
    with reporting(quiet) as reporter:
        data, dev = (read_domains(reporter, corpora, given) for given in (files, dev_files))
        for name, path in files.items():
            corpora.check_training(data[name], path, layer=tagger.target)
        corpora.warn()
        warn_all(domain_doubts(data, dev, tagger.target))
        tagger.features = features(reporter)
        everything = chain.from_iterable(data.values())
        warn_all(will_need("domains", read_by(tagger.features, everything, {tagger.target, *tagger.ignore})))
        reporter.doing("extracting features")
        model.fit(data, dev=dev or None, progress=reporter.trained)
        seconds = time.perf_counter() - began
        reporter.doing(f"writing {output}")
        model.save(output, half=half, compact=compact)
    print(domain_summary(model, dev, output, seconds))


def domain_summary(model: MultiDomainTagger, dev: Data, output: Path, seconds: float) -> str:
    """The scores of each domain on its dev data, and what was trained, how long, why it ended, and where it is."""
    from dovetail.evaluate import scores_table

    lines = []
    for name, sentences in dev.items():
        table = scores_table(score(sentences, list(model.annotate(sentences, name)), model.tagger.target))
        lines += [f"{name}:", table, ""]
    card: dict[str, Any] = model.card_
    for name, size in card["domains"].items():
        lines.append(f"{name}: trained on {count(size['sentences'], 'sentence')}, {count(size['tokens'], 'token')}")
    if model.strategy == Strategy.hierarchical:
        lines.append(f"sigma: {card['sigma']:g}")
    lines += [
        f"trained in {seconds:.1f} s",
        f"stopped: {STOPPED.get(card['stopped'], card['stopped'])}",
        f"model: {output} ({file_size(output)}, {count(len(model.domains_), 'domain')})",
    ]
    return "\n".join(lines)
