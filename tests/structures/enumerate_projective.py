"""The brute-force twin of projective trees: every assignment of heads is tried."""

from __future__ import annotations

from functools import cache
from itertools import product

import numpy as np

from dovetail.structures.projective import ProjectivePotentials


def _is_tree(heads, several):
    """By the definition: everybody comes to the root, and whoever stands between a word and its head is below it."""
    if sum(h == 0 for h in heads) != 1 and not (several and 0 in heads):
        return False

    def above(word):
        seen = [word]
        while seen[-1] != 0 and len(seen) <= len(heads) + 1:
            seen.append(heads[seen[-1] - 1])
        return seen

    ways = {word: above(word) for word in range(1, len(heads) + 1)}
    if any(way[-1] != 0 for way in ways.values()):
        return False
    for word, head in enumerate(heads, 1):
        if any(head not in ways[other] for other in range(min(word, head) + 1, max(word, head))):
            return False
    return True


@cache
def trees(words, several):
    """All projective trees of so many words, as tuples of heads."""
    if words == 0:
        return ((),)
    return tuple(heads for heads in product(range(words + 1), repeat=words) if _is_tree(heads, several))


def parts(heads, positions):
    """The parts of one tree: attach [m, m, 2] and stop [m, 2, 2]."""
    counts = ProjectivePotentials(np.zeros((positions, positions, 2)), np.zeros((positions, 2, 2)))
    if not heads:
        return counts
    for head in range(positions):
        left = [d for d in range(1, head) if heads[d - 1] == head]
        right = [d for d in range(head + 1, positions) if heads[d - 1] == head]
        for side, nearest_first in enumerate((left[::-1], right)):
            for rank, dependent in enumerate(nearest_first):
                counts.attach[head, dependent, int(rank == 0)] = 1
            if head > 0 or side == 1:
                counts.stop[head, side, int(bool(nearest_first))] = 1
    return counts
