"""``dovetail explain``."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import Run

TEXT = "Ada Lovelace visited London . Alan left ."


def test_entities_by_default(run: Run, model: Path) -> None:
    code, out, err = run("explain", "--model", model, TEXT)
    assert (code, err) == (0, "")
    heads = [block.splitlines()[0].split() for block in out.split("\n\n")]
    assert [(head[0], head[1], head[2]) for head in heads] == [
        ("1", "Ada", "B-PER"),
        ("2", "Lovelace", "I-PER"),
        ("4", "London", "B-LOC"),
        ("6", "Alan", "B-PER"),
    ]
    assert "word[0]=London" in out


def test_a_word_and_a_number(run: Run, model: Path) -> None:
    by_word = run("explain", "--model", model, TEXT, "--token", "London")
    assert by_word == run("explain", "--model", model, TEXT, "--token", "4")
    assert by_word.out.startswith("4  London  B-LOC 0.")
    both = run("explain", "--model", model, TEXT, "--token", "visited", "--token", "London").out
    assert both.endswith(by_word.out)


def test_a_number_too_large_for_a_position_is_a_word(run: Run, model: Path) -> None:
    assert run("explain", "--model", model, "in 1984 .", "--token", "1984").out.startswith("2  1984  ")


def test_json(run: Run, model: Path) -> None:
    out = run("explain", "--model", model, TEXT, "--token", "London", "--json", "--top", "2").out
    [token] = json.loads(out)["tokens"]
    assert (token["word"], token["tag"]) == ("London", "B-LOC")
    assert token["alternatives"][0]["tag"] == "B-LOC"
    assert abs(sum(other["probability"] for other in token["alternatives"]) - 1) < 1e-9
    assert len(token["for"]) == 2
    margins = [evidence["tag"] - evidence["rival"] for evidence in token["for"]]
    assert margins == sorted(margins, reverse=True)
    assert all(evidence["tag"] < evidence["rival"] for evidence in token["against"])


def test_the_standard_input_and_files(run: Run, model: Path, data: Path) -> None:
    assert run("explain", "--model", model, stdin=TEXT) == run("explain", "--model", model, TEXT)
    assert run("explain", "--model", model, data / "dev.conll", "--token", "1").code == 0


def test_no_entity(run: Run, model: Path) -> None:
    code, out, err = run("explain", "--model", model, ". . .")
    assert (code, out) == (0, "")
    assert "no entities found" in err


def test_a_token_that_is_not_there(run: Run, model: Path) -> None:
    code, out, err = run("explain", "--model", model, TEXT, "--token", "Paris")
    assert (code, out) == (2, "")
    assert "no token 'Paris'; the text has 8 tokens" in err


def test_a_missing_file(run: Run, model: Path) -> None:
    assert "no such file" in run("explain", "--model", model, "nosuch.txt").err
