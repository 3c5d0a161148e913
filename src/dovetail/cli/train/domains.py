"""``dovetail train KIND --domain``: one model of several domains."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import fields
from itertools import chain, combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from dovetail.cli.console import count, warn_all
from dovetail.cli.domains import named_files
from dovetail.cli.progress import Reporter, reporting
from dovetail.cli.scores import label_of, score, tagset
from dovetail.cli.train.doubts import doubts
from dovetail.cli.train.options import given_settings
from dovetail.cli.train.summary import ending
from dovetail.errors import DovetailError
from dovetail.models.domains.settings import DependencyDomainSettings, ParserDomainSettings, TaggerDomainSettings

if TYPE_CHECKING:
    from dovetail.cli.train.training import Training
    from dovetail.text.sentence import Sentence

Data = Mapping[str, "list[Sentence]"]


class Domains:
    """The course of training where the data has several domains."""

    model: ClassVar[tuple[str, str]]
    """The name of the estimator of several domains in ``dovetail``, and of the model of one among its settings."""
    settings: ClassVar[type]
    """What it has besides that model."""
    alone: ClassVar[tuple[str, ...]]
    """Options that are not for several domains."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.files = named_files(values["domain"], "--domain")
        self.dev_files = named_files(values.get("dev_domain"), "--dev-domain")
        self.chosen = given_settings(self.settings, values)

    def check_options(self, given: Any, chosen: Mapping[str, Any]) -> None:
        """Either one file to learn from, or those of domains, and no option that is for the other case."""
        if (given.train is None) != bool(self.files):
            raise DovetailError("give --train FILE, or --domain NAME=FILE for each of several domains")
        if self.files:
            for name in self.alone:
                if getattr(given, name, None) or name in chosen:
                    raise DovetailError(f"--{name} is not for several domains")
            return
        defaults = {f.name: f.default for f in fields(self.settings)}
        loose = [f"no-{n}" if v is False else n for n, v in self.chosen.items() if v is not defaults[n]]
        if misplaced := [*(["dev-domain"] if self.dev_files else []), *loose]:
            raise DovetailError(f"--{misplaced[0]} is for several domains, given by --domain")

    def run(self, training: Training, model: Any) -> None:
        """Train a model of several domains, of which each is like ``model``, and write it."""
        import dovetail

        name, one = self.model
        several = getattr(dovetail, name)(**{one: model}, **self.chosen)
        several._check_settings()
        began = time.perf_counter()
        with reporting(training.given.quiet) as reporter:
            data, dev = (_read(reporter, training, files) for files in (self.files, self.dev_files))
            for name, path in self.files.items():
                training.check_data(data[name], path)
            warn_all(training.repairs())
            warn_all(self.doubts(data, dev, model))
            training.prepare(model, list(chain.from_iterable(data.values())), reporter)
            training.fit(several, reporter, data, dev=dev or None)
            seconds = time.perf_counter() - began
            training.save(several, reporter)
        card = several.card_ if hasattr(several, "card_") else several.parser_of().card_
        warn_all(training.left_out(card))
        lines = [*self.results(several, data, dev), f"trained in {seconds:.1f} s"]
        print("\n".join([*lines, *ending(card, training.given.output, count(len(several.domains_), "domain"))]))

    def doubts(self, data: Data, dev: Data, model: Any) -> list[str]:
        """Warnings about the data of the domains."""
        return []

    def results(self, several: Any, data: Data, dev: Data) -> list[str]:
        """What each domain was trained on, and its scores on dev."""
        return [
            f"{name}: trained on {count(len(some), 'sentence')}, {count(sum(map(len, some)), 'word')}"
            for name, some in data.items()
        ]


def _read(reporter: Reporter, training: Training, files: Mapping[str, Path]) -> dict[str, list[Any]]:
    found = {}
    for name, path in files.items():
        reporter.doing(f"reading {path}")
        found[name] = training.read(path)
    return found


class ParserDomains(Domains):
    """Parsers of constituents."""

    model, settings = ("MultiDomainParser", "parser"), ParserDomainSettings
    alone = ("dev", "patience", "init", "resume", "half")


class DependencyDomains(ParserDomains):
    """Parsers of dependencies."""

    settings = DependencyDomainSettings


class TaggerDomains(Domains):
    """Taggers."""

    model, settings = ("MultiDomainTagger", "tagger"), TaggerDomainSettings
    alone = ("dev", "init", "resume")

    def doubts(self, data: Data, dev: Data, model: Any) -> list[str]:
        """Those of each domain, and domains that have too little in common to learn from each other."""
        target = model.target
        found = [f"domain {n}: {doubt}" for n, some in data.items() for doubt in doubts(some, dev.get(n), target)]
        labels = {name: {label_of(tag) for tag in tagset(some, target)} - {"O"} for name, some in data.items()}
        strange = [f"{a} and {b}" for a, b in combinations(labels, 2) if not labels[a] & labels[b]]
        if strange:
            found.append(
                f"domains without a label in common, which can learn little from each other: {', '.join(strange)}; "
                f"use the same label for the same thing"
            )
        return found

    def results(self, several: Any, data: Data, dev: Data) -> list[str]:
        """Scores, sizes, and how far domains may deviate."""
        from dovetail.evaluate import scores_table

        lines = []
        for name, sentences in dev.items():
            table = scores_table(score(sentences, list(several.annotate(sentences, name)), several.tagger.target))
            lines += [f"{name}:", table, ""]
        for name, size in several.card_["domains"].items():
            lines.append(f"{name}: trained on {count(size['sentences'], 'sentence')}, {count(size['tokens'], 'token')}")
        return lines + ([f"sigma: {several.card_['sigma']:g}"] if several.strategy == "hierarchical" else [])
