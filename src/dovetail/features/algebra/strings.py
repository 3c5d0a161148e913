"""Functions of a word: shapes, capitalisation, titles. Each maps a string to a string; none looks at its neighbours."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right

GREEK = """
    alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma tau upsilon phi
    chi psi omega
""".split()
_GREEK = re.compile("|".join(sorted(GREEK, key=len, reverse=True)))
_REPEATED = re.compile(r"([gdxX])\1{3,}")

TITLES = frozenset(
    """
    mr mrs ms miss dr prof professor sir madam lord lady rev reverend fr father sr sister hon judge justice
    president vice-president chairman chairwoman minister premier chancellor king queen prince princess duke duchess
    pope cardinal bishop archbishop senator sen congressman congresswoman rep representative governor gov mayor
    ambassador general gen colonel col major maj captain capt lieutenant lt sergeant sgt corporal cpl admiral adm
    commander cmdr officer inspector detective sheriff coach herr frau monsieur madame señor señora don doña
""".split()
)


class _CharacterClasses(dict[int, str]):
    """A translation table that fills itself: every letter and digit to its class."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        kind = "X" if character.isupper() else "x" if character.isalpha() else character
        value = self[code] = "d" if character.isdigit() else kind
        return value


_CLASSES = _CharacterClasses()


def shape(word: str) -> str:
    """The word shape of Finkel 2010: classes of characters, runs cut to three, spelled-out Greek letters as g.

    >>> [shape(w) for w in ("Jenny", "beta-carotene", "McDonald", "CD28-responsive")]
    ['Xxxx', 'g-xxx', 'XxXxxx', 'XXdd-xxx']
    """
    if word.islower() and word.isalpha() and not _GREEK.search(word):  # by far the commonest case, decided early
        return "xxx"[: len(word)]
    pieces = []
    position = 0
    for match in _GREEK.finditer(word):
        edge_before = match.start() == 0 or not word[match.start() - 1].isalpha()
        edge_after = match.end() == len(word) or not word[match.end()].isalpha()
        if edge_before and edge_after:
            pieces.append(word[position : match.start()].translate(_CLASSES) + "g")
            position = match.end()
    pieces.append(word[position:].translate(_CLASSES))
    return _REPEATED.sub(r"\1\1\1", "".join(pieces))


def type_of(word: str) -> str:
    """The type of Liang 2005: [a-z] to a, [A-Z] to A, [0-9] to 0.

    >>> type_of("E.D.Shaw7")
    'A.A.Aaaa0'
    """
    return word.translate(_TYPES)


_TYPES = _CharacterClasses()
for _first, _last in ("az", "AZ", "09"):
    _TYPES |= dict.fromkeys(range(ord(_first), ord(_last) + 1), _first)


def short_type(word: str) -> str:
    """The type with every run of one character written once.

    >>> short_type("Shaw-2000")
    'Aa-0'
    """
    return re.sub(r"(.)\1+", r"\1", type_of(word), flags=re.DOTALL)


def capitalisation(word: str) -> str:
    """How a word is capitalised.

    >>> [capitalisation(w) for w in ("the", "The", "NATO", "McDonald", "1996", "J.", "B-52")]
    ['lower', 'initial', 'upper', 'mixed', 'digits', 'upper', 'upper+digit']
    """
    if not any(c.isalpha() for c in word):
        return "digits" if any(c.isdigit() for c in word) else "symbols"
    suffix = "+digit" if any(c.isdigit() for c in word) else ""
    if word.islower() or not (word.isupper() or any(c.isupper() for c in word)):
        return "lower" + suffix
    if word.isupper():
        return "upper" + suffix
    if word[0].isupper() and word[1:].islower():
        return "initial" + suffix
    return "mixed" + suffix


def is_title(word: str) -> bool:
    """Whether the word is a form of address or an office: Mr., Dr, Senator.

    >>> is_title("Mrs."), is_title("table")
    (True, False)
    """
    return word.lower().rstrip(".") in TITLES


def normalise_digits(word: str) -> str:
    """Lower case with every digit written 0, so that 1996 and 1997 are one word.

    >>> normalise_digits("B-52")
    'b-00'
    """
    return re.sub(r"\d", "0", word.lower())


_RADICALS = sorted(unicodedata.normalize("NFKC", chr(code)) for code in range(0x2F00, 0x2FD6))


def radicals(word: str) -> list[str]:
    """The Kangxi radical of each Chinese character, without repeats.

    The unified block of Unicode is sorted by radical, and each radical opens its own section, so the radical of a
    character is the last radical not after it.

    >>> radicals("河流"), radicals("铁"), radicals("abc")
    (['水'], ['金'], [])
    """
    found = [_RADICALS[bisect_right(_RADICALS, c) - 1] for c in word if "\u4e00" <= c <= "\u9fa5"]
    return list(dict.fromkeys(found))
