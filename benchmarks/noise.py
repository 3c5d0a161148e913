"""What noise costs: the time of a noised pass over CoNLL-2003 English beside that of a plain one, in the same run.

DOVETAIL_DATA=... python benchmarks/noise.py [--sentences 5000] [--threads 1 2]
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from dovetail import Tagger, read
from dovetail.models.training import Run

MODELS: dict[str, dict[str, Any]] = {
    "MaxEnt, wang-english": {"features": "wang-english", "order": 0},
    "CRF, wang-english": {"features": "wang-english"},
    "CRF, wang-english-edges": {"features": "wang-english-edges", "observed_only": True},
    "CRF, ner": {"features": "ner"},
}


def seconds(work: Callable[[], Any], clock: Callable[[], float], repeat: int = 7) -> float:
    """The least time of several runs, after one that compiles."""
    work()
    found = []
    for _ in range(repeat):
        began = clock()
        work()
        found.append(clock() - began)
    return min(found)


def main() -> None:
    """Print the times of both passes, and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sentences", type=int, default=5000)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    args = parser.parse_args()
    root = os.environ.get("DOVETAIL_DATA") or sys.exit("set DOVETAIL_DATA to the folder with the corpora")
    path = Path(root) / "conll2003-en" / "train.conll.gz"
    train = [s for document in read(path) for s in document][: args.sentences]
    for threads in args.threads:
        # One thread is timed by the processor, so that other work on the machine does not count.
        clock = time.thread_time if threads == 1 else time.perf_counter
        for name, settings in MODELS.items():
            tagger = Tagger(**settings, noise="dropout:0.5", min_count=1, predict_layers=False, threads=threads)
            objective = tagger._prepare(train, None, Run(None, None, None, lambda what: None)).objective
            weight = np.random.default_rng(0).normal(scale=0.1, size=objective.parameters)
            noised, noise = seconds(lambda: objective(weight), clock), objective.noise  # noqa: B023
            objective.noise = None
            plain = seconds(lambda: objective(weight), clock)  # noqa: B023
            objective.noise = noise
            print(
                f"{name:24s} {threads} thread{'s' * (threads > 1)}: plain {1000 * plain:.0f} ms, "
                f"noised {1000 * noised:.0f} ms, ratio {noised / plain:.2f}"
            )


if __name__ == "__main__":
    main()
