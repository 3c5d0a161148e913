"""A network beside a scorer of any structure: what it says of parts is added to their potentials."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dovetail.neural import flat
from dovetail.neural.extra import one_thread, seeded, torch
from dovetail.neural.network import Network
from dovetail.scorers.contract import Floats, Items, Scorer

Tensors = dict[str, torch.Tensor]

SEEN = 256  # so many weights at either end tell one step from another
TOGETHER = 32  # sentences that are scored at once where all are asked for


@dataclass(eq=False)
class BesideScorer(Scorer[Any]):
    """The structures of a scorer, to whose potentials a network adds: its weights come last.

    The module gives a tensor for each table that it adds to, with the rows of the sentences that it was given, and one
    number or as many as the table in a row. Without weights of its own in the vector it is used as it is.
    """

    plain: Any
    network: Network
    inputs: Callable[[Items], Any]
    training: bool = False
    seed: int = 1
    _made: list[tuple[Items, int, Tensors | None]] = field(default_factory=list, init=False, repr=False)

    def __post_init__(self) -> None:
        self.items, self.threads = self.plain.items, self.plain.threads
        self.own = self.plain.parameters
        self.parameters = self.own + flat.size(self.network.module)

    @property
    def offsets(self) -> Any:
        """Where the words of each sentence begin: [sentences + 1]."""
        return self.plain.offsets

    def batch(self, weight: Floats, which: Items | None = None) -> Any:
        """The structures of all sentences, or of some, with their potentials under ``weight`` [parameters]."""
        if len(weight) > self.own:
            flat.write(self.network.module, np.asarray(weight[self.own :], np.float64))
        every = np.arange(self.items)
        pieces = [which] if which is not None else [every[i : i + TOGETHER] for i in range(0, self.items, TOGETHER)]
        drops = self.training and which is not None
        seed = self._seed_of(weight, which) if drops and which is not None else 0
        self._made, found = [], []
        for piece in pieces:
            with torch.set_grad_enabled(self.training and len(pieces) == 1), self._ready(seed, drops):
                tensors: Tensors = self.network.module(self.inputs(piece))
            kept = self.training and len(pieces) == 1  # else they are made again for the slope
            self._made.append((piece, seed, tensors if kept else None))
            found.append({name: self.network.factor * flat.as_array(each) for name, each in tensors.items()})
            seed += 1
        batch = self.plain.batch(weight[: self.own], which)
        if not found:
            return batch
        more = {name: np.concatenate([each[name] for each in found]) for name in found[0]}
        changed = {name: getattr(batch.potentials, name) + own for name, own in more.items()}
        return batch.with_potentials(batch.potentials._replace(**changed))

    def backward(self, slope: Any, out: Floats, which: Items | None = None) -> None:
        """Add to ``out`` [parameters] the gradient, from the slope of the potentials that ``batch`` gave last."""
        self.plain.backward(slope, out[: self.own], which)
        parameters, module = flat.trained(self.network.module), self.network.module
        used: dict[str, int] = {}
        for piece, seed, tensors in self._made:
            with torch.enable_grad(), self._ready(seed, self.training and which is not None):
                made = module(self.inputs(piece)) if tensors is None else tensors
                along = []
                for name, tensor in made.items():
                    first = used.get(name, 0)
                    used[name] = first + len(tensor)
                    own = getattr(slope, name)[first : first + len(tensor)] * self.network.factor
                    if own.shape != tuple(tensor.shape):  # one number for a whole row
                        own = own.sum(axis=1, keepdims=True)
                    along.append(torch.from_numpy(np.ascontiguousarray(own)).to(tensor))
                gradients = torch.autograd.grad(list(made.values()), parameters, along, allow_unused=True)
            flat.add_gradients(module, list(gradients), out[self.own :])
        self._made = []

    @contextmanager
    def _ready(self, seed: int, drops: bool) -> Iterator[None]:
        """While the module works: on one thread, and random only in training."""
        self.network.module.train(drops)
        with one_thread(), seeded(seed, flat.where(self.network.module)):
            yield

    def _seed_of(self, weight: Floats, which: Items) -> int:
        """Another number at every step, the same for the same step of the same run."""
        told = zlib.crc32(np.concatenate([weight[:SEEN], weight[-SEEN:]]).tobytes(), self.seed)
        return zlib.crc32(np.ascontiguousarray(which).tobytes(), told)
