"""Wang 2014, tables 3.1 and 3.2: MaxEnt with L2, L1, and pools of experts, on CoNLL-2003 English.

Penalties and the number of experts are chosen on the last fifth of the training data; then each row is trained
on all of it, and scored once on dev. Tokens are scored without B- and I-, those whose word is in the
training data (IV) apart from the others (OOV).
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from typing import Any

from common import corpus, show

from dovetail import Sentence, Tagger
from dovetail.evaluate import entity_scores

KINDS = "without:word[0],word[0] & shape[-1]|word[-1],word[1],word[-1] & word[-2] & shape[-1],bag|shape,cap,title"
"""The word, what stands around it, and how it is written."""

PUBLISHED = {
    "MaxEnt L2": (1, 88.46, 87.73, 88.09),
    "MaxEnt L1": (1, 88.46, 89.63, 89.04),
    "LOP random": (2, 88.75, 90.79, 89.76),
    "LOP sequential": (2, 88.68, 90.79, 89.72),
    "LOP L1": (5, 88.76, 90.41, 89.58),
    "elitist LOP": (3, 89.65, 91.08, 90.36),
    "S05 simple": (2, None, None, 90.26),
    "leave one kind out": (None, None, None, None),
    "the same, learnt": (None, None, None, None),
}
TOKENS = {"MaxEnt L2": (88.00, 83.08), "elitist LOP": (90.05, 86.49)}
ONLINE = {"optimiser": "adagrad", "iterations": 30, "patience": 25}
GRID: dict[str, list[dict[str, Any]]] = {
    "MaxEnt L2": [{"l2": l2} for l2 in (0.003, 0.01, 0.03)],
    "MaxEnt L1": [{"l2": 0.0, "l1": l1} for l1 in (0.01, 0.03, 0.1)],
    "LOP random": [{"pool": "random:2", "l2": l2} for l2 in (0.01, 0.03)],
    "LOP sequential": [{"pool": "sequential:2", "l2": l2} for l2 in (0.01, 0.03)],
    "LOP L1": [{"pool": "elitist:5:approximate", "l2": 0.0, "l1": 0.03} | ONLINE],
    "elitist LOP": [{"pool": "elitist:3:approximate", "l2": l2} | ONLINE for l2 in (0.03, 0.1)],
    "S05 simple": [{"pool": "without:bag", "l2": l2} for l2 in (0.003, 0.01)],
    "leave one kind out": [{"pool": KINDS, "l2": l2} for l2 in (0.003, 0.01, 0.03)],
    "the same, learnt": [{"pool": KINDS, "pool_weights": "learnt", "l2": 0.01}],
}


def trained(train: list[Sentence], stop: list[Sentence], threads: int | None, **how: Any) -> Tagger:
    """A classifier of tokens. Early stopping and learnt mixing weights, where there are any, look at ``stop``."""
    usual = {
        "iterations": 150,
        "min_count": 1,
        "features": "wang-english",
        "order": 0,
        "consistency": "none",
        "cross_validate": 0,
    }
    plain = {"calibrate": False, "balance": False, "threads": threads}
    looks = "optimiser" in how or how.get("pool_weights") == "learnt"
    return Tagger(**(usual | plain | how)).fit(train, dev=stop if looks else None)


def tokens_f1(gold: Sequence[Sentence], predicted: Sequence[Sequence[str]], known: set[str], inside: bool) -> float:
    """F1 of the types of tokens whose word is known, or of those whose word is not."""
    right = found = there = 0
    for sentence, tags in zip(gold, predicted, strict=True):
        for word, truth, tag in zip(sentence.words, sentence.layers["ner"], tags, strict=True):
            if (word in known) == inside:
                truth, tag = truth[2:], tag[2:]
                there, found, right = there + bool(truth), found + bool(tag), right + (bool(tag) and truth == tag)
    return 200.0 * right / max(there + found, 1)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--split", default="dev", help="which part to score (default: dev)")
    parser.add_argument("--threads", type=int, default=None)
    parser.add_argument("--json", action="store_true", help="print one JSON object for each table")
    parser.add_argument("--row", action="append", choices=list(PUBLISHED), help="only this row; may be repeated")
    args = parser.parse_args()
    train, gold = corpus("conll2003-en", "train"), corpus("conll2003-en", args.split)
    cut = len(train) * 4 // 5
    known = {word for sentence in train for word in sentence.words}
    tags = [s.layers["ner"] for s in gold]
    rows, more = [], []
    for name in args.row or PUBLISHED:
        best: tuple[float, dict[str, Any]] = (-1.0, {})
        for how in GRID[name]:
            began = time.perf_counter()
            middle = cut * 9 // 10  # what stops training and mixes experts is neither trained on nor judged by
            score = trained(train[:middle], train[middle:cut], args.threads, **how).score(train[cut:])
            print(f"{name} {how}: {score:.2f} in {time.perf_counter() - began:.0f} s", file=sys.stderr, flush=True)
            best = max(best, (score, how), key=lambda one: one[0])
        last = len(train) * 9 // 10
        looks = "optimiser" in best[1] or "pool_weights" in best[1]
        whole = trained(train[:last] if looks else train, train[last:], args.threads, **best[1])
        found = whole.predict(gold)
        scores = entity_scores(tags, found)
        experts = len(whole.card_.get("pool", ())) or int((best[1].get("pool") or "x:1").split(":")[1])
        rows.append([name, *PUBLISHED[name], experts, best[0], scores.precision, scores.recall, scores.f1])
        theirs = TOKENS.get(name, (None, None))
        more.append([name, *theirs, *(tokens_f1(gold, found, known, inside) for inside in (True, False))])
        print(rows[-1], more[-1], file=sys.stderr, flush=True)
    show(
        f"MaxEnt and pools, published dev | dovetail, held-out fifth of train and {args.split}",
        ["", "#E", "P", "R", "F1", "our #E", "held out", "our P", "our R", "our F1"],
        rows,
        "The published feature set also has distributional clusters. S05 is of a CRF there, and here one expert with "
        "all features and one without the bag of words.",
        args.json,
    )
    show(
        f"F1 of tokens with known and with unknown words, published test | dovetail {args.split}",
        ["", "IV", "OOV", "our IV", "our OOV"],
        more,
        "Published for the test part; ours is of the part scored above.",
        args.json,
    )
