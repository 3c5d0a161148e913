"""Dependency parsers of several domains."""

from __future__ import annotations

import numpy as np
import pytest

from dovetail import DependencyParser, MultiDomainParser, Sentence
from dovetail.errors import DovetailError


def clause(words: str, tags: str, heads: str) -> Sentence:
    layers = {"pos": tuple(tags.split()), "head": tuple(heads.split())}
    return Sentence(tuple(words.split()), layers)


# The domains differ in which of two nouns is the head, and agree on all else.
LEFT = [clause("dogs saw bone black", "N V N J", "2 0 2 3"), clause("cat ate fish", "N V N", "2 0 2")] * 4
RIGHT = [clause("dogs saw black bone", "N V J N", "2 0 4 2"), clause("cat bone fell", "N N V", "2 3 0")] * 4


def new() -> DependencyParser:
    settings = {"bits": 12, "relations": False, "threshold": 0.0, "min_count": 1}
    return DependencyParser(**settings, l2=0.1, threads=1, iterations=40)  # type: ignore[arg-type]


def several(**settings: object) -> MultiDomainParser:
    return MultiDomainParser(parser=new(), **settings).fit({"left": LEFT, "right": RIGHT})  # type: ignore[arg-type]


def test_each_domain_goes_its_own_way() -> None:
    parsers = several(sigma=0.3)
    assert parsers.domains_ == ("left", "right")
    for name, sentences in (("left", LEFT), ("right", RIGHT)):
        assert parsers.score(sentences, name) == 100.0
    assert not np.allclose(parsers.parser_of("left").weights_, parsers.parser_of("right").weights_)
    # Unseen by right: what left knows.
    unseen = Sentence(("cat", "ate", "fish"), {"pos": ("N", "V", "N")})
    assert parsers.predict([unseen], "right")[0].heads == (1, -1, 1)


def test_no_variance_is_one_parser_of_all() -> None:
    pooled = new().fit(LEFT + RIGHT)
    for tied in (several(sigma=0.0), several(strategy="all")):
        for name in (None, "left", "right"):
            np.testing.assert_allclose(tied.parser_of(name).weights_, pooled.weights_, atol=0.02)


def test_nothing_shared_is_a_parser_for_each() -> None:
    alone = new().fit(LEFT)
    apart = several(strategy="target")
    np.testing.assert_allclose(apart.parser_of("left").weights_, alone.weights_, atol=0.02)
    with pytest.raises(DovetailError, match="share no weights"):
        apart.predict(LEFT)


def test_what_cannot_be_is_told() -> None:
    with pytest.raises(DovetailError, match="the domain 'right' has no training data"):
        MultiDomainParser(parser=new()).fit({"left": LEFT, "right": []})


def test_domains_share_a_tagger_and_relations() -> None:
    def named(sentences: list[Sentence]) -> list[Sentence]:
        return [s.with_layer("deprel", tuple("root" if h == "0" else "dep" for h in s.layers["head"]))
                for s in sentences]  # fmt: skip

    parser = DependencyParser(bits=12, predict_tags=True, iterations=5, threads=1)
    parsers = MultiDomainParser(parser=parser).fit({"left": named(LEFT * 2), "right": named(RIGHT * 2)})
    assert parsers.needs == ()
    [found] = parsers.annotate([Sentence(("cat", "bone", "fell"))], "right")
    assert found.layers["pos"] == ("N", "N", "V")
    assert found.layers["deprel"] == ("dep", "dep", "root")
    assert parser.model_ is None  # what was given says how to train, and is not trained itself
