"""Batches side by side: an aligner, whose labels are the words of another sentence and whose jumps are tied."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from dovetail.errors import InputError
from dovetail.learning.losses import LOSSES
from dovetail.scorers.transitions import Transitions
from dovetail.structures.chain import ChainBatch, ChainPotentials
from dovetail.structures.ragged import Groups
from tests.structures.cases import Enumerated, GroupsCase, flat

FURTHEST = 4  # words from one to the next: five labels at most
JUMPS = 2 * FURTHEST + 1
LENGTHS = {2: [3, 0, 4], 3: [4, 1], 5: [3]}
"""The tokens of sentences, by the number of words that they are aligned to."""
GROUP = [1, 0, 2, 0, 0, 1]


def tied(labels):
    return Transitions.tied(labels, lambda before, after: after - before + FURTHEST, JUMPS)


def aligner(jump):
    """Sentences aligned to two, three and five words, under the potentials [jumps] of a jump."""
    rng = np.random.default_rng(2)
    groups = [
        ChainBatch(
            ChainPotentials.of(rng.normal(size=(sum(lengths), labels)), tied(labels).table(jump)),
            np.concatenate([[0], np.cumsum(lengths)]),
        )
        for labels, lengths in LENGTHS.items()
    ]
    return Groups(tuple(groups), GROUP)


def slope(counts):
    """The counts of jumps from those of transitions: the gradient of the jump parameters."""
    return sum(tied(own.unary.shape[1]).gradient(own.transition) for own in counts)


def test_an_aligner_with_label_sets_that_differ_and_jumps_that_are_tied():
    jump = np.random.default_rng(1).normal(size=JUMPS)
    batch = aligner(jump)
    log_z, marginals = batch.log_partition_and_marginals()
    truth = [Enumerated(GroupsCase(), batch, n) for n in range(len(batch))]
    assert [len(twin.keys) for twin in truth] == [81, 8, 125, 1, 16, 3]
    assert_allclose(log_z, [twin.log_partition() for twin in truth], rtol=1e-12)
    assert_allclose(flat(marginals), np.sum([twin.marginals() for twin in truth], axis=0), atol=1e-12)
    jumps = np.zeros(JUMPS)
    for twin in truth:
        for key, p in zip(twin.keys, twin.probabilities(), strict=True):
            np.add.at(jumps, np.diff(key).astype(int) + FURTHEST, p)
    assert_allclose(slope(marginals), jumps, atol=1e-12)
    step = 1e-5
    for i, right in enumerate(jumps):
        ahead, behind = (aligner(jump + sign * step * np.eye(JUMPS)[i]).log_partition().sum() for sign in (1, -1))
        assert_allclose((ahead - behind) / (2 * step), right, atol=1e-8)


@pytest.mark.parametrize("loss", LOSSES)
def test_losses_learn_tied_jumps(loss):
    jump, step = np.random.default_rng(1).normal(size=JUMPS), 1e-6
    gold = aligner(jump).apart(np.random.default_rng(3).integers(0, 2, 15))
    value, counts = LOSSES[loss](aligner(jump), gold, None)
    assert value > 0.0
    for i, right in enumerate(slope(counts)):
        ahead, behind = (
            LOSSES[loss](aligner(jump + sign * step * np.eye(JUMPS)[i]), gold, None)[0] for sign in (1, -1)
        )
        assert_allclose((ahead - behind) / (2 * step), right, atol=1e-6)


def test_what_is_said_of_tokens_comes_apart_and_together_again():
    batch = aligner(np.zeros(JUMPS))
    tokens = np.arange(15)
    apart = batch.apart(tokens)
    assert [own.tolist() for own in apart] == [[4, 5, 6, 10, 11, 12, 13], [0, 1, 2, 3, 14], [7, 8, 9]]
    assert np.array_equal(batch.together(apart), tokens)
    rows = np.stack([tokens, -tokens])
    assert np.array_equal(batch.together(batch.apart(rows)), rows)


def test_groups_that_do_not_hold_the_sentences_are_refused():
    for group in ([0, 0, 0, 1, 1], [0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 3], [-1, 0, 0, 1, 1, 2]):
        with pytest.raises(InputError, match=r"the groups have \[3, 2, 1\] sentences"):
            Groups(aligner(np.zeros(JUMPS)).groups, group)
    with pytest.raises(InputError, match="numbers 5 parameters, more than 3"):
        Transitions.tied(3, lambda before, after: after - before + 2, 3)


def test_a_part_that_is_not_in_the_batch_is_refused():
    batch = aligner(np.zeros(JUMPS))
    for part in ((6, 0, 0), (-1, 0, 0), (1, 3, 0), (1, 0, 2), (3, 0, 0)):
        with pytest.raises(InputError, match="must be of the batch"):
            batch.token(*([x] for x in part))
