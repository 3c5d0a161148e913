"""Python functions as templates, under every optimiser."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from dovetail import NestedTagger, Segmenter, Sentence, Tagger
from dovetail.errors import DovetailError
from dovetail.features.algebra.templates import Call, call, word
from tests.models.kinds import KINDS


def many(word: str) -> bool:
    return sum(letter in "aeiou" for letter in word) > 3


def vowels(sentence: Any) -> list[list[str]]:
    """Nothing else in the text says what the tag is."""
    return [["many"] if many(w) else [] for w in sentence.words]


def made(count: int, seed: int) -> list[Sentence]:
    rng = random.Random(seed)
    words = [["".join(rng.choices("abcdefghi", k=9)) for _ in range(4)] for _ in range(count)]
    tags = [tuple("MANY" if many(w) else "FEW" for w in some) for some in words]
    return [Sentence(tuple(some), {"pos": own}) for some, own in zip(words, tags, strict=True)]


TRAIN, OTHERS = made(60, 1), made(30, 2)


@pytest.mark.parametrize("optimiser", ["lbfgs", "sgd", "adagrad", "adam", "perceptron"])
def test_a_function_is_what_the_tags_are_learnt_from(optimiser: str) -> None:
    how = {"target": "pos", "optimiser": optimiser, "iterations": 30, "l2": 0.01, "gain": 0.05}
    assert Tagger(features=[call(vowels), "bias"], **how).fit(TRAIN).score(OTHERS) > 95.0
    assert Tagger(features=["word[0]", "bias"], **how).fit(TRAIN).score(OTHERS) < 75.0


def test_a_function_is_joined_and_placed_by_nobody() -> None:
    for wrong in (lambda: call(vowels) & word[0], lambda: word[0] & call(vowels), lambda: word[0] & "shape"):
        with pytest.raises(DovetailError, match=r"each side of & must be at one position, like word\[-1\]"):
            wrong()
    with pytest.raises(DovetailError, match=r"call\(vowels\)\[-1\]: call\(vowels\) has no positions"):
        call(vowels)[-1]
    with pytest.raises(DovetailError, match="features: not a template: 5"):
        Tagger(features=[5], target="pos").fit(TRAIN)


@pytest.mark.parametrize("name", ["segments", "nested"])
def test_spans_have_no_functions(name: str) -> None:
    kind = KINDS[name]
    model = {
        "segments": Segmenter(target="ner", features=[call(vowels)]),
        "nested": NestedTagger(features=[call(vowels)]),
    }
    with pytest.raises(
        DovetailError, match=r"template 'call\(vowels\)' is of the part node, not one of .*; it is for taggers alone"
    ):
        model[name].fit(kind.sentences)


@pytest.mark.parametrize(
    ("gives", "said"),
    [
        (None, "the function gave features for None"),
        (7, "the function gave features for 7"),
        ([["x"]], "the function gave features for 1"),
        ([None, None], "gives a list of features a word, not None"),
        (["ab", "cd"], "gives a list of features a word, not 'ab'"),
        ([[1], [2]], r"gives strings, or a number for each of them, not \[1\]"),
        ([{"x": "y"}, {}], "gives strings, or a number for each of them, not {'x': 'y'}"),
        ([{"x": np.nan}, {}], "feature 'x' is nan"),
    ],
)
def test_a_function_that_gives_something_else_is_refused(gives: Any, said: str) -> None:
    with pytest.raises(DovetailError, match=said):
        Tagger(features=[call(lambda sentence: gives, "own")]).fit([["a", "b"]], [["X", "Y"]])


def test_numbers_of_any_kind_and_several_functions() -> None:
    def numbers(sentence: Any) -> Any:
        return [{"x": np.float32(0.5), "y": True, "z": 2} for _ in sentence.words]

    Tagger(features=[call(numbers), vowels, "bias"], target="pos", iterations=2).fit(TRAIN)
    with pytest.raises(DovetailError, match="two functions with the name 'vowels'"):
        Tagger(features=[vowels, Call(numbers, "vowels")], target="pos").fit(TRAIN)
