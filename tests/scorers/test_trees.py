"""The scorer of trees: the slopes of every loss, by finite differences."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dovetail.grammars.binarise import Binarisation
from dovetail.grammars.clean import clean_tree
from dovetail.learning.losses import LOSSES
from dovetail.learning.objective import Objective
from dovetail.models.parser.training import ParserSettings, ParserTraining
from dovetail.models.tagging import pos_tagger
from tests.scorers.slopes import check_slope
from tests.trees import treebank


def prepared(binarisation: Binarisation) -> Objective:
    sentences = treebank(6, seed=4)
    trees = [clean_tree(s.tree) for s in sentences if s.tree is not None]
    settings = ParserSettings(binarisation, None, True, {}, 0.0, 1, 2)
    found = ParserTraining.prepare(sentences, trees, [tree.tags() for tree in trees], settings, pos_tagger()).objective
    assert isinstance(found, Objective)
    return found


@pytest.mark.parametrize("binarisation", [Binarisation(), Binarisation(vertical=2, horizontal=1, direction="left")])
@pytest.mark.parametrize("loss", ["likelihood", "softmax-margin"])
def test_gradient(binarisation: Binarisation, loss: str) -> None:
    check_slope(replace(prepared(binarisation), loss=LOSSES[loss]))


def test_the_gradient_is_the_same_for_any_number_of_threads() -> None:
    objective = prepared(Binarisation())
    weight = np.random.default_rng(1).normal(size=objective.parameters)
    one, two = (
        replace(objective, scorer=replace(objective.scorer, threads=threads))(weight)  # type: ignore[type-var]
        for threads in (1, 2)
    )
    assert one[0] == two[0]
    assert (one[1] == two[1]).all()
