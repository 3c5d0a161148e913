"""``dovetail train parser``, ``joint`` and ``dependency``: constituents, alone or with entities, and dependencies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from dovetail.cli.console import count
from dovetail.cli.dependencies import check_heads
from dovetail.cli.formats import FormatOfTrees
from dovetail.cli.options import option
from dovetail.cli.progress import Reporter
from dovetail.cli.train.domains import DependencyDomains, Domains
from dovetail.cli.train.training import Training, cross_validation_lines
from dovetail.errors import DovetailError
from dovetail.models.dependency.settings import DependencySettings
from dovetail.models.joint.settings import JointSettings
from dovetail.models.parser.settings import ConstituencySettings

TREES = option(None, "Format of the input files; trees are in brackets or jsonl.", shown="from the file name")


class ParserTraining(Training):
    """Train a parser of constituent trees."""

    kind, model = "parser", "Parser"
    settings: ClassVar[type] = ConstituencySettings
    domains: ClassVar[type[Domains] | None] = Domains
    takes = "domain dev_domain unlabelled clusters vectors save_clusters ray init resume half compact"
    learns = "Trees: brackets, or JSON lines with a field tree (may be .gz)"
    trained_on: ClassVar[Mapping[str, str]] = {"sentences": "tree", "tokens": "word"}
    own: ClassVar[Mapping[str, Any]] = {"input_format": (FormatOfTrees | None, TREES)}

    def check_data(self, sentences: Sequence[Any], path: Path) -> None:
        """There are trees."""
        self.corpora.check_training(sentences, path, trees=True)

    def needs(self, model: Any, sentences: Sequence[Any]) -> list[str]:
        """Parts of speech, where they are given."""
        return ["pos"] if model.tags == "given" else []

    def results(self, model: Any, dev: Sequence[Any]) -> list[str]:
        """Bracket F1 on dev."""
        score = model.card_["dev"]
        return cross_validation_lines(model.card_) if score is None else [f"dev F1 {score:.2f}"]

    def parts(self, model: Any) -> str:
        """The grammar and the weights, of a pool those of all its parsers."""
        return ", ".join(count(model.card_[f"{noun}s"], noun) for noun in ("symbol", "rule", "weight"))


class JointTraining(ParserTraining):
    """Train one model of constituents and entities."""

    kind, model, settings, domains = "joint", "JointParser", JointSettings, None
    takes = "trees_only entities_only unlabelled clusters vectors save_clusters init resume half compact"
    too_long = "{} left out of training: too long, or entities on no constituent"
    learns = "JSON lines with trees and entities (may be .gz)"

    def check_options(self) -> None:
        """Refuse ``--sigma`` where no models differ."""
        super().check_options()
        if "sigma" in self.chosen and self.given.trees_only is None and self.given.entities_only is None:
            raise DovetailError("--sigma needs --trees-only or --entities-only")

    def read_more(self, reporter: Reporter) -> dict[str, Any]:
        """Sentences that have only trees, or only entities."""
        paths = {"trees_only": self.given.trees_only, "entities_only": self.given.entities_only}
        return {name: self.read(path) for name, path in paths.items() if path is not None}

    def results(self, model: Any, dev: Sequence[Any]) -> list[str]:
        """How entities were fitted to constituents, and the score on dev."""
        score = model.card_["dev"]
        lines = [] if score is None else ["", f"dev, mean of bracket F1 and entity F1: {score:.2f}"]
        return [*model.repairs_.lines(), *lines]

    def data(self, card: Mapping[str, Any]) -> str:
        """Trees with entities, and what has only one of them."""
        both = f"{count(card['sentences'], 'tree')} with {card['entities']:,} entities"
        return f"{both}, {card['trees_only']:,} trees alone, {card['entities_only']:,} sentences with entities alone,"


class DependencyTraining(Training):
    """Train a parser of projective dependency trees.

    It finds heads and relations, with a probability for every arc.
    """

    kind, model, settings, domains = "dependency", "DependencyParser", DependencySettings, DependencyDomains
    takes = "domain dev_domain columns unlabelled clusters vectors save_clusters init resume half compact"
    answers = "relation"
    learns = "Sentences with heads, relations and tags (may be .gz)"

    def read(self, path: Path) -> list[Any]:
        """Sentences whose heads make trees."""
        found = super().read(path)
        check_heads(found, path, self.corpora)
        return found

    def needs(self, model: Any, sentences: Sequence[Any]) -> list[str]:
        """Parts of speech, unless a tagger gives all of them."""
        from dovetail.models.tagging import layer_of

        there = (layer_of(sentence, model.tags) for sentence in sentences)
        return [] if model.predict_tags else [next(filter(None, there), model.tags)]

    def left_out(self, card: Mapping[str, Any]) -> list[str]:
        """Trees that had to be changed, and long sentences."""
        trees = card["projectivised"]
        told = f"{count(trees, 'tree')} of the training data with crossing arcs, made projective"
        return [*([told] if trees else []), *super().left_out(card)]
