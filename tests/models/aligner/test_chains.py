"""What an aligner has learnt as chains: against all alignments of small pairs written out."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from dovetail.models.aligner.aligner import Aligner
from dovetail.models.aligner.chains import LONGEST, short_enough
from dovetail.models.aligner.sampling_kernels import REACH, jump_probabilities
from dovetail.text.bitext import Pair
from tests.models.aligner.bitext import made_up


@pytest.fixture(scope="module")
def aligner() -> Aligner:
    return Aligner(samplers=2, threads=1).fit(made_up(80, 1)[0])


def written_out(aligner: Aligner, pair: Pair, side: int) -> tuple[np.ndarray, float]:
    """The posteriors of one direction, [words, words of the other side], and log Z, from the formula itself."""
    known = aligner._known(aligner.learnt, [pair])
    counts, prior, cells = known.counts[side], known.priors[side], known.lattice[side]
    jump = jump_probabilities(counts.jump)
    n, m = len(pair[side]), len(pair[1 - side])
    cell = {
        (j, int(cells.place[x])): cells.pair[x] for j in range(m) for x in range(cells.first[j], cells.first[j + 1])
    }
    nones = float((counts.none + prior.none).sum(dtype=np.float64))

    def score(links: tuple[int, ...]) -> float:
        total, last, kind = 1.0, -1, 0
        for j, i in enumerate(links):
            if i == n:
                total *= prior.to_none * (counts.none[cells.target[j]] + prior.none) / nones
                continue
            s, both = cells.source[i], cell[j, i]
            total *= (1 - prior.to_none) * (counts.pair[both] + prior.pair[both]) / (counts.word[s] + prior.word)
            total *= jump[kind, min(i - last, REACH) + REACH]
            last, kind = i, prior.jump_class[s]
        return total * jump[kind, n - last + REACH]

    found, whole = np.zeros((m, n + 1)), 0.0
    for links in product(range(n + 1), repeat=m):
        chance = score(links)
        found[np.arange(m), list(links)] += chance
        whole += chance
    return found[:, :n] / whole, float(np.log(whole))


@pytest.mark.parametrize("number", range(4))
def test_chains_are_the_model_written_out(aligner: Aligner, number: int) -> None:
    pair = [p for p in made_up(60, 2)[0] if max(map(len, p)) <= 4][number]
    pair = Pair((*pair.source[:3], "never"), pair.target[:4])
    [chains] = aligner.chains([pair])
    assert chains is not None
    forward, log_z = written_out(aligner, pair, 0)
    backward, log_back = written_out(aligner, pair, 1)
    for found, right in zip(chains.posteriors(), (forward.T, backward), strict=True):
        np.testing.assert_allclose(found, right, rtol=1e-4, atol=1e-7)
    assert chains.forward.log_partition()[0] == pytest.approx(log_z, abs=1e-4)
    assert chains.backward.log_partition()[0] == pytest.approx(log_back, abs=1e-4)


def test_pairs_without_chains(aligner: Aligner) -> None:
    long = ("s1",) * (LONGEST + 1)
    pairs = [Pair((), ("t1x",)), Pair(("s1",), ("t1x",)), Pair(long, ("t1x",)), Pair(("s1",), ())]
    assert [own is not None for own in aligner.chains(pairs)] == [short_enough(p) for p in pairs]
    assert [short_enough(p) for p in pairs] == [False, True, False, False]
