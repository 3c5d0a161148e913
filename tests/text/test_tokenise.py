from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dovetail.text.tokenise import split_spaces, tokenise

MIXED = st.text(st.one_of(st.characters(), st.sampled_from(list("aZ1.,-'’@/:&$%#!?()…\n\t 日ก\u0301\u200d😀_+=*"))))


@given(MIXED, st.sampled_from(["characters", "runs"]))
def test_every_character_but_white_space_is_in_one_word(text, unspaced):
    words, offsets = tokenise(text, unspaced)
    assert [text[start:end] for start, end in offsets] == words
    assert all(a[1] <= b[0] for a, b in zip(offsets, offsets[1:], strict=False))  # noqa: RUF007
    assert "".join(words) == "".join(text.split())
    assert all(words)


@given(MIXED)
def test_words_that_are_parted_already(text):
    words, offsets = split_spaces(text)
    assert words == text.split()
    assert [text[start:end] for start, end in offsets] == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('He said, "Go!" (now).', 'He said , " Go ! " ( now ) .'),
        (
            "I can't, don’t, won't, it's, we've, they'd, I'm",
            "I ca n't , do n’t , wo n't , it 's , we 've , they 'd , I 'm",
        ),
        ("DON'T! cannot gonna dont", "DO N'T ! can not gon na do nt"),
        ("the boys' toys; O'Neil's rock'n'roll", "the boys ' toys ; O'Neil 's rock'n'roll"),
        ("the 1960's, '60s and '72", "the 1960's , '60s and '72"),
        ("Mr. Smith vs. Dr. J. R. Who, Jr., Inc.", "Mr. Smith vs. Dr. J. R. Who , Jr. , Inc."),
        (
            "the U.S. and U.S.A today, e.g. a.m. i.e., Ph.D.",
            "the U.S. and U.S.A today , e.g. a.m. i.e. , Ph.D.",
        ),
        ("No. 5 is fine. No. Really.", "No. 5 is fine . No . Really ."),
        ("Me and I. Then", "Me and I . Then"),
        ("$1,234.56 US$5 5% £3 3.5% .04 +44", "$ 1,234.56 US$ 5 5 % £ 3 3.5 % .04 +44"),
        ("10am 5p.m. 65k 20th 1970s 4G 10:30 08:27:46", "10 am 5 p.m. 65 k 20th 1970s 4G 10:30 08:27:46"),
        (
            "1996-08-22 9/11 11/28/2000 29-Nov-94 1/2 24/7",
            "1996-08-22 9/11 11/28/2000 29-Nov-94 1 / 2 24 / 7",
        ),
        ("713-853-3989 345-9945 1969-1970", "713-853-3989 345-9945 1969 - 1970"),
        ("a 14-year-old co-worker's e-mail", "a 14 - year - old co-worker 's e-mail"),
        (
            "non-profit anti-American self-made career-wise",
            "non-profit anti-American self - made career-wise",
        ),
        ("and/or he/she w/o", "and / or he / she w/o"),
        ("See http://a.org/b?c=(1). Or www.x.com, ok", "See http://a.org/b?c=(1 ) . Or www.x.com , ok"),
        (
            "mail joe.x@mail.example.com. file.doc comp.lang.c",
            "mail joe.x@mail.example.com . file.doc comp.lang.c",
        ),
        ("@you #tag #1 &amp; AT&T R & D", "@you #tag # 1 &amp; AT&T R & D"),
        ("so :) and :-( <3 ;)", "so :) and :-( <3 ;)"),
        ("wait... what?!! no.... -- *** ==", "wait ... what ?!! no .... -- *** =="),
        ("end.Next one", "end . Next one"),
        ("👍🏽 👨‍👩‍👧 🇩🇪🇫🇷 ok❤️", "👍🏽 👨‍👩‍👧 🇩🇪 🇫🇷 ok ❤️"),
        ("日本語とPython3です。", "日 本 語 と Python3 で す 。"),
        ("हिन्दी में नमस्ते।", "हिन्दी में नमस्ते ।"),
        ("Это т.е. тест, да?", "Это т.е. тест , да ?"),
        ("naïve café cafe\u0301s", "naïve café cafe\u0301s"),
        ("", ""),
        (" \n ", ""),
    ],
)
def test_words(text, words):
    assert tokenise(text).words == words.split()


def test_runs_of_scripts_without_spaces():
    assert tokenise("東京タワーへ行くABC ภาษาไทย", "runs").words == ["東京タワーへ行く", "ABC", "ภาษาไทย"]


@pytest.mark.parametrize(
    "unit",
    [
        "a-",
        "a.",
        "1.",
        "www.",
        "a@",
        "ab-ab.",
        "é'",
        "#a",
        "A&",
        "(:",
        "1/1/",
        "mailto:",
        "😀\u200d",
        "-#",
        "1",
    ],
)
def test_no_input_takes_quadratic_time(unit):
    started = time.process_time()
    tokenise(unit * 30_000)
    assert time.process_time() - started < 6  # a second pass over the rest for every word would take minutes


def test_a_word_of_ten_kilobytes():
    word = "x" * 10_000
    assert tokenise(f"a {word}, b").words == ["a", word, ",", "b"]
