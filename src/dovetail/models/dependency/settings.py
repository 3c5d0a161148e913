"""The settings of a parser of dependencies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dovetail.models import settings
from dovetail.models.settings import setting

if TYPE_CHECKING:
    from dovetail.features.resources.clusters import Clusters


@dataclass(kw_only=True, eq=False)
class DependencySettings:
    """What a parser of dependencies is and how it learns."""

    tags: str = setting("pos", "The layer with parts of speech.", shown="pos, else xpos")
    """pos and xpos stand for each other where a sentence has only one."""
    predict_layers: bool = settings.predict_layers(help="Learn the tags, to predict them where text has none.")
    predict_tags: bool = setting(False, "Also train a tagger, and parse all text with its tags.")
    """The parser is then trained with such tags as well, which suits it for plain text."""
    relations: bool = setting(True, "Also learn the relations.")
    clusters: Mapping[str, Clusters] = setting(dict, "Clusters of words, by name.", hidden=True)
    """Their classes are features of heads and dependents."""
    decode: str = setting(
        "expected",
        "Answer: the tree of the most probable arcs, or the most probable tree.",
        choices=("expected", "best"),
    )
    encoder: str | None = settings.encoder()
    """Not beside lbfgs: what then trains is adam."""
    tune_encoder: bool = settings.tune_encoder()
    encoder_size: int = settings.encoder_size()
    dropout: float = settings.dropout()
    loss: str = settings.loss()
    optimiser: str = settings.optimiser("lbfgs")
    l2: float = settings.l2(3.0)
    """1 / (2 variance)."""
    iterations: int | None = settings.iterations(None)
    batch: int | None = settings.batch()
    gain: float | None = settings.gain(None)
    min_count: int = settings.min_count(
        5, help="Minimum number of occurrences of a word; others are known by their suffix only."
    )
    bits: int = setting(22, "Bits of hashed features of arcs (2**N buckets).", least=8, most=28)
    """The weights of pairs of head and dependent."""
    threshold: float = setting(
        1e-4, "Minimum probability of an arc by a small model; others are skipped.", least=0, most=0.5, metavar="P"
    )
    """0 considers all."""
    max_length: int | None = settings.max_length(shown="300")
    """Those left out are counted."""
    calibrate: bool = settings.calibrate()
    """One factor for all weights, which changes probabilities."""
    cross_validate: int = settings.cross_validate(0, shown="")
    patience: int = settings.patience(3)
    pool: int | None = setting(
        None, "Number of different parsers that are trained, and asked together.", least=2, most=4, shown="one parser"
    )
    """Of arcs, and of the spans below words, in turn."""
    seed: int = settings.seed()
    threads: int | None = settings.threads()
