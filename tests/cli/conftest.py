"""A way to run the command in this process, small files to run it on, and a model trained by it."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from dovetail.cli.main import main
from dovetail.text.conll import write_conll
from tests.models.corpus import made

TEMPLATES = 'templates = ["word[-1:2]", "shape[0]", "suffix(2, 3)[0]"]\n'


class Result(NamedTuple):
    code: int
    out: str
    err: str


Run = Callable[..., Result]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run ``dovetail`` with these arguments; ``stdin`` is what comes through the pipe."""

    def call(*arguments: object, stdin: str = "") -> Result:
        capsys.readouterr()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
        code = main([str(argument) for argument in arguments])
        return Result(code, *capsys.readouterr())

    return call


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with train.conll and dev.conll (word, ner), pos.conll (word, pos, ner) and features.toml."""
    folder = tmp_path_factory.mktemp("data")
    write_conll(made(60, seed=1), folder / "train.conll", columns=("word", "ner"))
    write_conll(made(20, seed=2), folder / "dev.conll", columns=("word", "ner"))
    write_conll(made(20, seed=3), folder / "pos.conll", columns=("word", "pos", "ner"))
    (folder / "features.toml").write_text(TEMPLATES)
    return folder


def trained(data: Path, output: Path, train: str = "train.conll", *more: str) -> Path:
    """A model file made by ``dovetail train tagger``."""
    features = ["--features", str(data / "features.toml"), "--iterations", "20", "--quiet"]
    arguments = ["train", "tagger", "--train", str(data / train), "--output", str(output), *features, *more]
    assert main(arguments) == 0
    return output


@pytest.fixture(scope="session")
def model(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of the made-up language, which knows PER and LOC."""
    return trained(data, tmp_path_factory.mktemp("model") / "names.dovetail")
