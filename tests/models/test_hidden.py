"""Taggers with a hidden layer: what it sees, files, other models as a start, checkpoints, explanations, bad input."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dovetail
from dovetail import DovetailError, FeatureSet, MultiDomainTagger, NestedTagger, Segmenter, Tagger
from dovetail.features.resources.vectors import Vectors
from dovetail.modelfile import load_model
from dovetail.scorers.hidden_parts import HiddenWeights
from dovetail.vectors.table import VectorTable
from tests.models.corpus import made
from tests.models.kinds import KINDS

SENTENCES = KINDS["tagger"].sentences
TEMPLATES = ["word[-1:2]", "shape[0]", "edge(shape[0])"]


def vectors() -> Vectors:
    words = sorted({word for s in made(12) for word in s.words})
    matrix = np.random.default_rng(0).normal(size=(len(words), 5)).astype(np.float32)
    return Vectors.of(VectorTable(words, matrix), subwords=False)


def tagger(**settings: Any) -> Tagger:
    known = {"features": TEMPLATES, "hidden": 3, "min_count": 1, "iterations": 20, "consistency": "none"}
    return Tagger(**(known | settings))


def same(one: Any, other: Any, atol: float = 0.0) -> None:
    for a, b in zip(one.predict_marginals(SENTENCES), other.predict_marginals(SENTENCES), strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=atol)


@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize("activation", ["tanh", "relu", "linear"])
def test_it_learns(order: int, activation: str) -> None:
    features = TEMPLATES[:2] if order == 0 else TEMPLATES
    model = tagger(order=order, activation=activation, iterations=60, features=features, l2=0.01)
    assert model.fit(SENTENCES).score(SENTENCES) == 100.0


@pytest.mark.parametrize(("inputs", "straight", "seen"), [("all", 0, 7), ("vectors", 6, 2), ("discrete", 1, 6)])
def test_the_layer_sees_what_it_is_to_see(inputs: str, straight: int, seen: int, tmp_path: Path) -> None:
    features = FeatureSet.of(["word[-1:2]", "shape[0]", "cap[0]", "lower[0]", "vector(v)[0]"], {"v": vectors()})
    model = tagger(features=features, hidden_inputs=inputs).fit(SENTENCES)
    node = model._model().node
    assert isinstance(node, HiddenWeights)
    linear, layer = node.hidden.split(model._model().templates()["node"])
    assert (len(linear), len(layer)) == (straight, seen + (inputs != "vectors"))  # with a bias
    assert (node.linear is None) == (inputs == "all")
    model.save(tmp_path / "m")
    same(model, Tagger.load(tmp_path / "m"))


def test_a_layer_that_sees_nothing_is_told() -> None:
    with pytest.raises(DovetailError, match="hidden_inputs='vectors': there are no such features"):
        tagger(hidden_inputs="vectors").fit(SENTENCES)
    with pytest.raises(DovetailError, match=r"noise='dropout:0\.5' is for features without a hidden layer"):
        tagger(noise="dropout:0.5").fit(SENTENCES)
    with pytest.raises(DovetailError, match="hidden=-1: choose 0 or more"):
        tagger(hidden=-1).fit(SENTENCES)
    with pytest.raises(DovetailError, match="activation='sine': choose one of tanh, relu, linear"):
        tagger(activation="sine").fit(SENTENCES)


@pytest.mark.parametrize("how", [{}, {"half": True}, {"compact": True}])
def test_files(how: dict[str, bool], tmp_path: Path) -> None:
    model = tagger().fit(SENTENCES, dev=SENTENCES[:3])
    model.save(tmp_path / "m", **how)
    header, arrays = load_model(tmp_path / "m")
    assert header["version"] == 3  # programs that know no hidden layer must not read it
    assert header["hidden"] == {"node": {"size": 3, "activation": "tanh", "inputs": "all"}}
    assert arrays["node-hidden.out"].shape == (4, len(model.classes_))
    loaded = dovetail.load(tmp_path / "m")
    assert (loaded.hidden, loaded.activation) == (3, "tanh")
    same(model, loaded, atol=0.02 if how else 0.0)


def test_files_whose_layer_does_not_fit_are_refused(tmp_path: Path) -> None:
    model = tagger().fit(SENTENCES)
    header, arrays = model.packed()
    arrays["node-hidden.out"] = arrays["node-hidden.out"][:-1]
    with pytest.raises(ValueError, match="hidden layer of the node features does not fit"):
        Tagger.unpacked(header, arrays)


def test_it_starts_from_another_model() -> None:
    first = tagger(iterations=30).fit(SENTENCES)
    again = tagger(iterations=1, gain=1e-9, optimiser="sgd", l2=0.0).fit(SENTENCES, init=first)
    same(first, again, atol=0.02)  # what is tiny is not stored
    plain = tagger(hidden=0).fit(SENTENCES)
    features = FeatureSet.of([*TEMPLATES, "vector(v)[0]"], {"v": vectors()})
    still = {"iterations": 1, "gain": 1e-9, "optimiser": "sgd", "l2": 0.0}
    beside = tagger(features=features, hidden_inputs="vectors", **still).fit(SENTENCES, init=plain)
    assert beside.predict(SENTENCES) == plain.predict(SENTENCES)
    back = tagger(hidden=0, **still).fit(SENTENCES, init=beside)
    assert back.predict(SENTENCES) == plain.predict(SENTENCES)


def test_the_same_seed_gives_the_same_bits_on_any_number_of_threads() -> None:
    one, two = (tagger(threads=n).fit(SENTENCES) for n in (1, 2))
    same(one, two)
    other = tagger(seed=2).fit(SENTENCES)
    assert one._model().node.out.tolist() != other._model().node.out.tolist()


@pytest.mark.parametrize("optimiser", ["lbfgs", "adam"])
def test_a_run_goes_on_from_a_checkpoint(optimiser: str, tmp_path: Path) -> None:
    path = tmp_path / "run"
    whole = tagger(optimiser=optimiser, iterations=30).fit(SENTENCES)

    def stop(progress: Any) -> None:
        if progress.iteration == 26:
            raise RuntimeError

    with pytest.raises(RuntimeError):
        tagger(optimiser=optimiser, iterations=30).fit(SENTENCES, checkpoint=path, progress=stop)
    same(whole, tagger(optimiser=optimiser, iterations=30).fit(SENTENCES, checkpoint=path))


def test_explanations_have_the_layer_as_a_whole_and_add_up() -> None:
    features = FeatureSet.of(["word[-1:2]", "shape[0]", "vector(v)[0]"], {"v": vectors()})
    model = tagger(features=features, hidden_inputs="vectors").fit(SENTENCES)
    sentence = SENTENCES[0]
    told = model.explain(sentence, 0)
    names = [e.feature for e in told.evidence]
    assert "hidden layer of 3 units, as a whole" in names
    assert any(name.startswith("shape[0]") for name in names)
    assert not any(name.startswith("vector") for name in names)
    [chains] = model.chains([sentence])
    labels = list(model._model().labels.shown)
    for tag, sums in ((told.tag, "weight"), (told.rival, "against")):
        assert sum(getattr(e, sums) for e in told.evidence) == pytest.approx(
            chains.potentials.unary[0, labels.index(tag)], abs=1e-6
        )


@pytest.mark.parametrize("kind", [Segmenter(target="ner", hidden=3), NestedTagger(hidden=3, min_count=1)])
def test_segments_have_hidden_layers_too(kind: Any, tmp_path: Path) -> None:
    sentences = KINDS["segments" if isinstance(kind, Segmenter) else "nested"].sentences
    kind.iterations = 5
    model = kind.fit(sentences)
    assert any(isinstance(weights, HiddenWeights) for weights in model._model().parts.values())
    assert not isinstance(model._model().parts["phrase"], HiddenWeights)
    model.save(tmp_path / "m")
    loaded = dovetail.load(tmp_path / "m")
    assert list(model.annotate(sentences)) == list(loaded.annotate(sentences))


def test_domains_have_none() -> None:
    with pytest.raises(DovetailError, match="without hidden layers"):
        MultiDomainTagger(tagger=tagger()).fit({"one": SENTENCES[:6], "two": SENTENCES[6:]})
