"""The settings of models of several domains."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from dovetail.models import settings
from dovetail.models.settings import setting

deviation = partial(settings.sigma, default=None, help="How far a domain may deviate from the others.")


@dataclass(kw_only=True, eq=False)
class DomainSettings:
    """How the models of several domains share what they learn."""

    strategy: str = setting(
        "hierarchical", "How domains share weights.", choices=("hierarchical", "target", "all", "augment")
    )
    """target: each domain by itself; all: one set of weights; augment: both kinds alike (Daumé 2007)."""
    sigma: float | None = deviation(shown="0.3")
    """As a part of how far shared weights go: 0 is one model for all text, 1 is feature augmentation."""


@dataclass(kw_only=True, eq=False)
class TaggerDomainSettings(DomainSettings):
    """The same for taggers."""

    sigma: float | None = deviation(shown="chosen on dev, else 0.1")
    restrict: bool = setting(True, "Let a domain predict only labels seen in its own data.")


@dataclass(kw_only=True, eq=False)
class DependencyDomainSettings(DomainSettings):
    """The same for parsers of dependencies."""

    sigma: float | None = deviation(shown="0.1")
