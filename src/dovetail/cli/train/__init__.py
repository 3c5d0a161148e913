"""``dovetail train KIND``: a class for each kind of model."""

from __future__ import annotations

from dovetail.cli.command import Commands
from dovetail.cli.train.entailment import EntailmentTraining
from dovetail.cli.train.parser import DependencyTraining, JointTraining, ParserTraining
from dovetail.cli.train.roles import RolesTraining
from dovetail.cli.train.segmenter import SegmenterTraining
from dovetail.cli.train.tagger import NestedTraining, TaggerTraining
from dovetail.cli.train.training import command_of

KINDS = (
    TaggerTraining,
    SegmenterTraining,
    NestedTraining,
    DependencyTraining,
    ParserTraining,
    JointTraining,
    RolesTraining,
    EntailmentTraining,
)

app = Commands("Train a model on annotated text.")
for kind in KINDS:
    app.command(kind.kind)(command_of(kind))
