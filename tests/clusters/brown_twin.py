"""Brown clustering as its definition has it: every merge by trying all merges and computing all information anew."""

from __future__ import annotations

from itertools import combinations
from math import log

from dovetail.clusters.counts import BigramCounts

Group = frozenset[int]


def information(groups: list[Group], counts: BigramCounts) -> float:
    """Mutual information of the classes in the window: pairs among them, words as often as in the whole text."""
    total = 0.0
    size = {group: sum(int(counts.count[word]) for word in group) / counts.tokens for group in groups}
    home = {word: group for group in groups for word in group}
    pairs: dict[tuple[Group, Group], int] = {}
    for word, group in home.items():
        for at in range(counts.indptr[word], counts.indptr[word + 1]):
            other = home.get(int(counts.follower[at]))
            if other is not None:
                pairs[group, other] = pairs.get((group, other), 0) + int(counts.times[at])
    for (a, b), times in pairs.items():
        share = times / max(counts.tokens - 1, 1)
        total += share * log(share / (size[a] * size[b]))
    return total


def merges_within(groups: list[Group], counts: BigramCounts) -> dict[frozenset[Group], float]:
    """Every merge that is possible, with the information that it leaves."""
    return {
        frozenset((a, b)): information([*(g for g in groups if g not in (a, b)), a | b], counts)
        for a, b in combinations(groups, 2)
    }
