"""Random small grammars with potentials, masked and extreme ones among them, for hypothesis."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from dovetail.structures.grammar import Grammar, GrammarPotentials, ParseChart, cell_count
from tests.structures.enumerate_grammar import EnumeratedChart


def random_grammar(rng, tags, phrases, rules, unaries):
    symbols = tags + phrases
    binary = zip(rng.integers(tags, symbols, rules), *rng.integers(0, symbols, (2, rules)), strict=True)
    chains = zip(rng.integers(tags, symbols, unaries), rng.integers(0, symbols, unaries), strict=True)
    pairs = [(int(parent), int(child)) for parent, child in chains if parent != child]
    return Grammar.of(symbols, tags, [tuple(map(int, rule)) for rule in binary], pairs)


def random_potentials(rng, grammar, n, *, scale=1.0, forbidden=0.0, single=0.0):
    """Potentials for n words; a share is minus infinity, and a table has a single row with some probability."""

    def table(rows, width):
        values = rng.normal(size=(1 if rng.random() < single else rows, width)) * scale
        values[rng.random(values.shape) < forbidden] = -np.inf
        return values

    rules, unaries = [table(n + 1, grammar.rules) for _ in range(3)], [table(n + 1, grammar.unaries) for _ in range(2)]
    tag = rng.normal(size=(n, grammar.tags)) * scale
    tag[rng.random(tag.shape) < forbidden] = -np.inf
    span, root = table(cell_count(n), grammar.symbols), table(1, grammar.symbols)[0]
    return GrammarPotentials.of(grammar, tag, *rules, span, *unaries, root)


def random_direction(rng, potentials):
    return GrammarPotentials(*(rng.normal(size=part.shape) for part in potentials))


@st.composite
def charts(draw, scales=(0.0, 1.0, 5.0, 30.0, 300.0), forbidden=(0.0, 0.0, 0.2), masked=(None, 0.9, 0.6)):
    """A chart over up to four words, its brute-force twin and a random generator."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, tags, phrases = draw(st.integers(1, 4)), draw(st.integers(1, 3)), draw(st.integers(1, 3))
    grammar = random_grammar(rng, tags, phrases, draw(st.integers(0, 7)), draw(st.integers(0, 4)))
    potentials = random_potentials(
        rng,
        grammar,
        n,
        scale=draw(st.sampled_from(scales)),
        forbidden=draw(st.sampled_from(forbidden)),
        single=draw(st.sampled_from([0.0, 0.5, 1.0])),
    )
    share = draw(st.sampled_from(masked))
    mask = None if share is None else (rng.random((cell_count(n), grammar.symbols)) < share).astype(np.uint8)
    return ParseChart(grammar, potentials, mask), EnumeratedChart(grammar, potentials, mask), rng
