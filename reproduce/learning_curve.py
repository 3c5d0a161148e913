"""Few labels: F1 against the number of labelled sentences of CoNLL-2003 English, with and without what raw text adds.

The curves of Liang 2005, figure 5-8, with our own models; beside them CRFsuite with plain templates, measured once on
other draws of the same data, or with --crfsuite in this run on the same draws. With --no-pos nobody reads the column
of parts of speech. Everything is kept in --folder, so that an interrupted run goes on: the clusters of raw/reuters and
raw/europarl, and a line for every model of ours.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path
from statistics import fmean

from common import corpus, show

from dovetail import Sentence
from dovetail.clusters.counts import count_bigrams
from dovetail.curves import LearningCurve, curves_of
from dovetail.curves.configurations import Configuration
from dovetail.curves.data import CurveData, draw_order
from dovetail.curves.runs import RunLog
from dovetail.evaluate import entity_scores
from dovetail.features.resources.recipe import learn_clusterings

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


POS = ("p-", "p0", "p+", "pp")  # how the names of CRFsuite's features of parts of speech begin


def crfsuite_f1(train: list[Sentence], dev: list[Sentence], pos: bool) -> float:
    """F1 of CRFsuite with the plain templates on these sentences, L2 as ours."""
    import pycrfsuite

    sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))
    from chain_crf import crfsuite_plain, pos_of

    def features(sentence: Sentence) -> list[list[str]]:
        made = crfsuite_plain(sentence.words, pos_of(sentence))
        return made if pos else [[name for name in token if not name.startswith(POS)] for token in made]

    trainer = pycrfsuite.Trainer(verbose=False)
    for sentence in train:
        trainer.append(features(sentence), sentence.layers["ner"])
    trainer.select("lbfgs")
    trainer.set_params({"c2": 1.0, "max_iterations": 100})
    with tempfile.NamedTemporaryFile(suffix=".crfsuite") as file:
        trainer.train(file.name)
        tagger = pycrfsuite.Tagger()
        tagger.open(file.name)
        return entity_scores([s.layers["ner"] for s in dev], [tagger.tag(features(s)) for s in dev]).f1


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=Path("learning-curve"), help="where everything is kept")
    parser.add_argument("--split", default="dev", help="which part to score; dev tunes the models (default: dev)")
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=2, help="models trained at a time, a core each")
    parser.add_argument("--ray", action="store_true", help="share the runs out over a Ray cluster instead")
    parser.add_argument("--sizes", type=int, nargs="+", default=list(CRFSUITE), help="numbers of sentences")
    parser.add_argument("--no-pos", action="store_true", help="do not read the parts of speech and chunks of the file")
    parser.add_argument("--crfsuite", action="store_true", help="train CRFsuite too, on the same draws")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    args = parser.parse_args()
    ignored = {"ignore": ["pos", "chunk"]} if args.no_pos else {}
    configurations = [
        Configuration("plain", {"features": "plain", "l2": 1.0, "consistency": "none", "balance": False, **ignored}),
        Configuration("documents", ignored),
        Configuration("clusters", {"clusters": clusters_in(args.folder), **ignored}),
    ]
    plan = LearningCurve(configurations, [size if size < 14041 else None for size in args.sizes], args.draws)
    data = CurveData(corpus("conll2003-en", "train"), corpus("conll2003-en", "dev"), corpus("conll2003-en", args.split))
    done = []
    for run, _ in plan.runs(data, RunLog(args.folder / "runs.jsonl"), "ray" if args.ray else args.jobs):
        done.append(run)
        print(f"{run.series}, {run.sentences} sentences, draw {run.draw}: {run.score:.2f}", file=sys.stderr)
    means = {curve.name: {p.sentences: (p.mean, p.deviation) for p in curve.points} for curve in curves_of(done)}
    rows = []
    for size in args.sizes:
        peer: float | None = None if args.no_pos else CRFSUITE.get(size)
        if args.crfsuite:
            orders = [draw_order(len(data.train), draw, plan.seed) for draw in range(1, plan.draws + 1)]
            draws = [[data.train[i] for i in order[:size]] for order in orders[: plan.draws if size < 14041 else 1]]
            peer = fmean(crfsuite_f1(draw, list(data.scored), not args.no_pos) for draw in draws)
        cells: list[object] = []
        for configuration in configurations:
            mean, deviation = means[configuration.name][size]
            cells += [mean, f"± {deviation:.2f}" if deviation else ""]
        rows.append([f"{size:,}", peer, *cells])
    show(
        f"Labelled sentences of CoNLL-2003 English and F1 on {args.split}, mean of {args.draws} random draws",
        ["sentences", "CRFsuite", "plain", "", "documents", "", "clusters", ""],
        rows,
        f"CRFsuite: plain templates, {'the same' if args.crfsuite else 'other'} draws, no choice of a bias on dev. "
        f"plain: the same templates here. {'Parts of speech are not read. ' if args.no_pos else ''}"
        "documents: the set ner, with agreement in documents. clusters: the same, joined with three clusterings of "
        "raw/reuters and raw/europarl. Dev chooses when to stop, the bias of O and the strength of agreement.",
        args.json,
    )
