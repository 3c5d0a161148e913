"""Exact structures on top of your own network: log Z, losses and marginals of every structure, with gradients.

A network of yours gives scores; a structure makes of them a distribution over whole answers, and its loss goes back
into the network. A tagger with a CRF on top is this:

>>> import torch, dovetail.torch
>>> class Tagger(torch.nn.Module):
...     def __init__(self, words, labels):
...         super().__init__()
...         self.embed = torch.nn.Embedding(words, 16)
...         self.lstm = torch.nn.LSTM(16, 8, bidirectional=True, batch_first=True)
...         self.score = torch.nn.Linear(16, len(labels))
...         self.crf = dovetail.torch.ChainCRF(labels)
...     def forward(self, words):
...         return self.score(self.lstm(self.embed(words))[0])
>>> tagger = Tagger(words=100, labels=["O", "B-PER", "I-PER"])
>>> words, lengths = torch.randint(100, (2, 5)), torch.tensor([5, 3])  # two sentences, padded
>>> tags = torch.tensor([[1, 2, 0, 0, 1], [0, 0, 1, 0, 0]])
>>> loss = tagger.crf.loss(tagger(words), tags, lengths)  # log Z - score(tags), the mean of the sentences
>>> loss.backward()
>>> [len(labels) for labels in tagger.crf.decode(tagger(words), lengths)]
[5, 3]
>>> tagger.crf.marginals(tagger(words), lengths).shape
torch.Size([2, 5, 3])

Segmentations, nested segments, trees of brackets and of dependencies, charts of a grammar: `Exact` takes any structure
of ``dovetail.structures`` with tensors for its potentials. Sentences lie one after another, cut by offsets.

>>> from dovetail.structures.projective import ProjectiveBatch, ProjectivePotentials
>>> arcs = torch.zeros(9, 2, requires_grad=True)  # a sentence of two words and the root: 3 heads by 3 dependents
>>> trees = Exact(ProjectiveBatch, ProjectivePotentials(arcs, torch.zeros(3, 2, 2)), offsets=[0, 2])
>>> loss = trees.loss([2, 0])  # the heads of both words, 0 for the root
>>> loss.backward()
>>> round(loss.item(), 4), trees.marginals().attach.sum(1).view(3, 3)[2].tolist()
(0.6931, [0.0, 0.5, 0.0])

Sums are done by compiled kernels on the processor; of chains and segmentations whose tensors are on a GPU, on the GPU.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from dovetail.errors import InputError
from dovetail.learning.losses import LOSSES
from dovetail.models.tagger.labels import LabelSet
from dovetail.neural import device, function
from dovetail.neural.extra import torch
from dovetail.structures.chain import ChainBatch, ChainPotentials
from dovetail.structures.contract import Structure, mapped, tables
from dovetail.structures.ragged import check_offsets
from dovetail.structures.semimarkov import SemiMarkovBatch
from dovetail.text.tags import Scheme, is_chunk_tagset

__all__ = ["ChainCRF", "Exact", "chain"]

Tensor = torch.Tensor


class Exact:
    """Exact inference for a batch of structures whose potentials are tensors.

    kind: a structure, such as ``ChainBatch``. potentials: as it takes them, with tensors of any floating type for its
    tables. how: whatever else it takes, such as ``offsets``.
    """

    def __init__(self, kind: Callable[..., Structure[Any, Any]], potentials: Any, **how: Any) -> None:
        self.kind, self.potentials, self.how = kind, potentials, how
        self.tables: tuple[Tensor, ...] = tuple(cast(list[Any], tables(potentials)))
        wrong = [type(each).__name__ for each in self.tables if not isinstance(each, torch.Tensor)]
        if wrong or not self.tables:
            raise InputError(f"the tables of potentials must be tensors{f', not {wrong[0]}' if wrong else ''}")

    def log_partition(self) -> Tensor:
        """log Z of every sentence, [n].

        Its gradient, the marginals, can be differentiated once more, except where the sums were done on a GPU.
        """
        found = self._on_device()
        return function.log_partition(self._make, self.tables) if found is None else found

    def marginals(self) -> Any:
        """The expected counts of all parts, shaped like the potentials; they can be differentiated once."""
        return self._shaped(function.marginals(self._make, self.tables))

    def loss(self, gold: Any, name: str = "likelihood", allowed: Any = None) -> Tensor:
        """A loss summed over all sentences: likelihood, softmax-margin or perceptron.

        gold: the right answers, as the structure takes them. allowed: where they are only partly known, which parts
        agree with what is known, as ``restrict`` takes it.
        """
        if name not in LOSSES:
            raise InputError(f"loss={name!r}: choose one of {', '.join(LOSSES)}; add yours to learning.losses.LOSSES")
        if name == "likelihood" and allowed is None and (log_z := self._on_device()) is not None:
            counts = self._shaped(function.tensor_like(t, like) for t, like in zip(
                tables(self.structure().indicator(gold)), self.tables, strict=True
            ))  # fmt: skip
            pairs: Any = zip(tables(counts), self.tables, strict=True)
            score: Any = sum((torch.where(count > 0, t, 0.0) * count).sum() for count, t in pairs)
            return log_z.sum() - cast(Tensor, score)
        return function.loss(self._make, self.tables, LOSSES[name], gold, allowed)

    def best(self) -> Any:
        """The best answer to every sentence, as the structure gives it."""
        return self.structure().best()

    def structure(self) -> Structure[Any, Any]:
        """The structure with the potentials as arrays: for the k best, samples, entropies and all that it can do."""
        return self._make(*map(function.array_of, self.tables))

    def _make(self, *arrays: Any) -> Structure[Any, Any]:
        return self.kind(potentials=self._shaped(arrays), **self.how)

    def _shaped(self, each: Any) -> Any:
        pieces = iter(each)
        return mapped(lambda _: next(pieces), self.potentials)

    def _on_device(self) -> Tensor | None:
        """log Z by the device that the potentials are on, if it can."""
        if not self.tables[0].is_cuda:
            return None
        if self.kind is ChainBatch and self.how.get("order", 1) == 1 and not len(self.potentials.edge):
            lengths = self._lengths()
            rows = device.padded(self.potentials.unary, lengths, self._most(lengths))
            given: Any = (rows, *self.potentials[1:4], lengths)
            sums = device.chain_sums(*(each.detach() for each in given))
            return device.chain_log_partition(*(*given, sums)) if bool(sums.sound) else None
        if self.kind is SemiMarkovBatch:
            lengths = self._lengths()
            segment, transition, start, end = self.potentials
            rows = device.padded(segment, lengths, self._most(lengths))
            if not transition.numel():
                transition = start.new_zeros(len(start), len(start))
            longest = self.how.get("lengths")
            limits = None if longest is None else torch.as_tensor(np.asarray(longest), device=segment.device)
            return device.segment_log_partition(rows, transition, start, end, lengths, limits)
        return None

    def _lengths(self) -> Tensor:
        offsets = check_offsets(self.how["offsets"], len(self.tables[0]))
        return torch.from_numpy(np.diff(offsets)).to(self.tables[0].device)

    @staticmethod
    def _most(lengths: Tensor) -> int:
        return int(lengths.max()) if len(lengths) else 0


def chain(
    unary: Tensor, transition: Tensor, offsets: ArrayLike, start: Tensor | None = None, end: Tensor | None = None,
    edge: Tensor | None = None, order: int = 1,
) -> Exact:  # fmt: skip
    """Chains: unary [N, L], transition [L, L]; start and end [L] are zero unless given, edge [N, L, L] is absent.

    >>> import torch
    >>> chain(torch.zeros(3, 2), torch.zeros(2, 2), [0, 2, 3]).log_partition().exp().round().tolist()
    [4.0, 2.0]
    """
    labels = unary.shape[1]
    start, end = (unary.new_zeros(labels) if table is None else table for table in (start, end))
    edge = unary.new_zeros(0, labels, labels) if edge is None else edge
    potentials: Any = (unary, transition, start, end, edge)
    return Exact(ChainBatch, ChainPotentials(*potentials), offsets=offsets, order=order, threads=1)


class ChainCRF(torch.nn.Module):
    """The last layer of a tagger: scores of labels in, a distribution over whole sequences of labels out.

    labels: how many, or their names. With names of chunk tags, such as B-PER, sequences that the scheme does not allow
    (iob2 or iobes) are ruled out. It has parameters for transitions, first and last labels.

    Scores are padded, [B, T, L], with the lengths of the sentences, [B]; all are as long as T unless given.
    """

    forbidden: Tensor
    never_first: Tensor
    never_last: Tensor

    def __init__(self, labels: int | Sequence[str], scheme: str = "iob2") -> None:
        super().__init__()
        self.names = None if isinstance(labels, int) else tuple(labels)
        size = labels if isinstance(labels, int) else len(labels)
        if size < 1:
            raise InputError("a chain needs at least one label")
        self.transition = torch.nn.Parameter(torch.zeros(size, size))
        self.start = torch.nn.Parameter(torch.zeros(size))
        self.end = torch.nn.Parameter(torch.zeros(size))
        rules = (np.zeros((size, size)), np.zeros(size), np.zeros(size))
        if self.names is not None and is_chunk_tagset(set(self.names)):
            rules = LabelSet(self.names, cast(Scheme, scheme)).forbidden()
        for name, rule in zip(("forbidden", "never_first", "never_last"), rules, strict=True):
            self.register_buffer(name, torch.from_numpy(rule).float(), persistent=False)

    def forward(self, scores: Tensor, tags: Tensor, lengths: Tensor | None = None) -> Tensor:
        """The loss."""
        return self.loss(scores, tags, lengths)

    def loss(
        self, scores: Tensor, tags: Tensor, lengths: Tensor | None = None, name: str = "likelihood", mean: bool = True
    ) -> Tensor:
        """The loss of the right labels [B, T], the mean of the sentences or their sum.

        A label below zero is not known: the loss is then that of all that it could be. name: likelihood,
        softmax-margin or perceptron.
        """
        lengths = self._lengths(scores, lengths)
        within = device.inside(lengths, scores.shape[1])
        partly = bool(((tags < 0) & within).any()) if not scores.is_cuda or name != "likelihood" else False
        found = None
        if scores.is_cuda and name == "likelihood":
            given: Any = (scores, *self._shared(scores), lengths)
            sums = device.chain_sums(*(each.detach() for each in given))
            known = ((tags >= 0) | ~within).all()
            if bool(sums.sound & known):
                found = device.chain_loss(*(*given, sums, tags)).sum()
            partly = found is None and not bool(known)
        if found is None:
            gold = tags[within].cpu().numpy().astype(np.int32)
            allowed = np.where((gold < 0)[:, None], True, gold[:, None] == np.arange(len(self.start)))
            flat = self._flat(scores, lengths, within)
            found = flat.loss(np.maximum(gold, 0), name, allowed if partly else None)
        return found / max(len(lengths), 1) if mean else found

    def log_partition(self, scores: Tensor, lengths: Tensor | None = None) -> Tensor:
        """log Z of every sentence, [B]."""
        lengths = self._lengths(scores, lengths)
        return self._flat(scores, lengths, device.inside(lengths, scores.shape[1])).log_partition()

    def marginals(self, scores: Tensor, lengths: Tensor | None = None) -> Tensor:
        """The probability of every label of every token, [B, T, L], zero past the end; differentiable once."""
        lengths = self._lengths(scores, lengths)
        within = device.inside(lengths, scores.shape[1])
        found = self._flat(scores, lengths, within).marginals().unary
        return device.padded(found, lengths, scores.shape[1])

    def decode(self, scores: Tensor, lengths: Tensor | None = None) -> list[list[Any]]:
        """The best labels of every sentence: their names, or numbers where it has no names."""
        lengths = self._lengths(scores, lengths)
        best = self._flat(scores, lengths, device.inside(lengths, scores.shape[1])).best().tolist()
        named = best if self.names is None else [self.names[label] for label in best]
        return [named[a:b] for a, b in pairwise(np.cumsum([0, *lengths.tolist()]).tolist())]

    def _lengths(self, scores: Tensor, lengths: Tensor | None) -> Tensor:
        if scores.ndim != 3 or scores.shape[2] != len(self.start):
            raise InputError(
                f"scores have shape {tuple(scores.shape)}, expected (sentences, tokens, {len(self.start)})"
            )
        if lengths is None:
            return torch.full((len(scores),), scores.shape[1], device=scores.device)
        if lengths.shape != (len(scores),):
            raise InputError(f"lengths have shape {tuple(lengths.shape)}, expected ({len(scores)},)")
        return lengths.to(scores.device, torch.int64)

    def _shared(self, scores: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Transitions, first and last labels, as scores are, with what is ruled out."""
        both = (self.transition, self.forbidden), (self.start, self.never_first), (self.end, self.never_last)
        transition, start, end = ((own + rule).to(scores) for own, rule in both)
        return transition, start, end

    def _flat(self, scores: Tensor, lengths: Tensor, within: Tensor) -> Exact:
        transition, start, end = self._shared(scores)
        offsets = np.cumsum([0, *lengths.tolist()])
        return chain(scores[within], transition, offsets, start, end)
