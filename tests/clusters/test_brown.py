"""Brown clustering: every merge is the best one, whatever the text; the tree is whole."""

from __future__ import annotations

import io
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dovetail.clusters.brown import _Run, brown, tree_paths
from dovetail.clusters.brown_kernels import advance, fill
from dovetail.clusters.brown_window import Words, empty_window
from dovetail.clusters.clustering import ClusterProgress
from dovetail.clusters.counts import BigramCounts, Bigrams, Neighbours, count_bigrams, count_bigrams_of
from dovetail.clusters.information import mutual_information
from dovetail.clusters.team import Member, Team
from dovetail.errors import DovetailError
from tests.clusters.brown_twin import Group, merges_within

SAME = 1e-9
TEXTS = st.lists(st.sampled_from("abcdefghij"), min_size=1, max_size=120)

ALONE = Member(0, 1, 0)


def _merges(counts: BigramCounts, classes: int) -> list[tuple[int | None, int, int]]:
    """Each merge of a run: the word that came in before it (or none), and the first words of the merged classes."""
    run = _Run(counts, classes, None, Team(1))
    fill(run.window, run.words, classes, ALONE)
    merges = np.zeros((len(counts.words), 2), dtype=np.int64)
    free = classes
    for word in range(classes, len(counts.words)):
        free = advance(run.window, classes, free, run.words, word, word + 1, merges, ALONE)
    _, top = _Run(counts, classes, None, Team(1)).tree()
    entered: list[tuple[int | None, int, int]] = [
        (word, int(merges[word, 0]), int(merges[word, 1])) for word in range(classes, len(counts.words))
    ]
    return entered + [(None, int(a), int(b)) for a, b in top[:0:-1]]


def _check_every_merge(counts: BigramCounts, classes: int) -> None:
    groups: list[Group] = [frozenset([word]) for word in range(classes)]
    for word, a, b in _merges(counts, classes):
        if word is not None:
            groups.append(frozenset([word]))
        possible = merges_within(groups, counts)
        first = next(group for group in groups if a in group)
        second = next(group for group in groups if b in group)
        assert (min(first), min(second)) == (a, b)
        assert a < b
        assert possible[frozenset((first, second))] >= max(possible.values()) - SAME
        groups = [*(group for group in groups if group not in (first, second)), first | second]
    assert len(groups) == 1


@settings(max_examples=60, deadline=None)
@given(TEXTS, st.integers(1, 7))
def test_every_merge_is_the_best(text: list[str], classes: int) -> None:
    counts = count_bigrams_of([text])
    _check_every_merge(counts, min(classes, len(counts.words)))


@pytest.mark.parametrize("seed", range(3))
def test_every_merge_is_the_best_among_more_words(seed: int) -> None:
    draw = random.Random(seed)
    text = [f"w{int(draw.paretovariate(0.8)) % 25}" for _ in range(1500)]
    _check_every_merge(count_bigrams_of([text]), 9)


def test_counts_too_great_for_the_table_of_logarithms(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dovetail.clusters.brown_window.TABLE", 8)
    draw = random.Random(5)
    _check_every_merge(count_bigrams_of([draw.choices("abcdefgh", [9, 8, 5, 4, 3, 2, 1, 1], k=400)]), 4)


def test_pairs_of_left_out_words_do_not_count() -> None:
    counts = count_bigrams_of(["a b a c a b d b a a c b e a b".split()], min_count=2)
    assert "d" not in counts.words
    _check_every_merge(counts, 2)


def test_words_of_like_neighbours_share_a_class() -> None:
    draw = random.Random(0)
    text = []
    for _ in range(400):
        text += [draw.choice(["the", "a"]), draw.choice(["cat", "dog", "cow"]), draw.choice(["ran", "sat"]), "."]
    clustering = brown(count_bigrams_of([text]), 4)
    assert sorted(map(sorted, clustering.members().values())) == [
        ["."],
        ["a", "the"],
        ["cat", "cow", "dog"],
        ["ran", "sat"],
    ]


def test_paths_are_a_whole_binary_tree() -> None:
    draw = random.Random(1)
    clustering = brown(count_bigrams_of([draw.choices([f"w{i}" for i in range(80)], k=3000)]), 20)
    assert len(clustering.paths) == 20 == len(set(clustering.paths))
    assert sum(2.0 ** -len(path) for path in clustering.paths) == 1
    assert clustering.paths == sorted(clustering.paths)
    assert sorted(np.unique(clustering.classes)) == list(range(20))


def test_fewer_types_than_classes_is_a_class_for_each() -> None:
    clustering = brown(count_bigrams_of([["a", "b", "a", "c"]]), 100)
    assert len(clustering.paths) == 3 == len(set(clustering.classes.tolist()))


def test_one_type_and_one_class() -> None:
    assert brown(count_bigrams_of([["a"]]), 5).paths == ["0"]
    alone = brown(count_bigrams_of([["a", "b", "a", "c"]]), 1)
    assert alone.paths == ["0"]
    assert set(alone.classes.tolist()) == {0}


def test_no_classes_is_refused() -> None:
    with pytest.raises(DovetailError, match="give 1 or more"):
        brown(count_bigrams_of([["a"]]), 0)


def test_a_run_is_repeatable_and_tells_its_progress() -> None:
    draw = random.Random(2)
    counts = count_bigrams_of([draw.choices([f"w{i}" for i in range(60)], k=2000)])
    told: list[ClusterProgress] = []
    first = brown(counts, 10, progress=told.append)
    second = brown(counts, 10)
    assert first.paths == second.paths
    assert (first.classes == second.classes).all()
    assert told[-1].done == told[-1].of == 60
    assert told[-1].seconds_left == 0


def test_the_losses_do_not_drift() -> None:
    """After many steps the gains are those that a window filled at once would have, to the last bit."""
    draw = random.Random(3)
    counts = count_bigrams_of([[f"w{int(draw.paretovariate(0.7)) % 200}" for _ in range(4000)]])
    run = _Run(counts, 12, None, Team(1))
    fill(run.window, run.words, 12, ALONE)
    merges = np.zeros((len(counts.words), 2), dtype=np.int64)
    free = advance(run.window, 12, 12, run.words, 12, len(counts.words), merges, ALONE)
    used = np.array([slot for slot in range(13) if slot != free])
    pairs = run.window.pairs[np.ix_(used, used)]
    # The same classes as words of a text with these counts:
    fresh = empty_window(12, counts.tokens)
    start = np.arange(13, dtype=np.int64) * 12
    everyone = np.tile(np.arange(12, dtype=np.int32), 12)
    words = Words(
        run.window.size[used],
        Bigrams(
            Neighbours(start, everyone, pairs.reshape(-1).astype(np.int64)),
            Neighbours(start, everyone, pairs.T.reshape(-1).astype(np.int64)),
        ),
        parent=np.full(12, -1, dtype=np.int64),
        slot=np.zeros(12, dtype=np.int64),
    )
    fill(fresh, words, 12, ALONE)
    off = ~np.eye(12, dtype=bool)
    assert (fresh.pairs == pairs).all()
    assert (fresh.gain[off] == run.window.gain[np.ix_(used, used)][off]).all()
    assert (fresh.links == run.window.links[used]).all()


def test_mutual_information_of_words_that_tell_nothing() -> None:
    counts = count_bigrams(io.StringIO("a a b b a a b b a"))
    assert mutual_information(counts, np.zeros(2, dtype=np.int32)) == 0
    assert mutual_information(counts, np.array([0, 1], dtype=np.int32)) == pytest.approx(0, abs=1e-12)
    with pytest.raises(DovetailError, match="one for each"):
        mutual_information(counts, np.zeros(3, dtype=np.int32))


def test_tree_paths_of_a_chain() -> None:
    assert tree_paths(np.array([[0, 0], [0, 3], [3, 5], [0, 1]])) == {0: "00", 3: "10", 5: "11", 1: "01"}


@pytest.mark.parametrize("threads", [2, 3])
def test_any_number_of_threads_makes_the_same_tree(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dovetail.clusters.brown.WORTHWHILE", 1)
    draw = random.Random(5)
    counts = count_bigrams_of([[f"w{int(draw.paretovariate(0.6)) % 300}" for _ in range(5000)]])
    for classes in (1, 5, 30, 70):
        alone = brown(counts, classes)
        together = brown(counts, classes, threads=threads)
        assert together.paths == alone.paths
        assert together.classes.tolist() == alone.classes.tolist()
