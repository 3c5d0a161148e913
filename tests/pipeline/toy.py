"""Toy pipelines whose stages can be written out: tables of probabilities, and the exact posterior by enumeration."""

from __future__ import annotations

from collections import defaultdict
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from dovetail.pipeline.stage import Stage
from dovetail.text.sentence import Sentence

VALUES = ("a", "b", "c")


class Toy(NamedTuple):
    """A stage that gives every word the same value, by a table from the values of the layers read to chances."""

    name: str
    reads: tuple[str, ...]
    table: dict[tuple[str, ...], np.ndarray]

    def function(self, sentence: Sentence) -> list[tuple[Sentence, float]]:
        chances = self.table[tuple(sentence.layers[layer][0] for layer in self.reads)]
        pairs = zip(VALUES, chances.tolist(), strict=True)
        return [(sentence.with_layer(self.name, (value,) * len(sentence)), p) for value, p in pairs]

    def stage(self, **more: Any) -> Stage:
        return Stage(self.name, self.function, self.reads, (self.name,), **more)


def toys(rng: np.random.Generator, size: int) -> list[Toy]:
    """A random graph: each stage reads some of those before it."""
    found: list[Toy] = []
    for i in range(size):
        reads = tuple(t.name for t in found if rng.random() < 0.6)
        chances = {key: rng.dirichlet(np.full(3, 0.7)) for key in product(VALUES, repeat=len(reads))}
        found.append(Toy(f"t{i}", reads, chances))
    return found


def exact(stages: list[Toy]) -> dict[str, dict[str, float]]:
    """The posterior of every stage: all assignments with their probabilities, summed."""
    found: dict[str, dict[str, float]] = {toy.name: defaultdict(float) for toy in stages}
    for values in product(VALUES, repeat=len(stages)):
        said = dict(zip(found, values, strict=True))
        p = 1.0
        for toy in stages:
            p *= float(toy.table[tuple(said[layer] for layer in toy.reads)][VALUES.index(said[toy.name])])
        for name, value in said.items():
            found[name][value] += p
    return found
