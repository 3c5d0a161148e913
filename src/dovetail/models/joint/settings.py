"""The settings of a parser that finds entities with its trees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dovetail.models import settings
from dovetail.models.parser.settings import TreeParserSettings
from dovetail.models.settings import setting


@dataclass(kw_only=True, eq=False)
class JointSettings(TreeParserSettings):
    """Those of a parser, and of its entities."""

    coupling: str = setting(
        "grammar", "Trees and entities in one grammar, or in two structures that are coupled softly.",
        choices=("grammar", "soft"),
    )  # fmt: skip
    """soft: brackets without a grammar, entities as segments, and a score for what they have at the same spans."""
    coupled_training: str = setting(
        "couplings", "What --coupling soft learns together: the couplings alone, or all weights.",
        choices=("couplings", "all"),
    )  # fmt: skip
    """all: trees and entities go on learning, each coupled to the other."""
    engine: str = setting(
        "bp", "What chooses the answers of --coupling soft.", choices=("bp", "dual", "gibbs"), hidden=True
    )
    """bp: each structure by what the other tells it; dual, gibbs: the best pair."""
    entity_min_count: int = settings.min_count(
        2, help="Minimum number of occurrences of an entity feature.", hidden=True
    )
    entity_min_documents: int = settings.min_documents(
        help="Minimum number of documents that have an entity feature.", flag="--min-documents"
    )
    sigma: float = settings.sigma(0.3, help="How far the models of --trees-only and --entities-only may deviate.")
    """From the shared weights; 0 for not at all."""
    balance: bool = settings.balance(help="Choose on dev how much an entity adds to the score of a tree.")
    """For the best F1; without dev it is 0.5."""

    not_shown: ClassVar[frozenset[str]] = frozenset(
        "kind features vertical horizontal direction head_tags relax unaries threshold min_count cross_validate "
        "encoder tune_encoder encoder_size dropout".split()
    )
    """Settings of a parser that the command line leaves out here."""
