"""Naradowsky, Vieira and Smith 2012: parsing without a grammar, tables 2 and 4 and figure 3, on ptb-sample and gum.

    python reproduce/naradowsky.py                # tables 2 and 4
    python reproduce/naradowsky.py --figure       # figure 3: speed against length, and against the number of labels

Theirs is of OntoNotes; *WSJ-Mod* is the part of it that is most like ours, with ten times as many sentences.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # one core is one core

import numpy as np
from common import show

from dovetail.evaluate.brackets import bracket_scores
from dovetail.models.parser.estimator import Parser
from dovetail.structures.brackets import BracketBatch, BracketPotentials
from dovetail.structures.ruled import RuledBatch, RuledPotentials
from dovetail.text import Sentence
from dovetail.text.formats import sentences

LONGEST = 40
KINDS = {"labelled": "LBM", "labelled-rules": "+Rules", "grammar": None}
TABLE_2 = {  # on WSJ-Mod: labelled precision, recall, F1
    "LBM": (84.88, 80.33, 82.54),
    "+Rules": (None, None, 84.32),
    "Stanford-PCFG": (80.71, 79.86, 80.28),
    "Stanford-Factored": (81.64, 81.65, 81.64),
    "Berkeley": (86.61, 85.81, 86.21),
}
TABLE_4 = {  # noun phrases: precision, recall, F1
    "LBM": (90.07, 90.02, 90.42),
    "+Rules": (90.15, 91.07, 90.60),
    "Stanford-PCFG": (83.88, 85.74, 84.80),
    "Stanford-Factored": (85.07, 87.83, 86.43),
    "Berkeley": (89.17, 90.96, 90.06),
}
LENGTHS = (10, 20, 30, 40, 60, 80)
LABELS = (1, 10, 30, 100, 300, 1000)


def part_of(corpus: str, split: str) -> list[Sentence]:
    """The sentences with trees of a corpus under DOVETAIL_DATA."""
    root = os.environ.get("DOVETAIL_DATA")
    if not root:
        sys.exit("set DOVETAIL_DATA to the folder with the corpora (ptb-sample/train.jsonl.gz, ...)")
    path = Path(root) / corpus / f"{split}.jsonl.gz"
    if not path.exists():
        sys.exit(f"{path}: there is no such file")
    return [sentence for sentence in sentences(path) if sentence.tree is not None]


def measure(parser: Parser, dev: Sequence[Sentence]) -> tuple[list[Any], list[float]]:
    """The rows of tables 2 and 4 of one parser."""
    parser.threads = 1
    bare = [replace(sentence, tree=None, spans=()) for sentence in dev]
    parser.predict(bare[:5])  # loads the compiled loops
    began = time.process_time()
    found = parser.predict(bare)
    speed = sum(map(len, dev)) / (time.process_time() - began)
    gold = [sentence.tree for sentence in dev if sentence.tree is not None]
    scores = bracket_scores(gold, found)
    row = [
        scores.precision, scores.recall, scores.f1, scores.unlabelled.f1, scores.average_crossing, scores.no_crossing,
        speed,
    ]  # fmt: skip
    nouns = scores.per_label["NP"]
    return row, [nouns.precision, nouns.recall, nouns.f1]


def tables(args: argparse.Namespace) -> None:
    """Tables 2 and 4."""
    for corpus in args.corpus or ["ptb-sample", "gum"]:
        train = part_of(corpus, "train")[: args.limit]
        dev = [sentence for sentence in part_of(corpus, args.split) if len(sentence) <= LONGEST]
        trees: list[list[Any]] = [[f"{name}, published", *row, *[None] * 5] for name, row in TABLE_2.items()]
        phrases: list[list[Any]] = [[f"{name}, published", *row] for name, row in TABLE_4.items()]
        for kind in args.kind or KINDS:
            print(f"{corpus}: {kind} ...", file=sys.stderr, flush=True)
            began = time.process_time()
            parser = Parser(kind=kind, threads=args.threads).fit(train)
            minutes = (time.process_time() - began) / 60
            row, nouns = measure(parser, dev)
            trees.append([kind, *row, minutes])
            phrases.append([kind, *nouns])
            print(*trees[-1], file=sys.stderr, flush=True)
        header = ["", "P", "R", "F1", "no labels F1", "CB", "0 CB", "words/s", "CPU min"]
        note = f"{len(train)} sentences to train on, {len(dev)} of at most {LONGEST} words of {args.split}, one core"
        show(f"table 2: {corpus}", header, trees, note, args.json)
        show(f"table 4: noun phrases, {corpus}", ["", "P", "R", "F1"], phrases, note, args.json)


def seconds_of(work: Callable[[], Any]) -> float:
    """The least processor time of three tries, after one that compiles."""
    tries = []
    for _ in range(4):
        began = time.process_time()
        work()
        tries.append(time.process_time() - began)
    return min(tries[1:])


def figure(args: argparse.Namespace) -> None:
    """Figure 3: sentences a second by length, and milliseconds by the number of labels."""
    train = part_of("ptb-sample", "train")[: args.limit]
    words = [word for sentence in part_of("ptb-sample", args.split) for word in sentence.words]
    rows = []
    for kind in args.kind or ["brackets", *KINDS]:
        parser = Parser(kind=kind, threads=1).fit(train)
        row: list[Any] = [kind]
        for length in LENGTHS:
            some = [words[i * length : (i + 1) * length] for i in range(20)]
            row.append(len(some) / seconds_of(lambda parser=parser, some=some: parser.predict(some)))
        rows.append(row)
    show("figure 3, left: sentences a second by length, all of parsing", ["", *map(str, LENGTHS)], rows,
         "published, 40 words: brackets over 10, labelled and pruned about 4, PCFG about 2", args.json)  # fmt: skip
    rng, rows = np.random.default_rng(0), []
    for name in ("brackets", "rules, 3 labels a span"):
        row = [name]
        for labels in LABELS:
            span = rng.normal(size=(LONGEST * (LONGEST + 1) // 2, labels))
            batch: Any = BracketBatch(BracketPotentials(span), [0, LONGEST])
            if name != "brackets":
                if labels > 100:  # a rule for every three labels
                    row.append(None)
                    continue
                span[np.argsort(rng.random(span.shape), axis=1) >= 3] = -np.inf
                batch = RuledBatch(RuledPotentials(span, rng.normal(size=(labels,) * 3)), [0, LONGEST])
            row.append(1000 * seconds_of(batch.log_partition_and_marginals))
        rows.append(row)
    show("figure 3, right: milliseconds of a sentence of 40 words by the number of labels, probabilities of all spans",
         ["", *map(str, LABELS)], rows, "n^3 + labels x n^2: the labels are summed out first", args.json)  # fmt: skip


def main() -> None:
    """Train, score, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--figure", action="store_true", help="figure 3 instead of the tables")
    parser.add_argument(
        "--corpus", choices=["ptb-sample", "gum", "ewt"], action="append", help="default: the first two"
    )
    parser.add_argument("--kind", choices=["brackets", *KINDS], action="append", help="default: all")
    parser.add_argument("--split", default="dev", help="which part to score (default: dev)")
    parser.add_argument("--limit", type=int, metavar="N", help="train on the first N sentences, for a quick look")
    parser.add_argument("--threads", type=int, default=None)
    parser.add_argument("--json", action="store_true", help="print one JSON object a table")
    args = parser.parse_args()
    if args.figure:
        figure(args)
    else:
        tables(args)


if __name__ == "__main__":
    main()
