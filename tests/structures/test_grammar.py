"""Charts and grammars that do not fit together are refused with a word on what is wrong."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from dovetail.errors import InputError
from dovetail.structures.grammar import Grammar, GrammarPotentials, ParseChart


@pytest.fixture
def grammar():
    return Grammar.of(4, 2, binary=[(2, 0, 1), (3, 2, 2), (2, 0, 1)], unary=[(2, 0), (3, 2), (2, 3)])


def potentials(grammar, n=3, **tables):
    return GrammarPotentials.of(grammar, np.zeros((n, grammar.tags)), **tables)


@pytest.mark.parametrize(
    ("binary", "unary", "message"),
    [
        ([(2, 0, 4)], [], "not one of 0 to 3"),
        ([(1, 0, 0)], [], "rewrites a tag"),
        ([], [(0, 2)], "rewrites a tag"),
        ([], [(2, 2)], "rewrites a symbol as itself"),
    ],
)
def test_rules_that_cannot_be(binary, unary, message):
    with pytest.raises(InputError, match=message):
        Grammar.of(4, 2, binary, unary)


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        ({"begin": np.zeros((3, 2))}, r"begin has shape \(3, 2\), expected \(4, 2\)"),
        ({"span": np.zeros((6, 3))}, "span has shape"),
        ({"unary_end": np.zeros((4, 2))}, "unary_end has shape"),
        ({"root": np.zeros(3)}, "root has shape"),
        ({"split": np.full((4, 2), np.nan)}, "split holds NaN or plus infinity"),
        ({"root": [0, 0, np.inf, -np.inf]}, "root holds NaN or plus infinity"),
    ],
)
def test_potentials_that_do_not_fit(grammar, tables, message):
    with pytest.raises(InputError, match=message):
        ParseChart(grammar, potentials(grammar, **tables))


def test_masks_and_directions_that_do_not_fit(grammar):
    given = potentials(grammar)
    with pytest.raises(InputError, match="mask has shape"):
        ParseChart(grammar, given, np.ones((5, 4), np.uint8))
    chart = ParseChart(grammar, given)
    with pytest.raises(InputError, match="shapes of the potentials"):
        chart.jvp(potentials(grammar, n=2))
    with pytest.raises(InputError, match="must be finite"):
        chart.jvp(given._replace(root=np.full(4, -np.inf)))
    with pytest.raises(InputError, match="group has shape"):
        chart.label_marginals([0, 1])
    with pytest.raises(InputError, match="unary_labels has 1 entries"):
        chart.label_marginals([0, 1, 1, 1], [[1]])


def test_sentences_of_no_words_and_of_too_many():
    grammar = Grammar.of(91, 45, binary=[(45, 0, 0)])
    with pytest.raises(InputError, match="without words"):
        ParseChart(grammar, potentials(grammar, 0))
    with pytest.raises(InputError, match=r"5000 words is too long .* at most 12\d\d: split the sentence"):
        ParseChart(grammar, potentials(grammar, 5000))


def test_trees_that_are_none_of_the_grammar(grammar):
    chart = ParseChart(grammar, potentials(grammar, n=4, unary_begin=[-1.0, -1.0, -1.0]))
    tree = chart.best()  # ((0 1) (0 1)), the only one without a unary rule
    assert_allclose(chart.score(tree), 0.0)
    wrong = [
        (tree._replace(tags=tree.tags[1:]), "has 4 tags"),
        (tree._replace(tags=tree.tags + 2), "tags must be"),
        (tree._replace(binary=tree.binary + 5), "binary rules must be"),
        (tree._replace(binary=tree.binary[::-1]), "not over what is below it"),
        (tree._replace(unary=np.array([[0, 0, 4]])), "unary rule over words 0 to 4 is not over"),
        (tree._replace(unary=np.array([[0, 1, 3]])), "do not make one tree"),
        (tree._replace(root=2), "do not make one tree"),
    ]
    for other, message in wrong:
        with pytest.raises(InputError, match=message):
            chart.score(other)


def test_unary_rules_in_a_circle_are_used_once_a_span(grammar):
    chart = ParseChart(grammar, potentials(grammar, n=1))
    # Two tags; symbol 2 over tag 0. Its own 2 -> 3 and 3 -> 2 would need a second unary rule.
    assert_allclose(np.exp(chart.log_partition()), 3.0)
    assert len(chart.kbest(10)) == 3


def test_a_sentence_that_the_grammar_cannot_parse():
    grammar = Grammar.of(3, 2, binary=[(2, 0, 1)])
    chart = ParseChart(grammar, potentials(grammar, n=3))
    assert chart.log_partition() == -np.inf
    assert not any(part.any() for part in chart.marginals())
    assert not any(part.any() for part in chart.jvp(chart.potentials))
    assert not chart.span_marginals().symbol.any()
    assert chart.best() is None
    assert chart.max_recall([-1, -1, 0]) is None
    assert chart.kbest(3) == []
    assert chart.entropy() == 0.0
