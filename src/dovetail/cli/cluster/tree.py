"""``dovetail cluster tree``: a picture of the top of a tree of clusters."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dovetail.cli.cluster.work import Clusters, loaded
from dovetail.cli.paths import Writes


def cluster_tree(
    clusters: Clusters,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="PICTURE", help="Write an .svg or .png."),
        Writes(endings=(".svg", ".png")),
    ],
    depth: Annotated[int, typer.Option(metavar="N", min=1, max=10, help="Number of levels to draw.")] = 5,
    words: Annotated[
        int, typer.Option(metavar="N", min=1, max=20, help="Number of words to show for each branch.")
    ] = 6,
    below: Annotated[str, typer.Option(metavar="BITS", help="Draw only the part below this path.")] = "",
) -> None:
    """Draw the top of the tree, with frequent words of every branch."""
    from dovetail.clusters.picture import draw_tree

    draw_tree(loaded(clusters), output, depth=depth, words=words, below=below)
    print(f"{output}: written")
