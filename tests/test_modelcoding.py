"""The smallest form of the arrays of a model file."""

from __future__ import annotations

import zlib
from pathlib import Path

import numpy as np
import pytest

from dovetail.errors import ModelFileError
from dovetail.modelcoding import coded, codes_of, decoded, inflated, values_of
from dovetail.modelfile import load_model, save_model

RNG = np.random.default_rng(5)
SPARSE = (RNG.normal(size=(300, 40)) * (RNG.random((300, 40)) < 0.2)).astype(np.float32)
SOME = {
    "fine.weight": SPARSE,
    "weight": SPARSE.astype(np.float64)[:100],
    "keys": np.sort(RNG.integers(0, 2**63, 4000, dtype=np.uint64)),
    "count": np.repeat(np.uint8([1, 2]), 4000),
    "potential": SPARSE,
    "small.weight": SPARSE[0],
}


def test_all_but_weights_come_back_as_they_were() -> None:
    found = decoded(*coded(SOME))
    assert found.keys() == SOME.keys()
    for name, array in SOME.items():
        assert found[name].dtype == array.dtype
        assert found[name].shape == array.shape
        if name.endswith("weight") and array.nbytes >= 4096:
            assert not np.array_equal(found[name], array)
            np.testing.assert_allclose(found[name], array, rtol=0.04, atol=5e-4)
            np.testing.assert_array_equal(found[name][array == 0], 0)
        else:
            np.testing.assert_array_equal(found[name], array)


def test_what_does_not_deflate_stays() -> None:
    arrays, about = coded(SOME)
    assert arrays["keys"] is SOME["keys"]
    assert "keys" not in about
    assert len(arrays["count"]) < 200
    assert about["count"]["deflated"]
    assert arrays["fine.weight"].nbytes < SPARSE.nbytes / 8


def test_every_value_is_its_own_code() -> None:
    values = values_of(0.01, 0.05)[:255]
    code, least, step = codes_of(values)
    np.testing.assert_allclose(values_of(least, step)[code], values, rtol=1e-5)
    assert len(np.unique(code)) == 255


def test_tiny_weights_do_not_make_others_worse() -> None:
    weight = np.array([1e-30, -1e-9, 8e-4, -0.3, 5.0, 10.0])
    code, least, step = codes_of(weight)
    found = values_of(least, step)[code]
    np.testing.assert_array_equal(found[:2], [0, 0])
    np.testing.assert_allclose(found[3:], weight[3:], rtol=0.04)
    assert abs(found[2] - weight[2]) < 3e-4


def test_weights_of_one_size_and_none() -> None:
    for weight in (np.zeros(3), np.array([2.0, -2.0]), np.zeros(0)):
        code, least, step = codes_of(weight)
        np.testing.assert_allclose(values_of(least, step)[code], weight)


def test_a_file_in_the_smallest_form(tmp_path: Path) -> None:
    save_model(tmp_path / "plain", {"kind": "test"}, SOME)
    save_model(tmp_path / "small", {"kind": "test"}, SOME, compact=True)
    assert (tmp_path / "small").stat().st_size < (tmp_path / "plain").stat().st_size / 2
    header, found = load_model(tmp_path / "small")
    assert header["version"] == 4
    assert "coded" not in header
    np.testing.assert_allclose(found["fine.weight"], SPARSE, rtol=0.04, atol=5e-4)


def test_what_is_inflated_has_the_size_that_was_told() -> None:
    raw = zlib.compress(bytes(10_000))
    assert inflated(raw, 10_000) == bytes(10_000)
    for size in (9_999, 10_001, 10**12):
        with pytest.raises(ValueError, match="another size"):
            inflated(raw, size)
    with pytest.raises(ValueError, match="damaged"):
        inflated(b"no such thing", 5)


@pytest.mark.parametrize(
    "wrong",
    [
        {"shape": [3]}, {"shape": [-1]}, {"shape": "x"}, {"dtype": "O"}, {"dtype": 3}, {"least": None},
        {"step": "x"}, {"deflated": False},
    ],
)  # fmt: skip
def test_damage_is_told(tmp_path: Path, wrong: dict[str, object]) -> None:
    arrays, about = coded({"weight": SPARSE})
    header = {"kind": "test", "coded": {"weight": about["weight"] | wrong}}
    save_model(tmp_path / "m", header, arrays)
    with pytest.raises(ModelFileError, match="damaged"):
        load_model(tmp_path / "m")
