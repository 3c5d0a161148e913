"""Clusters on disk and in hand: saved and loaded, extended with new words, drawn."""

from __future__ import annotations

import gzip
import random
from pathlib import Path
from tempfile import TemporaryDirectory
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dovetail.clusters.assign import assign
from dovetail.clusters.brown import brown
from dovetail.clusters.clustering import Clustering, ClusterProgress
from dovetail.clusters.counts import count_bigrams_of
from dovetail.clusters.picture import draw_tree, top_of_tree
from dovetail.errors import DovetailError, InputError, ModelFileError
from dovetail.text.report import ReadReport, ReadWarning
from tests.clusters.brown_twin import information
from tests.extras import NEEDS


def _clustering() -> Clustering:
    words = ["the", "cat", "dog", "naïve"]
    return Clustering(words, np.array([0, 1, 1, 2], dtype=np.int32), ["0", "11", "10"], np.array([9, 2, 5, 1]))


@pytest.mark.parametrize("name", ["a.paths", "a.paths.gz", "a.clusters"])
def test_saved_and_loaded_is_the_same(tmp_path: Path, name: str) -> None:
    _clustering().save(tmp_path / name)
    loaded = Clustering.load(tmp_path / name)
    assert loaded.members() == _clustering().members() == {"0": ["the"], "10": ["naïve"], "11": ["dog", "cat"]}
    assert {w: int(n) for w, n in zip(loaded.words, loaded.counts, strict=True)}["dog"] == 5


WORDS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\t\n\ufeff"), min_size=1, max_size=5)


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_any_clustering_comes_back_from_both_kinds_of_files(data: st.DataObject) -> None:
    words = data.draw(st.lists(WORDS, min_size=1, max_size=8, unique=True))
    paths = data.draw(st.lists(st.text("01", max_size=4), min_size=1, max_size=4, unique=True))
    classes = data.draw(st.lists(st.integers(0, len(paths) - 1), min_size=len(words), max_size=len(words)))
    counts = data.draw(st.lists(st.integers(0, 10**18 - 1), min_size=len(words), max_size=len(words)))
    original = Clustering(words, np.array(classes, np.int32), paths, np.array(counts))
    with TemporaryDirectory() as folder:
        for name in ("a.paths", "a.paths.gz", "a.clusters"):
            original.save(Path(folder, name))
            loaded = Clustering.load(Path(folder, name))
            paths_and_counts = {
                word: (loaded.path_of(word), n) for word, n in zip(loaded.words, loaded.counts.tolist(), strict=True)
            }
            assert paths_and_counts == {word: (paths[c], n) for word, c, n in zip(words, classes, counts, strict=True)}
    assert loaded.words == words  # the compact file keeps the order as well
    assert loaded.classes.tolist() == classes
    assert loaded.paths == paths


def test_the_time_that_is_left_is_that_of_the_words_that_are_left() -> None:
    assert ClusterProgress(done=25, of=100, seconds=10.0).seconds_left == 30.0
    assert ClusterProgress(done=100, of=100, seconds=10.0).seconds_left == 0.0
    assert ClusterProgress(done=0, of=100, seconds=0.5).seconds_left == 50.0


def test_a_paths_file_is_by_path_then_count(tmp_path: Path) -> None:
    _clustering().save(tmp_path / "a.paths")
    assert (tmp_path / "a.paths").read_text(encoding="utf-8") == "0\tthe\t9\n10\tnaïve\t1\n11\tdog\t5\n11\tcat\t2\n"


def test_paths_of_other_tools(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes("0\tx y\r\n\r\n1\té\t3\r\n".encode())
    loaded = Clustering.load(tmp_path / "a")
    assert loaded.words == ["x y", "é"]
    assert loaded.counts.tolist() == [0, 3]
    assert loaded.path_of("é") == "1"
    assert loaded.path_of("z") is None
    assert len(loaded) == 2


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("01 cat 3", "1 column, expected 2 or 3"),
        ("01\tcat\t3\t4", "4 columns"),
        ("2\tcat\t3", "the path '2' is not made of 0 and 1;"),
        ("cat\t01\t3", "and the word comes second"),
        ("01\t\t3", "there is no word"),
        ("01\tcat\tmany", "the count 'many' is not a number"),
    ],
)
def test_malformed_paths_are_named(tmp_path: Path, line: str, message: str) -> None:
    (tmp_path / "bad").write_text(f"0\ta\t1\n{line}\n", encoding="utf-8")
    with pytest.raises(InputError, match="bad:2: ") as caught:
        Clustering.load(tmp_path / "bad")
    assert message in str(caught.value)


def test_words_that_come_twice_are_reported(tmp_path: Path) -> None:
    (tmp_path / "twice").write_text("0\ta\t1\n1\ta\t1\n", encoding="utf-8")
    report = ReadReport()
    assert Clustering.load(tmp_path / "twice", report).words == ["a"]
    assert "1 time: word that already has a path" in str(report)
    assert "twice:2" in str(report)
    with pytest.warns(ReadWarning):
        Clustering.load(tmp_path / "twice")


def test_empty_and_damaged_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").write_text("\n")
    with pytest.raises(InputError, match="no words"):
        Clustering.load(tmp_path / "empty")
    with gzip.open(tmp_path / "cut.gz", "wb") as file:
        file.write(b"0\ta\t1\n" * 100)
    (tmp_path / "cut.gz").write_bytes((tmp_path / "cut.gz").read_bytes()[:-10])
    with pytest.raises(InputError, match="damaged or truncated"):
        Clustering.load(tmp_path / "cut.gz")
    _clustering().save(tmp_path / "a.clusters")
    data = bytearray((tmp_path / "a.clusters").read_bytes())
    data[-1] ^= 1
    (tmp_path / "a.clusters").write_bytes(data)
    with pytest.raises(ModelFileError, match="damaged"):
        Clustering.load(tmp_path / "a.clusters")


def test_parts_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    Clustering(["a"], np.array([3], dtype=np.int32), ["0"], np.array([1])).save(tmp_path / "a.clusters")
    with pytest.raises(ModelFileError, match="do not fit together"):
        Clustering.load(tmp_path / "a.clusters")


def test_a_new_word_joins_the_class_that_loses_least() -> None:
    draw = random.Random(4)
    text = draw.choices("abcdefgh", [9, 8, 7, 6, 5, 4, 3, 2], k=600)
    counts = count_bigrams_of([text])
    known = brown(count_bigrams_of([[word for word in text if word not in "gh"]]), 3)
    result = assign(known, counts)
    assert result.placed == 2
    assert result.unplaced == 0
    number = {word: n for n, word in enumerate(counts.words)}
    for word in "gh":
        # Brute force: the information with the word in each class, other new words left out.
        left = {}
        for c in range(3):
            groups = [
                frozenset(number[w] for w, k in zip(known.words, known.classes, strict=True) if k == d)
                | ({number[word]} if c == d else frozenset())
                for d in range(3)
            ]
            left[c] = information(groups, counts)
        found = known.paths.index(result.clustering.path_of(word) or "")
        assert left[found] >= max(left.values()) - 1e-9
    assert [result.clustering.path_of(w) for w in known.words] == [known.path_of(w) for w in known.words]


def test_words_without_known_neighbours_stay_without_a_class() -> None:
    known = Clustering(["a", "b"], np.array([0, 1], dtype=np.int32), ["0", "1"], np.array([1, 1]))
    result = assign(known, count_bigrams_of([["a", "b", "x", "y", "z"]]))
    assert (result.placed, result.unplaced) == (1, 2)
    assert result.clustering.path_of("y") is None
    with pytest.raises(DovetailError, match="same language"):
        assign(known, count_bigrams_of([["x", "y"]]))


def test_the_drawn_tree_has_the_branches_and_their_words(tmp_path: Path) -> None:
    clustering = _clustering()
    root = top_of_tree(clustering, 1, 2)
    assert [(node.path, node.words, node.types) for node in root.children] == [
        ("0", ("the",), 1),
        ("1", ("dog", "cat"), 3),
    ]
    assert [node.path for node in top_of_tree(clustering, 2, 2, below="1").children] == ["10", "11"]
    with pytest.raises(DovetailError, match="shorter prefix"):
        top_of_tree(clustering, 2, 2, below="01")
    odd = Clustering(["<b>&\x01"], np.array([0], dtype=np.int32), ["0"], np.array([1]))
    for drawn, name in ((clustering, "tree.svg"), (odd, "odd.svg")):
        texts = [e.text for e in ElementTree.parse(draw_tree(drawn, tmp_path / name)).iter() if e.tag.endswith("text")]
        assert texts
    assert any("<b>&" in (text or "") for text in texts)


def test_pictures_by_suffix(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason=NEEDS["matplotlib"])
    assert draw_tree(_clustering(), tmp_path / "tree.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(InputError, match="pictures are written as"):
        draw_tree(_clustering(), tmp_path / "tree.gif")


def test_a_count_that_no_text_has_is_refused(tmp_path: Path) -> None:
    for digits in (20, 5000):
        (tmp_path / "a.paths").write_text(f"0\tcat\t{'9' * digits}\n")
        with pytest.raises(InputError, match=r"a\.paths:1: the count '9+' is not a number"):
            Clustering.load(tmp_path / "a.paths")
