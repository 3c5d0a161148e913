"""``dovetail demo``, with small stand-ins for the files that come with dovetail."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

import dovetail
from tests.cli.conftest import Run


def test_the_tour(run: Run, model: Path, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("train", "dev"):
        content = gzip.compress((data / f"{name}.conll").read_bytes())
        (tmp_path / f"sample-{name}.conll.gz").write_bytes(content)
    (tmp_path / dovetail.ENGLISH_MODEL).write_bytes(model.read_bytes())
    monkeypatch.setattr(dovetail, "embedded", lambda name: tmp_path / name)
    code, out, err = run("demo", "Ada Lovelace visited London .", "--threads", "1")
    assert code == 0
    assert "[Ada Lovelace PER 0." in out
    assert "micro" in out
    assert "trained on 60 sentences" in out
    assert "iteration" in err
    pages = out[out.index("In the browser") :].splitlines()[1:]
    assert [line.split()[:2] for line in pages] == [["dovetail", "serve"], ["dovetail", "label"]]
    assert all(run(line.split()[1], "--help").code == 0 for line in pages)


def test_without_its_files(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("importlib.resources.files", lambda package: tmp_path)
    code, out, err = run("demo")
    assert (code, out) == (2, "")
    assert "this installation lacks the file 'english-names.dovetail'" in err
