"""``dovetail cluster KIND``: word classes from unlabelled text; one file a command."""

from __future__ import annotations

import typer

from dovetail.cli.cluster.assign import cluster_assign
from dovetail.cli.cluster.brown import cluster_brown
from dovetail.cli.cluster.exchange import cluster_exchange
from dovetail.cli.cluster.tree import cluster_tree
from dovetail.cli.command import Commands

app = Commands()
app.command("brown")(cluster_brown)
app.command("exchange")(cluster_exchange)
app.command("assign")(cluster_assign)
app.command("tree")(cluster_tree)


@app.callback(invoke_without_command=True)
def cluster(context: typer.Context) -> None:
    """Make word clusters from raw text, extend and draw them."""
    if context.invoked_subcommand is None:
        print(context.get_help())
