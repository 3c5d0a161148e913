"""Frames of sentences, and in JSON lines."""

from __future__ import annotations

import io
import json
import pickle

import pytest

from dovetail.errors import DovetailError, InputError
from dovetail.text.frames import Frame
from dovetail.text.jsonl import read_jsonl, write_jsonl
from dovetail.text.report import ReadReport
from dovetail.text.sentence import Sentence, Span
from dovetail.text.words import recut

WORDS = ["Ada", "sold", "two", "boats"]


def read_one(report=None, **fields) -> Sentence:
    source = io.StringIO(json.dumps({"words": WORDS, **fields}))
    (document,) = read_jsonl(source, report=ReadReport() if report is None else report)
    (sentence,) = document
    return sentence


def written(sentence: Sentence) -> dict[str, object]:
    out = io.StringIO()
    write_jsonl([sentence], out)
    return json.loads(out.getvalue())


def test_frames_are_in_the_order_of_their_words_and_know_their_text():
    frames = [Frame(3), Frame(1, "sell.01", "sell", [(2, 4, "ARG1"), (0, 1, "ARG0")])]
    sentence = Sentence(WORDS, frames=frames)
    assert [frame.predicate for frame in sentence.frames] == [1, 3]
    assert [span.text for span in sentence.frames[0].arguments] == ["Ada", "two boats"]
    assert pickle.loads(pickle.dumps(sentence)) == sentence
    assert hash(sentence) == hash(Sentence(WORDS, frames=frames))
    assert sentence != Sentence(WORDS, frames=())
    assert recut(sentence, [*WORDS[:3], "boat", "s"]).frames is None


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Frame(-1), "a predicate at -1: give the position"),
        (lambda: Frame("1"), "a predicate at '1'"),
        (lambda: Frame(1, arguments=[(0, 1)]), "give a span as"),
        (lambda: Sentence(WORDS, frames=[(1, "sell.01")]), "give frames as Frame"),
        (lambda: Sentence(WORDS, frames=[Frame(4)]), "a predicate at 4 is outside 4 words"),
        (
            lambda: Sentence(WORDS, frames=[Frame(1, arguments=[(3, 5, "A")])]),
            "the argument from 3 to 5 of predicate 1",
        ),
        (lambda: Sentence(WORDS, frames=[Frame(1), Frame(1, "b")]), "two frames of the predicate at 1"),
    ],
)
def test_what_does_not_fit_is_refused(make, message):
    with pytest.raises((DovetailError, ValueError), match=message):
        make()


def test_json_lines_keep_everything():
    frame = Frame(1, "sell.01", "sell", (Span(0, 1, "ARG0", 0.9), Span(2, 4, "C-ARG1")), 0.75)
    sentence = Sentence(WORDS, frames=(frame, Frame(3)))
    fields = written(sentence)
    assert fields["frames"] == [
        {
            "predicate": 1, "sense": "sell.01", "lemma": "sell", "probability": 0.75,
            "arguments": [[0, 1, "ARG0", 0.9], [2, 4, "C-ARG1"]],
        },
        {"predicate": 3, "arguments": []},
    ]  # fmt: skip
    assert read_one(**fields) == sentence
    assert read_one().frames is None
    assert "frames" not in written(read_one())
    assert read_one(frames=[]).frames == ()
    assert written(read_one(frames=[]))["frames"] == []


def test_arguments_that_overlap_are_kept_and_counted():
    report = ReadReport()
    given = {"predicate": 1, "arguments": [[0, 3, "ARG0"], [2, 4, "ARG1"]], "tense": "past"}
    assert len(read_one(report, frames=[given]).frames[0].arguments) == 2
    assert "frame whose arguments overlap, kept as it is" in str(report)
    assert "field of a frame that is not known, left out" in str(report)


@pytest.mark.parametrize(
    ("frames", "message"),
    [
        ("x", '"frames" is a string, expected an array of objects'),
        ([1], '1 in "frames" is not an object'),
        ([{"sense": "a"}], "is not an object with a whole number"),
        ([{"predicate": True}], "is not an object with a whole number"),
        ([{"predicate": 4}], 'a predicate at 4 in "frames" is outside 4 words'),
        ([{"predicate": 1, "sense": 3}], '"sense" of a frame is a number'),
        ([{"predicate": 1, "arguments": 3}], '"arguments" of a frame is a number'),
        ([{"predicate": 1, "probability": 3}], "probability that is not from 0 to 1"),
        ([{"predicate": 1, "arguments": [[2, 2, "A"]]}], 'in "frames" is empty or outside 4 words'),
        ([{"predicate": 1, "arguments": [[2, 3]]}], r'\[2, 3\] in "frames" is not'),
        ([{"predicate": 1}, {"predicate": 1}], '"frames": two frames of the predicate at 1'),
    ],
)
def test_errors_name_the_line(frames, message):
    with pytest.raises(InputError, match=f"<stream>:1: .*{message}"):
        read_one(frames=frames)
