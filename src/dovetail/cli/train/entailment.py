"""``dovetail train entailment``: whether a hypothesis follows from a text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any, ClassVar

from dovetail.cli.console import count
from dovetail.cli.options import REQUIRED, option
from dovetail.cli.pairs import read_labelled, scores_of
from dovetail.cli.paths import Reads
from dovetail.cli.progress import Reporter
from dovetail.cli.train.training import Training
from dovetail.models.entailment.settings import EntailmentSettings

TRAIN = option(
    "FILE", "Pairs with labels: .xml, .jsonl or .tsv (may be .gz); may be repeated.", Reads(), default=REQUIRED
)

PairFormat = StrEnum("PairFormat", "xml jsonl tsv")
FORMAT = option(None, "Format of the input files.", shown="from the file name")


class EntailmentTraining(Training):
    """Train a judge of whether a hypothesis follows from a text."""

    kind, model, settings = "entailment", "Entailment", EntailmentSettings
    takes = "init resume half compact"
    learns = "Pairs with labels"
    own: ClassVar[Mapping[str, Any]] = {"train": (list[Path], TRAIN), "input_format": (PairFormat | None, FORMAT)}
    trained_on: ClassVar[Mapping[str, str]] = {"sentences": "pair", "tokens": "word"}

    def __init__(self, values: Mapping[str, Any]) -> None:
        super().__init__({**values, "input_format": None})  # which is a format of sentences
        self.format = values["input_format"]

    def read_all(self, files: Mapping[str, Any], reporter: Reporter) -> dict[str, list[Any]]:
        """The pairs of files, of which there may be several to train on."""
        found: dict[str, list[Any]] = {}
        for name, paths in files.items():
            for path in [paths] if isinstance(paths, Path) else paths:
                reporter.doing(f"reading {path}")
                found.setdefault(name, []).extend(self.read(path))
        return found

    def read(self, path: Path) -> list[Any]:
        """Pairs with labels."""
        return list(read_labelled(path, self.given.encoding, self.format))

    def check_data(self, sentences: Sequence[Any], path: Path) -> None:
        """Pairs were checked as they were read."""

    def doubts(self, sentences: Sequence[Any], dev: Sequence[Any] | None) -> list[str]:
        """Pairs of one label only, and pairs of dev that were learnt."""
        seen = {(pair.text, pair.hypothesis) for pair in sentences}
        twice = sum((pair.text, pair.hypothesis) in seen for pair in dev or ())
        one = {pair.label for pair in sentences}
        found = [f"{count(twice, 'pair')} of dev {'is' if twice == 1 else 'are'} in the training data"] if twice else []
        return found + ([f"all pairs of the training data have the label {one.pop()}"] if len(one) == 1 else [])

    def needs(self, model: Any, sentences: Sequence[Any]) -> list[str]:
        """Nothing but texts."""
        return []

    def add_resources(self, model: Any, reporter: Reporter) -> None:
        """There are none."""

    def results(self, model: Any, dev: Sequence[Any]) -> list[str]:
        """The scores on dev."""
        return [str(scores_of(dev, list(model.annotate(dev))))] if dev else []

    def parts(self, model: Any) -> str:
        """The number of features."""
        return count(len(model.model_.features), "feature")
