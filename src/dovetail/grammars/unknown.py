"""Classes of words that a treebank does not have: by their capitals, digits, hyphens and endings."""

from __future__ import annotations

ENDINGS = ("ing", "ion", "ity", "ble", "ous", "est", "ed", "ly", "er", "al", "s", "y")


def unknown_class(word: str, is_first: bool = False) -> str:
    """A word's class: what can be told of a word from its form.

    >>> unknown_class("re-elected"), unknown_class("Zurich"), unknown_class("1,204")
    ('unk-dash-ed', 'unk-cap', 'unk-digit')
    """
    marks = ["unk"]
    if word[:1].isupper():
        marks.append("first" if is_first else "caps" if word.isupper() and len(word) > 1 else "cap")
    if any(c.isdigit() for c in word):
        marks.append("digit")
    if "-" in word:
        marks.append("dash")
    lower = word.lower()
    ending = next((e for e in ENDINGS if lower.endswith(e) and len(lower) > len(e) + 2), None)
    return "-".join([*marks, ending] if ending else marks)
