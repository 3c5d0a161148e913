"""Defaults and bounds of all settings: one that changes is changed on purpose, with the table.

python -m tests.models.test_settings   # writes tests/data/settings.json anew
"""

from __future__ import annotations

import json
from dataclasses import MISSING, Field, fields
from pathlib import Path
from typing import Any

import pytest

import dovetail
from dovetail.errors import DovetailError
from dovetail.models.settings import Setting, setting_of

TABLE = Path(__file__).parents[1] / "data" / "settings.json"
BOUNDS = ("least", "above", "most", "below")


def declared(one: Field[Any]) -> str:
    """Return the default of a setting, with its bounds or choices."""
    known = setting_of(one)
    default = one.default if one.default is not MISSING else "made anew"
    bounds = [f"{name} {getattr(known, name)}" for name in BOUNDS if getattr(known, name, None) is not None]
    choices = [f"of {', '.join(map(str, known.choices))}"] if known is not None and known.choices else []
    shown = [f"shown as {known.shown}"] if known is not None and known.shown else []
    return "; ".join([repr(default), *bounds, *choices, *shown])


def settings() -> dict[str, dict[str, str]]:
    """Return what is declared of each setting of each kind of model."""
    return {
        kind: {one.name: declared(one) for one in fields(dovetail.class_of(kind)) if one.init}
        for kind in sorted(dovetail._KINDS)
    }


def test_defaults_and_bounds_are_those_of_the_table() -> None:
    assert settings() == json.loads(TABLE.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("bounds", "right", "wrong"),
    [
        ({"least": 1}, [1, 5], [0.999, 0, -1]),
        ({"above": 0, "wanted": "choose more"}, [1e-9, 5], [0, -1]),
        ({"least": 0, "most": 2}, [0, 2], [-1, 2.001]),
        ({"least": 0, "below": 1, "wanted": "choose less"}, [0, 0.999], [1, -0.001]),
    ],
)
def test_bounds_are_kept(bounds: dict[str, Any], right: list[float], wrong: list[float]) -> None:
    known = Setting(help="A number.", **bounds)
    for value in (*right, None):
        known.check("x", value)
    for value in (*wrong, float("nan")):
        with pytest.raises(DovetailError, match=f"x={value}: choose "):
            known.check("x", value)


def test_every_bound_is_refused_in_words() -> None:
    for kind in dovetail._KINDS:
        for one in fields(dovetail.class_of(kind)):
            known = setting_of(one) if one.init else None
            if known is not None and any(getattr(known, name) is not None for name in BOUNDS):
                with pytest.raises(DovetailError, match=f"{one.name}=nan: "):
                    known.check(one.name, float("nan"))


if __name__ == "__main__":
    TABLE.write_text(json.dumps(settings(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
