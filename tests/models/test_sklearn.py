"""scikit-learn can clone, search, cross-validate and pipe every kind of model."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.extras import NEEDS

pytest.importorskip("sklearn", reason=NEEDS["sklearn"])

from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

import dovetail
from dovetail.errors import DovetailError
from dovetail.models.dependency.estimator import DependencyParser
from dovetail.models.domains.parser import MultiDomainParser
from dovetail.models.domains.tagger import MultiDomainTagger
from dovetail.models.tagger.estimator import Tagger
from tests.models.kinds import KINDS


@pytest.mark.parametrize("name", KINDS)
def test_cross_validation_and_pipelines(name: str) -> None:
    kind = KINDS[name]
    assert len(cross_val_score(kind.model, kind.sentences, cv=2, error_score="raise")) == 2
    given = cross_val_score(kind.model, kind.inputs, kind.answers, cv=2, error_score="raise")
    apart = cross_val_score(kind.model, kind.sentences, cv=2, error_score="raise")
    assert given == pytest.approx(apart)
    pipe = Pipeline([("model", clone(kind.model))]).fit(kind.inputs, kind.answers)
    assert len(pipe.predict(kind.inputs)) == len(kind.inputs)
    assert pipe.score(kind.inputs, kind.answers) > 50
    assert "model" in pipe._repr_html_()


@pytest.mark.parametrize("name", KINDS)
def test_clones_are_equal_and_not_fitted(name: str) -> None:
    kind = KINDS[name]
    copy = clone(kind.model)
    assert copy.get_params() == kind.model.get_params()
    with pytest.raises(NotFittedError):
        check_is_fitted(copy)
    check_is_fitted(copy.fit(kind.sentences))


def test_a_search_finds_settings_and_its_model_can_be_saved(tmp_path: Path) -> None:
    kind = KINDS["tagger"]
    grid = {"l2": np.logspace(-3, 1, 2), "min_count": np.arange(1, 3), "constrain": np.array([True])}
    search = GridSearchCV(kind.model, grid, cv=2, error_score="raise").fit(kind.inputs, kind.answers)
    assert search.best_params_["l2"] == pytest.approx(1e-3)
    search.best_estimator_.save(tmp_path / "m")
    assert dovetail.load(tmp_path / "m").predict(kind.inputs) == search.predict(kind.inputs)


def test_models_of_several_domains() -> None:
    flat, arcs = KINDS["tagger"].sentences, KINDS["dependency"].sentences
    taggers = MultiDomainTagger(tagger=Tagger(features=["word[0]"], iterations=3))
    parsers = MultiDomainParser(parser=DependencyParser(bits=10, iterations=3))
    for model, data in ((taggers, flat), (parsers, arcs)):
        copy = clone(model)
        with pytest.raises(NotFittedError):
            check_is_fitted(copy)
        pipe = Pipeline([("model", copy)]).fit({"a": data, "b": data})
        check_is_fitted(pipe)
        assert pipe.score(data) > 50
        for wrong in ((data,), ({"a": data}, [1])):
            with pytest.raises(DovetailError, match="each domain"):
                clone(model).fit(*wrong)
    taggers.set_params(tagger__l2=7.0, sigma=0.2)
    assert (taggers.tagger.l2, taggers.get_params()["tagger__l2"], taggers.sigma) == (7.0, 7.0, 0.2)
    with pytest.raises(ValueError, match="no setting 'tagger__nosuch'"):
        taggers.set_params(tagger__nosuch=1)


@pytest.mark.parametrize("name", KINDS)
def test_answers_that_do_not_fit(name: str) -> None:
    kind = KINDS[name]
    for wrong in (kind.answers[:1], [3] * len(kind.inputs), [None] * len(kind.inputs), [[1]] * len(kind.inputs)):
        with pytest.raises(DovetailError):
            clone(kind.model).fit(kind.inputs, wrong)


def test_scikit_learn_is_imported_by_nobody_else() -> None:
    code = "import sys, dovetail; dovetail.Tagger().get_params(); sys.exit('sklearn' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
