"""Which sentences to show next: those that the model is least sure of, or where there is none, promising ones."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from dovetail.active.diversity import choose
from dovetail.active.selection import select
from dovetail.text.sentence import Sentence

NUMBER = 60
"""Sentences that are ranked: what is labelled until the next model is there, and more."""
LONGEST = 60
"""Words; longer sentences are shown only when nothing else is left."""
SAMPLE = 2_000
"""Sentences that are looked at where there is no model, and at most twenty times as many where there is one."""
NESTED_SAMPLE = 600
"""Those that are looked at by a model of nested entities, which takes the cube of their length."""
BY, DISCOUNT, DIVERSITY = "least-confident", 0.3, 0.3
"""As ``active.select`` has them. A discount of 0.3 costs no accuracy on conll2003-en, and a quarter of the words."""
USUAL_LENGTH = 22


def without_model(sentences: Sequence[Sentence], taken: Collection[int], names: bool, seed: int = 1) -> list[int]:
    """The numbers of sentences to begin with, unlike each other and of a good length.

    Where ``names`` are looked for, sentences with capitals inside come first.

    >>> text = [Sentence(("It", "rains")), Sentence("Yesterday Ada Lovelace went to see Mr. Babbage".split())]
    >>> without_model(text, (), names=True)
    [1, 0]
    """
    free = _free(sentences, taken)
    if not free:
        return []
    rng = np.random.default_rng(seed)
    some = sorted(rng.choice(free, min(SAMPLE, len(free)), replace=False).tolist())
    score = np.array([_promise(sentences[i], names) for i in some])
    return [some[i] for i in choose(score, NUMBER, 0.5, [sentences[i].words for i in some])]


def by_model(model: Any, sentences: Sequence[Sentence], taken: Collection[int]) -> list[int]:
    """The numbers of the sentences that a model would learn most from, best first."""
    free = _free(sentences, taken)
    if not free:
        return []
    limit = NESTED_SAMPLE if model.kind == "nested" else 20 * SAMPLE
    if len(free) > limit:
        free = sorted(np.random.default_rng(len(taken)).choice(free, limit, replace=False).tolist())
    offered = [sentences[i] for i in free]
    found = select(model, offered, NUMBER, by=BY, discount=DISCOUNT, diversity=DIVERSITY)
    return [free[choice.position] for choice in found]


def _free(sentences: Sequence[Sentence], taken: Collection[int]) -> list[int]:
    gone = set(taken)
    free = [i for i in range(len(sentences)) if i not in gone]
    return [i for i in free if len(sentences[i]) <= LONGEST] or free


def _promise(sentence: Sentence, names: bool) -> float:
    """How much a sentence promises before anything is known: its length, and words with a capital inside it."""
    length = 1.0 / (1.0 + abs(len(sentence) - USUAL_LENGTH) / 10.0)
    if not names:
        return length
    words = sentence.words
    shouted = sum(word.isupper() and len(word) > 3 for word in words) > len(words) / 2
    capitals = sum(word[:1].isupper() for word in words[1:])
    return 0.05 * length if shouted else (min(capitals, 6) + 0.5) * length
