"""Compact model files: short keys, a byte a weight; smaller, and nearly the same answers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dovetail import FeatureSet, Tagger
from dovetail.errors import DovetailError, ModelFileError
from dovetail.features.resources.clusters import Clusters
from dovetail.modelfile import load_model, save_model
from dovetail.scorers.compact import (
    packed_keys,
    packed_outputs,
    packed_weights,
    unpacked_keys,
    unpacked_outputs,
    unpacked_weights,
)
from tests.models.corpus import made

FEATURES = ["word[-1:2]", "shape[0]", "ngrams(1, 5)[0]"]


@pytest.fixture(scope="module")
def tagger() -> Tagger:
    return Tagger(features=FEATURES, min_count=1, iterations=30).fit(made(60))


@pytest.mark.parametrize("size", [0, 1, 50, 3_000, 400_000])
@pytest.mark.parametrize("bits", [10, 20, 40])
def test_keys_come_back_as_they_were(size: int, bits: int) -> None:
    keys = np.unique(np.random.default_rng(size).integers(0, 1 << bits, size, dtype=np.uint64))
    parts = packed_keys(keys, bits)
    np.testing.assert_array_equal(unpacked_keys(parts["begins"], parts["rest"]), keys)
    assert parts["rest"].nbytes + parts["begins"].nbytes <= 5 * len(keys) + 4


def test_many_keys_take_three_bytes_each() -> None:
    keys = np.unique(np.random.default_rng(0).integers(0, 1 << 40, 400_000, dtype=np.uint64))
    assert packed_keys(keys, 40)["rest"].shape[1] == 3


@pytest.mark.parametrize("weight", [[], [0.0], [1.5], [-1.5, 1.5], [0.001, -7.0, 0.3, 2.2, -0.04]])
def test_weights_come_back_nearly(weight: list[float]) -> None:
    parts = packed_weights(np.array(weight, dtype=np.float32))
    found = unpacked_weights(parts["code"], parts["value"])
    some = np.array(weight) != 0
    np.testing.assert_allclose(found[some], np.array(weight)[some], rtol=0.05)


def test_outputs_come_back_as_they_were() -> None:
    table = np.random.default_rng(0).random((50, 11)) < 0.4
    ptr = np.concatenate([[0], np.cumsum(table.sum(axis=1))])
    count, label = unpacked_outputs(packed_outputs(ptr, np.nonzero(table)[1], 11), 11)
    np.testing.assert_array_equal(count, np.diff(ptr))
    np.testing.assert_array_equal(label, np.nonzero(table)[1])


@pytest.mark.parametrize("settings", [{}, {"hash_bits": 12}, {"features": [*FEATURES, "edge(word[0])"], "order": 2}])
def test_a_compact_file_is_much_smaller_and_answers_alike(tmp_path: Path, settings: dict[str, object]) -> None:
    model = Tagger(**{"features": FEATURES, "min_count": 1, "iterations": 30} | settings).fit(made(60))  # type: ignore[arg-type]
    model.save(tmp_path / "half", half=True)
    model.save(tmp_path / "compact", compact=True)
    loaded = Tagger.load(tmp_path / "compact")
    sentences = made(20, seed=6)
    assert loaded.predict(sentences) == model.predict(sentences)
    for before, after in zip(model.predict_marginals(sentences), loaded.predict_marginals(sentences), strict=True):
        np.testing.assert_allclose(after, before, atol=0.05)
    _, arrays = load_model(tmp_path / "half")
    _, packed = load_model(tmp_path / "compact")
    assert sum(a.nbytes for a in packed.values()) < 0.75 * sum(a.nbytes for a in arrays.values())


def test_a_compact_file_can_be_saved_again_and_trained_on(tmp_path: Path, tagger: Tagger) -> None:
    tagger.save(tmp_path / "one", compact=True)
    Tagger.load(tmp_path / "one").save(tmp_path / "two", compact=True)
    assert load_model(tmp_path / "one")[1].keys() == load_model(tmp_path / "two")[1].keys()
    assert Tagger.load(tmp_path / "two").predict(made(9)) == tagger.predict(made(9))
    more = Tagger(features=FEATURES, min_count=1, iterations=1).fit(made(60), init=Tagger.load(tmp_path / "one"))
    assert more.score(made(30, seed=3)) > 90


def test_only_what_needs_it_has_a_new_version(tmp_path: Path, tagger: Tagger) -> None:
    tagger.save(tmp_path / "plain")
    tagger.save(tmp_path / "compact", compact=True)
    assert load_model(tmp_path / "plain")[0]["version"] == 1
    assert load_model(tmp_path / "compact")[0]["version"] == 2


def test_half_or_compact(tmp_path: Path, tagger: Tagger) -> None:
    with pytest.raises(DovetailError, match="choose one"):
        tagger.save(tmp_path / "m", half=True, compact=True)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("node.begins", lambda a: a + 1),
        ("node.rest", lambda a: a[::-1]),
        ("node.rest", lambda a: np.zeros((len(a), 9), dtype=np.uint8)),
        ("node.mask", lambda a: np.full_like(a, 255)),
        ("node.code", lambda a: a[:-1]),
        ("node.value", lambda a: a[:3]),
    ],
)
def test_arrays_that_do_not_fit_are_refused(tmp_path: Path, tagger: Tagger, name: str, change: object) -> None:
    tagger.save(tmp_path / "m", compact=True)
    header, arrays = load_model(tmp_path / "m")
    header = {k: v for k, v in header.items() if k != "checksums"}
    save_model(tmp_path / "m2", header, arrays | {name: change(arrays[name])})  # type: ignore[operator]
    with pytest.raises(ModelFileError, match="does not fit together"):
        Tagger.load(tmp_path / "m2")


def test_equal_arrays_are_written_once(tmp_path: Path) -> None:
    big = np.arange(10_000, dtype=np.uint64)
    arrays = {"a": big, "b": big.copy(), "c": big.astype(np.int64), "d": big + 1, "e": big[:0], "f": big[:0]}
    save_model(tmp_path / "m", {"kind": "test"}, arrays)
    assert (tmp_path / "m").stat().st_size < 250_000
    header, found = load_model(tmp_path / "m")
    assert header["version"] == 2
    save_model(tmp_path / "few", {"kind": "test"}, {"a": big[:9], "b": big[:9]})
    assert load_model(tmp_path / "few")[0]["version"] == 1
    for name, array in arrays.items():
        np.testing.assert_array_equal(found[name], array)
        assert found[name].dtype == array.dtype


def test_an_array_that_is_said_to_equal_none(tmp_path: Path) -> None:
    save_model(tmp_path / "m", {"kind": "test", "same": {"a": "b"}}, {"c": np.zeros(2)})
    with pytest.raises(ModelFileError, match="there is no 'b'"):
        load_model(tmp_path / "m")


def test_clusterings_of_the_same_words_share_their_keys(tmp_path: Path) -> None:
    words = {f"w{i}": f"{i % 7:03b}" for i in range(5_000)}
    one, two = Clusters.of_paths(words), Clusters.of_paths({word: path[:2] for word, path in words.items()})
    features = FeatureSet.of(["word[0]"]).joined(one=one, two=two)
    Tagger(features=features, iterations=2).fit(made(5)).save(tmp_path / "m")
    assert (tmp_path / "m").stat().st_size < 5_000 * (8 + 1 + 1) + 20_000
    assert list(Tagger.load(tmp_path / "m").features.resources["two"].classes_of(["w3", "w4"])) == [1, 2]


def test_pruned_leaves_the_large_weights(tagger: Tagger) -> None:
    small = tagger.pruned(0.05)
    assert small.model_ is not None
    assert tagger.model_ is not None
    assert 0 < small.model_.node.index.size < tagger.model_.node.index.size
    assert np.abs(small.model_.node.weight).min() >= 0.05
    assert small.card_ == tagger.card_
    assert small.score(made(30, seed=3)) > 90
