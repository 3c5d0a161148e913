"""Expectations as files."""

from __future__ import annotations

import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dovetail import DovetailError, InputError
from dovetail.text.expectations import Expectation, read_expectations, write_expectations


def test_there_and_back(tmp_path):
    items = [Expectation.of(["Ada", "ran"], [(0, "PER", 0.9), (1, "O", 1.0, 0.25)]), Expectation.of([], [])]
    write_expectations(items, tmp_path / "a.jsonl.gz")
    again = list(read_expectations(tmp_path / "a.jsonl.gz"))
    assert [one.words for one in again] == [("Ada", "ran"), ()]
    assert [one.label for one in again] == [("PER", "O"), ()]
    assert again[0].weight.tolist() == [1.0, 0.25]
    assert again[0].probability.tolist() == [0.9, 1.0]


@st.composite
def expectations(draw):
    words = draw(st.lists(st.text(min_size=1, max_size=4), max_size=4))
    label, share = st.text(min_size=1, max_size=3), st.floats(0, 1)
    known = [at for at in range(len(words)) if draw(st.booleans())]
    return Expectation.of(words, [(at, draw(label), draw(share), draw(share)) for at in known])


@settings(max_examples=30, deadline=None)
@given(st.lists(expectations(), max_size=3))
def test_any_expectations_are_read_as_they_were_written(items):
    out = io.StringIO()
    write_expectations(items, out)
    read = list(read_expectations(io.StringIO(out.getvalue())))
    for item, original in zip(read, items, strict=True):
        assert (item.words, item.label) == (original.words, original.label)
        assert item.position.tolist() == original.position.tolist()
        for column in ("probability", "weight"):  # to four digits
            assert getattr(item, column).tolist() == [round(x, 4) for x in getattr(original, column).tolist()]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('{"words": ["a"]}', "no 'expected'"),
        ('{"words": ["a", 1], "expected": []}', "no 'words'"),
        ('{"words": ["a"], "expected": [[1, "O", 1]]}', "position 1 .* has words 0 to 0"),
        ('{"words": ["a"], "expected": [[0, "O", 2]]}', "the probability 2"),
        ('{"words": ["a"], "expected": [[0, "O", 1, -1]]}', "the weight -1"),
        ('{"words": ["a"], "expected": [[0, 3, 1]]}', "the label of an expectation is 3"),
        ('{"words": ["a"], "expected": [[0, "O"]]}', "an expectation is .position, label"),
        ('{"words": ["a"], "expected": [[true, "O", 1]]}', "position True"),
    ],
)
def test_what_is_wrong_has_its_line(line, told):
    good = '{"words": ["a"], "expected": [[0, "O", 1]]}\n'
    with pytest.raises(InputError, match=told) as error:
        list(read_expectations(io.StringIO(good + line + "\n")))
    assert error.value.line == 2


def test_entries_are_checked():
    with pytest.raises(DovetailError, match="the sentence has words 0 to 1"):
        Expectation.of(["a", "b"], [(2, "O", 1.0)])
