from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dovetail.text.segment import annotate, segment
from dovetail.text.sentence import Span
from dovetail.text.spans import CharacterSpan


def cut(text: str, **options) -> list[str]:
    return [" ".join(s.words) for s in segment(text, **options)]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("One. Two! Three? four", ["One .", "Two !", "Three ?", "four"]),
        ("i like it. it is good", ["i like it .", "it is good"]),
        ("Mr. Smith met Dr. J. R. Wu. He left.", ["Mr. Smith met Dr. J. R. Wu .", "He left ."]),
        ("It cost $3.50 in the U.S. last year.", ["It cost $ 3.50 in the U.S. last year ."]),
        ("We met at 5 p.m. The end.", ["We met at 5 p.m .", "The end ."]),
        ("Apples, pears, etc.", ["Apples , pears , etc ."]),
        ('"Why?" he asked. "No!" She left.', ['" Why ? " he asked .', '" No ! "', "She left ."]),
        ("(It rained.) We left.", ["( It rained . )", "We left ."]),
        ("Well... maybe. Well... Maybe.", ["Well ... maybe .", "Well ...", "Maybe ."]),
        ("1. First thing. 2. Second.", ["1 . First thing .", "2 . Second ."]),
        ("It rained in 1999. Then it stopped.", ["It rained in 1999 .", "Then it stopped ."]),
        ("1999. Then it stopped.", ["1999 .", "Then it stopped ."]),
        ("199. Then it stopped.", ["199 . Then it stopped ."]),
        ("Great! :) Thanks", ["Great ! :)", "Thanks"]),
        ("the end.Next one", ["the end .", "Next one"]),
        ("Visit example.com. Then go", ["Visit example.com .", "Then go"]),
        ("A line\nthat ends\n\nA heading\n\nMore", ["A line", "that ends", "A heading", "More"]),
        ("Items:\n- one\n- two\n* three\n1) four", ["Items :", "- one", "- two", "* three", "1 ) four"]),
        ("Title\n=====\nText", ["Title", "=====", "Text"]),
        ("From: me\nDate: today\nhello\nthere", ["From : me", "Date : today", "hello", "there"]),
        ("你好。他说：“好！”走了？是", ["你 好 。", "他 说 ： “ 好 ！ ”", "走 了 ？", "是"]),
        ("नमस्ते। ठीक है।", ["नमस्ते ।", "ठीक है ।"]),
        ("", []),
        (" \n\n ", []),
    ],
)
def test_sentences(text, sentences):
    assert cut(text) == sentences


@pytest.mark.parametrize("text", ["At 5 p.m.", "5 p.m. The U.S.", "(in the U.S.)", "x Bros.\n\nThe U.S. (etc.)"])
def test_a_split_period_has_its_own_character(text):
    for sentence in segment(text, offset=3):
        assert [text[a - 3 : b - 3] for a, b in sentence.offsets] == list(sentence.words)
        assert "." in sentence.words
        assert sentence.raw == text[sentence.offsets[0][0] - 3 : sentence.offsets[-1][1] - 3]


def test_only_blank_lines_end_sentences_if_told_so():
    text = "A line\nthat goes on\n\nA heading\n\nMore"
    assert cut(text, lines="paragraphs") == ["A line that goes on", "A heading", "More"]
    text = "From: me\nDate: today\nhello\nthere"
    assert cut(text, lines="paragraphs") == ["From : me", "Date : today hello there"]


def test_a_line_is_a_sentence_if_told_so():
    assert cut("One. Two\n\nU.S.\n", lines="sentences") == ["One . Two", "U.S ."]
    assert cut("a,b c.\nd", lines="sentences", words="spaces") == ["a,b c.", "d"]


@given(st.text(st.sampled_from(list("aB1.!?…\"') (\n日。-\f"))), st.sampled_from(["auto", "paragraphs", "sentences"]))
def test_nothing_but_white_space_is_lost(text, lines):
    sentences = segment(text, lines, offset=7)
    assert "".join(w for s in sentences for w in s.words) == "".join(text.split())
    assert all(text[a - 7 : b - 7] == w for s in sentences for w, (a, b) in zip(s.words, s.offsets, strict=True))
    assert all(s.words for s in sentences)


@given(st.lists(st.sampled_from(["A b.", "Why?", "x\n", "Dr.", "\n\n", "etc."]), max_size=8))
def test_blank_lines_always_part_sentences(parts):
    text = " ".join(parts)
    for sentence in segment(text):
        inside = text[sentence.offsets[0][0] : sentence.offsets[-1][1]]
        assert "\n\n" not in inside


def test_an_entity_splits_words_and_joins_sentences():
    (sentence,) = annotate("See Yahoo! Inc. The-end", [CharacterSpan(4, 19, "ORG", 0.5), CharacterSpan(4, 6, "X")])
    assert sentence.words == ("See", "Ya", "hoo", "!", "Inc.", "The", "-", "end")
    assert sentence.spans == (Span(1, 6, "ORG", 0.5), Span(1, 2, "X"))
    assert sentence.layers["ner"][:3] == ("O", "B-ORG", "I-ORG")
