"""``dovetail train dependency``, and ``annotate`` and ``evaluate`` with its models."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from dovetail.cli.main import main
from dovetail.models.dependency.estimator import DependencyParser
from dovetail.text.conllu import write_conllu
from dovetail.text.jsonl import write_jsonl
from tests.cli.conftest import Run
from tests.models.treebank import treebank

FAST = ("--bits", "12", "--iterations", "20", "--quiet")
CROSSING = """\
1\tw\t_\t_\tA\t_\t3\ta\t_\t_
2\tx\t_\t_\tB\t_\t4\tb\t_\t_
3\ty\t_\t_\tC\t_\t0\troot\t_\t_
4\tz\t_\t_\tD\t_\t3\tc\t_\t_

"""


@pytest.fixture(scope="module")
def trees(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with train.conllu, dev.jsonl and a model that has its own tagger."""
    folder = tmp_path_factory.mktemp("trees")
    write_conllu(treebank(60), folder / "train.conllu")
    write_jsonl(treebank(20, seed=1), folder / "dev.jsonl")
    paths = folder / "names.paths"
    paths.write_text("".join(f"0110\t{name}\t5\n" for name in ("Ada", "Bob", "Eve")) + "10\tthe\t9\n")
    arguments = ["--train", folder / "train.conllu", "--output", folder / "m", "--predict-tags", "--clusters", paths]
    assert main(["train", "dependency", *map(str, arguments), *FAST]) == 0
    return folder


def test_train_and_score(run: Run, trees: Path, tmp_path: Path) -> None:
    arguments = ("--train", trees / "train.conllu", "--dev", trees / "dev.jsonl", "--output", tmp_path / "m")
    code, out, err = run("train", "dependency", *arguments, "--bits", 12, "--iterations", 10)
    assert code == 0
    assert "20 sentences\nUAS " in out
    assert "trained on 60 sentences" in out
    assert "8 relations" in out
    assert "training the relations" in err
    assert DependencyParser.load(tmp_path / "m").tags == "pos"


def test_without_a_penalty(run: Run, trees: Path, tmp_path: Path) -> None:
    arguments = ("--train", trees / "train.conllu", "--output", tmp_path / "m", "--l2", 0, "--no-relations")
    assert run("train", "dependency", *arguments, "--bits", 12, "--iterations", 3).code == 0


@pytest.mark.skipif(os.name == "nt", reason="needs signals")
def test_ctrl_c_and_resume(trees: Path, tmp_path: Path) -> None:
    def first_pass_told() -> int:
        """Train until the first pass is told, then Ctrl-C; relations, which come after it, are trained all the same."""
        how = ["--bits", "12", "--optimiser", "sgd", "--iterations", "1000000", "--resume"]
        where = ["--train", str(trees / "train.conllu"), "--output", str(tmp_path / "m")]
        command = [sys.executable, "-m", "dovetail", "train", "dependency", *where, *how]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as work:
            assert work.stderr is not None
            while (found := re.match(r"iteration (\d+)/1000000", work.stderr.readline())) is None:
                assert work.poll() is None
            work.send_signal(signal.SIGINT)
            out, err = work.communicate(timeout=300)
        assert work.returncode == 0
        assert "stopped: interrupted; these are the best weights so far" in out
        assert f"run the same command again to continue from {tmp_path / 'm.checkpoint'}" in err
        assert sorted(path.name for path in tmp_path.iterdir()) == ["m", "m.checkpoint"]
        assert len(DependencyParser.load(tmp_path / "m").classes_) == 8
        return int(found[1])

    assert first_pass_told() == 1
    assert first_pass_told() > 1


def test_evaluate(run: Run, trees: Path, tmp_path: Path) -> None:
    code, out, _ = run("evaluate", "--model", trees / "m", trees / "dev.jsonl", "--json")
    assert code == 0
    scores = json.loads(out)
    assert scores["uas"] > 90
    assert scores["las"] > 80
    assert scores["crossing"] == 0
    assert scores["uas_projective"] == scores["uas"]
    code, out, _ = run("annotate", "--model", trees / "m", trees / "dev.jsonl", "--output", tmp_path / "found.conllu")
    assert code == 0
    arguments = ("--gold", trees / "dev.jsonl", "--predicted", tmp_path / "found.conllu", "--layer", "head")
    code, out, _ = run("evaluate", *arguments, "--json")
    assert code == 0
    assert json.loads(out)["uas"] == scores["uas"]
    code, out, _ = run("evaluate", "--model", trees / "m", trees / "dev.jsonl")
    assert f"UAS {scores['uas']:.2f}" in out


def test_plain_text_in_dependencies_out(run: Run, trees: Path) -> None:
    code, out, _ = run("annotate", "--model", trees / "m", "--output-format", "conllu", stdin="Ada saw Eve.\n")
    assert code == 0
    rows = [line.split("\t") for line in out.splitlines() if line and not line.startswith("#")]
    assert [row[1] for row in rows] == ["Ada", "saw", "Eve", "."]
    assert [row[4] for row in rows] == ["NNP", "VBD", "NNP", "."]
    assert [row[6] for row in rows] == ["2", "0", "2", "2"]
    assert [row[7] for row in rows] == ["nsubj", "root", "obj", "punct"]
    code, out, _ = run("annotate", "--model", trees / "m", "--output-format", "pretty", stdin="Ada saw Eve.\n")
    assert out.splitlines()[1].split()[:5] == ["2", "saw", "VBD", "0", "root"]


def test_details(run: Run, trees: Path) -> None:
    arguments = ("--model", trees / "m", "--output-format", "jsonl", "--k-best", 3, "--marginals")
    code, out, _ = run("annotate", *arguments, stdin="Ada saw Eve.\n")
    assert code == 0
    fields = json.loads(out)
    assert fields["heads"] == [1, -1, 1, 1]
    assert fields["k_best"][0]["heads"] == [1, -1, 1, 1]
    assert len(fields["k_best"]) == 3
    assert [len(row) for row in fields["marginals"]] == [5] * 4
    assert float(fields["head_probability"][0]) == pytest.approx(fields["marginals"][0][2], abs=1e-3)


def test_crossing_arcs_are_told(run: Run, tmp_path: Path) -> None:
    (tmp_path / "t.conllu").write_text(CROSSING * 3)
    code, _, err = run("train", "dependency", "--train", tmp_path / "t.conllu", "--output", tmp_path / "m", *FAST)
    assert code == 0
    assert "3 trees of the training data with crossing arcs, made projective" in err


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("3\ta", "9\ta"), "word 1 (w) has the head '9'"),
        (("0\troot", "1\troot"), "the heads make a cycle"),
        (("4\tb", "0\tb"), "2 words have the head 0"),
    ],
)
def test_bad_trees(run: Run, tmp_path: Path, change: tuple[str, str], message: str) -> None:
    (tmp_path / "t.conllu").write_text(CROSSING + CROSSING.replace(*change))
    code, _, err = run("train", "dependency", "--train", tmp_path / "t.conllu", "--output", tmp_path / "m", *FAST)
    assert code == 2
    assert message in err
    line = CROSSING.count("\n") + 1
    assert f"t.conllu:{line}: sentence 2" in err
    assert not (tmp_path / "m").exists()


def test_the_line_of_a_bad_tree_is_that_of_the_format_that_is_given(run: Run, tmp_path: Path) -> None:
    good = {"words": ["a", "b"], "head": ["2", "0"], "deprel": ["x", "root"], "pos": ["A", "B"]}
    lines = [json.dumps(each) for each in (good, good, good | {"head": ["9", "0"]})]
    (tmp_path / "trees.data").write_text("\n".join(lines) + "\n")
    arguments = ("--train", tmp_path / "trees.data", "--input-format", "jsonl", "--output", tmp_path / "m")
    code, _, err = run("train", "dependency", *arguments, *FAST)
    assert code == 2
    assert "trees.data:3: sentence 3" in err


def test_what_cannot_be(run: Run, trees: Path, data: Path, tmp_path: Path) -> None:
    arguments = ("--train", data / "train.conll", "--output", tmp_path / "m")
    code, _, err = run("train", "dependency", *arguments)
    assert (code, "no layer 'head'" in err) == (2, True)
    code, _, err = run("train", "dependency", *arguments, "--patience", 2)
    assert (code, "needs --dev" in err) == (2, True)
    code, _, err = run("annotate", "--model", trees / "m", "--threshold", 0.5, stdin="Ada saw Eve.\n")
    assert (code, "finds none" in err) == (2, True)
    code, _, err = run("evaluate", "--model", trees / "m", trees / "dev.jsonl", "--conlleval")
    assert (code, "are for entities" in err) == (2, True)


def test_gold_tags_are_needed_where_none_are_predicted(run: Run, trees: Path, tmp_path: Path) -> None:
    arguments = ("--train", trees / "train.conllu", "--output", tmp_path / "m", "--no-relations", "--max-length", 8)
    code, _, err = run("train", "dependency", *arguments, "--no-predict-layers", *FAST)
    assert code == 0
    assert "left out as too long" in err
    assert "it can annotate files that have it, not plain text; add --predict-tags" in " ".join(err.split())
    code, _, err = run("annotate", "--model", tmp_path / "m", stdin="Ada saw Eve.\n")
    assert (code, "--predict-tags" in err) == (2, True)


def test_plain_text_is_parsed_with_tags_that_are_predicted(run: Run, trees: Path, tmp_path: Path) -> None:
    code, _, err = run("train", "dependency", "--train", trees / "train.conllu", "--output", tmp_path / "m", *FAST)
    assert code == 0
    assert "this model will read the layer xpos, and predict it for text that has none" in " ".join(err.split())
    code, out, err = run("annotate", "--model", tmp_path / "m", "--output-format", "jsonl", stdin="Ada saw Eve.\n")
    assert code == 0
    assert "the layer pos is predicted where the text has none" in err
    [found] = map(json.loads, out.splitlines())
    assert len(found["pos"]) == len(found["heads"]) == 4


def test_a_pool_is_trained_and_used_as_one_parser(run: Run, trees: Path, tmp_path: Path) -> None:
    arguments = ("--train", trees / "train.conllu", "--dev", trees / "dev.jsonl", "--output", tmp_path / "m")
    made = run("train", "dependency", *arguments, "--pool", 2, *FAST)
    assert made.code == 0
    assert "UAS" in made.out
    assert run("evaluate", trees / "dev.jsonl", "--model", tmp_path / "m", "--json").code == 0
    assert "nsubj" in run("annotate", "Ada saw Bob", "--model", tmp_path / "m", "--output-format", "conllu").out
    assert run("info", tmp_path / "m").code == 0
    refused = run("train", "dependency", *arguments, "--pool", 9)
    assert refused.code != 0
    assert "at most 4" in refused.err
