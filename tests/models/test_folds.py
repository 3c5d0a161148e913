"""Without dev data: parts of the training data, held out in turn, choose what dev would."""

from __future__ import annotations

import os
import signal
from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dovetail.errors import DovetailError
from dovetail.evaluate import entity_scores
from dovetail.evaluate.counts import Counts
from dovetail.learning.monitor import Monitor, Progress
from dovetail.learning.tuning import FACTORS, likely_bias
from dovetail.models.choices import f1_of, standard_error, summed
from dovetail.models.folds import WITHIN, CrossValidation, dealt, parts_of
from dovetail.models.joint.estimator import JointParser
from dovetail.models.linear.estimator import BALANCES, COARSE_BALANCES
from dovetail.models.parser.estimator import Parser
from dovetail.models.tagger.estimator import Tagger
from dovetail.models.training import Run
from dovetail.text.sentence import Sentence
from tests.models.corpus import made
from tests.models.kinds import KINDS

KNOWN = ("tagger", "words", "segments", "nested", "parser", "labelled", "dependency")


def quick(**settings: Any) -> Tagger:
    return Tagger(**{"features": ["shape[0]", "suffix(2)[0]"], "iterations": 30, "patience": 2, **settings})


def noisy(n: int, documents: int = 0) -> list[Sentence]:
    """Sentences in which some names are not marked, so that no model is right about all of them."""
    found = []
    for i, s in enumerate(made(n, seed=3)):
        tags = s.layers["ner"] if i % 4 else ("O",) * len(s)
        found.append(Sentence(s.words, {"ner": tags}, document=i // (n // documents) if documents else None))
    return found


# dealing


def test_parts_have_about_equal_sizes_and_depend_on_the_seed() -> None:
    sentences = made(50)
    part = dealt(sentences, 5, seed=1)
    sizes = np.bincount(part, [len(s) for s in sentences])
    assert sizes.max() - sizes.min() <= max(map(len, sentences))
    assert (dealt(sentences, 5, seed=1) == part).all()
    assert (dealt(sentences, 5, seed=2) != part).any()


def test_documents_are_dealt_whole_unless_they_are_few() -> None:
    many = [replace(s, document=i // 3) for i, s in enumerate(made(60))]
    part = dealt(many, 5, seed=1)
    assert all(len({int(p) for p, s in zip(part, many, strict=True) if s.document == d}) == 1 for d in range(20))
    few = [replace(s, document=i // 30) for i, s in enumerate(made(60))]
    assert len(set(dealt(few, 5, seed=1)[:30].tolist())) == 5
    loose = [replace(s, document=None if i % 2 else i // 3) for i, s in enumerate(made(60))]
    assert Counter(dealt(loose, 5, seed=1).tolist()).keys() == set(range(5))


def test_a_sentence_without_a_document_is_dealt_by_itself() -> None:
    mixed = [Sentence(("a",), document=None if i < 6 else (i - 6) // 2) for i in range(26)]  # ten documents of two
    dealings = [dealt(mixed, 5, seed) for seed in range(12)]
    for number in range(6):
        for other in range(number + 1, 26):
            assert any(part[number] != part[other] for part in dealings), (number, other)
    assert all(part[i] == part[i + 1] for part in dealings for i in range(6, 26, 2))


def test_few_sentences_are_left_alone_and_of_many_few_parts_are_held_out() -> None:
    assert parts_of(None, 99) == (0, 0)
    assert parts_of(None, 100) == (10, 10)
    assert parts_of(None, 50_000) == (10, 1)
    assert parts_of(4, 8) == (4, 4)


# every kind


@pytest.mark.parametrize("name", KNOWN)
def test_every_kind_chooses_the_same_on_any_number_of_threads(name: str, tmp_path: Any) -> None:
    kind = KINDS[name]
    models = []
    for threads in (1, 3):
        model = type(kind.model)(**(kind.model.get_params(deep=False) | {"cross_validate": 2, "threads": threads}))
        models.append(model.fit(kind.sentences))
    one, two = models
    assert one.card_ == two.card_
    assert one.card_["parts"] == 2
    assert 0.0 <= one.card_["cross_validated"] <= 100.0
    assert one.card_["dev"] is None
    (header, arrays), (other, others) = one.packed(), two.packed()
    assert header == other
    assert all((arrays[key] == others[key]).all() for key in arrays)
    one.save(tmp_path / "m.dovetail")
    again = type(one).load(tmp_path / "m.dovetail")
    assert again.get_params(deep=False)["cross_validate"] == 2
    assert [str(a) for a in again.predict(kind.inputs)] == [str(a) for a in one.predict(kind.inputs)]


def test_dev_data_goes_before() -> None:
    train = noisy(120)
    assert "cross_validated" not in quick().fit(train, dev=train[:20]).card_
    assert "cross_validated" not in quick(cross_validate=0).fit(train).card_
    assert "cross_validated" not in quick().fit(train[:99]).card_
    assert quick().fit(train).card_["parts"] == 10


def test_plain_labels_are_not_worth_the_time_unless_it_is_asked_for() -> None:
    plain = [Sentence(s.words, {"pos": s.layers["pos"]}) for s in made(120)]
    assert "parts" not in quick(target="pos").fit(plain).card_
    assert quick(target="pos", cross_validate=3).fit(plain).card_["cross_validated"] > 50


# what is chosen


def _parts(train: list[Sentence], parts: int) -> list[tuple[list[Sentence], list[Sentence]]]:
    part = dealt(train, parts, seed=1).tolist()
    rest = [[s for s, p in zip(train, part, strict=True) if p != k] for k in range(parts)]
    return [(own, [s for s, p in zip(train, part, strict=True) if p == k]) for k, own in enumerate(rest)]


def _counts(gold: list[Sentence], tags: Any) -> Any:
    scores = entity_scores([s.layers["ner"] for s in gold], tags)
    return np.array([scores.gold, scores.predicted, scores.correct])


def _biased(model: Tagger, held_out: list[Sentence], factor: float, bias: float) -> Any:
    assert model.model_ is not None
    own = quick()
    own.model_ = replace(model.model_.scaled(factor), outside=bias)
    return _counts(held_out, own.predict(held_out))


def test_the_choice_is_that_of_models_trained_apart() -> None:
    """Passes, temperature and bias, found again by training each model anew with so many passes."""
    train = noisy(60)
    found = quick(cross_validate=3, l2=0.01).fit(train)
    by_passes = {}
    for passes in (10, 20, 30):
        models = [(quick(cross_validate=0, l2=0.01, iterations=passes).fit(a), b) for a, b in _parts(train, 3)]
        ways = [summed(_biased(m, b, 1.0, bias) for m, b in models) for bias in COARSE_BALANCES]
        by_passes[passes] = max(ways, key=f1_of), models
    top = max((counts for counts, _ in by_passes.values()), key=f1_of)
    best = min(p for p, (counts, _) in by_passes.items() if f1_of(counts) >= f1_of(top) - WITHIN * standard_error(top))
    models = by_passes[best][1]

    def likelihood(factor: float) -> float:
        total = 0.0
        for model, held_out in models:
            assert model.model_ is not None
            [chains] = model.chains(held_out)
            gold = model.model_.labels.encode([s.layers["ner"] for s in held_out])
            total += float((factor * chains.score(gold) - chains.scaled(factor).log_partition()).sum())
        return total

    factor = float(max([1.0, *FACTORS.tolist()], key=likelihood))
    names = sum(tag.startswith("B-") for s in train for tag in s.layers["ner"])
    bias = likely_bias(BALANCES, lambda one: f1_of(summed(_biased(m, b, factor, one) for m, b in models)), names)
    whole = quick(cross_validate=0, l2=0.01, iterations=best).fit(train).model_
    assert whole is not None
    assert found.model_ is not None
    assert found.model_.outside == bias
    assert np.allclose(found.model_.node.weight, whole.node.weight * np.float32(factor), rtol=1e-5)
    score = Counts(*summed(_biased(m, b, factor, bias) for m, b in models).tolist()).f1
    assert found.card_["cross_validated"] == pytest.approx(score)


def test_the_first_score_within_half_a_standard_error_of_the_best_wins() -> None:
    class KnownFold:
        """A fold whose counts after each number of passes are known."""

        ended, weight = False, np.zeros(1)

        def advance(self, monitor: Any) -> Any:
            return np.array([[100, 100, {10: 89, 20: 90, 30: 91, 40: 88}[monitor.passes]]])

    def passes(optimiser: str) -> int:
        estimator, run = quick(optimiser=optimiser, threads=1), Run(None, None, None, print)
        validation = CrossValidation(estimator, run, [KnownFold()], 40)  # type: ignore[list-item]
        for count in (10, 20, 30, 40):
            validation._advance(count, Monitor())
        return validation.kept[0].passes

    # Half of the standard error of 91 is 1.43: 90 is as good, 89 is not.
    assert passes("lbfgs") == 20
    assert passes("adagrad") == 30


def test_sentences_that_are_known_in_part_are_learnt_from_but_do_not_judge() -> None:
    train = noisy(60)
    partly = [s.with_layer("ner", ("?",) * len(s)) for s in made(30, seed=5)]
    assert quick(cross_validate=3).fit(train + partly).card_["sentences"] == 90
    with pytest.raises(DovetailError, match="cross_validate=61: there are 60 training sentences to hold out"):
        quick(cross_validate=61).fit(train + partly)


def test_documents_with_gaps_agree_as_usual() -> None:
    """Held-out parts of a random sample of sentences show nothing of whole documents."""
    loose = [s for s in noisy(300) if len(s) <= 7][:100]
    gaps = [replace(s, document=i) for i, s in enumerate(loose)]
    assert quick().fit(gaps).model_.agreement == 0.6  # type: ignore[union-attr]
    assert quick(consistency="none").fit(gaps).model_.agreement == 0.0  # type: ignore[union-attr]
    assert quick().fit(loose).model_.agreement == 0.0  # type: ignore[union-attr]


# the course


def test_what_cannot_be_cross_validated_is_told_or_left_alone() -> None:
    with pytest.raises(DovetailError, match="cross_validate=9: there are 8 training sentences"):
        quick(cross_validate=9).fit(noisy(8))
    with pytest.raises(DovetailError, match="cross_validate=-1: choose 0 or more"):
        quick(cross_validate=-1).fit(noisy(8))
    with pytest.raises(DovetailError, match="cross_validate=1: choose 0, or 2 or more"):
        quick(cross_validate=1).fit(noisy(8))
    with pytest.raises(DovetailError, match="a pool chooses on dev alone"):
        Parser(pool=2, cross_validate=2).fit(KINDS["parser"].sentences)
    with pytest.raises(DovetailError, match="a joint parser chooses on dev alone"):
        JointParser(cross_validate=2).fit(KINDS["joint"].sentences)
    rare = [s.with_layer("ner", ("O",) * len(s)) for s in noisy(109)] + noisy(2)[1:]
    assert quick(cross_validate=5, min_count=1).fit(rare).model_ is not None  # a model of a part has no entities


def test_progress_tells_the_part() -> None:
    heard: list[Progress] = []
    quick(cross_validate=2, iterations=12, threads=1).fit(noisy(40), progress=heard.append)
    parts = [p.part for p in heard]
    assert parts[0] == (1, 2)
    assert parts[-1] is None
    assert {p for p in parts if p is not None} == {(1, 2), (2, 2)}


@pytest.mark.parametrize("threads", [1, 2])
def test_ctrl_c_while_parts_are_held_out_is_raised(threads: int) -> None:
    def stop(progress: Progress) -> None:
        assert progress.part is not None
        if progress.iteration == 3 and progress.part[0] == 1:
            os.kill(os.getpid(), signal.SIGINT)

    model = quick(cross_validate=2, threads=threads)
    with pytest.raises(KeyboardInterrupt):
        model.fit(noisy(40), progress=stop)
    assert model.model_ is None


def test_a_checkpoint_of_the_last_training_is_gone_on_from(tmp_path: Any) -> None:
    train, path = noisy(60), tmp_path / "c"

    class PowerCut(Exception):
        pass

    def cut(progress: Progress) -> None:
        if progress.part is None and progress.iteration == 8:
            os.kill(os.getpid(), signal.SIGINT)

    whole = quick(cross_validate=2, l2=0.01).fit(train)
    quick(cross_validate=2, l2=0.01).fit(train, checkpoint=path, progress=cut)
    assert path.exists()
    again = quick(cross_validate=2, l2=0.01).fit(train, checkpoint=path)
    assert (again.model_.node.weight == whole.model_.node.weight).all()  # type: ignore[union-attr]
    assert not path.exists()
