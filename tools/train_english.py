"""Make the English model that the package ships, and its card.

    DOVETAIL_DATA=... python tools/train_english.py --clusters FOLDER

Only openly licensed text is used: see ``english_corpora``. Each corpus is a domain; what they share is the model.
Clusters of raw text and the names that the model before this one finds in it are kept in FOLDER, and read from there if
they are there already.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from english_corpora import Corpus, as_it_is, case_copies, corpora, in_capitals, in_lower_case, other_texts
from english_made import known, made_sentences
from english_names import names_list
from english_trust import trusting

import dovetail
from dovetail import FeatureSet, MultiDomainTagger, Sentence, Tagger, entity_scores
from dovetail.clusters.counts import count_bigrams
from dovetail.evaluate import reliability
from dovetail.features.resources.lexicon import Lexicon
from dovetail.features.resources.recipe import as_resources, learn_clusterings, read_clusterings
from dovetail.learning.monitor import Progress
from dovetail.text.files import open_text

DATA = Path(__file__).parent.parent / "src" / "dovetail" / "data"
NAME = "english-names"
ABOUT = {"name": NAME, "task": "names", "languages": ["en"], "measure": "F1", "licence": "CC BY-SA 4.0"}
LOWER, UPPER = 3, 4  # one document in so many is learnt in lower case too, or in capitals
SIGMA = 0.1  # how far a corpus may go its own way
L2 = 0.3
TRUST = 2.0  # what the weights of the list of well-known names are multiplied by
SMALLEST = 0.005  # smaller weights are left out
FACTORS = (1.0, 0.9, 0.8, 0.7, 0.6)  # what weights may be multiplied by, for honest probabilities
CARD = (Path(__file__).parent / "english_card.md").read_text(encoding="utf-8")


def clusters(raw: Path, folder: Path) -> dict[str, Any]:
    """Clusters of the words that come three times and more in Wikipedia, novels and a third of Europarl."""
    files = [folder / f"{name}.clusters" for name in ("brown", "exchange", "fine")]
    if not all(file.exists() for file in files):
        with open_text(raw / "europarl.txt.gz") as lines:
            debates = (line.split() for line in islice(lines, 0, None, 3))
            counts = count_bigrams([raw / "wiki-en.txt.gz", raw / "novels-en.txt.gz"], sentences=debates, min_count=3)
        for file, made in zip(files, learn_clusterings(counts).values(), strict=True):
            made.save(file)
    return as_resources(read_clusterings(files))


def resources(raw: Path, folder: Path, known: dict[str, list[str]]) -> dict[str, Any]:
    """Clusters, the names found in raw text, and those that most readers know."""
    finder = dovetail.load()  # the model that ships so far
    lists = {"found": names_list(raw, finder, folder / "names.tsv"), "known": Lexicon.of(known)}
    return clusters(raw, folder) | lists


def trained(
    texts: Sequence[Corpus], made: Sequence[Sentence], resources: dict[str, Any], threads: int | None
) -> Tagger:
    """What the corpora share; made sentences are a corpus too, but for the judging of the others."""
    features = FeatureSet.named("ner").joined(**resources)
    pattern = Tagger(features=features, consistency="agree", l2=L2, patience=3, threads=threads)
    taggers = MultiDomainTagger(tagger=pattern, sigma=SIGMA)
    learnt = {t.name: t.train for t in texts} | {"made": list(made)}
    taggers.fit(
        {name: some + case_copies(some, LOWER, UPPER) for name, some in learnt.items()},
        dev={t.name: t.dev for t in texts},
        progress=told,
    )
    shared = trusting(taggers.tagger_of().pruned(SMALLEST), "known", made, TRUST)
    return honest(shared, [s for t in texts for s in t.dev])


def told(progress: Progress) -> None:
    """A line where the weights have been tried on dev."""
    if progress.dev is not None:
        print(f"{progress.iteration}: objective {progress.objective:,.0f}, dev {progress.dev:.2f}", file=sys.stderr)


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


def cases_row(name: str, tagger: Tagger, sentences: Sequence[Sentence]) -> str:
    """A row of the table of F1 by case: as the text is, in lower case, in capitals."""
    gold = [s.layers["ner"] for s in sentences]
    found = [
        entity_scores(gold, tagger.predict([written(s) for s in sentences])).f1
        for written in (as_it_is, in_lower_case, in_capitals)
    ]
    return f"| {name} | {' | '.join(f'{x:.1f}' for x in found)} |"


def calibration_error(tagger: Tagger, sentences: Sequence[Sentence]) -> float:
    """How far the probabilities of entities are from how often they are right."""
    pairs = [
        (e.probability or 0.0, (e.start, e.end, e.label) in {(g.start, g.end, g.label) for g in sentence.entities()})
        for sentence, found in zip(sentences, tagger.predict_entities(sentences), strict=True)
        for e in found
    ]
    return reliability([p for p, _ in pairs], [right for _, right in pairs]).expected_calibration_error


def write(tagger: Tagger, texts: Sequence[Corpus], others: Mapping[str, Sequence[Sentence]], folder: Path) -> str:
    """The model file and its card: what the file answers, which is compact, is what is scored."""
    path, names = folder / f"{NAME}.dovetail", known()
    tagger.save(path, compact=True)
    stored = Tagger.load(path)
    model = stored.model_
    assert model is not None
    judged = {t.name: t.dev for t in texts}
    rows = {name: scores_row(name, stored, sentences) for name, sentences in {**judged, **others}.items()}
    f1, calibration = ({name: float(row.split("|")[n]) for name, row in rows.items()} for n in (5, 9))
    tagger.save(path, compact=True, card=ABOUT | {
        "scores": f1, "calibration": calibration, "sources": [t.source for t in texts],
    })  # fmt: skip
    card = CARD.format(
        features=len(model.node.index.keys), weights=len(model.node.weight), size=path.stat().st_size / 1e6,
        sources="\n".join(f"| {t.name} | {t.source} | {len(t.train):,} | {t.licence} |" for t in texts),
        made=len(made_sentences(names)), known=sum(map(len, names.values())), lower=LOWER, upper=UPPER,
        scores="\n".join(rows[name] for name in judged), others="\n".join(rows[name] for name in others),
        cases="\n".join(cases_row(name, stored, sentences) for name, sentences in judged.items()),
    )  # fmt: skip
    path.with_suffix(".md").write_text(card, encoding="utf-8")
    return card


def main() -> None:
    """Train, score, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clusters", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--output", type=Path, default=DATA, metavar="FOLDER", help="where the model and its card go")
    parser.add_argument("--threads", type=int)
    args = parser.parse_args()
    root = os.environ.get("DOVETAIL_DATA")
    if not root:
        sys.exit("set DOVETAIL_DATA to the folder with the corpora")
    texts, names = corpora(Path(root)), known()
    found = resources(Path(root) / "raw", args.clusters, names)
    tagger = trained(texts, made_sentences(names), found, args.threads)
    print(write(tagger, texts, other_texts(Path(root)), args.output))


if __name__ == "__main__":
    main()
