"""The gold and the predicted side of a corpus, sentence by sentence; what does not match is refused."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Sized
from typing import TypeVar

from dovetail.errors import InputError

S = TypeVar("S", bound=Sized)


def paired_sentences(gold: Sequence[S], predicted: Sequence[S]) -> Iterator[tuple[int, S, S]]:
    """Each sentence's number, counted from 1, with its gold and its predicted side.

    >>> list(paired_sentences([["O"]], [["B-PER"]]))
    [(1, ['O'], ['B-PER'])]
    """
    if len(gold) != len(predicted):
        raise InputError(f"{len(gold)} gold sentences but {len(predicted)} predicted; both must be the same text")
    for number, (gold_sentence, predicted_sentence) in enumerate(zip(gold, predicted, strict=True), 1):
        if isinstance(gold_sentence, str) or isinstance(predicted_sentence, str):
            raise InputError(f"sentence {number} is a string: give a list of sentences, each a list of tags")
        yield number, gold_sentence, predicted_sentence


def paired_tags(gold: Sequence[S], predicted: Sequence[S]) -> Iterator[tuple[S, S]]:
    """The gold and the predicted tags of each sentence, one each for every token.

    >>> list(paired_tags([["O"]], [["B-PER", "I-PER"]]))
    Traceback (most recent call last):
    dovetail.errors.InputError: sentence 1: 1 gold tags but 2 predicted; each token needs one on both sides
    """
    for number, gold_tags, predicted_tags in paired_sentences(gold, predicted):
        if len(gold_tags) != len(predicted_tags):
            raise InputError(
                f"sentence {number}: {len(gold_tags)} gold tags but {len(predicted_tags)} predicted; "
                "each token needs one on both sides"
            )
        yield gold_tags, predicted_tags
