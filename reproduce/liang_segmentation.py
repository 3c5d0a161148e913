"""Liang 2005, tables 5.2 to 5.4 (M, M+F, SM, SM+F), 4.3 (forms of association) and 5.9 (lexicons), on People's Daily.

The published figures are of other corpora (CTB, PK, HK of the first SIGHAN bakeoff); PK is the nearest to ours.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
from common import show

from dovetail import Segmenter
from dovetail.features.resources.association import Association
from dovetail.features.resources.lexicon import Lexicon
from dovetail.features.resources.variety import Variety
from dovetail.text.words import half_width, read_lines, read_segmented

# Precision, recall and F1 on the test part of PK, table 5.3; our features are those of figures 5-1 and 5-2.
PUBLISHED = {
    ("M", 0.1): (87.3, 86.0, 86.6), ("M", 1.0): (93.4, 92.5, 92.9),
    ("M+F", 0.1): (89.9, 89.6, 89.7), ("M+F", 1.0): (94.1, 94.1, 94.1),
    ("SM", 0.1): (87.8, 87.4, 87.6), ("SM", 1.0): (93.5, 93.2, 93.3),
    ("SM+F", 0.1): (89.9, 88.8, 89.4), ("SM+F", 1.0): (94.0, 93.2, 93.6),
}  # fmt: skip
FORMS: dict[str, tuple[float, dict[str, Any] | None]] = {  # table 4.3, HK, 10 %
    "without": (77.08, None),
    "raw": (81.51, {"how": "raw"}),
    "threshold, 0 and 1": (80.83, {"how": "threshold"}),
    "threshold, -1 and 1": (80.47, {"how": "threshold", "low": -1.0}),
    "range -3 to 3": (82.90, {"how": "scale", "low": -3.0, "high": 3.0}),
    "range 0 to 1": (83.27, {"how": "scale"}),
    "z-score": (83.35, {"how": "z-score"}),
    "times 10": (68.89, {"how": "multiply"}),
}
LEXICONS = {"SM": 87.6, "SM+F": 89.3, "SM+lex(train+dev)": 98.7}  # table 5.9, CTB, 10 %, dev


def folder() -> Path:
    """Where the corpora are."""
    root = os.environ.get("DOVETAIL_DATA")
    if not root:
        sys.exit("set DOVETAIL_DATA to the folder with the corpora (cws/people_daily_train.txt.gz, ...)")
    return Path(root) / "cws"


def part(train: list[list[str]], share: float, trial: int) -> list[list[str]]:
    """A random share of the sentences."""
    order = np.random.default_rng(trial).permutation(len(train))
    return [train[i] for i in order[: round(share * len(train))]]


def liang(learner: str, **settings: Any) -> dict[str, Any]:
    """The settings of the thesis: averaged perceptron, 20 passes, all features; or likelihood with our penalty."""
    return {"optimiser": learner, "iterations": 20 if learner == "perceptron" else None, "min_count": 1, **settings}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--table", choices=["models", "forms", "lexicons", "ours"], default="models")
    parser.add_argument("--learner", choices=["perceptron", "lbfgs"], default="perceptron")
    parser.add_argument("--share", type=float, action="append", help="of the training data (default: 0.1 and 1)")
    parser.add_argument("--threads", type=int, default=None)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    train = list(read_segmented(folder() / "people_daily_train.txt.gz"))
    dev = list(read_segmented(folder() / "people_daily_dev.txt.gz"))
    raw = folder() / "raw_zh_hans.txt.gz"
    association = Association.count([raw], unit="char")
    shares = args.share or [0.1, 1.0]
    rows: list[list[Any]] = []

    def measure(share: float, **settings: Any) -> list[float]:
        segmenter = Segmenter(threads=args.threads, **settings).fit(part(train, share, 1))
        scores = segmenter.word_scores(dev)
        return [scores.precision, scores.recall, scores.f1, scores.oov_recall or 0.0]

    header = ["", "published P", "R", "F1", "our P", "R", "F1", "OOV recall"]
    note = "Published: PK, test. Ours: People's Daily, dev; the raw text holds that of train and dev, without words."
    title = f"words, {args.learner}"
    markov = liang(args.learner, model="markov", order=2, scheme="iob2", features="liang-segmentation")
    semi = liang(args.learner, model="semi-markov", features="liang-segmentation-spans")
    z_score = {"association": association.transform("z-score")}
    if args.table == "models":
        for name, settings in (("M", markov), ("M+F", markov), ("SM", semi), ("SM+F", semi)):
            for share in shares:
                found = measure(share, resources=z_score if "F" in name else {}, **settings)
                published = PUBLISHED.get((name, share), ("", "", ""))
                rows.append([f"{name} {share:.0%}", *published, *found])
    elif args.table == "forms":
        header, title = ["association as", "published F1 (HK)", "our F1"], f"table 4.3, 10 %, {args.learner}"
        for name, (published_f1, form) in FORMS.items():
            tables = {} if form is None else {"association": association.transform(**form)}
            rows.append([name, published_f1, measure(0.1, resources=tables, **markov)[2]])
    elif args.table == "lexicons":
        header, title = ["", "published F1 (CTB dev)", "our F1"], f"table 5.9, 10 %, {args.learner}"
        every = Lexicon.of({"word": sorted({word for words in [*train, *dev] for word in words})}, unit="char")
        resources: dict[str, dict[str, Any]] = {"SM": {}, "SM+F": z_score, "SM+lex(train+dev)": {"list": every}}
        for name, published_f1 in LEXICONS.items():
            rows.append([name, published_f1, measure(0.1, resources=resources[name], **semi)[2]])
    else:
        header = ["our own features, likelihood", "P", "R", "F1", "OOV recall"]
        lines = ("".join(half_width(line).split()) for line in read_lines(raw))
        tables = z_score | {"variety": Variety.count(lines)}
        for share in shares:
            for name, given in (("no raw text", {}), ("association", z_score), ("and variety", tables)):
                for family in ("markov", "semi-markov"):
                    found = measure(share, model=family, resources=given)
                    rows.append([f"{family}, {name}, {share:.0%}", *found])
    show(title, header, rows, note, args.json)
