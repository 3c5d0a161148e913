"""Finkel 2010, tables 5.3 and 5.4: constituents by a CRF over a grammar, on ptb-sample and gum.

Generative, discriminative (the rules alone), feature-based, and relaxed (rules lent between symbols; table 5.3 only).
Every model is trained twice: with the grammar of the thesis, and with the plain one that dovetail takes by itself.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from common import show

from dovetail.evaluate.brackets import bracket_scores
from dovetail.models.parser.estimator import Parser
from dovetail.text import Sentence
from dovetail.text.formats import sentences

COLUMNS = ("P", "R", "F1", "exact", "CB", "0 CB")


class Table(NamedTuple):
    """A published table: the longest sentences, the siblings that a symbol shows, and the rows by model."""

    longest: int
    horizontal: int
    part: str
    rows: Mapping[str, tuple[float, ...]]


TABLES = {
    "5.3": Table(15, 1, "development", {
        "generative": (86.9, 85.8, 86.4, 46.2, 0.34, 81.2),
        "discriminative": (89.1, 88.6, 88.9, 55.5, 0.26, 85.5),
        "feature-based": (90.4, 89.3, 89.9, 59.5, 0.24, 88.3),
        "relaxed": (91.2, 90.3, 90.7, 62.1, 0.24, 88.1),
    }),
    "5.4": Table(40, 2, "test", {
        "generative": (83.5, 82.0, 82.8, 25.5, 1.57, 53.4),
        "discriminative": (85.1, 84.5, 84.8, 29.7, 1.41, 55.8),
        "feature-based": (89.2, 88.8, 89.0, 37.3, 0.92, 65.1),
    }),
}  # fmt: skip
MODELS: dict[str, dict[str, Any]] = {
    "generative": {"features": "generative"},
    "discriminative": {"features": "rules"},
    "feature-based": {"features": "full"},
    "relaxed": {"features": "full", "relax": 5},
}


def part_of(corpus: str, split: str, longest: int) -> list[Sentence]:
    """The sentences of a corpus under DOVETAIL_DATA that are not too long."""
    root = os.environ.get("DOVETAIL_DATA")
    if not root:
        sys.exit("set DOVETAIL_DATA to the folder with the corpora (ptb-sample/train.jsonl.gz, ...)")
    path = Path(root) / corpus / f"{split}.jsonl.gz"
    if not path.exists():
        sys.exit(f"{path}: there is no such file")
    return [sentence for sentence in sentences(path) if sentence.tree is not None and len(sentence) <= longest]


def grammars(table: Table, model: str) -> dict[str, dict[str, Any]]:
    """The grammar of the thesis, and, where it is another, what dovetail takes for this model unless told."""
    thesis = {"vertical": 2, "horizontal": table.horizontal, "head_tags": True, "direction": "right"}
    same = model == "generative" and table.horizontal == 1
    return {"thesis": thesis} if same or model == "relaxed" else {"thesis": thesis, "ours": {}}


def measure(train: list[Sentence], dev: list[Sentence], settings: dict[str, Any]) -> list[Any]:
    """Scores on dev, sentences that count as errors, the size of the grammar, processor minutes of training."""
    began = time.process_time()
    # dev stops training, as in the thesis; counted grammars have nothing to stop
    held_out = None if settings["features"] == "generative" else dev
    parser = Parser(**settings).fit(train, dev=held_out)
    minutes = (time.process_time() - began) / 60
    found = parser.predict(dev)
    scores = bracket_scores([sentence.tree for sentence in dev if sentence.tree is not None], found)
    return [
        scores.precision, scores.recall, scores.f1, scores.exact, scores.average_crossing, scores.no_crossing,
        scores.errors, parser.card_["symbols"], parser.card_["rules"], minutes,
    ]  # fmt: skip


def main() -> None:
    """Train, score, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--table", choices=TABLES, default="5.3")
    parser.add_argument("--corpus", choices=["ptb-sample", "gum"], action="append", help="default: both")
    parser.add_argument("--model", choices=MODELS, action="append", help="default: all of the table")
    parser.add_argument("--grammar", choices=["thesis", "ours"], action="append", help="default: both")
    parser.add_argument("--split", default="dev", help="which part to score (default: dev)")
    parser.add_argument("--limit", type=int, metavar="N", help="train on the first N sentences, for a quick look")
    parser.add_argument("--threads", type=int, default=None)
    parser.add_argument("--json", action="store_true", help="print one JSON object a corpus")
    args = parser.parse_args()
    table = TABLES[args.table]
    for corpus in args.corpus or ["ptb-sample", "gum"]:
        train, dev = (part_of(corpus, split, table.longest) for split in ("train", args.split))
        train = train[: args.limit]
        rows: list[list[Any]] = []
        for model, published in table.rows.items():
            if args.model and model not in args.model:
                continue
            rows.append([f"{model}, published", *published, None, None, None, None])
            for name, grammar in grammars(table, model).items():
                if args.grammar and name not in args.grammar:
                    continue
                print(f"{corpus}: {model}, grammar: {name} ...", file=sys.stderr, flush=True)
                settings = {"threads": args.threads} | MODELS[model] | grammar
                rows.append([f"{model}, {_said(name, model)}", *measure(train, dev, settings)])
                print(*rows[-1], file=sys.stderr, flush=True)
        show(
            f"table {args.table}: {corpus}, sentences of at most {table.longest} words, {args.split}",
            ["", *COLUMNS, "errors", "symbols", "rules", "CPU min"],
            rows,
            f"Published: Penn Treebank, {table.part} part. Ours: {len(train):,} sentences to learn from, "
            f"{len(dev):,} to score. CPU min: processor minutes of training, all threads added up.",
            args.json,
        )


def _said(grammar: str, model: str) -> str:
    """How a grammar is named in the table."""
    if grammar == "ours":
        return "our grammar"
    return "its grammar, relaxed" if model == "relaxed" else "its grammar"


if __name__ == "__main__":
    main()
