from __future__ import annotations

import io
import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dovetail.text import line_ends, plain
from dovetail.text.plain import read_text
from dovetail.text.segment import annotate, segment
from dovetail.text.spans import CharacterSpan

SENTENCE = (
    "On the first day of the long journey the travellers went with Aunt Mary to the harbour of Porto and "
    "waited there for a boat, which came late, and had no room for Uncle Tom or for the bags that they had brought"
)


def cut(text: str, **options) -> list[str]:
    return [" ".join(sentence.words) for sentence in segment(text, **options)]


@pytest.mark.parametrize("width", [45, 60, 72, 100, 180])
@pytest.mark.parametrize("indent", ["", "    ", "> "])
def test_wrapped_text_stays_together_at_any_width(width, indent):
    lines = textwrap.wrap(SENTENCE, width, initial_indent="", subsequent_indent="")
    assert len(lines) > 1
    text = "\n".join(indent + line for line in lines)
    assert len(cut(text)) == 1


def test_two_lines_of_wrapped_text():
    assert len(cut("We had been told that we should go there together with Aunt\nMary and her friends")) == 1
    assert len(cut("It had begun to rain, so that we\nleft early")) == 1  # narrow, but it goes on in small letters
    assert len(cut("It had begun to rain in Porto\nMary left early")) == 2


def test_line_ends_with_carriage_returns():
    text = "\r\n".join(textwrap.wrap(SENTENCE, 60))
    assert len(cut(text)) == 1
    assert cut("Best wishes\r\nAda Lovelace\r\n") == ["Best wishes", "Ada Lovelace"]


@pytest.mark.parametrize(
    "lines",
    [
        ["Best wishes", "Ada Lovelace"],
        ["Jane Example", "Acme Limited", "Porto, Spain"],
        ["Jane Example", "Senior Research Engineer, Department of Fine Machines", "12 High Street, Porto"],
        ["just landed in Porto", "so tired but happy to be here with all of you #travel", "anyone up for dinner",
         "my phone died again", "see you at the concert", "this is the best fish soup I have ever had in my whole life",
         "good night"],
        ["Chapter One", "In which nothing happens"],
        ["milk", "butter", "brown bread", "two lemons", "candles"],
        ["今日は晴れです", "明日は雨"],
    ],
)  # fmt: skip
def test_short_lines_are_sentences(lines):
    assert len(cut("\n".join(lines))) == len(lines)
    assert len(cut("\n".join(lines), lines="paragraphs")) == 1


def test_a_heading_and_the_last_line_of_a_paragraph():
    body = textwrap.wrap(SENTENCE, 70)
    text = "\n".join(["A heading", *body, "Another heading", *body])
    assert [len(sentence.split()) > 5 for sentence in cut(text)] == [False, True, False, True]


def test_one_line_that_is_too_long_does_not_change_the_width():
    lines = textwrap.wrap(SENTENCE, 60)
    lines[1] += " which nobody has wrapped again after it was changed"
    assert len(cut("\n".join(lines))) == 1


def test_a_ruled_line_does_not_change_the_width():
    rule = "-" * 75
    assert len(cut(f"Both of the talks are open to all who wish to come to the\ntown hall\n{rule}\nAda")) == 3


def test_a_long_line_is_a_paragraph_of_its_own():
    long = SENTENCE + " " + SENTENCE.lower()
    assert len(cut(f"A heading\n{long}\n{long}\nThe end")) == 4


def test_chinese_is_wrapped_without_spaces():
    text = "我们昨天去了北京的一家很有名的饭馆吃了一顿非常好吃的晚饭然后大家一起走路回到了住的地方" * 4
    wrapped = "\n".join(text[i : i + 42] for i in range(0, len(text), 42))
    assert len(segment(wrapped)) == 1


def test_an_entity_that_goes_over_a_line_end_keeps_its_sentence_whole():
    text = "Acme\nLimited\nPorto"
    first, second = annotate(text, [CharacterSpan(0, 12, "ORG")])
    assert (first.words, second.words) == (("Acme", "Limited"), ("Porto",))


LINE = st.lists(st.sampled_from(["a", "Dr.", "word", "Name", "left.", "extraordinary", "-----"]), max_size=6).map(
    " ".join
)


@given(st.lists(LINE, max_size=14).map("\n".join), st.integers(4, 60), st.integers(8, 60), st.integers(1, 5))
def test_pieces_have_the_sentences_of_the_whole(text, size, longest, many):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plain, "PIECE_CHARACTERS", size)
        patch.setattr("dovetail.text.files.BLOCK_BYTES", 5)
        patch.setattr(line_ends, "LONGEST_WRAPPED", longest)
        patch.setattr(line_ends, "MANY_LINES", many)
        patch.setattr(line_ends, "NARROWEST_WRAPPED", 10)
        documents = list(read_text(io.StringIO(text)))
        whole = segment(text)
    assert "".join(document.text for document in documents) == text
    assert [sentence for document in documents for sentence in document] == whole


def test_a_file_without_blank_lines_is_read_in_pieces():
    text = "".join(f"short line number {n}\n" for n in range(20_000))
    documents = list(read_text(io.StringIO(text)))
    assert len(documents) > 1
    assert sum(map(len, documents)) == 20_000
    assert max(len(document.text) for document in documents) < 200_000
