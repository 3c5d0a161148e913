"""Training time of semi-Markov models beside Markov models of the same data, in turn.

    python benchmarks/segments.py TRAIN [--iterations 60] [--rounds 3] [--threads 1 2] [--json]

Named entities by likelihood with each model's own default features: second-order tags against first-order segments, and
first-order tags against zero-order segments. The two are trained in turn, so that a busy machine is fair to both; the
figures are the least over the rounds. Every model does the same number of L-BFGS iterations.
"""

from __future__ import annotations

import argparse
import json
import time
from typing import Any

from dovetail import Segmenter, Tagger, read

PAIRS: dict[str, tuple[Any, Any]] = {
    "tags of order 2, segments of order 1": (
        lambda **rest: Tagger(features="ner", order=2, consistency="none", cross_validate=0, **rest),
        lambda **rest: Segmenter(
            target="ner", model="semi-markov", order=1, consistency="none", cross_validate=0, **rest
        ),
    ),
    "tags of order 1, segments of order 0": (
        lambda **rest: Tagger(features="ner", order=1, consistency="none", cross_validate=0, **rest),
        lambda **rest: Segmenter(
            target="ner", model="semi-markov", order=0, consistency="none", cross_validate=0, **rest
        ),
    ),
}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("train")
    parser.add_argument("--iterations", type=int, default=60)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    train = [sentence for document in read(args.train) for sentence in document]
    rows = []
    for name, models in PAIRS.items():
        for make in models:
            make(iterations=2, threads=2).fit(train[:300])  # loads compiled loops
        for threads in args.threads:
            wall, cpu = [[], []], [[], []]
            for _ in range(args.rounds):
                for k, make in enumerate(models):
                    clock, processor = time.perf_counter(), time.process_time()
                    make(iterations=args.iterations, threads=threads).fit(train)
                    wall[k].append(time.perf_counter() - clock)
                    cpu[k].append(time.process_time() - processor)
            best = [min(times) for times in (*wall, *cpu)]
            rows.append({"models": name, "threads": threads, "tags_s": best[0], "segments_s": best[1],
                         "tags_cpu_s": best[2], "segments_cpu_s": best[3], "ratio": best[1] / best[0]})  # fmt: skip
            if not args.json:
                print(f"{name}, {threads} thread(s): {best[0]:.1f} s, {best[1]:.1f} s (ratio {best[1] / best[0]:.2f}); "
                      f"processor {best[2]:.1f} s, {best[3]:.1f} s", flush=True)  # fmt: skip
    if args.json:
        print(json.dumps(rows))
