"""Naradowsky, Vieira and Smith 2012, table 3: entities by themselves, and coupled to trees by belief propagation.

The published corpora are parts of OntoNotes; ours are the genres of GUM as in finkel_joint.py, cross-validated over the
documents of its training part. For every genre: trees and entities by themselves; with couplings that are learnt on
text held back; and with all weights learnt together from there. An entity is worth what the model says, or (tuned) as
much more as is best on text held back, chosen for entities by themselves as well.
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
    "tuned",
    "couplings  ",
    "all  ",
]


def counted(train: Sequence[Sentence], test: Sequence[Sentence], args: argparse.Namespace) -> list[np.ndarray]:
    """Counts [3] of brackets, entities and tuned entities, each of three models."""
    made = JointParser(
        coupling="soft", coupled_training="all", iterations=args.iterations, threads=args.threads, batch=args.batch
    )
    run = Run(None, None, None, lambda what: None)
    training = made._prepare(made._examples(train, None, "training"), None, run)
    coupled = training.model
    none = np.zeros_like(coupled.weight)
    every = training.export(made._minimise(training, Monitor(), run))
    text = made._soft_text(coupled, [replace(s, tree=None, spans=(), layers={}) for s in test])
    trees, plain, tuned = [], [], []
    for model in (replace(coupled, weight=none), coupled, every):
        worth = training.bonus(model.weight)
        found = SoftDecoder(model, by_recall=True).by_each(text, [0.0, worth])
        trees.append(bracket_counts([s.tree for s in test], [a.tree for a in found[0]]).sum(axis=0))
        for counts, answers in zip((plain, tuned), found, strict=True):
            counts.append(entity_counts([s.spans for s in test], [a.spans or () for a in answers]).sum(axis=0))
    return [*trees, *plain, *tuned]


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
    rows = []
    for genre in chosen:
        parts = [counted(*part, args) for part in folds(train[genre], args.folds)]
        rows.append([genre, len(train[genre]), *(float(f1_of(sum(each))) for each in zip(*parts, strict=True))])
        print(*rows[-1], file=sys.stderr, flush=True)
    rows.append(["mean", None, *(float(np.mean(column)) for column in zip(*(row[2:] for row in rows), strict=True))])
    rows += [[f"published, {name}", *[None] * 4, one, None, two, *[None] * 3] for name, (one, two) in PUBLISHED.items()]
    show("F1 of trees and of entities", HEADER, rows, f"{args.folds} parts of train", args.json)
