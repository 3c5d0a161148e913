"""Learning curves: scores against the number of labelled sentences, for several configurations and draws."""

from dovetail.curves.configurations import Configuration, parse_configuration, read_configurations
from dovetail.curves.plot import draw_curves
from dovetail.curves.runs import LearningCurve
from dovetail.curves.summary import Curve, Point, curves_csv, curves_of, curves_table, savings
from dovetail.rooms import open_room

__all__ = [
    "Configuration",
    "Curve",
    "LearningCurve",
    "Point",
    "curves_csv",
    "curves_of",
    "curves_table",
    "draw_curves",
    "parse_configuration",
    "read_configurations",
    "savings",
]

open_room(__name__)
