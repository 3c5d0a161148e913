"""Commands with ``--ray``: the same files as without."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from dovetail.machines.ray import cluster
from dovetail.scorers import parts
from dovetail.text.conll import write_conll
from tests.cli.conftest import Run
from tests.extras import NEEDS
from tests.models.corpus import made

pytest.importorskip("ray", reason=NEEDS["ray"])


@pytest.fixture(scope="module", autouse=True)
def two_workers() -> Iterator[None]:
    with cluster(2):
        yield


def did(run: Run, line: str) -> str:
    """What a command that goes well says."""
    code, out, err = run(*line.split())
    assert code == 0, err
    return out + err


def refused(run: Run, line: str) -> str:
    """What a command says that is refused."""
    code, _, err = run(*line.split())
    assert code == 2
    return err


@pytest.fixture
def train(tmp_path: Path) -> Path:
    file = tmp_path / "train.conll"
    write_conll(made(60), file, columns=("word", "ner"))
    return file


def test_a_trained_model_is_the_same_file(run: Run, train: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "STRETCH", 60)
    command = f"train tagger --train {train} --cross-validate 0 --iterations 8 --output"
    did(run, f"{command} {train.with_name('alone.dovetail')}")
    assert "workers" in did(run, f"{command} {train.with_name('shared.dovetail')} --ray")
    assert train.with_name("alone.dovetail").read_bytes() == train.with_name("shared.dovetail").read_bytes()


def test_the_files_of_a_folder_are_annotated(run: Run, tmp_path: Path) -> None:
    (tmp_path / "shards").mkdir()
    for number, text in enumerate(["Ada Lovelace was born in London.", "Alan Turing lived in Princeton."]):
        (tmp_path / "shards" / f"{number}.txt").write_text(text)
    did(run, f"annotate --ray {tmp_path / 'shards'} --output {tmp_path / 'out'}")
    for number in range(2):
        alone = tmp_path / f"alone{number}.jsonl"
        did(run, f"annotate {tmp_path / 'shards' / f'{number}.txt'} --output {alone}")
        assert (tmp_path / "out" / f"{number}.jsonl").read_text() == alone.read_text()


def test_folders_are_asked_for(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Ada slept.")
    assert "name one" in refused(run, f"annotate --ray {tmp_path / 'a.txt'} --output {tmp_path / 'out'}")
    (tmp_path / "empty").mkdir()
    assert "no file" in refused(run, f"annotate --ray {tmp_path / 'empty'} --output {tmp_path / 'out'}")


def test_runs_of_a_curve_are_the_same(run: Run, train: Path) -> None:
    command = f"curve --train {train} --dev {train} --sizes 10,20 --draws 1 --config t=features=plain,iterations=3"
    did(run, f"{command} --jobs 1 --output {train.with_name('a')} --quiet")
    did(run, f"{command} --ray --output {train.with_name('b')} --quiet")
    first, second = (
        {
            line["sentences"]: line["score"]
            for line in map(json.loads, train.with_name(name).joinpath("runs.jsonl").open())
        }
        for name in "ab"
    )
    assert first == second
    assert len(first) == 2
