"""Linked words of documents, tables counted from them, and models whose documents are graphs."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dovetail import Segmenter, Sentence, Tagger
from dovetail.columns import Columns
from dovetail.models.consistency.coupling import Consistency, CoupledText, labels_of_types
from dovetail.models.consistency.links import AHEAD, KINDS, clock_time, links_of
from dovetail.models.consistency.tables import FEWEST, MOST, association, counted, penalties
from tests.models.test_agreement import FEATURES, ambiguous


def columns(*sentences: str, documents: list[int] | None = None) -> Columns:
    numbers = documents or [0] * len(sentences)
    text = [Sentence(tuple(s.split()), document=d) for s, d in zip(sentences, numbers, strict=True)]
    return Columns.of(text, ())


def listed(*sentences: str, **how: object) -> set[tuple[int, int, str]]:
    links = links_of(columns(*sentences, **how))  # type: ignore[arg-type]
    return {(int(a), int(b), KINDS[k]) for a, b, k in zip(*links, strict=True)}


def test_the_same_phrase_and_parts_of_it_are_linked() -> None:
    assert listed("Geoff Woods spoke", "and Geoff Woods left", "then Woods slept") == {
        (0, 4, "same"), (1, 5, "same"), (1, 8, "part"), (5, 8, "part"),
    }  # fmt: skip


def test_parts_are_told_from_the_longer_phrase_to_the_shorter() -> None:
    assert listed("Woods spoke", "and Geoff Woods left") == {(4, 0, "part")}


def test_documents_and_common_words_are_not_linked() -> None:
    assert listed("Woods spoke", "Woods spoke", documents=[0, 1]) == set()
    assert listed("he spoke", "he spoke") == set()


def test_times_are_linked_by_what_they_tell() -> None:
    assert listed("at 3:30 pm", "from 3.30 on", "until 5pm") == {
        (1, 4, "time"), (1, 7, "other time"), (4, 7, "other time"),
    }  # fmt: skip
    assert clock_time("25:30") is None
    assert clock_time("3:75") is None


def test_links_grow_with_the_words_and_not_with_their_square() -> None:
    links = links_of(columns(*["Woods spoke"] * 5000))
    assert len(links) <= AHEAD * 5000


@settings(max_examples=50, deadline=None)
@given(st.lists(st.sampled_from(["Al", "Bo", "al", "x", "3:00", "4:00"]), max_size=12))
def test_links_are_those_of_a_plain_loop(words: list[str]) -> None:
    found = listed(" ".join(words)) if words else set()
    runs = [i for i in range(len(words))]
    for i in range(1, len(words)):
        if (
            not words[i].islower()
            and not words[i - 1].islower()
            and words[i][0].isalpha()
            and words[i - 1][0].isalpha()
        ):
            runs[i] = runs[i - 1]

    def phrase(i: int) -> tuple[list[str], int]:
        own = [j for j in range(len(words)) if runs[j] == runs[i]]
        return [words[j].lower() for j in own], own.index(i)

    expected = set()
    for i, j in product(range(len(words)), repeat=2):
        a, b = words[i], words[j]
        if i < j and a[0].isalpha() and not a.islower() and not b.islower() and a.lower() == b.lower():
            near = [k for k in range(i + 1, j) if words[k].lower() == a.lower() and not words[k].islower()]
            if len(near) < AHEAD:
                left, right = phrase(i), phrase(j)
                if left == right:
                    expected.add((i, j, "same"))
                else:
                    expected.add((j, i, "part") if len(right[0]) > len(left[0]) else (i, j, "part"))
        between = sum(word[0].isdigit() for word in words[i + 1 : j])
        if i < j and a[0].isdigit() and b[0].isdigit() and between < AHEAD:
            expected.add((i, j, "time" if a == b else "other time"))
    assert found == expected


def test_penalties_are_those_of_the_published_example() -> None:
    """A person that is also an organisation: sqrt(5 / 3151) sqrt(5 / 3169), and as a part of a phrase 2 / 842."""
    counts = np.zeros((len(KINDS), 5, 5))  # O PER LOC ORG MISC
    counts[0, 1:, 1:] = [[3141, 4, 5, 0], [4, 6436, 188, 3], [5, 188, 2975, 0], [0, 3, 0, 2030]]
    counts[1, 1:, 1:] = [[1941, 5, 2, 3], [0, 167, 6, 63], [22, 328, 819, 191], [14, 224, 7, 365]]
    table = penalties(counts, outside=0)
    assert np.isclose(table[0, 1, 3], 0.5 * np.log(5 / 3151) + 0.5 * np.log(5 / 3169))
    assert table[0, 1, 3] == table[0, 3, 1]
    assert np.isclose(table[1, 1, 3], np.log(2 / 1951))
    assert not table[:, 0].any()
    assert not table[:, :, 0].any()
    assert np.isclose(penalties(counts, 0, reward=np.log(2))[0, 1, 1], np.log(2))


def test_association_is_that_of_the_counts() -> None:
    counts = np.zeros((len(KINDS), 2, 2))
    counts[1] = [[90, 10], [20, 80]]
    counts[0] = np.full((2, 2), (FEWEST - 1) / 4)
    table = association(counts, smoothing=0.0 + 1e-12)
    assert not table[0].any()
    assert np.isclose(table[1, 0, 1], np.log(10 * 200 / (100 * 90)))
    assert table.max() <= MOST


def documents(first: int, last: int) -> list[Sentence]:
    return [s for d in range(first, last) for s in ambiguous(d)]


@pytest.mark.parametrize("engine", ["bp", "dual", "gibbs", "ilp"])
def test_the_graph_decides_what_a_sentence_cannot(engine: str, tmp_path: Path) -> None:
    train, dev = documents(0, 40), documents(100, 110)
    tagger = Tagger(features=FEATURES, min_count=2, engine=engine).fit(train)
    alone = Tagger(features=FEATURES, min_count=2, consistency="none").fit(train)
    assert tagger.model_ is not None
    assert tagger.model_.consistency is not None
    assert "table" not in repr(tagger.model_.consistency)
    assert tagger.score(dev) > 99
    assert alone.score(dev) < 80
    tagger.save(tmp_path / "m")
    again = Tagger.load(tmp_path / "m")
    assert again.predict(dev) == tagger.predict(dev)
    assert (again.consistency, again.engine) == ("graph", engine)
    apart = [replace(s, document=None) for s in dev]
    assert tagger.predict(apart) == alone.predict(apart)


@pytest.mark.parametrize("family", ["markov", "semi-markov"])
@pytest.mark.parametrize("consistency", ["agree", "graph"])
def test_segmenters_agree_too(family: str, consistency: str) -> None:
    train, dev = documents(0, 40), documents(100, 120)
    how = {"model": family, "target": "ner", "features": "liang-ner" if family == "markov" else None}
    how = {name: value for name, value in how.items() if value is not None}
    segmenter = Segmenter(**how, consistency=consistency, iterations=30).fit(train, dev=dev)
    alone = Segmenter(**how, consistency="none", iterations=30).fit(train, dev=dev)
    assert segmenter.score(dev) >= alone.score(dev)


def test_dev_chooses_how_strongly_documents_agree() -> None:
    train, dev = documents(0, 40), documents(100, 110)
    model = Tagger(features=FEATURES, min_count=2).fit(train, dev=dev).model_
    assert model is not None
    assert model.consistency is not None
    assert model.consistency.strength > 0
    contrary = [replace(s, layers={"ner": tuple("O" for _ in s.words)}) for s in dev]
    model = Tagger(features=FEATURES, min_count=2).fit(train, dev=contrary).model_
    assert model is not None
    assert model.consistency is not None
    assert model.consistency.strength == 0


def test_evidence_is_given_to_the_words_of_the_whole_batch() -> None:
    train, dev = documents(0, 40), documents(100, 104)
    model = Tagger(features=FEATURES, min_count=2).fit(train).model_
    assert model is not None
    assert isinstance(model.consistency, Consistency)
    alone = replace(model, consistency=None).batch(dev, 1)
    text = CoupledText(alone, links_of(Columns.of(dev, ())), model.of_label, 0.4 * model.consistency.table)
    _, evidence = text.evidence("bp")
    assert len(evidence) == len(text.tokens) * len(labels_of_types(model.of_label))
    changed = np.flatnonzero((model.batch(dev, 1).potentials.unary != alone.potentials.unary).any(axis=1))
    assert set(changed) <= set(text.tokens.tolist())
    assert len(changed)


def test_tables_of_unknown_types_count_nothing() -> None:
    links = links_of(columns("Woods spoke", "Woods left"))
    assert not counted(links, np.array([-1, 0, 1, 0]), 2).any()


def test_explanations_name_the_other_places() -> None:
    train, dev = documents(0, 40), documents(100, 110)
    tagger = Tagger(features=FEATURES, min_count=2).fit(train)
    clear, unclear = dev[:2]
    alone = tagger.explain(replace(unclear, document=None), 1)
    assert not any("other place" in e.feature for e in alone.evidence)
    why = tagger.explain(unclear, 1, [clear, unclear])
    [link] = [e for e in why.evidence if "other place" in e.feature]
    assert link.feature == "1 other place in the document (PER)"
    assert link.margin > 0
    assert why.tag == "B-PER"
