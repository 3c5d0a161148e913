"""What the conformance suite must know of each kind of structure; from all answers written out the rest follows.

A new structure is one class here and one entry in ``CASES``.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from dovetail.structures.chain import ChainBatch
from dovetail.structures.contract import Parts, Structure, mapped, tables
from tests.structures import chain_cases, enumerate_chain


def flat(parts: tuple[Any, ...]) -> np.ndarray:
    """All entries of potentials or counts as one vector."""
    return np.concatenate([table.ravel() for table in tables(parts)])


class Case:
    """A kind of structure. Answers are known by keys: what an answer says of one sentence, as nested tuples."""

    token = span = arc = False
    """Which kinds of parts it has addresses for."""

    def batches(self, **limits: Any) -> Any:
        """A strategy of a batch of a few small sentences, and a random generator.

        Among them: empty sentences where allowed, forbidden parts, sentences without an answer, extreme potentials.
        The limits are ``max_scale``, the largest deviation of potentials, and ``masks``, the shares of forbidden parts.
        """
        raise NotImplementedError

    def large(self, rng: np.random.Generator) -> Any:
        """A batch large enough for several shards, on one thread; all of its sentences have answers."""
        raise NotImplementedError

    def answers(self, batch: Any, n: int) -> Iterator[tuple[Hashable, Any]]:
        """Every answer to sentence n, forbidden or not: its key, and its counts, shaped like the batch's potentials."""
        raise NotImplementedError

    def key(self, batch: Any, answer: Any, n: int) -> Hashable:
        """What an answer says of sentence n."""
        raise NotImplementedError

    def answer(self, batch: Any, keys: Sequence[Any]) -> Any:
        """The answer made of one key for each sentence."""
        raise NotImplementedError

    def mask(self, permitted: Any) -> Any:
        """What ``restrict`` takes, from booleans shaped like the potentials."""
        raise NotImplementedError

    def wrong(self, gold: Any, key: Any) -> float:
        """How often ``with_cost`` adds its cost to the score of an answer, given the keys."""
        raise NotImplementedError

    def parts(self, batch: Any) -> Iterator[tuple[Parts, Callable[[int, Any], list[bool]]]]:
        """Addresses of parts; and which of them an answer has, by sentence and key."""
        raise NotImplementedError

    def threaded(self, batch: Any, threads: int) -> Any:
        """The same batch on so many threads."""
        return replace(batch, threads=threads)


class Enumerated:
    """The brute-force twin of one sentence of a batch: all answers, and what follows from them."""

    def __init__(self, case: Case, batch: Structure[Any, Any], n: int) -> None:
        answers = list(case.answers(batch, n))
        self.keys = [key for key, _ in answers]
        self.counts = np.array([flat(counts) for _, counts in answers]).reshape(len(answers), -1)
        self.scores = self.score(flat(batch.potentials))

    def score(self, potentials: np.ndarray) -> np.ndarray:
        """The scores of all answers; what they do not use may be anything."""
        return np.where(self.counts > 0, self.counts * np.where(self.counts > 0, potentials, 0.0), 0.0).sum(1)

    def log_partition(self) -> float:
        return float(np.logaddexp.reduce(self.scores, initial=-np.inf))

    def probabilities(self) -> np.ndarray:
        log_z = self.log_partition()
        return np.zeros(len(self.scores)) if log_z == -np.inf else np.exp(self.scores - log_z)

    def marginals(self) -> np.ndarray:
        return self.probabilities() @ self.counts

    def entropy(self) -> float:
        p = self.probabilities()
        return float(-(p[p > 0] * np.log(p[p > 0])).sum())

    def covariance(self, direction: np.ndarray) -> np.ndarray:
        """The covariance of every part's count with the total of the direction."""
        p, totals = self.probabilities(), self.score(direction)
        return (p * (totals - p @ totals)) @ self.counts


class ChainCase(Case):
    token = True

    def batches(self, **limits):
        return chain_cases.batches(**limits)

    def large(self, rng):
        offsets = np.concatenate([[0], np.cumsum(rng.integers(0, 30, 300))])
        order = int(rng.integers(1, 3))
        return ChainBatch(chain_cases.random_potentials(rng, int(offsets[-1]), 3, order), offsets, order, threads=1)

    def answers(self, batch, n):
        own = slice(*batch.offsets[n : n + 2])
        twin = enumerate_chain.EnumeratedChain(chain_cases.sentence(batch.potentials, own), batch.order)
        for labels, counts in zip(twin.labellings, twin.counts, strict=True):
            whole = mapped(np.zeros_like, batch.potentials)
            whole.unary[own], whole.edge[own] = counts.unary, counts.edge
            yield labels, counts._replace(unary=whole.unary, edge=whole.edge)

    def key(self, batch, answer, n):
        return tuple(answer[batch.offsets[n] : batch.offsets[n + 1]].tolist())

    def answer(self, batch, keys):
        return np.array([label for key in keys for label in key], np.int32)

    def mask(self, permitted):
        return permitted.unary

    def wrong(self, gold, key):
        return sum(a != b for a, b in zip(gold, key, strict=True))

    def parts(self, batch):
        places = [
            (n, t, c) for n in range(len(batch)) for t in range(np.diff(batch.offsets)[n]) for c in range(batch.labels)
        ]
        if places:
            yield (
                batch.token(*np.transpose(places)),
                lambda n, key: [m == n and key[t] == c for m, t, c in places],
            )


CASES: dict[str, Case] = {"chain": ChainCase()}
