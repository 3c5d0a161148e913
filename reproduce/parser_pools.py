"""What a pool of parsers gains over its first member: bracket F1, or unlabelled and labelled attachment, on dev.

    python reproduce/parser_pools.py --corpus gum                 # trees, sentences of up to 40 words, as evalb scores
    python reproduce/parser_pools.py --corpus gum --what heads    # with given parts of speech

Nothing is tuned on dev. Intervals are by paired bootstrap over sentences.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from copy import copy
from dataclasses import replace
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # one core is one core

from common import data_folder, show

from dovetail import DependencyParser, Parser, Sentence
from dovetail.evaluate.attachments import attachment_counts
from dovetail.evaluate.brackets import bracket_counts
from dovetail.evaluate.significance import paired_bootstrap
from dovetail.text.formats import sentences

LONGEST = 40


def trees(train: list[Sentence], dev: list[Sentence], members: int, threads: int | None) -> list[tuple[str, Any]]:
    """Counts of brackets on dev, of the first parser and of all together."""
    pool = Parser(pool=members, threads=threads).fit(train)
    bare = [replace(s, tree=None, spans=()) for s in dev]
    gold = [s.tree for s in dev if s.tree is not None]
    parsers = (pool.members_[0], pool)
    return [("F1", [bracket_counts(gold, parser.predict(bare)) for parser in parsers])]


def heads(train: list[Sentence], dev: list[Sentence], members: int, threads: int | None) -> list[tuple[str, Any]]:
    """Counts of words with the right head, and with the right relation too, of the first parser and of all together."""
    pool = DependencyParser(pool=members, threads=threads).fit(train)
    first = copy(pool)
    first.model_ = pool.model_.arcs[0]
    found = [list(parser.annotate(dev)) for parser in (first, pool)]
    return [(kind.upper(), [attachment_counts(dev, own, score=kind) for own in found]) for kind in ("uas", "las")]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", default="ptb-sample")
    parser.add_argument("--what", default="trees", choices=("trees", "heads"))
    parser.add_argument("--members", type=int, default=4)
    parser.add_argument("--sentences", type=int, help="learn from the first so many alone")
    parser.add_argument("--threads", type=int, default=None)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    args = parser.parse_args()
    train, dev = (list(sentences(data_folder() / args.corpus / f"{part}.jsonl.gz")) for part in ("train", "dev"))
    train = train[: args.sentences]
    if args.what == "trees":
        train, dev = ([s for s in part if s.tree is not None] for part in (train, dev))
        dev = [s for s in dev if len(s) <= LONGEST]
    began = time.process_time()
    rows: list[list[object]] = []
    for name, (first, every) in (trees if args.what == "trees" else heads)(train, dev, args.members, args.threads):
        both = first[:, 0] == every[:, 0]  # evalb leaves out sentences whose words do not fit, as of wrong punctuation
        first, every = first[both], every[both]
        found = paired_bootstrap(every, first)
        one, all_of_them = (200 * counts[:, 2].sum() / counts[:, :2].sum() for counts in (first, every))
        rows.append([name, float(one), float(all_of_them), found.difference, found.low, found.high])
    print(f"{time.process_time() - began:.0f} s of processor time", file=sys.stderr)
    show(
        f"{args.corpus}, {len(train):,} sentences to learn from, {len(dev):,} of dev",
        ["", "first", f"pool of {args.members}", "difference", "from", "to"],
        rows,
        "From and to: the 95 % interval of the difference.",
        args.json,
    )
