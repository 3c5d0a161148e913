"""Finkel 2010, table 6.4: dependencies by domain, each by itself, pooled, augmented, and hierarchical."""

from __future__ import annotations

import argparse
import time

import numpy as np
from common import show
from finkel_table_5_5 import by_genre

from dovetail import DependencyParser, MultiDomainParser, Sentence
from dovetail.evaluate import attachment_counts, stratified_shuffling
from dovetail.text.dependencies import with_dependencies

PUBLISHED = {
    "ABC": (83.32, 88.97, 87.30, 88.68),
    "CNN": (85.53, 87.09, 86.41, 87.26),
    "MNB": (77.06, 86.41, 84.70, 86.71),
    "NBC": (76.21, 85.82, 85.01, 85.32),
    "PRI": (87.65, 90.28, 89.52, 90.59),
    "VOA": (89.17, 92.11, 90.67, 92.09),
}
STRATEGIES = ("target", "all", "augment", "hierarchical")


def trained(strategy: str, train: dict[str, list[Sentence]], args: argparse.Namespace) -> dict[str, DependencyParser]:
    """The parser of each domain."""

    def new() -> DependencyParser:
        return DependencyParser(iterations=args.passes, bits=args.bits, relations=False, threads=args.threads)

    if strategy == "target":
        return {genre: new().fit(sentences) for genre, sentences in train.items()}
    parsers = MultiDomainParser(parser=new(), strategy=strategy).fit(train)
    return {genre: parsers.parser_of(genre) for genre in train}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--split", default="dev", help="which part to score (default: dev)")
    parser.add_argument("--genres", type=int, default=None, help="only so many genres, by name (default: all)")
    parser.add_argument("--sentences", type=int, default=None, help="at most so many of each to train on")
    parser.add_argument("--bits", type=int, default=20, help="2**bits weights of pairs (default: 20)")
    parser.add_argument("--passes", type=int, default=30, help="a fixed number: dev decides nothing (default: 30)")
    parser.add_argument("--threads", type=int, default=None)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    args = parser.parse_args()
    whole, test = by_genre("train"), by_genre(args.split)
    train = {genre: whole[genre][: args.sentences] for genre in sorted(whole)[: args.genres]}
    counts: dict[str, list[np.ndarray]] = {}
    for strategy in STRATEGIES:
        began = time.perf_counter()
        parsers = trained(strategy, train, args)
        counts[strategy] = []
        for genre in train:
            bare = [Sentence(s.words, {"pos": s.layers.get("pos", s.layers.get("xpos", ()))}) for s in test[genre]]
            answers = parsers[genre].predict(bare)
            found = [with_dependencies(s, d) for s, d in zip(bare, answers, strict=True)]
            counts[strategy].append(np.asarray(attachment_counts(test[genre], found)))
        print(f"# {strategy}: {time.perf_counter() - began:.0f} s", flush=True)
    rows: list[list[object]] = [[name, None, *scores] for name, scores in PUBLISHED.items()]
    for i, genre in enumerate(train):
        scores = [100.0 * counts[s][i][:, 2].sum() / counts[s][i][:, 0].sum() for s in STRATEGIES]
        rows.append([genre, len(train[genre]), *scores])
    together = {s: np.concatenate(counts[s]) for s in STRATEGIES}
    rows.append(
        ["all", sum(map(len, train.values())), *[100.0 * c[:, 2].sum() / c[:, 0].sum() for c in together.values()]]
    )
    tests = {s: stratified_shuffling(together["hierarchical"], together[s]) for s in STRATEGIES[:3]}
    show(
        f"Dependencies by domain, unlabelled attachment: published on OntoNotes 2 (capitals), ours on gum {args.split}",
        ["", "train", *STRATEGIES],
        rows,
        "\n".join(f"hierarchical less {s}: {t.difference:+.2f} (p {t.p_value:.4f})" for s, t in tests.items()),
        args.json,
    )
