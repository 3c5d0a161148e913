"""The settings of a tagger of nested entities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dovetail.models import settings
from dovetail.models.settings import setting

if TYPE_CHECKING:
    from dovetail.features.resources.resource import Resource


@dataclass(kw_only=True, eq=False)
class NestedSettings:
    """What a tagger of nested entities is and how it learns."""

    features: Any = setting("nested", "A named feature set, or lines of templates.", hidden=True)
    resources: Mapping[str, Resource] = setting(dict, "Clusters and lexicons.", hidden=True)
    """By name; their usual templates are added to a named set."""
    target: str = settings.target("ner", help="The layer with entities, in files without nested ones.")
    """For sentences that have no spans; answers are written there as well."""
    ignore: Sequence[str] = settings.ignore()
    """Such as ``pos``, for a named set."""
    predict_layers: bool = settings.predict_layers()
    pos: str = setting(
        "given", "Source of parts of speech: the text, or the model, with the entities.", choices=("given", "joint")
    )
    """Given ones are in the layer ``pos``, and are read if there are any."""
    longest: int | None = setting(None, "Maximum number of words of an entity.", least=1, shown="100")
    max_length: int | None = settings.max_length()
    hidden: int = settings.hidden()
    """Between features of tokens and labels: features of whole entities have none."""
    activation: str = settings.activation()
    hidden_inputs: str = settings.hidden_inputs()
    encoder: str | None = settings.encoder()
    """Not beside lbfgs: what then trains is adam."""
    tune_encoder: bool = settings.tune_encoder()
    encoder_size: int = settings.encoder_size()
    dropout: float = settings.dropout()
    loss: str = settings.loss()
    optimiser: str = settings.optimiser("adagrad")
    l2: float = settings.l2(4.0)
    l1: float = settings.l1()
    noise: str | None = settings.noise()
    """A penalty on weights that rest on single features; see ``learning.noise``."""
    noise_text: Sequence[Any] = settings.noise_text()
    iterations: int | None = settings.iterations(None, shown="15; 200 for lbfgs")
    batch: int | None = settings.batch()
    gain: float | None = settings.gain(None, shown="0.05")
    min_count: int = settings.min_count(2)
    hash_bits: int | None = settings.hash_bits()
    """In each part of the model."""
    calibrate: bool = settings.calibrate()
    agree: bool = settings.agree(help="Favour one answer for the same words in a document, as is best on dev.")
    balance: bool = settings.balance(help="Choose on dev how probable an entity must be, for the best F1.")
    """Else 0.4."""
    pool: Any = settings.pool()
    """In Python also a mapping from names of experts to templates."""
    pool_weights: str = settings.pool_weights()
    select_templates: bool = settings.select_templates()
    selection: float = settings.selection()
    cross_validate: int | None = settings.cross_validate(None, shown="depends on the data")
    """None: 10 parts of entities, of over 1,000 sentences fewer of these; none of less than 100."""
    patience: int = settings.patience(4)
    seed: int = settings.seed()
    threads: int | None = settings.threads()
