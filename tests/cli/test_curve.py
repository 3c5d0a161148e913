"""``dovetail curve`` and ``dovetail simulate``."""

from __future__ import annotations

import csv
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dovetail.cli.curve import describe_seconds, seconds_left
from dovetail.curves.runs import Run as Finished
from tests.cli.conftest import Run
from tests.extras import requires


def arguments(command: str, data: Path, output: Path, *more: object) -> list[object]:
    files = ["--train", data / "train.conll", "--dev", data / "dev.conll", "--output", output]
    return [command, *files, "--jobs", 1, *more]


@pytest.fixture
def configs(data: Path) -> list[str]:
    small = f"features={data / 'features.toml'},iterations=10"
    return ["--config", f"small={small}", "--config", f"stiff={small},l2=50"]


@requires("matplotlib")
def test_curve(run: Run, data: Path, tmp_path: Path, configs: list[str]) -> None:
    output = tmp_path / "curve"
    code, out, err = run(*arguments("curve", data, output, *configs, "--sizes", "10,25,all", "--draws", 2))
    assert code == 0
    header, *rows = out.splitlines()
    assert header.split() == ["sentences", "tokens", "small", "stiff"]
    assert [row.split()[0] for row in rows[:3]] == ["10", "25", "60"]
    assert rows[3].startswith("stiff ")
    assert "run 10 of 10" in err
    assert " left" in err
    points = list(csv.DictReader((output / "curve.csv").open()))
    assert [(p["series"], p["sentences"], p["draws"]) for p in points] == [
        (name, *point) for name in ("small", "stiff") for point in [("10", "2"), ("25", "2"), ("60", "1")]
    ]
    assert len((output / "runs.jsonl").read_text().splitlines()) == 10
    assert (output / "curve.svg").exists()
    assert (output / "curve.png").exists()


def test_curve_goes_on_and_tells_of_strangers(run: Run, data: Path, tmp_path: Path, configs: list[str]) -> None:
    output = tmp_path / "curve"
    first = run(*arguments("curve", data, output, *configs, "--sizes", "10", "--draws", 1))
    again = run(*arguments("curve", data, output, *configs, "--sizes", "10", "--draws", 1))
    assert first.out == again.out
    assert "run 1 of" not in again.err
    more = run(*arguments("curve", data, output, *configs, "--sizes", "10,20", "--draws", 1))
    assert "2 of 4 runs are done already" in more.err
    assert "run 3 of 4" in more.err
    other = run(*arguments("curve", data, output, *configs[:2], "--sizes", "10", "--draws", 1, "-q", "--no-tune"))
    assert other.code == 0
    assert "left out 4 runs of other data, settings or sizes" in other.err


@requires("matplotlib")
def test_curve_from_a_file_of_configurations(run: Run, data: Path, tmp_path: Path) -> None:
    config = tmp_path / "configs.toml"
    config.write_text(f"[loose]\nfeatures = '{data / 'features.toml'}'\niterations = 5\n")
    more = ["--config-file", config, "--sizes", "10", "--draws", 1, "-q", "--test", data / "pos.conll"]
    result = run(*arguments("curve", data, tmp_path / "curve", *more))
    assert result.code == 0
    assert "loose" in result.out
    assert result.err == ""


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--sizes", "10,many"], "'many' is not a number of sentences"),
        (["--sizes", ","], "--sizes is empty"),
        (["--config", "a=l7=1"], "configuration 'a': a tagger has no setting 'l7'"),
        (["--config", "a=features=unknown"], "unknown"),
        pytest.param(["--config", "a", "--config", "a"], "one name", marks=requires("matplotlib")),
        (["--output", "{data}/pos.conll"], "this is a file"),
        (["--output", "{data}/no/folder"], "does not exist"),
    ],
)
def test_curve_mistakes(run: Run, data: Path, tmp_path: Path, more: list[str], message: str) -> None:
    given = [each.format(data=data) for each in more]
    code, out, err = run(*arguments("curve", data, tmp_path / "curve", "-q", *given))
    assert (code, out) == (2, "")
    assert message in err
    assert len(err.splitlines()) == 1


@requires("matplotlib")
def test_simulate(run: Run, data: Path, tmp_path: Path) -> None:
    output = tmp_path / "simulation"
    settings = f"features={data / 'features.toml'},iterations=10"
    more = ["--start", 5, "--step", 5, "--until", 15, "--draws", 2, "--settings", settings, "--by", "margin"]
    asked = arguments("simulate", data, output, *more, "--by", "token-entropy", "--discount", 0.5)
    code, out, err = run(*asked)
    assert code == 0
    header, *rows = out.splitlines()
    assert "margin" in header
    assert "token-entropy, discount 0.5" in header
    assert header.split()[-2:] == ["random", "tokens"]
    assert [row.split()[0] for row in rows[:3]] == ["5", "10", "15"]
    assert all("of random at 15 sentences (" in row for row in rows[3:])
    assert len(rows) == 5
    assert "run 18 of 18" in err
    assert (output / "curve.png").exists()
    assert run(*asked, "-q") == (0, out, "")


def test_simulate_refuses_a_discount_that_has_no_meaning(run: Run, data: Path, tmp_path: Path) -> None:
    code, _, err = run(*arguments("simulate", data, tmp_path / "s", "-q", "--by", "margin", "--discount", 1))
    assert code == 2
    assert "margin does not grow" in err


@pytest.mark.skipif(os.name == "nt", reason="signals of Unix")
def test_ctrl_c_keeps_what_is_done(data: Path, tmp_path: Path, configs: list[str]) -> None:
    output = tmp_path / "curve"
    asked = arguments("curve", data, output, *configs, "--sizes", ",".join(map(str, range(5, 60))), "--draws", 9)
    asked[asked.index("--jobs") + 1] = 2
    process = subprocess.Popen(
        [sys.executable, "-m", "dovetail", *map(str, asked)], stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    log = output / "runs.jsonl"
    until = time.monotonic() + 300
    while not (log.exists() and log.stat().st_size) and time.monotonic() < until and process.poll() is None:
        time.sleep(0.1)
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=300)
    assert process.returncode == 130
    assert "Traceback" not in err
    assert "run the same command again to continue" in err
    assert _is_gone(process.pid)
    assert log.read_text().endswith("}\n")


def _is_gone(group: int) -> bool:
    """Whether no process of a group is left, or will be soon."""
    for _ in range(100):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.1)
    return False


def test_time_left() -> None:
    done = [Finished("", "a", 1, n, 0, 50.0, 2.0 + n / 100) for n in (100, 200, 300)]
    assert seconds_left(done, {400: 2, 500: 1}) == pytest.approx(2 * 6 + 7)
    assert seconds_left(done[:1], {200: 1}) == pytest.approx(4.5)
    assert describe_seconds(99) == "99 s"
    assert describe_seconds(100) == "2 min"
