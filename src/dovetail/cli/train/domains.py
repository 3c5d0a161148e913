"""``dovetail train KIND --domain``: one model of several domains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from itertools import chain, combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from dovetail.cli.scores import label_of, tagset
from dovetail.cli.train.options import given_settings
from dovetail.errors import DovetailError
from dovetail.models.domains.settings import DependencyDomainSettings, DomainSettings, TaggerDomainSettings

if TYPE_CHECKING:
    from dovetail.cli.train.training import Training
    from dovetail.text.sentence import Sentence

Data = Mapping[str, "list[Sentence]"]


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


class Domains:
    """What is otherwise where the data has several domains."""

    model: ClassVar[str] = "MultiDomainParser"
    """The name of the estimator of several domains in ``dovetail``."""
    settings: ClassVar[type] = DomainSettings
    """What it has besides the model of one."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.files = named_files(values["domain"], "--domain")
        self.dev_files = named_files(values.get("dev_domain"), "--dev-domain")
        self.chosen = given_settings(self.settings, values)

    def check_options(self, given: Any) -> None:
        """Either one file to learn from, or those of domains, and no option that is for the other case."""
        if given.expectations is not None and self.files:
            raise DovetailError(
                "--expectations are for one domain: leave them out, or give --train in place of --domain"
            )
        if (given.train is None and given.expectations is None) != bool(self.files):
            raise DovetailError("give --train FILE, or --domain NAME=FILE for each of several domains")
        if self.files:
            if given.dev is not None:
                raise DovetailError("--dev is not for several domains: give --dev-domain NAME=FILE")
            return
        defaults = {f.name: f.default for f in fields(self.settings)}
        loose = [f"no-{n}" if v is False else n for n, v in self.chosen.items() if v is not defaults[n]]
        if misplaced := [*(["dev-domain"] if self.dev_files else []), *loose]:
            raise DovetailError(f"--{misplaced[0]} is for several domains, given by --domain")

    def new(self, model: Any) -> Any:
        """The estimator of several domains, of which each is like ``model``."""
        import dovetail

        kind = getattr(dovetail, self.model)
        several = kind(**{kind.one: model}, **self.chosen)
        several.check_settings()
        return several

    def doubts(self, training: Training, data: Data, dev: Data) -> list[str]:
        """Those about each domain."""
        return [f"domain {n}: {doubt}" for n, some in data.items() for doubt in training.doubts(some, dev.get(n))]

    def results(self, training: Training, several: Any, dev: Data) -> list[str]:
        """The scores of each domain on dev, what it was trained on, and how far domains may deviate."""
        card = several.card_
        tables = [[f"{n}:", *training.results(several.model_of(n), some), ""] for n, some in dev.items()]
        sizes = [f"{name}: trained on {training.data(size)}" for name, size in card["domains"].items()]
        sigma = [f"sigma: {card['sigma']:g}"] if several.strategy == "hierarchical" else []
        return [*chain.from_iterable(tables), *sizes, *sigma]


class DependencyDomains(Domains):
    """Parsers of dependencies."""

    settings = DependencyDomainSettings


class TaggerDomains(Domains):
    """Taggers."""

    model, settings = "MultiDomainTagger", TaggerDomainSettings

    def doubts(self, training: Any, data: Data, dev: Data) -> list[str]:
        """Domains that have too little in common to learn from each other, too."""
        found = super().doubts(training, data, dev)
        labels = {n: {label_of(tag) for tag in tagset(some, training.target)} - {"O"} for n, some in data.items()}
        strange = [f"{a} and {b}" for a, b in combinations(labels, 2) if not labels[a] & labels[b]]
        if strange:
            found.append(
                f"domains without a label in common, which can learn little from each other: {', '.join(strange)}; "
                f"use the same label for the same thing"
            )
        return found
