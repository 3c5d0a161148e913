"""Why this tag here: the features of a token with their weights, and the alternatives with their probabilities."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dovetail.columns import Columns
from dovetail.features.compile.columns import with_derived
from dovetail.features.compile.named import NamedFeature, named_features
from dovetail.features.compile.repeats import repeats
from dovetail.models.consistency.links import links_of
from dovetail.models.tagger.model import ChainModel
from dovetail.scorers.chain import EDGE, NODE
from dovetail.scorers.hidden_parts import HiddenWeights
from dovetail.scorers.weights import Weights
from dovetail.structures.chain import ChainBatch
from dovetail.structures.contract import Labels
from dovetail.text.sentence import Sentence


@dataclass(frozen=True)
class Evidence:
    """One feature of a token, what it adds to the score of the tag, and what it adds to the strongest rival."""

    feature: str
    weight: float
    against: float

    @property
    def margin(self) -> float:
        """How far the feature speaks for the tag rather than its rival."""
        return self.weight - self.against


@dataclass(frozen=True)
class Explanation:
    """A tag, its rivals with their probabilities, and the evidence, strongest first."""

    word: str
    position: int
    tag: str
    rival: str
    alternatives: tuple[tuple[str, float], ...]
    evidence: tuple[Evidence, ...]

    @property
    def for_tag(self) -> tuple[Evidence, ...]:
        """Features that speak for the tag, strongest first."""
        return tuple(e for e in self.evidence if e.margin > 0)

    @property
    def against_tag(self) -> tuple[Evidence, ...]:
        """Features that speak for the rival, strongest first."""
        return tuple(reversed([e for e in self.evidence if e.margin < 0]))


def _weights_of(weights: Weights, features: Sequence[NamedFeature]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """What each feature adds to the score of each output. Shape [features, outputs]."""
    table = np.zeros((len(features), weights.layout.outputs))
    numbers = weights.index.number(np.array([f.key for f in features], dtype=np.uint64))
    for row, (feature, number) in enumerate(zip(features, numbers, strict=True)):
        if number >= 0:
            mine = slice(weights.layout.ptr[number], weights.layout.ptr[number + 1])
            table[row, weights.layout.label[mine]] = feature.value * weights.weight[mine]
    return table


def explain_token(
    model: ChainModel, sentence: Sentence, position: int, document: Sequence[Sentence] = ()
) -> Explanation:
    """Explain the tag of one token in the best tagging of the sentence, against the most probable other tag.

    document: all sentences of its document, in order, itself among them: what they say counts, too.
    """
    text = list(document) or [sentence]
    whole = model.batch(text, threads=1)
    place = next(i for i, other in enumerate(text) if other is sentence)
    every = model.best_labels(whole, model.outside)
    first = int(whole.offsets[place])
    chains, best = whole.take(np.array([place])), every[first : first + len(sentence)]
    sentence = with_derived(sentence, model.features)
    probability = chains.marginals().unary[position]
    shown = model.labels.shown
    tag = int(best[position])
    others = [i for i in range(len(shown)) if shown[i] != shown[tag]]
    rival = max(others, key=lambda i: float(probability[i]), default=tag)
    evidence = _features(model, sentence, position, (tag, rival))
    evidence += _unnamed(model, text, place, position, (tag, rival))
    if position > 0 and model.order > 0:
        before = int(best[position - 1])
        if model.edge is not None:
            pairs = [f for t in model.templates()[EDGE] for f in named_features(t, sentence, position)]
            size = len(shown)
            for f, row in zip(pairs, _weights_of(model.edge, pairs), strict=True):
                evidence.append(Evidence(f.name, float(row[before * size + tag]), float(row[before * size + rival])))
        state = before if model.order == 1 else _pair_state(best, position, len(shown))
        after = model.transition[state]
        evidence.append(Evidence(f"after {shown[before]}", float(after[tag]), float(after[rival])))
    evidence += _elsewhere(model, text, whole, every, first + position, (tag, rival))
    evidence = sorted((e for e in evidence if e.weight or e.against), key=lambda e: -e.margin)
    by_name = {name: sum(p for n, p in zip(shown, probability.tolist(), strict=True) if n == name) for name in shown}
    ranked = sorted(by_name.items(), key=lambda pair: -pair[1])
    return Explanation(sentence.words[position], position, shown[tag], shown[rival], tuple(ranked), tuple(evidence))


def _features(model: ChainModel, sentence: Sentence, position: int, labels: tuple[int, int]) -> list[Evidence]:
    """What the features of a token add to two labels, one by one; those of a hidden layer cannot be told apart."""
    weights, templates = model.node, list(model.templates()[NODE])
    if isinstance(weights, HiddenWeights):
        templates = weights.hidden.split(templates)[0]
        if weights.linear is None:
            return []
        weights = weights.linear
    features = [f for t in templates for f in named_features(t, sentence, position)]
    tag, rival = labels
    rows = zip(features, _weights_of(weights, features), strict=True)
    return [Evidence(f.name, float(row[tag]), float(row[rival])) for f, row in rows]


def _unnamed(
    model: ChainModel, text: Sequence[Sentence], place: int, position: int, labels: tuple[int, int]
) -> list[Evidence]:
    """What a hidden layer and a network add to two labels, each as a whole."""
    found, (tag, rival) = [], labels
    if isinstance(model.node, HiddenWeights):
        layer, compiled = replace(model.node, linear=None), model.compilers(text)[NODE]
        row = layer.score(compiled, model.templates()[NODE], 1)[compiled.columns.offsets[place] + position]
        name = f"hidden layer of {layer.hidden.size} units, as a whole"
        found.append(Evidence(name, float(row[tag]), float(row[rival])))
    if model.network is not None:
        row = model.network.scores([text[place]])[NODE][position]
        found.append(Evidence(f"network {model.network.module.kind}, as a whole", float(row[tag]), float(row[rival])))
    return found


def _elsewhere(
    model: ChainModel, text: Sequence[Sentence], whole: ChainBatch, best: Labels, token: int, labels: tuple[int, int]
) -> list[Evidence]:
    """What the other places of a word in its document add to two labels, with what they are tagged as."""
    if not model.agreement and model.consistency is None:
        return []
    alone = replace(model, agreement=0.0, consistency=None).batch(text, threads=1)
    added = whole.potentials.unary[token] - alone.potentials.unary[token]
    columns = Columns.of(text, ())
    if model.consistency is not None:
        links = links_of(columns)
        other = np.concatenate([links.second[links.first == token], links.first[links.second == token]])
    else:
        found = repeats(columns)
        group = found.group[token]
        other = found.tokens[found.ptr[group] : found.ptr[group + 1]] if group >= 0 else np.zeros(0, np.int64)
        other = other[other != token]
    if not other.size:
        return []
    types = model.types_of_labels()
    told = Counter(types[y] for y in best[other].tolist()).most_common()
    named = told[0][0] if len(told) == 1 else ", ".join(f"{n} {kind}" for kind, n in told)
    places = "1 other place" if other.size == 1 else f"{other.size} other places"
    tag, rival = labels
    return [Evidence(f"{places} in the document ({named})", float(added[tag]), float(added[rival]))]


def _pair_state(best: Any, position: int, size: int) -> int:
    first = int(best[position - 2]) if position > 1 else size
    return first * size + int(best[position - 1])
