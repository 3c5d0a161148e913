"""The pages that commands write, in a real browser: nothing is asked for elsewhere, and axe finds no serious fault."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dovetail.text.jsonl import write_jsonl
from tests.browser import WIDTHS, chromium, visit  # noqa: F401
from tests.cli.conftest import Run
from tests.models.kinds import KINDS


@pytest.fixture
def pages(run: Run, data: Path, model: Path, tmp_path: Path) -> list[Path]:
    """A report of scores, names with other answers, and trees with dependencies."""
    report, names, trees = (tmp_path / f"{name}.html" for name in ("report", "names", "trees"))
    assert run("evaluate", "--model", model, data / "dev.conll", "--html", report).code == 0
    assert run("annotate", "--model", model, "--k-best", "3", "Ada visited London.", "--output", names).code == 0
    write_jsonl(KINDS["parser"].sentences[:2], tmp_path / "trees.jsonl")
    parser = KINDS["parser"].model.fit(KINDS["parser"].sentences)
    parser.save(tmp_path / "trees.dovetail")
    assert run("annotate", "--model", tmp_path / "trees.dovetail", "Ada slept.", "--output", trees).code == 0
    return [report, names, trees]


def test_pages_are_for_everybody(chromium: Any, pages: list[Path]) -> None:  # noqa: F811
    for page in pages:
        for width in WIDTHS:
            for dark in (False, True):
                with visit(chromium, page.as_uri(), width=width, dark=dark) as visited:
                    assert visited.faults() == []
                    assert visited.overflow() <= 0
