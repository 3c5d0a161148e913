"""Finkel 2010, table 5.5: CRF-based dependency parsing of one domain at a time, unlabelled attachment."""

from __future__ import annotations

import os
import sys
from collections import defaultdict
from pathlib import Path

from common import arguments, show

from dovetail import DependencyParser, Sentence, read

PUBLISHED = {
    "ABC": (1195, 83.32), "CNN": (5092, 85.53), "MNB": (509, 77.06), "NBC": (552, 76.21), "PRI": (1707, 87.65),
    "VOA": (1512, 89.17),
}  # fmt: skip
"""Sentences of training, and accuracy, on the broadcasts of OntoNotes 2."""
PASSES = 30  # a fixed number: the part that is scored decides nothing


def by_genre(split: str) -> dict[str, list[Sentence]]:
    """The sentences of each genre of gum under DOVETAIL_DATA."""
    root = os.environ.get("DOVETAIL_DATA")
    if not root:
        sys.exit("set DOVETAIL_DATA to the folder with the corpora (gum/train.jsonl.gz, ...)")
    path = Path(root) / "gum" / f"{split}.jsonl.gz"
    if not path.exists():
        sys.exit(f"{path}: there is no such file")
    found: dict[str, list[Sentence]] = defaultdict(list)
    for document in read(path):
        for sentence in document:
            genre = next(c.partition(" = ")[2] for c in sentence.comments if c.startswith("# domain = "))
            found[genre].append(sentence)
    return found


def trained(sentences: list[Sentence], threads: int | None) -> DependencyParser:
    """A parser of these sentences, with gold parts of speech, as in the thesis."""
    return DependencyParser(iterations=PASSES, bits=20, relations=False, threads=threads).fit(sentences)


if __name__ == "__main__":
    args = arguments(__doc__)
    train, test = by_genre("train"), by_genre(args.split)
    everything = trained([s for sentences in train.values() for s in sentences], args.threads)
    rows: list[list[object]] = [[name, size, score, None] for name, (size, score) in PUBLISHED.items()]
    for genre in sorted(train):
        own = trained(train[genre], args.threads)
        rows.append([genre, len(train[genre]), own.score(test[genre]), everything.score(test[genre])])
    whole = [s for sentences in test.values() for s in sentences]
    rows.append(["all", sum(map(len, train.values())), None, everything.score(whole)])
    show(
        "Dependencies by domain, unlabelled attachment: published on OntoNotes 2 (capitals), dovetail on gum",
        ["", "train", "own domain", "all domains"],
        rows,
        "All words count. Gold parts of speech; trees are made projective. The thesis converts constituents of\n"
        "broadcasts by the rules of Collins, gum has Universal Dependencies of written and spoken genres.",
        args.json,
    )
