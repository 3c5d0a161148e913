"""The classical models: likelihoods that rise, posteriors against all alignments written out, and the chain."""

from __future__ import annotations

from itertools import pairwise, product
from math import exp, log

import numpy as np
import pytest

from dovetail.models.aligner.hmm import REACH, AlignmentHMM, Kind
from dovetail.text.bitext import Pair
from tests.models.aligner.bitext import made_up


@pytest.mark.parametrize("kind", ["ibm1", "hmm"])
@pytest.mark.parametrize("seed", [0, 1])
def test_likelihood_rises_at_every_step(kind: Kind, seed: int) -> None:
    pairs, _ = made_up(60, seed)
    model = AlignmentHMM(kind=kind)
    likelihoods = [model.learn(pairs) for _ in range(12)]
    assert all(after >= before - 1e-7 for before, after in pairwise(likelihoods))
    assert likelihoods[-1] > likelihoods[0] + 10


def brute(model: AlignmentHMM, pair: Pair) -> tuple[float, np.ndarray]:
    """The likelihood, and the posteriors [n, m], from all alignments."""
    n, m = len(pair.source), len(pair.target)
    total, links = 0.0, np.zeros((n, m))
    for remembered in range(n):  # where a first word of no source remembers
        for choice in product(range(n + 1), repeat=m):
            if choice[0] != n and remembered != 0:
                continue
            p, before = 1.0, remembered
            for j, a in enumerate(choice):
                word = pair.target[j]
                if a == n:
                    p *= model.null * (1 / n if j == 0 else 1.0) * model.table.get(("", word), 1e-12)
                else:
                    if model.kind == "ibm1" or j == 0:
                        move = 1 / n
                    else:
                        move = max(model.jump[min(max(a - before, -REACH), REACH) + REACH], 1e-12)
                    p *= (1 - model.null) * move * model.table.get((pair.source[a], word), 1e-12)
                    before = a
            total += p
            for j, a in enumerate(choice):
                if a < n:
                    links[a, j] += p
    return total, links / total


@pytest.mark.parametrize("kind", ["ibm1", "hmm"])
def test_posteriors_are_those_of_all_alignments(kind: Kind) -> None:
    pairs, _ = made_up(40, 3)
    model = AlignmentHMM(kind=kind)
    for _ in range(3):
        model.learn(pairs)
    for pair in [p for p in pairs if len(p.source) <= 4 and len(p.target) <= 4][:8]:
        likelihood, links = brute(model, pair)
        assert model.log_likelihood(pair) == pytest.approx(log(likelihood))
        np.testing.assert_allclose(model.posteriors(pair), links, atol=1e-9)


def test_the_chain_of_the_library_has_the_same_posteriors() -> None:
    pairs, _ = made_up(40, 5)
    model = AlignmentHMM()
    for _ in range(3):
        model.learn(pairs)
    for pair in pairs[:10]:
        chain = model.chain(pair)
        n = len(pair.source)
        assert exp(float(chain.log_partition()[0])) == pytest.approx(exp(model.log_likelihood(pair)))
        np.testing.assert_allclose(chain.marginals().unary[:, :n].T, model.posteriors(pair), atol=1e-9)
