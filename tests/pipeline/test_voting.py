"""Votes: parts of every kind of layer, what they make together, and what is worth answering."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dovetail.pipeline.parts import parts_of
from dovetail.pipeline.values import Value, value_of, without, written
from dovetail.pipeline.voting import Ballot
from dovetail.text.brackets import parse_tree
from dovetail.text.frames import Frame
from dovetail.text.sentence import Sentence, Span

TREES = [
    "(S (NP (NNP Ada)) (VP (VBD saw) (NP (NP (NNS men)) (PP (IN in) (NP (NNP Bern))))))",
    "(S (NP (NNP Ada)) (VP (VBD saw) (NP (NNS men)) (PP (IN in) (NP (NNP Bern)))))",
    "(S (NP (NN Ada)) (VP (VBD saw) (NP (NNS men)) (PP (RP in) (NP (NN Bern)))))",
    "(X (S (NP (NN Ada)) (VP (VP (VBD saw)) (NP (NNS men)) (PP (RP in) (NP (NN Bern))))))",
]


def ballot(writes, *votes):
    return Ballot.of(writes, {Value(writes, layers): weight for weight, *layers in votes})


def test_tags_are_chosen_by_place():
    votes = ballot(["pos"], (0.4, ("A", "B", "C")), (0.3, ("D", "B", "E")), (0.3, ("D", "F", "C")))
    assert votes.winner("parts", 0.4).named() == {"pos": ("D", "B", "C")}
    assert votes.winner("answer", 0.4).named() == {"pos": ("A", "B", "C")}
    assert votes.parts["pos", 0, "D"] == pytest.approx(0.6)


def test_spans_that_overlap_are_not_answered_together():
    writes = ["ner", "spans"]
    votes = ballot(
        writes,
        (0.45, ("B-PER", "I-PER", "O"), (Span(0, 2, "PER"),)),
        (0.3, ("B-PER", "O", "B-LOC"), (Span(0, 1, "PER"), Span(2, 3, "LOC"))),
        (0.25, ("O", "O", "B-LOC"), (Span(2, 3, "LOC"),)),
    )
    best = votes.winner("parts", 0.4)
    assert best.named() == {"ner": ("B-PER", "I-PER", "B-LOC"), "spans": (Span(0, 2, "PER"), Span(2, 3, "LOC"))}
    assert votes.probability(best) == 0.0
    sure = votes.with_probabilities(best)["spans"]
    assert [span.probability for span in sure] == pytest.approx([0.45, 0.55])
    assert votes.winner("parts", 0.5).named()["spans"] == (Span(2, 3, "LOC"),)


def test_nested_spans_may_be_within_each_other():
    outer, inner, crossing = Span(0, 3, "ORG"), Span(2, 3, "LOC"), Span(1, 4, "PER")
    votes = ballot(["spans"], (0.4, (outer, inner)), (0.35, (crossing, inner)), (0.25, (outer,)))
    assert votes.winner("parts", 0.3).named()["spans"] == (outer, inner)


def test_trees_of_probable_constituents():
    trees = [parse_tree(line) for line in TREES]
    votes = ballot(["tree"], *zip((0.3, 0.25, 0.25, 0.2), trees, strict=True))
    best = votes.winner("parts", 0.4).named()["tree"]
    assert str(best) == "(S (NP (NNP Ada)) (VP (VBD saw) (NP (NNS men)) (PP (IN in) (NP (NNP Bern)))))"
    shown = votes.with_probabilities(Value(["tree"], [best]))["tree"]
    assert {(s.start, s.end, s.label): s.probability for s in shown.spans()[1:]} == pytest.approx(
        {(0, 1, "NP"): 1.0, (1, 5, "VP"): 1.0, (2, 3, "NP"): 1.0, (3, 5, "PP"): 1.0, (4, 5, "NP"): 1.0}
    )


def test_unary_chains_keep_their_order():
    tree = parse_tree("(ROOT (S (VP (VP (VB run)))))")
    votes = ballot(["tree"], (0.6, tree), (0.4, parse_tree("(ROOT (FRAG (VB run)))")))
    assert len(parts_of(Value(["tree"], [tree]))) == 3
    made = Ballot(votes.writes, (*votes.votes, (Value(["tree"], [parse_tree("(ROOT (NN run))")]), 0.0)))
    assert made.winner("parts", 0.4).named()["tree"] == tree


def test_heads_make_a_tree_or_are_one_of_those_voted_for():
    writes = ["head", "deprel"]
    relations = ("a", "b", "c")
    votes = ballot(
        writes,
        (0.4, ("2", "0", "2"), relations),
        (0.3, ("0", "1", "2"), relations),
        (0.3, ("2", "0", "1"), ("x", "b", "y")),
    )
    best = votes.winner("parts", 0.4).named()
    assert best == {"head": ("2", "0", "2"), "deprel": relations}
    assert votes.with_probabilities(Value(writes, best.values()))["head_probability"] == ("0.7000", "0.7000", "0.7000")
    circle = ballot(["head"], (0.35, ("2", "0", "0")), (0.33, ("0", "1", "1")), (0.32, ("2", "1", "0")))
    assert circle.winner("parts", 0.4) in [value for value, _ in circle.votes]


def test_where_parts_do_not_fit_the_vote_with_most_parts_expected_to_be_right_wins():
    # The most probable heads, "2" and "1", go round in a circle. Expected right: 1.5, 1.6 and 1.2 heads.
    circle = ballot(["head"], (0.4, ("2", "0", "1")), (0.3, ("0", "1", "1")), (0.3, ("3", "1", "0")))
    assert circle.winner("parts", 0.4).named() == {"head": ("0", "1", "1")}
    assert circle.winner("answer", 0.4).named() == {"head": ("2", "0", "1")}


def test_arguments_of_each_predicate_by_themselves():
    def frame(sense, *arguments):
        return Frame(1, sense, "sell", arguments)

    votes = ballot(
        ["frames"],
        (0.5, (frame("sell.01", (0, 1, "ARG0"), (2, 4, "ARG1")),)),
        (0.3, (frame("sell.01", (0, 1, "ARG0"), (2, 3, "ARG1")), Frame(3, "x.01", "x"))),
        (0.2, (frame("sell.02", (0, 1, "ARG1"), (2, 4, "ARG1")),)),
    )
    [best] = votes.winner("parts", 0.4).named()["frames"]
    assert best == frame("sell.01", (0, 1, "ARG0"), (2, 4, "ARG1"))
    [sure] = votes.with_probabilities(Value(["frames"], [(best,)]))["frames"]
    assert sure.probability == pytest.approx(1.0)
    assert [a.probability for a in sure.arguments] == pytest.approx([0.8, 0.7])


def test_words_that_make_up_the_text():
    votes = ballot(["words"], (0.4, ("ab", "c", "d")), (0.35, ("a", "b", "cd")), (0.25, ("ab", "cd")))
    assert votes.winner("parts", 0.4).named() == {"words": ("ab", "cd")}


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 9), st.lists(st.sampled_from("ABC"), min_size=3, max_size=3)), min_size=1))
def test_no_candidate_has_more_parts_expected_to_be_right(drawn):
    votes = ballot(["pos"], *((float(weight), tuple(tags)) for weight, tags in drawn))
    best = votes.winner("parts", 0.4)

    def expected(value):
        return sum(votes.parts[part] for part in parts_of(value))

    assert all(expected(best) >= expected(value) - 1e-9 for value, _ in votes.votes)
    assert sum(p for _, p in votes.votes) == pytest.approx(1.0)


def test_what_is_written_is_read_again():
    sentence = Sentence(
        ("Ada", "slept"), {"pos": ("NNP", "VBD")}, frames=(Frame(1, "sleep.01", "sleep", [(0, 1, "A0")]),)
    )
    layers = {"ner": ("B-PER", "O"), "spans": (Span(0, 1, "PER"),), "tree": parse_tree("(S (NNP Ada) (VBD slept))")}
    value = Value(layers, layers.values())
    assert value_of(written(sentence, layers), list(layers)) == value
    bare = without(written(sentence, layers), [*layers, "frames"])
    assert bare == Sentence(("Ada", "slept"), {"pos": ("NNP", "VBD")}, frames=(Frame(1, "sleep.01", "sleep"),))
