"""Make the English models of parts of speech, dependencies and trees, and their cards, again from open corpora.

    DOVETAIL_DATA=... python tools/models_parsing.py english-tags english-dependencies english-trees \\
        --clusters FOLDER --work FOLDER --output FOLDER

All three have one tagger, trained on the web text of EWT and the open genres of GUM. Parsers learn from the tags that
taggers of the other documents give to each (four parts), so that they know what mistakes to expect. The tagger and
these tags are kept in the folder --work, and read from there if they are there already. Trees are learnt from GUM
alone: the trees of EWT may not be passed on.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import dovetail
from dovetail import DependencyParser, FeatureSet, Parser, Sentence, Tagger
from dovetail.clusters.clustering import Clustering
from dovetail.evaluate.brackets import bracket_scores
from dovetail.features.resources.recipe import as_resources
from dovetail.models.layers import LayerTaggers
from dovetail.text.formats import sentences

OPEN = ("news", "interview", "academic", "bio", "voyage", "court")
"""The genres of GUM whose texts may be passed on."""
PARTS = 4
SEEN = 8
"""Words that raw text has less often are in no cluster: a file half as large, and no less right."""
SMALLEST = 0.01
"""Weights of taggers that are smaller are left out."""
LEVELS = "4, 6, 8, 10, 12, 16, 0"
TEMPLATES = (
    "bias", "word[-2:3]", "lower[-1:2]", "prefix(1, 5)[0]", "suffix(1, 6)[0]", "ngrams(3, 5)[0]", "suffix(2, 4)[-1]",
    "suffix(2, 4)[1]", "suffix(3)[-2]", "suffix(3)[2]", "shape[-2:3]", "word[-1] & word[0]", "word[0] & word[1]",
    "lower[-1] & lower[1]", "lower[-2] & lower[-1]", "lower[1] & lower[2]", "shape[0] & suffix(3)[0]",
    "shape[-1] & shape[0] & shape[1]", "suffix(3)[0] & lower[-1]", "suffix(3)[0] & lower[1]",
    f"cluster(brown, {LEVELS})[-2:3]", "cluster(exchange, 0)[-2:3]", "cluster(fine, 0)[-2:3]",
    "cluster(casing, 1, 0)[-2:3]", "cluster(casing, 1)[0] & shape[0]",
    "cluster(brown, 8)[-1] & cluster(brown, 8)[0]", "cluster(brown, 8)[0] & cluster(brown, 8)[1]",
    "cluster(brown, 8)[-1] & cluster(brown, 8)[1]",
    "cluster(brown, 12)[-1] & cluster(brown, 12)[0] & cluster(brown, 12)[1]",
    "cluster(brown, 0)[0] & cluster(brown, 8)[1]", "cluster(brown, 0)[0] & cluster(brown, 8)[-1]",
    "cluster(brown, 8)[-2] & cluster(brown, 8)[-1] & cluster(brown, 12)[0]",
    "cluster(brown, 12)[0] & cluster(brown, 8)[1] & cluster(brown, 8)[2]",
    "cluster(fine, 0)[-1] & cluster(fine, 0)[0]", "cluster(fine, 0)[0] & cluster(fine, 0)[1]",
)  # fmt: skip
"""What the tagger sees."""

Tags = list[tuple[str, ...]]


def genre(sentence: Sentence) -> str:
    """The genre that the name of a sentence of GUM tells, such as ``GUM_news_asylum-3``."""
    return str(sentence.id).split("_")[1]


def web(root: Path, part: str) -> list[Sentence]:
    """The sentences of EWT, each with the number of its document."""
    return list(sentences(root / "ewt" / f"{part}.jsonl.gz"))


def open_genres(root: Path, part: str) -> list[Sentence]:
    """The sentences of GUM that may be passed on."""
    return [s for s in sentences(root / "gum" / f"{part}.jsonl.gz") if genre(s) in OPEN]


def clusters(folder: Path) -> dict[str, Any]:
    """The clusters of a folder, of words that are not rare, as ``train_english.py`` makes them."""
    found = {}
    for name in ("brown", "exchange", "fine"):
        whole = Clustering.load(folder / f"{name}.clusters")
        kept = np.flatnonzero(whole.counts >= SEEN)
        words = [whole.words[i] for i in kept]
        found[name] = replace(whole, words=words, classes=whole.classes[kept], counts=whole.counts[kept])
    return as_resources(found)


def tagger(resources: dict[str, Any], iterations: int) -> Tagger:
    """A tagger of parts of speech, not yet trained."""
    return Tagger(
        features=FeatureSet.from_lines("english-tags", TEMPLATES, (), resources), target="pos", l2=0.1,
        iterations=iterations, min_count=2, observed_only=True, constrain=False, calibrate=False, balance=False,
        consistency="none", cross_validate=0, threads=1,
    )  # fmt: skip


def bare(corpus: Sequence[Sentence]) -> list[Sentence]:
    """Words and parts of speech alone."""
    return [Sentence(s.words, {"pos": s.layers["pos"]}) for s in corpus]


def predicted(model: Tagger, corpus: Sequence[Sentence]) -> Tags:
    """The tags that a tagger gives to the words."""
    return [tuple(tags) for tags in model.predict([Sentence(s.words) for s in corpus])]


class Material:
    """What the models are made of: corpora, clusters, the tagger, and the tags to learn to parse with."""

    def __init__(self, root: Path, folder: Path, work: Path) -> None:
        self.root, self.work = root, work
        self.resources = clusters(folder)
        self.web, self.gum = web(root, "train"), open_genres(root, "train")
        self.corpus = [*self.web, *self.gum]

    def tagger(self) -> Tagger:
        """The tagger of all sentences, made or read."""
        path = self.work / "tagger.dovetail"
        if not path.exists():
            tagger(self.resources, 60).fit(bare(self.corpus)).save(path)
        return Tagger.load(path).set_params(threads=1)

    def jackknifed(self) -> tuple[Tags, Tags]:
        """The tags of EWT and of GUM by taggers that have not seen the document."""
        path = self.work / "tags.json"
        if not path.exists():
            path.write_text(json.dumps(self._jackknifed()), encoding="utf-8")
        found = [tuple(tags) for tags in json.loads(path.read_text(encoding="utf-8"))]
        return found[: len(self.web)], found[len(self.web) :]

    def _jackknifed(self) -> Tags:
        number: dict[tuple[bool, Any], int] = {}
        names = [(i < len(self.web), s.document) for i, s in enumerate(self.corpus)]
        part = np.array([number.setdefault(name, len(number)) % PARTS for name in names])
        found: Tags = [()] * len(self.corpus)
        known = bare(self.corpus)
        for one in range(PARTS):
            model = tagger(self.resources, 25).fit([s for s, p in zip(known, part, strict=True) if p != one])
            inside = np.flatnonzero(part == one).tolist()
            for i, tags in zip(inside, predicted(model, [known[i] for i in inside]), strict=True):
                found[i] = tags
        return found


def tagged(corpus: Sequence[Sentence], tags: Tags) -> list[Sentence]:
    """Dependencies beside these tags."""
    return [
        Sentence(s.words, {"pos": t, "head": s.layers["head"], "deprel": s.layers["deprel"]})
        for s, t in zip(corpus, tags, strict=True)
    ]


def english_tags(material: Material) -> Tagger:
    """Parts of speech, XPOS of Universal Dependencies (the Penn Treebank's)."""
    return material.tagger().pruned(SMALLEST)


def english_dependencies(material: Material) -> DependencyParser:
    """Dependencies, with the tagger inside."""
    own, others = material.jackknifed()
    parser = DependencyParser(
        predict_layers=False, clusters={"brown": material.resources["brown"]}, bits=21, loss="softmax-margin",
        iterations=45, threshold=3e-4, l2=2.0, threads=1,
    )  # fmt: skip
    parser.fit([*tagged(material.web, own), *tagged(material.gum, others)])
    assert parser.relations_ is not None
    parser.relations_ = parser.relations_.pruned(SMALLEST)
    parser.tagger_, parser.layers_ = english_tags(material), LayerTaggers()
    return parser


def english_trees(material: Material) -> Parser:
    """Constituents of the open genres of GUM, with the tagger inside."""
    return constituents(material, material.gum, material.jackknifed()[1])


def constituents(material: Material, corpus: Sequence[Sentence], tags: Tags, **settings: Any) -> Parser:
    """A parser of some trees that reads these tags, with the tagger inside."""
    parser = Parser(clusters={"brown": material.resources["brown"]}, min_count=2, threads=1, **settings)
    kept = [(s, t) for s, t in zip(corpus, tags, strict=True) if s.tree is not None]
    parser.tagged_ = english_tags(material), [t for _, t in kept]
    parser.fit([s for s, _ in kept])
    parser.tagged_ = None
    return parser


MODELS: dict[str, Callable[[Material], Any]] = {
    "english-tags": english_tags,
    "english-dependencies": english_dependencies,
    "english-trees": english_trees,
}


def tags_right(model: Any, corpus: Sequence[Sentence]) -> float:
    """The percentage of words with the right part of speech."""
    pairs = [
        (a, b)
        for s, t in zip(corpus, predicted(model, corpus), strict=True)
        for a, b in zip(s.layers["pos"], t, strict=True)
    ]
    return 100.0 * sum(a == b for a, b in pairs) / len(pairs)


def attachment(model: Any, corpus: Sequence[Sentence]) -> tuple[float, float]:
    """UAS and LAS, of all words, with the model's own tags."""
    found = model.predict([Sentence(s.words) for s in corpus])
    heads = right = words = 0
    for sentence, own in zip(corpus, found, strict=True):
        for i, (head, relation) in enumerate(zip(sentence.layers["head"], sentence.layers["deprel"], strict=True)):
            words += 1
            if own.heads[i] == int(head) - 1:
                heads += 1
                right += own.relations[i] == relation
    return 100.0 * heads / words, 100.0 * right / words


def brackets(model: Any, corpus: Sequence[Sentence], longest: int | None = None) -> float:
    """Labelled F1 of constituents, as evalb counts them, of sentences that are not longer."""
    some = [s for s in corpus if s.tree is not None and (longest is None or len(s) <= longest)]
    return float(bracket_scores([s.tree for s in some], model.predict([Sentence(s.words) for s in some])).f1)


def scores(name: str, model: Any, root: Path) -> dict[str, float]:
    """What a model scores on the dev parts, by text."""
    texts = {"web": web(root, "dev"), "gum": open_genres(root, "dev")}
    if name == "english-tags":
        return {text: tags_right(model, corpus) for text, corpus in texts.items()}
    if name == "english-dependencies":
        both = {text: attachment(model, corpus) for text, corpus in texts.items()}
        return {
            f"{text}, {kind}": value
            for text, two in both.items()
            for kind, value in zip(("UAS", "LAS"), two, strict=True)
        }
    return {"gum": brackets(model, texts["gum"]), "gum, to 40 words": brackets(model, texts["gum"], 40)}


def main() -> None:
    """Make the models that are named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="+", choices=MODELS, metavar="NAME", help=", ".join(MODELS))
    for name, what in (("clusters", "brown, exchange and fine"), ("work", "for the tagger"), ("output", "for models")):
        parser.add_argument(f"--{name}", type=Path, required=True, metavar="FOLDER", help=what)
    args = parser.parse_args()
    root = os.environ.get("DOVETAIL_DATA")
    if not root:
        sys.exit("set DOVETAIL_DATA to the folder with the corpora")
    material = Material(Path(root), args.clusters, args.work)
    for name in args.names:
        began = time.process_time()
        model = MODELS[name](material)
        path = args.output / f"{name}.dovetail"
        whole = scores(name, model, Path(root))
        model.save(path, compact=True, card={"name": name})
        saved: Any = dovetail.load(path)
        saved.set_params(threads=1)
        found = scores(name, saved, Path(root))
        print(
            f"{name}: {whole} before, {found}, {path.stat().st_size / 1e6:.2f} MB, {time.process_time() - began:.0f} s",
            flush=True,
        )


if __name__ == "__main__":
    main()
