"""The spelling of words as a prior over classes: words that are spelled alike would rather stand together.

After Clark (2003), a class k draws each of its words (types, each once) with the probability of the class,
|k| / words, and spells it by a letter model of its own. Clark's letter model is a hidden Markov model that must be
trained again and again; here it is a chain in which each letter x follows the two before it, h, and whose
probabilities are integrated out under a Dirichlet prior that is centred on the letters of the whole vocabulary:

    P(spelling of the words in k) = product over h of  G(A) / G(A + n_k(h)) *
                                    product over x of  G(A p(x|h) + n_k(h, x)) / G(A p(x|h))

with G the gamma function, n_k(h, x) how often x follows h in the words of k, p(x|h) the same share in all words, and A
the strength of the prior, `STRENGTH`. A word that joins a class changes this by a sum of logarithms of counts: gains
are exact and cheap, and nothing is trained.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from dovetail.arrays import Floats, Int32s, Int64s, pointers
from dovetail.clusters.exchange_kernels import Letters, Spelling

STRENGTH = 30.0
"""So many letters seen after h weigh as much in a class as those of the whole vocabulary."""
ALPHABET = 100
"""Letters told apart, the most frequent ones; the rest are an upper-case letter, another letter, or no letter."""

_EDGE, _DIGIT, _UPPER, _LETTER, _OTHER, _FIRST = range(6)

Rows = tuple[Int64s, Int32s, Int32s]
"""Items of each word: starts [words + 1], distinct items, how often the word has each."""


def spelling_model(words: Sequence[str], classes: int, weight: float) -> Spelling:
    """The letters of the words, and letter models for so many classes that have seen none yet.

    What only one word has is left out: it says the same of every class.

    >>> model = spelling_model(["sing", "ring"], classes=2, weight=1.0)
    >>> model.events.prior.tolist()  # what both have: g after "in", and the end after "ng"
    [30.0, 30.0]
    """
    word, event, context = _chains(words)
    before = np.zeros(int(event.max()) + 1, np.int64)
    before[event] = context
    share = np.bincount(event) / np.bincount(context)[before]
    events, event_rows = _shared(_rows(word, event, len(words)))
    contexts, context_rows = _shared(_rows(word, context, len(words)))
    of_contexts = _unseen(context_rows, np.full(len(contexts), STRENGTH), classes)
    return Spelling(_unseen(event_rows, STRENGTH * share[events], classes), of_contexts, weight)


def no_spelling() -> Spelling:
    """The model without a spelling: of weight 0."""
    none = _unseen((np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0, np.int32)), np.zeros(0), 0)
    return Spelling(none, none, weight=0.0)


def _unseen(rows: Rows, prior: Floats, classes: int) -> Letters:
    """The items of words, with a prior for each, in so many classes that have seen none yet."""
    logs = np.repeat(np.log(prior).astype(np.float32)[:, None], classes, axis=1)
    return Letters(*rows, prior, np.zeros(logs.shape, np.int32), logs)


def _chains(words: Sequence[str]) -> tuple[Int64s, Int64s, Int64s]:
    """For each letter of each word, and the end of each: the word, the letter with the two before it, these two."""
    length = np.array([len(word) for word in words], np.int64)
    symbols = _symbols(words)
    base = int(symbols.max()) + 1
    windows = (symbols[:-2] * base + symbols[1:-1]) * base + symbols[2:]
    inside = np.ones(len(symbols), bool)
    ends = np.cumsum(length + 3)
    inside[ends - 1] = inside[ends - 2] = False  # windows from here run over into the next word
    windows = windows[inside[:-2]]
    event = np.unique(windows, return_inverse=True)[1].astype(np.int64)
    context = np.unique(windows // base, return_inverse=True)[1].astype(np.int64)
    return np.repeat(np.arange(len(words)), length + 1), event, context


def _symbols(words: Sequence[str]) -> Int64s:
    """The letters of all words in a row as numbers, with two edges before each word and one behind it."""
    letters = Counter("".join(words))
    kept = {letter: _FIRST + rank for rank, (letter, _) in enumerate(letters.most_common(ALPHABET))}
    codes = np.frombuffer("".join(f"\0\0{word}\0" for word in words).encode("utf-32-le"), np.uint32)
    symbol = np.zeros(int(codes.max()) + 1, np.int64)
    for letter in letters:
        symbol[ord(letter)] = _DIGIT if letter.isdigit() else kept.get(letter) or _kind(letter)
    symbol[0] = _EDGE
    return symbol[codes]


def _kind(letter: str) -> int:
    return _UPPER if letter.isupper() else _LETTER if letter.isalpha() else _OTHER


def _rows(word: Int64s, item: Int64s, words: int) -> Rows:
    width = int(item.max()) + 1
    pairs, times = np.unique(word * width + item, return_counts=True)
    start = np.searchsorted(pairs, np.arange(words + 1) * width)
    return start, (pairs % width).astype(np.int32), times.astype(np.int32)


def _shared(rows: Rows) -> tuple[Int64s, Rows]:
    """The items that more than one word has, and the rows of these alone, with new numbers."""
    start, item, times = rows
    shared = np.bincount(item) > 1
    number = np.cumsum(shared, dtype=np.int32) - 1
    keep = shared[item]
    before = pointers(keep)
    return np.flatnonzero(shared), (before[start], number[item[keep]].astype(np.int32), times[keep])
