"""The models of every release load and answer as they did: see `tools/freeze.py`."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from fnmatch import fnmatch
from importlib import import_module
from inspect import signature
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pytest

import dovetail

FROZEN = Path(__file__).parent / "data" / "frozen"
TOOLS = Path(__file__).parents[1] / "tools"
RELEASES = sorted(path.name for path in FROZEN.iterdir() if path.is_dir())
FOLDERS = sorted(path.parent.relative_to(FROZEN).as_posix() for path in FROZEN.glob("*/*/answers.json"))
TOLERANCE = 1e-6
"""Largest difference of two numbers, since another processor may add up in another order."""
NUMBER = re.compile(r"(-?\d+\.\d{2,}(?!\.|\d|e))")
"""Decimals in texts that were rounded, which no version such as 0.2.0 is."""

MEANT = [change["where"] for change in tomllib.loads((FROZEN / "changes.toml").read_text("utf-8"))["change"]]
"""Differences that are meant, as patterns of what ``differences`` says."""


@pytest.fixture(scope="module")
def freeze() -> Iterator[Any]:
    """Return the tool."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(TOOLS)
        yield import_module("freeze")


def differences(old: Any, new: Any, where: str = "") -> Iterator[str]:
    """Yield the places where two answers differ, decimals in texts by more than one in the last digit."""
    if isinstance(old, dict) and isinstance(new, dict):
        for name in {**old, **new}:
            if name in old and name in new:
                yield from differences(old[name], new[name], f"{where}/{name}")
            else:
                yield f"{where}/{name}: only {'then' if name in old else 'now'}"
    elif isinstance(old, list) and isinstance(new, list):
        if len(old) != len(new):
            yield f"{where}: {len(old)} then, {len(new)} now"
        for number, (one, other) in enumerate(zip(old, new, strict=False)):
            yield from differences(one, other, f"{where}/{number}")
    elif isinstance(old, float) and isinstance(new, float):
        if not abs(old - new) <= TOLERANCE * max(1.0, abs(old)):
            yield f"{where}: {old} then, {new} now"
    elif isinstance(old, str) and isinstance(new, str):
        yield from compare_texts(old, new, where)
    elif type(old) is not type(new) or old != new:
        yield f"{where}: {old!r} then, {new!r} now"


def compare_texts(old: str, new: str, where: str) -> Iterator[str]:
    """Yield the lines in which two texts differ."""
    for number, (one, other) in enumerate(zip_longest(old.splitlines(), new.splitlines()), 1):
        parts = [NUMBER.split(line or "") for line in (one, other)]
        same = len(parts[0]) == len(parts[1]) and parts[0][::2] == parts[1][::2]
        if not same or not all(map(is_near, parts[0][1::2], parts[1][1::2])):
            yield f"{where}, line {number}: {one!r} then, {other!r} now"


def is_near(old: str, new: str) -> bool:
    """Return whether two decimals differ by at most one in the last digit."""
    digits = [len(text.partition(".")[2]) for text in (old, new)]
    return old == new or (digits[0] == digits[1] and abs(float(old) - float(new)) < 1.5 * 10.0 ** -digits[0])


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_frozen_model_answers_as_it_did(freeze: Any, folder: str, tmp_path: Path) -> None:
    variation = freeze.VARIATIONS[Path(folder).name]
    for package in variation.requires:
        pytest.importorskip(package)
    freeze.unfreeze(FROZEN / folder, tmp_path)
    outputs = freeze.describe(tmp_path) | {freeze.ANSWERS: json.dumps(variation.answers(tmp_path))}
    for name in (freeze.ANSWERS, freeze.INFO, freeze.EXPLANATION):
        if (tmp_path / name).exists():  # not every model can be explained
            old, new = (tmp_path / name).read_text("utf-8"), outputs[name]
            decode = json.loads if name.endswith(".json") else str
            changes = differences(decode(old), decode(new), f"{folder}/{name}")
            assert [change for change in changes if not any(fnmatch(change, meant) for meant in MEANT)] == []


@pytest.mark.parametrize("release", RELEASES)
def test_frozen_files_do_not_change(freeze: Any, release: str) -> None:
    manifest = json.loads((FROZEN / release / freeze.MANIFEST).read_text("utf-8"))
    assert freeze.hash_files(FROZEN / release) == manifest


def test_every_release_is_frozen_and_the_last_has_every_kind(freeze: Any) -> None:
    releases = list(json.loads(freeze.RELEASES.read_text("utf-8")))
    assert sorted(releases) == RELEASES
    kinds = {json.loads(path.read_text("utf-8"))["kind"] for path in (FROZEN / releases[-1]).glob(f"*/{freeze.INFO}")}
    public = [getattr(dovetail, name) for name in dovetail.__all__]
    assert {item.stored_kind() for item in public if hasattr(item, "stored_kind")} == kinds


def test_settings_are_written_out(freeze: Any) -> None:
    """A setting that is not in the table would have its default, and a changed default look like a changed answer."""
    settings = import_module("variations").SETTINGS
    estimators = {n for n in dovetail.__all__ if hasattr(getattr(dovetail, n), "stored_kind")}
    assert estimators == settings.keys()
    for name in estimators:
        parameters = set(signature(getattr(dovetail, name)).parameters)
        assert parameters - settings[name].keys() <= {"tagger", "parser", "stages", "batch_size", "told"}, name


@pytest.mark.parametrize(
    ("old", "new", "where"),
    [
        ([{"a": 0.5}], [{"a": 0.5 + 2e-6}], "/0/a: 0.5"),
        ({"a": 1}, {"a": 1.0}, "/a: 1 then"),
        ({"a": 1}, {"b": 1}, "/a: only then"),
        ([1, 2], [1], ": 2 then, 1 now"),
        ("x 0.123\ny", "x 0.125\ny", ", line 1"),
        ("x 0.123\ny", "x 0.123\nz", ", line 2"),
        ("O", "B-PER", ", line 1"),
        ("1.25e-05", "1.26e-05", ", line 1"),
        ("0.2.0", "0.3.0", ", line 1"),
        (True, 1, ": True then"),
    ],
)
def test_a_difference_has_its_place(old: Any, new: Any, where: str) -> None:
    assert next(differences(old, new)).startswith(where)


def test_rounding_errors_are_no_difference() -> None:
    assert not list(differences({"p": 0.5, "t": "x 0.123"}, {"p": 0.5 + 5e-7, "t": "x 0.124"}))
