"""Active learning: which sentences to label next, and a trial of how much that saves."""

from __future__ import annotations

from dovetail.active.selection import Choice, select
from dovetail.active.simulation import Simulation, Strategy
from dovetail.active.uncertainty import MEASURES, uncertainty

__all__ = ["MEASURES", "Choice", "Simulation", "Strategy", "select", "uncertainty"]
