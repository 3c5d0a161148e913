"""The parts of values, and values put together from parts: tags by position, spans and constituents that do not cross.

Whatever the layer, a value is right part by part: a tag at a place, a span with its label, a constituent, an arc, an
argument of a predicate, a word between two characters.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, pairwise
from typing import Any

from dovetail.pipeline.values import FRAMES, HEAD, RELATION, SPANS, TREE, WORDS, Value, tags_of_spans
from dovetail.text.sentence import Span
from dovetail.text.spans import flat_tags
from dovetail.text.tree import Tree

Part = tuple[Hashable, ...]
"""The name of a layer, and what is said there."""
Chances = Mapping[Part, float]
"""The probabilities of parts."""
Weighted = Sequence[tuple[Value, float]]
"""Values with their shares of the votes."""


def parts_of(value: Value) -> list[Part]:
    """The parts of a value.

    >>> parts_of(Value(["pos"], [("DT", "NN")]))
    [('pos', 0, 'DT'), ('pos', 1, 'NN')]
    """
    found: list[Part] = []
    named, spelled = value.named(), tags_of_spans(value.writes)
    for layer, own in zip(value.writes, value.keys, strict=True):
        if layer == SPANS:
            found += [(layer, span.start, span.end, span.label) for span in own]
        elif layer == TREE:
            found += own.constituents
        elif layer == FRAMES:
            found += [part for frame in own for part in _of_frame(frame)]
        elif layer == WORDS:
            found += [(layer, *place) for place in pairwise(accumulate(map(len, own), initial=0))]
        elif layer == RELATION and HEAD in named:
            found += [(layer, i, *arc) for i, arc in enumerate(zip(named[HEAD], own, strict=True))]
        elif layer != spelled:
            found += [(layer, i, tag) for i, tag in enumerate(own)]
    return found


def _of_frame(frame: Any) -> list[Part]:
    predicate = (FRAMES, frame.predicate)
    return [(*predicate, frame.sense, frame.lemma), *((*predicate, s.start, s.end, s.label) for s in frame.arguments)]


def put_together(writes: Sequence[str], votes: Weighted, chances: Chances, least: float) -> Value | None:
    """A value of parts more probable than ``least``, the most probable first as far as they go together.

    None where what is most probable at each place makes no tree or no row of words.
    """
    by_layer: dict[str, list[tuple[Part, float]]] = {layer: [] for layer in writes}
    for part, chance in sorted(chances.items(), key=lambda one: -one[1]):
        by_layer[str(part[0])].append((part, chance))
    found: dict[str, Any] = {}
    spelled = tags_of_spans(writes)
    for number, layer in enumerate(writes):
        first = votes[0][0].layers[number]
        if layer == SPANS:
            found[layer] = _spans(by_layer[layer], least, _nests(votes, number))
        elif layer == TREE:
            found[layer] = _tree(first.words(), [(value.keys[number], p) for value, p in votes], by_layer[layer], least)
        elif layer == FRAMES:
            found[layer] = _frames(votes, number, by_layer[layer], least)
        elif layer == WORDS:
            found[layer] = _words("".join(first), by_layer[layer], least)
        elif layer == RELATION and HEAD in found and found[HEAD] is not None:
            heads = found[HEAD]
            found[layer] = _by_place([o for o in by_layer[layer] if o[0][2] == heads[int(str(o[0][1]))]], len(first))
        elif layer != spelled:
            found[layer] = _by_place(by_layer[layer], len(first))
            if layer == HEAD and not _is_tree(found[layer]):
                return None
    if any(one is None for one in found.values()):
        return None
    if spelled is not None:
        found[spelled] = flat_tags(found[SPANS], len(votes[0][0].named()[spelled]))
    return Value(writes, [found[layer] for layer in writes])


def _by_place(ranked: Iterable[tuple[Part, float]], length: int) -> tuple[Any, ...]:
    """The most probable tag at every place."""
    found: dict[Any, Any] = {}
    for part, _ in ranked:
        found.setdefault(part[1], part[-1])
    return tuple(found[i] for i in range(length))


def _is_tree(heads: Sequence[str]) -> bool:
    """Whether heads, numbers of words from 1, lead every word to the one root."""
    if sum(head == "0" for head in heads) != 1:
        return not heads
    for word in range(len(heads)):
        steps, at = 0, word + 1
        while at and steps <= len(heads):
            at, steps = int(heads[at - 1]), steps + 1
        if at:
            return False
    return True


def _chosen(ranked: Iterable[tuple[Part, float]], least: float, clash: Callable[[Any, Any], bool]) -> list[Any]:
    """The parts that are probable enough, less those that clash with a more probable one; their spans come third."""
    kept: list[Any] = []
    for part, chance in ranked:
        if chance <= least:
            break
        if not any(clash(part, other) for other in kept):
            kept.append(part)
    return kept


def _crosses(a: Any, b: Any) -> bool:
    return bool(a[1] < b[1] < a[2] < b[2] or b[1] < a[1] < b[2] < a[2])


def _overlaps(a: Any, b: Any) -> bool:
    return bool(a[-3] < b[-2] and b[-3] < a[-2])


def _nests(votes: Weighted, number: int) -> bool:
    """Whether spans lie within spans in some vote."""
    return any(
        a.start < b.end and b.start < a.end
        for value, _ in votes
        for a, b in pairwise(sorted(value.layers[number], key=lambda s: (s.start, -s.end)))
    )


def _spans(ranked: Iterable[tuple[Part, float]], least: float, nested: bool) -> tuple[Span, ...]:
    kept = _chosen(ranked, least, _crosses if nested else _overlaps)
    return tuple(Span(*part[1:4]) for part in sorted(kept, key=lambda part: (part[1], -part[2])))


def _tree(
    words: Sequence[str], votes: Sequence[tuple[Any, float]], ranked: Iterable[tuple[Part, float]], least: float
) -> Tree:
    """The tree of the probable constituents, over the most probable tags; of equal extents, as most votes have them."""
    roots: Counter[str] = Counter()
    tags: list[Counter[str]] = [Counter() for _ in words]
    # for each constituent, how many of its extent are above it, times their weight, and the weight
    below: defaultdict[Part, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for tree, weight in votes:
        roots[tree.root] += weight  # type: ignore[assignment]
        for own, tag in zip(tags, tree.tags, strict=True):
            own[tag] += weight  # type: ignore[assignment]
        above: Counter[Any] = Counter()
        for part in tree.constituents:
            below[part][0] += weight * above[part[1:3]]
            below[part][1] += weight
            above[part[1:3]] += 1
    mean = {part: total / weight for part, (total, weight) in below.items()}
    kept = sorted(_chosen(ranked, least, _crosses), key=lambda part: (part[1], -part[2], mean[part]))
    best = [own.most_common(1)[0][0] for own in tags]
    return Tree.from_spans(words, best, [Span(*part[1:4]) for part in kept], roots.most_common(1)[0][0])


def _frames(votes: Weighted, number: int, ranked: Sequence[tuple[Part, float]], least: float) -> tuple[Any, ...]:
    """For each word that is probably a predicate its most probable sense, and arguments that share no word."""
    there: Counter[int] = Counter()
    sample: dict[Any, Any] = {}
    for value, weight in votes:
        for frame in value.layers[number]:
            there[frame.predicate] += weight  # type: ignore[assignment]
            sample.setdefault((frame.predicate, frame.sense, frame.lemma), frame)
    found = []
    for predicate in sorted(at for at, weight in there.items() if weight > least):
        own = [(part, p) for part, p in ranked if part[1] == predicate]
        sense = next(part for part, _ in own if len(part) == 4)
        kept = _chosen([one for one in own if len(one[0]) == 5], least, _overlaps)
        arguments = tuple(Span(*part[2:]) for part in kept)
        found.append(replace(sample[sense[1:]], arguments=arguments))
    return tuple(found)


def _words(text: str, ranked: Sequence[tuple[Part, float]], least: float) -> tuple[str, ...] | None:
    """The row of words with the most expected to be right."""
    best: dict[int, tuple[float, tuple[int, ...]]] = {0: (0.0, ())}
    for part, chance in sorted(ranked, key=lambda one: one[0][1:]):
        start, end = int(str(part[1])), int(str(part[2]))
        if start in best:
            total, ends = best[start]
            best[end] = max(best.get(end, (float("-inf"), ())), (total + chance - least, (*ends, end)))
    if len(text) not in best:
        return None
    return tuple(text[a:b] for a, b in pairwise((0, *best[len(text)][1])))
