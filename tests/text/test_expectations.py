"""Expectations as files."""

from __future__ import annotations

import io

import pytest

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
