"""Counts of words and neighbours: those of a plain loop, however the text comes."""

from __future__ import annotations

import gzip
import io
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dovetail.clusters import counts as module
from dovetail.clusters.counts import BigramCounts, count_bigrams, count_bigrams_of
from dovetail.errors import DovetailError, InputError


def _pairs(counts: BigramCounts) -> dict[tuple[str, str], int]:
    return {
        (counts.words[a], counts.words[counts.follower[at]]): int(counts.times[at])
        for a in range(len(counts.words))
        for at in range(counts.indptr[a], counts.indptr[a + 1])
    }


@given(st.lists(st.lists(st.sampled_from("abcdefg"), max_size=8), max_size=12), st.integers(1, 3))
def test_counts_are_those_of_a_loop(sentences: list[list[str]], min_count: int) -> None:
    text = [word for sentence in sentences for word in sentence]
    seen = Counter(text)
    kept = {word for word in seen if seen[word] >= min_count}
    if not kept:
        with pytest.raises(DovetailError):
            count_bigrams_of(sentences, min_count=min_count)
        return
    counts = count_bigrams_of(sentences, min_count=min_count)
    assert counts.words == [word for word, _ in seen.most_common() if word in kept]
    assert counts.count.tolist() == [seen[word] for word in counts.words]
    assert _pairs(counts) == Counter((a, b) for a, b in pairwise(text) if a in kept and b in kept)
    assert counts.tokens == len(text)
    start, other, times = counts.both_ways().before
    turned = {
        (counts.words[other[at]], counts.words[b]): int(times[at])
        for b in range(len(counts.words))
        for at in range(start[b], start[b + 1])
    }
    assert turned == _pairs(counts)


def test_merging_now_and_then_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    text = " ".join(f"w{i * i % 37}" for i in range(5000))
    whole = count_bigrams(io.StringIO(text))
    monkeypatch.setattr(module, "PAIRS_HELD", 10)
    monkeypatch.setattr("dovetail.text.files.BLOCK_BYTES", 7)  # words are cut by the ends of blocks
    pieces = count_bigrams(io.StringIO(text))
    assert whole.words == pieces.words
    assert _pairs(whole) == _pairs(pieces)


def test_files_lines_and_blank_lines_are_one_running_text(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a\n\n  \nb\r\n", encoding="utf-8")
    with gzip.open(tmp_path / "b.txt.gz", "wt", encoding="utf-8") as file:
        file.write("c")
    counts = count_bigrams((tmp_path / "a.txt", tmp_path / "b.txt.gz"))
    assert _pairs(counts) == {("a", "b"): 1, ("b", "c"): 1}


def test_words_are_not_joined_across_files(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / name).write_text(name)
    assert count_bigrams((tmp_path / "a", tmp_path / "b")).words == ["a", "b"]


def test_the_most_frequent_types_are_kept() -> None:
    counts = count_bigrams_of(["b a a c c c".split()], max_types=2)
    assert counts.words == ["c", "a"]
    assert counts.tokens == 6


def test_bytes_that_are_no_text_are_named(tmp_path: Path) -> None:
    (tmp_path / "bad.txt").write_bytes(b"fine\nnot \xff fine\n")
    with pytest.raises(InputError, match=r"bad\.txt:2: not valid UTF-8"):
        count_bigrams(tmp_path / "bad.txt")


def test_no_words_and_no_frequent_words_are_refused() -> None:
    with pytest.raises(DovetailError, match="no words"):
        count_bigrams(io.StringIO(" \n"))
    with pytest.raises(DovetailError, match="lower min_count"):
        count_bigrams(io.StringIO("a b"), min_count=2)


def test_a_text_without_spaces_is_refused_in_bounded_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LONGEST_WORD", 100_000)
    with pytest.raises(InputError, match="separated by white space"):
        count_bigrams(io.StringIO("x" * 300_000))


def test_progress_is_told() -> None:
    told: list[int] = []
    count_bigrams(io.StringIO("a b c"), progress=told.append)
    assert told
    assert told[-1] <= 3
