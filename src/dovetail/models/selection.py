"""Which templates a model needs: those that a group lasso, whose groups are templates, leaves in use.

The penalty of a template is ``strength * sqrt(tokens * features) * norm of its weights``, where ``features`` is how
many of its features a token has on average. Chance alone gives a template a slope of this order, however many features
it has in all: each token adds its own noise to as many of them. So a strength near one drops what says no more than
chance would, whatever the size of the corpus (Martins and others 2011 select templates by such a lasso).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dovetail.errors import DovetailError
from dovetail.features.algebra.templates import Bias, Template
from dovetail.features.compile.design import Compiler
from dovetail.features.compile.experts import template_of
from dovetail.features.compile.index import Collector
from dovetail.learning.monitor import Monitor
from dovetail.learning.optimisers.online import AdaGrad
from dovetail.learning.priors import GroupLasso
from dovetail.models.training import Run
from dovetail.structures.contract import Floats, Integers

PASSES = 10


def by_template(compiler: Compiler, templates: Sequence[Template], collector: Collector) -> NDArray[np.uint64]:
    """The template of each feature, [features]."""
    return template_of(compiler, templates, collector).astype(np.uint64)


def selected(training: Any, estimator: Any, run: Run) -> list[str]:
    """The templates that are left, in order; the card of the estimator has the norm of each, and what was dropped."""
    run.doing("selecting templates")
    templates = [t for each in training.parts.values() for t in each.templates]
    group = template_groups(training)
    prior = lasso(training, group, len(templates), estimator.selection, estimator.l2)
    optimiser = AdaGrad(limit=PASSES, seed=estimator.seed)
    monitor = Monitor(report=run.progress)
    weight = optimiser.minimise(training.objective, prior, np.zeros(training.objective.parameters), monitor)
    if monitor.reason == "interrupted":
        raise KeyboardInterrupt
    norms = prior.norms(weight)
    kept = [isinstance(t, Bias) or norm > 0 for t, norm in zip(templates, norms.tolist(), strict=True)]
    if not any(stays and not isinstance(t, Bias) for t, stays in zip(templates, kept, strict=True)):
        raise DovetailError(f"selection={estimator.selection:g} drops every template: choose a smaller one")
    pairs = list(zip(templates, kept, norms.tolist(), strict=True))
    estimator.card_["templates"] = {
        "kept": {str(t): round(norm, 3) for t, stays, norm in pairs if stays},
        "dropped": [str(t) for t, stays, _ in pairs if not stays],
    }
    return [str(t) for t, stays, _ in pairs if stays]


def template_groups(training: Any) -> Integers:
    """The template of each parameter, numbered through all parts, [parameters]; -1 for the bias and for tables."""
    group, first = [], 0
    for made in training.parts.values():
        numbers = made.numbers().astype(np.int64) + first
        plain = [first + i for i, t in enumerate(made.templates) if isinstance(t, Bias)]
        numbers[np.isin(numbers, plain)] = -1
        group.append(numbers)
        first += len(made.templates)
    return np.concatenate([*group, np.full(training.scorer.form.shared, -1)])


def lasso(training: Any, group: Integers, templates: int, strength: float, l2: float) -> GroupLasso:
    """The prior for so many templates."""
    tokens = int(training.scorer.offsets[-1])
    amount = strength * np.sqrt(tokens * fired(training, group, templates))
    return GroupLasso(l2=l2, group=group, amount=amount)


def fired(training: Any, group: Integers, templates: int) -> Floats:
    """How many features of each template a token has on average, [templates]."""
    inside = group >= 0
    firing = np.bincount(group[inside], training.scorer.firing()[inside], minlength=templates)
    outputs = np.concatenate(
        [np.full(len(made.templates), made.scorer.layout.outputs) for made in training.parts.values()]
    )
    found: Floats = firing / outputs / max(int(training.scorer.offsets[-1]), 1)
    return found
