"""Active learning: which sentences to label next, and a trial of how much that saves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dovetail.active.selection import Choice, select
from dovetail.active.simulation import Simulation, Strategy
from dovetail.active.uncertainty import MEASURES, uncertainty
from dovetail.rooms import modules_of

__all__ = ["MEASURES", "Choice", "Simulation", "Strategy", "select", "uncertainty"]

if not TYPE_CHECKING:
    __getattr__ = modules_of(__name__)
