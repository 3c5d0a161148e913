"""Dependency parsers of several domains."""

from __future__ import annotations

import numpy as np
import pytest

from dovetail import DependencyParser, Sentence
from dovetail.errors import DovetailError
from dovetail.models.dependency.domains import fit_domains


def clause(words: str, tags: str, heads: str) -> Sentence:
    layers = {"pos": tuple(tags.split()), "head": tuple(heads.split())}
    return Sentence(tuple(words.split()), layers)


# The domains differ in which of two nouns is the head, and agree on all else.
LEFT = [clause("dogs saw bone black", "N V N J", "2 0 2 3"), clause("cat ate fish", "N V N", "2 0 2")] * 4
RIGHT = [clause("dogs saw black bone", "N V J N", "2 0 4 2"), clause("cat bone fell", "N N V", "2 3 0")] * 4


def new() -> DependencyParser:
    settings = {"bits": 12, "relations": False, "threshold": 0.0, "min_count": 1}
    return DependencyParser(**settings, l2=0.1, threads=1, iterations=40)  # type: ignore[arg-type]


def weights(parser: DependencyParser) -> np.ndarray:
    assert parser.model_ is not None
    return parser.model_.fine_weight


def test_each_domain_goes_its_own_way() -> None:
    parsers = fit_domains(new(), {"left": LEFT, "right": RIGHT}, sigma=0.3)
    assert set(parsers) == {None, "left", "right"}
    for name, sentences in (("left", LEFT), ("right", RIGHT)):
        assert parsers[name].score(sentences) == 100.0
    assert not np.allclose(weights(parsers["left"]), weights(parsers["right"]))
    # Unseen by right: what left knows.
    assert parsers["right"].predict([Sentence(("cat", "ate", "fish"), {"pos": ("N", "V", "N")})])[0].heads == (1, -1, 1)


def test_no_variance_is_one_parser_of_all() -> None:
    pooled = new().fit(LEFT + RIGHT)
    tied = fit_domains(new(), {"left": LEFT, "right": RIGHT}, sigma=0.0)
    for parser in tied.values():
        np.testing.assert_allclose(weights(parser), weights(pooled), atol=0.02)


def test_no_top_variance_is_a_parser_for_each() -> None:
    alone = new().fit(LEFT)
    apart = fit_domains(new(), {"left": LEFT, "right": RIGHT}, sigma=1.0, top=0.0)
    np.testing.assert_allclose(weights(apart["left"]), weights(alone), atol=0.02)
    assert not weights(apart[None]).any()


def test_what_cannot_be_is_told() -> None:
    with pytest.raises(DovetailError, match="the domain 'right' has no training data"):
        fit_domains(new(), {"left": LEFT, "right": []})
    with pytest.raises(DovetailError, match="leave predict_tags out"):
        fit_domains(DependencyParser(predict_tags=True), {"left": LEFT})
