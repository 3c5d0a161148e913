"""``dovetail train joint``: trees and entities by one model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dovetail.cli.console import count
from dovetail.cli.train.parser import ParserTraining
from dovetail.errors import DovetailError
from dovetail.models.joint.settings import JointSettings


class JointTraining(ParserTraining):
    """Train one model of constituents and entities."""

    kind, model, settings, domains = "joint", "JointParser", JointSettings, None
    takes = "trees_only entities_only unlabelled clusters save_clusters init resume half"
    learns = "JSON lines with trees and entities (may be .gz)"

    def check_options(self) -> None:
        """Refuse ``--sigma`` where no models differ."""
        super().check_options()
        if "sigma" in self.chosen and self.given.trees_only is None and self.given.entities_only is None:
            raise DovetailError("--sigma needs --trees-only or --entities-only")

    def read_more(self) -> dict[str, Any]:
        """Sentences that have only trees, or only entities."""
        paths = {"trees_only": self.given.trees_only, "entities_only": self.given.entities_only}
        return {name: self.read(path) for name, path in paths.items() if path is not None}

    def left_out(self, card: Mapping[str, Any]) -> list[str]:
        """Sentences that cannot be learnt from."""
        some = card["left_out"]
        reason = "too long, or entities on no constituent"
        return [f"{count(some, 'sentence')} left out of training: {reason}"] if some else []

    def results(self, model: Any, dev: Sequence[Any]) -> list[str]:
        """How entities were fitted to constituents, and the score on dev."""
        score = model.card_["dev"]
        lines = [] if score is None else ["", f"dev, mean of bracket F1 and entity F1: {score:.2f}"]
        return [*model.repairs_.lines(), *lines]

    def data(self, card: Mapping[str, Any]) -> str:
        """Trees with entities, and what has only one of them."""
        both = f"{count(card['sentences'], 'tree')} with {card['entities']:,} entities"
        return f"{both}, {card['trees_only']:,} trees alone, {card['entities_only']:,} sentences with entities alone,"
