"""How good the answers of a stage are: F1 of parts, of trees as evalb counts, of arguments as CoNLL-2005 does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from dovetail.errors import DovetailError
from dovetail.evaluate.brackets import bracket_scores
from dovetail.evaluate.roles import role_scores
from dovetail.pipeline.parts import parts_of
from dovetail.pipeline.values import FRAMES, HEAD, SPANS, TREE, MissingLayer, tags_of_spans, value_of
from dovetail.text.sentence import Sentence


def score(gold: Sequence[Sentence], found: Sequence[Sentence], writes: Sequence[str]) -> float:
    """In percent: F1 of the parts of the layer that a stage is there for; of one tag a word, that is accuracy.

    >>> gold, found = ({"pos": ("NNP", "VBD")}, {"pos": ("NN", "VBD")})
    >>> score([Sentence(("Ada", "slept"), gold)], [Sentence(("Ada", "slept"), found)], ["pos"])
    50.0
    """
    layers = judged(writes)
    if layers == (TREE,):
        known = [sentence.tree for sentence in gold]
        if any(tree is None for tree, s in zip(known, gold, strict=True) if len(s)):
            raise DovetailError("the gold data lacks trees to score with; give text that has them")
        pairs = [(a, b.tree) for a, b in zip(known, found, strict=True) if a is not None]
        return float(bracket_scores([a for a, _ in pairs], [b for _, b in pairs]).f1)
    if layers == (FRAMES,):
        return float(role_scores(gold, found).f1)
    right = total = 0
    for number, (one, other) in enumerate(zip(gold, found, strict=True), 1):
        if not len(one):
            continue
        try:
            wanted = Counter(parts_of(value_of(one, layers)))
        except MissingLayer as error:
            told = str(error).replace("the answer", f"gold sentence {number}")
            raise DovetailError(f"{told} to score with; give text that has it") from None
        try:
            given = Counter(parts_of(value_of(other, layers)))
        except MissingLayer:
            given = Counter()
        right += sum((wanted & given).values())
        total += sum(wanted.values()) + sum(given.values())
    return 200.0 * right / total if total else 0.0


def judged(writes: Sequence[str]) -> tuple[str, ...]:
    """What counts of the layers that a stage writes: a tree, heads, entities with the tags that spell them, ..."""
    for layer in (FRAMES, TREE):
        if layer in writes:
            return (layer,)
    if HEAD in writes:
        return (HEAD,)
    spelled = tags_of_spans(tuple(writes))
    if SPANS in writes:
        return (SPANS,) if spelled is None else (spelled, SPANS)
    return (writes[0],)
