"""Cross-validation inside the training data, for those who have no dev data to choose by.

The sentences are dealt into parts, by whole documents where there are enough. For each part a model is trained on the
others. All of them go on side by side, and after every few passes what they find in the parts that they have not seen
is counted and summed up: one score, as if the training data were dev data. It says how many passes to make; then the
held-out parts, each as its model sees it, say the rest (``Estimator._choice``), and the model itself is trained on
everything.

Parts of one corpus have more in common than with text to come: what was learnt by heart serves them too well, and few
sentences say little. So L-BFGS stops at the first score that is no more than half of its standard error below the best
(after the rule of Breiman and others 1984), since fewer passes learn less by heart.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dovetail.errors import DovetailError
from dovetail.learning.monitor import Monitor, Progress
from dovetail.learning.optimisers.lbfgs import LBFGS
from dovetail.models.choices import Held, f1_of, standard_error, summed
from dovetail.models.layers import LayerTaggers
from dovetail.models.training import Run
from dovetail.structures.contract import Floats, Integers
from dovetail.threads import run_shards

FEWEST = 100
"""Sentences: fewer tell too little to choose by, unless it is asked for."""
PARTS = 10
"""Into which the data is dealt, unless the settings say otherwise."""
TRAINED = 10_000
"""Sentences that are trained on, in all models together, before fewer of the parts are held out."""


WITHIN = 0.5
"""Standard errors below the best score at which fewer passes are as good."""


class Chosen(NamedTuple):
    """What held-out parts have chosen, and their score under it."""

    passes: int | None
    """Over the data; None: as many as training takes by itself."""
    choice: Any
    """What ``Estimator._choice`` has found."""
    score: float
    parts: int
    """How many were held out."""


def parts_of(wanted: int | None, sentences: int) -> tuple[int, int]:
    """Into how many parts to deal so many sentences, and how many of these to hold out in turn; 0 for none.

    >>> parts_of(None, 99), parts_of(None, 500), parts_of(None, 2_500), parts_of(None, 14_000)
    ((0, 0), (10, 10), (10, 4), (10, 1))
    >>> parts_of(3, 40), parts_of(0, 500)
    ((3, 3), (0, 0))
    """
    if wanted is not None:
        return wanted, wanted
    if sentences < FEWEST:
        return 0, 0
    return PARTS, min(PARTS, max(1, TRAINED // sentences))


def dealt(items: Sequence[Any], parts: int, seed: int) -> NDArray[np.int64]:
    """The part that each item is in, [items]: documents, or where there are few, single items, dealt at random.

    A document goes to the part that has least so far. Documents are few if there are not two for each part.
    """
    names = [getattr(item, "document", None) for item in items]
    if len(set(names) - {None}) < 2 * parts:
        names = [None] * len(items)
    group = np.array([-1 - i if name is None else name for i, name in enumerate(names)], np.int64)
    _, number = np.unique(group, return_inverse=True)
    sizes = np.bincount(number, [max(len(item), 1) for item in items]) if len(items) else np.zeros(0)
    order = np.random.default_rng(seed).permutation(len(sizes))
    part, filled = np.zeros(len(sizes), np.int64), np.zeros(parts)
    for one in order[np.argsort(-sizes[order], kind="stable")] if parts else []:
        part[one] = np.argmin(filled)
        filled[part[one]] += sizes[one]
    return part[number]


@dataclass
class _Until(Monitor):
    """Ends a run after so many passes, in a state to go on from."""

    passes: int = 0
    stop: Callable[[], bool] = lambda: False
    told: Callable[[int, int, float], None] = lambda iteration, limit, objective: None
    watched: bool = False
    state: dict[str, Any] | None = None

    def after_pass(
        self,
        iteration: int,
        limit: int,
        objective: float,
        weights: Callable[[], Floats],
        state: Callable[[], dict[str, Any]],
    ) -> bool:
        """Whether these are enough."""
        self.told(iteration, limit, objective)
        if iteration < self.passes and not self.stop():
            return False
        self.state = state()
        return True


@dataclass
class Fold:
    """A model in training, and the part of the data that is held out from it."""

    estimator: Any
    training: Any
    held_out: list[Any]
    count: Callable[[Floats], Integers]
    optimiser: Any
    start: Floats
    number: int = 0
    """Of the part."""
    weight: Floats = field(init=False)
    state: dict[str, Any] | None = None
    ended: bool = False

    def advance(self, monitor: _Until) -> Integers:
        """Train on, and count what is found in the part; one whose training has ended stays as it is."""
        if not self.ended:
            training = self.training
            hints = {"curvature": training.curvature()} if isinstance(self.optimiser, LBFGS) else {}
            self.weight = self.optimiser.minimise(
                training.objective, training.prior, self.start, monitor, self.state, **hints
            )
            self.state, self.ended = monitor.state, monitor.state is None
            self.found = self.count(self.weight)
        return self.found

    def held(self, weight: Floats) -> Held:
        """The part, as some weights see it."""
        training = self.training
        training.weight = weight
        model = training.export(weight)
        return Held(model, self.held_out, self.estimator._held_structures(model, training))


class Kept(NamedTuple):
    """Where all models were after so many passes, and what they scored together."""

    passes: int
    score: float
    weights: list[Floats]


@dataclass
class CrossValidation:
    """The models of all parts, trained side by side."""

    estimator: Any
    run: Run
    folds: list[Fold]
    limit: int
    best: float = -np.inf
    error: float = 0.0
    since: int = 0
    kept: list[Kept] = field(default_factory=list)
    _lock: Any = field(default_factory=Lock, init=False)

    def train(self) -> None:
        """Until the score has not risen for a while, or all models are trained."""
        every, patience = self.estimator._dev_every(), self.estimator._setting("patience")
        watch, passes = Monitor(), 0
        with watch.catching_interrupt():
            while passes < self.limit and not all(fold.ended for fold in self.folds) and self.since < patience:
                passes = min(passes + every, self.limit)
                self._advance(passes, watch)
                if watch.interrupted:
                    raise KeyboardInterrupt
        self.ended = self.kept[0].passes == passes and all(fold.ended for fold in self.folds)

    def _advance(self, passes: int, watch: Monitor) -> None:
        def work(number: int) -> Integers:
            def told(iteration: int, limit: int, objective: float) -> None:
                with self._lock:
                    self._report(number, iteration, objective, watch)

            return self.folds[number].advance(_Until(passes=passes, stop=lambda: watch.interrupted, told=told))

        found = run_shards(work, range(len(self.folds)), self.estimator._threads())
        counts = max(summed(found), key=f1_of)
        score = f1_of(counts)
        if score > self.best:
            self.best, self.since = score, 0
            self.error = WITHIN * standard_error(counts) if self.estimator._setting("optimiser") == "lbfgs" else 0.0
        else:
            self.since += 1
        self.kept.append(Kept(passes, score, [fold.weight.copy() for fold in self.folds]))
        self.kept = [one for one in self.kept if one.score >= self.best - self.error]

    def _report(self, number: int, iteration: int, objective: float, watch: Monitor) -> None:
        if self.run.progress is not None:
            best = self.best if np.isfinite(self.best) else None
            seconds = time.perf_counter() - watch.started
            part = (number + 1, len(self.folds))
            self.run.progress(Progress(iteration, self.limit, objective, seconds, None, best, part=part))

    def chosen(self, model: Any) -> Chosen:
        """What is best for a model that is to be trained on everything; ``model`` has no weights yet."""
        first = self.kept[0]
        held = [fold.held(weight) for fold, weight in zip(self.folds, first.weights, strict=True)]
        choice, score = self.estimator._choice(held, model)
        score = first.score if score is None else score
        return Chosen(None if self.ended else first.passes, choice, score, len(self.folds))


def cross_validated(estimator: Any, corpus: list[Any], training: Any, run: Run) -> Chosen | None:
    """What the training data of an estimator chooses by itself, if it can; ``training`` is that of all of it."""
    if estimator._setting("encoder") is not None:
        return None
    if estimator._setting("pool") is not None:
        return None  # each expert trains to its end
    judged = [i for i, item in enumerate(corpus) if estimator._judges(item)]
    parts, held_out = estimator._parts(training, len(judged))
    if parts < 2:
        return None
    asked = estimator._setting("cross_validate") is not None
    if parts > len(judged):
        raise DovetailError(
            f"cross_validate={parts}: there are {len(judged)} training sentences to hold out; choose fewer parts, or 0"
        )
    folds = _folds(estimator, corpus, parts, range(held_out), training, run, judged, lenient=not asked)
    if not folds:
        return None
    run.doing("cross-validating")
    found = CrossValidation(estimator, run, folds, estimator._optimiser(training).limit)
    found.train()
    return found.chosen(getattr(training, "model", None))


def held_out_counts(
    estimator: Any, corpus: list[Any], parts: int, which: Sequence[int], run: Run
) -> dict[int, list[float]]:
    """What a model of the other parts finds in each of these parts of the corpus: counts [3], see ``models.choices``.

    How many passes to make, and what else held-out text decides, is chosen by all of these parts together.
    """
    judged = [i for i, item in enumerate(corpus) if estimator._judges(item)]
    folds = _folds(estimator, corpus, parts, which, None, run, judged)
    if not folds:
        raise DovetailError("there are too few sentences to hold some out: give more of them")
    found = CrossValidation(estimator, run, folds, estimator._optimiser(folds[0].training).limit)
    found.train()
    chosen = found.chosen(getattr(folds[0].training, "model", None))
    counts = {}
    for fold, weight in zip(folds, found.kept[0].weights, strict=True):
        fold.training.weight = weight
        model = fold.training.export(weight)
        fold.estimator.model_ = model if chosen.choice is None else fold.estimator._applied(model, chosen.choice)
        counts[fold.number] = [float(each) for each in fold.estimator._part_counts(fold.held_out)]
    return counts


def _folds(
    estimator: Any,
    corpus: list[Any],
    parts: int,
    which: Sequence[int],
    whole: Any,
    run: Run,
    judged: list[int],
    lenient: bool = False,
) -> list[Fold]:
    """The models to train where the corpus is dealt into parts and these are held out in turn.

    ``whole`` is the training of all of it, if there is one; ``judged`` the sentences that models can be judged by.
    """
    text = estimator._filled(corpus)
    part = dealt(text, parts, estimator._setting("seed"))
    able = np.isin(np.arange(len(text)), judged)
    folds: list[Fold] = []
    for done, number in enumerate(which, 1):
        run.doing(f"preparing part {done} of {len(which)}")
        rest, own = np.flatnonzero(part != number), np.flatnonzero((part == number) & able)
        try:
            made = _fold(estimator, [text[i] for i in rest], [text[i] for i in own], whole, run)
        except DovetailError:
            if not lenient:
                raise
            return []  # too little is left to learn from
        if made is not None:
            made.number = number
            whole = made.training if whole is None else whole
            folds.append(made)
    return folds


def _fold(estimator: Any, rest: list[Any], own: list[Any], whole: Any, run: Run) -> Fold | None:
    """A model of the rest, which is to be judged by its own part; None where nothing can be judged so."""
    if not any(map(len, rest)) or not any(map(len, own)):
        return None
    one = copy(estimator)
    one.model_, one.card_, one.layers_ = None, {}, LayerTaggers()
    if one._setting("predict_layers"):
        one.predict_layers = False  # sentences have what can be had
    training = one._prepare(rest, None, run._replace(doing=lambda what: None))
    if whole is not None and not one._comparable(training, whole):
        return None
    start = training.start(None if run.init is None else run.init._model())
    return Fold(one, training, own, one._dev_counter(training, own), one._optimiser(training), start)
