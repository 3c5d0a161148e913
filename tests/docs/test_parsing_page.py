"""The page on parsing names every setting there is, with its default."""

from __future__ import annotations

import re

from dovetail.models.parser.estimator import Parser
from tests.docs.pages import ROOT

PAGE = (ROOT / "docs" / "parsing.md").read_text(encoding="utf-8")


def test_every_setting_is_told_and_none_is_made_up() -> None:
    assert set(re.findall(r"^\|[^|\n]*\| `(\w+)` \|", PAGE, re.MULTILINE)) == set(Parser().get_params())
    explained = set(re.findall(r"`(\w+)`:", PAGE))
    assert set(Parser().get_params()) <= explained


def test_defaults_are_those_of_the_code() -> None:
    rows = dict(re.findall(r"^\|[^|\n]*\| `(\w+)` \| ([^|\n]+) \|$", PAGE, re.MULTILINE))
    for name, default in Parser().get_params().items():
        if default is not None:
            assert rows[name] == (f"{default:g}" if isinstance(default, float) else str(default)), name


def test_every_way_a_tree_is_found_is_told() -> None:
    from typing import get_args

    from dovetail.models.parser.decoding import Search

    assert set(get_args(Search)) <= set(re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE))
