"""Sentences with trees as a parser takes them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from dovetail.errors import DovetailError
from dovetail.grammars.clean import clean_tree
from dovetail.models.parser.decoding import LONGEST
from dovetail.text.sentence import Sentence
from dovetail.text.tree import Tree


def gold_trees(sentences: Sequence[Sentence], what: str) -> list[Tree]:
    """The trees of some sentences, or an error that says which has none."""
    trees = []
    for number, sentence in enumerate(sentences, 1):
        if sentence.tree is None:
            raise DovetailError(
                f"{what} sentence {number} has no tree; give bracket files, or JSON lines with a field tree"
            )
        trees.append(sentence.tree)
    return trees


def treebank_of(
    sentences: Iterable[Sentence], what: str, max_length: int | None = None
) -> tuple[list[Sentence], list[Tree]]:
    """Sentences of up to so many words, whose layer ``pos`` is that of their trees, and the trees, clean."""
    everything, bound = list(sentences), min(max_length or LONGEST, LONGEST)
    pairs = zip(everything, gold_trees(everything, what), strict=True)
    kept = [(sentence, clean_tree(tree)) for sentence, tree in pairs if len(sentence) <= bound]
    if not kept:
        raise DovetailError(f"the {what} data has no trees of up to {bound} words")
    return [sentence.with_layer("pos", tree.tags()) for sentence, tree in kept], [tree for _, tree in kept]


def clean(sentences: Iterable[Sentence], what: str, max_length: int | None = None) -> list[Sentence]:
    """As :func:`treebank_of`, with the clean trees in the sentences."""
    kept, trees = treebank_of(sentences, what, max_length)
    return [replace(sentence, tree=tree) for sentence, tree in zip(kept, trees, strict=True)]
