"""The lists of formats on the command line are those of the library."""

from __future__ import annotations

from dovetail.cli.formats import CorpusFormat, InputFormat, OutputFormat, takes
from dovetail.text.formats import FORMATS


def test_every_format_can_be_named() -> None:
    assert set(InputFormat) == FORMATS.keys()
    assert set(CorpusFormat) == FORMATS.keys() - {"text"}
    assert set(OutputFormat) - {"pretty", "svg", "html"} == FORMATS.keys() - {"text"}


def test_readers_are_asked_for_their_options() -> None:
    assert takes("label-studio", "texts")
    assert takes("spacy", "lines")
    assert not takes("spacy", "encoding")
