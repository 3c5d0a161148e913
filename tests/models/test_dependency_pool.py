"""Pools of dependency parsers: trees as constituents and back, what a pool maximises, products, files, bad input."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dovetail
from dovetail.errors import DovetailError
from dovetail.models.dependency.estimator import DependencyParser
from dovetail.models.dependency.model import DependencyModel
from dovetail.models.dependency.pool import LEAST, ArcPool, pooled, span_arcs
from dovetail.models.dependency.spans import as_constituents, heads_of
from dovetail.text.dependencies import find_cycle, is_projective
from dovetail.text.sentence import Sentence
from tests.models.treebank import treebank

QUICK: dict[str, Any] = {"bits": 12, "iterations": 8, "threads": 1}


@pytest.fixture(scope="module")
def pool() -> DependencyParser:
    return DependencyParser(pool=4, **QUICK).fit(treebank(40))


def every_tree(n: int) -> list[tuple[int, ...]]:
    """All projective trees of n words with one root: heads from 0, -1 for the root."""
    found = product(range(-1, n), repeat=n)
    own = (h for h in found if h.count(-1) == 1 and all(a != b for a, b in enumerate(h)))
    return [heads for heads in own if not find_cycle(heads) and is_projective(heads)]


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_every_projective_tree_is_one_of_constituents(n: int) -> None:
    words, tags = [f"w{i}" for i in range(n)], ["X"] * n
    trees = [as_constituents(words, tags, heads, ["a:b"] * n) for heads in every_tree(n)]
    assert [tuple(heads_of(tree)) for tree in trees] == every_tree(n)
    assert len(set(map(str, trees))) == len(trees)


def test_a_pool_is_a_parser_like_others(pool: DependencyParser) -> None:
    assert isinstance(pool.model_, ArcPool)
    assert (len(pool.model_.arcs), len(pool.model_.spans)) == (2, 2)
    gold = treebank(20, seed=3)
    assert pool.score(gold) > 90
    [marginals] = pool.predict_marginals(gold[:1])
    assert marginals.sum(axis=1) == pytest.approx(1.0)
    assert pool.predict([Sentence(())])[0].heads == ()
    found = list(pool.annotate(gold[:2]))
    assert set(found[0].layers) >= {"head", "deprel", "head_probability"}
    assert pool.at_temperature(2.0) is not None


def test_the_pool_is_the_product_of_what_its_members_say_of_arcs(pool: DependencyParser) -> None:
    model = pool.model_
    assert isinstance(model, ArcPool)
    words, tags = [("Ada", "saw", "the", "garden")], [("NNP", "VBD", "DT", "NN")]
    said = [m.batch(words, tags, 1).marginals().attach.sum(axis=1) for m in model.arcs]
    said += [span_arcs(parser, words, tags, 1) for parser in model.spans]
    tables = [each.reshape(5, 5) for each in said]  # heads by dependents, from 1
    for table in tables:
        assert table[:, 1:].sum(axis=0) == pytest.approx(1.0)

    def score(heads: tuple[int, ...]) -> float:
        return sum(0.25 * np.log(max(t[h + 1, d + 1], LEAST)) for t in tables for d, h in enumerate(heads))

    trees = every_tree(4)
    chance = np.exp([score(heads) for heads in trees])
    chance /= chance.sum()
    answers = pool.kbest([Sentence(words[0], {"pos": tags[0]})], len(trees))[0]
    assert {a.heads: a.probability for a in answers} == pytest.approx(dict(zip(trees, chance, strict=True)), abs=1e-6)


def test_parsers_that_differ_in_weights_alone_become_their_product() -> None:
    two = [DependencyParser(l2=l2, relations=l2 > 1, **QUICK).fit(treebank(20)) for l2 in (0.5, 3.0)]
    one = pooled(two, [1, 3])
    assert isinstance(one.model_, DependencyModel)
    assert one.relations_ is two[1].relations_
    text = [Sentence(("Ada", "saw", "Bob", "."), {"pos": ("NNP", "VBD", "NNP", ".")})]

    def trees(parser: DependencyParser) -> dict[tuple[int, ...], float]:
        return {a.heads: a.probability or 0.0 for a in parser.kbest(text, 1000)[0]}

    first, second = map(trees, two)
    both = {heads: p**0.25 * second[heads] ** 0.75 for heads, p in first.items()}
    assert len(both) > 2
    whole = sum(both.values())
    assert trees(one) == pytest.approx({heads: p / whole for heads, p in both.items()}, rel=1e-3)


def test_a_file_holds_the_pool(pool: DependencyParser, tmp_path: Path) -> None:
    pool.save(tmp_path / "m")
    loaded = dovetail.load(tmp_path / "m")
    gold = treebank(10, seed=5)
    assert isinstance(loaded, DependencyParser)
    assert loaded.predict(gold) == pool.predict(gold)
    again, together = loaded.predict_marginals(gold), pool.predict_marginals(gold)
    assert all(np.array_equal(a, b) for a, b in zip(again, together, strict=True))
    alone = [pool.predict_marginals([s])[0] for s in gold]
    assert all(np.allclose(a, b) for a, b in zip(together, alone, strict=True))


def test_pools_are_pooled_flat_and_long_sentences_are_parsed(
    pool: DependencyParser, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = DependencyParser(**QUICK).fit(treebank(20, seed=9))
    more = pooled([pool, other], [4, 1])
    assert (len(more.model_.arcs), len(more.model_.spans)) == (3, 2)
    assert more.model_.shares.sum() == pytest.approx(1.0)
    assert more.model_.shares == pytest.approx(0.2)
    monkeypatch.setattr("dovetail.models.dependency.pool.LONGEST", 5)
    long = Sentence(("Ada", "saw") * 4, {"pos": ("NNP", "VBD") * 4})
    assert len(pool.predict([long])[0].heads) == 8


def test_dev_is_scored_by_the_pool_and_tags_may_be_predicted() -> None:
    dev = treebank(10, seed=4)
    parser = DependencyParser(pool=2, predict_tags=True, **QUICK).fit(treebank(30), dev=dev)
    assert parser.card_["dev"] == pytest.approx(parser.score(dev))
    assert parser.card_["members"] == 2
    assert len(parser.predict([["Ada", "saw", "Bob"]])[0].heads) == 3


def test_what_cannot_be_pooled_says_so(pool: DependencyParser) -> None:
    with pytest.raises(DovetailError, match="at least two"):
        pooled([pool])
    with pytest.raises(DovetailError, match="not trained"):
        pooled([pool, DependencyParser()])
    with pytest.raises(DovetailError, match="predict them"):
        pooled([pool, DependencyParser(predict_tags=True, **QUICK).fit(treebank(10))])
    odd = [s.with_layer("deprel", tuple("x" + r for r in s.layers["deprel"])) for s in treebank(10)]
    with pytest.raises(DovetailError, match="different relations"):
        pooled([pool, DependencyParser(**QUICK).fit(odd)])
    with pytest.raises(DovetailError, match="one go"):
        DependencyParser(pool=2, **QUICK).fit(treebank(10), checkpoint="x")
