"""What a search tries."""

from __future__ import annotations

import pytest

import dovetail
from dovetail.cli.train import KINDS
from dovetail.cli.train.options import shown_settings
from dovetail.errors import DovetailError
from dovetail.tuning.space import SPACES, candidates, space_of


@pytest.mark.parametrize("training", KINDS, ids=lambda training: training.kind)
def test_every_choice_is_an_option_with_a_value_that_is_allowed(training: type) -> None:
    shown = shown_settings(training.settings)
    labelled = {"kind": "labelled"} if training.kind == "parser" else {}
    for settings in (way for ways in SPACES[training.kind].values() for way in ways[1:]):
        assert settings.keys() <= shown.keys()
        kind = getattr(dovetail, training.model)
        kind(**settings, **(labelled if "unaries" in settings else {})).check_settings()
        usual = kind()
        assert all(getattr(usual, name) != value for name, value in settings.items())


def test_the_defaults_come_first_and_what_is_fixed_is_not_searched() -> None:
    space = space_of("tagger", fixed={"l2", "features"})
    found = candidates(space, 30, seed=1)
    assert found[0] == {}
    assert len(found) == 30 == len({repr(sorted(one.items())) for one in found})
    assert not any(one.keys() & {"l2", "features"} for one in found)
    assert candidates(space, 12, seed=1) == found[:12]
    assert any(len(one) > 2 for one in found)


def test_a_small_space_ends() -> None:
    assert len(candidates({"order": ({}, {"order": 2})}, 30, seed=1)) == 2
    with pytest.raises(DovetailError, match="no settings to search"):
        space_of("aligner")
