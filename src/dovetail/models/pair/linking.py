"""Links to be decided on: which there may be, and what an aligner says of them, as chains of a graph.

A link between two words is there or not, and counts ``log p / (1 - p)`` where it is. An aligner in the graph is two
chains, the hidden Markov models of both directions: p is then the mean of their posteriors, and each direction says
whether it has the link: that counts ``log(agreement) / 4`` where the link is as it says, and costs as much where not.
So the directions hear of each other, of names, and of neighbours, through links. Two links of a word to
words that are no neighbours cost something (DeNero and Macherey 2011).
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from dovetail.joint import Graph, Table
from dovetail.joint.graph import Variables
from dovetail.models.aligner.aligner import TRUST, Aligner
from dovetail.models.aligner.chains import LinkChains
from dovetail.models.pair.bitext import Linked
from dovetail.structures.contract import Booleans, Integers

NEIGHBOURS = 1.0
"""What two links of a word cost, if their other ends are no neighbours."""
LEAST = 0.01
"""Links are never less probable, and never more than one less that."""


class Linking(NamedTuple):
    """Some pairs and their links, and for pairs of an aligner that is in the graph its chains."""

    some: Linked
    chains: Sequence[LinkChains | None]
    threshold: float
    agreement: float

    @classmethod
    def plain(cls, some: Linked) -> Linking:
        """Without an aligner."""
        return cls(some, [None] * len(some.pairs), 0.5, 1.0)

    @property
    def chained(self) -> Booleans:
        """Which pairs have chains: [n]."""
        return np.array([each is not None for each in self.chains], bool)

    def ends(self, rows: Integers) -> tuple[Integers, Integers]:
        """The words of some links, counted from the beginning of their sentences."""
        pair = self.some.pair[rows]
        return (
            self.some.source[rows] - self.some.source_offsets[pair],
            self.some.target[rows] - self.some.target_offsets[pair],
        )


def listening(aligner: Aligner, least: float) -> Aligner:
    """The same aligner, which tells of all links that are at least so probable."""
    found = copy(aligner)
    found.threshold, found.symmetrise = least, "soft"
    return found


def linking_of(aligner: Aligner, some: Linked, least: float) -> Linking:
    """The chains of some pairs, and the links that they give at least so much; pairs without chains keep theirs."""
    chains = list(aligner.chains(some.pairs))
    rest = np.flatnonzero([chains[pair] is None for pair in some.pair.tolist()])
    places = [np.stack([some.pair, some.source, some.target], axis=1)[rest]]
    chance = [some.probability[rest]]
    for k, own in enumerate(chains):
        if own is None:
            continue
        mean = TRUST / 2 * np.add(*own.posteriors())
        i, j = np.nonzero(mean >= least)
        places.append(np.stack([np.full(len(i), k), some.source_offsets[k] + i, some.target_offsets[k] + j], axis=1))
        chance.append(mean[i, j])
    place, probability = np.concatenate(places), np.concatenate(chance)
    order = np.lexsort((place[:, 2], place[:, 1]))
    pair, source, target = place[order].T
    found = some._replace(pair=pair, source=source, target=target, probability=probability[order])
    return Linking(found, chains, aligner.threshold, aligner.agreement)


def decided_links(graph: Graph, linking: Linking, kept: Integers) -> Variables:
    """A variable for each of some links, 1 where it is there, with all that bears on it but names."""
    some = linking.some
    chained = linking.chained[some.pair[kept]]
    p = np.clip(some.probability[kept], LEAST, 1.0 - LEAST)
    links = graph.free(np.stack([np.zeros(len(p)), np.log(p / (1.0 - p))], axis=1))
    if chained.any():
        _couple_chains(graph, linking, kept[chained], links[np.flatnonzero(chained)])
    apart = Table(np.array([[0.0, 0.0], [0.0, -NEIGHBOURS]]), name="neighbours")
    for own, other in ((some.source, some.target), (some.target, some.source)):
        one, two = sharing(own[kept], other[kept])
        if len(one):
            graph.couple(apart, links[one], links[two])
    return links


def _couple_chains(graph: Graph, linking: Linking, rows: Integers, links: Variables) -> None:
    """Add the chains of the pairs of these links, in the order of pairs, and what both directions say of each."""
    source, target = linking.ends(rows)
    forward, backward = [], []
    cuts = np.flatnonzero(np.diff(linking.some.pair[rows], prepend=-1, append=-1))
    for a, b in pairwise(cuts.tolist()):
        own = linking.chains[linking.some.pair[rows[a]]]
        assert own is not None
        alone = np.zeros(b - a, np.int64)
        forward.append(graph.add(own.forward).labelled(alone, target[a:b], source[a:b]))
        backward.append(graph.add(own.backward).labelled(alone, source[a:b], target[a:b]))
    graph.couple(says(linking.agreement), links, graph.joined(forward), graph.joined(backward))


def says(agreement: float) -> Table:
    """What it counts that a link is there, or not, as either direction has it: [a, f, b]."""
    sign = np.array([-1.0, 1.0])
    table = np.log(agreement) / 4 * sign[:, None, None] * np.add.outer(sign, sign)
    return Table(table, name="both directions")


def sharing(own: Integers, other: Integers) -> tuple[Integers, Integers]:
    """Pairs of links that have one word in common, and whose other words are no neighbours: [pairs] each."""
    order = np.lexsort((other, own))
    one, two = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for step in range(1, int(np.bincount(own - own.min(initial=0)).max(initial=0)) if len(own) else 0):
        a, b = order[:-step], order[step:]
        far = (own[a] == own[b]) & (other[b] - other[a] > 1)
        one.append(a[far])
        two.append(b[far])
    return np.concatenate(one), np.concatenate(two)
