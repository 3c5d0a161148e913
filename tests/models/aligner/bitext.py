"""A made-up language pair: every word has a translation, words are reordered, some have none."""

from __future__ import annotations

import numpy as np

from dovetail.text.bitext import Pair

Gold = set[tuple[int, int]]


def made_up(pairs: int, seed: int = 0, words: int = 60, noise: float = 0.0) -> tuple[list[Pair], list[Gold]]:
    """Pairs with their right links; a share of them, ``noise``, are not translations, and have none."""
    rng = np.random.default_rng(seed)
    found, right = [], []
    for _ in range(pairs):
        length = int(rng.integers(2, 9))
        source = ((rng.zipf(1.3, length) - 1) % words).tolist()
        order = list(range(length))
        if rng.random() < 0.3:
            at = int(rng.integers(0, length - 1))
            order[at], order[at + 1] = order[at + 1], order[at]
        target, links = [], set()
        for i in order:
            if rng.random() < 0.1:
                target.append(f"fill{rng.integers(3)}")
            links.add((i, len(target)))
            target.append(f"t{source[i]}x")
        if rng.random() < noise:
            target, links = [f"t{w}x" for w in rng.integers(words, 2 * words, int(rng.integers(2, 9)))], set()
        found.append(Pair(tuple(f"s{w}" for w in source), tuple(target)))
        right.append(links)
    return found, right
