"""The brute-force twin of binary bracketings: all trees over the words, with all labels."""

from __future__ import annotations

from functools import cache
from itertools import product


@cache
def shapes(begin, end):
    """All binary trees over some words, as tuples of (begin, end), parents first."""
    if end - begin == 1:
        return (((begin, end),),)
    return tuple(
        ((begin, end), *left, *right)
        for split in range(begin + 1, end)
        for left in shapes(begin, split)
        for right in shapes(split, end)
    )


@cache
def bracketings(words, labels):
    """All labelled bracketings of so many words, as tuples of (begin, end, label)."""
    if words == 0:
        return ((),)
    return tuple(
        tuple((*span, label) for span, label in zip(shape, chosen, strict=True))
        for shape in shapes(0, words)
        for chosen in product(range(labels), repeat=len(shape))
    )


def rules(brackets):
    """The labels of every span of several words and of its halves."""
    label = {(begin, end): x for begin, end, x in brackets}
    for begin, end, x in brackets:
        if end - begin > 1:
            [split] = [k for k in range(begin + 1, end) if (begin, k) in label and (k, end) in label]
            yield x, label[begin, split], label[split, end]
