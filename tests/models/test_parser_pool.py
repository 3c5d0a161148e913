"""Pools of parsers of constituents: what the tree maximises, when they are one parser, files, bad input."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dovetail
from dovetail.errors import DovetailError
from dovetail.grammars.brackets import JOINT
from dovetail.models.domains.parser import MultiDomainParser
from dovetail.models.joint.estimator import JointParser
from dovetail.models.parser.brackets.model import BracketModel
from dovetail.models.parser.decoding import Votes
from dovetail.models.parser.estimator import Parser
from dovetail.models.parser.model import ParserModel
from dovetail.models.parser.pool import COST, LEAST, ParserPool, pooled
from dovetail.structures.grammar import cells
from dovetail.text.brackets import parse_tree
from dovetail.text.sentence import Sentence
from dovetail.text.tree import Tree
from tests.trees import treebank

QUICK: dict[str, Any] = {"iterations": 3, "folds": 2, "batch": 8, "min_count": 1, "threads": 1}
WORDS = ["Ada", "saw", "the", "dog", "near", "a", "house", "."]


@pytest.fixture(scope="module")
def pool() -> Parser:
    return Parser(pool=4, **QUICK).fit(treebank(60))


def members(**settings: Any) -> list[Parser]:
    return [Parser(seed=seed, **(QUICK | settings)).fit(treebank(12)) for seed in (1, 2)]


def test_a_pool_is_a_parser_like_others(pool: Parser) -> None:
    assert [(m.kind, m.direction) for m in pool.members_] == [
        ("grammar", "right"), ("labelled-rules", "right"), ("grammar", "left"), ("labelled-rules", "left"),
    ]  # fmt: skip
    gold = treebank(30, seed=5)
    assert pool.score(gold) > 90
    [answer] = pool.parse([WORDS], probabilities=True)
    assert answer.tree is not None
    assert answer.tree.words() == tuple(WORDS)
    assert all(0 < (s.probability or 0.0) < 1 for s in answer.tree.spans()[1:])
    assert pool("Ada saw the dog.").sentences[0].tree is not None
    assert pool.stages() == [pool]
    assert pool.reading().predict([Sentence(tuple(WORDS[:3]), {"pos": ("NNP", "VBD", "DT")})])


def trees_of(pool: ParserPool, n: int) -> list[set[tuple[int, int, str]]]:
    """All trees of n words that a pool can give, as sets of constituents."""
    labels = pool.labels
    single = [labels.parts[i] for i in labels.choices()[0]]
    wide = [labels.parts[i] for i in labels.choices()[2]]
    inner = [(i, j) for i in range(n) for j in range(i + 2, n + 1) if j - i < n]
    found = []
    for used in product([False, True], repeat=len(inner)):
        spans = [span for span, there in zip(inner, used, strict=True) if there]
        if any(a < c < b < d for a, b in spans for c, d in spans):
            continue
        places = [*((i, i + 1) for i in range(n)), (0, n), *spans]
        choices = [single if j - i == 1 else wide for i, j in places]
        for chosen in product(*choices):
            found.append({(*place, part) for place, parts in zip(places, chosen, strict=True) for part in parts})
    return found


@pytest.mark.parametrize("seed", range(8))
def test_the_tree_has_the_largest_sum_of_probabilities_less_their_cost(seed: int) -> None:
    trees = [parse_tree("(S (NP (NNP Ada)) (VP (VBD slept) (RB here)))"), parse_tree("(S (VP (VB Go)))")]
    corpus = [Sentence(t.words(), {"pos": t.tags()}, tree=t) for t in trees]
    some = [Parser(kind=kind, **(QUICK | {"iterations": 1})).fit(corpus) for kind in ("grammar", "labelled-rules")]
    pool = pooled(some, [1, 3]).model_
    rng, n = np.random.default_rng(seed), 3
    names = pool.labels.constituents
    votes = [
        Votes(tuple(rng.permutation(names).tolist()), rng.random((n * (n + 1) // 2, len(names))) ** 2, ("X",) * n)
        for _ in some
    ]
    for member, vote in zip(some, votes, strict=True):
        member.votes = lambda sentences, vote=vote: [[vote]]  # type: ignore[method-assign]
    [answer] = pool.answers([Sentence(("a", "b", "c"))], True, 1)

    def chance(begin: int, end: int, label: str) -> float:
        given = [v.chance[int(cells(n, begin, end)), v.names.index(label)].clip(LEAST, 1 - LEAST) for v in votes]
        odds = np.prod([(p / (1 - p)) ** share for p, share in zip(given, (0.25, 0.75), strict=True)])
        return float(odds / (1 + odds))

    def gain(parts: Any) -> float:
        return sum(chance(*part) - COST for part in parts)

    found = {(s.start, s.end, s.label) for s in answer.tree.spans() if s.label != "ROOT"}
    assert gain(found) == pytest.approx(max(map(gain, trees_of(pool, n))))
    for span in answer.tree.spans():
        if span.label != "ROOT":
            assert span.probability == pytest.approx(chance(span.start, span.end, span.label))


@pytest.mark.parametrize(("kind", "stored"), [("grammar", ParserModel), ("labelled-rules", BracketModel)])
def test_parsers_that_differ_in_weights_alone_become_their_product(kind: str, stored: type) -> None:
    two, words = members(kind=kind, threshold=0.0), ["the", "king", "saw", "a", "dog", "."]
    one = pooled(two, [1, 3])
    assert type(one.model_) is stored

    def trees(parser: Parser) -> dict[Tree, float]:
        assert parser.model_ is not None
        answers = parser.kbest([words], 100_000)[0]
        return {a.tree: a.probability or 0.0 for a in answers if a.tree is not None}

    if kind == "grammar":  # every tree has one derivation, so that probabilities multiply
        first, second = map(trees, two)
        both = {tree: p**0.25 * second[tree] ** 0.75 for tree, p in first.items()}
        whole = sum(both.values())
        assert len(both) > 2
        assert trees(one) == pytest.approx({tree: p / whole for tree, p in both.items()}, rel=1e-4)
    assert np.allclose(one.weights_, 0.25 * two[0].weights_ + 0.75 * two[1].weights_, atol=1e-6)
    assert np.abs(two[0].weights_ - two[1].weights_).max() > 0.01


def test_one_member_with_the_whole_weight_decides_the_constituents(pool: Parser) -> None:
    first, second = pool.members_[:2]
    one = pooled([first, second], [1, 0])
    [own] = first.predict_marginals([WORDS], 0.01)
    [found] = one.predict_marginals([WORDS], 0.01)
    assert {(s.start, s.end, s.label): s.probability for s in found} == pytest.approx(
        {(s.start, s.end, s.label): min(s.probability or 0.0, 1 - LEAST) for s in own}
    )


def test_lists_and_samples_are_those_of_the_members_by_their_shares(pool: Parser) -> None:
    [answers] = pool.kbest([WORDS], 3)
    shares = [
        sum(a.probability or 0.0 for a in member.kbest([WORDS], 3)[0] if a.tree == answers[0].tree)
        for member in pool.members_
    ]
    assert answers[0].probability == pytest.approx(np.mean(shares))
    assert [a.probability or 0 for a in answers] == sorted((a.probability or 0 for a in answers), reverse=True)
    [drawn] = pool.sample([WORDS], 300, seed=1)
    assert np.mean([a.tree == answers[0].tree for a in drawn]) == pytest.approx(np.mean(shares), abs=0.1)


def test_a_file_holds_the_pool_and_a_shared_tagger_once(pool: Parser, tmp_path: Path) -> None:
    path, alone = tmp_path / "pool.dovetail", [tmp_path / str(i) for i in range(4)]
    pool.save(path)
    for member, own in zip(pool.members_, alone, strict=True):
        member.save(own)
    loaded = dovetail.load(path)
    assert isinstance(loaded, Parser)
    gold = [s.words for s in treebank(10, seed=3)]
    assert loaded.predict(gold) == pool.predict(gold)
    assert loaded.predict_marginals(gold) == pool.predict_marginals(gold)
    assert path.stat().st_size < sum(own.stat().st_size for own in alone) - 10_000
    pool.save(path, half=True)
    assert len(dovetail.load(path).predict(gold)) == len(gold)


def test_long_and_odd_sentences_have_trees(pool: Parser) -> None:
    text = [["hat"], ["Ada", "saw"] * 150, ["."] * 4]
    found = pool.parse(text)
    assert [len(answer.tree or ()) for answer in found] == [1, 300, 4]
    assert found[1].search == "cut"


def test_pools_of_pools_are_flat(pool: Parser) -> None:
    more = pooled([pool, pool.members_[0]], [4, 1])
    assert len(more.members_) == 5
    assert more.model_.shares.tolist() == pytest.approx([0.2] * 5)


def test_dev_is_scored_by_the_pool() -> None:
    dev = treebank(10, seed=4)
    parser = Parser(pool=2, **QUICK).fit(treebank(30), dev=dev)
    assert parser.card_["dev"] == pytest.approx(parser.score(dev))
    assert parser.card_["members"] == 2
    assert all(member.card_["dev"] is not None for member in parser.members_)


def test_what_cannot_be_pooled_says_so(pool: Parser) -> None:
    first = pool.members_[0]
    with pytest.raises(DovetailError, match="at least two"):
        pooled([first])
    with pytest.raises(DovetailError, match="one for each"):
        pooled([first, first], [1.0])
    with pytest.raises(DovetailError, match="zero or positive"):
        pooled([first, first], [1.0, -1.0])
    with pytest.raises(DovetailError, match="not trained"):
        pooled([first, Parser()])

    def renamed(tree: Tree) -> Tree:
        return tree.fold(lambda node, below: replace(node, label=f"{node.label}2", children=below) if below else node)

    odd = [replace(s, tree=renamed(s.tree)) for s in treebank(12) if s.tree is not None]
    with pytest.raises(DovetailError, match="different labels"):
        pooled([first, Parser(**QUICK).fit(odd)])
    with pytest.raises(DovetailError, match="predict them"):
        pooled([first, Parser(tags="given", **QUICK).fit(treebank(60))])
    for kind in (Parser(pool=2, features="rules"), Parser(pool=2, kind="brackets"), JointParser(pool=2)):
        with pytest.raises(DovetailError, match="pool"):
            kind.check_settings()
    with pytest.raises(DovetailError, match="one model"):
        MultiDomainParser(parser=Parser(pool=2)).check_settings()
    with pytest.raises(DovetailError, match="one go"):
        Parser(pool=2, **QUICK).fit(treebank(12), init=first)
    with pytest.raises(DovetailError, match="members_"):
        pool.explain(WORDS, 0, 1)


def test_chains_are_those_that_members_know(pool: Parser) -> None:
    assert isinstance(pool.model_, ParserPool)
    names = {part for name in pool.model_.labels.names for part in name.split(JOINT)}
    assert {"S", "NP", "VP"} <= names
