"""Make models of other languages than English, and English parsers, and their cards, again from open corpora.

    DOVETAIL_DATA=... python tools/train_models.py danish-names --clusters FOLDER --output FOLDER --folds 3

With ``--folds``, the recipe and python-crfsuite (``tools/crfsuite_names.py``) are also cross-validated: trained on two
thirds of the training part, scored on the other third; ``--folds 1`` and ``2`` leave out some of the three. Folds are
stretches of the corpus, so that sentences of one text are in one fold. ``--clusters`` is the folder of
``tools/train_english.py``, with the names that were found in raw text. Chinese lists need ``pip install jieba``.
english-tags, english-dependencies and english-trees need --clusters and --work: see ``models_parsing.py``.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import crfsuite_names
import models_parsing
from model_corpora import BLOCK
from model_recipes import FOUND, RECIPES, Recipe

import dovetail
from dovetail import MultiDomainTagger, Tagger, entity_scores
from dovetail.evaluate import reliability
from dovetail.evaluate.words import word_scores

PARTS = 3
SIGMA = 0.3
"""How far the own corpus may go its own way beside another."""
C2 = (0.1,)
"""Of the L2 penalty of CRFsuite: 1 was worse wherever it was tried, by 1.4 in Danish and in Serbian."""
CARD = (Path(__file__).parent / "model_card.md").read_text(encoding="utf-8")


def counts(recipe: Recipe, gold: Sequence[Any], found: Sequence[Any]) -> list[int]:
    """How many names or words there are, are found, and are right."""
    if recipe.task == "words":
        scores = word_scores(gold, found)
    else:
        scores = entity_scores([s.layers["ner"] for s in gold], found)
    return [scores.gold, scores.predicted, scores.correct]


def f1(rows: Sequence[Sequence[int]]) -> float:
    """F1 of counts that are added up, in percent."""
    gold, found, right = map(sum, zip(*rows, strict=True))
    return 200.0 * right / max(gold + found, 1)


def asked(recipe: Recipe, sentences: Sequence[Any]) -> list[Any]:
    """What a model is given of sentences with answers."""
    return ["".join(words) for words in sentences] if recipe.task == "words" else list(sentences)


def trained(recipe: Recipe, root: Path, lists: Path, train: list[Any], unseen: list[Any]) -> Any:
    """The model of a recipe, pruned; nothing that it learns from tells the same as what is unseen."""
    model, held = recipe.model(root, lists), []
    if recipe.blocks:
        model.set_params(cross_validate=PARTS)
        train = [replace(s, document=i // BLOCK) for i, s in enumerate(train)]
    if recipe.aside:
        held = [s for i, s in enumerate(train) if i // BLOCK % 10 == 9]
        train = [s for i, s in enumerate(train) if i // BLOCK % 10 != 9]
    dev = recipe.doubled(held) if held else None
    if recipe.beside:
        others = {name: recipe.doubled(some) for name, some in recipe.beside(root, unseen + held).items()}
        taggers = MultiDomainTagger(tagger=model, sigma=SIGMA)
        taggers.fit({"own": recipe.doubled(train), **others}, dev={"own": dev} if dev else None)
        model = taggers.tagger_of("own")
    else:
        model.fit(recipe.doubled(train), dev=dev)
    return model.pruned(recipe.smallest) if isinstance(model, Tagger) else model


def cross_validated(recipe: Recipe, root: Path, lists: Path, folds: int) -> dict[str, float]:
    """F1 by what was trained, over the first folds."""
    corpus = recipe.corpus(root, "train")
    cuts = [len(corpus) * k // PARTS for k in range(PARTS + 1)]
    rows: dict[str, list[list[int]]] = {}
    for k in range(folds):
        held, rest = corpus[cuts[k] : cuts[k + 1]], corpus[: cuts[k]] + corpus[cuts[k + 1] :]
        model = trained(recipe, root, lists, rest, held)
        rows.setdefault("dovetail", []).append(counts(recipe, held, model.predict(asked(recipe, held))))
        if recipe.task == "names":
            for c2 in C2:
                found = crfsuite_names.predicted(rest, held, c2)
                rows.setdefault(f"CRFsuite c2={c2:g}", []).append(counts(recipe, held, found))
        told = ", ".join(f"{name} {f1(own[-1:]):.2f}" for name, own in rows.items())
        print(f"  fold {k + 1}: {told}", file=sys.stderr, flush=True)
    return {name: f1(own) for name, own in rows.items()}


def calibration(recipe: Recipe, model: Any, gold: Sequence[Any]) -> float:
    """The expected calibration error of the probabilities of names or words."""
    pairs = []
    for one, found in zip(gold, model.predict_entities(asked(recipe, gold)), strict=True):
        if recipe.task == "words":
            ends = [0, *accumulate(map(len, one))]
            there = {(start, end, None) for start, end in pairwise(ends)}
        else:
            there = {(e.start, e.end, e.label) for e in one.entities()}
        labels = (None if recipe.task == "words" else e.label for e in found)
        pairs += [(e.probability or 0.0, (e.start, e.end, x) in there) for e, x in zip(found, labels, strict=True)]
    return reliability([p for p, _ in pairs], [right for _, right in pairs]).expected_calibration_error


def make(name: str, root: Path, lists: Path, folder: Path, folds: int) -> None:
    """Cross-validate, train, save the model, and write its card."""
    recipe, began = RECIPES[name], time.process_time()
    validated = cross_validated(recipe, root, lists, folds) if folds else {}
    train, dev = recipe.corpus(root, "train"), recipe.corpus(root, "dev")
    model = trained(recipe, root, lists, train, dev)
    path = folder / f"{name}.dovetail"
    model.save(path, compact=True)
    saved: Any = dovetail.load(path)  # what is scored is what was saved
    score = f1([counts(recipe, dev, saved.predict(asked(recipe, dev)))])
    error = calibration(recipe, saved, dev)
    about = {
        "name": name, "task": recipe.task, "languages": [recipe.code], "measure": "F1",
        "scores": {recipe.text: round(score, 2)}, "calibration": {recipe.text: round(error, 4)},
        "cross_validated": {n: round(v, 2) for n, v in validated.items()},
        "sources": list(recipe.sources), "licence": recipe.licence,
    }  # fmt: skip
    model.save(path, card=about, compact=True)
    write_card(recipe, name, path, train, dev, saved, score, error, validated)
    seconds = time.process_time() - began
    told = ", ".join(f"{n} {v:.2f}" for n, v in validated.items())
    size = path.stat().st_size / 1e6
    print(
        f"{name}: dev {score:.2f}, calibration {error:.3f}, {size:.2f} MB; {told}; {seconds:.0f} s",
        flush=True,
    )


def write_card(
    recipe: Recipe, name: str, path: Path, train: Sequence[Any], dev: Sequence[Any], model: Any,
    score: float, error: float, validated: dict[str, float],
) -> None:  # fmt: skip
    """The card, beside the model."""
    whole = {"words": "F1 of words"}.get(recipe.task, "F1 of names")
    rows = [f"| {recipe.text}, dev ({len(dev):,} sentences) | {score:.1f} | {error:.3f} |"]
    if recipe.task == "names":
        scores = entity_scores([s.layers["ner"] for s in dev], model.predict(dev))
        rows += [f"| {label}, {one.gold} names | {one.f1:.1f} | |" for label, one in sorted(scores.per_label.items())]
    compared = ""
    if validated:
        told = ", ".join(f"{n} {v:.1f}" for n, v in validated.items())
        compared = f"Trained on two thirds of the training part and scored on the rest, in stretches: {told}.\n\n"
    title = " ".join(name.capitalize().split("-"))
    labels = "" if recipe.task == "words" else f" ({', '.join(sorted(scores.per_label))})"
    text = CARD.format(
        title=title, what=f"{recipe.task}{labels}", size=path.stat().st_size / 1e6, licence=recipe.licence,
        remark=f"{recipe.remark}\n\n" if recipe.remark else "", sources="\n".join(f"- {s}" for s in recipe.sources),
        sentences=len(train), measure=whole, scores="\n".join(rows), compared=compared, name=name,
    )  # fmt: skip
    path.with_suffix(".md").write_text(text, encoding="utf-8")


def main() -> None:
    """Make the models that are named."""
    every = [*RECIPES, *models_parsing.MODELS]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="+", choices=every, metavar="NAME", help=", ".join(every))
    parser.add_argument("--output", type=Path, required=True, metavar="FOLDER")
    for folder in ("clusters", "work"):
        parser.add_argument(f"--{folder}", type=Path, metavar="FOLDER", help="see above")
    parser.add_argument("--folds", type=int, default=0, choices=range(PARTS + 1))
    args = parser.parse_args()
    root = os.environ.get("DOVETAIL_DATA")
    if not root:
        sys.exit("set DOVETAIL_DATA to the folder with the corpora")
    english = [name for name in args.names if name in models_parsing.MODELS]
    if english and not (args.clusters and args.work):
        parser.error(f"{english[0]} needs --clusters and --work")
    for name in args.names:
        if name in RECIPES and FOUND in RECIPES[name].sources and not args.clusters:
            parser.error(f"{name} needs --clusters")
    for folder in (args.output, args.work or args.output):
        folder.mkdir(parents=True, exist_ok=True)
    for name in args.names:
        if name in RECIPES:
            make(name, Path(root), args.clusters, args.output, args.folds)
    if english:
        material = models_parsing.Material(Path(root), args.clusters, args.work)
        for name in english:
            models_parsing.make(name, material, args.output)


if __name__ == "__main__":
    main()
