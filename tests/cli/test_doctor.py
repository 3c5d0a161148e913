"""What the doctor says."""

from __future__ import annotations

import json

import pytest

from dovetail.cli import doctor
from tests.cli.conftest import Run


def test_versions_cores_extras_and_cache(run: Run) -> None:
    code, out, _ = run("doctor", "--no-speed")
    assert code == 0
    for name in ("dovetail", "python", "cores", "memory", "packages", "extras", "cache"):
        assert f"\n{name}" in f"\n{out}"
    record = json.loads(run("doctor", "--no-speed", "--json").out)
    assert record["cores"] >= 1
    assert all(record["packages"].values())
    assert set(record["extras"]) == set(doctor.EXTRAS)
    assert "speed" not in record


def test_the_speed_is_measured(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "SECONDS", 0.1)
    code, out, _ = run("doctor", "--quiet")
    assert code == 0
    assert "words a second annotated" in out


def test_what_is_wrong_is_told_with_what_to_do() -> None:
    well = {
        "packages": {"numpy": "2"}, "extras": {"neural": {"torch": None, "transformers": None}},
        "cache": {"folder": "/x", "writable": True}, "speed": {"annotated": 90_000},
    }  # fmt: skip
    assert list(doctor.advice(well)) == []
    ill = {
        "packages": {"numpy": None}, "extras": {"neural": {"torch": "2", "transformers": None}},
        "cache": {"folder": "/x", "writable": False}, "speed": {"annotated": 900},
    }  # fmt: skip
    told = "\n".join(doctor.advice(ill))
    for part in ("numpy is missing", "NUMBA_CACHE_DIR", "lacks transformers: pip install 'transformers>=4.44'", "slow"):
        assert part in told
