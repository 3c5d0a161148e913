"""Sentences as a parser reads them: spelled as its treebank, with a last gap, rare words by their class."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from dovetail.features.algebra.parser_sets import END
from dovetail.features.algebra.sets import FeatureSet
from dovetail.features.compile.columns import columns_for
from dovetail.features.compile.design import Compiler, assemble
from dovetail.features.compile.index import Collector, FeatureIndex
from dovetail.grammars.unknown import unknown_class
from dovetail.scorers.listed import FeatureLists, SentenceLists
from dovetail.text.sentence import Sentence
from dovetail.text.words import composed

FREQUENT = 5
OTHERWISE = {
    "(": "-LRB-", ")": "-RRB-", "[": "-LSB-", "]": "-RSB-", "{": "-LCB-", "}": "-RCB-",
    "\u201c": "``", "\u201d": "''", "\u2018": "`", "\u2019": "'", "\u2013": "--", "\u2014": "--", "\u2026": "...",
}  # fmt: skip
QUOTE = '"'
OPENING, CLOSING = "``", "''"


def frequent_words(sentences: Iterable[Sentence], least: int = FREQUENT) -> frozenset[str]:
    """The words that are seen so often."""
    counts = Counter(word for sentence in sentences for word in sentence.words)
    return frozenset(word for word, count in counts.items() if count >= least)


def with_gaps(words: Sequence[str], tags: Sequence[str], frequent: frozenset[str]) -> Sentence:
    """A sentence whose position p is the gap before word p, with one more for the gap at the end."""
    known = tuple(word if word in frequent else unknown_class(word, not place) for place, word in enumerate(words))
    return Sentence((*words, END), {"pos": (*tags, END), "known": (*known, END)})


def _compiler(sentences: Sequence[Sentence], groups: Mapping[str, FeatureSet]) -> Compiler:
    everything = FeatureSet("parser", tuple(template for part in groups.values() for template in part.templates))
    return Compiler(columns_for(sentences, everything), sentences)


def compiled(
    sentences: Sequence[Sentence], groups: Mapping[str, FeatureSet]
) -> tuple[dict[str, FeatureLists], dict[str, NDArray[np.uint64]]]:
    """The lists of features of training sentences by group, numbered by their keys, which are sorted."""
    compiler = _compiler(sentences, groups)
    lists, keys = {}, {}
    for group, part in groups.items():
        collector = Collector()
        found = FeatureLists.of(assemble(compiler, part.templates, collector))
        order = np.argsort(collector.keys)
        rank = np.empty(len(order), np.int32)
        rank[order] = np.arange(len(order), dtype=np.int32)
        lists[group], keys[group] = found._replace(feature=rank[found.feature]), collector.keys[order]
    return lists, keys


def looked_up(
    sentences: Sequence[Sentence], groups: Mapping[str, FeatureSet], index: Mapping[str, FeatureIndex]
) -> dict[str, FeatureLists]:
    """The lists of features of new sentences by group; features that the model does not have are left out."""
    compiler = _compiler(sentences, groups)
    return {group: FeatureLists.of(assemble(compiler, part.templates, index[group])) for group, part in groups.items()}


def sentence_lists(sentences: Sequence[Sentence], lists: Mapping[str, FeatureLists]) -> list[SentenceLists]:
    """Each of some sentences with gaps, by its place in the lists."""
    first = np.cumsum([0, *(len(sentence) for sentence in sentences)]).tolist()
    return [SentenceLists(lists, place, len(s) - 1) for place, s in zip(first, sentences, strict=False)]


def respelled(words: Sequence[str], vocabulary: Container[str]) -> tuple[str, ...]:
    """The words, those that a vocabulary lacks as it spells them, if it does; straight quotes open and close in turn.

    Letters and their accents are one character, unless the vocabulary has them apart.

    >>> respelled(['"', "No", '"', "(", "sic", ")"], {"``", "''", "-LRB-", "("})
    ('``', 'No', "''", '(', 'sic', ')')
    """
    found, opened = [], False
    for given, whole in zip(words, composed(words), strict=True):
        word = given if given in vocabulary else whole
        other = OTHERWISE.get(word, word)
        if word == QUOTE:
            other, opened = (CLOSING if opened else OPENING), not opened
        if word.startswith("\u2019"):  # as in "it\u2019s", whose second part is "\u2019s"
            other = "'" + word[1:]
        found.append(other if word not in vocabulary and other in vocabulary else word)
    return tuple(found)
