"""What dev data is worth: F1 of a tagger tuned on dev, by parts of its own training data, and not at all.

Random draws of training sentences, as in learning_curve.py. So that no model is scored on what tuned it, each half of
the documents of dev is scored by a model that the other half has tuned; the figures are means over both.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from statistics import fmean

from common import corpus, show

from dovetail import Sentence
from dovetail.curves.configurations import Configuration
from dovetail.curves.data import draw_order


def halves(sentences: list[Sentence]) -> list[list[Sentence]]:
    """Every other document, or every other sentence where there are none."""
    documents = all(s.document is not None for s in sentences)
    side = [(s.document if documents and s.document is not None else i) % 2 for i, s in enumerate(sentences)]
    return [[s for s, own in zip(sentences, side, strict=True) if own == half] for half in (0, 1)]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", default="conll2003-en")
    parser.add_argument("--sizes", type=int, nargs="+", default=[100, 500, 1000, 2500], help="numbers of sentences")
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--clusters", type=Path, help="a folder with clusters, such as that of learning_curve.py")
    parser.add_argument("--split", default="dev", help="which part tunes and scores (default: dev)")
    parser.add_argument("--threads", type=int, default=None)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    args = parser.parse_args()
    train, dev = corpus(args.corpus, "train"), corpus(args.corpus, args.split)
    ways = Configuration("ours", {"clusters": str(args.clusters)} if args.clusters else {})
    first, second = halves(dev)
    rows: list[list[object]] = []
    for size in args.sizes:
        found: list[list[float]] = []
        for draw in range(1, args.draws + 1):
            sentences = [train[i] for i in sorted(draw_order(len(train), draw, 1)[:size])]
            tuned = [
                ways.build(threads=args.threads).fit(sentences, dev=other).score(half)
                for half, other in ((first, second), (second, first))
            ]
            scores = [fmean(tuned)]
            for parts in (0, None):
                model = ways.build(threads=args.threads).set_params(cross_validate=parts).fit(sentences)
                scores.append(fmean([model.score(first), model.score(second)]))
            found.append(scores)
            print(f"{size} sentences, draw {draw}: {' '.join(f'{s:.2f}' for s in scores)}", file=sys.stderr)
        dev_tuned, nothing, by_parts = (fmean(column) for column in zip(*found, strict=True))
        rows.append([f"{size:,}", dev_tuned, nothing, nothing - dev_tuned, by_parts, by_parts - dev_tuned])
    show(
        f"Entity F1 on {args.corpus} {args.split}, mean of {args.draws} random draws of training sentences",
        ["sentences", "other half of dev", "nothing", "", "parts of train", ""],
        rows,
        "What chooses when to stop, the temperature, agreement in documents and the bias of O; differences to dev.",
        args.json,
    )
