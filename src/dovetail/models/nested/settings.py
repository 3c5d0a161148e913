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
    loss: str = settings.loss()
    optimiser: str = settings.optimiser("adagrad")
    l2: float = settings.l2(4.0)
    l1: float = settings.l1()
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
    patience: int = settings.patience(4)
    seed: int = settings.seed()
    threads: int | None = settings.threads()
