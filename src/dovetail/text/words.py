"""Words without spaces between them: text as characters, and words as runs of characters."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import accumulate, pairwise

from dovetail.text.files import Source, open_text
from dovetail.text.sentence import Sentence, Span

WORD = "W"
"""The label of a word as a segment of characters."""

FIRST_FULL, LAST_FULL, WIDTH_SHIFT = 0xFF01, 0xFF5E, 0xFEE0  # full-width ！ to ～ are half-width ! to ~ shifted
_HALF_WIDTH = {code: code - WIDTH_SHIFT for code in range(FIRST_FULL, LAST_FULL + 1)}
_NUMERALS = frozenset("〇零一二三四五六七八九十百千万亿兆两廿卅")
_TIMES = frozenset("年月日时分秒点号")


def half_width(text: str) -> str:
    """Full-width letters, digits and signs in the width of ASCII, one for one: the length stays.

    >>> half_width("１９９８年ＡＢＣ，")
    '1998年ABC,'
    """
    return text if text.isascii() else text.translate(_HALF_WIDTH)


def composed(words: Sequence[str]) -> Sequence[str]:
    """The words with every letter and its accents in one character, where there is one (NFC): themselves, mostly.

    Some systems write the same letters decomposed, an accent after its letter (NFD).

    >>> composed(["Zu\\u0308rich"])[0] == "Z\\xfcrich"
    True
    """
    if unicodedata.is_normalized("NFC", "\n".join(words)):
        return words
    return [unicodedata.normalize("NFC", word) for word in words]


@cache
def kind(character: str) -> str:
    """What a character is: d a digit, n a numeral, t a measure of time, a a letter with case, c any other letter,
    p everything else.

    >>> [kind(c) for c in "1三年xé字，"]
    ['d', 'n', 't', 'a', 'a', 'c', 'p']
    """
    if character in _NUMERALS:
        return "n"
    if character in _TIMES:
        return "t"
    if character.isdigit():
        return "d"
    category = unicodedata.category(character)
    if category in ("Lu", "Ll", "Lt"):
        return "a"
    return "c" if category.startswith("L") else "p"


def again(text: str) -> tuple[str, ...]:
    """Whether each character stands one (1) or two (2) places before as well: 看看, 看一看.

    >>> again("看一看看")
    ('0', '0', '2', '1')
    """
    one = ("", *text[:-1])
    two = ("", "", *text[:-2]) if len(text) > 1 else ("",)
    return tuple(("1" if c == a else "2" if c == b else "0") for c, a, b in zip(text, one, two, strict=False))


def character_sentence(text: str, normalise_width: bool = True) -> Sentence:
    """A text as a sentence of characters, with the layers ``kind`` and ``again``.

    >>> character_sentence("３月").words
    ('3', '月')
    """
    seen = half_width(text) if normalise_width else text
    return Sentence(tuple(seen), {"kind": tuple(map(kind, seen)), "again": again(seen)})


def word_spans(words: Iterable[str]) -> list[Span]:
    """Where words stand among the characters of their text.

    >>> word_spans(["北京", "人"])
    [Span(start=0, end=2, label='W', probability=None), Span(start=2, end=3, label='W', probability=None)]
    """
    return [Span(start, end, WORD) for start, end in pairwise(accumulate(map(len, words), initial=0))]


def recut(sentence: Sentence, words: Sequence[str]) -> Sentence:
    """The sentence with these words, each a piece of one of its own words; what was said of those is gone.

    >>> recut(Sentence(("北京人", "爱"), offsets=((0, 3), (4, 5))), ["北京", "人", "爱"]).offsets
    ((0, 2), (2, 3), (4, 5))
    """
    places = None
    if sentence.offsets is not None:
        pieces, places = iter(words), []
        for word, (begin, _) in zip(sentence.words, sentence.offsets, strict=True):
            end = begin + sum(map(len, word.split()))
            while begin < end:
                places.append((begin, begin + len(next_ := next(pieces))))
                begin += len(next_)
    found = tuple(places) if places is not None else None
    return replace(sentence, words=tuple(words), layers={}, spans=(), tree=None, frames=None, offsets=found)


def cut(text: str, starts: Sequence[int]) -> list[str]:
    """The words of a text that begin at these characters."""
    return [text[a:b] for a, b in pairwise([*starts, len(text)])]


def read_segmented(path: Source, encoding: str = "utf-8") -> Iterator[list[str]]:
    """The words of every line of a file in which spaces separate them; lines without words are left out."""
    with open_text(path, encoding) as lines:
        for line in lines:
            if words := line.split():
                yield words


def read_lines(path: Source, encoding: str = "utf-8") -> Iterator[str]:
    """The lines of a raw text."""
    with open_text(path, encoding) as lines:
        yield from lines
