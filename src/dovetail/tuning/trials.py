"""One trial: models with some settings, each trained without a part of the sentences, and what they find in it."""

from __future__ import annotations

import json
import pickle
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from typing import Any

from dovetail.errors import DovetailError
from dovetail.features.algebra.sets import FeatureSet
from dovetail.models.base import Estimator
from dovetail.models.folds import dealt, held_out_counts
from dovetail.models.layers import LayerTaggers
from dovetail.models.linear.estimator import LinearEstimator
from dovetail.models.training import Run
from dovetail.version import __version__

PATIENCE = 2
"""Scores without improvement after which trials of L-BFGS stop: what comes later differs little between settings."""
NO_RUN = Run(None, None, None, lambda what: None)


@dataclass(frozen=True)
class TuneData:
    """An untrained model with what is not searched, and the sentences with their right answers.

    ``resources`` join feature sets that a search tries, as they have joined that of the model.
    """

    model: Estimator
    sentences: Sequence[Any]
    resources: Mapping[str, Any] = field(default_factory=dict)
    sources: Sequence[Any] = ()
    """What else results depend on, as JSON can hold it, such as digests of files. Without, objects are looked into."""

    @cached_property
    def fingerprint(self) -> str:
        """Of the model, its resources and the sentences."""
        digest = sha256(f"{__version__} {self.model.stored_kind()} {json.dumps(self.sources)}".encode())
        for name, value in sorted(self.model.get_params(deep=False).items()):
            if name not in ("threads", "seed"):
                digest.update(f"{name} {_shown(value, bool(self.sources))}\n".encode())
        for sentence in self.sentences:
            digest.update(repr(sentence).encode() + b"\n")
        return digest.hexdigest()

    def variant(self, settings: Mapping[str, Any], **more: Any) -> Any:
        """An untrained model with these settings."""
        model = type(self.model)(**self.model.get_params(deep=False))
        told = dict(settings)
        if "features" in told and self.resources:
            told["features"] = FeatureSet.of(told["features"]).joined(**self.resources)
        model.set_params(**told, **more)
        model.check_settings()
        return model


def _shown(value: Any, briefly: bool) -> str:
    """A setting as a fingerprint knows it."""
    if isinstance(value, str | int | float | bool | None | list | tuple):
        return repr(value)
    return type(value).__name__ if briefly else sha256(pickle.dumps(value)).hexdigest()


@dataclass(frozen=True)
class Outcome:
    """What came of a trial: for each part that was held out the counts [gold, found, right]: see ``models.choices``."""

    fingerprint: str
    settings: Mapping[str, Any]
    deal: int
    parts: Mapping[str, Sequence[float]]
    seconds: float


@dataclass(frozen=True)
class Trial:
    """Some settings, a deal of the sentences into parts (by its number), and the parts to hold out."""

    settings: Mapping[str, Any]
    deal: int
    parts: tuple[int, ...]
    of: int

    def fingerprint(self, data: TuneData) -> str:
        """Of all that the outcome depends on."""
        shaping = [data.fingerprint, dict(self.settings), self.deal, self.parts, self.of]
        return sha256(json.dumps(shaping, sort_keys=True).encode()).hexdigest()[:24]

    def run(self, data: TuneData, threads: int | None = 1) -> Outcome:
        """Train and count."""
        began = time.perf_counter()
        try:
            counts = self._counts(data, threads)
        except DovetailError as error:
            raise DovetailError(f"{described(self.settings)}: {error}") from None
        parts = {str(number): [float(each) for each in own] for number, own in sorted(counts.items())}
        return Outcome(self.fingerprint(data), dict(self.settings), self.deal, parts, time.perf_counter() - began)

    def _counts(self, data: TuneData, threads: int | None) -> dict[int, Sequence[float]]:
        """Together where the model chooses by parts what dev would, as training does; else each by itself."""
        model = data.variant(self.settings, threads=threads, seed=self.deal)
        corpus = model._examples(data.sentences, None, "training")
        if isinstance(model, LinearEstimator) and not any(model._setting(name) for name in ("pool", "encoder")):
            if model._optimiser_name() == "lbfgs":
                model.set_params(patience=min(model._setting("patience"), PATIENCE))
            model.layers_ = LayerTaggers()
            return dict(held_out_counts(model, corpus, self.of, self.parts, NO_RUN))
        part = dealt(corpus, self.of, self.deal)
        found: dict[int, Sequence[float]] = {}
        for number in self.parts:
            rest = [item for item, own in zip(corpus, part, strict=True) if own != number]
            held_out = [item for item, own in zip(corpus, part, strict=True) if own == number]
            one = data.variant(self.settings, threads=threads, seed=self.deal)
            found[number] = one.fit(rest)._part_counts(held_out)
        return found


def described(settings: Mapping[str, Any]) -> str:
    """Settings for people.

    >>> described({"l2": 0.3, "order": 2}), described({})
    ('l2 0.3, order 2', 'the defaults')
    """
    return ", ".join(f"{name} {value}" for name, value in settings.items()) or "the defaults"
