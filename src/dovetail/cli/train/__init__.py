"""``dovetail train KIND``: one file a kind of model."""

from __future__ import annotations

import typer

from dovetail.cli.command import Commands
from dovetail.cli.train.dependency import train_dependency
from dovetail.cli.train.joint import train_joint
from dovetail.cli.train.nested import train_nested
from dovetail.cli.train.parser import train_parser
from dovetail.cli.train.segmenter import train_segmenter
from dovetail.cli.train.tagger import train_tagger

app = Commands()
app.command("tagger")(train_tagger)
app.command("segmenter")(train_segmenter)
app.command("nested")(train_nested)
app.command("dependency")(train_dependency)
app.command("parser")(train_parser)
app.command("joint")(train_joint)


@app.callback(invoke_without_command=True)
def train(context: typer.Context) -> None:
    """Train a model on annotated text."""
    if context.invoked_subcommand is None:
        print(context.get_help())
