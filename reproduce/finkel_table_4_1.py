"""Finkel 2010, table 4.1: semantic roles by a pipeline that is greedy, keeps the k best trees, or samples trees."""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from common import show

from dovetail import RoleLabeller, Sentence, read
from dovetail.evaluate import stratified_shuffling
from dovetail.evaluate.roles import role_counts, role_scores
from dovetail.models.roles.voting import SEEN, elected
from dovetail.text.tree import Tree

PUBLISHED = {  # precision, recall and F1: core arguments of the Penn Treebank and of Brown, then all arguments
    "greedy": ((79.31, 77.7, 78.50), (68.28, 67.72, 68.0), (78.49, 74.77, 76.58), (66.6, 60.45, 63.38)),
    "k best": ((80.05, 78.45, 79.24), (69.25, 69.02, 69.13), (79.58, 74.90, 77.16), (68.82, 61.03, 64.69)),
    "sampled": ((80.13, 78.25, 79.18), (69.35, 68.93, 69.16), (79.81, 74.85, 77.31), (68.6, 61.11, 64.64)),
}
Weighted = Sequence[tuple[Tree, float]]


def arguments(description: str | None) -> argparse.Namespace:
    """The flags."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--split", default="dev", help="which part to score (default: dev)")
    parser.add_argument("--sentences", type=int, default=None, help="train on so many, for a quick look")
    parser.add_argument("--model", type=Path, default=None, help="a file to keep the model in, and take it from")
    parser.add_argument("--samples", type=int, default=50, help="trees drawn for each sentence (default: 50)")
    parser.add_argument("--best", type=int, default=50, help="trees in a list of the best (default: 50)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=None)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    return parser.parse_args()


def ewt(split: str) -> list[Sentence]:
    """The sentences of a part of ewt under DOVETAIL_DATA."""
    root = os.environ.get("DOVETAIL_DATA")
    if not root:
        sys.exit("set DOVETAIL_DATA to the folder with the corpora (ewt/train.jsonl.gz, ...)")
    return [sentence for document in read(Path(root) / "ewt" / f"{split}.jsonl.gz") for sentence in document]


def trained(args: argparse.Namespace) -> RoleLabeller:
    """The labeller, with its parser."""
    if args.model is not None and args.model.exists():
        return RoleLabeller.load(args.model).set_params(threads=args.threads)
    from dovetail import Parser

    parser = Parser(kind="labelled-rules", threads=args.threads)
    made = RoleLabeller(parser=parser, threads=args.threads).fit(
        ewt("train")[: args.sentences], doing=lambda what: print(what, file=sys.stderr, flush=True)
    )
    if args.model is not None:
        made.save(args.model)
    return made


def drawn(trees: Sequence[Tree]) -> list[tuple[Tree, float]]:
    """Different trees with their shares among those that were drawn."""
    return [(tree, count / len(trees)) for tree, count in Counter(trees).items()]


def listed(trees: Weighted) -> list[tuple[Tree, float]]:
    """The best trees with their shares."""
    whole = sum(p for _, p in trees)
    return [(tree, p / whole) for tree, p in trees]


def by_votes(labeller: Any, gold: Sequence[Sentence], trees: Sequence[Weighted]) -> list[Sentence]:
    """The sentences with what their trees say together, predicates and senses given."""
    asked = [replace(s, tree=tree) for s, own in zip(gold, trees, strict=True) for tree, _ in own]
    said = iter(labeller.predict_marginals(asked, SEEN))
    return [
        replace(s, tree=None, frames=elected([(p, next(said)) for _, p in own]))
        for s, own in zip(gold, trees, strict=True)
    ]


def compared(labeller: Any, gold: Sequence[Sentence], best: Any, lists: Any, samples: Any) -> dict[str, Any]:
    """The sentences as each pipeline annotates them."""
    greedy = list(labeller.annotate([replace(s, tree=t) for s, t in zip(gold, best, strict=True)], False))
    with_best = by_votes(labeller, gold, [listed(own) for own in lists])
    with_samples = by_votes(labeller, gold, [drawn(own) for own in samples])
    return {"greedy": greedy, "k best": with_best, "sampled": with_samples}


def table(gold: Sequence[Sentence], found: dict[str, Any], note: str, as_json: bool) -> None:
    """Print the published figures, and ours."""
    rows: list[list[object]] = []
    for name, figures in PUBLISHED.items():
        rows += [
            [f"{name}, {what}, {where}", *figures[2 * i + j], None]
            for i, what in enumerate(("core", "all"))
            for j, where in enumerate(("PTB", "Brown"))
        ]
    base = {core: role_counts(gold, found["greedy"], core) for core in (True, False)}
    for name, sentences in found.items():
        scores = role_scores(gold, sentences)
        for what, counts, core in (("core", scores.core, True), ("all", scores, False)):
            chance = None
            if name != "greedy":
                chance = f"{stratified_shuffling(role_counts(gold, sentences, core), base[core]).p_value:.4f}"
            rows.append([f"{name}, {what}, ours", counts.precision, counts.recall, counts.f1, chance])
    title = "Semantic roles: published on CoNLL-2005, dovetail on ewt"
    show(title, ["", "precision", "recall", "F1", "p against greedy"], rows, note, as_json)


if __name__ == "__main__":
    args = arguments(__doc__)
    labeller, gold = trained(args), ewt(args.split)
    bare = [replace(sentence, tree=None, spans=()) for sentence in gold]
    parser = labeller.model_.parser
    lists = [[(a.tree, a.probability) for a in own] for own in parser.kbest(bare, args.best)]
    samples = [[a.tree for a in own] for own in parser.sample(bare, args.samples, args.seed)]
    found = compared(labeller, gold, parser.predict(bare), lists, samples)
    found["gold trees"] = list(labeller.annotate(gold, False))
    table(
        gold,
        found,
        f"Predicates and senses are given. {args.samples} sampled trees, {args.best} best trees; p by stratified\n"
        "shuffling of sentences. The thesis has predicates that are verbs alone, and newswire; ewt has nouns and\n"
        "adjectives too, and text of the web.",
        args.json,
    )
