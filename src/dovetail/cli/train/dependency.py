"""``dovetail train dependency``: a parser of projective dependency trees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dovetail.cli.console import count
from dovetail.cli.dependencies import check_heads
from dovetail.cli.train.domains import DependencyDomains
from dovetail.cli.train.training import Training
from dovetail.models.dependency.settings import DependencySettings


class DependencyTraining(Training):
    """Train a parser of projective dependency trees.

    It finds heads and relations, with a probability for every arc.
    """

    kind, model, settings, domains = "dependency", "DependencyParser", DependencySettings, DependencyDomains
    takes = "domain dev_domain columns unlabelled clusters save_clusters init resume half"
    answers = "relation"
    learns = "Sentences with heads, relations and tags (may be .gz)"

    def read(self, path: Path) -> list[Any]:
        """Sentences whose heads make trees."""
        found = super().read(path)
        check_heads(found, path, self.corpora)
        return found

    def needs(self, model: Any, sentences: Sequence[Any]) -> list[str]:
        """Parts of speech, unless they are predicted."""
        return [] if model.predict_tags else [model.tags]

    def left_out(self, card: Mapping[str, Any]) -> list[str]:
        """Trees that had to be changed, and long sentences."""
        trees = card["projectivised"]
        told = f"{count(trees, 'tree')} of the training data with crossing arcs, made projective"
        return [*([told] if trees else []), *super().left_out(card)]
