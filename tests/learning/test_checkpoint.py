"""Checkpoints: the state of an optimiser is read as it was written, by the task that it belongs to alone."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dovetail.errors import DovetailError
from dovetail.learning.checkpoint import Checkpoint

STATE = {
    "weight": np.array([1.5, -np.inf, np.nan, -0.0]),
    "singles": np.arange(6, dtype=np.float32).reshape(2, 3).T,  # not in the order of C
    "words": np.array([2**64 - 1, 0], np.uint64),
    "flags": np.array([True, False]),
    "count": np.array(7),
    "value": 2.25,
    "none": np.empty((0, 4), np.float32),
}


def test_a_state_is_read_as_it_was_written(tmp_path: Path) -> None:
    kept = Checkpoint.of(tmp_path / "c", {"l2": 0.1}, np.arange(3))
    assert kept.load() is None
    for state in ({"weight": np.zeros(2)}, STATE):  # a later one takes the place of an earlier one
        kept.save(state)
    found = Checkpoint.of(tmp_path / "c", {"l2": 0.1}, np.arange(3)).load()
    assert found is not None
    assert found.keys() == STATE.keys()
    for name, value in STATE.items():
        right = np.asarray(value)
        assert (found[name].dtype, found[name].shape) == (right.dtype, right.shape), name
        assert found[name].tobytes() == right.tobytes(), name
    kept.remove()
    assert kept.load() is None


@pytest.mark.parametrize(
    "other", [({"l2": 0.2}, np.arange(3)), ({"l2": 0.1}, np.arange(4)), ({"l2": 0.1, "l1": 0}, np.arange(3))]
)
def test_other_settings_and_other_data_are_another_task(tmp_path: Path, other: tuple) -> None:
    Checkpoint.of(tmp_path / "c", {"l2": 0.1}, np.arange(3)).save(STATE)
    with pytest.raises(DovetailError, match="a run with other data or settings"):
        Checkpoint.of(tmp_path / "c", *other).load()


def test_what_is_no_checkpoint_is_refused(tmp_path: Path) -> None:
    (tmp_path / "c").write_bytes(b"hello")
    with pytest.raises(DovetailError, match="not a usable checkpoint"):
        Checkpoint.of(tmp_path / "c", {}).load()
