"""``import dovetail``: the names that users import."""

from __future__ import annotations

from pathlib import Path

import pytest

import dovetail


def test_every_exported_name_is_there() -> None:
    for name in dovetail.__all__:
        assert getattr(dovetail, name) is not None
        assert name in dir(dovetail)


def test_names_are_those_of_their_homes() -> None:
    from dovetail.models.tagger import Tagger
    from dovetail.text.formats import read

    assert dovetail.Tagger is Tagger
    assert dovetail.read is read


def test_an_unknown_name() -> None:
    with pytest.raises(AttributeError, match="'nosuch'"):
        _ = dovetail.nosuch


def test_load(model: Path) -> None:
    assert dovetail.load(model).predict([["Ada", "visited", "London", "."]]) == [["B-PER", "O", "B-LOC", "O"]]


def test_a_file_that_is_not_installed() -> None:
    with pytest.raises(dovetail.DovetailError, match="lacks the file 'nosuch'"):
        dovetail.embedded("nosuch")
