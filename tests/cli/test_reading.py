"""How far a file is read, and how long the rest may take."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from dovetail.cli import reading
from dovetail.cli.progress import Reporter
from dovetail.text.files import open_text, positions
from tests.cli.conftest import Run


class Told(Reporter):
    """Keeps what it hears."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def standing(self, done: int, of: int | None, how_far: str, step: str = "") -> None:
        self.lines.append(f"{done}/{of} {how_far}")


def test_the_time_left_is_that_of_the_bytes_left() -> None:
    told = Told()
    reading.tell(told, 250, 1000, 70, 10.0)
    reading.tell(told, 500, 1000, 140, 1.0)  # too soon
    reading.tell(told, 0, 1000, 0, 10.0)  # nothing is read yet
    assert told.lines == ["250/1000 70 words, 10 s, at most 30 s left"]


@pytest.mark.parametrize("ending", ["txt", "txt.gz"])
def test_positions_are_those_of_the_bytes_on_disk(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"a.{ending}"
    text = "".join(f"Ada met {number}.\n" for number in range(50_000)).encode()
    path.write_bytes(gzip.compress(text) if ending.endswith("gz") else text)
    with positions() as place, open_text(path) as lines:
        assert place() == 0
        next(iter(lines))
        begun = place()
        assert 0 < begun < path.stat().st_size
        for _ in lines:
            pass
        assert begun < place() <= path.stat().st_size


def test_annotation_says_how_far_it_is(
    run: Run, data: Path, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "LATEST", 0.0)
    command = ("annotate", "--model", model, data / "dev.conll", "--output", tmp_path / "out.conll")
    assert "words, " in run(*command).err
    assert run(*command, "--quiet").err == ""
