"""What is searched: for each kind of model the choices that are known to matter, and mixtures of them.

A choice is a few settings that go together: noise is itself a penalty, so it comes with less of the other one. What is
known, of entities with a few hundred sentences (docs/tune.md has the figures): the penalty, noise and the least number
of occurrences of a feature shift F1 by a point or two, feature sets by several; the tag scheme, the order and the loss
matter now and then; pools, selected templates and hidden layers do not pay for the time they take.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from dovetail.errors import DovetailError

Settings = Mapping[str, Any]
Dimension = Sequence[Settings]
"""Ways to choose one thing, the first of them the default."""

_USUAL: Settings = {}
_NOISE: Dimension = (
    _USUAL,
    {"noise": "dropout:0.5", "l2": 0.03},
    {"noise": "dropout:0.3", "l2": 0.01},
)


def _values(name: str, *values: Any) -> Dimension:
    return (_USUAL, *({name: value} for value in values))


SPACES: dict[str, dict[str, Dimension]] = {
    "tagger": {
        "penalty": _values("l2", 0.03, 0.01, 0.3),
        "occurrences": _values("min_count", 1),
        "order": _values("order", 2),
        "noise": _NOISE,
        "scheme": _values("scheme", "iobes"),
        "features": _values("features", "plain", "liang-ner"),
        "loss": _values("loss", "softmax-margin"),
        "consistency": _values("consistency", "none", "agree"),
    },
    "segmenter": {
        "penalty": _values("l2", 0.01, 0.03, 0.3, 1.0),
        "noise": _NOISE,
        "model": _values("model", "markov", "semi-markov"),
        "occurrences": _values("min_count", 1, 3),
        "loss": _values("loss", "softmax-margin"),
    },
    "nested": {
        "penalty": _values("l2", 0.5, 1.0, 2.0, 8.0),
        "occurrences": _values("min_count", 1, 3),
        "passes": _values("iterations", 8, 30),
        "loss": _values("loss", "softmax-margin"),
    },
    "dependency": {
        "penalty": _values("l2", 0.3, 1.0, 10.0),
        "occurrences": _values("min_count", 2, 10),
        "loss": _values("loss", "softmax-margin"),
        "answer": _values("decode", "best"),
    },
    "parser": {
        "penalty": _values("l2", 0.1, 0.3, 3.0),
        "vertical": _values("vertical", 2),
        "horizontal": _values("horizontal", 1, 2),
        "unaries": _values("unaries", "words", "all"),
        "passes": _values("iterations", 5, 20),
    },
    "joint": {
        "penalty": _values("l2", 0.1, 0.3, 3.0),
        "passes": _values("iterations", 5, 20),
        "gain": _values("gain", 0.05, 0.2),
    },
    "roles": {
        "penalty": _values("l2", 0.1, 0.3, 3.0),
        "occurrences": _values("min_count", 1, 3),
        "frames": _values("ranked", 0),
        "passes": _values("iterations", 3, 12),
    },
    "entailment": {
        "penalty": _values("l2", 1.5, 5.0, 50.0),
        "names": _values("names", "none"),
    },
}
"""By the kind of a model: the choices by name."""


def space_of(kind: str, fixed: Collection[str] = ()) -> dict[str, Dimension]:
    """The choices of a kind, less those of settings that are fixed already.

    >>> sorted(space_of("joint", fixed={"l2"}))
    ['gain', 'passes']
    """
    if kind not in SPACES:
        raise DovetailError(
            f"no settings to search are known of models of kind {kind!r}; there are {', '.join(SPACES)}"
        )
    free = {name: tuple(way for way in ways if not set(way) & set(fixed)) for name, ways in SPACES[kind].items()}
    return {name: ways for name, ways in free.items() if len(ways) > 1}


def candidates(space: Mapping[str, Dimension], number: int, seed: int) -> list[dict[str, Any]]:
    """The defaults, then other settings to try: each way alone, a way of each choice first; then mixtures at random.

    The first ones are the same for any number, so that a search can be made larger and what is done is kept.

    >>> candidates({"penalty": ({}, {"l2": 1.0}), "order": ({}, {"order": 2})}, 4, seed=1)
    [{}, {'l2': 1.0}, {'order': 2}, {'l2': 1.0, 'order': 2}]
    """
    found: list[dict[str, Any]] = [{}]
    for settings in _all(space, seed):
        if len(found) >= number:
            break
        if settings not in found:
            found.append(settings)
    return found


def _all(space: Mapping[str, Dimension], seed: int) -> Iterator[dict[str, Any]]:
    """Every way alone, and for a while mixtures."""
    rng = np.random.default_rng(seed)
    longest = max(map(len, space.values()), default=1)
    alone = [dict(ways[n]) for n in range(1, longest) for ways in space.values() if n < len(ways)]
    yield from alone
    names = list(space)
    for _ in range(50 * len(alone) if len(names) > 1 else 0):
        some = rng.permutation(len(names))[: rng.integers(2, min(3, len(names)) + 1)]
        mixed: dict[str, Any] = {}
        for name in sorted(some.tolist()):
            ways = space[names[name]][1:]
            mixed |= ways[int(rng.integers(len(ways)))]
        yield mixed


def mixed(first: Settings, second: Settings) -> dict[str, Any]:
    """Both together; where they disagree, the first.

    >>> mixed({"l2": 1.0}, {"l2": 0.1, "order": 2})
    {'l2': 1.0, 'order': 2}
    """
    return {**second, **first}
