"""Defaults and bounds of all settings: one that changes is changed on purpose, with the table.

python -m tests.test_settings   # writes tests/data/settings.json anew
"""

from __future__ import annotations

import json
from dataclasses import MISSING, Field, fields
from pathlib import Path
from typing import Any

import pytest
import typer

import dovetail
from dovetail.cli.app import app
from dovetail.errors import DovetailError
from dovetail.models.settings import Setting, setting_of

TABLE = Path(__file__).parent / "data" / "settings.json"
BOUNDS = ("least", "above", "most", "below")
BOUNDS_OF_OPTION = ("min", "max")


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


def options() -> dict[str, dict[str, str]]:
    """Return the default and the bounds of each option and argument of each command."""
    found: dict[str, dict[str, str]] = {}
    waiting: list[tuple[str, Any]] = [("dovetail", typer.main.get_command(app))]
    while waiting:
        name, command = waiting.pop()
        waiting += [(f"{name} {inner}", own) for inner, own in getattr(command, "commands", {}).items()]
        found[name] = {str(one.name): bounded(one) for one in command.params}
    return {name: found[name] for name in sorted(found)}


def bounded(one: Any) -> str:
    """Return the default of an option, with its bounds; where these stand depends on the version of typer."""
    places = [one, getattr(one, "type", None)]
    found = {
        name: next((bound for place in places if (bound := getattr(place, name, None)) is not None), None)
        for name in BOUNDS_OF_OPTION
    }
    return "; ".join([str(one.default), *(f"{name} {value:g}" for name, value in found.items() if value is not None)])


def both() -> dict[str, dict[str, dict[str, str]]]:
    """Return all that the table holds."""
    return {"settings": settings(), "options": options()}


@pytest.mark.parametrize("which", ["settings", "options"])
def test_defaults_and_bounds_are_those_of_the_table(which: str) -> None:
    assert both()[which] == json.loads(TABLE.read_text(encoding="utf-8"))[which]


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
    TABLE.write_text(json.dumps(both(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
