"""Words without spaces between them."""

from __future__ import annotations

import io

from dovetail.text.words import (
    again,
    character_sentence,
    cut,
    half_width,
    kind,
    read_segmented,
    word_spans,
)


def test_width_keeps_the_length() -> None:
    text = "ＡＢ１２％，。　中"
    assert half_width(text) == "AB12%,。　中"
    assert len(half_width(text)) == len(text)


def test_kinds() -> None:
    assert [kind(c) for c in "9九月Aé中，\U00020000"] == ["d", "n", "t", "a", "a", "c", "p", "c"]


def test_again_looks_one_and_two_back() -> None:
    assert again("") == ()
    assert again("看") == ("0",)
    assert again("看看") == ("0", "1")
    assert again("看一看") == ("0", "0", "2")


def test_characters_with_their_layers() -> None:
    sentence = character_sentence("１月")
    assert sentence.words == ("1", "月")
    assert sentence.layers["kind"] == ("d", "t")
    assert character_sentence("１月", normalise_width=False).words == ("１", "月")


def test_spans_and_cuts_are_inverse() -> None:
    words = ["北京", "人", "上海"]
    starts = [span.start for span in word_spans(words)]
    assert cut("".join(words), starts) == words


def test_segmented_text_is_read() -> None:
    assert list(read_segmented(io.StringIO("北京　人\n\n  好 \n"))) == [["北京", "人"], ["好"]]
