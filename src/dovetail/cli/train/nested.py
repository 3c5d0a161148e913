"""``dovetail train nested``: entities within entities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dovetail.cli.console import count, some
from dovetail.cli.train.training import Training
from dovetail.models.nested.settings import NestedSettings


class NestedTraining(Training):
    """Train a tagger of entities within entities."""

    kind, model, settings = "nested", "NestedTagger", NestedSettings
    takes = "columns unlabelled clusters lexicon save_clusters init resume half"
    learns = "Sentences with entities, nested or not (may be .gz)"
    first = "extracting features"

    def repairs(self) -> list[str]:
        """All but that no layer of tags can hold nested entities, which are what this model learns from."""
        return [line for line in super().repairs() if "kept in the spans" not in line]

    def left_out(self, card: Mapping[str, Any]) -> list[str]:
        """Entities that no tree can hold, and long sentences."""
        found = [
            f"{number:,} training {'entity' if number == 1 else 'entities'} left out: {reason}"
            for reason, number in card["left_out"].items()
        ]
        if card["too_long"]:
            found.append(f"{count(card['too_long'], 'training sentence')} left out: longer than --max-length")
        return found

    def remarks(self, model: Any, dev: Sequence[Any]) -> list[str]:
        """What was left out of training, and what no model can learn."""
        unseen = {span.label for sentence in dev for span in model.entities(sentence)} - set(model.classes_)
        told = f"labels in dev that are not in the training data, so they cannot be learnt: {some(sorted(unseen))}"
        return self.left_out(model.card_) + ([told] if unseen else [])

    def data(self, card: Mapping[str, Any]) -> str:
        """Sentences and entities."""
        return f"{count(card['sentences'], 'sentence')}, {card['entities']:,} entities"
