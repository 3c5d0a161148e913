"""Parsers of constituents for several domains, whose weights lean on each other by a hierarchical prior."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from dovetail.errors import DovetailError
from dovetail.learning.hierarchical import BaseModel, HierarchicalObjective
from dovetail.learning.losses import likelihood
from dovetail.learning.monitor import Monitor, Progress
from dovetail.learning.objective import Share
from dovetail.learning.priors import Prior
from dovetail.models.domains.names import check_data
from dovetail.models.parser.data import treebank_of
from dovetail.models.parser.estimator import Parser
from dovetail.models.parser.training import ParserTraining
from dovetail.text.sentence import Sentence


def fit_domains(
    parser: Parser,
    sentences: Mapping[str, Sequence[Sentence]],
    *,
    sigma: float = 0.3,
    top: float = 1.0,
    progress: Callable[[Progress], None] | None = None,
    doing: Callable[[str], None] | None = None,
) -> dict[str | None, Parser]:
    """A parser for each domain, and one for text of no known domain, under None.

    They have one grammar, one tagger and one set of features, read off all trees. ``sigma`` and ``top`` are the
    standard deviations of the hierarchical prior, relative to that of ``parser.l2``: how far a domain may go its own
    way, and how far all of them may go from zero.
    """
    check_data(sentences)
    parser._check_settings()
    if parser.features == "generative":
        raise DovetailError("features='generative' has no weights to share: count the trees of each domain by itself")
    say = doing or (lambda what: None)
    cleaned = {name: treebank_of(some, name, parser.max_length) for name, some in sentences.items()}
    corpus = [s for kept, _ in cleaned.values() for s in kept]
    trees = [tree for _, found in cleaned.values() for tree in found]
    tagger, tags = parser._tags(corpus, trees, say)
    say("pruning the charts")
    training = ParserTraining.prepare(corpus, trees, tags, parser._settings(), tagger)
    begin = np.cumsum([0, *(len(kept) for kept, _ in cleaned.values())]).tolist()
    used = [_share(training, a, b) for a, b in pairwise(begin)]
    objective = HierarchicalObjective([BaseModel(each, each.share, sigma) for each in used], len(training.origin), top)
    monitor = Monitor(report=progress)
    start = objective.start(training.origin)
    weight = parser._optimiser(training).minimise(objective, Prior(parser.l2), start, monitor)
    shared = objective.top(weight)
    made = type(parser)(**parser.get_params())
    made.model_ = training.export(shared)
    everything = sum(map(len, sentences.values()))
    made.card_ = {
        "sentences": len(corpus), "tokens": sum(map(len, corpus)), "left_out": everything - len(corpus),
        **made.model_.sizes(), "stopped": monitor.reason, "dev": None,
    }  # fmt: skip
    found: dict[str | None, Parser] = {None: made}
    for m, name in enumerate(sentences):
        theta = shared.copy()
        theta[used[m].share] = objective.weights_of(m, weight)
        found[name] = made.with_weights(theta)
    return found


def _share(training: ParserTraining, low: int, high: int) -> Share:
    """The loss of some sentences as a function of the weights that any of their trees uses."""
    objective = training.part(low, high)
    return replace(Share.used(replace(objective, loss=likelihood), training.origin), whole=objective)
