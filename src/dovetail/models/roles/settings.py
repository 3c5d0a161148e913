"""The settings of a labeller of semantic roles."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dovetail.models import settings
from dovetail.models.settings import setting

if TYPE_CHECKING:
    from dovetail.features.resources.clusters import Clusters
    from dovetail.models.parser.estimator import Parser


@dataclass(kw_only=True, eq=False)
class RoleSettings:
    """What a labeller of roles is and how it learns."""

    parser: Parser | None = setting(None, "The parser that trees come from.", hidden=True)
    """None: one is trained with the labeller. One that is trained is used as it is, if gold_trees."""
    gold_trees: bool = setting(False, "Learn from the trees of the training data, not from predicted ones.")
    """Without a parser, only sentences that have trees can then be annotated."""
    reach: int = setting(
        4, "Maximum number of steps down to an argument from what holds it and the predicate.", least=1
    )
    """1: only sisters of the predicate and of what holds it, as Xue and Palmer have it."""
    ranked: int = setting(10, "Number of best frames among which the joint model chooses; 0 for none.", least=0)
    """The joint model looks at all arguments of a predicate together."""
    least: float = setting(
        0.25, "Minimum probability of an argument.", least=0, below=1, wanted="choose one below 1", metavar="P"
    )
    """The best F1 by cross-validation, of votes too; more gives precision, less gives recall."""
    folds: int = setting(4, "Number of parts of the training data for jackknifing.", least=2)
    """Each is parsed by a parser of the others; the joint model learns from labels made in the same way."""
    clusters: Mapping[str, Clusters] | None = setting(None, "Clusters of words, for tagger and parser.", hidden=True)
    max_length: int | None = settings.max_length()
    optimiser: str = settings.optimiser("adagrad")
    loss: str = settings.loss()
    l2: float = settings.l2(1.0)
    iterations: int = settings.iterations(6, shown="")
    batch: int | None = settings.batch(help="Predicates per step.", shown="128 or fewer")
    gain: float = settings.gain(0.1, help="Step size.", shown="")
    min_count: int = settings.min_count(2)
    patience: int = settings.patience(3)
    seed: int = settings.seed()
    threads: int | None = settings.threads()
