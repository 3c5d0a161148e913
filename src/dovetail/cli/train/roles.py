"""``dovetail train roles``: predicates, their senses and their arguments, with the parser that they need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from dovetail.cli.console import count
from dovetail.cli.train.training import Training
from dovetail.errors import InputError
from dovetail.models.roles.settings import RoleSettings


class RolesTraining(Training):
    """Train a labeller of semantic roles.

    It finds predicates, their senses and their arguments, over trees of a parser that is trained with it.
    """

    kind, model, settings = "roles", "RoleLabeller", RoleSettings
    takes = "unlabelled clusters vectors save_clusters init resume half compact"
    learns = "JSON lines with trees and frames (may be .gz)"
    trained_on: ClassVar[Mapping[str, str]] = {"sentences": "sentence", "predicates": "predicate"}

    def check_data(self, sentences: Sequence[Any], path: Path) -> None:
        """There are trees and frames."""
        self.corpora.check_training(sentences, path, trees=True)
        if all(sentence.frames is None for sentence in sentences):
            raise InputError('no frames in this file; give JSON lines with a field "frames"', path)

    def needs(self, model: Any, sentences: Sequence[Any]) -> list[str]:
        """Nothing besides the words."""
        return []

    def remarks(self, model: Any, dev: Sequence[Any]) -> list[str]:
        """Arguments that no constituent near the predicate covers."""
        some, all_ = model.card_["unreachable"], model.card_["arguments"]
        told = f"{some:,} of {count(all_, 'argument')} cover no constituent near their predicate, and cannot be found"
        return [*([told] if some else []), *super().remarks(model, dev)]

    def results(self, model: Any, dev: Sequence[Any]) -> list[str]:
        """F1 of arguments on dev."""
        score = model.card_["dev"]
        return [] if score is None else [f"dev F1 of arguments, predicates and senses given: {score:.2f}"]
