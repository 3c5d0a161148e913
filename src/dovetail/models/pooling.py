"""A pool of given models, as one model: ``dovetail.pool``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np

from dovetail.errors import DovetailError
from dovetail.models.layers import LayerTaggers
from dovetail.models.pool import shares_of
from dovetail.models.pools import most_likely_mixing
from dovetail.models.settings import check_choice
from dovetail.scorers.weights import Weights
from dovetail.structures.contract import Floats

POOLS = {
    "dependency": "dovetail.models.pooling:pool_parsers",
    "parser": "dovetail.models.pooling:pool_parsers",
    "nested": "dovetail.models.pooling:pool_linear",
    "segmenter": "dovetail.models.pooling:pool_linear",
    "tagger": "dovetail.models.pooling:pool_linear",
}
"""What pools models of each kind: a function of the models, of how their weights are found, and of dev sentences."""

WEIGHTS = ("uniform", "learnt")


def pool(models: Sequence[Any], weights: str | Sequence[float] = "uniform", dev: Any = None) -> Any:
    """One model from several of the same kind with the same labels: a logarithmic opinion pool, a product of them.

    ``weights``: ``uniform``, ``learnt`` (those under which ``dev`` is most likely), or a number for each model. On
    ``dev`` the pool is also tuned as a model is in training: calibrated, balanced, as its settings say. Models that are
    linear in features become one such model, as fast as any of them and with all their features.

    >>> from dovetail import Tagger
    >>> train, tags = [["Ada", "met", "Bob"], ["Bob", "slept"]] * 3, [["B-PER", "O", "B-PER"], ["B-PER", "O"]] * 3
    >>> both = pool([Tagger(features=f, min_count=1).fit(train, tags) for f in (["word[0]"], ["shape[0]", "bias"])])
    >>> both.predict([["Ada", "slept"]]), both.model_.features.lines()
    ([['B-PER', 'O']], ['word[0]', 'shape[0]', 'bias'])
    """
    every = list(models)
    if len(every) < 2:
        raise DovetailError("a pool needs two models at least")
    kinds = list(dict.fromkeys(_kind(model) for model in every))
    if len(kinds) > 1:
        raise DovetailError(f"a pool is of models of one kind, and these are {' and '.join(map(str, kinds))}")
    if kinds[0] not in POOLS:
        raise DovetailError(f"models of the kind {kinds[0]} cannot be pooled; these can: {', '.join(sorted(POOLS))}")
    for model in every:
        model._check_trained()
    if isinstance(weights, str):
        check_choice("weights", weights, WEIGHTS)
        if weights == "learnt" and dev is None:
            raise DovetailError("weights='learnt' needs dev: sentences with right answers, which no model has seen")
    elif len(weights) != len(every) or not np.all(np.isfinite(np.asarray(weights, dtype=np.float64))):
        raise DovetailError(f"weights: give {len(every)} finite numbers, one for each model")
    module, _, name = POOLS[kinds[0]].partition(":")
    return getattr(import_module(module), name)(every, weights, dev)


def _kind(model: Any) -> str:
    """What model files say that it is."""
    return str(type(model).stored_kind()) if hasattr(type(model), "stored_kind") else type(model).__name__


def pool_linear(models: Sequence[Any], weights: str | Sequence[float], dev: Any) -> Any:
    """A pool of models that are linear in features, as one such model."""
    first, linear = models[0], [model.model_ for model in models]
    check_alike(linear)
    held_out = first._examples(dev, None, "dev") if dev is not None else None
    found = type(first)(**first.get_params(deep=False))
    found.layers_ = LayerTaggers({k: v for model in reversed(models) for k, v in model.layers_.taggers.items()})
    if held_out is not None:
        held_out = found._filled(held_out)
    if not isinstance(weights, str):
        mixing = np.asarray(weights, dtype=np.float64)
    elif weights == "learnt" and held_out is not None:
        mixing = mixing_on(first, linear, held_out)
    else:
        mixing = np.full(len(models), 1.0 / len(models))
    found.model_ = linear[0].pooled(linear[1:], mixing.tolist())
    found.features = found.model_.features
    if any(getattr(model, "vocabulary_", None) is not None for model in models):
        found.vocabulary_ = np.unique(np.concatenate([model.vocabulary_ for model in models]))
    sizes = {name: sum(model.card_.get(name) or 0 for model in models) for name in ("sentences", "tokens")}
    found.card_ = sizes | {"dev": None, "stopped": "pooled", "pool": [round(share, 4) for share in mixing.tolist()]}
    if held_out is not None:
        tuned = Pooled(found.model_, first._seen(held_out), found._threads())
        found.model_ = found._tuned(found.model_, held_out, tuned)
        found.card_["dev"] = found.score(held_out)
    return found


def check_alike(models: Sequence[Any]) -> None:
    """One line that says what differs, where models cannot be multiplied."""
    if any(getattr(model, "network", None) is not None for model in models) or not all(
        isinstance(weights, Weights) for model in models for weights in model.parts.values()
    ):
        raise DovetailError("models with a hidden layer or a network are not linear, and cannot be made one model")
    if len({type(model) for model in models}) > 1:
        raise DovetailError("a pool is of models of one family: all markov, or all semi-markov")
    first, bits = models[0].kept_apart(), _bits(models[0])
    for number, model in enumerate(models[1:], 2):
        for what, own in model.kept_apart().items():
            if own != first[what]:
                raise DovetailError(
                    f"model 1 and model {number} differ in their {what}: {_difference(first[what], own)}"
                )
        if _bits(model) != bits:
            raise DovetailError(
                f"model 1 and model {number} name their features with different numbers of bits (hash_bits, or one of "
                "them is a compact file): train and save them alike"
            )


def _bits(model: Any) -> set[int | None]:
    return {weights.index.bits for weights in model.parts.values()}


def _difference(one: Any, other: Any) -> str:
    if not isinstance(one, list):
        return f"{one} and {other}"
    lacks = [f"{', '.join(map(str, sorted(set(a) - set(b))[:5]))} only in {name}"
             for a, b, name in ((one, other, "the first"), (other, one, "the second")) if set(a) - set(b)]  # fmt: skip
    return "; ".join(lacks)


def mixing_on(estimator: Any, models: Sequence[Any], held_out: list[Any]) -> Floats:
    """The weights [models] under which the answers to held-out sentences are most likely."""
    first, (sentences, answers) = models[0], estimator._answered(held_out)
    alone = [replace(first.pooled([model], (0.0, 1.0)), agreement=0.0, consistency=None) for model in models]
    seen = (model.structures(sentences, estimator._threads()) for model in alone)
    return most_likely_mixing(first, seen, sentences, answers)


def pool_parsers(models: Sequence[Any], weights: str | Sequence[float], dev: Any) -> Any:
    """A pool of parsers, of constituents or of dependencies: see ``pool.py`` in their folders."""
    if weights == "learnt":
        raise DovetailError("weights='learnt' is not for parsers: use uniform, or give a number for each in Python")
    shares = None if isinstance(weights, str) else weights
    found = import_module(f"dovetail.models.{_kind(models[0])}.pool").pooled(models, shares)
    found.card_["pool"] = shares_of(len(models), shares).round(4).tolist()
    if dev is not None:
        found.card_["dev"] = found.score(dev)
    return found


class Pooled:
    """What tuning asks of a training: the structures of held-out sentences, each for itself."""

    tuned: Any

    def __init__(self, model: Any, sentences: Sequence[Any], threads: int) -> None:
        self.model, self.sentences, self.threads = model, sentences, threads

    def held_out(self) -> Any:
        """The structures."""
        return replace(self.model, agreement=0.0, consistency=None).structures(self.sentences, self.threads)
