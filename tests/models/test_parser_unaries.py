"""Unary chains that a classifier puts back: over words alone, or everywhere."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dovetail.errors import DovetailError
from dovetail.grammars.binarise import Binarisation
from dovetail.grammars.brackets import BracketLabels, bracketed
from dovetail.grammars.clean import clean_tree
from dovetail.models.parser.brackets.model import BracketModel
from dovetail.models.parser.brackets.unaries import NONE, ChainedScorer, cut, seen, without_chains
from dovetail.models.parser.estimator import Parser
from dovetail.scorers.brackets import RuleScorer
from dovetail.text.brackets import parse_tree
from dovetail.text.sentence import Sentence
from dovetail.text.tree import Tree
from tests.trees import treebank

QUICK = {"iterations": 4, "folds": 2, "batch": 8, "min_count": 1, "threads": 1}
SENTENCE = ["Ada", "saw", "dogs", "near", "Bela", "."]
WAYS = [("labelled", "all"), ("labelled-rules", "words"), ("labelled-rules", "all")]


def commands(count: int) -> list[Sentence]:
    """The trees of the small treebank, every other one of which is a command without a subject."""
    found = []
    for i, sentence in enumerate(treebank(count)):
        assert sentence.tree is not None
        [clause] = sentence.tree.children
        tree = sentence.tree if i % 2 else Tree("ROOT", (Tree("S", (clause.children[1],)),))
        found.append(Sentence(tree.words(), {"pos": tree.tags()}, tree=tree))
    return found


@pytest.fixture(scope="module")
def parsers() -> dict[tuple[str, str], Parser]:
    corpus = commands(80)
    return {(kind, way): Parser(kind=kind, unaries=way, **QUICK).fit(corpus) for kind, way in WAYS}  # type: ignore[arg-type]


every_way = pytest.mark.parametrize("way", WAYS, ids="-".join)


def test_labels_are_cut_and_known_to_be():
    tree = parse_tree("(S (VP (VB Go) (NP (NN home))))")
    brackets = bracketed(tree, Binarisation())
    assert without_chains(brackets, False) == [(0, 2, "S VP"), (0, 1, ""), (1, 2, "")]
    assert without_chains(brackets, True) == [(0, 2, "S"), (0, 1, ""), (1, 2, "")]
    assert cut("@ S", False, True) == ("@ S", "")


def test_what_is_seen_of_a_span():
    found = seen([(0, 2, "S"), (1, 2, "")], ["Go", "home"], ["VB", "NN"])
    assert found.words == ("S", NONE)
    assert [found.layers[name][1] for name in ("first", "last", "before", "after", "tag2", "tags")] == [
        "home", "home", "go", "(edge)", "(edge)", "NN",
    ]  # fmt: skip
    assert len(seen([], ["Go"], ["VB"])) == 0


@every_way
def test_it_learns_chains_of_words_and_spans(parsers: dict[tuple[str, str], Parser], way: tuple[str, str]) -> None:
    assert parsers[way].score(commands(30)) > 90
    [tree] = parsers[way].predict([["saw", "Ada"]])
    assert str(tree) == "(ROOT (S (VP (VBD saw) (NP (NNP Ada)))))"


@every_way
@pytest.mark.parametrize("everything", [False, True], ids=["pruned", "whole"])
def test_a_tree_is_as_probable_as_its_brackets_times_its_chains(
    parsers: dict[tuple[str, str], Parser], way: tuple[str, str], everything: bool
) -> None:
    """The twin: all bracketings of a short sentence, and below each label what the classifier says."""
    model = parsers[way].model_
    assert isinstance(model, BracketModel)
    assert model.unaries is not None
    model = replace(model, threshold=0.0) if everything else model
    words, tags = [("saw", "Ada", ".")], [("VBD", "NNP", ".")]
    scorer = model.scorer(words, tags, 1)
    assert isinstance(scorer, ChainedScorer)
    assert isinstance(scorer.spans, RuleScorer) == (way[0] == "labelled-rules")
    batch, plain = scorer.batch(model.weight), scorer.spans.batch(model.weight)
    assert len(batch.potentials.span) == 6
    assert batch.potentials.span.shape[1] == len(model.labels)
    ahead = batch.log_partition() - plain.log_partition()
    assert -0.1 < ahead[0] <= 1e-9  # all chains together have a probability of one, less the improbable ones
    unaries = model.unaries
    answers, scores = batch.kbest(300)
    for answer, score in list(zip(answers, scores[0], strict=True))[::7]:
        if score == -np.inf:
            continue
        left = answer._replace(label=unaries.above[answer.label].astype(np.int32))
        nodes = unaries.left.named(*(part.tolist() for part in left[:3]))
        chance = 1.0
        names = [model.labels.names[x] for x in answer.label.tolist()]
        for node, name in zip(nodes, names, strict=True):
            chain = cut(name, node[1] - node[0] == 1, unaries.everywhere)[1] or NONE
            same = np.count_nonzero(unaries.above == unaries.left.number[node[2]])
            [[row]] = unaries.tagger.predict_marginals([seen([node], *words, *tags)])
            chance *= float(row[unaries.tagger.classes_.index(chain)]) if same > 1 else 1.0
        assert score == pytest.approx(float(plain.score(left)[0]) + np.log(chance), abs=1e-5)


@every_way
def test_it_answers_as_others_do(parsers: dict[tuple[str, str], Parser], way: tuple[str, str], tmp_path: Path) -> None:
    parser = parsers[way]
    [answers] = parser.kbest([SENTENCE], 5)
    chances = [answer.probability or 0.0 for answer in answers]
    assert chances == sorted(chances, reverse=True)
    [drawn] = parser.sample([SENTENCE], 400, seed=3)
    assert np.mean([answer.tree == answers[0].tree for answer in drawn]) == pytest.approx(chances[0], abs=0.12)
    known = {(s.start, s.end, s.label): s.probability for s in parser.predict_marginals([SENTENCE])[0]}
    [answer] = parser.parse([SENTENCE], probabilities=True)
    assert answer.tree is not None
    for span in answer.tree.spans()[1:]:
        assert span.probability == pytest.approx(known[span.start, span.end, span.label])
        why = parser.explain(SENTENCE, span.start, span.end, span.label)
        if why.rival is not None:
            assert sum(e.margin for e in why.evidence) == pytest.approx(why.margin, abs=1e-3)
    parser.save(tmp_path / "m")
    again = Parser.load(tmp_path / "m")
    assert again.unaries == way[1]
    assert again.predict([SENTENCE]) == parser.predict([SENTENCE])


def test_labels_are_there_twice_where_they_are_over_words_and_spans(parsers: dict[tuple[str, str], Parser]) -> None:
    model = parsers["labelled", "all"].model_
    assert isinstance(model, BracketModel)
    assert model.labels.names.count("NP") == 2
    trees = [clean_tree(s.tree) for s in commands(80) if s.tree is not None]
    left = BracketLabels.of([without_chains(bracketed(tree, Binarisation()), True) for tree in trees])
    assert model.weighed.names == left.names
    assert not (left.single & left.wide).any()


def test_it_goes_on_and_is_calibrated() -> None:
    some = commands(30)
    first = Parser(kind="labelled", unaries="all", **QUICK).fit(some)  # type: ignore[arg-type]
    again = Parser(kind="labelled", unaries="words", calibrate=True, **QUICK)  # type: ignore[arg-type]
    assert again.fit(some, dev=commands(20), init=first).card_["dev"] > 80


def test_only_labels_have_chains() -> None:
    with pytest.raises(DovetailError, match="unaries='all': choose kind='labelled'"):
        Parser(unaries="all").check_settings()
