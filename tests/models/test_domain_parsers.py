"""Parsers of several domains in one model: what they answer, and their file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dovetail
from dovetail import DependencyParser, JointParser, MultiDomainParser, Parser
from dovetail.errors import DovetailError, ModelFileError
from dovetail.modelfile import load_model, save_model
from dovetail.text.sentence import Sentence
from tests.trees import treebank

NEWS, CHAT = treebank(12, 1), treebank(12, 2)
LAYERS = {"deprel": ("nsubj", "root"), "pos": ("N", "N")}
LEFT = [Sentence(("a", "b"), {"head": ("2", "0"), **LAYERS})] * 6
RIGHT = [Sentence(("a", "b"), {"head": ("0", "1"), **LAYERS})] * 6


def constituents() -> MultiDomainParser:
    return MultiDomainParser(parser=Parser(tags="given", iterations=2, batch=4, threads=1), sigma=0.3)


@pytest.fixture(scope="module")
def trained() -> MultiDomainParser:
    return constituents().fit({"news": NEWS, "chat": CHAT})


@pytest.fixture(scope="module")
def arcs() -> MultiDomainParser:
    return MultiDomainParser(parser=DependencyParser(bits=12, threads=1), sigma=1.0).fit({"l": LEFT, "r": RIGHT})


def test_every_domain_answers_in_its_way(arcs: MultiDomainParser) -> None:
    assert arcs.predict(LEFT[:1], "l")[0].heads == (1, -1)
    assert arcs.predict(RIGHT[:1], "r")[0].heads == (-1, 0)
    assert [arcs.score(LEFT, name) for name in ("l", "r")] == [100.0, 0.0]


@pytest.mark.parametrize("which", ["trained", "arcs"])
def test_a_file_has_them_all(which: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    parsers: MultiDomainParser = request.getfixturevalue(which)
    parsers.save(tmp_path / "m.dovetail")
    again = dovetail.load(tmp_path / "m.dovetail")
    assert isinstance(again, MultiDomainParser)
    assert again.domains_ == parsers.domains_
    assert again.sigma == parsers.sigma
    some = (NEWS if which == "trained" else LEFT)[:4]
    for name in (None, *parsers.domains_):
        np.testing.assert_array_equal(again.parser_of(name).weights_, parsers.parser_of(name).weights_)
        assert again.predict(some, name) == parsers.predict(some, name)
        assert list(again.annotate(some, name)) == list(parsers.annotate(some, name))


@pytest.mark.parametrize(
    "damage",
    [
        {"domain0.index": np.array([10**9]), "domain0.value": np.ones(1, np.float32)},
        {"domain0.index": np.array([-1]), "domain0.value": np.ones(1, np.float32)},
        {"domain0.index": np.arange(3), "domain0.value": np.ones(2, np.float32)},
    ],
)
def test_a_file_that_does_not_fit_together(arcs: MultiDomainParser, tmp_path: Path, damage: dict[str, Any]) -> None:
    arcs.save(tmp_path / "m")
    header, arrays = load_model(tmp_path / "m")
    save_model(tmp_path / "m", {k: v for k, v in header.items() if k != "checksums"}, arrays | damage)
    with pytest.raises(ModelFileError, match="does not fit together"):
        MultiDomainParser.load(tmp_path / "m")


def test_what_is_wrong_is_told(trained: MultiDomainParser) -> None:
    with pytest.raises(DovetailError, match="no domain 'law'; the model knows news, chat"):
        trained.parser_of("law")
    with pytest.raises(DovetailError, match="not trained"):
        constituents().parser_of()
    with pytest.raises(DovetailError, match="by its name"):
        constituents().fit({})
    with pytest.raises(DovetailError, match="'chat' has no training data"):
        constituents().fit({"news": NEWS, "chat": []})
    with pytest.raises(DovetailError, match="sigma=-1"):
        MultiDomainParser(parser=Parser(), sigma=-1).fit({"news": NEWS})
    with pytest.raises(DovetailError, match="give a Parser or a DependencyParser"):
        MultiDomainParser(parser=JointParser()).fit({"news": NEWS})
