"""The settings of a tagger."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dovetail.models import settings
from dovetail.models.settings import setting


@dataclass(kw_only=True, eq=False)
class TaggerSettings:
    """What a tagger is and how it learns."""

    features: Any = setting("ner", "A named feature set, or a TOML file of templates.", metavar="NAME|FILE", file=True)
    """In Python also templates, in any nesting."""
    order: int = settings.order()
    target: str = settings.target("ner")
    scheme: str = settings.scheme("iob2")
    constrain: bool = setting(True, "Rule out ill-formed tag sequences.", hidden=True)
    loss: str = settings.loss()
    optimiser: str = settings.optimiser("lbfgs")
    l2: float = settings.l2(0.1)
    """As CRFsuite's c2: 1 / (2 variance)."""
    l1: float = settings.l1()
    """As CRFsuite's c1."""
    iterations: int | None = settings.iterations(None)
    batch: int | None = settings.batch()
    gain: float | None = settings.gain(None)
    min_count: int = settings.min_count(2)
    """What was seen once says little about new text."""
    min_documents: int = settings.min_documents()
    """With few, long documents, 2 keeps names from being memorised."""
    hash_bits: int | None = settings.hash_bits()
    observed_only: bool = setting(False, "Only give weights to pairs of feature and label seen in training; smaller.")
    """A little less accurate."""
    merge_twins: bool = setting(True, "Merge features that fire at the same tokens.", hidden=True)
    """Exact for L2, and faster."""
    ignore: Sequence[str] = settings.ignore()
    """Such as ``pos``."""
    predict_layers: bool = settings.predict_layers()
    calibrate: bool = settings.calibrate()
    """One factor for all weights, which changes probabilities but no ranking."""
    balance: bool = settings.balance()
    """How readily to answer O: this changes the best tagging, but no probability."""
    consistency: str = settings.consistency()
    """agree: two passes over each document; graph: the words of a document as one graph, whose links are counted."""
    engine: str = settings.engine()
    patience: int = settings.patience(5)
    seed: int = settings.seed()
    threads: int | None = settings.threads()
