"""``dovetail train segmenter``: words in text without spaces, or entities as whole segments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from dovetail.cli.formats import CorpusFormat
from dovetail.cli.options import option
from dovetail.cli.paths import Reads
from dovetail.cli.progress import Reporter
from dovetail.cli.train.options import FILES
from dovetail.cli.train.resources import character_resources
from dovetail.cli.train.training import Training
from dovetail.errors import DovetailError
from dovetail.models.segmenter.settings import SegmenterSettings

UNLABELLED = "Raw text for association and accessor variety, or for word clusters with entities; may be repeated."


OF_TEXT = f"Format of annotated text: {', '.join(CorpusFormat)}."


class SegmenterTraining(Training):
    """Train a segmenter of Chinese words, or of entities."""

    kind, model, settings = "segmenter", "Segmenter", SegmenterSettings
    takes = "columns association unlabelled clusters vectors lexicon noise_text ray init resume half compact"
    learns = "A .txt file with words separated by spaces, or annotated text with entities (may be .gz)"
    own: ClassVar[Mapping[str, Any]] = {
        "unlabelled": (FILES, option("RAW", UNLABELLED, Reads())),
        "input_format": (
            CorpusFormat | None,
            option(
                "FORMAT",
                OF_TEXT,
                shown="from the file name; .txt is words",
            ),
        ),
    }
    first = "extracting features"
    trained_on: ClassVar[Mapping[str, str]] = {"sentences": "sentence", "segments": "segment"}
    too_long = "{} left out because a segment is too long; see --longest"

    @cached_property
    def words(self) -> bool:
        """Whether words are learnt: if the file is text and nothing else was said."""
        from dovetail.text.formats import guess_format

        told = self.corpora.format is not None or "target" in self.chosen
        return not told and guess_format(self.given.train or "") == "text"

    def parts_held_out(self) -> int | None:
        """None of words, unless it is asked for."""
        found = super().parts_held_out()
        return 0 if found is None and self.words else found

    def new(self) -> Any:
        """A segmenter of words, or of a layer."""
        self.chosen["target"] = None if self.words else self.chosen.get("target", "ner")
        return super().new()

    def read(self, path: Path) -> list[Any]:
        """Lists of words, or annotated sentences."""
        from dovetail.text.formats import guess_format
        from dovetail.text.words import read_segmented

        if not self.words:
            return super().read(path)
        if (told := guess_format(path)) not in (None, "text"):
            wanted = "the training data is plain text with words separated by spaces"
            raise DovetailError(f"{path}: {wanted}, but this file is {told}")
        return list(read_segmented(path, self.given.encoding))

    def check_data(self, sentences: Sequence[Any], path: Path) -> None:
        """There are words, or words with the layer to learn."""
        self.corpora.check_training(sentences, path, layer=self.chosen["target"], words=self.words)

    def needs(self, model: Any, sentences: Sequence[Any]) -> list[str]:
        """What the feature set reads; of characters, nothing else is known."""
        return [] if self.words else super().needs(model, sentences)

    def add_resources(self, model: Any, reporter: Reporter) -> None:
        """Of characters, or of words."""
        if self.words:
            model.resources = character_resources(reporter, self.given, model.normalise_width)
        else:
            super().add_resources(model, reporter)

    def results(self, model: Any, dev: Sequence[Any]) -> list[str]:
        """The scores of words, or the table of those of entities."""
        return [str(model.word_scores(dev))] if self.words and dev else super().results(model, dev)

    def parts(self, model: Any) -> str:
        """The family of the model."""
        return str(model.family)
