"""Lexicons find what a search through all phrases at all places finds, and read lists as they are."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dovetail.columns import Column
from dovetail.errors import DovetailError, InputError
from dovetail.features.resources.lexicon import Lexicon
from dovetail.features.resources.lexicon_entries import normal_form
from dovetail.modelfile import load_model, save_model
from dovetail.text.report import ReadReport, ReadWarning

WORD = st.sampled_from(["a", "A", "b", "c"])
PHRASES = st.lists(st.lists(WORD, min_size=1, max_size=4).map(" ".join), min_size=1, max_size=8)
LEXICON = st.dictionaries(st.sampled_from(["x", "y", "z"]), PHRASES, min_size=1)
SENTENCES = st.lists(st.lists(WORD, max_size=9), max_size=5)


def coded(sentences: list[list[str]]) -> tuple[Column, np.ndarray]:
    """Sentences as a column and its offsets."""
    offsets = np.cumsum([0, *map(len, sentences)]).astype(np.int64)
    return Column.encode(word for sentence in sentences for word in sentence), offsets


def tagged(lexicon: Lexicon, *sentences: str) -> list[str]:
    """The values of the column for sentences whose words are parted by spaces."""
    column = lexicon.column(*coded([sentence.split() for sentence in sentences]))
    return [column.types[i] for i in column.ids]


def brute_force(phrases: dict[str, list[str]], sentences: list[list[str]], normalise: bool) -> list[str]:
    """Read each sentence from the left for each label, trying the longest phrase first."""

    def form(words: list[str]) -> list[str]:
        return [w.lower() for w in words] if normalise else words

    values = []
    for sentence in sentences:
        parts: list[list[str]] = [[] for _ in sentence]
        for label in sorted(phrases):
            known = [form(phrase.split()) for phrase in phrases[label]]
            at = 0
            while at < len(sentence):
                end = max((at + len(p) for p in known if form(sentence[at : at + len(p)]) == p), default=None)
                if end is None:
                    at += 1
                    continue
                for t in range(at, end):
                    place = "S" if end - at == 1 else "B" if t == at else "E" if t == end - 1 else "I"
                    parts[t].append(f"{place}-{label}")
                at = end
        values += ["|".join(part) or "O" for part in parts]
    return values


@settings(deadline=None, max_examples=200)
@given(LEXICON, SENTENCES, st.booleans())
def test_column_is_that_of_brute_force(
    phrases: dict[str, list[str]], sentences: list[list[str]], normalise: bool
) -> None:
    column = Lexicon.of(phrases, normalise=normalise).column(*coded(sentences))
    assert [column.types[i] for i in column.ids] == brute_force(phrases, sentences, normalise)


@settings(deadline=None, max_examples=100)
@given(LEXICON, st.lists(WORD, min_size=1, max_size=9), st.booleans())
def test_whole_segments(phrases: dict[str, list[str]], sentence: list[str], normalise: bool) -> None:
    lexicon = Lexicon.of(phrases, normalise=normalise)
    spans = [(a, b) for a in range(len(sentence)) for b in range(a + 1, len(sentence) + 1)]
    starts, ends = np.array(spans, dtype=np.int64).T
    found = lexicon.within(coded([sentence])[0], starts, ends - starts)
    texts = [" ".join(sentence[a:b]) for a, b in spans]
    change = str.lower if normalise else str
    expected = [
        tuple(sorted(label for label, ps in phrases.items() if change(text) in map(change, ps))) for text in texts
    ]
    assert [found.types[i] for i in found.ids] == ["|".join(labels) or "O" for labels in expected]
    assert lexicon.phrase_labels(texts) == expected
    assert lexicon.contains(texts).tolist() == [bool(labels) for labels in expected]


@settings(deadline=None, max_examples=50)
@given(LEXICON, SENTENCES)
def test_a_lexicon_comes_back_from_its_arrays(phrases: dict[str, list[str]], sentences: list[list[str]]) -> None:
    lexicon = Lexicon.of(phrases)
    back = Lexicon.restore(lexicon.settings(), lexicon.arrays())
    words, offsets = coded(sentences)
    assert back.column(words, offsets).types == lexicon.column(words, offsets).types
    assert np.array_equal(back.column(words, offsets).ids, lexicon.column(words, offsets).ids)


def test_a_lexicon_goes_through_a_model_file(tmp_path: Path) -> None:
    lexicon = Lexicon.of({"city": ["San José", "Lima"]})
    save_model(tmp_path / "m", {"kind": "test", "settings": lexicon.settings()}, lexicon.arrays())
    header, arrays = load_model(tmp_path / "m")
    back = Lexicon.restore(header["settings"], arrays)
    assert tagged(back, "in SAN JOSÉ") == ["O", "B-city", "E-city"]


@pytest.mark.parametrize("name", ["keys", "label_set", "set_start", "set_labels"])
def test_arrays_that_do_not_fit_are_refused(name: str) -> None:
    lexicon = Lexicon.of({"a": ["x y", "y"], "b": ["y"]})
    arrays = lexicon.arrays()
    for wrong in (arrays[name][:-1], arrays[name][::-1].copy(), arrays[name] + arrays[name].dtype.type(5)):
        if name == "keys" and len(wrong) == len(arrays[name]) and np.all(wrong[1:] > wrong[:-1]):
            continue  # other keys are another lexicon
        if name in ("label_set", "set_labels") and sorted(wrong) == sorted(arrays[name]):
            continue  # and so are other labels
        with pytest.raises(ValueError, match="do not fit"):
            Lexicon.restore(lexicon.settings(), {**arrays, name: wrong})


def test_no_match_crosses_a_sentence_and_empty_ones_do_no_harm() -> None:
    lexicon = Lexicon.of({"city": ["New York"]})
    assert tagged(lexicon, "", "in New", "York", "", "New York", "") == ["O", "O", "O", "B-city", "E-city"]
    assert tagged(lexicon) == []


def test_labels_overlap_freely_and_are_sorted() -> None:
    lexicon = Lexicon.of({"team": ["New York City"], "city": ["New York", "York City"]})
    assert tagged(lexicon, "New York City") == ["B-city|B-team", "E-city|I-team", "E-team"]


def test_a_phrase_is_found_in_either_tokenisation() -> None:
    lexicon = Lexicon.of({"country": ["Guinea-Bissau"]})
    assert tagged(lexicon, "Guinea-Bissau") == ["S-country"]
    assert tagged(lexicon, "Guinea - Bissau") == ["B-country", "I-country", "E-country"]
    assert lexicon.phrases == 1


def test_capitals_do_not_change_how_a_phrase_is_tokenised() -> None:
    lexicon = Lexicon.of({"city": ["St. Louis", "ST. PAUL"], "state": ["U.S. Virgin Islands"]})
    assert tagged(lexicon, "st. louis", "St. Paul") == ["B-city", "E-city"] * 2
    assert tagged(lexicon, "the U.S. Virgin Islands") == ["O", "B-state", "I-state", "E-state"]


def test_exact_matching_keeps_case() -> None:
    lexicon = Lexicon.of({"state": ["OR", "Ind."]}, normalise=False)
    assert tagged(lexicon, "OR or Or Ind.") == ["S-state", "O", "O", "S-state"]


def test_characters() -> None:
    lexicon = Lexicon.of({"org": ["北京 大学", "ＡＢ公司"]}, unit="char")
    column = lexicon.column(*coded([list("在北京大学"), list("AB公司")]))
    values = [column.types[i] for i in column.ids]
    assert values == ["O", "B-org", "I-org", "I-org", "E-org", "B-org", "I-org", "I-org", "E-org"]


@pytest.mark.parametrize(
    ("one", "other"), [("STRASSE", "Straße"), ("ＡＢＣ１", "abc1"), ("O’Neil", "o'neil"), ("a–b", "A-B"), ("ﬁn", "FIN")]
)
def test_normal_form(one: str, other: str) -> None:
    assert normal_form(one) == normal_form(other)


def test_reading_counts_what_is_wrong(tmp_path: Path) -> None:
    path = tmp_path / "city.txt.gz"
    lines = ["\ufeff# of cities", "Lima", "LIMA ", "", "Lyon\ttown", "Rome\ta|b\tmore", "x " * 51, "Lima\ttown"]
    path.write_bytes(gzip.compress("\r\n".join(lines).encode()))
    report = ReadReport()
    lexicon = Lexicon.read(path, report=report)
    assert lexicon.report is report
    assert lexicon.labels == ["a/b", "city", "town"]
    assert lexicon.phrase_labels(["Lima", "lyon", "Rome", "x", "# of cities"]) == [
        ("city", "town"), ("town",), ("a/b",), (), (),
    ]  # fmt: skip
    assert lexicon.phrases == 4
    assert {message.split(",")[0]: count for message, count in report.counts.items()} == {
        "line that begins with '# '": 1,
        "entry that was there before": 1,
        "empty entry": 1,
        "columns after the label": 1,
        "label with '|'": 1,
        "entry of over 50 tokens": 1,
    }
    assert report.first["empty entry, left out"].endswith("city.txt.gz:4")


def test_a_hash_tag_is_an_entry_and_50_tokens_are_few_enough(tmp_path: Path) -> None:
    path = tmp_path / "list.txt"
    path.write_text("#MeToo\n" + " ".join(["x"] * 50) + "\n")
    lexicon = Lexicon.read({"tag": path})
    assert not lexicon.report
    assert lexicon.longest == 50
    assert tagged(lexicon, "#metoo", " ".join(["x"] * 51))[:3] == ["S-tag", "B-tag", "I-tag"]


def test_without_a_report_there_are_warnings(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Lima\nLima\n")
    with pytest.warns(ReadWarning, match="there before"):
        Lexicon.read([tmp_path / "a.txt"])


def test_errors_say_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        Lexicon.read(tmp_path / "absent.txt")
    (tmp_path / "empty.txt").write_text("\n")
    with pytest.raises(DovetailError, match=r"empty\.txt: a list without a phrase"):
        Lexicon.read(tmp_path / "empty.txt", report=ReadReport())
    with pytest.raises(DovetailError, match="'word' or 'char'"):
        Lexicon.of({"a": ["b"]}, unit="letter")  # type: ignore[arg-type]


def test_no_phrases_are_in_no_lexicon() -> None:
    assert Lexicon.of({"city": ["Paris"]}).contains([]).dtype == np.bool_
