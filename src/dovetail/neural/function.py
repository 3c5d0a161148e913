"""Exact inference behind autograd: what every structure sums over, with the gradients that torch asks for.

The gradient of log Z is the marginals, that of the marginals is their covariance, which ``jvp`` multiplies by. So
nothing of a dynamic program is recorded: a loss on any structure back-propagates into whatever made its potentials.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dovetail.errors import InputError
from dovetail.neural.extra import torch
from dovetail.structures.contract import Floats, Structure, mapped, tables
from dovetail.structures.ragged import Groups, Ragged

Tensor = torch.Tensor
Make = Callable[..., Structure[Any, Any]]
"""A structure from its tables of potentials, in order, as arrays."""
Loss = Callable[[Any, Any, Any], tuple[float, Any]]
"""As in ``learning.losses``: a number and the slope of the potentials."""
Count = Callable[[Any, Any], Any]
"""Counts of parts from a structure and one like it whose potentials are a direction."""


def array_of(table: Tensor, copy: bool = False) -> Floats:
    """A tensor as an array of doubles: itself if it is one of this machine's memory, unless a copy is wanted."""
    found = np.ascontiguousarray(table.detach().to("cpu", torch.float64).numpy())
    return found.copy() if copy and table.dtype == torch.float64 else found


def tensor_like(array: Any, like: Tensor) -> Tensor:
    """An array as a tensor of the kind and the device of another."""
    return torch.from_numpy(np.ascontiguousarray(array)).to(like.device, like.dtype)


def log_partition(make: Make, given: tuple[Tensor, ...]) -> Tensor:
    """log Z of every sentence, [n]; its gradients may themselves be differentiated."""
    found: Tensor = _LogPartition.apply(make, *given)
    return found


def marginals(make: Make, given: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    """The expected counts of all parts, table by table; they can be differentiated once."""
    found: tuple[Tensor, ...] = _Counts.apply(make, None, None, *given)
    return found


def loss(make: Make, given: tuple[Tensor, ...], what: Loss, gold: Any, allowed: Any = None) -> Tensor:
    """A loss, summed over all sentences: a number, which can be differentiated once."""
    found: Tensor = _Loss.apply(make, what, gold, allowed, *given)
    return found


class _LogPartition(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, make: Make, *given: Tensor) -> Tensor:
        batch = make(*map(array_of, given))
        log_z, counts = batch.log_partition_and_marginals()
        ctx.make, ctx.found = make, (batch, counts)
        ctx.save_for_backward(*given)
        return tensor_like(log_z, given[0])

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Any:  # type: ignore[override]
        return None, *_Counts.apply(ctx.make, ctx.found, gradient, *ctx.saved_tensors)


class _Counts(torch.autograd.Function):
    """The sum over sentences of their expected counts, each times the weight of its sentence [n], one unless given."""

    @staticmethod
    def forward(ctx: Any, make: Make, found: Any, weight: Tensor | None, *given: Tensor) -> tuple[Tensor, ...]:
        batch, counts = found or (make(*map(array_of, given)), None)
        counts = batch.marginals() if counts is None else counts
        amount = None if weight is None else array_of(weight)
        ctx.batch, ctx.counts, ctx.amount, ctx.kinds = batch, counts, amount, given
        ctx.weight = weight
        whole = tables(weighed(batch, batch, lambda some, _: some.marginals(), amount, counts))
        return tuple(tensor_like(each, like) for each, like in zip(whole, given, strict=True))

    @staticmethod
    @torch.autograd.function.once_differentiable  # type: ignore[untyped-decorator]
    def backward(ctx: Any, *slopes: Tensor) -> Any:
        pieces = iter([array_of(slope) for slope in slopes])
        along = mapped(lambda _: next(pieces), ctx.batch.potentials)
        beside = like_with(ctx.batch, along)
        moved = weighed(ctx.batch, beside, lambda some, way: some.jvp(way.potentials), ctx.amount)
        back = [tensor_like(each, like) for each, like in zip(tables(moved), ctx.kinds, strict=True)]
        if not ctx.needs_input_grad[2]:
            return None, None, None, *back
        return None, None, tensor_like(along_sentences(ctx.batch, beside), ctx.weight), *back


class _Loss(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, make: Make, what: Loss, gold: Any, allowed: Any, *given: Tensor) -> Tensor:
        batch = make(*(array_of(table, copy=True) for table in given))  # a loss may use the potentials up
        value, slope = what(batch, gold, allowed)
        if not np.isfinite(value):
            raise InputError("the loss is not finite: a right answer has a part that the potentials forbid")
        pairs = zip(tables(batch.narrowed(slope)), given, strict=True)
        ctx.slopes = [tensor_like(each, table) for each, table in pairs]
        return given[0].new_tensor(value)

    @staticmethod
    @torch.autograd.function.once_differentiable  # type: ignore[untyped-decorator]
    def backward(ctx: Any, gradient: Tensor) -> Any:  # type: ignore[override]
        return None, None, None, None, *(gradient.to(slope.dtype) * slope for slope in ctx.slopes)


def like_with(batch: Any, direction: Any) -> Any:
    """A structure whose potentials are a direction: to take some sentences of it, as of the structure itself."""
    return batch.with_potentials(direction)


def weighed(batch: Any, beside: Any, count: Count, amount: Floats | None, whole: Any = None) -> Any:
    """The sum of the counts of all sentences, each times an amount [n] of its own.

    Tables that sentences share hold sums over all of them: for these, sentences of one amount are counted together.
    """
    if isinstance(batch, Groups):
        own = [None if amount is None else amount[batch.group == g] for g in range(len(batch.groups))]
        pairs = zip(batch.groups, beside.groups, own, strict=True)
        return tuple(weighed(each, other, count, some) for each, other, some in pairs)
    whole = count(batch, beside) if whole is None else whole
    if amount is None or not len(amount):
        return whole
    if (amount == amount[0]).all():
        return mapped(lambda table: table * amount[0], whole)
    if not isinstance(batch, Ragged):  # potentials of every sentence for itself
        return tuple(mapped(lambda table, by=by: table * by, own) for own, by in zip(whole, amount, strict=True))
    found = {}
    for name, table in whole._asdict().items():
        if name not in batch.shared and len(table):
            by = np.repeat(amount, np.diff(batch._cuts(name)))
            found[name] = table * by.reshape(-1, *[1] * (table.ndim - 1))
    shared = {name: np.zeros_like(getattr(whole, name)) for name in batch.shared}
    for value in np.unique(amount[amount != 0.0]) if shared else ():
        some = np.flatnonzero(amount == value)
        part = count(batch.take(some), beside.take(some))
        for name, total in shared.items():
            total += value * getattr(part, name)
    return whole._replace(**found, **shared)


def along_sentences(batch: Any, beside: Any) -> Floats:
    """How fast log Z of each sentence rises along a direction, [n]."""
    every = ((batch.take(one), beside.take(one)) for one in np.arange(len(batch))[:, None])
    return np.array(
        [
            sum(float((a * b).sum()) for a, b in zip(tables(own.marginals()), tables(way.potentials), strict=True))
            for own, way in every
        ]
    )
