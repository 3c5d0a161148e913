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
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

import dovetail
from dovetail import DependencyParser, FeatureSet, Parser, Sentence, Tagger
from dovetail.clusters.clustering import Clustering
from dovetail.evaluate import reliability
from dovetail.evaluate.brackets import bracket_scores
from dovetail.features.resources.recipe import as_resources
from dovetail.grammars.clean import clean_tree
from dovetail.models.dependency.model import DependencyModel
from dovetail.models.layers import LayerTaggers
from dovetail.text.formats import sentences

OPEN = ("news", "interview", "academic", "bio", "voyage", "court")
"""The genres of GUM whose texts may be passed on."""
PARTS = 4
SEEN = 8
"""Words that raw text has less often are in no cluster: a file half as large, and no less right."""
SMALLEST, SMALLEST_OF_ARCS = 0.1, 0.03
"""Weights of taggers, and of arcs, that are smaller are left out."""
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

CARD = (Path(__file__).parent / "parsing_card.md").read_text(encoding="utf-8")
CHOSEN = "Settings were chosen inside the training parts; dev was looked at a few times."

WEB, ARTICLES = "web text", "articles, interviews, guides"
"""What the cards call EWT and the open genres of GUM."""

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
    parser.tagger_, parser.layers_ = english_tags(material), LayerTaggers()
    return parser


def lighter(parser: DependencyParser) -> DependencyParser:
    """The parser without small weights, changed in place."""
    assert isinstance(parser.model_, DependencyModel)
    weight = parser.model_.fine_weight
    parser.model_ = parser.model_.with_weights(np.where(np.abs(weight) < SMALLEST_OF_ARCS, 0.0, weight))
    assert parser.relations_ is not None
    parser.relations_ = parser.relations_.pruned(SMALLEST)
    return parser


def english_trees(material: Material) -> Parser:
    """Constituents of the open genres of GUM, with the tagger inside."""
    return constituents(material, material.gum, material.jackknifed()[1])


def with_short_keys(model: Tagger, work: Path) -> Tagger:
    """The tagger as its compact file has it, so that less of it is stored inside another model."""
    model.save(work / "short.dovetail", compact=True)
    return Tagger.load(work / "short.dovetail").set_params(threads=1)


def constituents(material: Material, corpus: Sequence[Sentence], tags: Tags, **settings: Any) -> Parser:
    """A parser of some trees that reads these tags, with the tagger inside."""
    parser = Parser(clusters={"brown": material.resources["brown"]}, min_count=2, iterations=6, threads=1, **settings)
    kept = [(s, t) for s, t in zip(corpus, tags, strict=True) if s.tree is not None]
    parser.tagged_ = with_short_keys(english_tags(material), material.work), [t for _, t in kept]
    parser.fit([s for s, _ in kept])
    parser.tagged_ = None
    return parser


@dataclass(frozen=True)
class Kind:
    """What a card says of a model, how it is made, and how well it does."""

    make: Callable[[Material], Any]
    task: str
    what: str
    measure: str
    parts: str
    score: Callable[[Any, Sequence[Sentence]], float]
    sure: Callable[[Any, Sequence[Sentence]], list[tuple[float, bool]]]
    """The probabilities of its answers, and whether they are right."""
    sources: tuple[str, ...]
    texts: tuple[str, ...] = (WEB, ARTICLES)


def tags_right(model: Any, corpus: Sequence[Sentence]) -> float:
    """The percentage of words with the right part of speech."""
    found = predicted(model, corpus)
    right = [a == b for s, own in zip(corpus, found, strict=True) for a, b in zip(s.layers["pos"], own, strict=True)]
    return 100.0 * sum(right) / len(right)


def tags_sure(model: Any, corpus: Sequence[Sentence]) -> list[tuple[float, bool]]:
    """The probability of every tag, and whether it is right."""
    text = [Sentence(s.words) for s in corpus]
    pairs = []
    for sentence, own, chance in zip(corpus, model.predict(text), model.predict_marginals(text), strict=True):
        right = [a == b for a, b in zip(sentence.layers["pos"], own, strict=True)]
        pairs += list(zip(np.max(chance, axis=1).tolist(), right, strict=True))
    return pairs


def attached(model: Any, corpus: Sequence[Sentence]) -> list[tuple[float, bool, bool]]:
    """Of every word the probability of its head, whether it is right, and whether the relation is right as well."""
    found = []
    for sentence, own in zip(corpus, model.annotate([Sentence(s.words) for s in corpus]), strict=True):
        layers = [[s.layers["head"], s.layers["deprel"]] for s in (sentence, own)]
        for chance, *two in zip(own.layers["head_probability"], *layers[0], *layers[1], strict=True):
            head = two[0] == two[2]
            found.append((float(chance), head, head and two[1] == two[3]))
    return found


def labelled_attachment(model: Any, corpus: Sequence[Sentence]) -> float:
    """LAS, of all words."""
    found = attached(model, corpus)
    return 100.0 * sum(both for _, _, both in found) / len(found)


def heads_sure(model: Any, corpus: Sequence[Sentence]) -> list[tuple[float, bool]]:
    """The probability of every head, and whether it is right."""
    return [(chance, head) for chance, head, _ in attached(model, corpus)]


def with_trees(corpus: Sequence[Sentence]) -> list[Sentence]:
    """The sentences that have a tree."""
    return [s for s in corpus if s.tree is not None]


def brackets(model: Any, corpus: Sequence[Sentence]) -> float:
    """Labelled F1 of constituents, as evalb counts them."""
    some = with_trees(corpus)
    return float(bracket_scores([s.tree for s in some], model.predict([Sentence(s.words) for s in some])).f1)


def brackets_sure(model: Any, corpus: Sequence[Sentence]) -> list[tuple[float, bool]]:
    """The probability of every constituent, and whether it is right."""
    some = with_trees(corpus)
    pairs = []
    for sentence, own in zip(some, model.parse([Sentence(s.words) for s in some], probabilities=True), strict=True):
        gold = {(n.start, n.end, n.label) for n in clean_tree(sentence.tree).spans()}
        for node in own.tree.spans()[1:]:
            if node.probability is not None:
                pairs.append((node.probability, (node.start, node.end, node.label) in gold))
    return pairs


CLUSTERS = "clusters of words of Wikipedia (CC BY-SA) and a third of Europarl"
EWT = "Universal Dependencies English-EWT 2.16 (Silveira and others 2014), CC BY-SA 4.0: {}"
GUM = (
    "GUM 11 (Zeldes 2017), annotations CC BY 4.0; its genres news and interview (texts CC BY 2.5), academic and court "
    "(CC BY 4.0), biographies and travel guides (CC BY-SA 3.0): {}"
)
TAGS = (EWT.format("parts of speech"), GUM.format("parts of speech"), CLUSTERS)
ARCS = "parts of speech and dependencies"
MODELS = {
    "english-tags": Kind(
        english_tags, "tags", "parts of speech (XPOS, those of the Penn Treebank)", "accuracy", "tags", tags_right,
        tags_sure, TAGS,
    ),
    "english-dependencies": Kind(
        english_dependencies, "dependencies", "heads and relations (Universal Dependencies), and parts of speech",
        "LAS", "heads", labelled_attachment, heads_sure, (EWT.format(ARCS), GUM.format(ARCS), CLUSTERS),
    ),
    "english-trees": Kind(
        english_trees, "trees", "constituents, and parts of speech", "F1", "constituents", brackets, brackets_sure,
        (GUM.format("trees and parts of speech"), EWT.format("parts of speech"), CLUSTERS), (ARTICLES,),
    ),
}  # fmt: skip


def dev_texts(root: Path) -> dict[str, list[Sentence]]:
    """The dev parts, by kind of text."""
    return {WEB: web(root, "dev"), ARTICLES: open_genres(root, "dev")}


def write(name: str, model: Any, root: Path, path: Path, sentences: int) -> None:
    """Save a model and its card; what is scored is what was saved."""
    kind = MODELS[name]
    texts = {text: corpus for text, corpus in dev_texts(root).items() if text in kind.texts}
    before = {text: round(kind.score(model, corpus), 2) for text, corpus in texts.items()}
    model.save(path, compact=True)
    saved: Any = dovetail.load(path)
    saved.set_params(threads=1)
    found = {text: round(kind.score(saved, corpus), 2) for text, corpus in texts.items()}
    pairs = {text: kind.sure(saved, corpus) for text, corpus in texts.items()}
    errors = {
        text: round(reliability([p for p, _ in own], [right for _, right in own]).expected_calibration_error, 4)
        for text, own in pairs.items()
    }
    about = {
        "name": name, "task": kind.task, "languages": ["en"], "measure": kind.measure, "scores": found,
        "calibration": errors, "sources": list(kind.sources), "licence": "CC BY-SA 4.0",
    }  # fmt: skip
    model.save(path, compact=True, card=about)
    rows = [f"| {t}, dev ({len(texts[t]):,} sentences) | {found[t]:.1f} | {errors[t]:.3f} |" for t in texts]
    card = CARD.format(
        title=" ".join(name.capitalize().split("-")), what=kind.what, size=path.stat().st_size / 1e6, name=name,
        sources="\n".join(f"- {source}" for source in kind.sources), sentences=sentences, chosen=CHOSEN,
        measure=kind.measure, scores="\n".join(rows), parts=kind.parts,
    )  # fmt: skip
    path.with_suffix(".md").write_text(card, encoding="utf-8")
    print(
        f"{name}: {before} before, saved {found}, calibration {errors}, {path.stat().st_size / 1e6:.2f} MB", flush=True
    )


def make(name: str, material: Material, folder: Path) -> None:
    """Train, save the model, and write its card."""
    began = time.process_time()
    model = MODELS[name].make(material)
    model.save(material.work / f"{name}.dovetail")  # before anything is left out of it
    model = lighter(model) if isinstance(model, DependencyParser) else model
    learnt = material.gum if name == "english-trees" else material.corpus
    write(name, model, material.root, folder / f"{name}.dovetail", len(learnt))
    print(f"{time.process_time() - began:.0f} s", flush=True)


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
        make(name, material, args.output)


if __name__ == "__main__":
    main()
