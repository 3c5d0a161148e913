"""An objective as a function of some of its weights: what optimisers see is the whole, less what is left out."""

from __future__ import annotations

import numpy as np
import pytest

from dovetail.learning.objective import Share
from dovetail.learning.optimisers.online import AdaGrad
from dovetail.learning.priors import Prior
from dovetail.sparse import SparseGradient
from tests.learning.test_optimisers import LogisticRegression, Whole

USED = np.array([0, 2, 3, 5, 8])


@pytest.mark.parametrize("kind", [LogisticRegression, Whole])
def test_a_share_is_the_whole_with_the_other_weights_at_zero(kind: type[LogisticRegression]) -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=(20, 9)) * (rng.random((20, 9)) < 0.5)
    whole = kind(x, np.sign(rng.normal(size=20)))
    share, weight = Share(whole, USED), rng.normal(size=len(USED))
    full = np.zeros(9)
    full[USED] = weight
    assert (share.items, share.parameters) == (20, 5)
    value, gradient = whole(full)
    assert share(weight)[0] == pytest.approx(value)
    np.testing.assert_allclose(share(weight)[1], gradient[USED])
    sink = SparseGradient.of_size(5)
    for which in np.split(rng.permutation(20), 5):
        sink.clear()
        share.touch(which, sink)
        listed = np.arange(5)[sink.listed]
        sink.value[listed] = 0.0
        value, gradient = LogisticRegression(x[which], whole.y[which])(full)
        assert share.accumulate(weight, which, sink) == pytest.approx(value)
        assert set(np.flatnonzero(gradient[USED])) <= set(listed.tolist())
        np.testing.assert_allclose(sink.value[listed], gradient[USED][listed])


def test_training_a_share_is_training_the_whole_without_the_rest() -> None:
    rng = np.random.default_rng(2)
    x = rng.normal(size=(30, 9)) * (rng.random((30, 9)) < 0.5)
    x[:, np.setdiff1d(np.arange(9), USED)] = 0.0
    whole = LogisticRegression(x, np.sign(rng.normal(size=30)))
    share = Share.used(whole, np.zeros(9))
    assert share.share.tolist() == USED.tolist()
    part = AdaGrad(limit=3, batch=4).minimise(share, Prior(l2=0.2), np.zeros(5))
    np.testing.assert_allclose(part, AdaGrad(limit=3, batch=4).minimise(whole, Prior(l2=0.2), np.zeros(9))[USED])
