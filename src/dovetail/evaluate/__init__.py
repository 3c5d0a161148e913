"""Scorers of the field, significance and calibration."""

from __future__ import annotations

from dovetail.evaluate.bootstrap import Comparison, ScoreInterval, bootstrap_interval, paired_bootstrap
from dovetail.evaluate.calibration import CalibrationReport, ReliabilityBin, reliability
from dovetail.evaluate.counts import Average, Counts, LabelledScores
from dovetail.evaluate.entities import EntityScores, entity_counts, entity_scores
from dovetail.evaluate.plot import reliability_plot
from dovetail.evaluate.report import scores_dict, scores_table
from dovetail.evaluate.tokens import TokenScores, token_scores

__all__ = [
    "Average",
    "CalibrationReport",
    "Comparison",
    "Counts",
    "EntityScores",
    "LabelledScores",
    "ReliabilityBin",
    "ScoreInterval",
    "TokenScores",
    "bootstrap_interval",
    "entity_counts",
    "entity_scores",
    "paired_bootstrap",
    "reliability",
    "reliability_plot",
    "scores_dict",
    "scores_table",
    "token_scores",
]
