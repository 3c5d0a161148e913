"""Training over a Ray cluster of this machine: two workers beside two threads, and whether the model is the same.

    pip install '.[cluster]'
    DOVETAIL_DATA=/path/to/corpora python benchmarks/ray_training.py

Each round trains a tagger of conll2003-en twice, once each way, and takes the time of the passes alone, as progress
tells it: starting a cluster takes some seconds, and belongs to it, not to training. With ``--annotate N``
it annotates a file of N million words instead, and tells how much memory that takes from its beginning to its end.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import dovetail
from dovetail.machines.objective import Ray
from dovetail.machines.ray import cluster

DATA = Path(os.environ.get("DOVETAIL_DATA", "data"))


def trained(sentences: list[Any], iterations: int, sharing: Ray | None) -> tuple[float, bytes]:
    """Seconds a pass, and the weights that were found."""
    ticks: list[float] = []
    tagger = dovetail.Tagger(cross_validate=0, predict_layers=False, ignore=["pos"], iterations=iterations, threads=2)
    tagger.fit(sentences, sharing=sharing, progress=lambda progress: ticks.append(time.perf_counter()))
    weights = b"".join(np.ascontiguousarray(array).tobytes() for array in tagger.packed()[1].values())
    return (ticks[-1] - ticks[0]) / (len(ticks) - 1), weights


def annotated(millions: int) -> None:
    """Memory of ``dovetail annotate`` while it goes through a file of so many million words."""
    line = "Ada Lovelace met Charles Babbage at the Analytical Society in London on Tuesday , said Reuters .\n"
    with tempfile.TemporaryDirectory() as folder:
        text = Path(folder, "text.txt")
        with text.open("w") as file:
            for _ in range(millions * 1_000_000 // (len(line.split()) * 1000)):
                file.write(line * 1000)
        command = [sys.executable, "-m", "dovetail", "annotate", str(text), "--output", f"{folder}/out.jsonl"]
        process = subprocess.Popen([*command, "--sentence-per-line", "--tokenised", "--model", "english-names"])
        seen = []
        while process.poll() is None:
            try:
                status = Path(f"/proc/{process.pid}/status").read_text()
            except OSError:
                break
            seen += [int(row.split()[1]) / 1e3 for row in status.splitlines() if row.startswith("VmRSS")]
            time.sleep(0.5)
        half = len(seen) // 2
        first, second = max(seen[:half]), max(seen[half:])
        print(f"{millions} million words: at most {first:.0f} MB in the first half, {second:.0f} MB in the second")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--iterations", type=int, default=20)
    parser.add_argument("--annotate", type=int, metavar="MILLIONS")
    args = parser.parse_args()
    if args.annotate:
        annotated(args.annotate)
        return
    sentences = [s for d in dovetail.read(DATA / "conll2003-en" / "train.conll.gz") for s in d]
    ratios, same = [], []
    with cluster(2):
        for number in range(args.rounds):
            threads, alone = trained(sentences, args.iterations, None)
            workers, shared = trained(sentences, args.iterations, Ray(2))
            ratios.append(workers / threads)
            same.append(alone == shared)
            print(
                f"round {number + 1}: threads {threads:.3f} s a pass, workers {workers:.3f} s, same {same[-1]}",
                flush=True,
            )
    print(f"workers / threads: median {statistics.median(ratios):.2f}, {min(ratios):.2f} to {max(ratios):.2f}")
    print(f"the same bits: {all(same)}")


if __name__ == "__main__":
    main()
