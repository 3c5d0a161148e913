"""Which words have changed their tags by agreement, and which links they have: as text."""

from __future__ import annotations

from collections.abc import Sequence

from dovetail.models.pair.agreement import SIDES, Tagged
from dovetail.text.links import Link
from dovetail.text.width import display_width, printable


def changes_drawn(pair: Tagged, links: Sequence[Link]) -> str:
    """A line for each word that has changed: its side, its tags, and the words it is linked to with theirs."""
    sentences = (pair.source, pair.target)
    tags = [next(iter(sentence.layers.values()), ()) for sentence in sentences]
    rows = []
    for change in pair.changed:
        side = SIDES.index(change.side)
        found = sorted((link for link in links if link[side] == change.position), key=lambda link: -link.probability)
        others = [(link.source if side else link.target, link.probability) for link in found]
        shown = [f"{sentences[1 - side].words[i]} {tags[1 - side][i]} {p:.2f}" for i, p in others]
        rows.append((printable(sentences[side].words[change.position]), change, ", ".join(shown) or "no link"))
    wide = max((display_width(word) for word, _, _ in rows), default=0)
    return "".join(
        f"{c.side} {word}{' ' * (wide - display_width(word))}  {c.before} -> {c.after}  {shown}\n"
        for word, c, shown in rows
    )
