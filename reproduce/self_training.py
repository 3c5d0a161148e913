"""Does a tagger get better by learning from its own confident answers? A trial on CoNLL-2003 English with Reuters text.

A tagger learns from a few random sentences, with clusters (--clusters FOLDER, as ``--save-clusters`` leaves them); it
tags raw text; sentences whose best tagging is more probable than 0.9 and has an entity join the training set, as many
as there are labelled ones or four times as many; a second tagger learns from both. Parts of speech are left out: raw
text has none.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
from itertools import islice
from pathlib import Path

import numpy as np
from common import corpus, show

from dovetail import FeatureSet, Sentence, Tagger
from dovetail.features.resources.recipe import as_resources, read_clusterings
from dovetail.text.files import open_text

SURE = 0.9
RAW_SENTENCES = 20_000


def raw_sentences() -> list[Sentence]:
    """The first sentences of ordinary length of raw/reuters."""
    root = os.environ.get("DOVETAIL_DATA") or sys.exit("set DOVETAIL_DATA to the folder with the corpora")
    with open_text(Path(root) / "raw" / "reuters.txt.gz") as lines:
        words = (line.split() for line in lines)
        return [Sentence(tuple(w)) for w in islice((w for w in words if 5 < len(w) < 40), RAW_SENTENCES)]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clusters", required=True, help="a folder of clusters")
    parser.add_argument("--sizes", default="500,2500")
    parser.add_argument("--threads", type=int, default=None)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    args = parser.parse_args()
    train, dev = corpus("conll2003-en", "train"), corpus("conll2003-en", "dev")
    raw = raw_sentences()
    features = FeatureSet.named("ner").joined(**as_resources(read_clusterings([args.clusters])))

    def tagger() -> Tagger:
        return Tagger(features=features, ignore=("pos", "chunk"), consistency="agree", threads=args.threads)

    rows = []
    for size in map(int, args.sizes.split(",")):
        scores = []
        for draw in (1, 2, 3):
            labelled = random.Random(draw).sample(train, size)
            first = tagger().fit(labelled, dev=dev)
            answers = [taggings[0] for taggings in first.kbest(raw, 1)]
            sure = [
                sentence.with_layer("ner", best.tags)
                for sentence, best in zip(raw, answers, strict=True)
                if best.probability > SURE and any(tag != "O" for tag in best.tags)
            ]
            draws = [first.score(dev)]
            for times in (1, 4):
                more = random.Random(draw).sample(sure, min(times * size, len(sure)))
                draws.append(tagger().fit([*labelled, *more], dev=dev).score(dev))
            scores.append(draws)
            print(size, draw, len(sure), *(f"{score:.2f}" for score in draws), file=sys.stderr)
        rows.append([f"{size:,} sentences", *map(float, np.mean(scores, axis=0))])
    show(
        "Self-training, F1 on dev, mean of three draws",
        ["", "labelled only", "and as many of its own", "and four times as many"],
        rows,
        f"Its own: Reuters sentences whose best tagging has a probability above {SURE} and an entity.",
        args.json,
    )
