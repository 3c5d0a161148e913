"""What is known of a pair before it is judged: its sentences and words, the names among them, and who hangs on whom."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

from dovetail.text.dependencies import tree_dependencies
from dovetail.text.pairs import Pair
from dovetail.text.segment import segment
from dovetail.text.sentence import Sentence

ROOT = -1


class Side(NamedTuple):
    """A text as one row of words: what alignment and features look at."""

    words: tuple[str, ...]
    names: tuple[str, ...]
    """For each word the label of the entity that it is in, empty where there is none."""
    tags: tuple[str, ...]
    """Parts of speech; none at all where no parser gave them."""
    heads: tuple[int, ...]
    """For each word the position of its head, -1 for a root; none at all without a parser."""
    starts: tuple[int, ...]
    """Where sentences begin, and the number of words."""

    @property
    def sentences(self) -> list[tuple[int, int]]:
        """The first word of each sentence, and the one after its last."""
        return list(pairwise(self.starts))


@dataclass(frozen=True)
class Analysis:
    """A pair with the sentences of its text and of its hypothesis, as far as they were analysed."""

    pair: Pair
    text: tuple[Sentence, ...]
    hypothesis: tuple[Sentence, ...]

    def __len__(self) -> int:
        """The number of words."""
        return sum(map(len, self.text)) + sum(map(len, self.hypothesis))

    @cached_property
    def sides(self) -> tuple[Side, Side]:
        """Text and hypothesis as rows of words."""
        return side_of(self.text), side_of(self.hypothesis)


def side_of(sentences: Sequence[Sentence]) -> Side:
    """Sentences as one row of words.

    >>> side_of([Sentence(("Ada", "slept"), {"ner": ("B-PER", "O"), "head": ("2", "0")}), Sentence(("Yes",))])
    Side(words=('Ada', 'slept', 'Yes'), names=('PER', '', ''), tags=(), heads=(), starts=(0, 2, 3))
    """
    words = tuple(word for sentence in sentences for word in sentence)
    names = [""] * len(words)
    tags: list[str] = []
    heads: list[int] = []
    starts = [0]
    for sentence in sentences:
        first = starts[-1]
        starts.append(first + len(sentence))
        for span in sentence.spans or sentence.entities():
            names[first + span.start : first + span.end] = [span.label] * (span.end - span.start)
        own, above = _syntax(sentence)
        tags += own
        heads += [ROOT if head == ROOT else head + first for head in above]
    whole = len(words)
    return Side(
        words, tuple(names), tuple(tags) if len(tags) == whole else (), tuple(heads) if len(heads) == whole else (),
        tuple(starts),
    )  # fmt: skip


def _syntax(sentence: Sentence) -> tuple[Sequence[str], Sequence[int]]:
    """The parts of speech and the heads of a sentence, from its tree or its layers, as far as it has them."""
    layers = sentence.layers
    tags = layers.get("xpos") or layers.get("pos") or ()
    if sentence.tree is not None:
        return sentence.tree.tags(), tree_dependencies(sentence.tree).heads
    return tags, [int(head) - 1 for head in layers.get("head", ())]


class Analyser(NamedTuple):
    """The models that look at pairs before they are judged, either of which may be missing."""

    names: Any
    """A tagger of named entities."""
    parser: Any
    """A parser of trees or of dependencies."""

    def best(self, pairs: Iterable[Pair]) -> list[Analysis]:
        """Every pair with the one best analysis of each stage."""
        bare = [_cut(pair) for pair in pairs]
        return _rebuilt(bare, self._annotated([s for one in bare for s in (*one.text, *one.hypothesis)]))

    def drawn(self, analyses: Sequence[Analysis], n: int, seed: int) -> list[list[Analysis]]:
        """For every pair ``n`` analyses, drawn from the distributions of the models, sentence by sentence.

        Pairs come with their best analyses, which keep whatever the samples do not say, such as parts of speech.
        """
        sentences = [s for one in analyses for s in (*one.text, *one.hypothesis)]
        stages = [model for model in (self.names, self.parser) if model is not None]
        bare = [Sentence(s.words, s.layers) for s in sentences]
        answers = [model.sample(bare, n, seed=seed) for model in stages]
        every = []
        for i in range(n):
            drawn = list(sentences)
            for found in answers:
                drawn = [some[i].write(s) for s, some in zip(drawn, found, strict=True)]
            every.append(_rebuilt(analyses, drawn))
        return [list(each) for each in zip(*every, strict=True)]

    def _annotated(self, sentences: list[Sentence]) -> list[Sentence]:
        for model in (self.names, self.parser):
            if model is not None:
                sentences = list(model.annotate(sentences, probabilities=False))
        return sentences


def _cut(pair: Pair) -> Analysis:
    """A pair cut into sentences and words."""
    text, hypothesis = (
        tuple(replace(s, raw=None, offsets=None) for s in segment(t)) for t in (pair.text, pair.hypothesis)
    )
    return Analysis(pair, text, hypothesis)


def _rebuilt(analyses: Sequence[Analysis], sentences: Sequence[Sentence]) -> list[Analysis]:
    """The same pairs with other sentences, which come one after another."""
    stream, found = iter(sentences), []
    for one in analyses:
        text = tuple(next(stream) for _ in one.text)
        found.append(Analysis(one.pair, text, tuple(next(stream) for _ in one.hypothesis)))
    return found
