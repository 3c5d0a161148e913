"""Accents that come after their letters, as some systems write them, make no difference to any model or resource."""

from __future__ import annotations

from pathlib import Path
from unicodedata import normalize

import numpy as np

import dovetail
from dovetail import DependencyParser, Parser, Sentence, Tagger
from dovetail.columns import BOUNDARY, Column
from dovetail.features.resources.clusters import Clusters
from dovetail.features.resources.lexicon import Lexicon
from dovetail.text.brackets import parse_tree

TEXT = "José García lives in Zürich.  René slept."
APART = normalize("NFD", TEXT)


def test_values_that_differ_in_their_encoding_are_one() -> None:
    column = Column.encode(["Zürich", "a", normalize("NFD", "Zürich"), "e\u0301", "a"])
    assert column.types == [BOUNDARY, "Zürich", "a", "é"]
    assert column.ids.tolist() == [1, 2, 1, 3, 2]
    assert column.ids.dtype == np.int32


def test_running_text_keeps_its_characters(tmp_path: Path) -> None:
    model = dovetail.load()
    usual, found = model(TEXT).entities(), model(APART)
    assert [e.text for e in usual] == ["José García", "Zürich", "René"]
    assert [normalize("NFC", e.text) for e in found.entities()] == [e.text for e in usual]
    for span, other in zip(found.entities(), usual, strict=True):
        assert (span.label, span.probability) == (other.label, other.probability)
        assert APART[span.start_char : span.end_char] == span.text
    assert found.text == APART
    dovetail.write(found, tmp_path / "a.jsonl")
    [again] = dovetail.read(tmp_path / "a.jsonl")
    assert (again.text, again.entities()) == (APART, found.entities())


def test_words_given_to_taggers() -> None:
    train = [["René", "slept"], ["Bern", "slept"]] * 4
    tags = [["B-PER", "O"], ["O", "O"]] * 4
    decomposed = [[normalize("NFD", word) for word in words] for words in train]
    model = Tagger(features=["word[0]", "suffix(2)[0]", "shape[0]"], l2=0.01)
    assert model.fit(train, tags).predict(decomposed) == tags
    assert model.fit(decomposed, tags).predict(train) == tags


def test_words_given_to_parsers() -> None:
    lines = ["(S (NP (NNP René)) (VP (VBD slept)))", "(S (NP (NNP René)) (VP (VBD saw) (NP (NNP Zoë))))"] * 4
    trees = [Sentence(tuple(tree.words()), tree=tree) for tree in map(parse_tree, lines)]
    parser = Parser(iterations=2).fit(trees)
    words = tuple(normalize("NFD", word) for word in trees[1].words)
    [usual], [found] = parser.parse([trees[1].words]), parser.parse([words])
    assert found.probability == usual.probability
    assert found.tree.words() == words
    layers = {"head": ("2", "0"), "deprel": ("nsubj", "root"), "pos": ("NNP", "VBD")}
    arcs = [Sentence(("René", "wrote"), layers), Sentence(("Zoë", "slept"), layers)] * 4
    dependency = DependencyParser(bits=10, iterations=3).fit(arcs)
    apart = [Sentence(tuple(normalize("NFD", w) for w in s.words), {"pos": s.layers["pos"]}) for s in arcs]
    for found, usual in zip(dependency.predict_marginals(apart), dependency.predict_marginals(arcs), strict=True):
        assert np.array_equal(found, usual)


def test_lexicons_and_clusters() -> None:
    apart = normalize("NFD", "Zürich")
    column = Column.encode(["in", apart])
    for name in ("Zürich", apart):
        for normalise in (True, False):
            lexicon = Lexicon.of({"city": [name]}, normalise=normalise)
            assert lexicon.matches(column, np.array([0, 2])).start.tolist() == [1]
        assert Clusters.of_paths({name: "01"}).classes_of(column.types[1:]).tolist() == [-1, 0]
