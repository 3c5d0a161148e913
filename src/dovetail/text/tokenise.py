"""Words of running text, with the characters they came from: English first, and no script left out.

The conventions are those of the English Web Treebank (Universal Dependencies), on which the English models
are trained: punctuation, brackets, quotes, currency signs and per cent are words of their own; so are the
clitics of "it's", "don't" and "cannot" (can not), and the unit of "10am". Hyphens separate words ("year-old" is
three) except after the prefixes and before the suffixes that the treebank leaves attached ("e-mail",
"non-profit", "career-wise"), and in telephone numbers and dates; slashes separate words except in dates.
Abbreviations keep their period, unless it ends the sentence (see `segment`).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from typing import Literal, NamedTuple

Unspaced = Literal["characters", "runs"]
"""What becomes of scripts that are written without spaces: a word a character, or a word a run."""


def word_set(listing: str) -> frozenset[str]:
    """The words of a listing, separated by white space."""
    return frozenset(listing.split())


# Words that are written with a period that ends no sentence, as they stand without it.
TITLES = word_set("""
    Mr Mrs Ms Messrs Dr Drs Prof Rev Fr Hon Pres Gov Sen Sens Rep Reps Gen Lt Col Maj Capt Cpl Sgt Cmdr
    Adm Pvt Supt Insp St Ste Mt Ft Sr Sra Srta Dra Sres Hr Mme Mlle dhr mevr mr mrs dr prof
""")
"""A name follows these, so the period after them does not end a sentence."""

BEFORE_NUMBERS = word_set("No Nos Nr Art Fig Figs Vol Vols pp p Para Sec Ch Eq Ext ext Tel tel fig no")
"""Abbreviations only before a number: else "No." is an answer."""

ABBREVIATIONS = TITLES | word_set("""
    Jr Inc Corp Co Cos Ltd Bros Assn Dept Univ Mfg Intl Natl Govt Ave Blvd Rd Hwy Pkwy Bldg Attn Conf Spec
    Que Va vs etc cf viz al approx est eg ie esp incl resp ca Jan Feb Mar Apr Jun Jul Aug Sep Sept Oct Nov
    Dec Mon Tue Tues Wed Thu Thur Thurs Fri Sat Sun Ariz Ark Calif Colo Conn Fla Ga Ill Ind Kan Ky Md Mich
    Minn Mont Neb Nev Okla Ore Pa Penn Tenn Tex Vt Wash Wis lb lbs oz hr hrs min yr yrs Ass't bzw usw evtl
    ggf inkl Str Ing Ud Uds pág bijv enz
""")
"""Abbreviations that keep their period wherever they stand in a sentence."""


class Tokens(NamedTuple):
    """Words and where each lies: ``text[start:end] == word``."""

    words: list[str]
    offsets: list[tuple[int, int]]


def tokenise(text: str, unspaced: Unspaced = "characters") -> Tokens:
    """The words of a text. Every character but white space is in exactly one word, in order.

    >>> tokenise("Mr. O'Neil can't pay $5.50 (4%) in the U.S.!").words
    ['Mr.', "O'Neil", 'ca', "n't", 'pay', '$', '5.50', '(', '4', '%', ')', 'in', 'the', 'U.S.', '!']
    """
    words: list[str] = []
    offsets: list[tuple[int, int]] = []
    pieces_of = _CACHES[unspaced]
    stop: int | None = None  # the start of a period that may belong to the word before it
    for match in _CHUNK.finditer(text):
        base = match.start()
        chunk = match.group()
        if stop is not None:
            if _joins(words[-2], chunk):
                words[-2:] = [words[-2] + "."]
                offsets[-2:] = [(offsets[-2][0], offsets[-1][1])]
            stop = None
        for start, end, word in pieces_of[chunk]:
            words.append(word)
            offsets.append((base + start, base + end))
        if words[-1] == "." and len(words) > 1 and offsets[-2][1] == offsets[-1][0]:
            stop = offsets[-1][0]
    return Tokens(words, offsets)


def split_spaces(text: str) -> Tokens:
    """The words of a text whose words are already separated by white space."""
    matches = list(_CHUNK.finditer(text))
    return Tokens([match.group() for match in matches], [match.span() for match in matches])


def _joins(word: str, next_chunk: str) -> bool:
    """Whether the period after ``word`` is a part of it, judged by what comes next: J. Smith, No. 5."""
    if word in BEFORE_NUMBERS:
        return next_chunk[0].isdigit()
    is_name = next_chunk[0].isupper() or next_chunk == "of"
    return len(word) == 1 and word.isupper() and word != "I" and is_name


class _PieceCache(dict[str, tuple[tuple[int, int, str], ...]]):
    """How a stretch without white space falls into (start, end, word); running text repeats them."""

    def __init__(self, unspaced: Unspaced) -> None:
        self.unspaced = unspaced

    def __missing__(self, chunk: str) -> tuple[tuple[int, int, str], ...]:
        pieces = tuple(_pieces(chunk, self.unspaced))
        if len(chunk) <= 40:
            if len(self) >= 100_000:
                self.clear()
            self[chunk] = pieces
        return pieces


_CACHES: dict[Unspaced, _PieceCache] = {"characters": _PieceCache("characters"), "runs": _PieceCache("runs")}


def _pieces(chunk: str, unspaced: Unspaced) -> Iterator[tuple[int, int, str]]:
    held: tuple[int, int, str] | None = None  # an abbreviation waits for its period
    for match in _pattern(unspaced).finditer(chunk):
        start, end = match.span()
        if held is not None:
            if start == held[1] and match.group() == ".":
                yield held[0], end, held[2] + "."
                held = None
                continue
            yield held
            held = None
        if match.lastgroup == "word":
            *before, held_end = _parts(match.group())
            for part_end in before:
                yield start, match.start() + part_end, chunk[start : match.start() + part_end]
                start = match.start() + part_end
            held = (start, match.start() + held_end, chunk[start:end])
            if held[2] not in ABBREVIATIONS:
                yield held
                held = None
        else:
            yield start, end, chunk[start:end]
    if held is not None:
        yield held


def _parts(word: str) -> list[int]:
    """The ends of the words that a stretch of letters, apostrophes and hyphens is made of."""
    if word.isalpha():
        cut = _CONTRACTIONS.get(word.lower())
        return [cut, len(word)] if cut else [len(word)]
    ends: list[int] = []
    start = 0
    for end in _hyphen_cuts(word):
        clitic = _CLITIC.search(word, start, end)
        if clitic is not None and clitic.start() > start:
            ends.append(clitic.start())
        ends.append(end)
        start = end
    return ends


def _hyphen_cuts(word: str) -> list[int]:
    if "-" not in word and "‐" not in word:
        return [len(word)]
    pieces = [(match.start(), match.end()) for match in _HYPHEN_PIECE.finditer(word)]
    cuts: list[int] = []
    for number, (start, end) in enumerate(pieces):
        is_hyphen = number % 2 == 1
        before = word[pieces[number - 1][0] : start].lower() if number else ""
        after = word[end : pieces[number + 1][1]].lower() if number + 1 < len(pieces) else ""
        if is_hyphen and (before in _PREFIXES or after in _SUFFIXES):
            cuts.pop()
        else:
            cuts.append(end)
    return cuts


_CHUNK = re.compile(r"\S+")
_HYPHEN_PIECE = re.compile(r"[-‐]|[^-‐]+")
_CLITIC = re.compile(r"(?:n['’]t|['’](?:s|m|ll|ve|re|d))$", re.IGNORECASE)

# The affixes that the treebank's guidelines leave attached.
_PREFIXES = word_set("""
    a agro ante anti arch be bi bio co counter cross cyber de e eco ex extra inter intra macro mega micro
    mid mini multi neo non over pan para peri post pre pro pseudo quasi re semi socio sub super tri u
    ultra un uni
""")
_SUFFIXES = word_set("esque ette fest fold gate itis less most rama wise")


# Where words written together are split: cannot, gonna; and negations without their apostrophe, dont.
_SPLITS = word_set("can|not gon|na wan|na got|ta lem|me gim|me i|m i|ve that|s what|s there|s you|re they|re")
_VERBS = word_set("ai ar are ca could did do does had has have is must should was were wo would")
_CONTRACTIONS = {split.replace("|", ""): split.index("|") for split in _SPLITS | {f"{verb}|nt" for verb in _VERBS}}

_ENDINGS = (  # of host names and files: the dot before them ends no sentence
    "com|org|net|edu|gov|mil|info|biz|io|eu|uk|de|fr|nl|ch|dk|pl|ru|jp|cn|au|ca|br|"
    "doc|docx|xls|xlsx|ppt|pptx|pdf|txt|csv|tsv|xml|json|html?|php|asp|jsp|jpe?g|png|gif|mp3|mp4|avi|zip|gz|tar|exe|"
    "url|py|js|cpp|java"
)
_UNITS = "[ap]m|[AP]M|[ap]\\.m|[kK]|lbs?|oz|ft|km|cm|mm|kg|hrs?|mins?|secs?|yrs?|mph|[KMGTkmgt][Bb]|[MG]Hz"


# Han, kana, bopomofo, Thai, Lao, Myanmar, Khmer: written without spaces between words.
_UNSPACED_BLOCKS = (
    (0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0x3005, 0x3007), (0x3040, 0x312F),
    (0x31F0, 0x31FF), (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0xFF66, 0xFF9F),
    (0x20000, 0x3FFFF),
)  # fmt: skip


def is_unspaced(character: str) -> bool:
    """Whether a character is of a script that is written without spaces between words.

    >>> is_unspaced("京"), is_unspaced("k")
    (True, False)
    """
    return any(first <= ord(character) <= last for first, last in _UNSPACED_BLOCKS)


_EMOJI = (
    "[\u231a-\u23ff\u25a0-\u27bf\u2b00-\u2bff\U0001f000-\U0001f1e5\U0001f200-\U0001faff]"
    "[\ufe0e\ufe0f\u20e3\U0001f3fb-\U0001f3ff]*"
)


@cache
def _classes() -> tuple[str, str, str]:
    """Characters as the insides of regular expression sets: letters, marks and digits of scripts with spaces (``\\w``
    lacks the vowel signs of Indic scripts), the same of scripts without, and all marks."""
    kinds = [unicodedata.category(chr(code))[0] for code in range(0x10000)]
    unspaced = {code for first, last in _UNSPACED_BLOCKS for code in range(first, min(last, 0xFFFF) + 1)}
    joiners = {0x5F, 0xAD, 0x200C, 0x200D}
    word = [code for code, kind in enumerate(kinds) if code in joiners or (kind in "LMN" and code not in unspaced)]
    # Beyond the first plane whole blocks will do: ancient scripts, mathematical letters, rare ideographs.
    return (
        _ranges(word) + "\U00010000-\U0001cfff\U0001d400-\U0001d7ff\U0001e000-\U0001efff",
        _ranges([code for code in sorted(unspaced) if kinds[code] in "LMN"]) + "\U00020000-\U0003ffff",
        _ranges([code for code, kind in enumerate(kinds) if kind == "M"]),
    )


def _ranges(codes: list[int]) -> str:
    """Sorted code points as the ranges of a regular expression set; none of them may be special there."""
    bounds: list[list[int]] = []
    for code in codes:
        if bounds and code == bounds[-1][1] + 1:
            bounds[-1][1] = code
        else:
            bounds.append([code, code])
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in bounds)


@cache
def _pattern(unspaced: Unspaced) -> re.Pattern[str]:
    """The alternatives, first come first; their lengths are bounded so that no input takes quadratic time."""
    word, unspaced_letters, marks = _classes()
    w, end = f"[{word}]", f"(?![{word}])"
    host = f"{w}(?:[{word}-]{{0,62}}{w})?"
    alternatives = [
        r"(?i:(?:https?|ftp|file)://|www\d?\.)[^\s<>\"“”]*[^\s<>\"“”.,;:!?'’)\]}]",
        rf"(?:mailto:)?[\w.+%-]{{1,64}}@{host}(?:\.{host}){{0,9}}",
        rf"[{word}#-]{{1,63}}(?:\.[{word}-]{{1,63}}){{0,5}}\.(?i:{_ENDINGS})(?!\.?[{word}])",
        rf"[a-z]{{2,30}}(?:\.[a-z-]{{1,30}}){{2,6}}{end}",  # newsgroups, packages
        rf"(?:[^\W\d_]\.){{2,}}(?:[^\W\d_]{end})?|Ph\.D\.?|[BM]\.Sc\.?",
        # Numbers: telephone; date; time, day and month; all others, with their ending or before their unit.
        rf"(?:\d{{1,4}}[-.])?\d{{3}}[-.]\d{{3}}[-.]\d{{4}}{end}|\d{{3}}-\d{{4}}(?![{word}-])",
        rf"\d{{1,4}}(?P<mark>[-/.])\d{{1,2}}(?P=mark)\d{{1,4}}{end}|\d{{1,2}}-[A-Za-z]{{3,9}}-\d{{2,4}}{end}",
        r"\d{1,2}(?::\d{2}){1,2}(?!\d)|(?!1/[2-5]|2/[35]|3/[45])(?:0?[1-9]|1[0-2])/(?:0?[1-9]|[12]\d|3[01])(?![\d/])",
        rf"[+.]?\d+(?:[.,]\d+)*(?:(?i:st|nd|rd|th|s|['’]s){end}|(?=(?:{_UNITS}){end})|{end})",
        rf"[A-Z]{{1,4}}(?:&[A-Z]{{1,4}})+{end}|(?:US|HK|NZ|[ACU])\$",
        rf"(?i:b/c|w/o|w/|c/o|n/a){end}",
        rf"(?P<word>{w}+(?:['’‐-]{w}+)*)",
        rf"['’](?:\d\ds?|(?i:s|m|ll|ve|re|d|em|n|til|cause|tis|twas)){end}",
        rf"(?<![{word}])(?:[:;=]['^-]?[()\[\]DPpOo/\\|]+|\(:|<3|\^_\^){end}",
        rf"(?<![{word}])[@#][A-Za-z_]{w}*",
        r"&(?:amp|lt|gt|quot|apos|nbsp|#\d{1,7});",
        rf"[{unspaced_letters}][{marks}]*" if unspaced == "characters" else rf"[{unspaced_letters}{marks}]+",
        f"{_EMOJI}(?:\u200d{_EMOJI})*|[\U0001f1e6-\U0001f1ff]{{2}}",
        r"[.!?…]{2,}|''|``|[‘’]{2}|(?P<run>[^\w\s()\[\]{}\"'’“”,;:])(?P=run)+",
        rf".[{marks}]*",
    ]
    return re.compile("|".join(alternatives))
