"""Parsers of constituents for several domains."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dovetail import MultiDomainParser, Parser, Sentence
from dovetail.errors import DovetailError
from dovetail.learning.objective import Share
from dovetail.models.parser.training import ParserTraining
from dovetail.sparse import SparseGradient
from dovetail.text.brackets import parse_tree
from tests.trees import treebank


def clause(bracketed: str) -> Sentence:
    tree = parse_tree(bracketed)
    return Sentence(tree.words(), {"pos": tree.tags()}, tree=tree)


# The domains differ in what "with" belongs to, and share all else.
HIGH = clause(
    "(ROOT (S (NP (NNP Ada)) (VP (VBD saw) (NP (DT the) (NN dog)) (PP (IN with) (NP (DT a) (NN cat)))) (. .)))"
)
LOW = clause(
    "(ROOT (S (NP (NNP Ada)) (VP (VBD saw) (NP (NP (DT the) (NN dog)) (PP (IN with) (NP (DT a) (NN cat))))) (. .)))"
)
SHARED = treebank(30)


def new() -> Parser:
    return Parser(tags="given", iterations=8, batch=8, threads=1)


def test_each_domain_goes_its_own_way(tmp_path: Path) -> None:
    data = {"high": [*SHARED, *[HIGH] * 10], "low": [*SHARED, *[LOW] * 10]}
    parsers = MultiDomainParser(parser=new()).fit(data)
    assert parsers.domains_ == ("high", "low")
    for name, right in (("high", HIGH), ("low", LOW)):
        bare = Sentence(right.words, dict(right.layers))
        assert parsers.predict([bare], name)[0] == right.tree
        parsers.parser_of(name).save(tmp_path / name)
        assert Parser.load(tmp_path / name).predict([bare])[0] == right.tree
    assert parsers.score(SHARED) > 90


def test_no_variance_is_one_parser_of_all() -> None:
    tied = MultiDomainParser(parser=new(), sigma=0.0).fit({"high": [*SHARED, HIGH], "low": [*SHARED, LOW]})
    weights = [tied.parser_of(name).weights_ for name in (None, "high", "low")]
    np.testing.assert_array_equal(weights[1], weights[2])
    np.testing.assert_allclose(weights[0], weights[1], atol=1e-6)


def test_the_used_weights_have_the_whole_gradient() -> None:
    parser = new()
    trees = [s.tree for s in SHARED if s.tree is not None]
    training = ParserTraining.prepare(SHARED, trees, [t.tags() for t in trees], parser._settings(), None)
    objective = training.objective
    used = Share.used(objective, training.origin)
    rng = np.random.default_rng(1)
    weight = training.origin + np.where(np.isin(np.arange(len(training.origin)), used.share), rng.normal(size=1), 0.0)
    whole, own = SparseGradient.of_size(objective.parameters), SparseGradient.of_size(used.parameters)
    some = np.arange(7)
    loss = used.accumulate(weight[used.share], some, own)
    # A weight that no sentence uses has no influence: what it is does not matter.
    assert objective.accumulate(weight, some, whole) == pytest.approx(loss)
    np.testing.assert_allclose(whole.value[used.share], own.value, atol=1e-9)
    np.testing.assert_allclose(np.delete(whole.value, used.share), 0.0, atol=1e-9)


def test_what_cannot_be_is_told() -> None:
    with pytest.raises(DovetailError, match="the domain 'low' has no training data"):
        MultiDomainParser(parser=new()).fit({"high": [HIGH], "low": []})
    with pytest.raises(DovetailError, match="no weights to share"):
        MultiDomainParser(parser=Parser(features="generative")).fit({"high": [HIGH]})
    with pytest.raises(DovetailError, match="domain 'low': "):
        MultiDomainParser(parser=new()).fit({"high": [HIGH], "low": [Sentence(("a", "b"))]})
