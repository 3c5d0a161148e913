"""``dovetail train dependency``: a parser of projective dependency trees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dovetail.cli.console import count
from dovetail.cli.dependencies import attachment_record, attachment_report, check_heads
from dovetail.cli.train.domains import DependencyDomains
from dovetail.cli.train.training import Training
from dovetail.models.dependency.settings import DependencySettings


class DependencyTraining(Training):
    """Train a parser of projective dependency trees.

    It finds heads and relations, with a probability for every arc.
    """

    kind, model, settings, domains = "dependency", "DependencyParser", DependencySettings, DependencyDomains
    takes = "domain dev_domain columns unlabelled clusters save_clusters init resume half"
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

    def results(self, model: Any, dev: Sequence[Any]) -> list[str]:
        """Attachment on dev."""
        return [attachment_report(attachment_record(dev, list(model.annotate(dev, False))))] if dev else []

    def parts(self, model: Any) -> str:
        """Relations."""
        return count(len(model.classes_), "relation")
