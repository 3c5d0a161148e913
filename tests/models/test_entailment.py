"""Entailment: alignment, features, analyses that vote, files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dovetail
from dovetail.errors import DovetailError
from dovetail.learning.losses import LOSSES
from dovetail.learning.objective import Objective, of_tokens
from dovetail.models.entailment.alignment import align
from dovetail.models.entailment.analysis import Analyser, Analysis, side_of
from dovetail.models.entailment.estimator import Entailment, Judgement
from dovetail.models.entailment.features import COVERED, TORN, features_of, rarity_of
from dovetail.models.entailment.words import likeness
from dovetail.scorers.dense import DenseScorer
from dovetail.text.brackets import parse_tree
from dovetail.text.pairs import Pair
from dovetail.text.sentence import Sentence
from tests.models.kinds import KINDS


@pytest.fixture(scope="module")
def names() -> Any:
    return replace(KINDS["tagger"].model, iterations=3).fit(KINDS["tagger"].sentences)  # type: ignore[type-var,call-arg]


@pytest.fixture(scope="module")
def arcs() -> Any:
    return replace(KINDS["dependency"].model).fit(KINDS["dependency"].sentences)  # type: ignore[type-var]


@pytest.fixture(scope="module")
def judge(names: Any, arcs: Any) -> Entailment:
    return Entailment(names=names, parser=arcs, l2=1.0, threads=1).fit(KINDS["entailment"].sentences)


def bare(text: str, hypothesis: str) -> Analysis:
    return Analyser(None, None).best([Pair(text, hypothesis)])[0]


def found(text: str, hypothesis: str) -> dict[str, float]:
    return features_of(bare(text, hypothesis), {})


def aligned(text: str, hypothesis: str) -> list[str]:
    sides = bare(text, hypothesis).sides
    return ["" if j < 0 else sides[0].words[j] for j in align(*sides).place]


def test_words_that_are_alike() -> None:
    same = "bought-buys cities-City 1,000-1000.0 three-3 nominated-nomination Nicaragua-Nicaraguan colour-color"
    for one, other in (pair.split("-") for pair in same.split()):
        assert likeness(one, other) == likeness(other, one) >= 0.6, one
    for one, other in (pair.split("-") for pair in "1990-1991 two-three cat-car Bern-Rome the-then".split()):
        assert likeness(one, other) == 0.0, one


def test_each_word_goes_with_its_best() -> None:
    assert aligned("Ada bought 2 boats.", "Ada buys two boats.") == ["Ada", "bought", "2", "boats", "."]
    assert aligned("The European Union met.", "The EU met.") == ["The", "European", "met", "."]
    assert aligned("The EU met.", "The European Union met.")[1:3] == ["EU", "EU"]
    assert aligned("Ada slept.", "Bob ate.") == ["", "", "."]
    text, claim = bare("Ada saw Bob, and Eve saw Dan.", "Eve saw Dan.").sides
    assert align(text, claim).place == (5, 6, 7, 8)  # not the first "saw"
    assert align(side_of([]), claim).place == (-1,) * 4


def test_trees_choose_between_equal_words() -> None:
    text = parse_tree(
        "(S (NP (NNP Ada)) (VP (VBD met) (NP (NNP Bob)) (SBAR (IN before) (S (NP (NNP Bob)) (VP (VBD left))))))"
    )
    claim = parse_tree("(S (NP (NNP Bob)) (ADVP (RB then)) (VP (VBD left)))")
    sides = [side_of([Sentence(tuple(tree.words()), tree=tree)]) for tree in (text, claim)]
    assert align(*sides).place[0] == 4
    assert align(*(side._replace(heads=()) for side in sides)).place[0] == 2


def test_features_tell_agreement_and_mismatch() -> None:
    same = found("The bank bought the firm for 3 million pounds.", "The bank bought the firm.")
    assert same[COVERED] == 1.0
    assert not {"a name is missing", "numbers missing", "opposites", TORN} & set(same)
    assert found("The bank did not buy the firm.", "The bank bought the firm.")["negation in the text only"]
    assert found("The bank bought the firm.", "The bank never bought the firm.")["negation in the hypothesis only"]
    assert found("The bank may buy the firm.", "The bank bought the firm.")["modality in the text only"]
    assert found("Prices rose in May.", "Prices fell in May.")["opposites"]
    assert found("Ada met Bob in Rome.", "Ada met Bob in Bern.")["a name is missing"]
    assert found("It cost 3 pounds.", "It cost 4 pounds.")["numbers missing"] == 1.0
    far = found("The bank, which everybody in the old town knew well, closed.", "The bank closed.")
    assert far["words close together"] < found("The bank closed early.", "The bank closed.")["words close together"]
    rare = {"bank": 0.1}
    assert features_of(bare("The bank.", "The bank closed."), rare)[COVERED] == pytest.approx(0.1 / 1.1)
    assert rarity_of([["a", "b"], ["a", "c"]]) == {"a": 0.0}


def test_the_same_pairs_give_the_same_file_whatever_the_hash_seed() -> None:
    lemmas = [*"abcdefghijklmnop"]
    assert list(rarity_of([lemmas, lemmas])) == lemmas


def test_edges_are_torn_where_words_are_far_apart_in_trees() -> None:
    def sides(words: str, heads: str) -> tuple[Sentence]:
        return (Sentence(tuple(words.split()), {"head": tuple(heads.split())}),)

    def torn(text: tuple[Sentence], claim: tuple[Sentence]) -> float:
        return features_of(Analysis(Pair("text", "hypothesis"), text, claim), {}).get(TORN, 0.0)

    near = sides("Ada met Eve", "2 0 2")
    far = sides("Ada met Bob who knew a man who saw Eve", "2 0 2 5 3 7 5 9 7 9")
    assert (torn(far, near), torn(near, near)) == (0.5, 0.0)
    past = sides("Ada met in Eve", "2 0 2 3")  # the preposition is between them
    assert (torn(far, past), torn(past, near)) == (0.5, 0.0)
    assert torn(sides("Ada met Eve", "2 3 1"), near) == torn(near, sides("the a Eve", "2 1 2")) == 0.0  # no trees


def test_the_scorer_is_logistic_regression() -> None:
    rng = np.random.default_rng(0)
    scorer = DenseScorer(rng.normal(size=(7, 3)), 2)
    weight = rng.normal(size=6)
    gold = rng.integers(0, 2, 7).astype(np.int32)
    value, slope = Objective(scorer, of_tokens(gold, np.arange(8)), LOSSES["likelihood"])(weight)
    scores = scorer.value @ weight.reshape(3, 2)
    chances = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    assert value == pytest.approx(-np.log(chances[np.arange(7), gold]).sum())
    np.testing.assert_allclose(slope, (scorer.value.T @ (chances - np.eye(2)[gold])).ravel())


def test_answers_and_probabilities_agree(judge: Entailment) -> None:
    pairs = KINDS["entailment"].inputs[:4]
    table = np.array(judge.predict_marginals(pairs))
    np.testing.assert_allclose(table.sum(axis=1), 1.0)
    assert [judge.classes_[i] for i in table.argmax(axis=1)] == judge.predict(pairs) == ["yes", "no"] * 2
    judged = list(judge.annotate(pairs))
    assert [pair.probability for pair in judged] == pytest.approx(table[:, 1].tolist())
    assert [pair.label for pair in judged] == judge.predict(pairs)
    for row, answers in zip(table, judge.kbest(pairs), strict=True):
        assert all(isinstance(answer, Judgement) for answer in answers)
        assert [answer.probability for answer in answers] == pytest.approx(sorted(row.tolist(), reverse=True))
    drawn = judge.sample(pairs[:1], 500, seed=3)[0]
    assert np.mean([answer.write(Pair("a", "b")).label == "yes" for answer in drawn]) == pytest.approx(
        table[0, 1], abs=0.08
    )
    assert judge(*pairs[0]).probability == pytest.approx(table[0, 1])


def test_analyses_vote(judge: Entailment, names: Any, arcs: Any) -> None:
    pairs = KINDS["entailment"].inputs[:2]
    every = judge.analyse(pairs, samples=6)
    assert [len(some) for some in every] == [6, 6]
    for some in every:
        for one in some:
            text, claim = one.sides
            assert len(text.heads) == len(text.words) == len(text.tags)
            assert len(claim.heads) == len(claim.words)
    voted = [judge.judge(some) for some in every]
    sampled = replace(judge, samples=6)
    sampled.model_ = judge.model_
    np.testing.assert_allclose(np.array(sampled.predict_marginals(pairs))[:, 1], voted)
    [best] = judge.analyse(pairs[:1])
    assert judge.judge(best) == pytest.approx(judge.predict_marginals(pairs)[0][1])
    odd = judge.analyse(pairs[1:])[0]
    mixed = judge.judge([*best, *odd], [3.0, 1.0])
    assert mixed == pytest.approx(0.75 * judge.judge(best) + 0.25 * judge.judge(odd))
    for analyses, weights in (([], None), (best, [0.0]), (best, [1.0, 1.0]), (best, [-1.0])):
        with pytest.raises(DovetailError, match="analysis"):
            judge.judge(analyses, weights)


def test_what_is_sampled_is_what_the_models_say(names: Any) -> None:
    analyser = Analyser(names, None)
    best = analyser.best([Pair("Ada slept.", "Bob slept.")])
    [drawn] = analyser.drawn(best, 200, 1)
    [sampled] = names.sample([best[0].text[0]], 200, seed=1)
    share = np.mean([one.text[0].layers["ner"][0] != "O" for one in drawn])
    assert share == pytest.approx(np.mean([answer.tags[0] != "O" for answer in sampled]), abs=0.12)


def test_the_file_holds_what_analyses(judge: Entailment, tmp_path: Path) -> None:
    judge.save(tmp_path / "m")
    again = dovetail.load(tmp_path / "m")
    assert isinstance(again, Entailment)
    assert (type(again.names), type(again.parser)) == (dovetail.Tagger, dovetail.DependencyParser)
    pairs = KINDS["entailment"].inputs
    np.testing.assert_allclose(again.predict_marginals(pairs), judge.predict_marginals(pairs), atol=1e-6)
    again.set_params(names="none", parser=None)
    assert again.analyse(pairs[:1])[0][0].sides[0].heads == ()


def test_models_that_cannot_serve(names: Any, arcs: Any, tmp_path: Path) -> None:
    pairs = KINDS["entailment"].sentences
    for wrong in ({"names": arcs}, {"parser": names}):
        with pytest.raises(DovetailError, match="give a model of one of the kinds"):
            Entailment(**({"names": "none"} | wrong)).fit(pairs)
    with pytest.raises(DovetailError, match="no such file"):
        Entailment(names="none", parser=tmp_path / "nosuch").fit(pairs)
    pos = dovetail.Tagger(target="pos", features=["word[0]"], iterations=2).fit([["a", "b"]] * 2, [["X", "Y"]] * 2)
    with pytest.raises(DovetailError, match="predicts the layer 'pos', not entities"):
        Entailment(names=pos).fit(pairs)


def test_tasks_are_learnt_if_asked(judge: Entailment) -> None:
    pairs = [replace(p, task="IR" if i % 2 else "QA") for i, p in enumerate(KINDS["entailment"].sentences)]
    plain, tasked = (Entailment(names="none", task=task).fit(pairs).model_ for task in (False, True))
    assert plain is not None
    assert tasked is not None
    assert {name for name in tasked.features if "task" in name} == {
        "task IR", "task QA", f"{COVERED}, task IR", f"{COVERED}, task QA"
    }  # fmt: skip
    assert set(tasked.features) > set(plain.features)


def test_reasons(judge: Entailment) -> None:
    why = judge.explain(("Ada did not see Bob.", "Ada saw Bob in Rome."))
    assert why.aligned[:2] == (("Ada", "Ada"), ("saw", "see"))
    assert ("Rome", "") in why.aligned
    margins = [reason.margin for reason in (*why.for_yes, *why.against_yes)]
    assert np.log(why.probability / (1 - why.probability)) == pytest.approx(sum(margins), abs=1e-4)
    assert why.label == ("yes" if why.probability > 0.5 else "no")
    by_name = {reason.feature: reason.value for reason in (*why.for_yes, *why.against_yes)}
    assert by_name["a name is missing"] == pytest.approx(1.0, abs=1e-5)


def test_labels_that_are_missing_or_odd() -> None:
    judge, pairs = Entailment(names="none"), KINDS["entailment"].inputs
    with pytest.raises(DovetailError, match="training pair 1 has no label; give yes or no"):
        judge.fit(pairs)
    with pytest.raises(DovetailError, match="the label 'maybe'"):
        judge.fit(pairs, ["maybe"] * len(pairs))
    with pytest.raises(DovetailError, match="give the labels as a list"):
        judge.fit(pairs, "yes")
    with pytest.raises(DovetailError, match="one text and one hypothesis"):
        judge("Ada slept.")
