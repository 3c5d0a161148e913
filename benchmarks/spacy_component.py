"""Entities in spaCy: the component ``dovetail`` and spaCy's own NER, trained on the same sentences, in one run.

    cd $DOVETAIL_DATA && python .../benchmarks/spacy_component.py --data conll2003-en --raw raw/reuters.txt.gz [--json]

Both see the words alone, and both choose their last pass on dev. Printed are F1 on dev, as spaCy counts it for both,
and the processor time of ``nlp.pipe`` over 10,000 raw sentences on one thread, the better of three runs that alternate.
spaCy's NER is what ``spacy init config --pipeline ner`` sets up for a processor: hash embeddings, a convolutional
encoder, transitions, trained from scratch.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from itertools import islice
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")  # one thread for both
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import spacy
from spacy.cli.init_config import init_config
from spacy.tokens import Doc
from spacy.training import Corpus, Example
from spacy.training.initialize import init_nlp
from spacy.training.loop import train

import dovetail
import dovetail.spacy
from dovetail import Sentence
from dovetail.text.files import open_text

RUNS = 3


def sentences(path: Path) -> list[Sentence]:
    """The sentences of a file with their words and entities alone."""
    return [Sentence(s.words, {"ner": s.layers["ner"]}) for d in dovetail.read(path) for s in d]


def spacys_own(folder: Path, train_part: list[Sentence], dev: list[Sentence], steps: int) -> Any:
    """spaCy's own pipeline, trained by spaCy's own loop from DocBins that dovetail writes."""
    dovetail.write(train_part, folder / "train.spacy")
    dovetail.write(dev, folder / "dev.spacy")
    config = init_config(lang="en", pipeline=["ner"], optimize="efficiency", gpu=False)
    config["paths"] |= {"train": str(folder / "train.spacy"), "dev": str(folder / "dev.spacy")}
    config["training"]["max_steps"] = steps
    (folder / "out").mkdir()
    nlp = init_nlp(config)
    train(nlp, folder / "out", use_gpu=-1)
    return spacy.load(folder / "out" / "model-best")


def our_own(folder: Path, train_part: list[Sentence], dev: list[Sentence]) -> Any:
    """A pipeline with a tagger of dovetail alone."""
    dovetail.Tagger(threads=1).fit(train_part, dev=dev).save(folder / "ner.dovetail")
    nlp = spacy.blank("en")
    nlp.add_pipe("dovetail", config={"model": str(folder / "ner.dovetail"), "threads": 1})
    return nlp


def f1(nlp: Any, path: Path) -> float:
    """Entity F1 as spaCy counts it, given the right words and sentences."""
    examples: list[Example] = list(Corpus(path, gold_preproc=False)(nlp))
    return 100.0 * float(nlp.evaluate(examples)["ents_f"])


def raw_sentences(path: Path, number: int) -> list[list[str]]:
    """The first sentences of a raw text, a sentence a line with spaces between its words."""
    with open_text(path) as lines:
        return list(islice(filter(None, map(str.split, lines)), number))


def seconds(nlp: Any, given: list[list[str]]) -> float:
    """The processor time of annotating sentences, whose words are given."""
    docs = [Doc(nlp.vocab, words=words, sent_starts=[i == 0 for i in range(len(words))]) for words in given]
    began = time.process_time()
    for _ in nlp.pipe(docs):
        pass
    return time.process_time() - began


def timed(what: Any, *given: Any) -> tuple[Any, float]:
    began = time.process_time()
    found = what(*given)
    return found, time.process_time() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with train.conll.gz and dev.conll.gz")
    parser.add_argument("--raw", type=Path, required=True, help="raw text, a sentence a line, to measure time on")
    parser.add_argument("--sentences", type=int, default=10_000, help="how many of them")
    parser.add_argument("--steps", type=int, default=20_000, help="the most steps of spaCy's training")
    parser.add_argument("--train-sentences", type=int, default=None, help="train on so many (default: all)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    given = parser.parse_args()
    train_part, dev = (sentences(given.data / f"{part}.conll.gz") for part in ("train", "dev"))
    train_part = train_part[: given.train_sentences]
    raw = raw_sentences(given.raw, given.sentences)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (own, own_training), (other, other_training) = (
            timed(our_own, folder, train_part, dev), timed(spacys_own, folder, train_part, dev, given.steps)
        )  # fmt: skip
        scores = {"dovetail": f1(own, folder / "dev.spacy"), "spaCy": f1(other, folder / "dev.spacy")}
        for nlp in (own, other):
            seconds(nlp, raw[:200])  # compiled, and warm
        runs = [(seconds(own, raw), seconds(other, raw)) for _ in range(RUNS)]
    ours, theirs = (min(column) for column in zip(*runs, strict=True))
    result = {
        "f1": scores, "seconds": {"dovetail": ours, "spaCy": theirs}, "times faster": theirs / ours,
        "training": {"dovetail": own_training, "spaCy": other_training}, "sentences": len(raw),
        "words": sum(map(len, raw)), "trained on": len(train_part),
    }  # fmt: skip
    if given.json:
        print(json.dumps(result))
        return
    print(f"trained on {len(train_part):,} sentences; {len(raw):,} sentences annotated, {result['words']:,} words")
    for system in ("dovetail", "spaCy"):
        took, learnt = result["seconds"][system], result["training"][system]
        print(f"{system:>9}  F1 {scores[system]:.2f}  {took:.2f} s  ({learnt:.0f} s of training)")
    print(f"dovetail is {theirs / ours:.1f} times as fast")


if __name__ == "__main__":
    main()
