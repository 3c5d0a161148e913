"""What people try that makes no sense, or less than they think: each gets one clear line."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dovetail.cli.layers import lacks, will_need
from tests.cli.conftest import Run, trained

COMMAND = [sys.executable, "-m", "dovetail"]


# layers that plain text lacks


def test_training_says_which_layers_the_model_will_read(run: Run, data: Path, tmp_path: Path) -> None:
    arguments = ["train", "tagger", "--train", data / "pos.conll", "--columns", "word,pos,ner", "--iterations", 2]
    code, _, err = run(*arguments, "--output", tmp_path / "m")
    assert code == 0
    assert "this model will read the layer pos, and predict it for text that has none\n" in err
    assert "warning" not in err
    code, _, err = run(*arguments, "--no-predict-layers", "--output", tmp_path / "m")
    assert code == 0
    assert "this model will read the layer pos: it can annotate files that have it, not plain text; " in err
    assert "add --ignore pos to train without it" in err
    assert err.index("will read") < err.index("iteration 1")
    assert "will read" not in run(*arguments, "--ignore", "pos", "--output", tmp_path / "m").err


def test_domains_and_nested_taggers_say_so_too(run: Run, data: Path, tmp_path: Path) -> None:
    columns = ["--columns", "word,pos,ner", "--iterations", 2, "--output", tmp_path / "m"]
    domains = [f"--domain={name}={data / 'pos.conll'}" for name in ("web", "news")]
    assert "will read the layer pos" in run("train", "tagger", *domains, *columns).err
    nested = ["train", "nested", "--train", data / "pos.conll", *columns]
    assert "will read the layer pos" in run(*nested).err
    assert "will read" not in run(*nested, "--ignore", "chunk,pos").err


def test_each_kind_has_its_way_to_plain_text() -> None:
    assert will_need("tagger", []) == []
    assert will_need("dependency", ["pos"])[0].endswith("add --predict-tags to predict them")
    assert (
        "the layers pos, lemma and chunk: it can annotate files that have them"
        in (will_need("tagger", ["pos", "lemma", "chunk"])[0])
    )
    assert "add --ignore pos,chunk to train without them" in lacks("tagger", ["pos", "chunk"])


def test_plain_text_for_a_model_that_needs_more(run: Run, data: Path, tmp_path: Path) -> None:
    how = ("pos.conll", "--columns", "word,pos,ner", "--features", "plain")
    model = trained(data, tmp_path / "m", *how, "--no-predict-layers")
    code, out, err = run("annotate", "--model", model, "Ada slept here")
    assert (code, out) == (2, "")
    assert "this model reads the layer pos, which plain text does not have; " in err
    assert "add --ignore pos" in err


def test_plain_text_for_a_model_that_predicts_what_it_reads(run: Run, data: Path, tmp_path: Path) -> None:
    model = trained(data, tmp_path / "m", "pos.conll", "--columns", "word,pos,ner", "--features", "plain")
    told = "the layer pos is predicted where the text has none\n"
    code, out, err = run("annotate", "--model", model, "Ada Turing left London. Alan saw Vienna.")
    assert (code, err) == (0, told)
    assert [json.loads(line)["pos"] for line in out.splitlines()] == [
        ["NNP", "NNP", "VBD", "NNP", "."],
        ["NNP", "VBD", "NNP", "."],
    ]
    assert run("annotate", "--model", model, data / "dev.conll").err == told
    assert run("annotate", "--model", model, data / "pos.conll", "--columns", "word,pos,ner").err == ""
    shown = run("info", model).out
    assert "words only: it can annotate plain text" in shown
    assert "reads       pos, and predicts this where the text has none" in shown
    assert json.loads(run("info", model, "--json").out)["predicts"] == ["pos"]


# dev that is train


def test_dev_that_is_the_training_data(run: Run, data: Path, tmp_path: Path) -> None:
    def train(dev: str, *more: str) -> str:
        files = ["--train", data / "train.conll", "--dev", data / dev, "--output", tmp_path / "m"]
        return run("train", "tagger", *files, "--iterations", 2, *more).err

    assert "60 of 60 dev sentences are also in the training data: the scores on dev will be too good" in (
        train("train.conll")
    )
    assert "also in the training data" not in train("dev.conll")


@pytest.mark.parametrize("command", ["curve", "simulate"])
def test_curves_on_the_training_data(run: Run, data: Path, tmp_path: Path, command: str) -> None:
    files = ["--train", data / "train.conll", "--dev", data / "train.conll", "--output", tmp_path / "out"]
    sizes = ["--sizes", "5"] if command == "curve" else ["--start", "5", "--step", "5", "--until", "5"]
    err = run(command, *files, *sizes, "--draws", 1, "--no-tune", "--jobs", 1, "--quiet").err
    assert "60 of 60 dev sentences are also in the training data" in err


# names and numbers


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["annotate", "{d}/dev.conll", "-o", "out.doc"],
            "out.doc: no output format for this ending; use .svg, .html, ",
        ),
        (
            ["annotate", "{d}/dev.conll", "-o", "out.txt"],
            "out.txt: no output format for this ending; use .svg, .html, ",
        ),
        (["select", "{d}/dev.conll", "-o", "out.html"], "use .conll, .jsonl or .txt, or give --output-format"),
        (["evaluate", "{d}/dev.conll", "--reliability", "out.html"], "the name must end in .png, .svg or .pdf"),
        (["cluster", "tree", "{d}/dev.conll", "-o", "out.html"], "the name must end in .svg or .png"),
        (["annotate", "--threads", "abc"], "'--threads': this must be a whole number; see dovetail annotate --help"),
        (["annotate", "--threads", "0"], "'--threads': this must be at least 1; see dovetail annotate --help"),
        (["annotate", "--threshold", "2"], "'--threshold': this must be at most 1"),
        (["annotate", "--input-format", "xml"], "'--input-format': 'xml' is not one of 'text', "),
    ],
)
def test_one_line_says_what_is_wrong(
    run: Run, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = run(*(argument.format(d=data) for argument in arguments))
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_format_that_is_named_needs_no_ending(run: Run, data: Path, model: Path, tmp_path: Path) -> None:
    output = tmp_path / "out.html"
    arguments = ["annotate", "--model", model, data / "dev.conll", "-o", output]
    assert run(*arguments, "--output-format", "conll").code == 0
    assert run("annotate", "--model", model, data / "dev.conll", "-o", tmp_path / "out").code == 0
    assert (tmp_path / "out").read_bytes() == output.read_bytes()


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs /proc")
def test_a_folder_that_takes_no_files_is_told_before_training(run: Run, data: Path) -> None:
    code, out, err = run("train", "tagger", "--train", data / "train.conll", "--output", "/proc/x.dovetail")
    assert (code, out) == (2, "")
    assert err.startswith("dovetail: error: /proc/x.dovetail: cannot be written")
    assert err.count("\n") == 1
    assert "does not exist" not in err


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs /proc")
@pytest.mark.parametrize(
    "command",
    [
        "annotate --model {m} {d}/dev.conll -o /proc/x.jsonl",
        "select --model {m} {d}/dev.conll -o /proc/x.conll",
        "curve --train {d}/train.conll --dev {d}/dev.conll --sizes 5 -o /proc/x",
    ],
)
def test_other_commands_do_not_say_that_it_is_missing(run: Run, data: Path, model: Path, command: str) -> None:
    code, out, err = run(*command.format(m=model, d=data).split())
    assert (code, out) == (2, "")
    assert err.startswith("dovetail: error: /proc/x")
    assert "does not exist" not in err


def test_training_on_too_little(run: Run, tmp_path: Path) -> None:
    (tmp_path / "one.conll").write_text("Ada\tB-PER\nslept\tO\n\n")
    code, out, err = run("train", "tagger", "--train", tmp_path / "one.conll", "--output", tmp_path / "m")
    assert code == 0
    assert ", 0 weights)" in out
    assert "warning: no feature got a weight" in err
    assert "--min-count 1" in err


# Ctrl-C


def test_the_entry_point_imports_next_to_nothing() -> None:
    """What it imports before it can handle Ctrl-C would end in a traceback."""
    code = (
        "import sys; before = {*sys.modules}; import dovetail.cli.main\n"
        "print(sorted({'typer', 'click', 'dovetail.cli.app', 'pathlib', 'typing'} & ({*sys.modules} - before)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize("seconds", [0.06, 0.1, 0.15, 0.25, 0.5, 0.8])
def test_ctrl_c_is_one_line_at_any_time(seconds: float) -> None:
    """Also while modules are imported; before Python runs any of our code, there is nothing that we could do."""
    code = (
        "import sys; from dovetail.cli.main import run; print('ready', flush=True); sys.argv[1:] = ['annotate']; run()"
    )
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    process = subprocess.Popen([sys.executable, "-c", code], text=True, **pipes)  # type: ignore[call-overload]
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    time.sleep(seconds)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=300)
    if "Exception ignored in" in err:
        pytest.skip("the interrupt fell into a callback of Python's import system, which prints it and goes on")
    assert "Traceback" not in err
    assert process.returncode in (130, -signal.SIGINT)
    assert "dovetail: interrupted\n" in err or process.returncode == -signal.SIGINT
