"""Make what the package ships: the English model, its card, and the sample that the demo trains on.

    DOVETAIL_DATA=... python tools/train_english.py

Only openly licensed text is used: UNER English-EWT (CC BY-SA 4.0), and the genres of GUM whose texts are under
CC BY or CC BY-SA.
"""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

from dovetail import Sentence, Tagger, read, write
from dovetail.evaluate import entity_scores, reliability
from dovetail.text.report import ReadReport

DATA = Path(__file__).parent.parent / "src" / "dovetail" / "data"
OPEN_GENRES = ("news", "interview", "academic", "bio", "voyage", "court")
GUM_TYPES = {"person": "PER", "place": "LOC", "organization": "ORG"}
SMALLEST = 0.002  # smaller weights are left out, so that the model stays below 6 MB
SAMPLE = (1500, 400)  # sentences for the demo: to train on, to score


def uner(root: Path, split: str) -> list[Sentence]:
    """Sentences of UNER English-EWT."""
    return [s for document in read(root / "uner-en-ewt" / f"{split}.conll.gz") for s in document]


def gum(root: Path, split: str) -> list[Sentence]:
    """Sentences of the open genres of GUM, with named persons, places and organizations."""
    found = []
    for document in read(root / "gum" / f"{split}.jsonl.gz", entities="named", report=ReadReport()):
        for sentence in document:
            genre = next(c.split("=")[1].strip().strip('"') for c in sentence.comments if c.startswith("# domain"))
            if genre in OPEN_GENRES:
                spans = tuple(replace(s, label=GUM_TYPES[s.label]) for s in sentence.entities() if s.label in GUM_TYPES)
                found.append(Sentence(sentence.words).with_entities(spans))
    return found


CARD = """# The English model

Named entities (PER, LOC, ORG) in English text: a first-order CRF with the feature set `{features}` and {parameters:,}
weights.

| | |
|---|---|
| trained on | {training} |
| licence | CC BY-SA 4.0, as its training data requires; the weights hold no text |
| size | {size:.1f} MB |
| dev F1, UNER English-EWT | {f1:.1f} (precision {precision:.1f}, recall {recall:.1f}) |
| per type | {per_type} |
| expected calibration error of entity probabilities, dev | {ece:.3f} |
| made by | `tools/train_english.py` |

It expects text tokenised as the English Web Treebank is (`dovetail annotate` does so). It has seen web text (blogs,
newsgroups, e-mail, reviews, answers){more}. The training part is the first public version of its annotation. It does
not know other types, and it was tuned on the dev part named above.

Sources: Universal NER, UNER_English-EWT, over the English Web Treebank of Universal Dependencies
(CC BY-SA 4.0){gum}.
"""


GUM_SOURCE = (
    "; GUM, the Georgetown University Multilayer corpus (annotations CC BY 4.0; texts CC BY 2.5 and 4.0, CC BY-SA 3.0)"
)


def main() -> None:
    """Train, score, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gum", action="store_true", help="add the open genres of GUM (dev F1 falls by 3)")
    parser.add_argument("--l2", type=float, default=None)
    parser.add_argument("--dry-run", action="store_true", help="train and score, but write nothing")
    args = parser.parse_args()
    root = os.environ.get("DOVETAIL_DATA")
    if not root:
        sys.exit("set DOVETAIL_DATA to the folder with the corpora")
    train, dev = uner(Path(root), "train"), uner(Path(root), "dev")
    own = len(train)
    train += gum(Path(root), "train") if args.gum else []
    settings = {} if args.l2 is None else {"l2": args.l2}
    tagger = Tagger(**settings).fit(train, dev=dev)
    trained = tagger.model_
    assert trained is not None
    kept = np.abs(trained.node.weight) >= SMALLEST
    tagger.model_ = replace(trained, node=trained.node.without_zeros(kept))
    predicted = tagger.predict_entities(dev)
    gold = [s.layers["ner"] for s in dev]
    scores = entity_scores(gold, tagger.predict(dev))
    right = [{(e.start, e.end, e.label) for e in s.entities()} for s in dev]
    pairs = [
        (e.probability or 0.0, (e.start, e.end, e.label) in r)
        for es, r in zip(predicted, right, strict=True)
        for e in es
    ]
    calibration = reliability([p for p, _ in pairs], [c for _, c in pairs])
    print(scores.report())
    print(calibration.table())
    if args.dry_run:
        return
    with_gum = len(train) > own
    path = DATA / "english-ner.dovetail"
    card = {
        "name": "english-ner",
        "licence": "CC BY-SA 4.0",
        "dev_f1": scores.f1,
        "ece": calibration.expected_calibration_error,
    }
    tagger.save(path, half=True, card=card)
    model = Tagger.load(path).model_
    assert model is not None
    training = f"UNER English-EWT train ({own:,} sentences)" + (
        f", GUM {', '.join(OPEN_GENRES)} ({len(train) - own:,})" if with_gum else ""
    )
    text = CARD.format(
        features=model.features.name, parameters=len(model.node.weight), training=training,
        size=path.stat().st_size / 1e6, f1=scores.f1, precision=scores.precision, recall=scores.recall,
        ece=calibration.expected_calibration_error,
        per_type=", ".join(f"{label} {s.f1:.1f}" for label, s in sorted(scores.per_label.items())),
        more=" and edited text (" + ", ".join(OPEN_GENRES) + ")" if with_gum else "",
        gum=GUM_SOURCE if with_gum else "",
    )  # fmt: skip
    (DATA / "english-ner.md").write_text(text, encoding="utf-8")
    rng = np.random.default_rng(0)
    for name, source, size in (("train", uner(Path(root), "train"), SAMPLE[0]), ("dev", dev, SAMPLE[1])):
        chosen = sorted(rng.choice(len(source), size, replace=False))
        write([Sentence(source[i].words, source[i].layers) for i in chosen], DATA / f"sample-{name}.conll.gz")


if __name__ == "__main__":
    main()
