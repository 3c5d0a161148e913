"""Small random graphs of all kinds of structures, for the engines to answer."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from dovetail.joint import Graph, Table, at_most_one, equals, implies, not_both, same_label
from dovetail.structures.chain import ChainBatch, ChainPotentials
from dovetail.structures.projective import ProjectiveBatch, ProjectivePotentials
from dovetail.structures.semimarkov import SemiMarkovBatch, SemiMarkovPotentials

SCALES = (0.3, 1.0, 3.0)


def chain(rng, lengths, labels=2, scale=1.0, order=1):
    tokens, before = sum(lengths), labels if order == 1 else labels * labels + labels
    unary, transition = rng.normal(size=(tokens, labels)), rng.normal(size=(before, labels))
    return ChainBatch(ChainPotentials.of(scale * unary, scale * transition), np.cumsum([0, *lengths]), order, threads=1)


def segments(rng, lengths, labels=2, scale=1.0):
    potentials = SemiMarkovPotentials.of(scale * rng.normal(size=(sum(lengths), 2, labels)))
    return SemiMarkovBatch(potentials, np.cumsum([0, *lengths]))


def trees(rng, lengths, scale=1.0):
    arcs, positions = sum((n + 1) ** 2 for n in lengths), sum(n + 1 for n in lengths)
    potentials = ProjectivePotentials(scale * rng.normal(size=(arcs, 2)), scale * rng.normal(size=(positions, 2, 2)))
    return ProjectiveBatch(potentials, np.cumsum([0, *lengths]))


def tokens_of(node, lengths, **how):
    sentence = np.repeat(np.arange(len(lengths)), lengths)
    position = np.concatenate([np.arange(n) for n in lengths])
    return node.tokens(sentence, position, **how)


def pair_of(rng, count):
    """Two numbers below count that differ."""
    first = int(rng.integers(count))
    return first, (first + 1 + int(rng.integers(count - 1))) % count


@st.composite
def graphs(draw, hard=True, chains=False):
    """A graph of a few structures and variables, coupled at random, with loops or without."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    scale = draw(st.sampled_from(SCALES))
    graph = Graph()
    lengths = draw(st.sampled_from([(2,), (1, 2), (2, 0, 1)]))
    order = 1 if chains else draw(st.sampled_from([1, 2]))
    words = tokens_of(graph.add(chain(rng, lengths, 3, scale, order)), lengths)
    plain = graph.free(scale * rng.normal(size=(2, 3)))
    if chains:
        for _ in range(draw(st.integers(0, 4))):
            a, b = pair_of(rng, len(words))
            graph.couple(Table(scale * rng.normal(size=(3, 3))), words[[a]], words[[b]])
            graph.couple(Table(scale * rng.normal(size=(1, 3, 3)), own=True), words[[a]], plain[[int(rng.integers(2))]])
            if hard:
                graph.couple(equals(3), plain[[0]], plain[[1]])
        return graph
    pieces = graph.add(segments(rng, (2, 2), 2, scale)).spans([0, 0, 1], [0, 0, 1], [1, 2, 2], labels=[(0, 1)])
    arcs = graph.add(trees(rng, (2,), scale)).arcs([0, 0], [0, 1], [1, 2])
    for _ in range(draw(st.integers(0, 4))):
        kind = draw(st.sampled_from(["table", "same", "equals", "one", "both", "implies", "three", "weighted"]))
        if kind == "one" and hard:
            graph.couple_all(at_most_one(), pieces)
        elif kind == "both":
            score = -np.inf if hard and rng.random() < 0.3 else scale * rng.normal()
            graph.couple(not_both(score), pieces[[int(rng.integers(3))]], arcs[[int(rng.integers(2))]])
        elif kind == "implies" and hard:
            graph.couple(implies(), arcs[[0]], pieces[[int(rng.integers(3))]])
        elif kind == "equals" and hard:
            graph.couple(equals(3), words[[int(rng.integers(len(words)))]], plain[[int(rng.integers(2))]])
        elif kind == "same":
            a, b = pair_of(rng, len(words))
            graph.couple(same_label(3, -scale * rng.random(), scale * rng.random(), free=[0]), words[[a]], words[[b]])
        elif kind == "three":
            table = Table(scale * rng.normal(size=(3, 2, 3)))
            graph.couple(table, words[[0]], pieces[[1]], plain[[1]])
        elif kind == "weighted":
            table = Table(scale * rng.normal(size=(3, 3)), weight=rng.random(2))
            graph.couple(table, words[[0, 0]], plain[[0, 1]])
        else:
            table = Table(scale * rng.normal(size=(1, 3, 3)), own=True)
            graph.couple(table, words[[int(rng.integers(len(words)))]], plain[[int(rng.integers(2))]])
    return graph
