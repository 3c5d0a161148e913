"""Active learning: which sentences to label next, and a trial of how much that saves."""

from dovetail.active.selection import Choice, select
from dovetail.active.simulation import Simulation, Strategy
from dovetail.active.uncertainty import MEASURES, uncertainty
from dovetail.rooms import open_room

__all__ = ["MEASURES", "Choice", "Simulation", "Strategy", "select", "uncertainty"]

open_room(__name__)
