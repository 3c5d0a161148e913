"""Potentials from a module of torch, alone or beside linear features: the slope goes back by its automatic derivative.

A module takes some sentences and gives the scores of named parts, as linear features do, so that a *form*
(``scorers.parts``) makes of them the potentials of any structure.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dovetail.arrays import taken
from dovetail.neural import flat
from dovetail.neural.extra import one_thread, seeded, torch
from dovetail.scorers.contract import Floats, Items
from dovetail.scorers.parts import PartsScorer, Scores
from dovetail.sparse import SparseGradient
from dovetail.threads import sentence_shards

Tensors = dict[str, torch.Tensor]

SEEN = 256  # so many weights at either end tell one step from another


@dataclass
class ModuleScorer(PartsScorer):
    """A corpus whose parts are scored by a module, and by linear features where there are some.

    ``module(inputs(which))`` gives a tensor [places, outputs] for each part that it scores, its places in the order of
    ``form.places``, sentence after sentence; where a part has linear features too, the scores are added up. The weights
    of the linear parts come first, then those of the tables, then the parameters of the module.

    In ``training`` a module may drop out what it will, when a few sentences are asked for at a time; which it
    is depends on ``seed``, on the sentences and on the weights, so that a run that goes on from a checkpoint is the
    same. All sentences together are a function of the weights: nothing is dropped out, and more than ``chunk`` tokens
    are scored in pieces, twice over, so that memory holds the inner values of a piece at a time.

    >>> from dovetail.scorers.chain import ChainForm, Forbidden
    >>> from dovetail.scorers.transitions import Transitions
    >>> class Words(torch.nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.table = torch.nn.Embedding(3, 2)
    ...     def forward(self, words):
    ...         return {"node": self.table(words)}
    >>> words, offsets = torch.tensor([0, 1, 2, 0]), np.array([0, 2, 4])
    >>> gold = np.array([0, 1, 1, 0], dtype=np.int32)
    >>> form = ChainForm(2, 1, Forbidden.nothing(2, 1), Transitions.observed(gold, offsets, 2, 1, full=True))
    >>> scorer = ModuleScorer(form, offsets, {}, module=Words(), inputs=lambda which: words[taken(offsets, which)[0]])
    >>> scorer.parameters  # four transitions and six of the module
    10
    >>> chains = scorer.batch(np.zeros(10))
    >>> chains.log_partition().round(3).tolist()  # two words of two labels each
    [1.386, 1.386]
    >>> gradient = np.zeros(10)
    >>> scorer.backward(chains.marginals(), gradient)
    >>> gradient[4:].tolist()  # word 0 is there twice, the others once
    [1.0, 1.0, 0.5, 0.5, 0.5, 0.5]
    """

    module: torch.nn.Module = field(kw_only=True)
    inputs: Callable[[Items], Any] = field(kw_only=True)
    training: bool = field(default=False, kw_only=True)
    seed: int = field(default=1, kw_only=True)
    chunk: int = field(default=4096, kw_only=True)
    _made: list[tuple[Items, int, Tensors | None]] = field(default_factory=list, init=False, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.after_tables = self.parameters
        self.parameters += flat.size(self.module)

    def of_module(self, weight: Floats) -> Floats:
        """The weights, or the gradient, of the module."""
        return weight[self.after_tables :]

    def touch(self, which: Items, sink: SparseGradient) -> None:
        """All of them."""
        sink.list_all()

    def scale(self) -> Floats:
        """The value of the feature of each parameter, [parameters]; one for those of the module."""
        return np.concatenate([super().scale(), np.ones(self.parameters - self.after_tables)])

    def firing(self) -> Floats:
        """At how many places each parameter is used, [parameters]; those of the module everywhere."""
        return np.concatenate([super().firing(), np.full(self.parameters - self.after_tables, float(self.offsets[-1]))])

    def _scores(self, weight: Floats, which: Items | None) -> Scores:
        scores = super()._scores(weight, which)
        flat.write(self.module, self.of_module(weight))
        pieces = self._pieces(which)
        self._made, found = [], []
        drops = self.training and which is not None
        seed = self._seed_of(weight, which) if drops else 0
        for piece in pieces:
            # With one piece its inner values can wait for the slope; of many they would fill the memory.
            with torch.set_grad_enabled(len(pieces) == 1), self._ready(seed, drops):
                tensors = self.module(self.inputs(piece))
            self._made.append((piece, seed, tensors if len(pieces) == 1 else None))
            found.append({part: t.detach().to("cpu", torch.float64).numpy() for part, t in tensors.items()})
            seed += 1
        for part in found[0] if found else ():
            own = np.concatenate([each[part] for each in found])
            self._check_shape(part, own, which)
            scores[part] = scores[part] + own if part in scores else own
        return scores

    def _check_shape(self, part: str, found: Floats, which: Items | None) -> None:
        tokens = np.arange(self.offsets[-1]) if which is None else taken(self.offsets, which)[0]
        wanted = len(self.form.places(part, tokens)), self.form.outputs(part)
        if found.shape != wanted:
            raise ValueError(f"the module scores {part!r} as {found.shape}, not as {wanted}: places by outputs")

    def _take_back(self, slopes: Scores, out: Floats, which: Items | None) -> None:
        super()._take_back(slopes, out, which)
        used = dict.fromkeys(slopes, 0)
        parameters, of_module = flat.trained(self.module), self.of_module(out)
        drops = self.training and which is not None
        for piece, seed, tensors in self._made:
            with self._ready(seed, drops):
                made = self.module(self.inputs(piece)) if tensors is None else tensors
                ends, along = [], []
                for part, tensor in made.items():
                    slope = slopes[part][used[part] : used[part] + len(tensor)]
                    used[part] += len(tensor)
                    if tensor.requires_grad:
                        ends.append(tensor)
                        along.append(torch.from_numpy(np.ascontiguousarray(slope)).to(tensor))
                gradients = torch.autograd.grad(ends, parameters, along, allow_unused=True) if ends else ()
            if gradients:
                flat.add_gradients(self.module, list(gradients), of_module)
        self._made = []

    def _pieces(self, which: Items | None) -> list[Items]:
        """All sentences cut into pieces, or some, which are one."""
        if which is not None:
            return [which]
        most = -(-int(self.offsets[-1]) // self.chunk)
        return [np.arange(low, high) for low, high in sentence_shards(self.offsets, max(most, 1), 1)]

    @contextmanager
    def _ready(self, seed: int, drops: bool) -> Iterator[None]:
        """While the module works: on one thread, and random only in training."""
        self.module.train(drops)
        with one_thread(), seeded(seed, flat.where(self.module)):
            yield

    def _seed_of(self, weight: Floats, which: Items | None) -> int:
        """Another number at every step, the same for the same step of the same run."""
        told = zlib.crc32(np.concatenate([weight[:SEEN], weight[-SEEN:]]).tobytes(), self.seed)
        return zlib.crc32(np.ascontiguousarray(which).tobytes(), told)


def scores_of(module: torch.nn.Module, inputs: Callable[[Items], Any], offsets: Items, chunk: int = 4096) -> Scores:
    """What a trained module says of all sentences, piece by piece: [places, outputs] for each part."""
    most = max(-(-int(offsets[-1]) // chunk), 1)
    found: list[Scores] = []
    module.eval()
    with torch.no_grad(), one_thread():
        for low, high in sentence_shards(offsets, most, 1):
            tensors = module(inputs(np.arange(low, high)))
            found.append({part: t.to("cpu", torch.float64).numpy() for part, t in tensors.items()})
    return {part: np.concatenate([each[part] for each in found]) for part in found[0]} if found else {}
