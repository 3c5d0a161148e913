"""Sentences as a parser's features read them: with a last gap, frequent words by name and others by class."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

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

FREQUENT = 5


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
