"""Dependency parsers of several domains, whose weights lean on each other by a hierarchical prior."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from dovetail.errors import DovetailError
from dovetail.learning.hierarchical import BaseModel, HierarchicalObjective
from dovetail.learning.losses import LOSSES
from dovetail.learning.monitor import Monitor, Progress
from dovetail.learning.objective import Share
from dovetail.learning.priors import Prior
from dovetail.models.dependency.estimator import LONGEST, DependencyParser, gold_heads
from dovetail.models.dependency.model import DependencyModel
from dovetail.models.dependency.training import arc_objective, curvature
from dovetail.models.domains.names import check_data
from dovetail.models.tagging import given_tags
from dovetail.text.sentence import Sentence

Floats = NDArray[np.float64]


def fit_domains(
    parser: DependencyParser,
    sentences: Mapping[str, Sequence[Sentence]],
    *,
    sigma: float = 0.1,
    top: float = 1.0,
    progress: Callable[[Progress], None] | None = None,
    doing: Callable[[str], None] | None = None,
) -> dict[str | None, DependencyParser]:
    """A parser for each domain, and one for text of no known domain, under None.

    ``parser`` is trained on all sentences first. From its weights on, each domain learns how far to go its own way:
    ``sigma`` and ``top`` are the standard deviations of the hierarchical prior, relative to that of ``parser.l2``.
    Relations, and what arcs are looked at, stay those of all domains.

    >>> layers = {"head": ("2", "0"), "deprel": ("nsubj", "root"), "pos": ("NNP", "VBD")}
    >>> news, web = Sentence(("Ada", "wrote"), layers), Sentence(("bob", "slept"), layers)
    >>> parsers = fit_domains(DependencyParser(bits=12), {"news": [news] * 4, "web": [web] * 4})
    >>> parsers["web"].predict([Sentence(("ada", "slept"), {"pos": ("NNP", "VBD")})])[0].heads
    (1, -1)
    """
    if parser.predict_tags:
        raise DovetailError("parsers by domain read the parts of speech of the text: leave predict_tags out")
    check_data(sentences)
    shared = parser.fit([s for some in sentences.values() for s in some], progress=progress, doing=doing).model_
    assert shared is not None
    used = [_share(parser, shared, [s for s in some if len(s) <= LONGEST]) for some in sentences.values()]
    objective = HierarchicalObjective([BaseModel(u, u.share, sigma) for u, _ in used], shared.fine.weights, top)
    start = objective.start(shared.fine_weight.astype(np.float64))
    guess = objective.curvature([own for _, own in used]) + 2.0 * parser.l2
    hints = {"curvature": guess} if parser.optimiser == "lbfgs" else {}
    weight = parser._optimiser().minimise(objective, Prior(parser.l2), start, Monitor(report=progress), **hints)
    found: dict[str | None, DependencyParser] = {None: parser.with_weights(objective.top(weight))}
    for m, name in enumerate(sentences):
        theta = objective.top(weight)
        theta[used[m][0].share] = objective.weights_of(m, weight)
        found[name] = parser.with_weights(theta)
    return found


def _share(parser: DependencyParser, model: DependencyModel, sentences: Sequence[Sentence]) -> tuple[Share, Floats]:
    """The loss of a domain as a function of the weights that its arcs use, and a guess at its curvature."""
    words, tags = [s.words for s in sentences], given_tags(sentences, parser.tags)
    heads = np.concatenate(gold_heads(sentences)[0])
    scorer, _ = model.scorer(words, tags, parser._threads(), heads)
    guess = curvature(scorer, Prior())
    used = np.flatnonzero(guess)
    return Share(arc_objective(scorer, heads, LOSSES[parser._loss()]), used), guess[used]
