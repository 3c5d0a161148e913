"""Text in other languages than English, where no model is named."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from dovetail.shipped import FOLDERS, named
from tests.cli.conftest import Run

SWEDISH = "Hon säger att tåget inte kommer förrän det har blivit ljust, och att vi måste vänta. "
SLOVAK = "Hovorí, že vlak nepríde skôr, ako sa rozvidnie, a že musíme čakať na ďalší deň. "


@pytest.fixture
def swedish(model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A model that is called swedish-names, whatever comes with dovetail."""
    folder = tmp_path / "more"
    folder.mkdir()
    shutil.copy(model, folder / "swedish-names.dovetail")
    monkeypatch.setenv(FOLDERS, str(folder))
    return str(folder / "swedish-names.dovetail")


def test_the_model_of_the_language_is_used_and_said(run: Run, swedish: str, tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text(SWEDISH, encoding="utf-8")
    for source in (SWEDISH, tmp_path / "text.txt"):
        code, out, err = run("annotate", source)
        assert code == 0
        assert "the text seems to be Swedish: its names are found by swedish-names" in err
        assert "--model" in err
        assert out == run("annotate", "--model", swedish, source).out
    assert "Swedish" in run("explain", SWEDISH).err


def test_nothing_of_a_long_text_is_lost(run: Run, swedish: str, tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text(SWEDISH * 500, encoding="utf-8")
    out = run("annotate", tmp_path / "text.txt").out
    assert len(out.splitlines()) == 500


def test_a_model_that_is_named_is_used_without_a_word(run: Run, swedish: str) -> None:
    code, _, err = run("annotate", "--model", "english-names", SWEDISH)
    assert (code, err) == (0, "")
    assert run("annotate", "Ada Lovelace was born in London.").err == ""


def test_without_a_model_of_the_language(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    there = {"english-names": named()["english-names"]}
    monkeypatch.setattr("dovetail.catalogue.named", lambda: there)
    code, out, err = run("annotate", SLOVAK)
    assert code == 0
    assert out
    assert "the text seems to be Slovak, and no model for it comes with dovetail: the English one is used" in err
    assert "--model (see dovetail models)" in err
    err = run("annotate", "Она говорит, что поезд не придёт.").err
    assert "the text is in a language that is not known here" in err


def test_chinese_text_needs_no_space(run: Run) -> None:
    code, out, err = run("annotate", "她住在上海。", "--model", "english-names")
    assert (code, err) == (0, "")
    assert "上" in out
