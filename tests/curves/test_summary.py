"""Means, spreads, tables and pictures of curves."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np
import pytest

from dovetail.curves import Curve, curves_csv, curves_of, curves_table, draw_curves, savings
from dovetail.curves.runs import Run
from dovetail.errors import InputError
from tests.extras import requires


def run(series: str, draw: int, sentences: int, score: float, tokens: int = 0) -> Run:
    return Run(f"{series}{draw}{sentences}", series, draw, sentences, tokens or 9 * sentences, score, 1.0, 40.0, 60.0)


@pytest.fixture
def curves() -> list[Curve]:
    plain = [run("plain", d, n, n / 10 + d) for d in (1, 2, 4) for n in (200, 100)]
    rich = [run("rich", d, n, n / 10 + 5 + d) for d in (1, 2, 4) for n in (100, 150)]
    return curves_of([*plain, *rich, run("rich", 1, 400, 50.0)])


def test_mean_and_spread(curves: list[Curve]) -> None:
    plain, rich = curves
    assert [point.sentences for point in plain.points] == [100, 200]
    assert [point.sentences for point in rich.points] == [100, 150, 400]
    point = plain.points[0]
    assert point.mean == pytest.approx(np.mean([11, 12, 14]))
    assert point.deviation == pytest.approx(np.std([11, 12, 14], ddof=1))
    assert (point.low, point.high, point.draws, point.precision, point.recall) == (11, 14, 3, 40, 60)
    assert rich.points[-1].deviation is None


def test_table(curves: list[Curve]) -> None:
    assert curves_table(curves).splitlines() == [
        "sentences  tokens         plain          rich",
        "100           900  12.33 ± 1.53  17.33 ± 1.53",
        "150         1,350                22.33 ± 1.53",
        "200         1,800  22.33 ± 1.53",
        "400         3,600                       50.00",
    ]


def test_table_tells_tokens_apart_where_series_differ() -> None:
    different = curves_of([run("chosen", 1, 10, 50.0, 300), run("random", 1, 10, 40.0, 100)])
    assert curves_table(different).splitlines() == [
        "sentences  chosen  tokens  random  tokens",
        "10          50.00     300   40.00     100",
    ]


def test_csv(curves: list[Curve]) -> None:
    rows = list(csv.DictReader(io.StringIO(curves_csv(curves))))
    assert len(rows) == 5
    assert rows[0]["series"] == "plain"
    assert float(rows[0]["mean"]) == pytest.approx(12.3333)
    assert rows[-1]["deviation"] == ""


def test_savings(curves: list[Curve]) -> None:
    plain, rich = curves
    assert savings(curves, plain) == [
        "rich reaches the 22.33 of plain at 200 sentences (1,800 tokens) with 150 sentences (1,350 tokens)"
    ]
    [line] = savings(curves, rich)
    assert line.startswith("plain does not reach the 50.00 of rich")
    assert "at best 22.33, with 200 sentences" in line


@requires("matplotlib")
def test_pictures(curves: list[Curve], tmp_path: Path) -> None:
    svg = draw_curves(curves, tmp_path / "curve.svg", "A title", axes=("sentences", "tokens")).read_text()
    for text in ("A title", "plain", "rich", "labelled sentences", "labelled tokens", "F1 (%)"):
        assert f">{text}</text>" in svg
    again = draw_curves(curves, tmp_path / "again.svg", "A title", axes=("sentences", "tokens")).read_text()
    assert again == svg
    assert draw_curves(curves, tmp_path / "curve.png", "A title").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(InputError, match="name the file so"):
        draw_curves(curves, tmp_path / "curve.gif", "A title")
