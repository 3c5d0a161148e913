"""The data of a curve: the labelled pool, what tunes the models, what scores them; and the draws from the pool."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256

import numpy as np

from dovetail.text.sentence import Sentence


@dataclass(frozen=True)
class CurveData:
    """``train`` is the pool to draw from; ``dev`` tunes models unless ``tune`` is false; ``test`` (or dev) scores them.

    What dev tunes is when training stops, how sure the model is and how readily it answers O: see ``Tagger.fit``. A
    score on the same dev data is therefore a little too good.
    """

    train: Sequence[Sentence]
    dev: Sequence[Sentence]
    test: Sequence[Sentence] | None = None
    tune: bool = True
    fingerprint: str = field(init=False)

    def __post_init__(self) -> None:
        parts = [_digest(self.train), _digest(self.dev), _digest(self.test or ()), str(self.tune)]
        object.__setattr__(self, "fingerprint", sha256(" ".join(parts).encode()).hexdigest())

    @property
    def scored(self) -> Sequence[Sentence]:
        """The sentences that models are scored on."""
        return self.test if self.test is not None else self.dev


def _digest(sentences: Sequence[Sentence]) -> str:
    digest = sha256()
    for sentence in sentences:
        digest.update(json.dumps([sentence.words, dict(sentence.layers), sentence.document]).encode() + b"\n")
    return digest.hexdigest()


def draw_order(pool: int, draw: int, seed: int) -> list[int]:
    """All indices of a pool in the random order of one draw: its first n are the draw of n sentences.

    So draws are nested, without replacement, and the same for every configuration.

    >>> draw_order(5, draw=1, seed=1)
    [1, 4, 0, 3, 2]
    """
    order: list[int] = np.random.default_rng([seed, draw]).permutation(pool).tolist()
    return order
