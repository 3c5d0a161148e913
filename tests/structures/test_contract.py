"""Every structure through every method of the contract, against all of its answers written out."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from dovetail.errors import InputError
from dovetail.structures.contract import Parts, Structure, mapped, tables
from tests.structures.cases import CASES, Enumerated, flat

every = pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
some = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
few = settings(some, max_examples=15)
MILD = {"max_scale": 5.0, "masks": (0.0,)}


def twins(case, batch):
    return [Enumerated(case, batch, n) for n in range(len(batch))]


def size(truth):
    """How large scores are: what is small beside them may be lost to rounding."""
    return max([1.0, *(np.abs(twin.scores[np.isfinite(twin.scores)]).max(initial=1.0) for twin in truth)])


def total(vectors):
    return np.sum(list(vectors), axis=0)


def copied(batch):
    return batch.with_potentials(mapped(np.copy, batch.potentials))


def moved(batch, direction, step):
    return batch.with_potentials(mapped(lambda part, change: part + step * change, batch.potentials, direction))


def random_direction(batch, rng):
    """Numbers, but what is not a number among the potentials, and so never read, is none here either."""
    return mapped(lambda part: np.where(np.isnan(part), np.nan, rng.normal(size=part.shape)), batch.potentials)


def random_answer(case, batch, truth, rng):
    """Any answer, and the rows of the twins that it is made of."""
    rows = [int(rng.integers(len(twin.keys))) for twin in truth]
    return case.answer(batch, [twin.keys[row] for twin, row in zip(truth, rows, strict=True)]), rows


@every
@some
@given(st.data())
def test_log_partition_and_marginals(case, data):
    batch, _ = data.draw(case.batches())
    assert isinstance(batch, Structure)
    truth = twins(case, batch)
    log_z, marginals = batch.log_partition_and_marginals()
    assert_allclose(log_z, [twin.log_partition() for twin in truth], rtol=1e-12, atol=1e-10)
    assert_allclose(batch.log_partition(), log_z, rtol=1e-14)
    assert_allclose(flat(marginals), total(twin.marginals() for twin in truth), atol=1e-10 + 1e-12 * size(truth))
    assert [part.shape for part in tables(marginals)] == [part.shape for part in tables(batch.potentials)]
    assert all(map(np.array_equal, tables(batch.marginals()), tables(marginals)))
    assert batch.possible().tolist() == [twin.log_partition() > -np.inf for twin in truth]
    again, in_place = copied(batch).log_partition_and_marginals(in_place=True)
    assert np.array_equal(again, log_z)
    assert all(map(np.array_equal, tables(in_place), tables(marginals)))


@every
@some
@given(st.data())
def test_best_and_kbest(case, data):
    batch, _ = data.draw(case.batches())
    best, (ranked, scores) = batch.best(), batch.kbest(6)
    assert scores.shape == (len(batch), 6)
    tolerance = {"rtol": 1e-10, "atol": 1e-9}
    scores_again = np.transpose([batch.score(answer) for answer in ranked])
    best_score = batch.score(best)
    for n, twin in enumerate(twins(case, batch)):
        expected = np.sort(twin.scores[twin.scores > -np.inf])[::-1][:6]
        assert_allclose(best_score[n], twin.scores.max(initial=-np.inf), **tolerance)
        assert_allclose(scores[n], np.append(expected, np.full(6 - len(expected), -np.inf)), **tolerance)
        found = 6 if twin.counts.any() else 1  # there is no way to say that an empty sentence has no second answer
        assert_allclose(scores_again[n, :found], scores[n, :found], **tolerance)
        keys = [case.key(batch, answer, n) for answer in ranked[: len(expected)]]
        assert len(set(keys)) == len(keys)
        assert set(keys) <= set(twin.keys)


@every
@some
@given(st.data())
def test_score_and_counts(case, data):
    batch, rng = data.draw(case.batches())
    truth = twins(case, batch)
    answer, rows = random_answer(case, batch, truth, rng)
    expected = [twin.scores[row] for twin, row in zip(truth, rows, strict=True)]
    assert_allclose(batch.score(answer), expected, rtol=1e-10, atol=1e-9)
    counts = batch.indicator(answer)
    assert np.array_equal(flat(counts), total(twin.counts[row] for twin, row in zip(truth, rows, strict=True)))
    start = random_direction(batch, rng)
    left = batch.subtract(mapped(np.copy, start), answer)
    assert_allclose(flat(left), flat(start) - flat(counts), atol=1e-12)


@every
@few
@given(st.data())
def test_some_sentences_answer_as_they_did_among_all(case, data):
    batch, rng = data.draw(case.batches())
    which = rng.integers(len(batch), size=3)
    some = batch.take(which)
    assert len(some) == 3
    assert np.array_equal(some.log_partition(), batch.log_partition()[which])
    assert np.array_equal(some.kbest(3)[1], batch.kbest(3)[1][which])


@every
@few
@given(st.data())
def test_sentences_in_another_order_have_the_same_answers(case, data):
    batch, rng = data.draw(case.batches())
    order = rng.permutation(len(batch))
    permuted = batch.take(order)
    log_z, marginals = permuted.log_partition_and_marginals()
    assert np.array_equal(log_z, batch.log_partition()[order])
    assert_allclose(permuted.entropy(), batch.entropy()[order], rtol=1e-12, atol=1e-8)
    back = permuted.with_potentials(marginals).take(np.argsort(order)).potentials
    assert_allclose(flat(back), flat(batch.marginals()), rtol=1e-12, atol=1e-14)  # shared tables are added up anew
    (ranked, scores), (permuted_ranked, permuted_scores) = batch.kbest(4), permuted.kbest(4)
    assert np.array_equal(permuted_scores, scores[order])
    for rank, (answer, permuted_answer) in enumerate(
        zip([*ranked, batch.best()], [*permuted_ranked, permuted.best()], strict=True)
    ):
        for i, n in enumerate(order):
            if scores[n, rank % 4] > -np.inf:
                assert case.key(permuted, permuted_answer, i) == case.key(batch, answer, n)


@every
@few
@given(st.data())
def test_marginals_sum_as_the_parts_of_every_answer_do(case, data):
    batch, rng = data.draw(case.batches())
    truth, marginals, possible = twins(case, batch), flat(batch.marginals()), batch.possible()
    for change, totals in case.conserved(batch, rng):
        for twin, gain in zip(truth, totals, strict=True):
            assert_allclose(twin.counts @ flat(change), gain, atol=1e-9)
        assert_allclose(marginals @ flat(change), totals[possible].sum(), atol=1e-9 + 1e-11 * size(truth))


def assert_only_log_z_moves(case, batch, change, totals):
    """Assert that a change of the potentials adds totals [n] to log Z and to all scores, and does nothing else."""
    shifted, possible = moved(batch, change, 1.0), batch.possible()
    assert shifted.possible().tolist() == possible.tolist()
    assert_allclose(shifted.log_partition(), batch.log_partition() + totals, rtol=1e-9, atol=1e-8)
    assert_allclose(flat(shifted.marginals()), flat(batch.marginals()), atol=1e-8)
    assert_allclose(shifted.entropy(), batch.entropy(), atol=1e-8)
    (ranked, scores), (shifted_ranked, shifted_scores) = batch.kbest(4), shifted.kbest(4)
    assert_allclose(shifted_scores, scores + totals[:, None], rtol=1e-9, atol=1e-8)
    best, shifted_best = batch.best(), shifted.best()
    for n in np.flatnonzero(possible):
        # Of answers that score the same, rounding may change the order.
        apart = scores[n, :-1] > scores[n, 1:] + 1e-6
        for i in range(3):
            if apart[i] and all(apart[max(i - 1, 0) : i]):
                assert case.key(shifted, shifted_ranked[i], n) == case.key(batch, ranked[i], n)
        if apart[0]:
            assert case.key(shifted, shifted_best, n) == case.key(batch, best, n)


def combined_law(case, batch, rng):
    """Return all laws of a batch as one, each a random number of times: the change, and how much answers gain: [n]."""
    change, totals = mapped(np.zeros_like, batch.potentials), np.zeros(len(batch))
    for law, gain in case.conserved(batch, rng):
        times = rng.normal()
        change, totals = mapped(lambda a, b, times=times: a + times * b, change, law), totals + times * gain
    return change, totals


@every
@few
@given(st.data())
def test_what_every_answer_has_alike_moves_log_z_and_nothing_else(case, data):
    batch, rng = data.draw(case.batches(max_scale=5.0))
    assert_only_log_z_moves(case, batch, *combined_law(case, batch, rng))


@every
def test_laws_hold_of_large_batches(case):
    rng = np.random.default_rng(2)
    batch = case.large(rng)
    marginals = flat(batch.marginals())
    for change, totals in case.conserved(batch, rng):
        assert_allclose(marginals @ flat(change), totals.sum(), rtol=1e-9, atol=1e-7)
    assert_only_log_z_moves(case, batch, *combined_law(case, batch, rng))


@every
@few
@given(st.data())
def test_a_number_on_one_part_multiplies_its_odds(case, data):
    """Where answers differ in a part, c on it raises its log odds by c, and log Z by the log of E[exp(c * count)]."""
    batch, rng = data.draw(case.batches(max_scale=5.0))
    possible, marginals = batch.possible(), batch.marginals()
    for parts, _ in case.parts(batch):
        if len(parts):
            k, amount = int(rng.integers(len(parts))), 2.0 * rng.normal()
            entry = parts.entry[parts.ptr[k] : parts.ptr[k + 1]]
            part = Parts(parts.table, entry, np.array([0, len(entry)]))
            [p], tilted = batch.read(marginals, part), batch.plus(part, [amount])
            gain = tilted.log_partition()[possible] - batch.log_partition()[possible]
            mean = 1.0 - p + p * np.exp(amount)
            assert_allclose(gain.sum(), np.log(mean), atol=1e-9)
            assert np.count_nonzero(np.abs(gain) > 1e-9) <= 1
            assert_allclose(tilted.read(tilted.marginals(), part), p * np.exp(amount) / mean, atol=1e-9)


@every
@settings(some, max_examples=6, derandomize=True)
@given(st.data())
def test_samples_are_as_frequent_as_they_are_probable(case, data):
    batch, _ = data.draw(case.batches(max_scale=5.0))
    truth, draws = twins(case, batch), 2000
    if not all(batch.possible()):
        impossible = int(np.argmin(batch.possible()))
        with pytest.raises(InputError, match=f"sentence {impossible}: "):
            batch.sample(1, np.random.default_rng(0))
        return
    drawn = batch.sample(draws, np.random.default_rng(5))
    for n, twin in enumerate(truth):
        seen = Counter(case.key(batch, answer, n) for answer in drawn)
        expected = draws * twin.probabilities()
        observed = np.array([seen[key] for key in twin.keys])
        assert observed.sum() == draws
        assert not observed[expected == 0].any()
        common = expected > 5
        chi_square = ((observed - expected)[common] ** 2 / expected[common]).sum()
        # Mean is the degrees of freedom d, variance 2 d: five deviations off would be a bug.
        assert chi_square < common.sum() + 5 * np.sqrt(2 * common.sum())


@every
def test_samples_of_a_large_batch_converge_to_marginals(case):
    """For any weights of parts, samples have the mean that marginals give, and the variance that ``jvp`` gives."""
    rng, draws = np.random.default_rng(3), 100
    batch = case.large(rng)
    drawn, marginals = batch.sample(draws, np.random.default_rng(4)), flat(batch.marginals())
    # With the potentials as weights the sums are scores, whose mean is log Z less the entropy.
    for direction in (batch.potentials, random_direction(batch, rng), random_direction(batch, rng)):
        sums = [batch.with_potentials(direction).score(answer).sum() for answer in drawn]
        mean, variance = flat(direction) @ marginals, flat(direction) @ flat(batch.jvp(direction))
        # Both are nearly normal, for 100 draws of many sentences; five deviations off would be a bug.
        assert abs(np.mean(sums) - mean) < 5 * np.sqrt(variance / draws)
        assert abs(np.var(sums) / variance - 1) < 5 * np.sqrt(2 / draws)
        if direction is batch.potentials:
            assert_allclose(mean, (batch.log_partition() - batch.entropy()).sum(), rtol=1e-9)


@every
@some
@given(st.data())
def test_entropy(case, data):
    batch, _ = data.draw(case.batches())
    truth = twins(case, batch)
    assert_allclose(batch.entropy(), [twin.entropy() for twin in truth], atol=1e-9 + 1e-11 * size(truth))


@every
@some
@given(st.data())
def test_jvp_is_a_covariance(case, data):
    batch, rng = data.draw(case.batches())
    truth, direction = twins(case, batch), random_direction(batch, rng)
    expected = total(twin.covariance(flat(direction)) for twin in truth)
    assert_allclose(flat(batch.jvp(direction)), expected, atol=1e-9 + 1e-11 * size(truth))


@every
@few
@given(st.data())
def test_derivatives_by_finite_differences(case, data):
    batch, rng = data.draw(case.batches(max_scale=1.0, masks=(0.0,)))
    direction, step = random_direction(batch, rng), 1e-5
    ahead, behind = moved(batch, direction, step), moved(batch, direction, -step)
    slope = (ahead.log_partition() - behind.log_partition()).sum() / (2 * step)
    marginals = flat(batch.marginals())
    assert_allclose(slope, marginals @ np.nan_to_num(flat(direction)), rtol=1e-7, atol=1e-7)
    change = (flat(ahead.marginals()) - flat(behind.marginals())) / (2 * step)
    assert_allclose(flat(batch.jvp(direction)), change, rtol=1e-6, atol=1e-7)


@every
@few
@given(st.data())
def test_a_direction_must_fit_and_be_finite(case, data):
    batch, rng = data.draw(case.batches(**MILD))
    direction = random_direction(batch, rng)
    with pytest.raises(InputError, match="the shapes of the potentials"):
        batch.jvp(mapped(lambda part: np.zeros((2 * len(part) + 2, *part.shape[1:])), direction))
    if flat(batch.marginals()).any():
        with pytest.raises(InputError, match="must be finite"):
            batch.jvp(mapped(lambda part: part - np.inf, direction))


@every
@some
@given(st.data())
def test_restrict(case, data):
    batch, rng = data.draw(case.batches(max_scale=100.0, masks=(0.0,)))
    allowed = case.mask(mapped(lambda part: rng.random(part.shape) < 0.7, batch.potentials))
    restricted = batch.restrict(allowed)
    kept = case.kept(restricted)
    assert all(map(np.array_equal, tables((case.mask(kept),)), tables((allowed,))))
    log_z, marginals = restricted.log_partition_and_marginals()
    assert not flat(marginals)[~flat(kept)].any()
    for n, twin in enumerate(twins(case, batch)):
        left = twin.scores[~twin.counts[:, ~flat(kept)].any(1)]
        assert_allclose(log_z[n], np.logaddexp.reduce(left, initial=-np.inf), rtol=1e-12, atol=1e-10)


@every
@few
@given(st.data())
def test_an_impossible_sentence_spoils_no_other(case, data):
    batch, rng = data.draw(case.batches(**MILD))
    truth = twins(case, batch)
    several = [n for n, twin in enumerate(truth) if twin.counts.any() and twin.counts.any(1).all()]
    if not several:
        return
    gone = several[0]
    used = truth[gone].counts.any(0)
    free = flat(batch.marginals())
    vector, ends = ~used, np.cumsum([part.size for part in tables(batch.potentials)])[:-1]
    pieces = iter(np.split(vector, ends))
    allowed = case.mask(mapped(lambda part: next(pieces).reshape(part.shape), batch.potentials))
    restricted = batch.restrict(allowed)
    log_z, marginals = restricted.log_partition_and_marginals()
    assert log_z[gone] == -np.inf
    others = [n for n in range(len(batch)) if n != gone]
    assert_allclose(log_z[others], batch.log_partition()[others], rtol=1e-12, atol=1e-12)
    expected = total([np.zeros_like(free), *(truth[n].marginals() for n in others)])
    assert_allclose(flat(marginals), expected, rtol=1e-9, atol=1e-10)
    assert not restricted.possible()[gone]
    assert restricted.entropy()[gone] == 0.0
    best, (ranked, scores) = restricted.best(), restricted.kbest(2)
    assert restricted.score(best)[gone] == -np.inf
    assert (scores[gone] == -np.inf).all()
    assert all(restricted.score(answer)[gone] == -np.inf for answer in ranked)
    rows = {n: truth[n].keys.index(case.key(batch, best, n)) for n in others}
    counts = total([np.zeros_like(free), *(truth[n].counts[row] for n, row in rows.items())])
    assert_allclose(flat(restricted.indicator(best)), counts)
    assert np.isfinite(flat(restricted.jvp(random_direction(batch, rng)))).all()
    with pytest.raises(InputError, match=f"sentence {gone}: "):
        restricted.sample(1, rng)


@every
@some
@given(st.data())
def test_a_cost_for_everything_else(case, data):
    batch, rng = data.draw(case.batches(**MILD))
    truth = twins(case, batch)
    gold, right = random_answer(case, batch, truth, rng)
    other, rows = random_answer(case, batch, truth, rng)
    costly = batch.with_cost(gold, 2.5)
    wrong = [case.wrong(twin.keys[g], twin.keys[o]) for twin, g, o in zip(truth, right, rows, strict=True)]
    assert_allclose(costly.score(gold), batch.score(gold), rtol=1e-10, atol=1e-9)
    assert_allclose(costly.score(other), batch.score(other) + 2.5 * np.array(wrong), rtol=1e-10, atol=1e-9)


@every
@few
@given(st.data())
def test_scaled(case, data):
    batch, _ = data.draw(case.batches())
    expected = [np.logaddexp.reduce(0.5 * twin.scores, initial=-np.inf) for twin in twins(case, batch)]
    assert_allclose(batch.scaled(0.5).log_partition(), expected, rtol=1e-12, atol=1e-10)


@every
@some
@given(st.data())
def test_parts_are_read_and_written_by_what_they_mean(case, data):
    batch, rng = data.draw(case.batches(max_scale=5.0))
    truth, marginals = twins(case, batch), batch.marginals()
    answer, rows = random_answer(case, batch, truth, rng)
    for parts, has in case.parts(batch):
        amount = rng.normal(size=len(parts))
        expected, gain = np.zeros(len(parts)), np.zeros(len(batch))
        for n, (twin, row) in enumerate(zip(truth, rows, strict=True)):
            each = np.array([has(n, key) for key in twin.keys]).reshape(len(twin.keys), len(parts))
            expected += twin.probabilities() @ each
            gain[n] = amount @ each[row]
        assert_allclose(batch.read(marginals, parts), expected, atol=1e-9)
        assert_allclose(batch.plus(parts, amount).score(answer), batch.score(answer) + gain, atol=1e-9)


@every
@settings(few, max_examples=1)
@given(st.data())
def test_parts_that_a_structure_lacks_are_refused(case, data):
    batch, _ = data.draw(case.batches(**MILD))
    calls = {"token": batch.token, "span": batch.span, "arc": batch.arc}
    for name, arguments in (("token", 3), ("span", 4), ("arc", 3)):
        if not getattr(case, name):
            with pytest.raises(InputError, match=r"ha(s|ve) no "):
                calls[name](*([[0]] * arguments))


@every
@settings(few, max_examples=5)
@given(st.data())
def test_parts_outside_their_sentence_are_refused(case, data):
    batch, _ = data.draw(case.batches(**MILD))
    some = [n for n, twin in enumerate(twins(case, batch)) if twin.counts.any()]
    fitting = {"token": (0, 0), "span": (0, 1, 0), "arc": (0, 1)}
    for name, where in fitting.items():
        if getattr(case, name) and some:
            right = (some[0], *where)
            wrong = [(i, value) for i in range(len(right)) for value in (-2, 1000)]
            for i, value in [*wrong, *([(2, 0)] if name == "arc" else [])]:
                with pytest.raises(InputError, match="counted from 0"):
                    getattr(batch, name)(*([value if k == i else each] for k, each in enumerate(right)))


@every
@pytest.mark.parametrize("seed", [0, 1])
def test_any_number_of_threads_gives_the_same_bits(case, seed):
    rng = np.random.default_rng(seed)
    alone = case.large(rng)
    direction = random_direction(alone, rng)

    def answers(batch):
        best, (ranked, scores) = batch.best(), batch.kbest(2)
        drawn = batch.sample(2, np.random.default_rng(0))
        sums = [batch.log_partition(), batch.entropy(), batch.score(best), scores]
        keys = [case.key(batch, each, n) for each in (best, *ranked, *drawn) for n in range(0, len(batch), 7)]
        return [*sums, *tables(batch.marginals()), *tables(batch.jvp(direction))], keys

    expected, keys = answers(alone)
    for threads in (2, 3):
        found, found_keys = answers(case.threaded(alone, threads))
        assert all(map(np.array_equal, found, expected))
        assert found_keys == keys
