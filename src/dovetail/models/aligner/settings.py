"""The settings of an aligner."""

from __future__ import annotations

from dataclasses import dataclass

from dovetail.models import settings
from dovetail.models.settings import setting

SYMMETRISATIONS = ("soft", "union", "intersection", "grow-diag-final-and", "forward", "backward")


@dataclass(kw_only=True, eq=False)
class AlignerSettings:
    """What an aligner believes beforehand, and how long it looks."""

    symmetrise: str = setting(
        "soft", "How links of both directions become one set; soft takes those above --threshold.",
        choices=SYMMETRISATIONS,
    )  # fmt: skip
    threshold: float = setting(0.44, "The least probability of a soft link.", least=0, most=1)
    samplers: int = setting(8, "Number of samplers whose probabilities are averaged.", least=1, most=64)
    sweeps: int = setting(
        8,
        "Number of times a sampler draws every link of 40,000 pairs or more; of fewer up to 5 times as often.",
        least=4,
        most=10_000,
    )
    lowercase: bool = setting(True, "Take words that differ in case alone for the same.")
    prior: float = setting(
        3e-4, "Links of each word with each other word that are believed to be there beforehand.", above=0, most=10,
        wanted="a prior is above 0 and at most 10",
    )  # fmt: skip
    parts: float = setting(
        0.8, "Share of the prior that goes to words whose parts are translations; 0 for none.", least=0, most=1
    )
    null: float = setting(
        0.2, "How often a word has no translation, believed beforehand.", above=0, below=1,
        wanted="a share is above 0 and below 1",
    )  # fmt: skip
    fertility: float = setting(
        0.5, "Weight of how many links words in general have, against those of each word.", above=0, most=1e6,
        wanted="a weight is above 0",
    )  # fmt: skip
    agreement: float = setting(3.0, "How much likelier a link is that the other direction has.", least=1, most=1e6)
    jump_classes: int = setting(
        64, "Number of classes of words, by frequency, with jumps of their own.", least=1, most=1000
    )
    seed: int = settings.seed()
    threads: int | None = settings.threads()
