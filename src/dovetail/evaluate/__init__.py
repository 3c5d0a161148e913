"""Scorers of the field, significance and calibration."""

from dovetail.evaluate.attachments import AttachmentScores, attachment_counts, attachment_scores
from dovetail.evaluate.brackets import BracketScores, bracket_counts, bracket_scores
from dovetail.evaluate.calibration import CalibrationReport, ReliabilityBin, reliability
from dovetail.evaluate.counts import Average, Counts, LabelledScores
from dovetail.evaluate.entities import EntityScores, entity_counts, entity_scores
from dovetail.evaluate.judgements import (
    JudgementDifference,
    JudgementScores,
    average_precision,
    judgement_difference,
    judgement_scores,
)
from dovetail.evaluate.mistakes import Mistakes
from dovetail.evaluate.nested import NestedScores, nested_scores
from dovetail.evaluate.plot import reliability_plot
from dovetail.evaluate.report import scores_dict, scores_table
from dovetail.evaluate.significance import (
    Comparison,
    ScoreInterval,
    ShufflingTest,
    bootstrap_interval,
    paired_bootstrap,
    stratified_shuffling,
)
from dovetail.evaluate.tokens import TokenScores, token_scores
from dovetail.rooms import open_room

__all__ = [
    "AttachmentScores", "Average", "BracketScores", "CalibrationReport", "Comparison", "Counts", "EntityScores",
    "JudgementDifference", "JudgementScores", "LabelledScores", "Mistakes", "NestedScores", "ReliabilityBin",
    "ScoreInterval", "ShufflingTest", "TokenScores", "attachment_counts", "attachment_scores", "average_precision",
    "bootstrap_interval", "bracket_counts", "bracket_scores", "entity_counts", "entity_scores", "judgement_difference",
    "judgement_scores", "nested_scores", "paired_bootstrap", "reliability", "reliability_plot", "scores_dict",
    "scores_table", "stratified_shuffling", "token_scores",
]  # fmt: skip

open_room(__name__)
