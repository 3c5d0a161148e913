"""Naradowsky, Vieira and Smith 2012, table 3: entities by themselves, and coupled to trees by belief propagation.

The published corpora are parts of OntoNotes; ours are the genres of GUM as in finkel_joint.py, cross-validated over the
documents of its training part. For every genre: trees and entities by themselves; with couplings that are learnt on
text held back; and with all weights learnt together from there. An entity is worth what the model says, or (worth) as
much more as is best in the mean of these genres, one number for each model.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from common import show
from finkel_joint import folds, load

from dovetail import JointParser, Sentence
from dovetail.evaluate import bracket_counts, entity_counts
from dovetail.evaluate.significance import f1_of
from dovetail.learning.monitor import Monitor
from dovetail.models.joint.soft.decoding import SoftDecoder
from dovetail.models.joint.soft.training import BONUSES
from dovetail.models.training import Run

PUBLISHED = {
    "ABC": (72.13, 73.93), "CNN": (75.07, 79.56), "MNB": (69.50, 72.02), "NBC": (65.69, 70.18), "PRI": (81.50, 86.71),
    "VOA": (78.11, 87.23),
}  # fmt: skip
"""Entity F1 by themselves and coupled."""
HEADER = [
    "",
    "sentences",
    "trees",
    "couplings",
    "all",
    "entities",
    "couplings ",
    "all ",
    "worth",
    "couplings  ",
    "all  ",
]


def counted(train: Sequence[Sentence], test: Sequence[Sentence], args: argparse.Namespace) -> np.ndarray:
    """Counts [3 models, 1 + bonuses, 3] of brackets, and of entities for each value that an entity may have."""
    made = JointParser(
        coupling="soft", coupled_training="all", iterations=args.iterations, threads=args.threads, batch=args.batch
    )
    run = Run(None, None, None, lambda what: None)
    training = made._prepare(made._examples(train, None, "training"), None, run)
    coupled = training.model
    every = training.export(made._minimise(training, Monitor(), run))
    text = made._soft_text(coupled, [replace(s, tree=None, spans=(), layers={}) for s in test])
    counts = []
    for model in (coupled.with_couplings(np.zeros_like(coupled.weight)), coupled, every):
        found = SoftDecoder(model, by_recall=True).by_each(text, BONUSES.tolist())
        counts.append([bracket_counts([s.tree for s in test], [a.tree for a in found[0]]).sum(axis=0)])
        for answers in found:
            counts[-1].append(entity_counts([s.spans for s in test], [a.spans or () for a in answers]).sum(axis=0))
    return np.array(counts)


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--genres", nargs="*", help="which (default: all with fewer than 800 sentences)")
    options.add_argument("--folds", type=int, default=3, help="parts of the training documents")
    options.add_argument("--max-length", type=int, default=40, help="words of a sentence at most")
    options.add_argument("--iterations", type=int, default=5, help="passes over all weights together")
    options.add_argument("--batch", type=int, default=16, help="sentences per step")
    options.add_argument("--threads", type=int, default=None)
    options.add_argument("--json", action="store_true", help="print one JSON object")
    args = options.parse_args()
    train = load("gum", "train", args.max_length)
    chosen = args.genres or [g for g in sorted(train, key=lambda g: len(train[g])) if len(train[g]) < 800]
    f1s = []
    for genre in chosen:
        parts = [counted(*part, args) for part in folds(train[genre], args.folds)]
        f1s.append(np.array([[f1_of(counts) for counts in model] for model in sum(parts)]))
        print(genre, np.round(f1s[-1], 2).tolist(), file=sys.stderr, flush=True)
    every = np.array(f1s)
    plain = every[:, :, 1 + int(np.abs(BONUSES).argmin())]
    best = every[:, :, 1:].mean(axis=0).argmax(axis=1)
    tuned = np.stack([every[:, model, 1 + bonus] for model, bonus in enumerate(best)], axis=1)
    figures = np.concatenate([every[:, :, 0], plain, tuned], axis=1)
    rows = [[genre, len(train[genre]), *own.tolist()] for genre, own in zip(chosen, figures, strict=True)]
    rows.append(["mean", None, *(float(np.mean(column)) for column in zip(*(row[2:] for row in rows), strict=True))])
    rows += [[f"published, {name}", *[None] * 4, one, None, two, *[None] * 3] for name, (one, two) in PUBLISHED.items()]
    show(
        "F1 of trees and of entities",
        HEADER,
        rows,
        f"worth: {BONUSES[best].tolist()}; ours: {args.folds} parts of train",
        args.json,
    )
