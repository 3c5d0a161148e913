"""A small made-up treebank: sentences of a tiny grammar, drawn with a seed."""

from __future__ import annotations

import random

from dovetail.text.sentence import Sentence
from dovetail.text.tree import Tree

NOUNS = "dog cat bird house tree river king queen".split()
NAMES = "Ada Bela Clara Dora".split()
VERBS = {"VBD": "saw liked found heard".split(), "VBZ": "sees likes finds hears".split()}
PLACES = "in near with under".split()


def leaf(tag: str, word: str) -> Tree:
    """A part of speech over a word."""
    return Tree(tag, word=word)


def noun_phrase(rng: random.Random, depth: int) -> Tree:
    """A name, a noun with an article and perhaps adjectives, or one with a prepositional phrase."""
    if rng.random() < 0.3:
        return Tree("NP", (leaf("NNP", rng.choice(NAMES)),))
    adjectives = [leaf("JJ", rng.choice(["old", "big", "red"])) for _ in range(rng.choice([0, 0, 1, 2]))]
    core = Tree("NP", (leaf("DT", rng.choice(["the", "a"])), *adjectives, leaf("NN", rng.choice(NOUNS))))
    if depth and rng.random() < 0.4:
        place = Tree("PP", (leaf("IN", rng.choice(PLACES)), noun_phrase(rng, depth - 1)))
        return Tree("NP", (core, place))
    return core


def clause(rng: random.Random) -> Tree:
    """A sentence with a subject, a verb and an object, or none."""
    tag = rng.choice(["VBD", "VBZ"])
    verb = leaf(tag, rng.choice(VERBS[tag]))
    objects = [noun_phrase(rng, 1)] if rng.random() < 0.8 else []
    parts = [Tree("NP-SBJ", noun_phrase(rng, 1).children), Tree("VP", (verb, *objects)), leaf(".", ".")]
    return Tree("ROOT", (Tree("S", tuple(parts)),))


def treebank(count: int, seed: int = 1) -> list[Sentence]:
    """So many sentences with their trees."""
    rng = random.Random(seed)
    trees = [clause(rng) for _ in range(count)]
    return [Sentence(tree.words(), {"pos": tree.tags()}, tree=tree, id=str(i)) for i, tree in enumerate(trees)]
