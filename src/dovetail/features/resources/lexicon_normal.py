"""How an entry of a list and a word of a text are made comparable."""

from __future__ import annotations

import unicodedata
from typing import Literal

from dovetail.text.tokenise import tokenise
from dovetail.text.words import composed

Unit = Literal["word", "char"]

# One apostrophe and one hyphen, however they were typed.
_PUNCTUATION = str.maketrans({"’": "'", "‘": "'", "ʼ": "'", "`": "'", "‐": "-", "‑": "-", "–": "-", "−": "-"})


def normal_form(text: str) -> str:
    """Case, width and compatibility forms, apostrophes and hyphens made one.

    >>> normal_form("Straße"), normal_form("ＡＢＣ"), normal_form("O’Neil")
    ('strasse', 'abc', "o'neil")
    """
    if text.isascii():
        return text.lower().replace("`", "'")
    return unicodedata.normalize("NFKC", text).translate(_PUNCTUATION).casefold()


def spellings(phrase: str, unit: Unit, normalise: bool) -> list[tuple[str, ...]]:
    """The sequences of tokens as which a phrase may turn up in a text, none twice.

    Words are split at white space, and also as `tokenise` splits them: a corpus may follow either.

    >>> spellings("Guinea-Bissau", "word", normalise=False)
    [('Guinea-Bissau',), ('Guinea', '-', 'Bissau')]
    >>> spellings("北京 大学", "char", normalise=True)
    [('北', '京', '大', '学')]
    """
    if unit == "char":
        split = [[character for character in phrase if not character.isspace()]]
    else:
        split = [phrase.split(), tokenise(phrase).words]
    # Split first and normalised afterwards, as the words of a text are: the tokeniser looks at capitals.
    return list(dict.fromkeys(tuple(map(normal_form, words) if normalise else composed(words)) for words in split))
