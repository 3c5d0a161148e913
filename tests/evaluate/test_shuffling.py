from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from dovetail.errors import InputError
from dovetail.evaluate import stratified_shuffling
from dovetail.evaluate.significance import f1_of

SYSTEM = np.array([[3, 3, 3], [2, 3, 1], [4, 4, 4], [1, 1, 0], [5, 4, 4], [2, 2, 2]])
BASELINE = np.array([[3, 2, 1], [2, 2, 2], [4, 4, 2], [1, 2, 0], [5, 5, 3], [2, 1, 1]])


def test_the_share_of_all_exchanges():
    """With few sentences every exchange can be tried: the p-value comes near to that."""
    pairs = np.stack([SYSTEM, BASELINE]).astype(float)
    observed = abs(f1_of(SYSTEM.sum(axis=0)) - f1_of(BASELINE.sum(axis=0)))
    as_large = 0
    for exchange in product([0, 1], repeat=len(SYSTEM)):
        chosen = np.array(exchange)
        first = pairs[chosen, np.arange(len(chosen))].sum(axis=0)
        second = pairs[1 - chosen, np.arange(len(chosen))].sum(axis=0)
        as_large += abs(f1_of(first) - f1_of(second)) >= observed - 1e-9
    test = stratified_shuffling(SYSTEM, BASELINE, shuffles=40_000)
    assert test.p_value == pytest.approx(as_large / 2 ** len(SYSTEM), abs=0.01)
    assert abs(test.difference) == pytest.approx(observed)


def test_it_is_symmetric_and_repeatable():
    one, other = stratified_shuffling(SYSTEM, BASELINE), stratified_shuffling(BASELINE, SYSTEM)
    assert one.difference == -other.difference
    assert one == stratified_shuffling(SYSTEM, BASELINE)
    assert one.p_value == pytest.approx(other.p_value, abs=0.03)


def test_documents_are_exchanged_whole():
    groups = ["a", "a", "a", "b", "b", "b"]
    # Two documents: all exchanges are the observed difference or, for one of them, another.
    test = stratified_shuffling(SYSTEM, BASELINE, groups=groups)
    assert test.p_value >= 0.4


def test_equal_systems_do_not_differ():
    assert stratified_shuffling(SYSTEM, SYSTEM).p_value == 1


@pytest.mark.parametrize(
    ("system", "baseline", "options", "message"),
    [
        (SYSTEM, BASELINE[:3], {}, "6 sentences of the system but 3"),
        (SYSTEM[:1], BASELINE[:1], {}, "at least two"),
        (SYSTEM, BASELINE, {"shuffles": 0}, "0 shuffles"),
        ([[1, 0, 1]] * 2, [[1, 1, 1]] * 2, {}, "impossible"),
    ],
)
def test_what_cannot_be_compared_is_refused(system, baseline, options, message):
    with pytest.raises(InputError, match=message):
        stratified_shuffling(system, baseline, **options)
