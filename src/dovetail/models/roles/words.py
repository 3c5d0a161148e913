"""Words that are predicates: their lemmas by a table and by endings, and a tagger that finds them and their senses."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from dovetail.features.algebra.sets import FeatureSet
from dovetail.features.compile.trees import TreeArrays
from dovetail.models.tagger.estimator import Tagger
from dovetail.models.tagging import packed_tagger, unpacked_tagger
from dovetail.models.training import uninterrupted
from dovetail.text.frames import Frame
from dovetail.text.sentence import Sentence

NO, MARK = "=", "="
"""The label of words that are no predicates; and what stands before the number of the sense of those that are."""
ENDINGS = 5
"""How long the ending of a word is, at most, that tells how to make a lemma of it."""
FIRST = "01"
"""The number of the sense of a lemma that is not known."""
TEMPLATES = (
    "bias", "lemma[0]", "lower[-1:2]", "pos[-2:3]", "suffix(1, 4)[0]", "parent[0]", "rule[0]", "aux[0]",
    "lemma[0] & pos[0]", "lemma[0] & parent[0]", "lemma[0] & rule[0]", "lemma[0] & lower[1]", "lemma[0] & lower[-1]",
    "lemma[0] & lower[2]", "lemma[0] & pos[1]", "lemma[0] & pos[-1]", "lemma[0] & object[0]", "lemma[0] & particle[0]",
    "lemma[0] & aux[0]", "pos[0] & parent[0]", "pos[0] & rule[0]", "pos[-1] & pos[0] & pos[1]",
    "pos[0] & suffix(2, 4)[0]", "lemma[0] & pos[1] & pos[2]", "pos[0] & lower[-1]", "pos[0] & lower[1]",
)  # fmt: skip
PARTICLES = frozenset(["RP", "PRT"])
OBJECTS = frozenset(["NP", "PP", "S", "SBAR", "ADJP"])


@dataclass(frozen=True)
class Lemmas:
    """Lemmas of predicates: those of known words, and of others by what training words with their ending have lost.

    >>> known = Lemmas.learnt([("sold", "VBD", "sell"), ("walked", "VBD", "walk"), ("talked", "VBD", "talk")])
    >>> known.of("Sold", "VBD"), known.of("balked", "VBN")
    ('sell', 'balk')
    """

    words: Mapping[str, str]
    """By word and the first letter of its tag."""
    endings: Mapping[str, str]
    """By ending and that letter: how many letters go, and what takes their place."""

    @classmethod
    def learnt(cls, triples: Iterable[tuple[str, str, str]]) -> Lemmas:
        """From words, tags and lemmas."""
        whole: dict[str, Counter[str]] = defaultdict(Counter)
        changes: dict[str, Counter[str]] = defaultdict(Counter)
        for given, tag, lemma in triples:
            word = given.lower()
            whole[f"{word}/{tag[:1]}"][lemma] += 1
            same = 0
            while same < min(len(word), len(lemma)) and word[same] == lemma[same]:
                same += 1
            for length in range(min(ENDINGS, len(word)) + 1):
                if len(word) - same <= length:
                    ending = word[len(word) - length :]
                    changes[f"{ending}/{tag[:1]}"][f"{len(word) - same}{lemma[same:]}"] += 1
        best = {key: counts.most_common(1)[0][0] for key, counts in whole.items()}
        rules = {key: counts.most_common(1)[0][0] for key, counts in changes.items() if counts.total() > 1}
        return cls(best, rules)

    def of(self, given: str, tag: str) -> str:
        """The lemma of a word."""
        word = given.lower()
        found = self.words.get(f"{word}/{tag[:1]}")
        if found is not None:
            return found
        for length in range(min(ENDINGS, len(word)), -1, -1):
            rule = self.endings.get(f"{word[len(word) - length :]}/{tag[:1]}")
            if rule is not None and int(rule[0]) < len(word):
                return word[: len(word) - int(rule[0])] + rule[1:]
        return word


@dataclass(frozen=True, eq=False)
class WordModel:
    """What finds predicates: lemmas, the senses of each, and the tagger."""

    lemmas: Lemmas
    senses: Mapping[str, Mapping[str, str]]
    """By lemma and number, the names of senses; the most frequent first."""
    tagger: Tagger

    @classmethod
    def learnt(cls, sentences: Sequence[Sentence], threads: int | None, seed: int, doing: Callable[[str], Any]) -> Self:
        """From sentences with frames, and with trees such as those of new text."""
        doing("learning predicates and senses")
        seen = [(s, f, s.tree.tags()) for s in sentences if s.tree is not None for f in s.frames or ()]
        lemmas = Lemmas.learnt((s.words[f.predicate], tags[f.predicate], lemma_of(f)) for s, f, tags in seen)
        counts: dict[str, Counter[tuple[str, str]]] = defaultdict(Counter)
        for _, frame, _ in seen:
            if frame.sense is not None:
                counts[lemma_of(frame)][number_of(frame.sense), frame.sense] += 1
        senses = {lemma: dict(pair for pair, _ in own.most_common()) for lemma, own in counts.items()}
        known = []
        for sentence in described(sentences, lemmas):
            labels = [NO] * len(sentence)
            for frame in sentence.frames or ():
                labels[frame.predicate] = MARK + number_of(frame.sense or FIRST)
            known.append(sentence.with_layer("sense", tuple(labels)))
        tagger = Tagger(
            features=FeatureSet.from_lines("senses", TEMPLATES, (), {}), target="sense", order=0, l2=0.1, iterations=60,
            min_count=2, observed_only=True, constrain=False, calibrate=False, balance=False, consistency="none",
            predict_layers=False, cross_validate=0, seed=seed, threads=threads,
        )  # fmt: skip
        return cls(lemmas, senses, uninterrupted(tagger.fit(known)))

    def frames(self, sentences: Sequence[Sentence]) -> list[tuple[Frame, ...]]:
        """The frames of sentences with trees, without arguments: those that they have, or those that are found.

        Lemmas and senses that are missing are filled in.
        """
        found = [_bare(sentence.frames) for sentence in sentences]
        which = [i for i, own in enumerate(found) if own is None]
        seen = described([sentences[i] for i in which], self.lemmas)
        labels = self.tagger.classes_
        no = labels.index(NO) if NO in labels else -1
        for i, sentence, chances in zip(which, seen, self.tagger.predict_marginals(seen), strict=True):
            is_predicate = 1.0 - chances[:, no] if no >= 0 else np.ones(len(chances))
            given = sentence.frames
            if given is None:
                places = np.flatnonzero(chances.argmax(axis=1) != no).tolist()
                given = tuple(Frame(place, probability=float(is_predicate[place])) for place in places)
            found[i] = tuple(self._complete(frame, sentence, chances) for frame in given)
        return [own or () for own in found]

    def _complete(self, frame: Frame, sentence: Sentence, chances: NDArray[np.float64]) -> Frame:
        lemma = frame.lemma or sentence.layers["lemma"][frame.predicate]
        sense = frame.sense
        if sense is None:
            known, row = self.senses.get(lemma, {}), chances[frame.predicate]
            numbers = [(row[y], name[1:]) for y, name in enumerate(self.tagger.classes_) if name[1:] in known]
            best = max(numbers)[1] if numbers else FIRST
            sense = known.get(best, f"{lemma}.{best}")
        return Frame(frame.predicate, sense, lemma, (), frame.probability)

    def header(self) -> dict[str, Any]:
        """For the header of a model file."""
        told = {"words": self.lemmas.words, "endings": self.lemmas.endings, "senses": self.senses}
        return {**told, "tagger": packed_tagger(self.tagger, "senses")[0]}

    def arrays(self, half: bool = False) -> dict[str, NDArray[Any]]:
        """As named arrays for a model file."""
        return packed_tagger(self.tagger, "senses", half)[1]

    @classmethod
    def from_file(cls, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Self:
        """From what the two above gave."""
        tagger = unpacked_tagger(header["tagger"], arrays, "senses")
        if tagger is None:
            raise ValueError("there is no tagger of senses")
        senses = {str(lemma): dict(own) for lemma, own in header["senses"].items()}
        return cls(Lemmas(dict(header["words"]), dict(header["endings"])), senses, tagger)


def _bare(frames: Sequence[Frame] | None) -> tuple[Frame, ...] | None:
    """Frames without their arguments; None where any of them lacks its lemma or its sense."""
    if frames is None or any(frame.lemma is None or frame.sense is None for frame in frames):
        return None
    return tuple(frame.with_arguments(()) for frame in frames)


def lemma_of(frame: Frame) -> str:
    """The lemma of a frame, or the name of its sense."""
    return frame.lemma or (frame.sense or "").rpartition(".")[0] or (frame.sense or "")


def number_of(sense: str) -> str:
    """What tells a sense from others of its lemma.

    >>> number_of("lighten_up.02"), number_of("02")
    ('02', '02')
    """
    return sense.rpartition(".")[2]


def described(sentences: Sequence[Sentence], lemmas: Lemmas) -> list[Sentence]:
    """Sentences, which have trees, with layers of what the tagger looks at."""
    trees = [s.tree for s in sentences if s.tree is not None]
    arrays = TreeArrays(trees)
    nodes, names = arrays.nodes, arrays.labels
    label, leaf, parent, left, right = (
        x.tolist() for x in (nodes.label, nodes.leaf, nodes.parent, nodes.left, nodes.right)
    )
    head, words = nodes.head.tolist(), [word.lower() for word in arrays.words]
    found, word = [], 0
    for sentence, tree in zip(sentences, trees, strict=True):
        tags = tree.tags()
        layers: dict[str, list[str]] = {name: [] for name in ("parent", "rule", "object", "particle", "aux")}
        for _ in tags:
            node = leaf[word]
            above = parent[node]
            after, objects, particle = right[node], "", ""
            rule = [names[label[above]] if above >= 0 else "", "->", names[label[node]]]
            while after >= 0:
                name = names[label[after]]
                rule.append(name)
                if not objects and name in OBJECTS:
                    objects = f"{name} {words[head[after]]}"
                if not particle and name in PARTICLES:
                    particle = words[head[after]]
                after = right[after]
            before = left[node] if left[node] >= 0 or above < 0 else left[above]
            layers["parent"].append(rule[0])
            layers["rule"].append(" ".join(rule[:8]))
            layers["object"].append(objects)
            layers["particle"].append(particle)
            layers["aux"].append(words[head[before]] if before >= 0 else "")
            word += 1
        own = {name: tuple(value or "-" for value in values) for name, values in layers.items()}
        lemma = tuple(map(lemmas.of, sentence.words, tags))
        made = Sentence(sentence.words, {"pos": tags, "lemma": lemma, **own}, frames=sentence.frames)
        found.append(made)
    return found
