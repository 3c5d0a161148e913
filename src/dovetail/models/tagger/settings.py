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
    hidden: int = settings.hidden()
    activation: str = settings.activation()
    hidden_inputs: str = settings.hidden_inputs()
    encoder: str | None = settings.encoder()
    """Not beside lbfgs: what then trains is adam."""
    tune_encoder: bool = settings.tune_encoder()
    encoder_size: int = settings.encoder_size()
    dropout: float = settings.dropout()
    loss: str = settings.loss()
    optimiser: str = settings.optimiser("lbfgs")
    l2: float = settings.l2(0.1)
    """As CRFsuite's c2: 1 / (2 variance)."""
    l1: float = settings.l1()
    """As CRFsuite's c1."""
    noise: str | None = settings.noise()
    """A penalty on weights that rest on single features; see ``learning.noise``."""
    noise_text: Sequence[Any] = settings.noise_text()
    expectation_loss: str = settings.expectation_loss()
    expectation_weight: float = settings.expectation_weight()
    """What an expectation counts beside a labelled sentence; see ``learning.expectations``."""
    iterations: int | None = settings.iterations(None)
    batch: int | None = settings.batch()
    gain: float | None = settings.gain(None)
    decay: float = settings.decay()
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
    pool: Any = settings.pool()
    """In Python also a mapping from names of experts to templates."""
    pool_weights: str = settings.pool_weights()
    select_templates: bool = settings.select_templates()
    selection: float = settings.selection()
    cross_validate: int | None = settings.cross_validate(None, shown="depends on the data")
    """None: 10 parts of entities, of over 1,000 sentences fewer of these; none of less than 100."""
    patience: int = settings.patience(5)
    seed: int = settings.seed()
    threads: int | None = settings.threads()
