"""``dovetail embed``: word vectors from unlabelled text."""

from __future__ import annotations

import time
from pathlib import Path

from dovetail.cli import options
from dovetail.cli.console import count, warn
from dovetail.cli.options import REQUIRED, argument, option
from dovetail.cli.paths import Reads, Writes
from dovetail.cli.progress import reporting
from dovetail.models import settings


def embed(
    texts: list[Path] = argument(
        "RAW", "Text with words separated by white space (may be .gz); - for standard input.", Reads(), REQUIRED
    ),
    output: Path = options.output("FILE", "Write vectors to this file (may be .gz), or binary to a .bin.", Writes()),
    dimensions: int = option("N", "Length of a vector.", default=50, short="-d", min=1, max=2000),
    window: int = option("N", "Neighbours are up to so many words away.", default=2, min=1, max=20),
    min_count: int = option("N", "Leave out words that occur less often.", default=3, min=1),
    contexts: int = option("N", "Only so many of the most frequent words count as neighbours.", default=20_000, min=1),
    shift: float = option("X", "Neighbours less than so many times as frequent as by chance say nothing.", default=1.0,
                          min=1e-3, max=1e6),
    seed: int = option("N", settings.seed.keywords["help"], default=0, min=0),
    threads: int | None = options.THREADS,
    encoding: str = options.ENCODING,
    quiet: bool = options.QUIET,
) -> None:  # fmt: skip
    """Make word vectors from raw text.

    Words with similar neighbours get similar vectors: singular vectors of the pointwise mutual information of words
    with their neighbours, which are told apart by where they stand. A line is a sentence.
    """
    import os

    begin = time.monotonic()
    with reporting(quiet) as work:
        from dovetail.vectors.embed import embed
        from dovetail.vectors.neighbours import count_neighbours

        work.doing("counting neighbours")
        counts = count_neighbours(texts, window, encoding, work.counted)
        table = embed(
            counts, dimensions, min_count=min_count, contexts=contexts, shift=shift, seed=seed,
            threads=threads or os.cpu_count() or 1, told=work.doing,
        )  # fmt: skip
        if table.dimensions < dimensions:
            warn(f"there is too little text for {dimensions} dimensions: the vectors have {table.dimensions}")
        work.doing(f"writing {output}")
        table.save(output)
    print(f"{counts.tokens:,} words, {count(len(table), 'vector')} of {table.dimensions} dimensions")
    print(f"{output}: written after {time.monotonic() - begin:.1f} s")
