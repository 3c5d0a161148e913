"""``dovetail align`` and ``dovetail evaluate`` of links: from text to links and scores; every mistake is one line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.models.aligner.bitext import made_up


@pytest.fixture
def text(tmp_path: Path) -> Path:
    pairs, gold = made_up(300)
    (tmp_path / "a.src").write_text("".join(" ".join(p.source) + "\n" for p in pairs))
    (tmp_path / "a.tgt").write_text("".join(" ".join(p.target) + "\n" for p in pairs))
    (tmp_path / "gold").write_text("".join(" ".join(f"{i + 1}-{j + 1}" for i, j in sorted(g)) + "\n" for g in gold))
    return tmp_path


def test_links_are_written_and_scored(run: Run, text: Path) -> None:
    result = run(
        "align", "--source", text / "a.src", "--target", text / "a.tgt", "--output", text / "links", "--save",
        text / "model", "--probabilities", "--threads", 1,
    )  # fmt: skip
    assert result.code == 0, result.err
    assert "300 pairs" in result.out
    assert "drawing links" in result.err
    lines = (text / "links").read_text().splitlines()
    assert len(lines) == 300
    assert ":0." in lines[0]
    scores = run("evaluate", "--gold", text / "gold", "--gold-first", 1, "--predicted", text / "links")
    assert scores.code == 0, scores.err
    assert "alignment error rate" in scores.out
    assert "calibration: expected error" in scores.out
    assert '"error_rate"' in run("evaluate", "--gold", text / "links", "--predicted", text / "links", "--json").out
    new = run(
        "align", "--source", text / "a.src", "--target", text / "a.tgt", "-o", text / "new", "--model", text / "model",
        "--symmetrise", "grow-diag-final-and", "-q",
    )  # fmt: skip
    assert new.code == 0, new.err
    assert len((text / "new").read_text().splitlines()) == 300
    assert ":" not in (text / "new").read_text()


def test_pairs_that_are_no_translations_are_reported(run: Run, tmp_path: Path) -> None:
    pairs, gold = made_up(800, noise=0.4)
    (tmp_path / "a").write_text("".join(f"{' '.join(p.source)} ||| {' '.join(p.target)}\n" for p in pairs))
    result = run("align", "--source", tmp_path / "a", "-o", tmp_path / "links", "--least-confidence", 0.5, "-q")
    assert result.code == 0, result.err
    assert "left without links, their confidence below 0.5 (first at line" in result.err
    left = [not line for line in (tmp_path / "links").read_text().splitlines()]
    noise = [not links for links in gold]
    assert sum(a and b for a, b in zip(left, noise, strict=True)) > 0.8 * sum(noise)
    assert sum(a and not b for a, b in zip(left, noise, strict=True)) < 0.1 * (len(noise) - sum(noise))


def test_the_same_text_on_both_sides_is_told(run: Run, text: Path) -> None:
    result = run("align", "--source", text / "a.src", "--target", text / "a.src", "-o", text / "links", "-q")
    assert result.code == 0
    assert "are the same text; are these the right files?" in result.err


def test_mistakes_are_one_line(run: Run, text: Path) -> None:
    (text / "short").write_text("a\n")
    (text / "bad").write_bytes(b"a\n\xff")
    (text / "wrong").write_text("0-0 1\n")
    (text / "lexicon").write_text("a b\n")
    align = ("align", "--source", text / "a.src", "-o", text / "out", "-q")
    cases: list[tuple[tuple[object, ...], str]] = [
        ((*align, "--target", text / "short"), "a.src:2: "),
        ((*align, "--target", text / "bad"), "bad:2: not valid UTF-8"),
        (align, "expected 'source words ||| target words'"),
        ((*align, "--target", text / "a.tgt", "--languages", "de"), "give two, such as de,en"),
        ((*align, "--target", text / "a.tgt", "--priors", text / "lexicon"), "lexicon:1: expected a word, a tab"),
        ((*align, "--target", text / "a.tgt", "--model", text / "a.src"), "not a dovetail model"),
        ((*align, "--target", text / "a.tgt", "--model", "m", "--prior", 1), "leave one out"),
        ((*align, "--target", text / "a.tgt", "--model", "m", "--save", text / "m"), "leave --save and --priors out"),
        (("evaluate", "--gold", text / "gold", "--predicted", text / "wrong"), "wrong:1: '1' is no link"),
        (("evaluate", "--gold", text / "gold", "--predicted", text / "short"), "short:1: 'a' is no link"),
    ]
    for arguments, message in cases:
        result = run(*arguments)
        assert result.code == 2, (arguments, result)
        assert message in result.err
        assert result.err.count("\n") == 1
        assert not (text / "out").exists()
