"""Frames: what ``FrameBatch`` does beyond the contract of all structures."""

from __future__ import annotations

import numpy as np

from dovetail.structures.frames import FrameBatch, FramePotentials


def best(role: list[list[float]], once: list[int]) -> list[int]:
    """Return the labels of candidates that follow each other, each a word long."""
    places = np.arange(len(role) + 1, dtype=np.int32)
    batch = FrameBatch(FramePotentials(np.array(role)), np.array([0, len(role)]), places[:-1], places[1:], once)
    return [int(label) for label in batch.best()]


def test_ties_go_to_fewer_arguments_and_the_lowest_label() -> None:
    assert best([[0.0, 0.0]], [-1, -1]) == [-1]
    assert best([[1.0, 1.0], [1.0, 1.0]], [-1, -1]) == [0, 0]
    assert best([[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]], [0, 0, -1]) == [0, 2]
