"""A made-up treebank, small enough to train on in a test: who saw whom, where, with relations and tags."""

from __future__ import annotations

import numpy as np

from dovetail.text.sentence import Sentence

NAMES = ("Ada", "Bob", "Eve", "Max", "Zoe")
VERBS = ("saw", "met", "called", "heard")
NOUNS = ("garden", "station", "library", "harbour")


def example(rng) -> Sentence:
    """``Ada saw the old Bob in the garden .``, some of it left out."""
    words, tags, heads, relations = [], [], [], []

    def add(word, tag, head, relation):
        words.append(word)
        tags.append(tag)
        heads.append(head)
        relations.append(relation)
        return len(words)

    add(rng.choice(NAMES), "NNP", 2, "nsubj")
    verb = add(rng.choice(VERBS), "VBD", 0, "root")
    if rng.random() < 0.5:
        add("the", "DT", 5, "det")
        add("old", "JJ", 5, "amod")
    add(rng.choice(NAMES), "NNP", verb, "obj")
    if rng.random() < 0.6:
        first = len(words)
        add("in", "IN", first + 3, "case")
        add("the", "DT", first + 3, "det")
        add(rng.choice(NOUNS), "NN", verb, "obl")
    add(".", ".", verb, "punct")
    layers = {"pos": tags, "head": [str(h) for h in heads], "deprel": relations}
    return Sentence(tuple(map(str, words)), {name: tuple(values) for name, values in layers.items()})


def treebank(sentences: int, seed: int = 0) -> list[Sentence]:
    """So many sentences."""
    rng = np.random.default_rng(seed)
    return [example(rng) for _ in range(sentences)]
