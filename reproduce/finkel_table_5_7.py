"""Finkel 2010, table 5.7: nested entities of GENIA, a model of all of them and one of the outermost, scored on all."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from common import show

from dovetail import NestedTagger, Sentence, load, read
from dovetail.evaluate.counts import LabelledScores
from dovetail.evaluate.nested import NestedScores, nested_scores
from dovetail.text.spans import outermost

LABELS = {"protein": "Protein", "DNA": "DNA", "RNA": "RNA", "cell_line": "Cell Line", "cell_type": "Cell Type"}
PUBLISHED = {  # precision, recall and F1 of the nested model, then of the flat one
    "Protein": (79.04, 69.22, 73.80, 78.63, 64.04, 70.59),
    "DNA": (69.61, 61.29, 65.19, 71.62, 57.61, 63.85),
    "RNA": (86.08, 66.02, 74.73, 79.27, 63.11, 70.27),
    "Cell Line": (73.82, 56.53, 64.03, 76.59, 59.68, 67.09),
    "Cell Type": (68.77, 65.44, 67.07, 72.12, 59.60, 65.27),
    "Overall": (75.39, 65.90, 70.33, 76.17, 61.72, 68.19),
}
NOTE = (
    "Published: the last tenth of the corpus, joint parts of speech, clusters of PubMed; ours: {split}, {pos} parts of "
    "speech, no clusters. In the second half the model is trained on the outermost entities alone."
)


def arguments(description: str) -> argparse.Namespace:
    """The flags of both tables."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--split", default="dev", help="which part to score (default: dev)")
    parser.add_argument("--sentences", type=int, default=None, help="train on so many, for a quick look")
    parser.add_argument("--pos", choices=("given", "joint"), default="given", help="parts of speech: read, or found")
    parser.add_argument(
        "--models", type=Path, default=None, help="a folder to keep the two models in, and take them from"
    )
    parser.add_argument("--threads", type=int, default=None)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    return parser.parse_args()


def genia(split: str) -> list[Sentence]:
    """The sentences of a part of GENIA under DOVETAIL_DATA."""
    root = os.environ.get("DOVETAIL_DATA")
    if not root:
        sys.exit("set DOVETAIL_DATA to the folder with the corpora (genia/train.jsonl.gz, ...)")
    return [replace(s, tree=None) for document in read(Path(root) / "genia" / f"{split}.jsonl.gz") for s in document]


def flat(sentences: Sequence[Sentence]) -> list[Sentence]:
    """The sentences with their outermost entities alone."""
    return [replace(s, spans=tuple(outermost(s.spans)), layers={"pos": s.layers["pos"]}) for s in sentences]


def model(name: str, args: argparse.Namespace) -> Any:
    """The nested or the flat model, trained or taken from the folder."""
    path = args.models / f"{name}-{args.pos}.dovetail" if args.models else None
    if path is not None and path.exists():
        return load(path)
    train, dev = genia("train")[: args.sentences], genia("dev")
    if name == "flat":
        train, dev = flat(train), flat(dev)
    tagger = NestedTagger(pos=args.pos, threads=args.threads).fit(train, dev=dev)
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        tagger.save(path)
    return tagger


def both(args: argparse.Namespace) -> tuple[NestedScores, NestedScores]:
    """The scores of the nested and of the flat model."""
    gold = genia(args.split)
    right = [s.spans for s in gold]
    return tuple(nested_scores(right, model(name, args).predict(gold)) for name in ("nested", "flat"))  # type: ignore[return-value]


def rows(published: dict[str, tuple[float, ...]], nested: LabelledScores, semi: LabelledScores) -> list[list[Any]]:
    """A row for every label, and one for all: theirs, then ours."""
    found = []
    for label, name in [*LABELS.items(), (None, "Overall")]:
        ours = [scores if label is None else scores.per_label[label] for scores in (nested, semi)]
        figures = [value for each in ours for value in (each.precision, each.recall, each.f1)]
        theirs = published[name]
        found.append([name, *theirs[:3], *figures[:3], *theirs[3:], *figures[3:]])
    return found


HEADER = ["", "P", "R", "F1", "our P", "our R", "our F1", "flat P", "flat R", "flat F1", "our P ", "our R ", "our F1 "]

if __name__ == "__main__":
    args = arguments(__doc__)
    nested, semi = both(args)
    note = NOTE.format(split=args.split, pos=args.pos)
    show("Nested model and flat model, all entities", HEADER, rows(PUBLISHED, nested.all, semi.all), note, args.json)
