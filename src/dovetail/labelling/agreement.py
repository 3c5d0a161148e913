"""How far annotators agree on the sentences that several of them have labelled."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

from dovetail.labelling.tasks import Task


class Agreement(NamedTuple):
    """Of two annotators, on the sentences that both have labelled."""

    first: str
    second: str
    sentences: int
    kappa: float | None
    """Cohen's, over the labels of words; None where it is not defined (both gave one label throughout)."""
    f1: float | None
    """Of the entities of one against those of the other, in percent; None where neither has any."""


def kappa(first: Sequence[str], second: Sequence[str]) -> float | None:
    """Cohen's kappa: agreement beyond what the shares of labels make by chance.

    >>> kappa("aabb", "aabb"), kappa("aabb", "abab"), kappa("aaaa", "aaaa")
    (1.0, 0.0, None)
    """
    total = len(first)
    if not total:
        return None
    seen = sum(a == b for a, b in zip(first, second, strict=True)) / total
    shares = Counter(first), Counter(second)
    chance = sum(shares[0][label] * shares[1][label] for label in shares[0]) / total**2
    return None if chance >= 1 else (seen - chance) / (1 - chance)


def agreement(task: Task, answers: Mapping[str, Mapping[int, list[Any]]], lengths: Sequence[int]) -> list[Agreement]:
    """Every pair of annotators who share a sentence; answers by annotator and number of the sentence.

    >>> from dovetail.labelling.tasks import TASKS
    >>> both = {"ann": {0: [[0, 1, "PER"]]}, "bob": {0: [[0, 1, "PER"], [2, 3, "LOC"]], 1: []}}
    >>> [found] = agreement(TASKS["entities"], both, [4, 2])
    >>> found.sentences, round(found.kappa, 2), round(found.f1, 1)
    (1, 0.56, 66.7)
    """
    found = []
    for a, b in combinations(sorted(answers), 2):
        shared = sorted(answers[a].keys() & answers[b].keys())
        if shared:
            pairs = [(answers[a][n], answers[b][n]) for n in shared]
            tags = [
                [task.tags(pair[side], lengths[n]) for n, pair in zip(shared, pairs, strict=True)] for side in (0, 1)
            ]
            flat = [[tag for sentence in side for tag in sentence] for side in tags]
            f1 = None if task.name == "words" else _f1(pairs)
            found.append(Agreement(a, b, len(shared), kappa(*flat), f1))
    return found


def _f1(pairs: Sequence[tuple[list[Any], list[Any]]]) -> float | None:
    right = given = 0
    for a, b in pairs:
        first, second = ({tuple(span) for span in side} for side in (a, b))
        right += len(first & second)
        given += len(first) + len(second)
    return 200.0 * right / given if given else None
