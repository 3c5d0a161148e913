"""The loss of a CRF with its gradient, in torch: ours against torch-struct and pytorch-crf, in one run.

Run: python benchmarks/torch_crf.py [--device cuda] [--sentences 32] [--tokens 64] [--labels 9]
(needs torch-struct and pytorch-crf; what is not installed is left out)
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import torch

import dovetail.torch
from dovetail.neural import device

Step = Callable[[torch.Tensor], torch.Tensor]
"""From scores [B, T, L] to the summed loss."""


def ours(crf: dovetail.torch.ChainCRF, tags: torch.Tensor, lengths: torch.Tensor) -> Step:
    return lambda scores: crf.loss(scores, tags, lengths, mean=False)


def batched(crf: dovetail.torch.ChainCRF, tags: torch.Tensor, lengths: torch.Tensor, tree: bool | None) -> Step:
    def step(scores: torch.Tensor) -> torch.Tensor:
        given = (scores, *crf._shared(scores), lengths)
        sums = device.chain_sums(*(each.detach() for each in given), tree)
        assert sums.sound
        return device.chain_loss(*given, sums, tags).sum()

    return step


def pytorch_crf(crf: dovetail.torch.ChainCRF, tags: torch.Tensor, lengths: torch.Tensor) -> Step:
    from torchcrf import CRF

    theirs = CRF(len(crf.start), batch_first=True).to(tags.device)
    theirs.transitions.data, theirs.start_transitions.data = crf.transition.data, crf.start.data
    theirs.end_transitions.data = crf.end.data
    mask = device.inside(lengths, tags.shape[1])
    return lambda scores: -theirs(scores, tags, mask)


def torch_struct(crf: dovetail.torch.ChainCRF, tags: torch.Tensor, lengths: torch.Tensor) -> Step:
    from torch_struct import LinearChainCRF

    mask = device.inside(lengths, tags.shape[1])

    def step(scores: torch.Tensor) -> torch.Tensor:
        # edge[t, c, b]: label b at t, c at t + 1; the first edge also has the scores of the first token.
        edge = scores[:, 1:, :, None] + crf.transition.T
        edge = torch.cat([edge[:, :1] + (scores[:, 0] + crf.start)[:, None, None], edge[:, 1:]], 1)
        last = (torch.arange(1, tags.shape[1], device=tags.device) == lengths[:, None] - 1)[..., None, None]
        edge = edge + last * crf.end[:, None]
        log_z = LinearChainCRF(edge, lengths=lengths).partition
        own = (scores.gather(2, tags[..., None])[..., 0] * mask).sum()
        pairs = (crf.transition[tags[:, :-1], tags[:, 1:]] * mask[:, 1:]).sum()
        ends = crf.start[tags[:, 0]].sum() + crf.end[tags.gather(1, lengths[:, None] - 1)[:, 0]].sum()
        return log_z.sum() - own - pairs - ends

    return step


def seconds(step: Step, scores: torch.Tensor, repeats: int) -> tuple[float, float, torch.Tensor]:
    """The fastest of some runs, forward and backward, with the loss and the gradient."""
    best = float("inf")
    for _ in range(repeats):
        given = scores.clone().requires_grad_()
        if given.is_cuda:
            torch.cuda.synchronize()
        begin = time.perf_counter()
        loss = step(given)
        loss.backward()
        if given.is_cuda:
            torch.cuda.synchronize()
        best = min(best, time.perf_counter() - begin)
    assert given.grad is not None
    return best, loss.item(), given.grad


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--sentences", type=int, default=32)
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--labels", type=int, default=9)
    parser.add_argument("--repeats", type=int, default=10)
    told = parser.parse_args()
    torch.manual_seed(1)
    torch.set_num_threads(1)
    where = torch.device(told.device)
    scores = torch.randn(told.sentences, told.tokens, told.labels, device=where)
    tags = torch.randint(told.labels, scores.shape[:2], device=where)
    lengths = torch.randint(told.tokens // 2, told.tokens + 1, (told.sentences,), device=where)
    lengths[0] = told.tokens
    crf = dovetail.torch.ChainCRF(told.labels).to(where)
    for parameter in crf.parameters():
        torch.nn.init.normal_(parameter)
    every = {
        "dovetail.torch": ours(crf, tags, lengths),
        "dovetail, batched, by steps": batched(crf, tags, lengths, False),
        "dovetail, batched, by a tree": batched(crf, tags, lengths, True),
    }
    for name, make in (("pytorch-crf", pytorch_crf), ("torch-struct", torch_struct)):
        try:
            every[name] = make(crf, tags, lengths)
        except ImportError:
            print(f"{name} is not installed")
    print(f"{told.sentences} sentences of up to {told.tokens} tokens, {told.labels} labels, on {where}")
    found = {name: seconds(step, scores, told.repeats) for name, step in every.items()}
    _, loss, gradient = found["dovetail.torch"]
    for name, (time_, own, slope) in found.items():
        apart = max(abs(own - loss) / abs(loss), float((slope - gradient).abs().max()))
        ratio = time_ / found["dovetail.torch"][0]
        print(f"{name:30} {1000 * time_:8.2f} ms   {ratio:6.2f} x dovetail.torch   differs by {apart:.1e}")


if __name__ == "__main__":
    main()
