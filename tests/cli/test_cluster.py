"""``dovetail cluster``: from text to clusters, more words, a picture; every mistake is one line."""

from __future__ import annotations

from pathlib import Path

import pytest

from dovetail.clusters.clustering import Clustering
from tests.cli.conftest import Run

TEXT = "the cat sat . a dog ran . the dog sat . a cat ran .\n" * 5


@pytest.fixture
def text(tmp_path: Path) -> Path:
    (tmp_path / "text.txt").write_text(TEXT, encoding="utf-8")
    return tmp_path / "text.txt"


def test_brown_writes_paths_and_says_what_it_found(run: Run, text: Path, tmp_path: Path) -> None:
    result = run("cluster", "brown", text, "--classes", 4, "--output", tmp_path / "out.paths")
    assert result.code == 0
    assert "80 words, 7 types, 4 classes" in result.out
    assert "mutual information" in result.out
    assert "clustering 7 types" in result.err
    clustering = Clustering.load(tmp_path / "out.paths")
    assert clustering.path_of("cat") == clustering.path_of("dog") != clustering.path_of("sat")


def test_more_classes_than_types_is_told(run: Run, text: Path, tmp_path: Path) -> None:
    result = run("cluster", "brown", text, "--output", tmp_path / "out.paths", "--quiet")
    assert result.code == 0
    assert "7 types and 1,000 classes asked for: each word is a class of its own" in result.err


def test_assign_adds_words(run: Run, text: Path, tmp_path: Path) -> None:
    run("cluster", "brown", text, "--classes", 4, "--output", tmp_path / "out.paths", "-q")
    more = tmp_path / "more.txt"
    more.write_text(TEXT + "the cow sat . a cow ran . the cow sat . lone", encoding="utf-8")
    result = run("cluster", "assign", tmp_path / "out.paths", more, "--min-count", 2, "-o", tmp_path / "more.clusters")
    assert result.code == 0
    assert "7 words kept, 1 added" in result.out
    clustering = Clustering.load(tmp_path / "more.clusters")
    assert clustering.path_of("cow") == clustering.path_of("cat")
    assert clustering.path_of("lone") is None


def test_tree_is_drawn(run: Run, text: Path, tmp_path: Path) -> None:
    run("cluster", "brown", text, "--classes", 4, "--output", tmp_path / "out.paths", "-q")
    result = run("cluster", "tree", tmp_path / "out.paths", "--output", tmp_path / "tree.svg", "--depth", 2)
    assert result.code == 0
    assert "cat" in (tmp_path / "tree.svg").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["brown", "none.txt", "--output", "x"], "none.txt: no such file"),
        (["brown", "text.txt", "--output", "no/x"], "the folder no does not exist"),
        (["brown", "text.txt", "--output", "x", "--min-count", "99"], "no word is seen 99 times"),
        (["brown", "text.txt", "--output", "x", "--classes", "0"], "--classes"),
        (["assign", "text.txt", "text.txt", "--output", "x"], "text.txt:1: 1 column, expected 2 or 3"),
        (["tree", "text.txt", "--output", "x.svg"], "text.txt:1: 1 column"),
        (["tree", "ok.paths", "--output", "x.gif"], "the name must end in .svg or .png"),
        (["tree", "ok.paths", "--output", "x.svg", "--below", "111"], "shorter prefix"),
    ],
)
def test_mistakes_are_one_line(
    run: Run, text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("ok.paths").write_text("0\ta\t1\n1\tb\t1\n")
    result = run("cluster", *arguments, *(["-q"] if arguments[0] != "tree" else []))
    assert result.code == 2
    assert message in result.err
    assert len(result.err.splitlines()) == 1
    assert not Path("x").exists()


def test_help_names_the_commands(run: Run) -> None:
    assert all(name in run("cluster").out for name in ("brown", "assign", "tree"))
