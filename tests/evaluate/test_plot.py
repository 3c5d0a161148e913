from __future__ import annotations

import sys
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from dovetail.errors import DovetailError, InputError
from dovetail.evaluate import reliability, reliability_plot
from tests.extras import requires


@pytest.fixture(scope="module")
def report():
    rng = np.random.default_rng(0)
    probabilities = 1 - rng.beta(0.5, 2.5, 500)
    return reliability(probabilities, rng.random(500) < probabilities)


@requires("matplotlib")
@pytest.mark.parametrize(("suffix", "start"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("PDF", b"%PDF")])
def test_suffix_decides_what_is_written(report, tmp_path, suffix, start):
    path = tmp_path / f"reliability.{suffix}"
    assert reliability_plot(report, path) == path
    assert path.read_bytes().startswith(start)
    assert list(tmp_path.iterdir()) == [path]


@requires("matplotlib")
def test_picture_says_what_the_report_says(report, tmp_path):
    tree = ET.parse(reliability_plot(report, tmp_path / "a.svg", title="dev set <1> $x_1$"))
    texts = {element.text for element in tree.iter("{http://www.w3.org/2000/svg}text")}
    assert "dev set <1> $x_1$" in texts
    assert any(f"ECE {report.expected_calibration_error:.3f}" in text for text in texts)
    assert {f"{bin.count}" for bin in report.bins} <= texts


@requires("matplotlib")
def test_same_report_same_file(report, tmp_path):
    first, second = (reliability_plot(report, tmp_path / f"{name}.svg").read_bytes() for name in "ab")
    assert first == second


@requires("matplotlib")
def test_a_single_certain_bin_can_be_drawn(tmp_path):
    certain = reliability([1.0, 1.0], [True, False], strategy="quantile")
    assert reliability_plot(certain, tmp_path / "a.png").stat().st_size > 0


@pytest.mark.parametrize("name", ["picture.bmp", "picture"])
def test_other_suffixes_are_refused(report, tmp_path, name):
    with pytest.raises(InputError, match=r"\.png, \.svg, \.pdf"):
        reliability_plot(report, tmp_path / name)


@requires("matplotlib")
def test_a_missing_folder_is_named(report, tmp_path):
    with pytest.raises(InputError, match=r"nowhere.*cannot write"):
        reliability_plot(report, tmp_path / "nowhere" / "a.svg")


def test_without_matplotlib_the_error_tells_what_to_install(report, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(DovetailError, match=r"a plot needs matplotlib: pip install 'matplotlib>=3.8'"):
        reliability_plot(report, tmp_path / "a.svg")
