"""Sentence alignment: made-up documents with sentences left out, joined and cut."""

from __future__ import annotations

import numpy as np
import pytest

from dovetail.errors import DovetailError
from dovetail.models.aligner import sentences
from dovetail.models.aligner.aligner import Aligner
from dovetail.models.aligner.sentences import Bead, align_sentences
from dovetail.text.bitext import Pair
from tests.models.aligner.bitext import made_up

Shape = tuple[tuple[int, int], tuple[int, int]]


def documents(seed: int) -> tuple[list, list, list[Shape]]:
    """Two documents and how their sentences go together."""
    rng = np.random.default_rng(seed)
    pairs, _ = made_up(300, seed, words=200)
    source, target, right = [], [], []
    for pair in pairs:
        i, j, draw = len(source), len(target), rng.random()
        if draw < 0.05:
            source.append(pair.source)
        elif draw < 0.1:
            target.append(pair.target)
        elif draw < 0.2 and len(pair.target) > 3:
            source.append(pair.source)
            target.extend([pair.target[:2], pair.target[2:]])
        else:
            source.append(pair.source)
            target.append(pair.target)
        right.append(((i, len(source)), (j, len(target))))
    return source, target, right


@pytest.mark.parametrize("seed", [0, 1])
def test_words_find_what_lengths_do_not(seed: int) -> None:
    source, target, right = documents(seed)
    length, words = (align_sentences(source, target, passes=n) for n in (0, 2))
    score = [len({b[:2] for b in found} & set(right)) / len(right) for found in (length, words)]
    assert score[1] > 0.85
    assert score[1] > score[0]
    wrong = [b.confidence for b in words if b[:2] not in set(right)]
    good = [b.confidence for b in words if b[:2] in set(right)]
    assert not wrong or np.mean(good) > np.mean(wrong)


def test_every_sentence_is_in_one_bead() -> None:
    source, target, _ = documents(2)
    found = align_sentences(source, target)
    assert [i for b in found for i in range(*b.source)] == list(range(len(source)))
    assert [j for b in found for j in range(*b.target)] == list(range(len(target)))
    assert all(0 <= b.confidence <= 1 for b in found)


def test_empty_documents_and_long_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    assert align_sentences([], []) == []
    assert align_sentences([("a",)], []) == [Bead((0, 1), (0, 0), 1.0)]
    assert align_sentences([("a",)], [()])[0].source == (0, 1)
    monkeypatch.setattr(sentences, "MOST", 3)
    with pytest.raises(DovetailError, match="too long to be paired at once"):
        align_sentences([("a",)] * 2, [("b",)] * 2)


def test_what_an_aligner_knows_counts_at_once() -> None:
    """Sentences of one length, which only words can tell apart, in documents too short to teach them."""
    rng = np.random.default_rng(0)
    source = [tuple(f"s{w:03}" for w in s) for s in rng.integers(0, 40, (300, 4))]
    target = [tuple(f"t{word[1:]}" for word in s) for s in source]
    aligner = Aligner(threads=1, samplers=2).fit([Pair(a, b) for a, b in zip(source, target, strict=True)])
    short = source[:8], [t for i, t in enumerate(target[:8]) if i != 3]
    right = [((i, i + 1), (i - (i > 3), i + 1 - (i >= 3))) for i in range(8)]
    found = align_sentences(*short, passes=0, aligner=aligner)
    assert [bead[:2] for bead in found] == right
    assert [bead[:2] for bead in align_sentences(*short, passes=0)] != right
