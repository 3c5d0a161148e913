from __future__ import annotations

from itertools import pairwise
from math import lgamma, log
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dovetail.cli.main import main
from dovetail.clusters.brown import brown
from dovetail.clusters.clustering import Clustering, ClusterProgress
from dovetail.clusters.counts import BigramCounts, count_bigrams_of
from dovetail.clusters.exchange import Exchange, exchange
from dovetail.clusters.exchange_kernels import apply
from dovetail.clusters.information import mutual_information
from dovetail.clusters.morphology import ALPHABET, STRENGTH, spelling_model
from tests.clusters.exchange_twin import objective, spelling_log_likelihood

TEXTS = st.lists(st.sampled_from("ab ba aba bb abc cab c".split()), min_size=2, max_size=40)


def made_up_text(sentences: int, seed: int = 0, types: int = 60) -> list[str]:
    """Words of five kinds in a fixed order of kinds, the words of a kind by Zipf's law."""
    rng = np.random.default_rng(seed)
    share = 1.0 / np.arange(1, types + 1)
    picks = rng.choice(types, size=(sentences, 5), p=share / share.sum())
    return [f"{kind}{number}" for row in picks for kind, number in zip("VWXYZ", row, strict=True)]


def f(x: float) -> float:
    return x * log(x) if x > 0 else 0.0


def bigram_twin(text: list[str], class_of: dict[str, int]) -> float:
    """The objective by its definition: f of the pairs less f of the margins, counted along the text."""
    pairs: dict[object, int] = {}
    for one, two in pairwise(class_of[word] for word in text):
        for key in ((one, two), ("first", one), ("second", two)):
            pairs[key] = pairs.get(key, 0) + 1
    return sum(-f(n) if isinstance(key[0], str) else f(n) for key, n in pairs.items())  # type: ignore[index]


def spelling_twin(class_of: dict[str, int]) -> float:
    """log P of the spelling by its definition, every letter counted."""

    def letters(words: list[str]) -> tuple[dict[str, int], dict[str, int]]:
        after: dict[str, int] = {}
        context: dict[str, int] = {}
        for word in words:
            padded = f"^^{word}$"
            for i in range(2, len(padded)):
                after[padded[i - 2 : i + 1]] = after.get(padded[i - 2 : i + 1], 0) + 1
                context[padded[i - 2 : i]] = context.get(padded[i - 2 : i], 0) + 1
        return after, context

    after_all, context_all = letters(list(class_of))
    total = 0.0
    for c in set(class_of.values()):
        words = [word for word in class_of if class_of[word] == c]
        after, context = letters(words)
        total += f(len(words))
        for x, n in after.items():
            prior = STRENGTH * after_all[x] / context_all[x[:2]]
            total += lgamma(prior + n) - lgamma(prior)
        total -= sum(lgamma(STRENGTH + n) - lgamma(STRENGTH) for n in context.values())
    return total


def started(text: list[str], classes: int, morphology: float = 0.0, seed: int = 0) -> Exchange:
    run = Exchange(count_bigrams_of([text]), classes, morphology=morphology, seed=seed, threads=1)
    run.insert()
    return run


def class_of(run: Exchange) -> dict[str, int]:
    return dict(zip(run.text.words, run.counts.classes.tolist(), strict=True))


@given(TEXTS, st.integers(1, 5), st.sampled_from([0.0, 0.7]), st.data())
@settings(max_examples=60, deadline=None)
def test_a_move_raises_the_objective_by_the_gain_it_reports(
    text: list[str], classes: int, weight: float, data: st.DataObject
) -> None:
    run = started(text, classes, weight)
    for _ in range(5):
        word = data.draw(st.integers(0, run.words - 1))
        target = data.draw(st.integers(0, len(run.counts.sizes) - 1))
        before, old = objective(run), class_of(run)
        moved, rise = apply(
            np.array([word]), np.array([target], np.int32), run._bigrams, run.counts, run.spelling, run._room
        )
        assert objective(run) == pytest.approx(before + rise, abs=1e-9)
        there = {**old, run.text.words[word]: target}
        gain = bigram_twin(text, there) - bigram_twin(text, old)
        if weight:
            gain += weight * (spelling_twin(there) - spelling_twin(old))
        assert moved == (gain > 1e-6)
        assert rise == pytest.approx(gain if moved else 0.0, abs=1e-9)


@given(TEXTS, st.integers(1, 5), st.sampled_from([0.0, 0.7]), st.integers(0, 3))
@settings(max_examples=40, deadline=None)
def test_passes_are_monotone_and_the_counts_stay_true(text: list[str], classes: int, weight: float, seed: int) -> None:
    run = started(text, classes, weight, seed)
    for _ in range(4):
        before = objective(run)
        moved, rise = run.improve()
        assert objective(run) == pytest.approx(before + rise, abs=1e-9)
        assert rise >= 1e-6 * moved
    classes_now, fresh = run.counts.classes, started(text, classes, weight)
    again = Exchange(run.text, classes, morphology=weight)
    every = np.arange(run.words)
    apply(every, classes_now.copy(), again._bigrams, again.counts, again.spelling, again._room)
    for kept, counted in zip(run.counts, again.counts, strict=True):
        np.testing.assert_array_equal(kept, counted)
    np.testing.assert_array_equal(run.counts.pairs, run.counts.pairs_turned.T)
    np.testing.assert_array_equal(run.spelling.events.counts, again.spelling.events.counts)
    np.testing.assert_allclose(run.spelling.events.logs, again.spelling.events.logs)
    assert fresh.words == run.words


@given(TEXTS, st.integers(1, 4), st.sampled_from([0.0, 0.7]))
@settings(max_examples=40, deadline=None)
def test_at_the_end_no_single_move_raises_the_objective(text: list[str], classes: int, weight: float) -> None:
    run = started(text, classes, weight)
    while run.improve()[0]:
        pass
    best = objective(run)
    for word in range(run.words):
        home = int(run.counts.classes[word])
        for target in range(len(run.counts.sizes)):
            run.counts.classes[word] = target
            assert objective(run) <= best + 1e-5  # a proposal is made with logarithms in single precision
        run.counts.classes[word] = home


def test_an_objective_is_the_log_likelihood_of_the_text_but_for_a_constant() -> None:
    text = made_up_text(40)
    run = started(text, 4)
    count = {word: text.count(word) for word in set(text)}
    classes = class_of(run)
    firsts, seconds, pairs = run.counts.firsts, run.counts.seconds, run.counts.pairs
    likelihood = sum(
        log(pairs[classes[a], classes[b]] / firsts[classes[a]]) + log(count[b] / seconds[classes[b]])
        for a, b in pairwise(text)
    )
    words_alone = sum(log(count[b]) for b in text[1:])
    assert objective(run) == pytest.approx(likelihood - words_alone)


@pytest.mark.parametrize("morphology", [0.0, 1.0])
def test_the_result_is_the_same_for_any_number_of_threads(morphology: float) -> None:
    counts = count_bigrams_of([made_up_text(800)])
    one, two, five = (exchange(counts, 7, morphology=morphology, threads=n) for n in (1, 2, 5))
    assert one.paths == two.paths == five.paths
    np.testing.assert_array_equal(one.classes, two.classes)
    np.testing.assert_array_equal(one.classes, five.classes)


def test_another_seed_looks_at_words_in_another_order() -> None:
    counts = count_bigrams_of([made_up_text(300)])
    results = {tuple(exchange(counts, 9, seed=seed).classes.tolist()) for seed in range(4)}
    assert len(results) > 1


def test_kinds_of_words_are_found() -> None:
    text = made_up_text(3000)
    clustering = exchange(count_bigrams_of([text]), 5)
    kinds = [{word[0] for word in words} for words in clustering.members().values()]
    assert sorted(map(sorted, kinds)) == [[kind] for kind in "VWXYZ"]


def test_classes_tell_more_than_those_of_brown() -> None:
    for seed in range(3):
        text = made_up_text(1500, seed)
        rng = np.random.default_rng(seed)
        noise = [f"{word[0]}{rng.integers(60)}" if rng.random() < 0.3 else word for word in rng.permutation(text)]
        counts = count_bigrams_of([text + noise])
        classes = exchange(counts, 12).classes
        assert mutual_information(counts, classes) > mutual_information(counts, brown(counts, 12).classes)


def test_paths_are_a_tree_and_every_word_has_one() -> None:
    counts = count_bigrams_of([made_up_text(500)])
    clustering = exchange(counts, 11)
    assert clustering.words == counts.words
    assert len(set(clustering.paths)) == 11
    assert sum(2.0 ** -len(path) for path in clustering.paths) == 1.0
    assert set(clustering.classes.tolist()) == set(range(11))
    np.testing.assert_array_equal(clustering.counts, counts.count)


def test_morphology_places_rare_words_with_those_that_are_spelled_alike() -> None:
    verbs = [f"{a}{b}{c}ing" for a in "wtjlr" for b in "aeu" for c in "lmnk"]
    names = [f"P{a}{b}{c}o" for a in "aei" for b in "trds" for c in "aieur"]
    rng = np.random.default_rng(0)
    # Any of them may stand in brackets; the first forty of each are known by the words beside them as well.
    text = [word for _ in range(800) for word in ("is", verbs[rng.integers(40)], "Mr", names[rng.integers(40)], ".")]
    for verb, name in zip(verbs, names, strict=True):
        text += ["(", verb, ")", "(", name, ")"]
    counts = count_bigrams_of([text])

    def rightly_placed(morphology: float) -> list[bool]:
        path_of = exchange(counts, 7, morphology=morphology).path_of
        return [path_of(word) == path_of(kind[0]) for kind in (verbs, names) for word in kind]

    assert all(rightly_placed(1.0))
    assert not all(rightly_placed(0.0))


@given(st.lists(st.text("abÅ1é-", min_size=1, max_size=6), min_size=2, max_size=8, unique=True), st.data())
@settings(max_examples=60, deadline=None)
def test_spelling_differs_between_clusterings_as_its_definition_says(words: list[str], data: st.DataObject) -> None:
    one, two = (data.draw(st.lists(st.integers(0, 2), min_size=len(words), max_size=len(words))) for _ in range(2))
    model = spelling_model(words, 3, 1.0)
    difference = spelling_log_likelihood(model, np.array(one, np.int32)) - spelling_log_likelihood(
        model, np.array(two, np.int32)
    )
    twin = spelling_twin(dict(zip(words, one, strict=True))) - spelling_twin(dict(zip(words, two, strict=True)))
    assert difference == pytest.approx(twin, abs=1e-9)


def test_digits_are_one_letter_and_rare_letters_are_told_by_their_kind() -> None:
    assert len(spelling_model(["a1b", "a2b"], 1, 1.0).events.prior) == 4
    common = [chr(code) * 3 for code in range(0x4E00, 0x4E00 + ALPHABET)]
    model = spelling_model([*common, "ж", "я", "Ж", "Я", "+", "="], 1, 1.0)
    # A small letter, a capital or a sign at the start and the end after each: six that two words share.
    assert len(model.events.prior) == 6


@pytest.mark.parametrize("morphology", [0.0, 1.0])
@pytest.mark.parametrize("text", ["one", "one one", "one two", "one two one one"])
def test_small_texts(text: str, morphology: float) -> None:
    clustering = exchange(count_bigrams_of([text.split()]), 10, morphology=morphology)
    assert set(clustering.words) == set(text.split())
    assert len(clustering.paths) <= len(clustering.words)
    if not morphology:
        assert len(set(clustering.classes.tolist())) == len(clustering.words)


def test_words_left_out_leave_gaps() -> None:
    text = made_up_text(300)
    counts = count_bigrams_of([text], min_count=10)
    assert len(exchange(counts, 5)) == len(counts.words) < len(set(text))


def test_counts_beyond_the_table_of_logarithms() -> None:
    counts = count_bigrams_of([made_up_text(200)])
    scaled = BigramCounts(
        counts.words, counts.count * 10**6, counts.indptr, counts.follower, counts.times * 10**6, counts.tokens * 10**6
    )
    run = Exchange(scaled, 5)
    assert run.counts.pairs.dtype == np.int32
    run.insert()
    before = objective(run)
    _, rise = run.improve()
    assert objective(run) - before == pytest.approx(rise, rel=1e-6)
    np.testing.assert_array_equal(exchange(scaled, 5).classes, exchange(counts, 5).classes)


def test_progress_goes_up_to_the_end_at_most() -> None:
    told: list[ClusterProgress] = []
    exchange(count_bigrams_of([made_up_text(400)]), 6, iterations=3, progress=told.append)
    visits = [p.done for p in told]
    assert visits == sorted(visits)
    assert visits[-1] <= told[-1].of
    assert all(p.seconds_left >= 0 for p in told)


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text, output = tmp_path / "text.txt", tmp_path / "out.paths"
    text.write_text(" ".join(made_up_text(400)), encoding="utf-8")
    assert main(["cluster", "exchange", str(text), "--classes", "5", "--output", str(output), "--threads", "1"]) == 0
    assert "5 classes" in capsys.readouterr().out
    assert len(Clustering.load(output).paths) == 5


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        ("", [], "no words"),
        ("a b a", ["--min-count", "9"], "min_count"),
        ("a b a", ["--morphology", "-1"], "morphology"),
        ("a b a", ["--classes", "0"], "classes"),
    ],
)
def test_command_errors(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: str, options: list[str], message: str
) -> None:
    text, output = tmp_path / "text.txt", tmp_path / "out.paths"
    text.write_text(content, encoding="utf-8")
    assert main(["cluster", "exchange", str(text), "--output", str(output), *options]) == 2
    assert message in capsys.readouterr().err
    assert not output.exists()


def test_interrupted_in_a_pass_the_classes_so_far_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    improve = Exchange.improve

    def interrupted(run: Exchange) -> tuple[int, float]:
        if run.inserted == run.words:
            raise KeyboardInterrupt
        return improve(run)

    monkeypatch.setattr(Exchange, "improve", interrupted)
    text, output = tmp_path / "text.txt", tmp_path / "out.paths"
    text.write_text(" ".join(made_up_text(100)), encoding="utf-8")
    assert main(["cluster", "exchange", str(text), "--classes", "5", "--output", str(output)]) == 0
    assert "kept" in capsys.readouterr().err
    assert len(Clustering.load(output).paths) == 5
