"""What a tagger thinks of a text, carried over to its translation: expectations of the labels of a new language.

With p(t, s) the probability of the link of target word t and source word s, and m(s, k) that of type k at s, the
target word is expected to have

    q(t, k) = sum over s of p(t, s) m(s, k) / sum over s of p(t, s)        with the weight  max over s of p(t, s)

(Wang and Manning 2014). ``hard`` projection has 1 for the type of the best tagging in place of m, 0 for others. Errors
of the source tagger, as a confusion P(true type | its type), turn m(s, k) into sum over j of m(s, j) P(k | j).

Two words of the target are in one entity as far as the words that they are linked to are, and all that stand between
these: with a(t) the likeliest link of t, c(t, u, k) = min over s from a(t) to a(u) of m(s, k). So I-k is expected at t
with min(c(t-1, t, k), q(t, k)), and B-k with the rest of q(t, k). Words without a link are expected to be O, with a
smaller weight, unless names of the source have no link either; between two that are in one entity they belong to it,
such as the dot in 阿达·洛芙莱斯.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np

from dovetail.errors import DovetailError
from dovetail.models.pair.bitext import Linked, linked_batches
from dovetail.models.pair.types import OUTSIDE, Types
from dovetail.models.tagger.estimator import Tagger
from dovetail.structures.contract import Booleans, Floats, Integers
from dovetail.text.bitext import Pair
from dovetail.text.expectations import Expectation
from dovetail.text.links import Link
from dovetail.text.sentence import Sentence

Item = TypeVar("Item")
HOW = ("soft", "hard")
UNLINKED = 0.3
"""What an expectation of a word without a link counts."""
NAMELESS = 0.3
"""So many sentences without a name are kept for each that has one."""
FAR = 2
"""So many words at most are between two that speak for them."""
LONGEST = 8
"""So far apart may the source's words of two neighbours be that are in one entity."""
ENCLOSING = ("Ps", "Pe", "Pi", "Pf")
"""Brackets and quotation marks, as Unicode calls them."""
LEAST = 0.005
"""What is less probable is not written down."""


def project(
    tagger: Tagger,
    pairs: Iterable[Pair],
    links: Iterable[Sequence[Link]],
    *,
    how: str = "soft",
    confusion: Floats | None = None,
    unlinked: float = UNLINKED,
    nameless: float | None = NAMELESS,
    types: Mapping[str, str] | None = None,
) -> Iterator[Expectation]:
    """What is expected of the target's words, pair by pair, as a stream.

    confusion: P(true type | type of the tagger), [K, K], rows add up to 1; see ``confusion_of``. unlinked: the weight
    of words without a link, 0 to expect nothing of them. nameless: of sentences without a name, keep so many for each
    that has one, None for all; a tagger of parts of speech keeps all. types: other names for types of the tagger, O or
    '' for none.
    """
    if how not in HOW:
        raise DovetailError(f"how={how!r}: choose one of {', '.join(HOW)}")
    known = Types.of(tagger)
    names, onto = renamed(known, types)
    batches = linked_batches(pairs, links)
    told: dict[str, Any] = {"how": how, "confusion": confusion, "unlinked": unlinked, "renaming": (names, onto)}
    expected = _projected(tagger, batches, known, **told)
    yield from with_names(expected, has_name, nameless if known.chunks else None)


def _projected(
    tagger: Tagger,
    batches: Iterable[Linked],
    known: Types,
    *,
    how: str,
    confusion: Floats | None,
    unlinked: float,
    renaming: tuple[tuple[str, ...], Floats],
) -> Iterator[Expectation]:
    names, onto = renaming
    for some in batches:
        beliefs = source_beliefs(tagger, known, some, how)
        if confusion is not None:
            beliefs = beliefs @ confusion
        beliefs = beliefs @ onto
        q, weight = carried(some, beliefs)
        found = entities(some, beliefs, q, weight, unlinked) if known.chunks else Carried(q, weight, np.zeros_like(q))
        yield from written(some, found, names, known.chunks)


def with_names(items: Iterable[Item], has: Callable[[Item], bool], nameless: float | None) -> Iterator[Item]:
    """Those that have names, and so many of the others for each of them, as evenly as they come; None: all.

    Where names are rare, a tagger learns to expect few. In most bitexts they are rarer than in what is to be tagged,
    and sentences without any teach little else.

    >>> list(with_names(["a", "b", "C", "d", "e", "F", "g"], str.isupper, 1.0))
    ['C', 'd', 'F', 'g']
    """
    kept = 0.0
    for item in items:
        if nameless is None or has(item):
            kept += nameless or 0.0
            yield item
        elif kept >= 1.0:
            kept -= 1.0
            yield item


def has_name(one: Expectation) -> bool:
    """Whether at least half a word of a name is expected."""
    inside = np.array([label != OUTSIDE for label in one.label], bool)
    return bool(one.probability[inside].sum() > 0.5)


def renamed(types: Types, told: Mapping[str, str] | None) -> tuple[tuple[str, ...], Floats]:
    """The names of types after a map, O first, and a matrix [K, K'] that sums those that are now one."""
    for name in told or {}:
        if name not in types.names:
            raise DovetailError(f"the map names {name!r}, and the tagger has {', '.join(types.names)}")
    new = [(told or {}).get(name, name) or OUTSIDE for name in types.names]
    names = tuple(dict.fromkeys(new))
    return names, np.eye(len(names))[[names.index(name) for name in new]]


def source_beliefs(tagger: Tagger, types: Types, some: Linked, how: str) -> Floats:
    """The probability of each type at each word of the source, [N, K]; ``hard``: 1 for that of the best tagging."""
    sentences = [Sentence(pair.source) for pair in some.pairs]
    found = []
    for batch in tagger.chains(sentences):
        if how == "hard":
            found.append(np.eye(len(types.names))[types.of_label[tagger._model().best(batch)]])
        else:
            found.append(types.summed(batch.marginals().unary))
    return np.concatenate(found) if found else np.zeros((0, len(types.names)))


def carried(some: Linked, beliefs: Floats) -> tuple[Floats, Floats]:
    """What is expected of the words of the target, [N, K], and the weight of it, [N], 0 for words without a link."""
    words, types = int(some.target_offsets[-1]), beliefs.shape[1]
    total = np.bincount(some.target, some.probability, words)
    q = np.zeros((words, types))
    for k in range(types):
        q[:, k] = np.bincount(some.target, some.probability * beliefs[some.source, k], words)
    weight = np.zeros(words)
    np.maximum.at(weight, some.target, some.probability)
    return q / np.maximum(total, 1e-12)[:, None], weight


class Carried(NamedTuple):
    """What reaches the N words of the target, of K types."""

    q: Floats
    """[N, K]: what is expected."""
    weight: Floats
    """[N]: how much that counts."""
    inside: Floats
    """[N, K]: what is expected of being in one entity with the word before; where nothing is known of that word, -1."""

    def taggings(self, names: Sequence[str]) -> tuple[Floats, list[str]]:
        """Expectations of O, of types, and of B- and I- tags: [N, 1 + 3 (K - 1)], and their names.

        Of a word, either types or tags are expected.
        """
        types, known = self.q[:, 1:], self.inside[:, 1:] >= 0
        inside = np.minimum(self.inside[:, 1:], types) * known
        spelled = [self.q[:, :1], types * ~known, (types - inside) * known, inside]
        kinds = list(names[1:])
        return np.hstack(spelled), [OUTSIDE, *kinds, *(f"B-{k}" for k in kinds), *(f"I-{k}" for k in kinds)]


def entities(some: Linked, beliefs: Floats, q: Floats, weight: Floats, unlinked: float) -> Carried:
    """What is carried over, with words that have no link, and what is in one entity with the word before."""
    words, linked = len(q), weight > 0
    nearest = likeliest(some)
    sentence = np.repeat(np.arange(len(some.pairs)), np.diff(some.target_offsets))
    place = np.arange(words)
    before = np.maximum.accumulate(np.where(linked, place, -1))
    after = np.minimum.accumulate(np.where(linked, place, words)[::-1])[::-1]
    alone = np.flatnonzero(~linked & ~brackets(some))
    low, high = before[alone], after[alone]
    near = (low >= 0) & (high < words) & (high - low <= FAR + 1)
    near[near] &= sentence[low[near]] == sentence[high[near]]
    inner, left, right = alone[near], low[near], high[near]
    q = q.copy()
    q[~linked] = 0.0
    together = np.minimum(np.minimum(q[left], q[right]), joined(beliefs, nearest[left], nearest[right]))
    q[inner, 1:] = together[:, 1:]
    q[~linked, 0] = 1.0 - q[~linked, 1:].sum(axis=1)
    inside = np.zeros_like(q)
    both = np.flatnonzero(linked[1:] & linked[:-1]) + 1
    inside[both] = np.minimum(q[both - 1], joined(beliefs, nearest[both - 1], nearest[both]))
    inside[inner] = together
    inside[right] = together
    weight = np.where(linked, weight, unlinked * np.maximum(0.0, 1.0 - lost(some, beliefs))[sentence])
    first = np.zeros(words, bool)
    first[some.target_offsets[:-1][np.diff(some.target_offsets) > 0]] = True
    inside[first] = 0.0
    inside[~first & (np.concatenate([[0.0], weight[:-1]]) == 0)] = -1.0
    return Carried(q, weight, inside)


def lost(some: Linked, beliefs: Floats) -> Floats:
    """How many words of names of the source are likely to have no link, by pair: [n].

    Where a name has not arrived, its translation is among the words without a link: these are not to be taken for O.
    """
    reached = np.zeros(len(beliefs))
    np.maximum.at(reached, some.source, some.probability)
    sentence = np.repeat(np.arange(len(some.pairs)), np.diff(some.source_offsets))
    found = np.zeros(len(some.pairs))
    np.add.at(found, sentence, (1.0 - beliefs[:, 0]) * (1.0 - reached))
    return found


def likeliest(some: Linked) -> Integers:
    """The source word of the likeliest link of each word of the target, [N], -1 for none."""
    found = np.full(int(some.target_offsets[-1]), -1, np.int64)
    order = np.argsort(some.probability, kind="stable")
    found[some.target[order]] = some.source[order]
    return found


def joined(beliefs: Floats, one: Integers, other: Integers) -> Floats:
    """The least of what words from one to another have of a type, both included, [C, K]; 0 where they are far apart."""
    low, high = np.minimum(one, other), np.maximum(one, other)
    least = beliefs[low]
    for step in range(1, LONGEST + 1):
        least = np.minimum(least, beliefs[np.minimum(low + step, high)])
    least[high - low > LONGEST] = 0.0
    return least


def brackets(some: Linked) -> Booleans:
    """Whether a word of the target is a bracket or a quotation mark, which names do not reach across: [N]."""
    kinds: dict[str, bool] = {}
    for pair in some.pairs:
        for word in pair.target:
            if word not in kinds:
                kinds[word] = len(word) == 1 and unicodedata.category(word) in ENCLOSING
    return np.array([kinds[word] for pair in some.pairs for word in pair.target], bool)


def written(some: Linked, found: Carried, names: Sequence[str], chunks: bool) -> Iterator[Expectation]:
    """Expectations, sentence by sentence: of the tags of chunks where the word before is known, else of types."""
    q, tags = found.taggings(names) if chunks else (found.q, list(names))
    return expectations_of([pair.target for pair in some.pairs], some.target_offsets, q, found.weight, tags)


def expectations_of(
    words: Sequence[tuple[str, ...]], offsets: Integers, q: Floats, weight: Floats, labels: Sequence[str]
) -> Iterator[Expectation]:
    """Expectations q of labels [N, labels] with weights [N], cut into sentences; what is improbable is left out."""
    word, label = np.nonzero((q >= LEAST) & (weight > 0)[:, None])
    probability, own = np.minimum(q[word, label], 1.0), weight[word]
    shown = np.array(labels, object)[label]
    cuts = np.searchsorted(word, offsets)
    for i, sentence in enumerate(words):
        rows = slice(cuts[i], cuts[i + 1])
        yield Expectation(sentence, word[rows] - offsets[i], tuple(shown[rows]), probability[rows], own[rows])


def projected_tags(
    tagger: Tagger,
    pairs: Iterable[Pair],
    links: Iterable[Sequence[Link]],
    *,
    nameless: float | None = NAMELESS,
    types: Mapping[str, str] | None = None,
) -> Iterator[Sentence]:
    """The target's sentences with the tags of the best tagging of the source: to project, and then train.

    A word has the type that most of its linked words have, by the sum of the probabilities of the links; O without one.
    """
    known = Types.of(tagger)
    found = _tagged(tagger, linked_batches(pairs, links), known, renamed(known, types))
    yield from with_names(found, lambda one: bool(set(one.layers[tagger.target]) - {OUTSIDE}), nameless)


def _tagged(
    tagger: Tagger, batches: Iterable[Linked], known: Types, renaming: tuple[tuple[str, ...], Floats]
) -> Iterator[Sentence]:
    names, onto = renaming
    for some in batches:
        q, _ = carried(some, source_beliefs(tagger, known, some, "hard") @ onto)
        best, target = q.argmax(axis=1), tagger.target
        follows = np.concatenate([[False], best[1:] == best[:-1]])
        follows[some.target_offsets[:-1][np.diff(some.target_offsets) > 0]] = False
        spelled = [
            names[k] if not known.chunks or names[k] == OUTSIDE else f"{'I' if inner else 'B'}-{names[k]}"
            for k, inner in zip(best.tolist(), follows.tolist(), strict=True)
        ]
        for i, pair in enumerate(some.pairs):
            yield Sentence(pair.target, {target: tuple(spelled[some.target_offsets[i] : some.target_offsets[i + 1]])})


def confusion_of(tagger: Tagger, sentences: Iterable[Sentence], smoothing: float = 0.1) -> Floats:
    """P(true type | type of the tagger's best answer), [K, K], counted in sentences whose tags are right.

    They must not be those that the tagger was trained on, whose errors it does not make. Words that it takes for O
    stay O: one in a hundred may be a name that it has missed, but to expect a hundredth of a name at every word teaches
    to see names everywhere (Wang has these too).
    """
    known, gold = Types.of(tagger), list(sentences)
    labels = tagger._model().labels
    counts = np.eye(len(known.names)) * smoothing
    true = labels.encode(tagger.tags_of(gold))
    found = labels.encode(tagger.predict(gold))
    if len(true) != len(found):
        raise DovetailError(f"not all sentences have the layer {tagger.target!r}, which tells the right tags")
    sure = true >= 0
    np.add.at(counts, (known.of_label[found[sure]], known.of_label[true[sure]]), 1.0)
    counts[known.names.index(OUTSIDE)] = np.eye(len(counts))[known.names.index(OUTSIDE)]
    shares: Floats = counts / counts.sum(axis=1, keepdims=True)
    return shares
