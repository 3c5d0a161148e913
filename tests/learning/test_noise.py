"""Noised features: the penalty is what random noise costs, its gradient is right, and merged features count as many."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dovetail.errors import DovetailError
from dovetail.learning.noise import Noise
from dovetail.learning.objective import Objective
from dovetail.models.base import Estimator
from dovetail.models.nested.estimator import NestedTagger
from dovetail.models.segmenter.estimator import Segmenter
from dovetail.models.tagger.estimator import Tagger
from dovetail.models.training import Run
from dovetail.scorers.chain import EDGE, NODE
from dovetail.sparse import SparseGradient
from dovetail.structures.contract import Floats
from dovetail.text.sentence import Sentence
from tests.models.corpus import made
from tests.models.kinds import KINDS

RUN = Run(None, None, None, lambda what: None)
TEXT = [["Ada", "slept", "in", "New", "York"], ["Bern", "praised", "Turing", "."], ["London", "left"]]
LINES = ["word[-1:2]", "shape[0]", "prefix(1, 3)[0]", "word[-1] & word[0]"]
FLAT = [Sentence(s.words, {"ner": s.layers["ner"]}) for s in made(10)]
SIZED = [s.with_layer("size", tuple(f"{len(w) / 4}" for w in s.words)) for s in FLAT]
PARTLY = [
    Sentence(s.words, {"ner": ("?",) * (len(s) // 2) + s.layers["ner"][len(s) // 2 :]}) if i % 2 else s
    for i, s in enumerate(FLAT)
]


def _tagger(**settings: Any) -> Tagger:
    return Tagger(**({"features": LINES, "min_count": 1, "noise": "dropout:0.4"} | settings))


def _with(model: Estimator, **settings: Any) -> Any:
    return type(model)(**(model.get_params(deep=False) | settings))


CASES: dict[str, tuple[Any, list[Any]]] = {
    "maxent": (_tagger(order=0), FLAT),
    "chain": (_tagger(), FLAT),
    "words": (_tagger(noise="words:0.4"), FLAT),
    "edges": (_tagger(features=[*LINES, "edge(word[0])"], noise="gaussian:0.7"), FLAT),
    "edges-words": (_tagger(features=[*LINES, "edge(word[0])"], noise="words:0.3"), FLAT),
    "order-2": (_tagger(order=2), FLAT),
    "values": (_tagger(features=["word[0]", "number(size)[0]", "number(size)[-1]"]), SIZED),
    "observed": (_tagger(observed_only=True), FLAT),
    "partly-known": (_tagger(), PARTLY),
    "margin": (_tagger(loss="softmax-margin"), FLAT),
    "raw": (_tagger(noise_text=TEXT), FLAT),
    "raw-words": (_tagger(noise="words:0.4", noise_text=TEXT), FLAT),
    "segments": (_with(KINDS["segments"].model, noise="dropout:0.4", noise_text=TEXT), FLAT),
    "characters": (_with(KINDS["words"].model, noise="dropout:0.4", noise_text=["人爱北京"]), KINDS["words"].sentences),
    "nested": (_with(KINDS["nested"].model, noise="dropout:0.4", noise_text=TEXT), KINDS["nested"].sentences),
}
every_case = pytest.mark.parametrize("case", CASES)


def _prepared(model: Any, sentences: list[Any], threads: int = 1) -> Any:
    made = _with(model, threads=threads)
    return made._prepare(made._examples(sentences, None, "training"), None, RUN)


def _objective(case: str, threads: int = 1) -> Objective:
    found: Objective = _prepared(*CASES[case], threads).objective
    return found


def _drawn(objective: Objective, seed: int = 0) -> Floats:
    return np.random.default_rng(seed).normal(size=objective.parameters)


@every_case
def test_the_gradient_is_that_of_the_objective(case: str) -> None:
    objective = _objective(case)
    weight = _drawn(objective)
    gradient = objective(weight)[1].copy()
    for seed in range(1, 5):
        direction = _drawn(objective, seed)
        ahead, behind = objective(weight + 1e-5 * direction)[0], objective(weight - 1e-5 * direction)[0]
        np.testing.assert_allclose(gradient @ direction, (ahead - behind) / 2e-5, rtol=1e-4, atol=1e-5)


@every_case
def test_few_sentences_at_a_time_add_up_to_all(case: str) -> None:
    objective = _objective(case)
    weight = _drawn(objective)
    value, gradient = objective(weight)
    total, summed = 0.0, np.zeros(objective.parameters)
    sink = SparseGradient.of_size(objective.parameters)
    for some in np.split(np.random.default_rng(4).permutation(objective.items), [2, 5]):
        sink.clear()
        objective.touch(some, sink)
        listed = sink.listed
        assert isinstance(listed, np.ndarray)
        assert len(set(listed.tolist())) == len(listed)
        sink.value[listed] = 0.0
        total += objective.accumulate(weight, some, sink)
        summed[listed] += sink.value[listed]
    np.testing.assert_allclose(total, value)
    np.testing.assert_allclose(summed, gradient, atol=1e-9)


@pytest.mark.parametrize("case", ["chain", "edges-words", "raw"])
def test_threads_change_no_bit(case: str) -> None:
    found = []
    for threads in (1, 3):
        objective = _objective(case, threads)
        value, gradient = objective(_drawn(objective))
        found.append((value, gradient.tobytes()))
    assert found[0] == found[1]


@pytest.mark.parametrize("twins", [True, False])
@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize("edges", [True, False])
def test_the_penalty_is_what_small_noise_costs(twins: bool, order: int, edges: bool) -> None:
    """E[log Z(noised)] - log Z, with noise for every feature, label and token, whatever columns were merged."""
    if edges and not order:
        return
    model = _tagger(order=order, noise="gaussian:0.1", merge_twins=twins, features=LINES + ["edge(word[0])"] * edges)
    training = _prepared(model, FLAT[:3])
    objective, scorer = training.objective, training.scorer
    weight = 0.5 * _drawn(objective)
    noised = objective(weight)[0]
    objective.noise = None
    penalty = noised - objective(weight)[0]
    batch, rng = scorer.batch(weight), np.random.default_rng(0)
    plain, log_z, rounds = batch.log_partition().sum(), 0.0, 500
    own = {part: list(_by_token(training, part, weight)) for part in scorer.parts}
    unary, edge = batch.potentials.unary.copy(), batch.potentials.edge.copy()
    for _ in range(rounds):
        drawn = {p: np.array([(rng.normal(scale=0.1, size=w.shape) * w).sum(0) for w in own[p]]) for p in own}
        for sign in (1, -1):  # in pairs, so that what is linear in the noise cancels out
            moved = batch.potentials._replace(unary=unary + sign * drawn[NODE])
            if EDGE in drawn:
                moved = moved._replace(edge=edge + sign * drawn[EDGE].reshape(edge.shape))
            log_z += batch.with_potentials(moved).log_partition().sum() / (2 * rounds)
    assert penalty == pytest.approx(log_z - plain, rel=0.05)
    assert penalty > 0.01


def _by_token(training: Any, part: str, weight: Floats) -> Any:
    """What each feature of each token says of every output, features unmerged: [features, outputs] by token."""
    made, scorer = training.parts[part], training.scorer
    design, layout = made.scorer.design, made.scorer.layout
    several = made.merged.multiplicity
    table = scorer.of_part(part, weight).reshape(-1, layout.outputs)  # all parameters exist
    for rows, direct in zip(design.row_index, design.feature_index, strict=True):
        found = [design.row_feature[design.row_ptr[r] : design.row_ptr[r + 1]] for r in rows if r >= 0]
        columns = np.concatenate([*found, direct[direct >= 0]]).astype(int)
        yield np.repeat(table[columns] / np.sqrt(several[columns])[:, None], several[columns], axis=0)


@pytest.mark.parametrize("noise_text", [(), TEXT])
def test_merged_features_are_noised_as_many(noise_text: Any) -> None:
    """The objective and its gradient are those of training with every feature apart."""
    merged, apart = (_prepared(_tagger(merge_twins=twins, noise_text=noise_text), FLAT) for twins in (True, False))
    several, own_column = merged.parts[NODE].merged.multiplicity, apart.parts[NODE].merged.column
    fires = own_column >= 0
    column = merged.parts[NODE].merged.column[fires][np.argsort(own_column[fires])]
    assert several.max() > 1
    weight = _drawn(merged.objective)
    shared = weight[merged.scorer.after_parts :]

    def spelled(own: Floats) -> Floats:
        """Weights of columns as those of features, u / sqrt(m)."""
        table = merged.scorer.of_part(NODE, own).reshape(len(several), -1) / np.sqrt(several)[:, None]
        return np.concatenate([table[column].ravel(), own[-len(shared) :]])

    (value, gradient), (same, slopes) = merged.objective(weight), apart.objective(spelled(weight))
    assert value == pytest.approx(same)
    table = np.zeros((len(several), slopes[: -len(shared)].size // len(column)))
    np.add.at(table, column, slopes[: -len(shared)].reshape(len(column), -1))  # raw text may tell twins apart
    table /= np.sqrt(several)[:, None]
    np.testing.assert_allclose(gradient, np.concatenate([table.ravel(), slopes[-len(shared) :]]), atol=1e-8)


def test_raw_text_counts_beside_labelled_text_but_makes_noise_no_stronger() -> None:
    alone, same = _prepared(_tagger(), FLAT), _prepared(_tagger(noise_text=[s.words for s in FLAT]), FLAT)
    weight = _drawn(alone.objective)
    assert alone.objective(weight)[0] == pytest.approx(same.objective(weight)[0])
    assert len(same.fingerprint()) > len(alone.fingerprint())


@pytest.mark.parametrize("optimiser", ["lbfgs", "sgd", "adagrad"])
@pytest.mark.parametrize("noise", ["dropout:0.5", "words:0.3"])
def test_every_optimiser_trains_with_noise(optimiser: str, noise: str) -> None:
    tagger = _tagger(optimiser=optimiser, noise=noise, noise_text=TEXT, iterations=20).fit(FLAT)
    assert tagger.score(FLAT) > 80
    assert "noise_text" not in tagger._stored_settings()


def test_training_with_noise_finds_weights_that_bear_it() -> None:
    found = []
    for noise in (None, "dropout:0.8"):
        model = _tagger(noise=noise, l2=0.01)
        weight = model._minimise(_prepared(model, FLAT), model._monitor(RUN), RUN)
        objective = _prepared(_tagger(noise="dropout:0.8"), FLAT).objective
        with_noise = objective(weight)[0]
        objective.noise = None
        found.append(with_noise - objective(weight)[0])
    assert found[1] < 0.5 * found[0]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"noise": "dropout:1"}, "noise='dropout:1': give a probability above 0 and below 1, such as dropout:0.5"),
        ({"noise": "dropout"}, "noise='dropout': give a probability above 0 and below 1, such as dropout:0.5"),
        ({"noise": "words:0"}, "noise='words:0': give a probability above 0 and below 1, such as words:0.5"),
        ({"noise": "gaussian:-1"}, "noise='gaussian:-1': give a standard deviation above 0, such as gaussian:0.5"),
        ({"noise": "gaussian:nan"}, "noise='gaussian:nan': give a standard deviation above 0, such as gaussian:0.5"),
        ({"noise": "salt:0.5"}, "noise='salt:0.5': choose one of dropout:X, gaussian:X, words:X"),
        ({"noise": None, "noise_text": TEXT}, "noise_text is raw text for noise: choose some, such as"),
        ({"optimiser": "perceptron"}, "noise='dropout:0.4' needs probabilities"),
        ({"optimiser": "sgd", "loss": "perceptron"}, "noise='dropout:0.4' needs probabilities"),
    ],
)
def test_what_is_no_noise(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(DovetailError) as caught:
        _tagger(**settings).fit(FLAT)
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


def test_tags_beside_nested_entities_have_no_noise() -> None:
    with pytest.raises(DovetailError, match="leave out pos='joint'"):
        NestedTagger(noise="dropout:0.5", pos="joint").check_settings()


def test_dropout_is_gaussian_noise_of_the_same_variance() -> None:
    assert Noise.of("dropout:0.2") == Noise("features", 0.25) == Noise.of("gaussian:0.5")
    assert Segmenter(noise="gaussian:0.5").noise == "gaussian:0.5"
