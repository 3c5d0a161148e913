"""``dovetail train parser``: constituent trees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from dovetail.cli import options
from dovetail.cli.console import count
from dovetail.cli.train.domains import Domains
from dovetail.cli.train.training import Training
from dovetail.models.parser.settings import TreeParserSettings


class ParserTraining(Training):
    """Train a parser of constituent trees."""

    kind, model, settings = "parser", "Parser", TreeParserSettings
    domains: ClassVar[type[Domains] | None] = Domains
    takes = "domain dev_domain unlabelled clusters save_clusters init resume half"
    learns = "Trees: brackets, or JSON lines with a field tree (may be .gz)"
    own: ClassVar[Mapping[str, Any]] = {"input_format": options.TreeFormat}

    def check_data(self, sentences: Sequence[Any], path: Path) -> None:
        """There are trees."""
        self.corpora.check_training(sentences, path, trees=True)

    def needs(self, model: Any, sentences: Sequence[Any]) -> list[str]:
        """Parts of speech, where they are given."""
        return ["pos"] if model.tags == "given" else []

    def results(self, model: Any, dev: Sequence[Any]) -> list[str]:
        """Bracket F1 on dev."""
        return [] if model.card_["dev"] is None else [f"dev F1 {model.card_['dev']:.2f}"]

    def data(self, card: Mapping[str, Any]) -> str:
        """Trees and words."""
        return f"{count(card['sentences'], 'tree')}, {count(card['tokens'], 'word')}"

    def parts(self, model: Any) -> str:
        """The grammar and the weights."""
        return ", ".join(count(model.card_[f"{noun}s"], noun) for noun in ("symbol", "rule", "weight"))
