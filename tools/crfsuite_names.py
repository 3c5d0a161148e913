"""python-crfsuite as its users use it for names: the peer of the models of other languages."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence

from dovetail import Sentence

ITERATIONS = 100


def shape(word: str) -> str:
    """How a word is written: ``Xxx``, ``dd``; no more than two alike in a row."""
    kinds = "".join("X" if c.isupper() else "x" if c.islower() else "d" if c.isdigit() else c for c in word)
    return re.sub(r"(.)\1{2,}", r"\1\1", kinds)


def features(words: Sequence[str]) -> list[list[str]]:
    """Words and shapes in a window of two, lower case, prefixes and suffixes of one to four, bigrams of words."""
    padded = ["<s>", "<s>", *words, "</s>", "</s>"]
    shapes = list(map(shape, padded))
    found = []
    for i in range(2, len(words) + 2):
        word = padded[i]
        own = [f"w{o}={padded[i + o]}" for o in range(-2, 3)] + [f"s{o}={shapes[i + o]}" for o in range(-2, 3)]
        own += [f"p{n}={word[:n]}" for n in range(1, 5)] + [f"u{n}={word[-n:]}" for n in range(1, 5)]
        found.append([*own, "bias", f"l={word.lower()}", f"b={padded[i - 1]}|{word}", f"a={word}|{padded[i + 1]}"])
    return found


def predicted(train: Sequence[Sentence], test: Sequence[Sentence], c2: float) -> list[list[str]]:
    """The tags of ``test`` by CRFsuite trained on ``train``, with this L2 penalty."""
    import pycrfsuite

    trainer = pycrfsuite.Trainer(verbose=False)
    for sentence in train:
        trainer.append(features(sentence.words), list(sentence.layers["ner"]))
    trainer.select("lbfgs")
    trainer.set_params({"c2": c2, "max_iterations": ITERATIONS})
    with tempfile.NamedTemporaryFile(suffix=".crfsuite") as file:
        trainer.train(file.name)
        tagger = pycrfsuite.Tagger()
        tagger.open(file.name)
        return [tagger.tag(features(sentence.words)) for sentence in test]
