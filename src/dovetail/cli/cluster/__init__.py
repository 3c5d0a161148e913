"""``dovetail cluster KIND``: word classes from unlabelled text; one file a command."""

from __future__ import annotations

import typer

from dovetail.cli.cluster.assign import cluster_assign
from dovetail.cli.cluster.brown import cluster_brown
from dovetail.cli.cluster.exchange import cluster_exchange
from dovetail.cli.cluster.tree import cluster_tree

app = typer.Typer(rich_markup_mode=None)
app.command("brown")(cluster_brown)
app.command("exchange")(cluster_exchange)
app.command("assign")(cluster_assign)
app.command("tree")(cluster_tree)


@app.callback(invoke_without_command=True)
def cluster(context: typer.Context) -> None:
    """Make word clusters from unlabelled text, extend them, and look at them."""
    if context.invoked_subcommand is None:
        print(context.get_help())
