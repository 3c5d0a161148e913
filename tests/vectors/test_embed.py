"""Vectors from raw text: counts against a slow twin, singular values against numpy, bits against threads."""

from __future__ import annotations

import gzip
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from dovetail.errors import DovetailError, InputError
from dovetail.vectors import neighbours
from dovetail.vectors.embed import embed, information
from dovetail.vectors.halving import halved
from dovetail.vectors.neighbours import EDGE, NeighbourCounts, count_neighbours, count_neighbours_of
from dovetail.vectors.svd import Rows, Sparse, truncated_svd
from dovetail.vectors.table import VectorTable


def text(sentences: int, seed: int = 0) -> list[list[str]]:
    rng = np.random.default_rng(seed)
    words = np.array([f"w{i}" for i in range(30)])
    return [words[(rng.zipf(1.5, rng.integers(0, 9)) - 1) % 30].tolist() for _ in range(sentences)]


def slow(sentences: list[list[str]], window: int) -> list[Counter[tuple[str, str]]]:
    """Pairs at each distance, the edge of a line one of them."""
    found = [Counter[tuple[str, str]]() for _ in range(window)]
    for sentence in sentences:
        line = [EDGE, *sentence, EDGE]
        for i, first in enumerate(line):
            for gap, second in enumerate(line[i + 1 : i + 1 + window]):
                if (first, second) != (EDGE, EDGE):
                    found[gap][first, second] += 1
    return found


def as_counters(counts: NeighbourCounts) -> list[Counter[tuple[str, str]]]:
    return [
        Counter({
            (counts.words[key >> 32], counts.words[key & 0xFFFFFFFF]): n
            for key, n in zip(pairs.keys.tolist(), pairs.times.tolist(), strict=True)
        })
        for pairs in counts.pairs
    ]  # fmt: skip


@pytest.mark.parametrize("window", [1, 2, 5])
def test_neighbours_are_counted_as_a_slow_twin_counts_them(
    window: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sentences = text(300)
    path = tmp_path / "a.txt.gz"
    path.write_bytes(gzip.compress("".join(" ".join(s) + "\n" for s in sentences).encode()))
    monkeypatch.setattr("dovetail.text.files.BLOCK_BYTES", 50)  # blocks that end within windows, lines and words
    for counts in (count_neighbours([path], window), count_neighbours_of(sentences, window)):
        assert as_counters(counts) == slow(sentences, window)
        assert counts.tokens == sum(map(len, sentences))
    assert dict(zip(counts.words[1:], counts.count[1:].tolist(), strict=True)) == Counter(
        w for s in sentences for w in s
    )


def test_information_is_what_its_formula_says() -> None:
    counts = count_neighbours_of(text(200), window=2)
    words, others = np.arange(1, 11), np.arange(1, 8)
    matrix = information(counts, words, others, smoothing=0.75, shift=1.5)
    dense = to_dense(matrix.rows, len(matrix.turned.start) - 1)
    columns = [0, *others.tolist()]
    pairs = as_counters(counts)
    expected = np.zeros((10, 4 * 8))
    for place in range(4):
        gap, after = divmod(place, 2)

        def times(word: int, other: int, gap: int = gap, after: int = after) -> int:
            pair = (counts.words[other], counts.words[word])
            return pairs[gap][pair[::-1] if after else pair]

        smooth = np.array([sum(times(w, c) for w in words.tolist()) for c in columns]) ** 0.75
        for i, w in enumerate(words.tolist()):
            for j, c in enumerate(columns):
                if n := times(w, c):
                    pmi = np.log(n / (counts.count[w] * smooth[j] / smooth.sum())) - np.log(1.5)
                    expected[i, place * 8 + j] = max(pmi, 0.0)
    np.testing.assert_allclose(dense, expected, rtol=1e-5, atol=1e-6)


def to_dense(rows: Rows, columns: int) -> np.ndarray:
    dense = np.zeros((len(rows.start) - 1, columns))
    dense[np.repeat(np.arange(len(rows.start) - 1), np.diff(rows.start)), rows.column] = rows.value
    return dense


def test_singular_vectors_are_those_of_numpy() -> None:
    rng = np.random.default_rng(1)
    low = rng.standard_normal((300, 6)) * [9, 7, 5, 3, 2, 1] @ rng.standard_normal((6, 200))
    some = np.where(rng.random((300, 200)) < 0.3, low, 0.0).astype(np.float32)
    row, column = np.nonzero(some)
    vectors, values = truncated_svd(Sparse.of(row, column, some[row, column], some.shape), 5, passes=12)
    u, s, _ = np.linalg.svd(some.astype(np.float64))
    np.testing.assert_allclose(values, s[:5], rtol=1e-4)
    np.testing.assert_allclose(np.abs((u[:, :5] * vectors).sum(axis=0)), 1, atol=1e-3)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(5), atol=1e-9)


def test_one_seed_gives_the_same_bits_on_any_number_of_threads(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    size = 9000, 500  # more than one shard
    row, column = rng.integers(0, size[0], 40_000), rng.integers(0, size[1], 40_000)
    matrix = Sparse.of(row, column, rng.random(40_000), size)
    one, two, three = (truncated_svd(matrix, 10, seed=3, threads=n) for n in (1, 2, 3))
    for other in (two, three):
        assert one[0].tobytes() == other[0].tobytes()
        assert one[1].tobytes() == other[1].tobytes()
    assert truncated_svd(matrix, 10, seed=4)[0].tobytes() != one[0].tobytes()


FARM = [f"{a} {b} {c} ." for a in ("the", "a", "every") for b in ("cat", "dog", "cow") for c in ("sat", "ran", "ate")]


def test_words_with_like_neighbours_have_like_vectors() -> None:
    table = embed(count_neighbours_of([line.split() for line in FARM]), 4)
    assert table.words[0] == "."
    unit = table.matrix / np.linalg.norm(table.matrix, axis=1, keepdims=True)
    vector = dict(zip(table.words, unit, strict=True))
    assert vector["cat"] @ vector["dog"] > 0.99
    assert vector["cat"] @ vector["ran"] < 0.9


def test_small_texts_have_fewer_dimensions_and_empty_ones_none(tmp_path: Path) -> None:
    assert embed(count_neighbours_of([["a", "b"]]), 50, min_count=1).dimensions <= 2
    with pytest.raises(DovetailError, match="no word is seen 3 times"):
        embed(count_neighbours_of([["a", "b"]]), 50)
    (tmp_path / "empty.txt").write_text("\n \n")
    with pytest.raises(InputError, match="no words"):
        neighbours.count_neighbours([tmp_path / "empty.txt"])


def test_halving_parts_words_by_direction() -> None:
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((4, 8))
    matrix = (np.repeat(centres, 20, axis=0) + 0.05 * rng.standard_normal((80, 8))) * rng.uniform(0.5, 2, (80, 1))
    made = halved(VectorTable([f"w{i}" for i in range(80)], matrix.astype(np.float32)), depth=2)
    groups = [set(made.classes[i : i + 20].tolist()) for i in range(0, 80, 20)]
    assert [len(group) for group in groups] == [1, 1, 1, 1]
    assert len(set.union(*groups)) == 4
    assert sorted(map(len, made.paths)) == [2, 2, 2, 2]


def test_words_that_are_all_alike_stay_together() -> None:
    made = halved(VectorTable(["a", "b", "c"], np.ones((3, 2), np.float32)), fewest=2)
    assert made.paths == [""]
