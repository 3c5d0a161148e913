"""Quotes, brackets and dashes as a treebank spells them, for text that spells them as people do."""

from __future__ import annotations

from collections.abc import Container, Sequence

from dovetail.text.words import composed

OTHERWISE = {
    "(": "-LRB-", ")": "-RRB-", "[": "-LSB-", "]": "-RSB-", "{": "-LCB-", "}": "-RCB-",
    "\u201c": "``", "\u201d": "''", "\u2018": "`", "\u2019": "'", "\u2013": "--", "\u2014": "--", "\u2026": "...",
}  # fmt: skip
QUOTE = '"'
OPENING, CLOSING = "``", "''"


def respelled(words: Sequence[str], vocabulary: Container[str]) -> tuple[str, ...]:
    """The words, those that a vocabulary lacks as it spells them, if it does; straight quotes open and close in turn.

    Letters and their accents are one character, unless the vocabulary has them apart.

    >>> respelled(['"', "No", '"', "(", "sic", ")"], {"``", "''", "-LRB-", "("})
    ('``', 'No', "''", '(', 'sic', ')')
    """
    found, opened = [], False
    for given, whole in zip(words, composed(words), strict=True):
        word = given if given in vocabulary else whole
        other = OTHERWISE.get(word, word)
        if word == QUOTE:
            other, opened = (CLOSING if opened else OPENING), not opened
        if word.startswith("\u2019"):  # as in "it\u2019s", whose second part is "\u2019s"
            other = "'" + word[1:]
        found.append(other if word not in vocabulary and other in vocabulary else word)
    return tuple(found)
