"""Sums over chains and segmentations on the device of the tensors: padded batches, no step of which is recorded.

Chains are summed in probability space. Forwards ``a[t] = (a[t-1] E) w[t]``, backwards ``v[t] = (v[t+1] E') w[t]``, with
``w`` and ``E`` the exponentials of scores and transitions: both are one loop over the positions of a stack of two, or,
on a GPU, a tree of products of matrices, whose depth is the logarithm of the length. Where numbers so extreme turn up
that a path was lost, the two directions disagree, and whoever asked must sum in another way.

Segmentations are summed in log space and double precision, all of their lengths at once.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from dovetail.neural.extra import torch

Tensor = torch.Tensor

TREE_LABELS = 64  # with more, products of matrices cost more than the steps that they save
TREE_NUMBERS = 1 << 27  # in the matrices of a tree
AGREES = 1e-3  # how far the logs of Z, seen from all positions, may be apart, beside their size
PAIRS = 1 << 25  # numbers in a table of all neighbours that is made at once


def inside(lengths: Tensor, most: int) -> Tensor:
    """Which positions are of a sentence, [B, most]."""
    return torch.arange(most, device=lengths.device) < lengths[:, None]


def padded(flat: Tensor, lengths: Tensor, most: int) -> Tensor:
    """Rows of sentences one after another, [N, ...], as [B, most, ...], zero where there is none."""
    out = flat.new_zeros((len(lengths), most, *flat.shape[1:]))
    out[inside(lengths, most)] = flat
    return out


class ChainSums(NamedTuple):
    """What the gradient is made of."""

    log_z: Tensor
    """``[B]``."""
    node: Tensor
    """``[B, T, L]``: the probability of every label, zero past the end."""
    left: Tensor
    """``[B, T - 1, L]``, ..."""
    right: Tensor
    """``[B, T - 1, L]``, and ..."""
    pair: Tensor
    """``[L, L]``: labels b, c at t, t + 1 have the probability ``left[t, b] * pair[b, c] * right[t, c]``."""
    sound: Tensor
    """A truth value: whether no path was lost."""


def chain_sums(
    unary: Tensor, transition: Tensor, start: Tensor, end: Tensor, lengths: Tensor, tree: bool | None = None
) -> ChainSums:
    """Forward-backward over padded chains: unary [B, T, L], transition [L, L], start and end [L], lengths [B].

    ``tree``: whether by products of matrices; unless said, on a GPU where they are not too large.
    """
    batch, most, labels = unary.shape
    if not most or not batch:
        none = unary.new_zeros(batch, max(most - 1, 0), labels)
        yes = torch.ones((), dtype=torch.bool, device=unary.device)
        return ChainSums(unary.new_zeros(batch), torch.zeros_like(unary), none, none, transition.exp(), yes)
    within, rows = inside(lengths, most), torch.arange(batch, device=unary.device)
    last = (lengths - 1).clamp(min=0)
    scores = unary.clone()
    scores[:, 0] += start
    scores[rows, last] += end
    highest = scores.amax(-1, keepdim=True)
    highest = torch.where(highest > -torch.inf, highest, 0.0)
    w = torch.where(within[..., None], (scores - highest).exp(), 1.0)
    top = transition.amax()
    top = torch.where(top > -torch.inf, top, 0.0)
    pair = (transition - top).exp()
    if tree is None:
        tree = unary.is_cuda and labels <= TREE_LABELS and 2 * batch * most * labels**2 <= TREE_NUMBERS
    a, v, size_a, size_v = (_by_tree if tree else _by_steps)(w, pair, lengths, within)
    # Seen from position t, Z is a[t] (E v[t+1]); at the last one it is the sum of a[t].
    onwards = torch.ones_like(a)
    onwards[:, :-1] = torch.where(within[:, 1:, None], v[:, 1:] @ pair.T, 1.0)
    node = a * onwards
    total = node.sum(-1)
    node = torch.where(within[..., None], node / total[..., None], 0.0)
    found = size_a[rows, last] + total[rows, last].log()
    later = torch.cat([torch.where(within[:, 1:], size_v[:, 1:], 0.0), torch.zeros_like(size_v[:, :1])], 1)
    apart = torch.where(within, total.log() + size_a + later - found[:, None], 0.0).abs()
    sound = (apart.amax(1) <= AGREES * (1.0 + found.abs())).all()
    shift = torch.where(within, highest[..., 0], 0.0).sum(1) + top * last
    left = torch.where(within[:, 1:, None], a[:, :-1] / total[:, :-1, None], 0.0)
    right = torch.where(within[:, 1:, None], v[:, 1:], 0.0)
    return ChainSums(torch.where(lengths > 0, found + shift, 0.0), node, left, right, pair, sound)


def _by_steps(w: Tensor, pair: Tensor, lengths: Tensor, within: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """a and v [B, T, L], each row with the sum 1, and the logs of what they were divided by, [B, T].

    Both directions at once: backwards is forwards over the sentences turned round.
    """
    batch, most, labels = w.shape
    place = torch.arange(most, device=w.device)
    turned = torch.where(within, lengths[:, None] - 1 - place, place)
    back = torch.gather(w, 1, turned[..., None].expand(-1, -1, labels))
    both = torch.stack([w, back]).transpose(0, 2).transpose(1, 2).contiguous()  # [T, 2, B, L]
    ways, sizes = torch.stack([pair, pair.T]), w.new_empty(most, 2, batch, 1)
    torch.sum(both[0], -1, keepdim=True, out=sizes[0])
    both[0] /= sizes[0]
    for t in range(1, most):
        here = both[t]
        here *= torch.bmm(both[t - 1], ways)
        torch.sum(here, -1, keepdim=True, out=sizes[t])
        here /= sizes[t]
    size = sizes[..., 0].log().cumsum(0).permute(1, 2, 0)  # [2, B, T]
    found = both.permute(1, 2, 0, 3)
    v = torch.gather(found[1], 1, turned[..., None].expand(-1, -1, labels))
    return found[0], v, size[0], torch.gather(size[1], 1, turned)


def _by_tree(w: Tensor, pair: Tensor, lengths: Tensor, within: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The same by a tree: products of ever more matrices upwards, and down it what comes before and after each."""
    batch, most, labels = w.shape
    leaves = 1 << (most - 1).bit_length()  # matrix t leads from position t to t + 1, and past the end nowhere
    matrix = torch.eye(labels, dtype=w.dtype, device=w.device).expand(batch, leaves, -1, -1).clone()
    steps = torch.where(within[:, 1:, None, None], pair * w[:, 1:, None, :], matrix[:, : most - 1])
    matrix[:, : most - 1] = steps
    levels = [(matrix, w.new_zeros(batch, leaves))]
    while levels[-1][0].shape[1] > 1:
        below, size = levels[-1]
        product = below[:, 0::2] @ below[:, 1::2]
        largest = product.amax((-1, -2), keepdim=True)
        levels.append((product / largest, size[:, 0::2] + size[:, 1::2] + largest[..., 0, 0].log()))
    before, after = w[:, :1], torch.ones_like(w[:, :1])
    size_a, size_b = (w.new_zeros(batch, 1) for _ in range(2))
    for matrices, size in levels[-2::-1]:
        lefts, rights = matrices[:, 0::2], matrices[:, 1::2]
        above = (before[..., None, :] @ lefts)[..., 0, :]
        under = (rights @ after[..., None])[..., 0]
        high, low = above.amax(-1, keepdim=True), under.amax(-1, keepdim=True)
        before, after = (
            torch.stack(pair_, 2).flatten(1, 2) for pair_ in ((before, above / high), (under / low, after))
        )
        size_a = torch.stack([size_a, size_a + size[:, 0::2] + high[..., 0].log()], 2).flatten(1, 2)
        size_b = torch.stack([size_b + size[:, 1::2] + low[..., 0].log(), size_b], 2).flatten(1, 2)
    # before[t] is a[t]; after[t] is what follows position t + 1, so that v[t] = w[t] after[t - 1].
    v = torch.cat([w[:, :1], w[:, 1:] * after[:, : most - 1]], 1)
    size_v = torch.cat([size_b[:, :1], size_b[:, : most - 1]], 1)
    return before[:, :most], v, size_a[:, :most], size_v


def chain_log_partition(
    unary: Tensor, transition: Tensor, start: Tensor, end: Tensor, lengths: Tensor, sums: ChainSums
) -> Tensor:
    """log Z of padded chains, [B], from their sums; it can be differentiated once."""
    found: Tensor = _Chain.apply(unary, transition, start, end, lengths, sums, None)
    return found


def chain_loss(
    unary: Tensor, transition: Tensor, start: Tensor, end: Tensor, lengths: Tensor, sums: ChainSums, tags: Tensor
) -> Tensor:
    """log Z less the score of the right labels [B, T], by sentence: [B]; it can be differentiated once."""
    found: Tensor = _Chain.apply(unary, transition, start, end, lengths, sums, tags)
    return found


class _Chain(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, unary: Tensor, transition: Tensor, start: Tensor, end: Tensor, lengths: Tensor, sums: ChainSums,
        tags: Tensor | None,
    ) -> Tensor:  # fmt: skip
        ctx.sums, ctx.save = sums, (lengths, tags)
        ctx.shape = transition.shape
        if tags is None:
            return sums.log_z
        within, rows = inside(lengths, unary.shape[1]), torch.arange(len(lengths), device=unary.device)
        tags = torch.where(within, tags, 0)
        ctx.save = (lengths, tags)
        some = lengths > 0
        score = (unary.gather(2, tags[..., None])[..., 0] * within).sum(1)
        score += (transition[tags[:, :-1], tags[:, 1:]] * within[:, 1:]).sum(1)
        last = tags[rows, (lengths - 1).clamp(min=0)]
        return sums.log_z - score - torch.where(some, start[tags[:, 0]] + end[last], 0.0)

    @staticmethod
    @torch.autograd.function.once_differentiable  # type: ignore[untyped-decorator]
    def backward(ctx: Any, gradient: Tensor) -> Any:  # type: ignore[override]
        sums, (lengths, tags) = ctx.sums, ctx.save
        node = sums.node * gradient[:, None, None]
        right = sums.right * gradient[:, None, None]
        pairs = sums.pair * (sums.left.flatten(0, 1).T @ right.flatten(0, 1))
        rows, last = torch.arange(len(lengths), device=node.device), (lengths - 1).clamp(min=0)
        if tags is not None:
            within, size = inside(lengths, node.shape[1]), node.shape[2]
            node.scatter_add_(2, tags[..., None], torch.where(within, -gradient[:, None], 0.0)[..., None])
            each = torch.where(within[:, 1:], -gradient[:, None], 0.0)
            flat = pairs.new_zeros(size * size)
            flat.index_add_(0, (tags[:, :-1] * size + tags[:, 1:]).flatten(), each.flatten())
            pairs = pairs + flat.view(size, size)
        some = (lengths > 0).to(node.dtype)[:, None]
        return node, pairs, (node[:, 0] * some).sum(0), (node[rows, last] * some).sum(0), None, None, None


class SegmentSums(NamedTuple):
    """Sums over segmentations, in logs: of tokens before and from each gap t of T + 1, in double precision."""

    log_z: Tensor
    """``[B]``."""
    ended: Tensor
    """``[B, T + 1, L]``: of all that is before a gap at which a segment of label y ends."""
    begun: Tensor
    """``[B, T + 1, L]``: the same, and the transition to a segment of label y that begins there."""
    onwards: Tensor
    """``[B, T + 1, L]``: of all that is after a gap, if the segment before it has label y."""
    begins: Tensor
    """``[B, T + 1, L]``: the same, if the segment after it has label y."""
    segment: Tensor
    """``[B, T, D, L]``: the scores, minus infinity of what cannot be."""


def segment_sums(segment: Tensor, transition: Tensor, start: Tensor, end: Tensor, lengths: Tensor,
                 longest: Tensor | None = None) -> SegmentSums:  # fmt: skip
    """Forward-backward over padded segmentations: segment [B, T, D, L], transition [L, L], start and end [L].

    lengths: [B], tokens; longest: [L], the most tokens of a segment of each label.
    """
    batch, most, deep, labels = segment.shape
    segment, transition, start, end = (t.detach().double() for t in (segment, transition, start, end))
    where = segment.device
    first, depth = torch.arange(most, device=where)[:, None], torch.arange(deep, device=where)
    fits = first + depth < lengths[:, None, None]  # [B, T, D]
    allowed = fits[..., None]
    if longest is not None:
        allowed = allowed & (depth[:, None] < longest.to(where))
    segment = torch.where(allowed, segment, -torch.inf)
    # Segments by where they end: those that end at gap t begin at t - deep .. t - 1.
    gap, back = torch.arange(1, most + 1, device=where)[:, None], torch.arange(deep, 0, -1, device=where)
    origin = gap - back
    by_end = segment[:, origin.clamp(min=0), (back - 1).expand_as(origin)]
    by_end = torch.where((origin >= 0)[..., None], by_end, -torch.inf)
    none = segment.new_full((batch, most + 1, labels), -torch.inf)
    begun = torch.cat([segment.new_full((batch, deep, labels), -torch.inf), none], 1)  # gap t at place deep + t
    begun[:, deep] = start
    ended = none.clone()
    for t in range(1, most + 1):
        ended[:, t] = (begun[:, t : t + deep] + by_end[:, t - 1]).logsumexp(1)
        begun[:, deep + t] = (ended[:, t, :, None] + transition).logsumexp(1)
    final = none.clone()
    final[torch.arange(batch, device=where), lengths] = end
    onwards = torch.cat([final, segment.new_full((batch, deep, labels), -torch.inf)], 1)
    begins = none.clone()
    for t in range(most - 1, -1, -1):
        begins[:, t] = (segment[:, t] + onwards[:, t + 1 : t + 1 + deep]).logsumexp(1)
        onwards[:, t] = torch.logaddexp(onwards[:, t], (transition + begins[:, t, None]).logsumexp(2))
    log_z = torch.where(lengths > 0, (start + begins[:, 0]).logsumexp(1), 0.0)
    return SegmentSums(log_z, ended, begun[:, deep:], onwards[:, : most + 1], begins, segment)


def segment_log_partition(segment: Tensor, transition: Tensor, start: Tensor, end: Tensor, lengths: Tensor,
                          longest: Tensor | None = None) -> Tensor:  # fmt: skip
    """log Z of padded segmentations, [B]; it can be differentiated once. Arguments as of ``segment_sums``."""
    found: Tensor = _Segments.apply(segment, transition, start, end, lengths, longest)
    return found


class _Segments(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, segment: Tensor, transition: Tensor, start: Tensor, end: Tensor, lengths: Tensor,
                longest: Tensor | None) -> Tensor:  # fmt: skip
        ctx.sums = segment_sums(segment, transition, start, end, lengths, longest)
        ctx.save_for_backward(transition, start, end)
        ctx.lengths, ctx.kind = lengths, segment.dtype
        return ctx.sums.log_z.to(segment.dtype)

    @staticmethod
    @torch.autograd.function.once_differentiable  # type: ignore[untyped-decorator]
    def backward(ctx: Any, gradient: Tensor) -> Any:  # type: ignore[override]
        sums, lengths, by = ctx.sums, ctx.lengths, gradient.double()
        transition, start, end = (t.double() for t in ctx.saved_tensors)
        counts = segment_counts(sums, transition, start, end, lengths, by)
        return *(each.to(ctx.kind) for each in counts), None, None


def segment_counts(
    sums: SegmentSums, transition: Tensor, start: Tensor, end: Tensor, lengths: Tensor, by: Tensor
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Expected counts of segments [B, T, D, L], pairs [L, L], first and last labels [L], by the weights [B] ``by``."""
    batch, most, deep, labels = sums.segment.shape
    where = by.device
    possible = (sums.log_z > -torch.inf) & (lengths > 0)
    log_z = torch.where(possible, sums.log_z, torch.inf)
    after = torch.arange(most, device=where)[:, None] + torch.arange(1, deep + 1, device=where)
    onwards = sums.onwards[:, after.clamp(max=most)]
    counts = (sums.begun[:, :-1, None] + sums.segment + onwards - log_z[:, None, None, None]).exp()
    counts *= by[:, None, None, None]
    pairs = torch.zeros_like(transition)
    together = max(1, PAIRS // max(batch * labels * labels, 1))
    for low in range(1, most, together):
        some = slice(low, min(low + together, most))
        each = sums.ended[:, some, :, None] + transition + sums.begins[:, some, None]
        pairs += torch.einsum("btxy,b->xy", (each - log_z[:, None, None, None]).exp(), by)
    firsts = ((start + sums.begins[:, 0] - log_z[:, None]).exp() * by[:, None]).sum(0)
    rows = torch.arange(batch, device=where)
    lasts = ((sums.ended[rows, lengths] + end - log_z[:, None]).exp() * by[:, None]).sum(0)
    return counts, pairs, firsts, lasts
