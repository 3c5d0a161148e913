"""A small made-up corpus, the same for all tests here."""

from __future__ import annotations

import numpy as np

from dovetail.text.sentence import Sentence

FIRST = ["Ada", "Alan", "Grace", "Kurt", "Emmy"]
LAST = ["Lovelace", "Turing", "Hopper", "Goedel", "Noether"]
PLACES = ["London", "Vienna", "New York", "Princeton"]
VERBS = ["visited", "left", "praised", "saw"]


def made(n: int, seed: int = 0) -> list[Sentence]:
    """Sentences such as 'Ada Lovelace visited New York .' with POS and IOB2 tags."""
    rng = np.random.default_rng(seed)
    sentences = []
    for _ in range(n):
        words: list[str] = []
        tags: list[str] = []
        for part in range(rng.integers(1, 3)):
            name = [str(rng.choice(FIRST))] + ([str(rng.choice(LAST))] if rng.random() < 0.6 else [])
            place = str(rng.choice(PLACES)).split()
            words += ["and"] * part + name + [str(rng.choice(VERBS))] + place
            tags += ["O"] * part + ["B-PER", "I-PER"][: len(name)] + ["O"] + ["B-LOC", "I-LOC"][: len(place)]
        words.append(".")
        tags.append("O")
        pos = tuple("NNP" if w[0].isupper() else "." if w == "." else "VBD" for w in words)
        sentences.append(Sentence(tuple(words), {"pos": pos, "ner": tuple(tags)}))
    return sentences
