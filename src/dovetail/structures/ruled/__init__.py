"""Binary bracketings whose labels depend on those of their two halves: rules, of which none is forbidden."""

from __future__ import annotations

from dovetail.rooms import open_room
from dovetail.structures.ruled.batch import RuledBatch
from dovetail.structures.ruled.sums import RuledPotentials

__all__ = ["RuledBatch", "RuledPotentials"]

open_room(__name__)
