"""``dovetail pool``, and pools in ``dovetail train``."""

from __future__ import annotations

from pathlib import Path

import pytest

from dovetail import Tagger
from dovetail.cli.main import main
from tests.models.corpus import made


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, rows in (("train.conll", made(20)), ("dev.conll", made(30)[20:])):
        lines = ["".join(f"{w} {t}\n" for w, t in zip(s.words, s.layers["ner"], strict=True)) + "\n" for s in rows]
        (tmp_path / name).write_text("".join(lines))
    return tmp_path


def train(output: str, *more: str) -> int:
    return main(
        ["train", "tagger", "--train", "train.conll", "--output", output, "--quiet", "--iterations", "9", *more]
    )


def test_a_pool_of_two_files(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert train("a.dovetail", "--seed", "1") == train("b.dovetail", "--l2", "1") == 0
    capsys.readouterr()
    assert main(["pool", "a.dovetail", "b.dovetail", "--output", "c.dovetail"]) == 0
    assert capsys.readouterr().out.startswith("0.500  a.dovetail\n0.500  b.dovetail\nmodel: c.dovetail (")
    how = ["--weights", "learnt", "--dev", "dev.conll", "--threads", "1"]
    assert main(["pool", "a.dovetail", "b.dovetail", "--output", "d.dovetail", *how]) == 0
    assert "score on dev.conll: " in capsys.readouterr().out
    assert Tagger.load("d.dovetail").predict([["Ada", "slept"]])
    assert main(["info", "d.dovetail"]) == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["a.dovetail", "--output", "c.dovetail"], "give two models at least"),
        (["a.dovetail", "a.dovetail", "--output", "c.dovetail", "--weights", "learnt"], "needs --dev"),
        (["a.dovetail", "b.dovetail", "--output", "c.dovetail"], "differ in their order: 1 and 0"),
        (["a.dovetail", "missing.dovetail", "--output", "c.dovetail"], "missing.dovetail"),
        (["a.dovetail", "b.dovetail", "--output", "b.dovetail"], "b.dovetail"),
    ],
)
def test_bad_pools(files: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str) -> None:
    assert train("a.dovetail") == train("b.dovetail", "--order", "0") == 0
    capsys.readouterr()
    before = Path("b.dovetail").read_bytes()
    assert main(["pool", *arguments]) == 2
    told = capsys.readouterr().err
    assert message in told
    assert told.startswith("dovetail: error: ")
    assert not Path("c.dovetail").exists()
    assert Path("b.dovetail").read_bytes() == before


def test_training_a_pool(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert train("a.dovetail", "--pool", "random:2", "--dev", "dev.conll") == 0
    assert "experts:\n   0.500  random 1\n   0.500  random 2\n" in capsys.readouterr().out
    assert train("a.dovetail", "--pool", "word,lower|ngrams|shape", "--pool-weights", "learnt") == 0
    assert "  word,lower\n" in capsys.readouterr().out
    assert train("a.dovetail", "--pool", "random") == 2
    assert "pool='random': say how many experts, as in random:3" in capsys.readouterr().err


def test_selecting_templates(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert train("a.dovetail", "--select-templates", "--selection", "0.3") == 0
    told = capsys.readouterr().out
    assert "kept, with the norm of their weights:" in told
    assert "dropped: " in told
    assert train("b.dovetail", "--select-templates", "--selection", "99") == 2
    assert "selection=99 drops every template: choose a smaller one" in capsys.readouterr().err
    assert not Path("b.dovetail").exists()
