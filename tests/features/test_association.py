"""Association is what the counts, taken one by one, say it is."""

from __future__ import annotations

import gzip
import io
import math
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dovetail.columns import Column
from dovetail.errors import DovetailError, InputError, ModelFileError
from dovetail.features.resources import association_count
from dovetail.features.resources.association import HOWS, Association

LINES = st.lists(st.text("abcd", max_size=9), min_size=1, max_size=12).filter(lambda ls: any(len(x) > 1 for x in ls))
SENTENCES = st.lists(st.text("abcde", max_size=8), max_size=5)


class Twin:
    """Counts in dictionaries, and the equations as they are written."""

    def __init__(self, lines: list[str], longest: int) -> None:
        self.lines = lines
        self.longest = longest
        self.units = set("".join(lines))
        self.grams = {
            n: Counter(x[i : i + n] for x in lines for i in range(len(x) - n + 1)) for n in range(2, longest + 1)
        }

    def log_p(self, gram: str) -> float:
        counts = self.grams[len(gram)]
        return math.log((counts[gram] + 1) / max(counts.total() + len(counts), 1))

    def log_p_edge(self, unit: str, side: int) -> float:
        seen = sum(count for pair, count in self.grams[2].items() if pair[side] == unit)
        return math.log((seen + 1) / (self.grams[2].total() + len(self.units)))

    def mi(self, gram: str) -> float:
        if not set(gram) <= self.units:
            return self.moments(len(gram))[0]
        divisions = []
        for k in range(1, len(gram)):
            left = self.log_p_edge(gram[0], 0) if k == 1 else self.log_p(gram[:k])
            right = self.log_p_edge(gram[-1], 1) if k == len(gram) - 1 else self.log_p(gram[k:])
            divisions.append(left + right)
        value = self.log_p(gram) - max(divisions)
        return value if self.grams[len(gram)][gram] else min(value, self.moments(len(gram))[0])

    def moments(self, length: int) -> tuple[float, float, float, float]:
        values = [self.mi(gram) for gram in self.grams[length]] or [0.0]
        return float(np.mean(values)), float(np.std(values)), min(values), max(values)


def count(lines: list[str], **options: object) -> Association:
    return Association.count([io.StringIO("\n".join(lines))], **{"unit": "char", **options})  # type: ignore[arg-type]


def coded(sentences: list[str]) -> tuple[Column, np.ndarray]:
    offsets = np.cumsum([0, *map(len, sentences)]).astype(np.int64)
    return Column.encode("".join(sentences)), offsets


@settings(deadline=None, max_examples=150)
@given(LINES, SENTENCES)
def test_between_is_the_equation(lines: list[str], sentences: list[str]) -> None:
    twin = Twin(lines, 2)
    expected = [0.0 if i == 0 else twin.mi(s[i - 1 : i + 1]) for s in sentences for i in range(len(s))]
    association = count(lines)
    np.testing.assert_allclose(association.between(*coded(sentences)), expected, atol=1e-9)
    np.testing.assert_allclose(association.moments[2], twin.moments(2), atol=1e-9)
    column = association.column(*coded(sentences))
    assert column.numbers is not None
    assert len(column.numbers) == len(column.types)
    np.testing.assert_allclose(column.numbers[column.ids], expected, atol=1e-9)


@settings(deadline=None, max_examples=100)
@given(LINES, st.text("abcde", min_size=1, max_size=8), st.integers(2, 4))
@example(["aa"], "aaaaa", 4)
def test_within_is_the_equation(lines: list[str], text: str, longest: int) -> None:
    twin, association = Twin(lines, longest), count(lines, longest=longest)
    spans = [(a, b) for a in range(len(text)) for b in range(a + 1, len(text) + 1)]
    starts, ends = np.array(spans, dtype=np.int64).T
    found = association.within(coded([text])[0], starts, ends - starts)
    for (a, b), value in zip(spans, found, strict=True):
        size = min(b - a, longest)
        parts = [twin.mi(text[i : i + size]) for i in range(a, b - size + 1)] if size > 1 else [0.0]
        assert value == pytest.approx(min(parts), abs=1e-9)
    for length in range(2, longest + 1):
        np.testing.assert_allclose(association.moments[length], twin.moments(length), atol=1e-9)


@settings(deadline=None, max_examples=100)
@given(LINES, SENTENCES, st.sampled_from(HOWS))
def test_transformations(lines: list[str], sentences: list[str], how: str) -> None:
    association = count(lines)
    words, offsets = coded(sentences)
    raw = association.between(words, offsets)
    found = association.transform(how, low=-3.0, high=2.0, factor=7.0).between(words, offsets)  # type: ignore[arg-type]
    mean, deviation, least, greatest = association.moments[2]
    inner = np.ones(len(raw), bool)
    inner[[o for o in offsets[:-1] if o < len(raw)]] = False
    x = raw[inner]
    expected = {
        "raw": x,
        "z-score": (x - mean) / (deviation or 1.0),
        "threshold": np.where(x < mean, -3.0, 2.0),
        "multiply": 7.0 * x,
        "scale": -3.0 + 5.0 * np.clip((x - least) / ((greatest - least) or 1.0), 0, 1),
    }[how]
    np.testing.assert_allclose(found[inner], expected, atol=1e-9)
    assert np.all(found[~inner] == 0.0)


def test_the_observed_pairs_fill_the_scale_and_have_unit_deviation() -> None:
    lines = ["abcabcabd", "bdacca"]
    association = count(lines)
    pairs = sorted({x[i : i + 2] for x in lines for i in range(len(x) - 1)})
    words, offsets = coded(pairs)
    scaled = association.transform("scale").between(words, offsets)[1::2]
    assert (scaled.min(), scaled.max()) == (0.0, 1.0)
    scores = association.transform("z-score").between(words, offsets)[1::2]
    assert scores.mean() == pytest.approx(0.0, abs=1e-12)
    assert scores.std() == pytest.approx(1.0)


def test_a_frequent_pair_is_stronger_than_one_never_seen() -> None:
    lines = ["陕西来", "陕西人", "人来人", "来人来"] * 20
    values = count(lines).between(*coded(["陕西", "西陕", "来陕"]))
    assert values[1] > 1.0 > values[3]
    assert count(lines).transform("threshold").between(*coded(["陕西", "西陕", "来陕"])).tolist() == [0, 1, 0, 0, 0, 0]


def test_spaces_are_dropped_and_lines_part() -> None:
    plain = count(["abab", "ba"])
    spaced = Association.count([io.StringIO("a b\u3000a\tb\r\n\n b a ")], unit="char")
    assert spaced.settings() == plain.settings()
    for name, array in plain.arrays().items():
        assert np.array_equal(array, spaced.arrays()[name]), name
    assert plain.table.totals[2] == 4


def test_width_is_normalised_unless_asked_otherwise() -> None:
    words, offsets = coded(["１月", "1月"])
    one = count(["1月2月", "１月"]).between(words, offsets)
    assert one[1] == one[3]
    two = count(["1月2月", "１日"], normalise_width=False).between(words, offsets)
    assert two[1] < two[3]


def test_words() -> None:
    lines = ["New York is big", "in New York", "York is old"]
    association = Association.count([io.StringIO("\n".join(lines))], unit="word")
    twin = Twin(["nyib", "tny", "yio"], 2)
    words = Column.encode("New York is New".split())
    expected = [0.0, twin.mi("ny"), twin.mi("yi"), twin.mi("in")]
    np.testing.assert_allclose(association.between(words, np.array([0, 4])), expected)


def test_words_by_the_tokeniser() -> None:
    raw = Association.count([io.StringIO("It's big, big.\n")], unit="word", tokenised=False)
    ready = Association.count([io.StringIO("It 's big , big .\n")], unit="word")
    assert np.array_equal(raw.table.keys, ready.table.keys)


def test_several_files_and_gzip_and_many_stretches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    lines = ["".join(chr(0x4E00 + i) for i in rng.integers(90, size=40)) for _ in range(200)]
    (tmp_path / "one.txt").write_text("\n".join(lines[:90]), encoding="utf-8")
    (tmp_path / "two.txt.gz").write_bytes(gzip.compress("\n".join(lines[90:]).encode()))
    whole = count(lines, longest=3)
    monkeypatch.setattr(association_count, "STRETCH_CHARACTERS", 500)
    heard: list[int] = []
    paths = [tmp_path / "one.txt", tmp_path / "two.txt.gz"]
    parts = Association.count(paths, unit="char", longest=3, progress=heard.append)
    assert heard == sorted(heard)
    assert heard[-1] == 8000
    assert len(heard) > 10
    assert whole.table.distinct[3] > 1 << 12  # so that the tables grew on the way
    for name, array in whole.arrays().items():
        np.testing.assert_allclose(array, parts.arrays()[name], err_msg=name)


def test_minimum_takes_rare_sequences_for_unseen() -> None:
    lines = ["abab", "abcd"]
    rare, full = count(lines, minimum=2), count(lines)
    assert len(rare.table.keys) == 1
    words, offsets = coded(["ab", "cd", "ad"])
    kept, dropped, _ = rare.between(words, offsets)[1::2]
    assert kept == pytest.approx(full.between(words, offsets)[1])
    assert dropped == pytest.approx(min(full.between(words, offsets)[3] - math.log(2), rare.moments[2, 0]))


def test_saved_and_loaded(tmp_path: Path) -> None:
    association = count(["abcabd", "badc"], longest=3).transform("z-score")
    association.save(tmp_path / "mi.dovetail")
    back = Association.read(tmp_path / "mi.dovetail")
    words, offsets = coded(["abcd", "dab"])
    assert np.array_equal(back.between(words, offsets), association.between(words, offsets))
    assert back.settings() == association.settings()
    with pytest.raises(ModelFileError, match="no such file"):
        Association.read(tmp_path / "absent")


@pytest.mark.parametrize("name", ["unit_keys", "left", "keys", "counts", "totals", "moments"])
def test_arrays_that_do_not_fit_are_refused(name: str) -> None:
    association = count(["abcabd"])
    arrays = association.arrays()
    with pytest.raises(ValueError, match="do not fit"):
        Association.restore(association.settings(), {**arrays, name: arrays[name][:-1]})


def test_text_of_one_token_and_of_none() -> None:
    association = count(["abab"], longest=3)
    assert association.between(*coded([])).tolist() == []
    assert association.between(*coded(["a"])).tolist() == [0.0]
    assert association.within(coded(["a"])[0], np.array([0]), np.array([1])).tolist() == [0.0]


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("", {}, "<stream>: no line of this text has two characters"),
        ("a\nb", {}, "no line of this text has two"),
        ("ab", {"unit": "byte"}, "'char' or 'word'"),
        ("ab", {"longest": 1}, "give 2 to 8"),
    ],
)
def test_errors_say_what_to_do(text: str, options: dict[str, object], message: str) -> None:
    with pytest.raises(DovetailError, match=message):
        count([text], **options)


def test_more_errors(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        Association.count([tmp_path / "absent.txt"], unit="char")
    with pytest.raises(DovetailError, match="give one of raw"):
        count(["abab"]).transform("log")  # type: ignore[arg-type]


def test_settings_of_another_table_are_refused(tmp_path: Path) -> None:
    from dovetail.modelfile import load_model, save_model

    Association.count([io.StringIO("ab\nba")], unit="char").save(tmp_path / "a")
    header, arrays = load_model(tmp_path / "a")
    save_model(tmp_path / "b", {"kind": "association", "settings": {**header["settings"], "how": 3}}, arrays)
    with pytest.raises(ModelFileError, match="the table does not fit together"):
        Association.read(tmp_path / "b")


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("right", lambda a: np.append(a, a[:1])),
        ("totals", lambda a: -a),
        ("unit_keys", lambda a: a[::-1]),
        ("keys", lambda a: a[::-1]),
        ("moments", lambda a: a[:, :3]),
    ],
)
def test_arrays_out_of_order_or_too_long_are_refused(name: str, change: Callable[[Any], Any]) -> None:
    known = count(["abcab", "bcabd"], longest=2)
    with pytest.raises(ValueError, match=r"do(es)? not fit"):
        Association.restore(known.settings(), known.arrays() | {name: change(known.arrays()[name])})
    assert Association.restore(known.settings(), known.arrays()).settings() == known.settings()
