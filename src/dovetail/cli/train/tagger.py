"""``dovetail train tagger`` and ``nested``: tags of words, such as named entities, and entities within entities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dovetail.cli.console import count, some, warn_all
from dovetail.cli.layers import check_named, read_by
from dovetail.cli.progress import Reporter
from dovetail.cli.train.domains import TaggerDomains
from dovetail.cli.train.doubts import dev_doubts, doubts
from dovetail.cli.train.resources import word_resources
from dovetail.cli.train.training import Training
from dovetail.errors import DovetailError, InputError
from dovetail.models.nested.settings import NestedSettings
from dovetail.models.tagger.settings import TaggerSettings


class TaggerTraining(Training):
    """Train a tagger of entities, chunks or parts of speech."""

    kind, model, settings, domains = "tagger", "Tagger", TaggerSettings, TaggerDomains
    takes = (
        "domain dev_domain expectations columns unlabelled clusters vectors lexicon hints association save_clusters "
        "noise_text ray scratch init resume half compact"
    )
    learns = "Annotated text to learn from (may be .gz)"
    folder: Path | None = None
    """Where text and features lie meanwhile, if not in memory."""
    first = "extracting features"

    def new(self) -> Any:
        """A tagger whose feature set is known, and kernels that are compiled while files are read."""
        from dovetail.features.algebra.sets import FeatureSet
        from dovetail.structures import ahead

        model = super().new()
        model.features = FeatureSet.of(model.features)  # a wrong name is reported before anything is read
        ahead.compile_chains()
        return model

    def run(self) -> None:
        """As any kind; text and features lie in a folder meanwhile, where one is named."""
        if self.given.scratch is None:
            return super().run()
        from dovetail.models.tagger.scratch import temporary

        with temporary(self.given.scratch) as self.folder:
            super().run()

    def check_options(self) -> None:
        """Refuse what needs all features in memory, before anything is read."""
        super().check_options()
        if self.folder is None:
            return
        if self.given.train is None or self.given.ray or self.given.expectations is not None:
            raise DovetailError("--scratch is for text of --train on this machine, without --ray and --expectations")
        from dovetail.models.tagger.scratch import check_for_disk

        check_for_disk(self.new())

    def read(self, path: Path) -> Any:
        """The sentences of a file; of what is learnt from, as they lie on disk where that is asked for."""
        if self.folder is None or path != self.given.train:
            return super().read(path)
        from dovetail.text.stored import StoredSentences

        return StoredSentences.write(self.corpora.stream(path), self.folder / "sentences")

    @property
    def target(self) -> str:
        """The layer to learn."""
        return str(self.chosen.get("target", TaggerSettings.target))

    def read_more(self, reporter: Reporter) -> dict[str, Any]:
        """What is expected of sentences that nobody has labelled."""
        self.expected: list[Any] = []
        if self.folder is not None:
            return {"scratch": self.folder}
        if (path := self.given.expectations) is None:
            return {}
        from dovetail.text.expectations import read_expectations

        reporter.doing(f"reading {path}")
        self.expected = list(read_expectations(path, self.given.encoding))
        if not any(map(len, self.expected)):
            raise InputError("no sentences in this file; dovetail project writes them", path)
        return {"expectations": self.expected}

    def check_data(self, sentences: Sequence[Any], path: Path) -> None:
        """There are words, and they have the layer to learn."""
        self.corpora.check_training(sentences, path, layer=self.target)

    def doubts(self, sentences: Sequence[Any], dev: Sequence[Any] | None) -> list[str]:
        """Mistakes in tags, and labels that cannot be learnt."""
        return doubts(sentences, dev, self.target) if not self.expected else dev_doubts(sentences, dev)

    def needs(self, model: Any, sentences: Sequence[Any]) -> list[str]:
        """What the feature set reads of what the sentences have."""
        warn_all(check_named(model.features, sentences, model.ignore))
        return read_by(model.features, sentences, {model.target, *model.ignore})

    def add_resources(self, model: Any, reporter: Reporter) -> None:
        """They join the feature set."""
        model.features = model.features.joined(**word_resources(reporter, self.given, model.threads))

    def remarks(self, model: Any, dev: Sequence[Any]) -> list[str]:
        """A model without weights."""
        advice = "train on more, or with --min-count 1"
        told = f"no feature got a weight, so the answers are the same for any words: {advice}"
        return [] if _weights(model) else [told]

    def data(self, card: Mapping[str, Any]) -> str:
        """Sentences, and expectations of others."""
        expected = card.get("expectations")
        return super().data(card) + (f", expectations of {count(expected, 'sentence')}" if expected else "")

    def parts(self, model: Any) -> str:
        """Labels and weights."""
        return f"{count(len(model.classes_), 'label')}, {count(_weights(model), 'weight')}"


def _weights(tagger: Any) -> int:
    """The number of weights of the features of a trained tagger."""
    trained = tagger.model_
    return len(trained.node.weight) + (len(trained.edge.weight) if trained.edge is not None else 0)


class NestedTraining(Training):
    """Train a tagger of entities within entities."""

    kind, model, settings = "nested", "NestedTagger", NestedSettings
    takes = "columns unlabelled clusters vectors lexicon hints save_clusters noise_text ray init resume half compact"
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
