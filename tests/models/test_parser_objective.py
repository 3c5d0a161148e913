"""The gradient of the parser's likelihood, by finite differences."""

from __future__ import annotations

import numpy as np
import pytest

from dovetail.grammars.binarise import Binarisation
from dovetail.grammars.clean import clean_tree
from dovetail.models.parser.training import ParserSettings, ParserTraining
from dovetail.models.tagging import pos_tagger
from dovetail.sparse import SparseGradient
from tests.trees import treebank


@pytest.mark.parametrize("binarisation", [Binarisation(), Binarisation(vertical=2, horizontal=1, direction="left")])
def test_gradient(binarisation: Binarisation) -> None:
    sentences = treebank(6, seed=4)
    trees = [clean_tree(s.tree) for s in sentences if s.tree is not None]
    settings = ParserSettings(binarisation, None, True, {}, 0.0, 1, 2)
    tags = [tree.tags() for tree in trees]
    objective = ParserTraining.prepare(sentences, trees, tags, settings, pos_tagger()).objective
    rng = np.random.default_rng(0)
    weight = rng.normal(size=objective.parameters) * 0.3
    everything = np.arange(len(trees))
    sink = SparseGradient.of_size(objective.parameters)
    objective.touch(everything, sink)
    sink.value[:] = 0.0
    loss = objective.accumulate(weight, everything, sink)
    assert loss > 1
    gradient = sink.value.copy()
    for _ in range(5):
        direction = rng.normal(size=objective.parameters)
        step = 1e-5
        up, down = (objective.accumulate(weight + s * direction, everything, sink) for s in (step, -step))
        assert (up - down) / (2 * step) == pytest.approx(float(gradient @ direction), rel=1e-5, abs=1e-5)
