"""A picture of the links of a pair of sentences, in characters."""

from __future__ import annotations

from collections.abc import Iterable

from dovetail.text.bitext import Pair
from dovetail.text.links import Link
from dovetail.text.width import display_width

SURE, LIKELY, POSSIBLE = "●", "◐", "○"
CERTAIN = 0.9


def draw_links(pair: Pair, links: Iterable[Link]) -> str:
    """A row for each source word and a column for each target word, whose words stand below.

    ● is a sure link of probability 0.9 or more, ◐ one of less, ○ one that is only possible.

    >>> print(draw_links(Pair(("das", "Haus"), ("the", "house")), [Link(0, 0), Link(1, 1, 0.6)]))
    das  ● ·
    Haus · ◐
         │ └ house
         └ the
    """
    marks = {(link.source, link.target): _mark(link) for link in links}
    wide = max((display_width(word) for word in pair.source), default=0)
    rows = [
        f"{word}{' ' * (wide - display_width(word))} "
        + " ".join(marks.get((i, j), "·") for j in range(len(pair.target)))
        for i, word in enumerate(pair.source)
    ]
    margin = " " * (wide + 1)
    for j in range(len(pair.target) - 1, -1, -1):
        rows.append(f"{margin}{'│ ' * j}└ {pair.target[j]}")
    return "\n".join(rows)


def _mark(link: Link) -> str:
    if not link.sure:
        return POSSIBLE
    return SURE if link.probability >= CERTAIN else LIKELY
