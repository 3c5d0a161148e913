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
from dovetail.cli.train.options import Options, given_settings
from dovetail.cli.train.summary import ending
from dovetail.errors import DovetailError
from dovetail.models.domains.settings import DependencyDomainSettings, ParserDomainSettings, TaggerDomainSettings

if TYPE_CHECKING:
    from dovetail.cli.train.training import Training
    from dovetail.text.sentence import Sentence

Data = Mapping[str, "list[Sentence]"]


class Domains:
    """The course of training where the data has several domains."""

    settings: ClassVar[type]
    """What the estimator of several domains has besides the model of one."""
    alone: ClassVar[tuple[str, ...]]
    """Options that are not for several domains."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.files = named_files(values["domain"], "--domain")
        self.dev_files = named_files(values.get("dev_domain"), "--dev-domain")
        self.chosen = given_settings(self.settings, values)

    def check_options(self, given: Options, chosen: Mapping[str, Any]) -> None:
        """Either one file to learn from, or those of domains, and no option that is for the other case."""
        if (given.train is None) != bool(self.files):
            raise DovetailError("give --train FILE, or --domain NAME=FILE for each of several domains")
        if self.files:
            for name in self.alone:
                if getattr(given, name, None) or name in chosen:
                    raise DovetailError(f"--{name.replace('_', '-')} is not for several domains")
            return
        defaults = {f.name: f.default for f in fields(self.settings)}
        loose = [f"no-{n}" if v is False else n for n, v in self.chosen.items() if v is not defaults[n]]
        if misplaced := [*(["dev-domain"] if self.dev_files else []), *loose]:
            raise DovetailError(f"--{misplaced[0]} is for several domains, given by --domain")

    def run(self, training: Training, model: Any) -> None:
        """Train a model of several domains, of which each is like ``model``, and write it."""
        given = training.given
        several = self.new(model)
        several._check_settings()
        began = time.perf_counter()
        with reporting(given.quiet) as reporter:
            data, dev = (self._read(reporter, training, files) for files in (self.files, self.dev_files))
            for name, path in self.files.items():
                training.check_data(data[name], path)
            warn_all(training.repairs())
            warn_all(self.doubts(data, dev, model))
            training.prepare(model, list(chain.from_iterable(data.values())), reporter)
            training.fit(several, reporter, data, dev=dev or None)
            seconds = time.perf_counter() - began
            training.save(several, reporter)
        card = self.card(several)
        warn_all(training.left_out(card))
        lines = [*self.results(several, data, dev), f"trained in {seconds:.1f} s"]
        print("\n".join([*lines, *ending(card, given.output, count(len(several.domains_), "domain"))]))

    @staticmethod
    def _read(reporter: Reporter, training: Training, files: Mapping[str, Path]) -> dict[str, list[Any]]:
        found = {}
        for name, path in files.items():
            reporter.doing(f"reading {path}")
            found[name] = training.read(path)
        return found

    def new(self, model: Any) -> Any:
        """The estimator of several domains, not trained."""
        raise NotImplementedError

    def doubts(self, data: Data, dev: Data, model: Any) -> list[str]:
        """Warnings about the data of the domains."""
        return []

    def card(self, several: Any) -> Mapping[str, Any]:
        """What is known of the training of all."""
        raise NotImplementedError

    def results(self, several: Any, data: Data, dev: Data) -> list[str]:
        """What each domain was trained on, and its scores on dev."""
        raise NotImplementedError


class TaggerDomains(Domains):
    """Taggers."""

    settings = TaggerDomainSettings
    alone = ("dev", "init", "resume")

    def new(self, model: Any) -> Any:
        """A ``MultiDomainTagger``."""
        from dovetail.models.domains.tagger import MultiDomainTagger

        return MultiDomainTagger(tagger=model, **self.chosen)

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

    def card(self, several: Any) -> Mapping[str, Any]:
        """That of the model."""
        found: Mapping[str, Any] = several.card_
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


class ParserDomains(Domains):
    """Parsers of constituents."""

    settings = ParserDomainSettings
    alone = ("dev", "patience", "init", "resume", "half")

    def new(self, model: Any) -> Any:
        """A ``MultiDomainParser``."""
        from dovetail.models.domains.parser import MultiDomainParser

        return MultiDomainParser(parser=model, **self.chosen)

    def card(self, several: Any) -> Mapping[str, Any]:
        """That of the parser for other text."""
        found: Mapping[str, Any] = several.parser_of().card_
        return found

    def results(self, several: Any, data: Data, dev: Data) -> list[str]:
        """How much text each domain has."""
        return [
            f"{name}: trained on {count(len(some), 'sentence')}, {count(sum(map(len, some)), 'word')}"
            for name, some in data.items()
        ]


class DependencyDomains(ParserDomains):
    """Parsers of dependencies."""

    settings = DependencyDomainSettings
