"""``dovetail draw-links``: pictures of pairs and their links, which must go together."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.cli.conftest import Run

GRID = """\
line 2
ein  ● ·
Hund · ◐
     │ └ dog
     └ a
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a").write_text("das Haus\nein Hund\n")
    (tmp_path / "b").write_text("the house\na dog\n")
    (tmp_path / "links").write_text("0-0 1?1\n0-0 1-1:0.5\n")
    return tmp_path


def test_a_line_in_characters(run: Run, folder: Path) -> None:
    given = ("draw-links", "--source", folder / "a", "--target", folder / "b", "--links", folder / "links")
    result = run(*given, "--line", 2)
    assert (result.code, result.out) == (0, GRID)
    every = run(*given, "-o", folder / "all.txt")
    assert every.code == 0
    assert (folder / "all.txt").read_text().endswith(f"\n\n{GRID}")


def test_pictures(run: Run, folder: Path) -> None:
    given = ("draw-links", "--source", folder / "a", "--target", folder / "b", "--links", folder / "links")
    assert run(*given, "-o", folder / "x.svg").code == 0
    assert run(*given, "-o", folder / "y.svg", "--line", 2).code == 0
    assert (folder / "x-2.svg").read_text() == (folder / "y.svg").read_text()
    assert "stroke-dasharray" in (folder / "x-1.svg").read_text()
    ElementTree.fromstring((folder / "y.svg").read_text())


def test_links_from_one(run: Run, folder: Path) -> None:
    (folder / "links").write_text("1-1 2-2\n1-1\n")
    given = ("draw-links", "--source", folder / "a", "--target", folder / "b", "--links", folder / "links")
    assert run(*given, "--first", 1, "--line", 1).code == 0
    result = run(*given, "--line", 1)
    assert result.code == 2
    assert "links:1: the link 2-2 names word 2 of the source, which has 2 (the first is 0); were links" in result.err


@pytest.mark.parametrize(
    ("links", "message"),
    [
        ("0-0\n1-2\n", "links:2: the link 1-2 names word 2 of the target, which has 2"),
        ("0-0\n2-1\n", "links:2: the link 2-1 names word 2 of the source, which has 2"),
        ("0-0\n", "links:2: the links end after line 1, and the text goes on"),
        ("0-0\n\n\n", "links:3: the text ends after pair 2, so this line of links has none"),
        ("0-0\nx\n", "links:2: 'x' is no link"),
    ],
)
def test_links_of_another_text(run: Run, folder: Path, links: str, message: str) -> None:
    (folder / "links").write_text(links)
    given = ("draw-links", "--source", folder / "a", "--target", folder / "b", "--links", folder / "links")
    for output in ("x.svg", "x.txt"):
        result = run(*given, "-o", folder / output)
        assert result.code == 2
        assert message in result.err
        assert result.err.count("\n") == 1
        assert not list(folder.glob("x*"))


def test_lines_that_are_not_there_and_too_many(run: Run, folder: Path) -> None:
    given = ("draw-links", "--source", folder / "a", "--target", folder / "b", "--links", folder / "links")
    assert "--line 3: " in run(*given, "--line", 3, "-o", folder / "x.txt").err
    assert "the name must end in .svg or .txt" in run(*given, "-o", folder / "x.png").err
    (folder / "many").write_text("a ||| b\n" * 201)
    (folder / "links").write_text("0-0\n" * 201)
    result = run("draw-links", "--source", folder / "many", "--links", folder / "links", "-o", folder / "x.svg")
    assert "there is one picture per line, and 201 lines: choose some with --line" in result.err


def test_what_is_odd_is_told(run: Run, folder: Path) -> None:
    (folder / "a").write_text("das Haus\n\n")
    (folder / "links").write_text("0-0\n\n")
    done = run("draw-links", "--source", folder / "a", "--target", folder / "b", "--links", folder / "links")
    assert done.code == 0
    assert "pair with an empty side, kept without links" in done.err


def test_nothing_that_is_read_is_overwritten(run: Run, folder: Path) -> None:
    (folder / "links").rename(folder / "x-2.svg")
    given = ("--source", folder / "a", "--target", folder / "b", "--links", folder / "x-2.svg")
    result = run("draw-links", *given, "-o", folder / "x.svg")
    assert result.code == 2
    assert "x-2.svg: --output would overwrite what is read; choose another name" in result.err
    assert not (folder / "x-1.svg").exists()
