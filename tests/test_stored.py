"""Stored types: what no value can hold is refused by the constructor, whether it comes from a file or from a user."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dovetail
from dovetail import DovetailError, Tagger
from dovetail.features.compile.index import FeatureIndex
from dovetail.modelfile import load_model, save_model
from dovetail.scorers.linear import Layout
from dovetail.scorers.weights import Weights
from dovetail.stored import UnsoundError
from tests.models.corpus import made

FROZEN = Path(__file__).parent / "data" / "frozen" / "0.2.0"


def keys(*numbers: int) -> Any:
    return np.array(numbers, np.uint64)


@pytest.mark.parametrize(
    ("ptr", "label", "message"),
    [
        ([0, 1, 3], [0, 2, 3], "label holds 3, where outputs is 3"),
        ([0, 1, 3], [0, -1, 2], "label holds -1"),
        ([0, 4, 3], [0, 1, 2], "ptr does not rise from 0 to 3"),
        ([1, 2, 3], [0, 1, 2], "ptr does not rise"),
        ([0, 1, 2], [0, 1, 2], "ptr does not rise from 0 to 3"),
        ([0, -1, 3], [0, 1, 2], "ptr does not rise"),
        ([[0, 1, 3]], [0, 1, 2], "ptr has 2 axes"),
        ([0.0, 1.0, 3.0], [0, 1, 2], "ptr holds float64 numbers"),
    ],
)
def test_a_layout_points_into_its_arrays(ptr: Any, label: Any, message: str) -> None:
    with pytest.raises(UnsoundError, match=message):
        Layout(np.array(ptr), np.array(label), 3)


def test_offsets_of_nothing_are_refused() -> None:
    with pytest.raises(UnsoundError, match="ptr is empty"):
        Layout(np.zeros(0, np.int64), np.zeros(0, np.uint16), 3)


@pytest.mark.parametrize("count", [[-1, 4], [2, 1 << 62], [4, -1], [10**12, 3 - 10**12]])
def test_counts_that_cancel_are_refused(count: list[int]) -> None:
    with pytest.raises(UnsoundError, match="count holds"):
        Layout.counted(np.array(count), np.zeros(3, np.uint8), 3)


def test_features_have_keys_in_order() -> None:
    for wrong in (keys(2, 1), np.array([1, 2]), keys(1 << 9)):
        with pytest.raises(UnsoundError, match=r"keys holds int64|keys is not in order|more than 8 bits"):
            FeatureIndex(wrong, 8)
    with pytest.raises(UnsoundError, match="keys of 200 bits"):
        FeatureIndex(keys(1), 200)


@pytest.mark.parametrize(
    ("weight", "message"),
    [([1.0, np.nan], "not finite"), ([np.inf, 1.0], "not finite"), ([1.0], "length of 1"), ([1, 2], "holds int64")],
)
def test_weights_are_numbers_one_for_each_parameter(weight: Any, message: str) -> None:
    layout = Layout(np.array([0, 2]), np.array([0, 1], np.uint16), 2)
    with pytest.raises(UnsoundError, match=message):
        Weights(FeatureIndex(keys(5)), layout, np.array(weight))


def test_no_two_features_of_a_model_have_one_key() -> None:
    layout = Layout(np.array([0, 1, 2]), np.array([0, 1], np.uint16), 2)
    with pytest.raises(UnsoundError, match="keys is not in order"):
        Weights(FeatureIndex(keys(5, 5)), layout, np.array([1.0, 2.0]))


def cripple(path: Path, target: Path, name: str, change: Any) -> None:
    """Write a model with another array, under checksums that are right."""
    header, arrays = load_model(path)
    del header["checksums"]
    save_model(target, header, arrays | {name: change(arrays[name])})


def cancelling(by: int) -> Any:
    def change(count: Any) -> Any:
        found = count.astype(np.int64)
        found[0] -= by
        found[-1] += by
        return found

    return change


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("node.label", lambda a: np.full(len(a), -1, np.int64)),
        ("node.label", lambda a: np.full(len(a), 65535, np.uint16)),
        ("node.label", lambda a: a.astype(np.float64)),
        ("node.count", cancelling(10**12)),
        ("node.count", cancelling(10**7)),
        ("node.keys", lambda a: a[::-1].copy()),
        ("node.keys", lambda a: a.astype(np.float32)),
        ("node.weight", lambda a: np.full(len(a), np.nan, np.float32)),
        ("node.weight", lambda a: a[:-1]),
    ],
)
def test_arrays_of_a_tagger_that_no_tagger_has(name: str, change: Any, tmp_path: Path) -> None:
    path = tmp_path / "m.dovetail"
    Tagger(features=["word[0]", "shape[0]"], iterations=3, min_count=1, threads=1).fit(made(10)).save(path)
    cripple(path, path, name, change)
    with pytest.raises(DovetailError, match=r"m\.dovetail: the model does not fit together"):
        Tagger.load(path)


def frozen_with_counts() -> list[tuple[Path, str]]:
    """Return each frozen model that has features with counts, with the name of the array."""
    found = []
    for path in sorted(FROZEN.glob("*/model.dovetail*")):
        names = [name for name in load_model(path)[1] if name == "count" or name.endswith(".count")]
        found += [(path, name) for name in names]
    return found


@pytest.mark.parametrize(
    ("path", "name"), frozen_with_counts(), ids=lambda each: each.parent.name if isinstance(each, Path) else each
)
def test_no_kind_takes_counts_that_cancel_or_labels_that_are_none(path: Path, name: str, tmp_path: Path) -> None:
    arrays = load_model(path)[1]
    label = f"{name.removesuffix('count')}label"
    if arrays[name].size < 2:
        return
    for which, change in ((name, cancelling(10**6)), (label, lambda a: np.full(len(a), -1, np.int64))):
        if not arrays[which].size:
            continue
        changed = tmp_path / "changed.dovetail"
        cripple(path, changed, which, change)
        with pytest.raises(DovetailError):
            dovetail.load(changed)
