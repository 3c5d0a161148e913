"""Sentences of running text: where they end, and the words of each with their characters.

A period, question or exclamation mark ends a sentence, with the quotes and brackets that close right after
it, unless it belongs to an abbreviation or initial, numbers a list item, or a quotation goes on in small
letters ("Why?" he asked). Three dots end one only before a capital. An abbreviation ends one before a word
that mostly begins sentences, and its period is then a word of its own, as in the treebanks: "at 5 p.m" ".".
Blank lines always end sentences; so do list items, ruled lines and header fields ("Date: today") on lines
of their own, and line ends where the text is not wrapped (see `line_ends`).
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from operator import itemgetter
from typing import Literal

from dovetail.text.line_ends import purposeful_ends
from dovetail.text.sentence import Sentence, Span
from dovetail.text.spans import CharacterSpan, covered_tokens, flat_tags
from dovetail.text.tokenise import TITLES, Tokens, Unspaced, split_spaces, tokenise, word_set

Lines = Literal["auto", "paragraphs", "sentences"]
"""What a line end means: the end of a sentence where the line was not wrapped; no more than a space, unless a line is
blank; or always the end of a sentence, and then nothing else is one."""
Words = Literal["tokenise", "spaces"]
"""How words are found: by the tokeniser, or as white space separates them."""

CUT_WORD = "span that begins or ends inside a word, which is split there"
"""What readers report of an entity that cuts a word."""

_STRONG = frozenset("。！？｡।॥؟۔։።។။")
_ENDS = frozenset(".!?…") | _STRONG
_CLOSERS = frozenset([*")]}\"'”’»›」』）】〉》", "''", "’’"])
_SMILEY = re.compile(r"[:;=]['^-]?[()DPp]+|\(:")
_STARTERS = word_set("""
    A After All Also Although An And Another Any As At Because Before But By Despite During Each Even For
    From Further He Her Here His How However I If In Instead It Its Last Many Meanwhile More Most My No
    Nor Not Now On Once One Only Or Other Our Perhaps Please Several She Since So Some Such Thanks That
    The Their Then There These They This Those Though Thus To Today Two Under Unlike Until We What When
    Where While Who Why With Yes Yet You Your
""")
_LINE_END = re.compile(r"\n")
# Line ends that always end a sentence: before a blank line, a list item, a ruled line, a header field; after a rule.
_BREAK = re.compile(
    r"(?:\n|\u2029|\f)(?=[^\S\n]*\n"
    r"|[^\S\n]*(?:[-*•·‣▪]|\(?\d{1,3}[.)])[^\S\n]"
    r"|[^\S\n]*(?P<rule>[-=_*~#])(?P=rule){4}"
    r"|[^\S\n]*[A-Z][\w-]{1,20}:[^\S\n])"
    r"|(?<=[-=_*~#]{5})[^\S\n]*\n|\f|\u2029"
)


def segment(
    text: str,
    lines: Lines = "auto",
    words: Words = "tokenise",
    unspaced: Unspaced = "characters",
    offset: int = 0,
    column: int = 0,
) -> list[Sentence]:
    """The sentences of a text, whose first character is number ``offset`` of its document, and ``column`` of its line.

    >>> [s.words for s in segment("He left at 5 p.m. The U.S. team stayed.")]
    [('He', 'left', 'at', '5', 'p.m', '.'), ('The', 'U.S.', 'team', 'stayed', '.')]
    >>> [s.words for s in segment("Best wishes\\nAda")], [s.words for s in segment("Best wishes\\nAda", "paragraphs")]
    ([('Best', 'wishes'), ('Ada',)], [('Best', 'wishes', 'Ada')])
    """
    tokens = tokenise(text, unspaced) if words == "tokenise" else split_spaces(text)
    return segment_tokens(text, tokens, lines, offset, column, split_periods=words == "tokenise")


def segment_tokens(
    text: str, tokens: Tokens, lines: Lines, offset: int = 0, column: int = 0, *, split_periods: bool
) -> list[Sentence]:
    """The sentences of a text whose words are known; ``split_periods`` makes the last period a word of its own."""
    starts = _starts(text, tokens, lines, column)
    return [_sentence(text, *part, offset) for part in _cut(tokens, starts, split_periods)]


def annotate(
    text: str,
    spans: Sequence[CharacterSpan],
    lines: Lines = "auto",
    tokens: Tokens | None = None,
    on_cut: Callable[[CharacterSpan], None] | None = None,
) -> list[Sentence]:
    """The sentences of a text with its entities: all in ``spans``, the outermost also in the layer ``ner``.

    No entity is lost: a word that one cuts is split there (``on_cut`` is told of each such entity), and sentences that
    one joins are one sentence. Every span must cover something other than white space. ``tokens`` are the words where
    they are known.

    >>> annotate("Meet at Room 5pm.", [CharacterSpan(8, 14, "PLACE")])[0].words
    ('Meet', 'at', 'Room', '5', 'pm', '.')
    """
    whole = tokenise(text) if tokens is None else tokens
    for span in spans:
        if on_cut is not None and (_cuts(span.start, whole) or _cuts(span.end, whole)):
            on_cut(span)
    split = _split_at({edge for span in spans for edge in (span.start, span.end)}, whole)
    starts = _starts(text, split, lines)
    for span in spans:
        first, last = covered_tokens(split.offsets, span.start, span.end)
        del starts[bisect_left(starts, first + 1) : bisect_left(starts, last)]
    waiting = sorted(spans, key=lambda span: (span.start, -span.end))[::-1]  # of equal ones the first stays first
    sentences = []
    for words, offsets in _cut(split, starts, split_periods=tokens is None):
        found = []
        while waiting and waiting[-1].start < offsets[-1][1]:
            span = waiting.pop()
            first, last = covered_tokens(offsets, span.start, span.end)
            found.append(Span(first, last, span.label, span.probability))
        layers = {"ner": flat_tags(found, len(words))}
        raw = text[offsets[0][0] : offsets[-1][1]]
        sentences.append(Sentence(tuple(words), layers, tuple(found), tuple(offsets), raw=raw))
    return sentences


def _cuts(edge: int, tokens: Tokens) -> bool:
    """Whether a place is inside a word; before the period of an abbreviation is not, for it may end a sentence."""
    at = bisect_right(tokens.offsets, edge, key=itemgetter(1))
    if at == len(tokens.words) or tokens.offsets[at][0] >= edge:
        return False
    return tokens.words[at][edge - tokens.offsets[at][0] :] != "."


def _split_at(edges: set[int], tokens: Tokens) -> Tokens:
    words: list[str] = []
    offsets: list[tuple[int, int]] = []
    ordered = sorted(edges)
    for word, (start, end) in zip(tokens.words, tokens.offsets, strict=True):
        cuts = [start, *ordered[bisect_left(ordered, start + 1) : bisect_left(ordered, end)], end]
        for first, last in pairwise(cuts):
            words.append(word[first - start : last - start])
            offsets.append((first, last))
    return Tokens(words, offsets)


def _sentence(text: str, words: Sequence[str], offsets: Sequence[tuple[int, int]], offset: int) -> Sentence:
    raw = text[offsets[0][0] : offsets[-1][1]]
    moved = [(start + offset, end + offset) for start, end in offsets] if offset else offsets
    return Sentence(tuple(words), offsets=tuple(moved), raw=raw)


def _cut(tokens: Tokens, starts: list[int], split_periods: bool) -> Iterable[tuple[list[str], list[tuple[int, int]]]]:
    for start, end in pairwise([*starts, len(tokens.words)]):
        words, offsets = tokens.words[start:end], tokens.offsets[start:end]
        if split_periods:
            _split_final_period(words, offsets)
        yield words, offsets


def _split_final_period(words: list[str], offsets: list[tuple[int, int]]) -> None:
    last = len(words) - 1
    while last > 0 and words[last] in _CLOSERS:
        last -= 1
    word = words[last]
    if len(word) > 1 and word[-1] == "." and word[-2].isalpha():
        start, end = offsets[last]
        words[last : last + 1] = [word[:-1], "."]
        offsets[last : last + 1] = [(start, end - 1), (end - 1, end)]


def _starts(text: str, tokens: Tokens, lines: Lines, column: int = 0) -> list[int]:
    """The positions of the words that begin sentences, in order."""
    if not tokens.words:
        return []
    breaks = [match.end() for match in (_LINE_END if lines == "sentences" else _BREAK).finditer(text)]
    if lines == "auto":
        breaks.extend(purposeful_ends(text, column))
    hard = {bisect_left(tokens.offsets, place, key=itemgetter(0)) for place in breaks}
    hard -= {0, len(tokens.words)}
    ends = {} if lines == "sentences" else _possible_ends(tokens)
    starts = [0]
    for position in sorted(hard | ends.keys()):
        if position in hard or _is_end(tokens, starts[-1], ends[position], position):
            starts.append(position)
    return starts


def _possible_ends(tokens: Tokens) -> dict[int, int]:
    """Where a sentence may begin, after closing quotes, brackets and a smiley; and the mark before them."""
    words, offsets = tokens
    ends: dict[int, int] = {}
    for mark, word in enumerate(words):
        if word[-1] in _ENDS:
            after = mark + 1
            while after < len(words) and words[after] in _CLOSERS and offsets[after][0] == offsets[after - 1][1]:
                after += 1
            if after < len(words) and _SMILEY.fullmatch(words[after]):
                after += 1
            if after < len(words):
                ends[after] = mark
    return ends


def _is_end(tokens: Tokens, start: int, mark: int, after: int) -> bool:
    """Whether the sentence that began at ``start`` ends with the ``mark``, and ``after`` begins another."""
    words, offsets = tokens
    word, following = words[mark], words[after]
    before = words[mark - 1] if mark > start else ""
    if word[-1] in _STRONG:
        return True
    if offsets[after][0] == offsets[after - 1][1]:  # a forgotten space: "the end.Next"
        return following[0].isupper() and len(before) > 1 and before[-1].islower() and after == mark + 1
    if not _ENDS.issuperset(word):  # an abbreviation
        return word[:-1] not in TITLES and following in _STARTERS
    if following[0] in ",;:)]}" or _numbers_an_item(words[start:mark]):
        return False
    if word == "…" or (len(word) > 1 and set(word) <= {".", "…"}):
        return not following[0].islower()
    is_quoted = words[after - 1] in _CLOSERS
    return not (is_quoted and following[0].islower())


def _numbers_an_item(words: list[str]) -> bool:
    """Whether these are the number or letter of a list item, perhaps after its bullet."""
    if len(words) > 2 or not words or (len(words) == 2 and words[0] not in ("*", "-", "•", "(", '"')):
        return False
    return (words[-1].isdigit() and len(words[-1]) <= 3) or (len(words[-1]) == 1 and words[-1].isalpha())
