"""The page on segments names every setting, set and template function there is."""

from __future__ import annotations

import re

from dovetail.features.algebra.sets import WORD_SETS
from dovetail.features.algebra.span_sets import SPAN_SETS
from dovetail.models.segmenter.estimator import Segmenter
from tests.docs.pages import ROOT

PAGE = (ROOT / "docs" / "segment.md").read_text(encoding="utf-8")


def test_every_setting_and_set_is_told() -> None:
    told = set(re.findall(r"`([\w-]+)", PAGE))
    assert set(Segmenter().get_params()) <= told
    assert {*SPAN_SETS, *WORD_SETS, "markov", "semi-markov"} <= told
    assert {"variety_before", "variety_after", "phrase", "length"} <= told


def test_defaults_are_those_of_the_code() -> None:
    rows = dict(re.findall(r"^\|[^|\n]*\| `(\w+)` \| ([^|\n]+) \|$", PAGE, re.MULTILINE))
    settings = Segmenter().get_params()
    assert rows.keys() == settings.keys()
    for name, default in settings.items():
        if default not in (None, {}, ()):
            assert rows[name] == (f"{default:g}" if isinstance(default, float) else str(default)), name
