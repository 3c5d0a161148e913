"""``dovetail evaluate``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run, trained
from tests.extras import NEEDS, requires


@pytest.fixture
def predicted(run: Run, model: Path, data: Path, tmp_path: Path) -> Path:
    path = tmp_path / "predicted.jsonl"
    assert run("annotate", "--model", model, data / "dev.conll", "--output", path).code == 0
    return path


def given(tmp_path: Path, text: str, name: str = "given.conll") -> Path:
    (tmp_path / name).write_text(text)
    return tmp_path / name


def test_json_of_a_model(run: Run, model: Path, data: Path) -> None:
    code, out, err = run("evaluate", "--model", model, data / "dev.conll", "--json")
    assert (code, err) == (0, "")
    scores = json.loads(out)
    assert out.count("\n") == 1
    assert set(scores["per_label"]) == {"LOC", "PER"}
    assert scores["gold"] == sum(label["gold"] for label in scores["per_label"].values())
    assert scores["precision"] == pytest.approx(100 * scores["correct"] / scores["predicted"])
    assert scores["recall"] == pytest.approx(100 * scores["correct"] / scores["gold"])
    low, high = scores["f1_interval"]
    assert low <= scores["f1"] <= high
    assert scores["calibration"]["answers"] == scores["predicted"]
    assert 0 <= scores["calibration"]["expected_calibration_error"] <= 1


def test_predictions_score_as_their_model(run: Run, model: Path, data: Path, predicted: Path) -> None:
    of_model = json.loads(run("evaluate", "--model", model, data / "dev.conll", "--json").out)
    of_file = run("evaluate", "--gold", data / "dev.conll", "--predicted", predicted, "--json")
    assert of_file.code == 0
    assert json.loads(of_file.out) == of_model  # probabilities and so the calibration are in the file


def test_gold_against_itself(run: Run, data: Path) -> None:
    scores = json.loads(run("evaluate", "--gold", data / "dev.conll", "--predicted", data / "dev.conll", "--json").out)
    assert scores["f1"] == 100
    assert "calibration" not in scores


def test_the_table(run: Run, model: Path, data: Path) -> None:
    out = run("evaluate", "--model", model, data / "dev.conll").out
    assert out.startswith("label  precision")
    assert "95% interval" in out
    assert "calibration: expected error" in out


def test_conlleval(run: Run, model: Path, data: Path) -> None:
    out = run("evaluate", "--model", model, data / "dev.conll", "--conlleval").out
    assert out.startswith("processed ")
    assert "FB1:" in out


def test_compare(run: Run, data: Path, predicted: Path, tmp_path: Path) -> None:
    blank = (data / "dev.conll").read_text().replace("\tB-PER", "\tO").replace("\tI-PER", "\tO")
    other = given(tmp_path, blank)
    arguments = ("--gold", data / "dev.conll", "--predicted", data / "dev.conll", "--compare", other)
    comparison = json.loads(run("evaluate", *arguments, "--json").out)["comparison"]
    assert comparison["difference"] > 10
    assert comparison["p_value"] < 0.05
    assert "difference in F1: +" in run("evaluate", *arguments).out


@pytest.mark.parametrize("suffix", [".png", ".svg"])
def test_reliability(run: Run, model: Path, data: Path, tmp_path: Path, suffix: str) -> None:
    pytest.importorskip("matplotlib", reason=NEEDS["matplotlib"])
    path = tmp_path / f"reliability{suffix}"
    assert run("evaluate", "--model", model, data / "dev.conll", "--reliability", path).code == 0
    assert path.read_bytes()[:5] in (b"\x89PNG\r", b"<?xml")


def test_plain_labels(run: Run, data: Path, tmp_path: Path) -> None:
    path = trained(data, tmp_path / "m", "pos.conll", "--target", "pos")
    scores = json.loads(run("evaluate", "--model", path, data / "pos.conll", "--json").out)
    assert set(scores["per_label"]) == {"NNP", "VBD", "."}
    assert scores["f1"] == scores["accuracy"]
    arguments = (
        "evaluate",
        "--gold",
        data / "pos.conll",
        "--predicted",
        data / "pos.conll",
        "--layer",
        "pos",
    )
    assert json.loads(run(*arguments, "--json").out)["f1"] == 100
    assert "has none" in run(*arguments, "--conlleval").err
    assert "has none" in run(*arguments, "--compare", data / "pos.conll").err


def test_nested_entities_are_scored(run: Run, tmp_path: Path) -> None:
    gold = given(tmp_path, '{"words": ["a", "b"], "entities": [[0, 2, "ORG"], [0, 1, "LOC"]]}\n', "g.jsonl")
    flat = given(tmp_path, '{"words": ["a", "b"], "entities": [[0, 2, "ORG"]]}\n', "p.jsonl")
    scores = json.loads(run("evaluate", "--gold", gold, "--predicted", flat, "--json").out)
    assert (scores["gold"], scores["predicted"], scores["correct"]) == (2, 1, 1)


def test_the_standard_input(run: Run, model: Path, data: Path) -> None:
    text = (data / "dev.conll").read_text()
    assert run("evaluate", "--model", model, "-", stdin=text) == run("evaluate", "--model", model, data / "dev.conll")


# Bad input


def test_unknown_tags_at_test_time(run: Run, model: Path, tmp_path: Path) -> None:
    path = given(tmp_path, "Ada\tB-PER\nleft\tO\nAcme\tB-ORG\n\n")
    code, out, err = run("evaluate", "--model", model, path, "--json")
    assert code == 0
    assert "warning: labels that the model does not know and will always miss: ORG" in err
    assert json.loads(out)["per_label"]["ORG"]["recall"] == 0


def test_a_slip_among_tags_is_told(run: Run, tmp_path: Path) -> None:
    path = given(tmp_path, "Ada\tB-PER\nleft\tBPER\n\n")
    code, out, err = run("evaluate", "--gold", path, "--predicted", path, "--json")
    assert code == 0
    assert "read as O: BPER" in err
    assert json.loads(out)["gold"] == 1


def test_illegal_sequences_are_counted(run: Run, tmp_path: Path) -> None:
    path = given(tmp_path, "Ada\tB-PER\n\nAda\tO\nLovelace\tI-PER\n\n")
    code, out, err = run("evaluate", "--gold", path, "--predicted", path, "--json")
    assert code == 0
    assert "illegal iob2 tag sequence" in err
    assert json.loads(out)["gold"] == 2


def test_other_words_are_told(run: Run, tmp_path: Path) -> None:
    gold, other = given(tmp_path, "Ada\tB-PER\n\n", "g.conll"), given(tmp_path, "Eve\tB-PER\n\n", "p.conll")
    code, _, err = run("evaluate", "--gold", gold, "--predicted", other, "--json")
    assert code == 0
    assert "1 sentence with other words than the gold (first: sentence 1)" in err


@pytest.mark.parametrize(
    ("gold", "predicted", "message"),
    [
        ("", "", "no sentences, so there is nothing to score"),
        ("Ada\tO\n\n", "", "0 sentences, but the gold file has 1"),
        ("Ada\tO\n\n", "Ada\tO\nleft\tO\n\n", "sentence 1: 1 gold tags but 2 predicted"),
        ("Ada\tO\n\n", "Ada\n", "sentence 1 has no layer 'ner'"),
        ("Ada\tO\nleft\n\n", "Ada\n", "g.conll:2: 1 column, expected 2"),
    ],
)
def test_bad_pairs(run: Run, tmp_path: Path, gold: str, predicted: str, message: str) -> None:
    pair = ("--gold", given(tmp_path, gold, "g.conll"), "--predicted", given(tmp_path, predicted, "p.conll"))
    code, out, err = run("evaluate", *pair, "--json")
    assert (code, out) == (2, "")
    assert message in err


def test_wrong_uses(run: Run, model: Path, data: Path, tmp_path: Path) -> None:
    dev = data / "dev.conll"
    cases: list[tuple[tuple[object, ...], str]] = [
        ((), "give DATA"),
        (("--gold", dev), "both --gold and --predicted"),
        ((dev, "--gold", dev, "--predicted", dev), "give DATA"),
        (("--gold", dev, "--predicted", dev, "--model", model), "not both"),
        ((dev, "--model", model, "--layer", "nosuch"), "no layer 'nosuch'"),
        ((tmp_path / "nosuch.conll", "--model", model), "no such file"),
        ((tmp_path, "--model", model), "no pair of files x.txt and x.ann"),
        ((dev, "--model", dev), "not a dovetail model"),
    ]
    refused(run, cases)
    assert list(tmp_path.iterdir()) == []


@requires("matplotlib")
def test_pictures_that_cannot_be_drawn(run: Run, model: Path, data: Path, tmp_path: Path) -> None:
    dev = data / "dev.conll"
    cases: list[tuple[tuple[object, ...], str]] = [
        (("--gold", dev, "--predicted", dev, "--reliability", tmp_path / "x.png"), "nothing to draw"),
        ((dev, "--model", model, "--reliability", tmp_path / "x.bmp"), "the name must end in .png, .svg or .pdf"),
    ]
    refused(run, cases)
    assert list(tmp_path.iterdir()) == []


def refused(run: Run, cases: list[tuple[tuple[object, ...], str]]) -> None:
    """Assert that each command fails with its message, in one line."""
    for arguments, message in cases:
        code, _, err = run("evaluate", *arguments)
        assert code == 2
        assert message in err
        assert err.count("\n") == 1


def test_a_model_whose_features_the_data_lacks(run: Run, data: Path, tmp_path: Path) -> None:
    (tmp_path / "f.toml").write_text('templates = ["word[0]", "pos[0]"]')
    how = ("pos.conll", "--features", str(tmp_path / "f.toml"))
    path = trained(data, tmp_path / "m", *how)
    code, out, err = run("evaluate", "--model", path, data / "dev.conll")
    assert (code, err) == (0, "the layer pos is predicted where the text has none\n")
    assert "micro" in out
    path = trained(data, tmp_path / "m", *how, "--no-predict-layers")
    code, _, err = run("evaluate", "--model", path, data / "dev.conll")
    assert code == 2
    assert "'pos', which sentence 1 lacks" in err


def test_a_page_on_the_errors(run: Run, data: Path, model: Path, tmp_path: Path) -> None:
    from tests.evaluate.test_mistakes import Reader

    told = run("evaluate", "--model", model, data / "dev.conll")
    assert run("evaluate", "--model", model, data / "dev.conll", "--html", tmp_path / "page.html").out == told.out
    text = Reader((tmp_path / "page.html").read_text()).text
    assert "How well is dev.conll annotated?" in text
    assert "Errors by kind" in text
    code, _, err = run("evaluate", "--model", model, data / "dev.conll", "--html", tmp_path / "page.pdf")
    assert code == 2
    assert "the name must end in .html or .htm" in err
