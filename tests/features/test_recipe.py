"""The recipe: several clusterings of one text, and how words are written in it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dovetail.clusters.clustering import Clustering
from dovetail.clusters.counts import count_bigrams_of
from dovetail.errors import DovetailError
from dovetail.features.resources.casing import casing
from dovetail.features.resources.recipe import as_resources, fitting_classes, learn_clusterings, read_clusterings

TEXT = [["the", "cat", "saw", "Ada"], ["the", "dog", "saw", "Alan"], ["a", "cat", "met", "Ada"]] * 20


def test_every_step_is_told_and_the_classes_fit_the_text() -> None:
    steps: list[str] = []
    made = learn_clusterings(count_bigrams_of(TEXT), 1, lambda step: steps.append(step) or (lambda _: None))
    assert list(made) == ["brown", "exchange", "fine"]
    assert len(steps) == 3
    assert all(set(c.words) == {w for s in TEXT for w in s} for c in made.values())


def test_more_text_has_more_classes_up_to_a_thousand() -> None:
    sizes = [fitting_classes(10**n) for n in range(3, 10)]
    assert sizes == sorted(sizes)
    assert sizes[0] == (64, 32)
    assert sizes[-1] == (1000, 200)


def test_casing_comes_from_the_counts_of_the_first() -> None:
    resources = as_resources(learn_clusterings(count_bigrams_of(TEXT), 1))
    assert list(resources) == ["brown", "exchange", "fine", "casing"]
    styles = [resources["casing"].paths[c][0] for c in resources["casing"].classes_of(["ADA", "The"])]
    assert styles == ["C", "L"]
    assert resources["brown"].levels != resources["fine"].levels == (0,)
    assert as_resources({}) == {}


def test_clusters_kept_before_are_read_in_the_same_way_beside_new_ones() -> None:
    made = learn_clusterings(count_bigrams_of(TEXT), 1)
    both = as_resources({"fine_": made["fine"], **made})
    assert both["fine_"].levels == both["fine"].levels


def test_words_without_letters_have_no_casing() -> None:
    table = casing(["1996", "-", "北京", "iPhone", "X"], np.array([5, 9, 4, 3, 2]))
    found = [table.paths[c] if c >= 0 else None for c in table.classes_of(["1996", "-", "北京", "iphone", "x"])]
    assert found == [None, None, None, "M0", "C0"]


def test_names_of_files_become_names_of_resources(tmp_path: Path) -> None:
    clustering = Clustering(["a", "b"], np.array([0, 1], np.int32), ["0", "1"], np.array([2, 1]))
    for name in ("news-2020.paths", "2020.clusters", "casing.paths.gz"):
        clustering.save(tmp_path / name)
    (tmp_path / "other.txt").touch()
    assert sorted(read_clusterings([tmp_path])) == ["clusters_2020", "clusters_casing", "news_2020"]
    twice = read_clusterings([tmp_path / "news-2020.paths", tmp_path / "news-2020.paths"])
    assert list(twice) == ["news_2020", "news_2020_"]
    (tmp_path / "empty").mkdir()
    with pytest.raises(DovetailError, match="no clusters in this folder"):
        read_clusterings([tmp_path / "empty"])


def test_files_do_not_take_the_names_of_other_resources(tmp_path: Path) -> None:
    (tmp_path / "association.paths").write_text("0\tAda\t1\n1\tcat\t2\n", encoding="utf-8")
    assert list(read_clusterings([tmp_path])) == ["clusters_association"]
