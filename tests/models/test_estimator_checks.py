"""What ``sklearn.utils.estimator_checks`` asks of estimators, for models of sentences, which it cannot make up."""

from __future__ import annotations

import inspect
import pickle
from copy import deepcopy
from dataclasses import fields

import pytest

from tests.extras import NEEDS

pytest.importorskip("sklearn", reason=NEEDS["sklearn"])

from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict
from sklearn.pipeline import Pipeline

from dovetail.errors import DovetailError
from tests.models.kinds import KINDS


@pytest.mark.parametrize("name", KINDS)
def test_the_constructor_keeps_its_arguments_and_does_nothing_else(name: str) -> None:
    model = KINDS[name].model
    given = model.get_params(deep=False)
    again = type(model)(**given)
    assert all(getattr(again, key) is value for key, value in given.items())
    assert set(given) == set(inspect.signature(type(model)).parameters) == {f.name for f in fields(model) if f.init}
    assert again.set_params(seed=5) is again
    assert again.get_params()["seed"] == 5
    assert model.get_params(deep=False) == given
    with pytest.raises(ValueError, match="no setting 'nosuch'"):
        again.set_params(nosuch=1)


@pytest.mark.parametrize("name", KINDS)
def test_fitting_changes_neither_settings_nor_what_it_is_given(name: str) -> None:
    kind = KINDS[name]
    model = clone(kind.model)
    settings, inputs, answers = deepcopy(model.get_params(deep=False)), deepcopy(kind.inputs), deepcopy(kind.answers)
    assert model.fit(kind.inputs, kind.answers) is model
    first = model.predict(kind.inputs)
    assert model.get_params(deep=False) == settings
    assert (kind.inputs, kind.answers) == (inputs, answers)
    assert model.predict(kind.inputs) == first  # asking changes nothing
    assert model.predict(kind.inputs[:1]) == first[:1]  # nor does who else is asked about
    model.fit(kind.inputs[:4], kind.answers[:4]).fit(kind.inputs, kind.answers)
    assert model.predict(kind.inputs) == first  # what was fitted before has no part in it
    other = clone(kind.model).set_params(threads=2).fit(kind.inputs, kind.answers)
    assert other.predict(kind.inputs) == first


@pytest.mark.parametrize("name", KINDS)
def test_models_can_be_pickled_fitted_or_not(name: str) -> None:
    kind = KINDS[name]
    bare = pickle.loads(pickle.dumps(kind.model))
    assert bare.get_params() == kind.model.get_params()
    model = clone(kind.model).fit(kind.sentences)
    assert pickle.loads(pickle.dumps(model)).predict(kind.inputs) == model.predict(kind.inputs)


@pytest.mark.parametrize("name", KINDS)
def test_what_is_not_fitted_says_so(name: str) -> None:
    kind = KINDS[name]
    model = clone(kind.model)
    for call in (model.predict, model.score, lambda given: list(model.annotate(given)), model.kbest):
        with pytest.raises(DovetailError, match=r"is not trained: call fit, or load a model"):
            call(kind.sentences if call == model.score else kind.inputs)


@pytest.mark.parametrize("name", ["tagger", "words", "nested"])
def test_searches_of_settings_in_a_pipeline(name: str) -> None:
    kind = KINDS[name]
    search = GridSearchCV(Pipeline([("model", kind.model)]), {"model__l2": [0.1, 10.0]}, cv=2, error_score="raise")
    search.fit(kind.inputs, kind.answers)
    assert search.best_params_["model__l2"] in (0.1, 10.0)
    assert len(search.predict(kind.inputs)) == len(kind.inputs)


@pytest.mark.parametrize("name", KINDS)
def test_predictions_of_folds(name: str) -> None:
    """scikit-learn makes one array of them, whatever the answer to a sentence is made of."""
    kind = KINDS[name]
    deal = KFold(2, shuffle=True, random_state=3)
    found = cross_val_predict(kind.model, kind.inputs, kind.answers, cv=deal)
    assert found.shape == (len(kind.inputs),)
    for train, test in deal.split(kind.inputs):
        model = clone(kind.model).fit([kind.inputs[i] for i in train], [kind.answers[i] for i in train])
        for place, answer in zip(test, model.predict([kind.inputs[i] for i in test]), strict=True):
            assert found[place] == answer
