"""Damaged files of every kind are read, or refused with an error of dovetail; ``tools/fuzz.py`` tries many more."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.extras import of_formats
from tests.fuzz.targets import TARGETS, Target, case, try_reading

CHEAP = [target for target in TARGETS if target.name not in ("nested", "joint")]


@pytest.mark.parametrize("target", of_formats(CHEAP, lambda target: target.name))
def test_valid_files_are_read(target: Target, tmp_path: Path) -> None:
    for seed in target.seeds():
        path = tmp_path / f"given{target.suffix}"
        path.write_bytes(seed)
        target.read(path)


@pytest.mark.parametrize("target", of_formats(CHEAP, lambda target: target.name))
def test_damaged_files_are_read_or_refused(target: Target, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("fuzz")

    @settings(max_examples=40 if target.is_model else 250, derandomize=True, database=None)
    @given(st.integers(0, 1 << 30))
    def read(number: int) -> None:
        try_reading(target, case(target, Random(number)), folder)

    read()
