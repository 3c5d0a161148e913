"""The recipes of CONTRIBUTING, followed: what they add to the house keeps its contracts and is trained by its loop."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dovetail.arrays import offsets_of
from dovetail.errors import DovetailError, InputError, ModelFileError
from dovetail.features.algebra.sets import FeatureSet
from dovetail.features.compile.columns import columns_for
from dovetail.features.compile.design import Compiler
from dovetail.learning.losses import LOSSES, ROUGH
from dovetail.learning.objective import Objective, of_tokens
from dovetail.modelfile import save_model
from dovetail.models.base import OPTIMISERS
from dovetail.scorers.compiled import CompiledPart, PartSettings
from dovetail.scorers.parts import PartsScorer
from dovetail.text.sentence import Sentence
from tests.docs.pages import ROOT, blocks
from tests.models import test_training
from tests.models.kinds import Kind
from tests.structures import test_contract

LOSS = "risk-bound"
CONTRACT = {name: test for name, test in vars(test_contract).items() if name.startswith("test_")}
SENTENCES = [
    Sentence(("the", "dog", "barks"), {"pos": ("DET", "NOUN", "VERB")}),
    Sentence((), {"pos": ()}),
    Sentence(("dogs", "bark"), {"pos": ("NOUN", "VERB")}),
    Sentence(("the", "bark", "fell"), {"pos": ("DET", "NOUN", "VERB")}),
] * 3


@pytest.fixture(scope="module")
def recipes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """The files of the recipes, written as the page has them and imported."""
    folder = tmp_path_factory.mktemp("recipes")
    files = [block for block in blocks(ROOT / "CONTRIBUTING.md") if block.title is not None]
    for block in files:
        (folder / str(block.title)).write_text(block.body, encoding="utf-8")
    names = [Path(str(block.title)).stem for block in files]
    sys.path.insert(0, str(folder))
    try:
        yield {name: import_module(name) for name in names}
    finally:
        sys.path.remove(str(folder))
        LOSSES.pop(LOSS, None)
        for name in names:
            sys.modules.pop(name, None)


@pytest.fixture
def words(recipes: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> Any:
    """The model of the recipe, among those whose training is tested."""
    model = recipes["word_tagger"].WordTagger(iterations=5)
    monkeypatch.setitem(test_training.VARIANTS, "word-tagger", Kind(model, SENTENCES, [], []))
    return model


@pytest.mark.parametrize("name", CONTRACT)
def test_the_structure_keeps_the_contract(recipes: dict[str, Any], name: str) -> None:
    test, case = CONTRACT[name], recipes["choices_case"].ChoiceCase()
    test(case, **({"seed": 0} if "seed" in inspect.signature(test).parameters else {}))


def test_the_structure_derives_what_it_does_not_write(recipes: dict[str, Any]) -> None:
    written = vars(recipes["choices"].ChoiceBatch)
    assert not written.keys() & {"best", "marginals", "indicator", "subtract", "with_cost", "restrict", "jvp"}


def test_the_structure_refuses_what_it_cannot_read(recipes: dict[str, Any]) -> None:
    choices = recipes["choices"]
    for unary, offsets in (([[np.nan]], [0, 1]), ([[np.inf]], [0, 1]), ([[0.0]], [0, 2])):
        with pytest.raises(InputError):
            choices.ChoiceBatch(choices.ChoicePotentials(np.array(unary)), np.array(offsets))


@pytest.mark.parametrize("loss", [*LOSSES, LOSS])
def test_the_form_takes_features_to_choices_and_back(
    recipes: dict[str, Any], monkeypatch: pytest.MonkeyPatch, loss: str
) -> None:
    features = FeatureSet.of(["word[0]", "suffix(1, 2)[0]"])
    compiler = Compiler(columns_for(SENTENCES, features), SENTENCES)
    part = CompiledPart.compile(compiler, list(features.templates), None, 3, PartSettings(1, None))
    offsets, gold = offsets_of(SENTENCES), np.arange(sum(map(len, SENTENCES)), dtype=np.int32) % 3
    scorer = PartsScorer(recipes["choice_form"].ChoiceForm(3), offsets, {"word": part.scorer})
    objective = Objective(scorer, of_tokens(gold, offsets), LOSSES[loss])
    monkeypatch.setattr(test_training, "objective_of", lambda kind, loss: objective)
    if loss not in ROUGH:
        test_training.test_the_gradient_is_that_of_the_objective("form", loss)
    test_training.test_few_sentences_at_a_time_add_up_to_all("form", loss)


@pytest.mark.parametrize("kind", test_training.VARIANTS)
def test_the_loss_serves_every_model(recipes: dict[str, Any], kind: str) -> None:
    assert LOSSES[LOSS] is recipes["risk_bound"].risk_bound
    if kind != "parser":  # whose sentences have one tree each, so that nothing is at risk
        test_training.test_the_gradient_is_that_of_the_objective(kind, LOSS)
    test_training.test_few_sentences_at_a_time_add_up_to_all(kind, LOSS)


@pytest.mark.parametrize("optimiser", OPTIMISERS)
@pytest.mark.parametrize("loss", [*LOSSES, LOSS])
def test_the_model_trains_with_every_loss_and_optimiser(words: Any, loss: str, optimiser: str) -> None:
    if loss in ROUGH and optimiser == "lbfgs":
        with pytest.raises(DovetailError, match="not smooth"):
            type(words)(loss=loss, optimiser=optimiser).fit(SENTENCES)
        return
    test_training.test_every_loss_and_optimiser_trains("word-tagger", optimiser, loss)


@pytest.mark.parametrize("loss", [*LOSSES, LOSS])
def test_the_objective_of_the_model(words: Any, loss: str) -> None:
    if loss not in ROUGH:
        test_training.test_the_gradient_is_that_of_the_objective("word-tagger", loss)
    test_training.test_few_sentences_at_a_time_add_up_to_all("word-tagger", loss)
    test_training.test_threads_change_no_bit("word-tagger")


def test_the_model_is_saved_loaded_and_used(words: Any, tmp_path: Path) -> None:
    bare = [s.words for s in SENTENCES]
    with pytest.raises(DovetailError, match="not trained"):
        words.annotate(bare)
    words.fit(bare, [s.layers["pos"] for s in SENTENCES], dev=SENTENCES, checkpoint=tmp_path / "kept")
    assert words.score(SENTENCES) == words.card_["dev"] == 87.5  # all but the one word with two tags
    words.save(tmp_path / "words.dovetail")
    again = type(words).load(tmp_path / "words.dovetail")
    assert again.get_params() == words.get_params()
    found = list(again.annotate(bare))
    assert [list(s.layers["pos"]) for s in found] == words.predict(bare)
    assert again("the unknown dog").sentences[0].layers["pos"][::2] == ("DET", "NOUN")


def test_the_model_refuses_what_it_cannot_learn_from_or_load(words: Any, tmp_path: Path) -> None:
    with pytest.raises(DovetailError, match="training sentence 2 has no layer 'pos'"):
        words.fit([SENTENCES[0], Sentence(("dogs",))])
    with pytest.raises(DovetailError, match="no tokens"):
        words.fit([])
    with pytest.raises(DovetailError, match="l2=-1"):
        type(words)(l2=-1).fit(SENTENCES)
    words.fit(SENTENCES)
    header, arrays = words.packed()
    save_model(tmp_path / "odd", header | {"tags": ["X"]}, arrays)
    with pytest.raises(ModelFileError, match="does not fit together"):
        type(words).load(tmp_path / "odd")
