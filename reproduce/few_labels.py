"""A ladder from few labels: what each source adds to a tagger, on CoNLL-2003 and other corpora, one rung at a time.

Rungs: clusters of raw text; classes joined with shapes, which is the recipe; and with these noise, vectors (--vectors
FILE, as ``dovetail embed`` makes them), lists of names (--lists FOLDER), or hints of the English model (--hints), which
saw neither CoNLL-2003 nor WNUT.
Dev tunes and scores. --clusters FOLDER is what ``--save-clusters`` leaves. A size of 0 is a whole corpus.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
from common import corpus, show

import dovetail
from dovetail import FeatureSet, Tagger
from dovetail.curves.data import draw_order
from dovetail.features.resources.lexicon import Lexicon
from dovetail.features.resources.recipe import as_resources, read_clusterings
from dovetail.features.resources.vectors import Vectors
from dovetail.models.hints import Hints
from dovetail.text.report import ReadReport

NOISE = {"noise": "dropout:0.5", "l2": 0.03}


def rungs(args: argparse.Namespace) -> dict[str, dict[str, object]]:
    """Settings of a tagger by the name of the rung."""
    clusters = as_resources(read_clusterings([args.clusters]))
    joined = FeatureSet.named("ner").joined(**clusters)
    near = {line for name, table in clusters.items() for line in table.near(name)}
    alone = replace(joined, templates=tuple(t for t in joined.templates if str(t) not in near))
    found: dict[str, dict[str, object]] = {"clusters": {"features": alone}, "with shapes": {"features": joined}}
    found["noise"] = {"features": joined, **NOISE}
    if args.vectors:
        found["vectors"] = {"features": joined.joined(vectors=Vectors.read(args.vectors))}
    named = joined
    if args.lists:
        files = sorted(Path(args.lists).glob("*.txt.gz"))
        named = joined.joined(lists=Lexicon.read(files, report=ReadReport()))
        found["lists"] = {"features": named}
    if args.hints:
        english = Hints(dovetail.load())
        found["hints"] = {"features": joined.joined(english=english)}
        if args.lists:
            found["hints, lists"] = {"features": named.joined(english=english)}
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", default="conll2003-en")
    parser.add_argument("--sizes", type=int, nargs="+", default=[100, 500])
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--clusters", required=True)
    parser.add_argument("--vectors")
    parser.add_argument("--lists")
    parser.add_argument("--hints", action="store_true")
    parser.add_argument("--only", nargs="+", help="some rungs")
    parser.add_argument("--no-dev", action="store_true", help="parts of the training data choose what dev would")
    parser.add_argument("--threads", type=int, default=None)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    args = parser.parse_args()
    train, dev = corpus(args.corpus, "train"), corpus(args.corpus, "dev")
    ladder = {name: how for name, how in rungs(args).items() if not args.only or name in args.only}
    rows = []
    for size in args.sizes:
        scores: dict[str, list[float]] = {name: [] for name in ladder}
        for draw in range(1, args.draws + 1 if size else 2):
            labelled = [train[i] for i in draw_order(len(train), draw, 1)[:size]] if size else train
            for name, how in ladder.items():
                began = time.perf_counter()
                tagger = Tagger(threads=args.threads, **how).fit(labelled, dev=None if args.no_dev else dev)
                scores[name].append(tagger.score(dev))
                seconds = time.perf_counter() - began
                print(f"{args.corpus} {size} {draw} {name} {scores[name][-1]:.2f} {seconds:.0f} s", file=sys.stderr)
        rows.append([f"{args.corpus}, {size or len(train):,}", *(float(np.mean(scores[name])) for name in ladder)])
    show(
        f"F1 on dev, mean of {args.draws} draws",
        ["corpus, sentences", *ladder],
        rows,
        "Each rung after the second is the second with one more source, or two.",
        args.json,
    )
