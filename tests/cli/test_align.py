"""``dovetail align`` and ``dovetail evaluate`` of links: from text to links and scores; every mistake is one line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import dovetail
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


def test_text_that_is_not_tokenised(run: Run, tmp_path: Path) -> None:
    text = "Das Haus. ||| The house.\nEin Haus! ||| A house!\nDas Buch. ||| The book.\nJa. ||| Yes.\nDas! ||| The!\n"
    (tmp_path / "a").write_text(text * 5)
    result = run("align", "--source", tmp_path / "a", "-o", tmp_path / "links", "--tokenise", "-q")
    assert result.code == 0, result.err
    assert "2-2" in (tmp_path / "links").read_text()


def test_sentences_of_two_thousand_words(run: Run, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    sentences = [rng.integers(0, 1000, 8).tolist() for _ in range(1000)] + [rng.integers(0, 1000, 2000).tolist()]
    for name in "st":
        (tmp_path / name).write_text("".join(" ".join(f"{name}{w}" for w in words) + "\n" for words in sentences))
    two = ("--source", tmp_path / "s", "--target", tmp_path / "t")
    result = run("align", *two, "-o", tmp_path / "links", "-q", "--samplers", 2)
    assert (result.code, result.err) == (0, "")
    links = (tmp_path / "links").read_text().splitlines()[-1].split()
    assert len({f"{i}-{i}" for i in range(2000)} & set(links)) > 1900
    assert len(links) < 2100
    # one that nothing is known of is not passed over in silence
    sides = (" ".join(f"{side}{i}" for i in range(2000)) for side in "st")
    (tmp_path / "b").write_text(" ||| ".join(sides))
    result = run("align", "--source", tmp_path / "b", "-o", tmp_path / "links", "-q", "--samplers", 1)
    assert result.code == 0
    assert "1 pair (first at line 1) without a link that is likely enough" in result.err


def test_links_of_files_that_part(run: Run, text: Path) -> None:
    (text / "short").write_text("0-0\n")
    for gold, predicted in (("gold", "short"), ("short", "gold")):
        result = run("evaluate", "--gold", text / gold, "--predicted", text / predicted)
        assert result.code == 2
        assert f"gold:2: {text / 'short'} ends after line 1, so this line has no partner" in result.err


def test_an_aligner_is_a_model_file(run: Run, text: Path) -> None:
    model = text / "a.dovetail"
    arguments = ("--source", text / "a.src", "--target", text / "a.tgt", "-o", text / "links", "--save", model)
    assert run("align", *arguments, "--samplers", 1, "-q").code == 0
    loaded = dovetail.load(model)
    assert isinstance(loaded, dovetail.Aligner)
    shown = run("info", model)
    assert shown.code == 0, shown.err
    assert "kind        aligner, written by dovetail" in shown.out
    assert "needs       a text and its translation: dovetail align --model" in shown.out
    (text / "pipe.toml").write_text('[[stages]]\nname = "x"\nmodel = "a.dovetail"\n')
    for command in (
        ("annotate", "-m", model, "Ada slept."),
        ("evaluate", "-m", model, text / "a.src"),
        ("explain", "-m", model, "Ada slept."),
        ("select", text / "a.src", "-m", model, "-o", text / "out"),
        ("pool", model, model, "-o", text / "out"),
        ("annotate", "--pipeline", text / "pipe.toml", "Ada slept."),
    ):
        result = run(*command)
        assert result.code == 2, (command, result)
        assert "an aligner" in result.err
        assert result.err.count("\n") == 1


def test_the_files_of_a_moses_pair_are_kept(run: Run, text: Path) -> None:
    before = (text / "a.tgt").read_bytes()
    result = run("align", "--source", text / "a", "--languages", "src,tgt", "-o", text / "a.tgt", "-q")
    assert result.code == 2
    assert "--output would overwrite what --source reads" in result.err
    assert (text / "a.tgt").read_bytes() == before
