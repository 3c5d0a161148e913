"""Sentence alignment: made-up documents with sentences left out, joined and cut."""

from __future__ import annotations

import numpy as np
import pytest

from dovetail.models.aligner import sentences, windows
from dovetail.models.aligner.aligner import Aligner
from dovetail.models.aligner.sentence_kernels import bead_scores, beads
from dovetail.models.aligner.sentences import align_sentences
from dovetail.models.aligner.windows import Bead
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


def test_empty_documents() -> None:
    assert align_sentences([], []) == []
    assert align_sentences([("a",)], []) == [Bead((0, 1), (0, 0), 1.0)]
    assert align_sentences([("a",)], [()])[0].source == (0, 1)


@pytest.mark.parametrize("most", [900, 2500])
@pytest.mark.parametrize("named", [False, True])
def test_windows_find_what_the_whole_finds(most: int, named: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    source, target, right = documents(1)
    if named:  # a number in every tenth sentence, the same in both
        for k, (a, b) in enumerate(right[::10]):
            for side, place in ((source, a), (target, b)):
                for at in range(*place):
                    side[at] = (*side[at], f"{k:04}")
    whole = align_sentences(source, target)
    monkeypatch.setattr(windows, "MOST", most)
    sizes: list[int] = []
    paired = sentences._Pass._paired
    monkeypatch.setattr(
        sentences._Pass, "_paired",
        lambda self, w, *told: sizes.append(np.diff(w.source)[0] * np.diff(w.target)[0]) or paired(self, w, *told),
    )  # fmt: skip
    found = align_sentences(source, target)
    assert max(sizes) <= most
    assert [i for b in found for i in range(*b.source)] == list(range(len(source)))
    assert [j for b in found for j in range(*b.target)] == list(range(len(target)))
    assert len({b[:2] for b in found} & {b[:2] for b in whole}) > 0.97 * len(whole)


def test_anchors_bridge_a_chapter_that_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    source, target, right = documents(3)
    for k, (a, b) in enumerate(right):
        for side, place in ((source, a), (target, b)):
            if k % 3 == 0 and place[0] < place[1]:
                side[place[0]] = (*side[place[0]], f"{k:04}")
    gone = right[100][1][0], right[220][1][0]
    shorter = target[: gone[0]] + target[gone[1] :]
    monkeypatch.setattr(windows, "MOST", 3000)
    found = {b[:2] for b in align_sentences(source, shorter)}
    after = [(a, (c - gone[1] + gone[0], d - gone[1] + gone[0])) for a, (c, d) in right[225:]]
    assert len(found & set(after)) > 0.85 * len(after)


def test_a_free_end_against_all_ways_written_out() -> None:
    """All ways to cut small documents that end with either side: the best, and how likely each bead is."""
    rng = np.random.default_rng(5)
    n, m = 4, 3
    given = (rng.integers(5, 40, n), rng.integers(5, 40, m), rng.integers(1, 6, m),
             rng.integers(0, 3, (n, m)).astype(np.float32), np.array([[0.5, 0.1], [0.6, 0.2]]), 1.1,
             sentences.PRIOR)  # fmt: skip

    def ways(i: int, j: int, free: bool) -> list[list[tuple[int, int, int]]]:
        if (i, j) == (n, m) or (free and (i == n or j == m)):
            return [[]]
        found = []
        for kind, (down, right) in enumerate(sentences.SHAPES):
            if i + down <= n and j + right <= m:
                found += [[(kind, i, j), *rest] for rest in ways(i + down, j + right, free)]
        return found

    for free in (False, True):
        every = ways(0, 0, free)
        scores = [float(bead_scores(np.array(way), *given).sum()) for way in every]
        _, total, after, end = beads(*given, free)
        best = every[int(np.argmax(scores))]
        kind, i, j = best[-1]
        assert end == (i + sentences.SHAPES[kind][0], j + sentences.SHAPES[kind][1])
        assert after[0, 0] == pytest.approx(np.logaddexp.reduce(scores))
        through = np.logaddexp.reduce([s for s, way in zip(scores, every, strict=True) if best[-1] in way])
        found = total[i, j] + float(bead_scores(np.array([best[-1]]), *given)[0]) + after[end]
        assert found == pytest.approx(through)


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
