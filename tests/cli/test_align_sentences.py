"""``dovetail align-sentences``: two documents become pairs line by line; what is filtered is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from dovetail.text.bitext import Pair, read_bitext
from tests.cli.conftest import Run
from tests.models.aligner.bitext import made_up
from tests.models.aligner.test_sentences import documents


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two documents, the first with a blank line in front."""
    source, target, _ = documents(0)
    for name, before, side in (("a", "\n", source), ("b", "", target)):
        (tmp_path / name).write_text(before + "".join(" ".join(words) + "\n" for words in side))
    return tmp_path


def rows(path: Path) -> list[list[str]]:
    return [line.split("\t") for line in path.read_text().splitlines()]


def test_every_form_holds_the_same_pairs(run: Run, folder: Path) -> None:
    given = ("align-sentences", "--source", folder / "a", "--target", folder / "b", "-q")
    one = run(*given, "-o", folder / "pairs", "--beads", folder / "beads")
    two = run(*given, "-o", folder / "out.a", "--output-target", folder / "out.b")
    memory = run(*given, "-o", folder / "pairs.tmx.gz", "--languages", "de,en")
    for result in (one, two, memory):
        assert result.code == 0, result.err
    pairs = list(read_bitext(folder / "pairs"))
    assert pairs == list(read_bitext(folder / "out.a", folder / "out.b"))
    assert pairs == list(read_bitext(folder / "pairs.tmx.gz", languages=("de", "en")))
    beads = rows(folder / "beads")
    kept = [row for row in beads if row[4] == "kept"]
    assert one.out.startswith(f"{len(kept)} pairs kept, mean confidence ")
    assert len(kept) == len(pairs) > 200
    assert all(float(row[2]) >= 0.5 for row in kept)
    # every line that is not blank is in one bead, counted from 1
    lines = (folder / "a").read_text().split("\n")
    numbers = [int(number) for row in beads for number in row[0].split(",") if number]
    assert numbers == [number for number, line in enumerate(lines, 1) if line]
    first = kept[0][0].split(",")
    assert pairs[0].source == tuple(" ".join(lines[int(n) - 1] for n in first).split())


def test_what_is_filtered_is_counted(run: Run, folder: Path) -> None:
    given = ("align-sentences", "--source", folder / "a", "--target", folder / "b", "-q", "-o", folder / "pairs")
    loose = run(*given, "--least-confidence", 0, "--beads", folder / "loose")
    tight = run(*given, "--least-confidence", 0.9, "--beads", folder / "tight")
    assert "; 0 filtered; " in loose.out
    unsure = [row for row in rows(folder / "tight") if row[4] == "unsure"]
    assert unsure
    assert f"; {len(unsure)} filtered; " in tight.out
    assert f"{len(unsure)} pairs (" in tight.err
    assert f"filtered, their confidence below 0.9 (first: {folder / 'a'}:{unsure[0][0].split(',')[0]})" in tight.err


def test_noise_is_filtered_by_words(run: Run, tmp_path: Path) -> None:
    pairs, gold = made_up(800, noise=0.4)
    for name, side in (("a", 0), ("b", 1)):
        (tmp_path / name).write_text("".join(" ".join(pair[side]) + "\n" for pair in pairs))
    given = ("align-sentences", "--source", tmp_path / "a", "--target", tmp_path / "b", "-q", "-o", tmp_path / "pairs")
    result = run(*given, "--least-translated", 0.5, "--beads", tmp_path / "beads")
    assert result.code == 0, result.err
    assert "filtered, the share of their words with translations below 0.5 (first: " in result.err
    right = {str(n) for n, links in enumerate(gold, 1) if links}
    kept = [row for row in rows(tmp_path / "beads") if row[4] == "kept"]
    good = sum(row[0] == row[1] and row[0] in right for row in kept)
    assert good > 0.9 * len(right)
    assert good > 0.85 * len(kept)


def test_an_aligner_helps_short_documents(run: Run, tmp_path: Path) -> None:
    pairs, _ = made_up(400, words=60)
    (tmp_path / "text").write_text("".join(f"{' '.join(p.source)} ||| {' '.join(p.target)}\n" for p in pairs))
    saved = run("align", "--source", tmp_path / "text", "-o", tmp_path / "links", "--save", tmp_path / "m", "-q")
    assert saved.code == 0, saved.err
    few = pairs[:12]
    (tmp_path / "a").write_text("".join(" ".join(p.source) + "\n" for p in few))
    (tmp_path / "b").write_text("".join(" ".join(p.target) + "\n" for i, p in enumerate(few) if i != 5))
    result = run(
        "align-sentences", "--source", tmp_path / "a", "--target", tmp_path / "b", "-o", tmp_path / "out", "-m",
        tmp_path / "m", "--least-translated", 0.4,
    )  # fmt: skip
    assert result.code == 0, result.err
    assert list(read_bitext(tmp_path / "out")) == [p for i, p in enumerate(few) if i != 5]
    assert "1 sentence without translation" in result.out


def test_very_long_sentences_are_kept_and_told(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a").write_text(f"{'x y ' * 3000}\nja .\n")
    (tmp_path / "b").write_text(f"{'u v ' * 3000}\nyes .\n")
    given = ("align-sentences", "--source", tmp_path / "a", "--target", tmp_path / "b", "-q", "-o", tmp_path / "pairs")
    result = run(*given, "--least-confidence", 0, "--least-translated", 0.01)
    assert result.code == 0
    assert "1 pair too long for words to be compared, kept" in result.err
    assert max(len(pair.source) for pair in read_bitext(tmp_path / "pairs")) == 6000


def test_words_are_found_and_text_stays_as_it_was(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a").write_text("Das  ist es.\n")
    (tmp_path / "b").write_text("This is it.\n")
    given = ("align-sentences", "--source", tmp_path / "a", "--target", tmp_path / "b", "-q", "-o", tmp_path / "pairs")
    assert run(*given, "--tokenise").code == 0
    assert list(read_bitext(tmp_path / "pairs")) == [Pair(("Das", "ist", "es."), ("This", "is", "it."))]


def test_nothing_that_goes_together(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a").write_text("Das ist es .\n")
    given = ("align-sentences", "--source", tmp_path / "a", "--target", tmp_path / "a", "-q", "-o", tmp_path / "pairs")
    assert "both sides of 1 pair are the same text; are these the right files?" in run(*given).err
    assert "no pair was kept" in run(*given, "--least-confidence", 1).err


def test_mistakes_are_one_line(run: Run, tmp_path: Path) -> None:
    for name, text in (("a", "das Haus\n"), ("b", "the house\n"), ("empty", "\n \n"), ("bars", "x\na ||| b\n")):
        (tmp_path / name).write_text(text)
    (tmp_path / "bad").write_bytes(b"a\n\xff")
    source, out = ("align-sentences", "--source", tmp_path / "a", "-q"), ("-o", tmp_path / "out")
    both = (*source, "--target", tmp_path / "b")
    cases: list[tuple[tuple[object, ...], str]] = [
        ((*source, *out, "--target", tmp_path / "empty"), "empty: no sentence: expected one a line"),
        ((*source, *out, "--target", tmp_path / "bad"), "bad:2: not valid UTF-8"),
        ((*source, *out, "--target", tmp_path / "bars"), "bars:2: '|||' in the text"),
        ((*both, *out, "--languages", "de,en"), "--languages is for a .tmx"),
        ((*both, "-o", tmp_path / "o.tmx"), "give them, as in --languages de,en"),
        ((*both, "-o", tmp_path / "o.tmx", "--languages", "de,en", "--output-target", tmp_path / "x"), "both sides"),
        ((*both, "-o", tmp_path / "o.tmx", "--languages", "de,DE"), "--languages: de twice"),
        ((*both, *out, "--output-target", tmp_path / "out"), "are the same file"),
        ((*both, *out, "--output-target", tmp_path / "a"), "--output-target would overwrite what --source reads"),
        ((*both, *out, "--beads", tmp_path / "b"), "--beads would overwrite what --target reads"),
        ((*both, *out, "--model", tmp_path / "a"), "not a dovetail model"),
    ]
    for arguments, message in cases:
        result = run(*arguments)
        assert result.code == 2, (arguments, result)
        assert message in result.err
        assert result.err.count("\n") == 1
        assert not (tmp_path / "out").exists()
        assert not (tmp_path / "o.tmx").exists()
