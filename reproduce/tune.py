"""What ``dovetail tune`` gains: F1 on dev of taggers of 500 sentences, with the defaults and with settings searched.

Random draws of training sentences, as in learning_curve.py. The search sees the drawn sentences alone; then both models
are trained on all of them, without dev, and scored on it. Every draw is kept in FOLDER, and the same command goes on.
Seconds are processor time of one thread: what a search takes on one idle core.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from statistics import fmean

import numpy as np
from common import corpus, show

from dovetail import Tagger
from dovetail.curves.data import draw_order
from dovetail.tuning import Search, TuneData, tuning_log
from dovetail.tuning.trials import described


def one_draw(name: str, draw: int, args: argparse.Namespace) -> dict[str, object]:
    """The scores of the defaults and of what a search chooses."""
    train, dev = corpus(name, "train"), corpus(name, "dev")
    some = [train[i] for i in sorted(draw_order(len(train), draw, 1)[: args.size])]
    search = Search(TuneData(Tagger(), some), args.candidates)
    began = time.process_time()
    for step in search.run(tuning_log(args.folder / f"{name}-{args.size}-{draw}.jsonl"), threads=1):
        told = f"{step.done}/{step.of} best {step.best:.2f} {described(step.outcome.settings)}"
        print(f"{name} {draw} {told} {step.outcome.seconds:.0f} s", file=sys.stderr)
    seconds, verdict = time.process_time() - began, search.verdict()
    usual = Tagger(threads=1).fit(some).score(dev)
    tuned = Tagger(threads=1, **verdict.settings).fit(some).score(dev) if verdict.settings else usual
    return {
        "corpus": name, "draw": draw, "defaults": usual, "tuned": tuned, "seconds": seconds,
        "chosen": described(verdict.settings), "best": described(verdict.rival), "gain": str(verdict.gain),
    }  # fmt: skip


def interval(gains: list[float]) -> tuple[float, float]:
    """The 95 % interval of the mean, by 10,000 bootstrap samples of the draws."""
    means = np.random.default_rng(1).choice(gains, (10_000, len(gains))).mean(axis=1)
    return float(np.quantile(means, 0.025)), float(np.quantile(means, 0.975))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpora", nargs="+", default=["conll2003-en", "uner-en-ewt", "conll2002-es"])
    parser.add_argument("--size", type=int, default=500, help="number of training sentences")
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--candidates", type=int, default=12)
    parser.add_argument("--folder", type=Path, required=True, help="where draws and logs are kept")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    args = parser.parse_args()
    args.folder.mkdir(exist_ok=True)
    kept = args.folder / "draws.jsonl"
    rows = [json.loads(line) for line in kept.read_text().splitlines()] if kept.exists() else []
    done = {(row["corpus"], row["draw"]): row for row in rows}
    for draw in range(1, args.draws + 1):
        for name in args.corpora:
            if (name, draw) in done:
                continue
            done[name, draw] = one_draw(name, draw, args)
            print(json.dumps(done[name, draw]), file=sys.stderr)
            with kept.open("a") as file:
                file.write(json.dumps(done[name, draw]) + "\n")
    found = [row for (name, _), row in sorted(done.items()) if name in args.corpora]
    gains = [float(row["tuned"]) - float(row["defaults"]) for row in found]
    low, high = interval(gains)
    show(
        f"Entity F1 on dev, taggers of {args.size} sentences, words and what else the files have, trained without dev",
        ["corpus", "draw", "defaults", "tuned", "gain", "processor s", "chosen"],
        [[r["corpus"], r["draw"], r["defaults"], r["tuned"], gain, round(float(r["seconds"])), r["chosen"]]
         for r, gain in zip(found, gains, strict=True)],
        f"mean gain {fmean(gains):+.2f}, 95% interval {low:+.2f} to {high:+.2f} (bootstrap over {len(gains)} draws)",
        args.json,
    )  # fmt: skip
