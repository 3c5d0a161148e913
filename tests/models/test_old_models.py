"""Models of an earlier version load, and answer as they did."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import dovetail
from tests.models.kinds import KINDS

FOLDER = Path(__file__).parents[1] / "data" / "models"
ANSWERS: dict[str, list[str]] = json.loads((FOLDER / "answers.json").read_text("utf-8"))


@pytest.mark.parametrize("name", ANSWERS)
def test_old_models_answer_as_they_did(name: str) -> None:
    kind = {"domains": "tagger", "domains-parser": "parser", "domains-dependency": "dependency"}.get(name)
    inputs = KINDS[kind or (name if name in KINDS else name.partition("-")[0])].inputs[:4]
    if name == "dependency-tags":
        inputs = [s.words for s in inputs[:2]]
    [path] = FOLDER.glob(f"{name}.dovetail*")
    model = dovetail.load(path)
    assert [repr(answer) for answer in model.predict(inputs)] == ANSWERS[name]
    assert model.needs == (("pos",) if "dependency" in name and name != "dependency-tags" else ())
