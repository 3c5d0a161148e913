"""Few labels: F1 against the number of labelled sentences of CoNLL-2003 English, with and without what raw text adds.

The curves of Liang 2005, figure 5-8, with our own models; beside them CRFsuite with plain templates, measured once on
other draws of the same data. Everything is kept in --folder, so that an interrupted run goes on: the clusters of
raw/reuters and raw/europarl, and a line for every model trained.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from common import corpus, show

from dovetail.clusters.counts import count_bigrams
from dovetail.clusters.recipe import learn_clusterings
from dovetail.curves import LearningCurve, curves_of
from dovetail.curves.configurations import Configuration
from dovetail.curves.data import CurveData
from dovetail.curves.runs import RunLog

CRFSUITE = {100: 52.0, 250: 64.6, 500: 70.5, 1000: 76.4, 2500: 82.6, 5000: 85.8, 14041: 89.3}


def clusters_in(folder: Path) -> str:
    """The folder with the clusters, made if it is not there."""
    made = folder / "clusters"
    if not made.exists():
        root = os.environ.get("DOVETAIL_DATA") or sys.exit("set DOVETAIL_DATA to the folder with the corpora")
        counts = count_bigrams([Path(root) / "raw" / f"{name}.txt.gz" for name in ("reuters", "europarl")])
        clusterings = learn_clusterings(counts)
        made.mkdir(parents=True)
        for name, clustering in clusterings.items():
            clustering.save(made / f"{name}.paths")
    return str(made)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=Path("learning-curve"), help="where everything is kept")
    parser.add_argument("--split", default="dev", help="which part to score; dev tunes the models (default: dev)")
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=2, help="models trained at a time, a core each")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    args = parser.parse_args()
    configurations = [
        Configuration("plain", {"features": "plain", "l2": 1.0, "agree": False, "balance": False}),
        Configuration("documents"),
        Configuration("clusters", {"clusters": clusters_in(args.folder)}),
    ]
    plan = LearningCurve(configurations, [size if size < 14041 else None for size in CRFSUITE], args.draws)
    data = CurveData(corpus("conll2003-en", "train"), corpus("conll2003-en", "dev"), corpus("conll2003-en", args.split))
    done = []
    for run, _ in plan.runs(data, RunLog(args.folder / "runs.jsonl"), args.jobs):
        done.append(run)
        print(f"{run.series}, {run.sentences} sentences, draw {run.draw}: {run.score:.2f}", file=sys.stderr)
    means = {curve.name: {p.sentences: (p.mean, p.deviation) for p in curve.points} for curve in curves_of(done)}
    rows = []
    for size, published in CRFSUITE.items():
        cells: list[object] = []
        for configuration in configurations:
            mean, deviation = means[configuration.name][size]
            cells += [mean, f"± {deviation:.2f}" if deviation else ""]
        rows.append([f"{size:,}", published, *cells])
    show(
        f"Labelled sentences of CoNLL-2003 English and F1 on {args.split}, mean of {args.draws} random draws",
        ["sentences", "CRFsuite", "plain", "", "documents", "", "clusters", ""],
        rows,
        "CRFsuite: plain templates, other draws, dev, no choice of a bias on dev. plain: the same templates here. "
        "documents: the set ner, with agreement in documents. clusters: the same, joined with three clusterings of "
        "raw/reuters and raw/europarl. Dev chooses when to stop, the bias of O and the strength of agreement.",
        args.json,
    )
