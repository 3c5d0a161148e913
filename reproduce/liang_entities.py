"""Liang 2005, tables 5.5 and 5.6, rows M and SM: averaged perceptron, 20 passes, 10 % and 100 % of the data.

CoNLL-2003 English and German; for German ours is GermEval 2014, outer entities. With --clusters FILE (a file of Brown
clusters) also the rows M+F and SM+F.
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

import numpy as np
from common import corpus, show

from dovetail import FeatureSet, Segmenter, Tagger
from dovetail.evaluate import entity_scores
from dovetail.features.algebra.span_sets import SPAN_SETS, span_features
from dovetail.features.resources.clusters import Clusters

ENGLISH = {
    "M 10 %": (72.9, 71.3, 72.1), "M 100 %": (82.7, 82.1, 82.4),
    "M+F 10 %": (80.0, 78.7, 79.4), "M+F 100 %": (87.6, 87.1, 87.3),
    "SM 10 %": (74.1, 72.4, 73.2), "SM 100 %": (82.4, 81.2, 81.8),
    "SM+F 10 %": (81.9, 80.3, 81.1), "SM+F 100 %": (87.4, 86.8, 87.1),
}  # fmt: skip
GERMAN = {
    "M 10 %": (66.6, 40.5, 50.4), "M 100 %": (79.1, 58.0, 66.9),
    "M+F 10 %": (65.8, 45.4, 53.7), "M+F 100 %": (78.8, 62.6, 69.8),
    "SM 10 %": (64.5, 42.0, 50.9), "SM 100 %": (78.4, 60.2, 68.1),
    "SM+F 10 %": (65.4, 47.4, 55.0), "SM+F 100 %": (77.6, 62.6, 69.3),
}  # fmt: skip
NOTES = {
    "5.5": "Published on test, two to five points harder than dev for every model. 10 %: mean of {draws} draws.",
    "5.6": "Published: CoNLL-2003 German, test; ours: GermEval 2014, outer entities. 10 %: mean of {draws} draws.",
}
DEPTHS = (4, 8, 12, 16, 0)  # of the cluster tree; 0 is the leaf
WHERE = ("start - 1", "start", "end", "end + 1")


def markov(clusters: Clusters | None) -> Any:
    """The features of figure 5-3."""
    if clusters is None:
        return "liang-ner"
    lines = [f"cluster(c, {', '.join(map(str, DEPTHS))})[-1:2]"]
    for depth in DEPTHS:
        pair = f"cluster(c, {depth})[-1] & cluster(c, {depth})[0]"
        lines += [pair, f"cluster(c, {depth})[0] & cluster(c, {depth})[1]", f"edge({pair})"]
    regular = FeatureSet.named("liang-ner").lines()
    return FeatureSet.from_lines("liang-ner + c", [*regular, *lines], (), {"c": clusters})


def semi_markov(clusters: Clusters | None) -> Any:
    """The features of figure 5-4."""
    regular = SPAN_SETS["liang-ner-spans"][1]
    if clusters is None:
        return span_features(regular)
    lines = [f"cluster(c, {', '.join(map(str, DEPTHS))})[{where}]" for where in WHERE]
    for depth in DEPTHS:
        lines += [
            f"cluster(c, {depth})[start - 1] & cluster(c, {depth})[start]",
            f"cluster(c, {depth})[end] & cluster(c, {depth})[end + 1]",
            f"cluster(c, {depth}, phrase)",
        ]
    return span_features([*regular, *lines], {"c": clusters})


def model(name: str, clusters: Clusters | None, **settings: Any) -> Any:
    """The model of a row; it sees one sentence at a time, as the published ones do."""
    settings |= {"consistency": "none"}
    if name.startswith("SM"):
        return Segmenter(target="ner", model="semi-markov", features=semi_markov(clusters), **settings)
    return Tagger(features=markov(clusters), order=2, observed_only=True, **settings)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--table", choices=("5.5", "5.6"), default="5.5", help="English or German (default: 5.5)")
    parser.add_argument("--draws", type=int, default=5, help="of 10 %% of the sentences (default: 5)")
    parser.add_argument("--rows", nargs="*", metavar="NAME", help="only these, such as 'SM 10 %%' (default: all)")
    parser.add_argument("--split", default="dev", help="which part to score (default: dev)")
    parser.add_argument("--clusters", default=None, help="a file of Brown clusters, for the rows with F")
    parser.add_argument("--threads", type=int, default=None)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    args = parser.parse_args()
    english = args.table == "5.5"
    source = ("conll2003-en", None) if english else ("germeval2014", ["word", "ner", "inner"])
    train, gold = (corpus(source[0], split, source[1]) for split in ("train", args.split))
    clusters = Clusters.read(args.clusters) if args.clusters else None
    rows = []
    for name, published in (ENGLISH if english else GERMAN).items():
        if ("F" in name and clusters is None) or (args.rows and name not in args.rows):
            continue
        draws = []
        for trial in range(args.draws if "100" not in name else 1):
            order = np.random.default_rng(trial).permutation(len(train))
            part = [train[i] for i in order[: len(train) // 10]] if "100" not in name else train
            learner = {"optimiser": "perceptron", "iterations": 20, "min_count": 1, "cross_validate": 0, "seed": trial}
            made = model(name, clusters if "F" in name else None, threads=args.threads, **learner)
            scores = entity_scores([s.layers["ner"] for s in gold], made.fit(part).predict(gold))
            draws.append((scores.precision, scores.recall, scores.f1))
        mean, spread = np.mean(draws, axis=0), np.std(draws, axis=0)[2]
        rows.append([name, *published, *map(float, mean), f"± {spread:.2f}" if len(draws) > 1 else ""])
        print(*rows[-1], file=sys.stderr, flush=True)
    show(
        f"Table {args.table}: Markov and semi-Markov models, averaged perceptron, published test | ours {args.split}",
        ["", "P", "R", "F1", "our P", "our R", "our F1", ""],
        rows,
        NOTES[args.table].format(draws=args.draws),
        args.json,
    )
