"""The settings of a segmenter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dovetail.models import settings
from dovetail.models.settings import setting

if TYPE_CHECKING:
    from dovetail.features.resources.resource import Resource


@dataclass(kw_only=True, eq=False)
class SegmenterSettings:
    """What a segmenter is and how it learns."""

    model: str | None = setting(
        None,
        "Model of tags of tokens, or whole segments.",
        choices=("markov", "semi-markov"),
        shown="markov for words, semi-markov for entities",
    )
    """The default is the more accurate of the two, and semi-markov has features of whole segments."""
    target: str | None = settings.target(None, help="The layer to learn, in annotated text.", shown="ner")
    """The layer whose tags spell the segments; in Python, None for words."""
    features: Any = setting(None, "A named feature set.", shown="depends on the model")
    """In Python also lines of templates."""
    resources: Mapping[str, Resource] = setting(dict, "Clusters, lexicons, association and variety.", hidden=True)
    """By name; their usual templates are added to a named set."""
    ignore: Sequence[str] = settings.ignore()
    """Such as ``pos``, for a named set."""
    predict_layers: bool = settings.predict_layers()
    order: int = settings.order()
    """At most 1 for semi-markov."""
    longest: int | None = setting(None, "Maximum length of a segment; for semi-markov.", least=1, shown="covers 99.9%")
    scheme: str = settings.scheme("iobes", help="Tag scheme of the markov model.")
    """iobes: four tags a word; iob2: two."""
    normalise_width: bool = setting(
        True, "Treat full-width letters and digits as half-width ones.", flag="--normalise-width/--keep-width"
    )
    """For words; answers keep what was written."""
    hidden: int = settings.hidden()
    """Between features of tokens and labels: features of whole segments have none."""
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
    l1: float = settings.l1()
    noise: str | None = settings.noise()
    """A penalty on weights that rest on single features; see ``learning.noise``."""
    noise_text: Sequence[Any] = settings.noise_text()
    iterations: int | None = settings.iterations(None)
    batch: int | None = settings.batch()
    gain: float | None = settings.gain(None)
    min_count: int | None = settings.min_count(None, shown="1 for words, else 2")
    """Words are few in kind."""
    hash_bits: int | None = settings.hash_bits()
    """In each part of the model."""
    calibrate: bool = settings.calibrate()
    balance: bool = settings.balance(help="Balance precision and recall of entities for the best F1 on dev.")
    """How readily to answer O: only the best segmentation changes, no probability."""
    consistency: str = settings.consistency()
    """Of entities, not of words; as of a tagger."""
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
