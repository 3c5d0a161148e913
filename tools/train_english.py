"""Make the English model that the package ships, and its card.

    DOVETAIL_DATA=... python tools/train_english.py --clusters FOLDER

Only openly licensed text is used: see ``english_corpora``. Each corpus is a domain; what they share is the model.
Clusters of raw text are kept in FOLDER, and read from there if they are there already.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from english_corpora import Corpus, corpora, other_texts

from dovetail import FeatureSet, MultiDomainTagger, Sentence, Tagger, entity_scores
from dovetail.clusters.counts import count_bigrams
from dovetail.evaluate import reliability
from dovetail.features.resources.recipe import as_resources, learn_clusterings, read_clusterings
from dovetail.text.files import open_text

DATA = Path(__file__).parent.parent / "src" / "dovetail" / "data"
SIGMA = 0.1  # how far a corpus may go its own way
SMALLEST = 0.005  # smaller weights are left out
FACTORS = (1.0, 0.9, 0.8, 0.7, 0.6)  # what weights may be multiplied by, for honest probabilities
CARD = (Path(__file__).parent / "english_card.md").read_text(encoding="utf-8")


def clusters(raw: Path, folder: Path) -> dict[str, Any]:
    """Clusters of the words that come three times and more in Wikipedia and a third of Europarl, as resources."""
    files = [folder / f"{name}.clusters" for name in ("brown", "exchange", "fine")]
    if not all(file.exists() for file in files):
        with open_text(raw / "europarl.txt.gz") as lines:
            debates = (line.split() for line in islice(lines, 0, None, 3))
            counts = count_bigrams(raw / "wiki-en.txt.gz", sentences=debates, min_count=3)
        for file, made in zip(files, learn_clusterings(counts).values(), strict=True):
            made.save(file)
    return as_resources(read_clusterings(files))


def trained(texts: Sequence[Corpus], resources: dict[str, Any], threads: int | None) -> Tagger:
    """What the corpora share."""
    pattern = Tagger(features=FeatureSet.named("ner").joined(**resources), consistency="agree", threads=threads)
    taggers = MultiDomainTagger(tagger=pattern, sigma=SIGMA)
    taggers.fit({t.name: t.train for t in texts}, dev={t.name: t.dev for t in texts})
    return honest(taggers.tagger_of().pruned(SMALLEST), [s for t in texts for s in t.dev])


def honest(tagger: Tagger, dev: Sequence[Sentence]) -> Tagger:
    """The tagger as sure of its entities as it is right, with nearly the same answers.

    Training has made the tags of all words likely, most of which are no names; this looks at names alone.
    """
    model = tagger.model_
    assert model is not None

    def with_factor(factor: float) -> Tagger:
        found = Tagger(**tagger.get_params())
        found.card_ = tagger.card_
        scaled = model.scaled(factor)
        found.model_ = replace(scaled, outside=model.outside * factor, agreement=model.agreement * factor)
        return found

    return min(map(with_factor, FACTORS), key=lambda t: calibration_error(t, dev))


def scores_row(name: str, tagger: Tagger, sentences: Sequence[Sentence]) -> str:
    """A row of the table of scores: precision, recall, F1, F1 of each type, calibration error."""
    scores = entity_scores([s.layers["ner"] for s in sentences], tagger.predict(sentences))
    types = [f"{scores.per_label[t].f1:.1f}" for t in ("PER", "LOC", "ORG")]
    whole = [f"{x:.1f}" for x in (scores.precision, scores.recall, scores.f1)]
    return f"| {' | '.join([name, str(scores.gold), *whole, *types, f'{calibration_error(tagger, sentences):.3f}'])} |"


def calibration_error(tagger: Tagger, sentences: Sequence[Sentence]) -> float:
    """How far the probabilities of entities are from how often they are right."""
    pairs = [
        (e.probability or 0.0, (e.start, e.end, e.label) in {(g.start, g.end, g.label) for g in sentence.entities()})
        for sentence, found in zip(sentences, tagger.predict_entities(sentences), strict=True)
        for e in found
    ]
    return reliability([p for p, _ in pairs], [right for _, right in pairs]).expected_calibration_error


def main() -> None:
    """Train, score, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clusters", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--threads", type=int)
    args = parser.parse_args()
    root = os.environ.get("DOVETAIL_DATA")
    if not root:
        sys.exit("set DOVETAIL_DATA to the folder with the corpora")
    texts = corpora(Path(root))
    tagger = trained(texts, clusters(Path(root) / "raw", args.clusters), args.threads)
    path = DATA / "english-names.dovetail"
    tagger.save(path, compact=True, card={"name": "english-names", "licence": "CC BY-SA 4.0"})
    tagger = Tagger.load(path)
    model = tagger.model_
    assert model is not None
    rows = [scores_row(t.name, tagger, t.dev) for t in texts]
    others = [scores_row(name, tagger, sentences) for name, sentences in other_texts(Path(root)).items()]
    sources = [f"| {t.name} | {t.source} | {len(t.train):,} | {t.licence} |" for t in texts]
    card = CARD.format(
        features=len(model.node.index.keys), weights=len(model.node.weight), size=path.stat().st_size / 1e6,
        sources="\n".join(sources), scores="\n".join(rows), others="\n".join(others),
    )  # fmt: skip
    (DATA / "english-names.md").write_text(card, encoding="utf-8")
    print(card)


if __name__ == "__main__":
    main()
