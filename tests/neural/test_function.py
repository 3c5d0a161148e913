"""Gradients of exact inference, against differences; and sums on devices, against the kernels."""

from __future__ import annotations

import numpy as np
import pytest

from tests.extras import NEEDS

pytest.importorskip("torch", reason=NEEDS["torch"])

import torch
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import dovetail.torch
from dovetail.errors import InputError
from dovetail.neural import device
from dovetail.structures.contract import mapped, tables
from dovetail.structures.semimarkov import SemiMarkovBatch, SemiMarkovPotentials
from tests.structures.cases import CASES, Enumerated

few = settings(max_examples=4, deadline=None, suppress_health_check=list(HealthCheck), phases=[Phase.generate])
every = pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
MILD = {"max_scale": 1.0, "masks": (0.0,)}


def drawn(case, data):
    """A small batch whose potentials are all numbers, with tensors for them; and what makes it again of arrays."""
    batch, rng = data.draw(case.batches(**MILD))
    batch = batch.with_potentials(mapped(lambda table: np.where(np.isnan(table), 0.0, table), batch.potentials))

    def kind(potentials, **how):
        return batch.with_potentials(potentials)

    given = [torch.tensor(table, requires_grad=True) for table in tables(batch.potentials)]
    return batch, rng, kind, given


def check(function, given, again=False):
    """Gradients against differences along random directions; torch can not look at empty tables."""
    some = [i for i, table in enumerate(given) if table.numel()]
    if not some:
        return

    def of_some(*numbers):
        own = list(given)
        for i, table in zip(some, numbers, strict=True):
            own[i] = table
        return function(*own)

    look = torch.autograd.gradgradcheck if again else torch.autograd.gradcheck
    look(of_some, [given[i] for i in some], fast_mode=True)


def exact(batch, kind, given):
    pieces = iter(given)
    return dovetail.torch.Exact(kind, mapped(lambda _: next(pieces), batch.potentials))


@every
@few
@given(st.data())
def test_gradients_of_log_partition_and_of_marginals(case, data):
    batch, rng, kind, given = drawn(case, data)
    weight = torch.tensor(rng.choice([0.0, 1.0, 2.0], len(batch)))  # each sentence has its own
    check(lambda *t: (exact(batch, kind, t).log_partition() * weight).sum(), given)

    ways = [torch.tensor(rng.normal(size=table.shape)) for table in given]

    def along(*t):
        found = tables(exact(batch, kind, t).marginals())
        return sum((each * way).sum() for each, way in zip(found, ways, strict=True))

    check(along, given)
    check(lambda *t: exact(batch, kind, t).log_partition(), given, again=True)


@every
@pytest.mark.parametrize("name", ["likelihood", "softmax-margin"])
@settings(few, max_examples=2)
@given(data=st.data())
def test_gradients_of_losses(case, name, data):
    batch, rng, kind, given = drawn(case, data)
    twins = [Enumerated(case, batch, n) for n in range(len(batch))]
    if not all(twin.keys for twin in twins):
        return
    gold = case.answer(batch, [twin.keys[int(rng.integers(len(twin.keys)))] for twin in twins])
    before = [table.detach().clone() for table in given]
    check(lambda *t: exact(batch, kind, t).loss(gold, name), given)
    assert all(torch.equal(a, b) for a, b in zip(given, before, strict=True))  # not used up


def test_perceptron_and_best():
    scores, gold = torch.randn(5, 3, requires_grad=True), np.array([0, 1, 2, 0, 1])
    chains = dovetail.torch.chain(scores, torch.randn(3, 3), [0, 2, 5])
    best = chains.best()
    chains.loss(gold, "perceptron").backward()
    expected = np.zeros((5, 3))
    np.add.at(expected, (np.arange(5), best), 1.0)
    np.add.at(expected, (np.arange(5), gold), -1.0)
    assert np.array_equal(scores.grad.numpy(), expected)


def random_chains(rng, dtype, scale=2.0):
    count, most, labels = rng.integers(1, 6), int(rng.integers(1, 20)), int(rng.integers(1, 5))
    lengths = torch.tensor(rng.integers(0, most + 1, count))
    shapes = [(count, most, labels), (labels, labels), (labels,), (labels,)]
    given = [torch.tensor(rng.normal(size=shape) * scale).to(dtype) for shape in shapes]
    if labels > 2:
        given[1][0, 1] = -torch.inf
    return [table.requires_grad_() for table in given], lengths


@pytest.mark.parametrize("tree", [False, True])
@pytest.mark.parametrize(("dtype", "near"), [(torch.float64, 1e-10), (torch.float32, 1e-5)])
def test_chains_on_a_device_are_those_of_the_kernels(tree, dtype, near):
    rng = np.random.default_rng(1)
    for _ in range(15):
        given, lengths = random_chains(rng, dtype)
        weight = torch.tensor(rng.normal(size=len(lengths))).to(dtype)
        sums = device.chain_sums(*(table.detach() for table in given), lengths, tree)
        assert sums.sound
        found = device.chain_log_partition(*given, lengths, sums)
        flat = given[0][device.inside(lengths, given[0].shape[1])]
        offsets = np.cumsum([0, *lengths.tolist()])
        chains = dovetail.torch.chain(flat, given[1], offsets, *given[2:])
        wanted = chains.log_partition()
        compare(found, wanted, weight, given, near)
        tags = torch.tensor(rng.integers(given[1].shape[0], size=given[0].shape[:2]))
        tags[:, 1::2] = tags[:, 0::2][:, : tags[:, 1::2].shape[1]]  # never what is forbidden
        tags = tags.clamp(max=0) if given[1].isinf().any() else tags
        loss = device.chain_loss(*given, lengths, sums, tags).sum()
        gold = tags[device.inside(lengths, given[0].shape[1])].numpy().astype(np.int32)
        size = max(1.0, float(wanted.detach().abs().max()))  # the loss is a small difference of large numbers
        compare(loss, chains.loss(gold), torch.ones((), dtype=dtype), given, near * size)


def compare(found, wanted, weight, given, near):
    near = {"rtol": near, "atol": near * max(1.0, float(wanted.detach().abs().max()))}
    torch.testing.assert_close(found, wanted, **near)
    ours = torch.autograd.grad((found * weight).sum(), given, retain_graph=True)
    theirs = torch.autograd.grad((wanted * weight).sum(), given, retain_graph=True)
    for one, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(one, other, **near)


@pytest.mark.parametrize("tree", [False, True])
def test_a_lost_path_is_noticed(tree):
    # Two labels that never change, of equal scores in all, each of which is hopeless half of the time.
    unary = torch.zeros(1, 8, 2)
    unary[0, :4, 0], unary[0, 4:, 1] = -40.0, -40.0
    stay = torch.tensor([[0.0, -torch.inf], [-torch.inf, 0.0]])
    none, lengths = torch.zeros(2), torch.tensor([8])
    assert not device.chain_sums(unary, stay, none, none, lengths, tree).sound
    assert device.chain_sums(unary / 40, stay, none, none, lengths, tree).sound


@pytest.mark.parametrize(("dtype", "near"), [(torch.float64, 1e-10), (torch.float32, 1e-5)])
def test_segmentations_on_a_device_are_those_of_the_kernels(dtype, near):
    rng = np.random.default_rng(2)
    for _ in range(15):
        (unary, *shared), lengths = random_chains(rng, dtype)
        deep, labels = int(rng.integers(1, 5)), len(shared[1])
        longest = torch.tensor(np.append(deep, rng.integers(1, deep + 1, labels - 1)))
        segment = torch.tensor(rng.normal(size=(*unary.shape[:2], deep, labels))).to(dtype).requires_grad_()
        given, weight = [segment, *shared], torch.tensor(rng.normal(size=len(lengths))).to(dtype)
        found = device.segment_log_partition(*given, lengths, longest)
        flat = segment[device.inside(lengths, segment.shape[1])]
        potentials = SemiMarkovPotentials(flat, *shared)
        offsets = np.cumsum([0, *lengths.tolist()])
        cut = dovetail.torch.Exact(SemiMarkovBatch, potentials, offsets=offsets, lengths=longest.numpy())
        compare(found, cut.log_partition(), weight, given, near)


def test_a_layer_for_padded_scores():
    torch.manual_seed(1)
    crf, scores = dovetail.torch.ChainCRF(["O", "B-X", "I-X"]), torch.randn(2, 4, 3, requires_grad=True)
    lengths, tags = torch.tensor([4, 2]), torch.tensor([[1, 2, 0, 1], [0, 1, 2, 2]])
    loss = crf.loss(scores, tags, lengths)
    loss.backward()
    assert scores.grad[1, 2:].abs().sum() == 0
    assert crf.transition.grad[0, 2] == 0  # I- after O is ruled out
    assert all(tag != "I-X" for tag, *_ in crf.decode(scores * 100, lengths))
    assert crf.marginals(scores, lengths).sum(-1).flatten().tolist() == pytest.approx([1, 1, 1, 1, 1, 1, 0, 0])
    assert crf.loss(scores, tags * 0 - 1, lengths).item() == pytest.approx(0.0, abs=1e-6)  # nothing is known
    assert len(crf.state_dict()) == 3
    with pytest.raises(InputError, match="expected"):
        crf.loss(scores[..., :2], tags, lengths)
    with pytest.raises(InputError, match="choose one of"):
        crf.loss(scores, tags, lengths, name="hinge")


def test_a_right_answer_that_is_forbidden_is_told():
    forbidden = torch.tensor([[0.0, -torch.inf]])
    with pytest.raises(InputError, match="forbid"):
        dovetail.torch.chain(forbidden, torch.zeros(2, 2), [0, 1]).loss(np.array([1]))


def test_tables_must_be_tensors():
    with pytest.raises(InputError, match="must be tensors, not ndarray"):
        dovetail.torch.Exact(SemiMarkovBatch, (np.zeros(3),))
