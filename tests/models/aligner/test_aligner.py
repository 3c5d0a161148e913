"""The aligner: right links of a made-up language, the same bits for any number of threads, its file, bad input."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dovetail.errors import DovetailError, ModelFileError
from dovetail.evaluate.alignment import alignment_scores, link_calibration
from dovetail.models.aligner.aligner import Aligner
from dovetail.models.aligner.candidates import PASSES, candidates_of
from dovetail.models.aligner.corpus import LONGEST, Vocabulary, numbered
from dovetail.models.aligner.lexicon import Lexicon
from dovetail.models.aligner.parts import count_parts, likenesses, parts
from dovetail.models.aligner.settings import SYMMETRISATIONS
from dovetail.text.bitext import Pair
from dovetail.text.links import Link
from tests.models.aligner.bitext import Gold, made_up


def as_links(gold: list[Gold]) -> list[list[Link]]:
    return [[Link(i, j) for i, j in sorted(links)] for links in gold]


@pytest.mark.parametrize("way", SYMMETRISATIONS)
def test_it_finds_the_links_of_a_made_up_language(way: str) -> None:
    pairs, gold = made_up(800)
    found = Aligner(symmetrise=way, threads=1).fit_align(pairs)
    scores = alignment_scores(as_links(gold), found)
    assert scores.error_rate < 8
    for pair, links in zip(pairs, found, strict=True):
        assert links == sorted(links)
        assert all(0 <= link.source < len(pair.source) and 0 <= link.target < len(pair.target) for link in links)
        assert all(0 < link.probability <= 1 for link in links)


def test_probabilities_keep_their_promise() -> None:
    pairs, gold = made_up(1500)
    report = link_calibration(as_links(gold), Aligner(threads=1).fit_align(pairs))
    assert report is not None
    assert report.expected_calibration_error < 0.05


def test_the_same_bits_for_any_number_of_threads() -> None:
    pairs, _ = made_up(400)
    one = Aligner(threads=1).fit_align(pairs)
    assert one == Aligner(threads=3).fit_align(pairs)
    assert one != Aligner(threads=1, seed=2).fit_align(pairs)


def test_a_saved_model_links_new_text(tmp_path: Path) -> None:
    pairs, _ = made_up(800)
    aligner = Aligner(threads=1).fit(pairs)
    aligner.save(tmp_path / "a.dovetail")
    loaded = Aligner.load(tmp_path / "a.dovetail", threads=1)
    fresh, gold = made_up(100, seed=9)
    found = list(loaded.align(fresh))
    assert found == list(aligner.align(fresh))
    assert alignment_scores(as_links(gold), found).error_rate < 8
    assert list(loaded.align([])) == []


def test_words_that_were_never_seen_are_linked_by_their_parts() -> None:
    words = [("Haus", "house"), ("Buch", "book"), ("Wasser", "water"), ("Garten", "garden")]
    pairs = [
        Pair(("das", s.lower()), ("the", t)) for s, t in [*words, ("Wasserfall", "waterfall"), ("Hauses", "houses")]
    ] * 4
    aligner = Aligner(threads=1).fit(pairs)
    (found,) = aligner.align([Pair(("das", "wasserwerk"), ("the", "waterworks"))])
    assert [link[:2] for link in found] == [(0, 0), (1, 1)]


def test_known_translations_help() -> None:
    """Two words that always come together cannot be told apart, but by somebody who knows them."""
    pairs = [Pair(("ja", "nein"), ("no", "yes"))] * 4 + made_up(50)[0]
    lexicon = Lexicon([("ja", "yes", 50.0), ("nein", "no", 50.0)])
    found = Aligner(threads=1).given(lexicon).fit_align(pairs)
    assert [link[:2] for link in found[0]] == [(0, 1), (1, 0)]


def test_pairs_that_are_no_translations_have_little_confidence() -> None:
    pairs, gold = made_up(1500, noise=0.4)
    found = Aligner(threads=1).fit_align(pairs)
    good = [f.confidence for f, links in zip(found, gold, strict=True) if links]
    bad = [f.confidence for f, links in zip(found, gold, strict=True) if not links]
    assert len(bad) > 400
    assert np.mean(good) > np.mean(bad) + 0.3
    assert np.mean(np.array(good) > np.median(bad)) > 0.95


def test_empty_sides_and_long_sentences_have_their_place() -> None:
    pairs, _ = made_up(100)
    odd = [Pair((), ("a",)), Pair(("a",), ()), Pair((), ()), Pair(("s1",) * (LONGEST + 1), ("t1x",))]
    found = Aligner(threads=1, samplers=1, sweeps=4).fit_align([*odd, *pairs])
    assert len(found) == len(pairs) + 4
    assert found[:4] == [[]] * 4
    with pytest.raises(DovetailError, match="nothing to align"):
        Aligner().fit([Pair((), ("a",))])


def test_sentences_of_two_thousand_words() -> None:
    pairs, _ = made_up(200)
    source = sum((p.source for p in pairs * 2), ())[:2000]
    target = sum((p.target for p in pairs * 2), ())[:2000]
    found = Aligner(threads=1, samplers=1, sweeps=4).fit_align([*pairs, Pair(source, target)])
    assert len(found[-1]) > 200


def test_the_same_language_on_both_sides_is_linked_word_by_word() -> None:
    pairs = [Pair(p.source, p.source) for p in made_up(300)[0]]
    for pair, links in zip(pairs, Aligner(threads=1).fit_align(pairs), strict=True):
        assert all(pair.source[link.source] == pair.target[link.target] for link in links)


def test_all_cells_are_candidates_where_that_is_asked() -> None:
    pairs, _ = made_up(50)
    words = Vocabulary(), Vocabulary()
    text = numbered(pairs, *words)
    cells = candidates_of(text, len(words[0]), len(words[1]), passes=0, least=0.0)
    assert len(cells.place) == sum(len(p.source) * len(p.target) for p in pairs)
    at = 0
    for pair in pairs:
        for word in pair.target:
            for i, source in enumerate(pair.source):
                assert cells.place[at] == i
                assert words[0].words[cells.source[cells.pair[at]]] == source
                assert words[1].words[cells.target[cells.pair[at]]] == word
                at += 1
    assert len(set(zip(cells.source.tolist(), cells.target.tolist(), strict=True))) == len(cells.source)


def test_every_step_is_told() -> None:
    steps: list[tuple[str, int, int]] = []
    pairs, _ = made_up(20)
    Aligner(threads=1, samplers=1, sweeps=4).fit(pairs, told=lambda *step: steps.append(step))
    passes = [("IBM model 1", number, PASSES) for number in range(1, PASSES + 1)]
    assert steps == [
        ("reading", 0, 0), ("pairing words of 20 sentence pairs", 0, 0), *passes, ("comparing parts of words", 0, 0),
        *(("drawing links", number, 20) for number in range(1, 21)),  # of little text five times as often
    ]  # fmt: skip


def test_what_parts_say_by_hand() -> None:
    """Two words with the same beginning, linked twice and once: each hears of the other, not of itself."""
    sides = parts(["houses", "housed"]), parts(["maisons", "maisoned"])
    source, target = np.array([0, 1], np.int32), np.array([0, 1], np.int32)
    count = np.array([2.0, 1.0], np.float32)
    counts = count_parts(source, target, count, *sides)
    seen = np.array([3, 1]), np.array([3, 1])
    forward, _ = likenesses(source, target, (count, np.array([2.0, 1.0]), np.array([2.0, 1.0])), counts, sides, seen)
    assert forward.tolist() == pytest.approx([1 / (1 + 1) * 3 / 4, 2 / (2 + 1) * 1 / 4])


@pytest.mark.parametrize(
    ("settings", "message"),
    [({"samplers": 0}, "samplers=0"), ({"symmetrise": "both"}, "choose one of soft"), ({"prior": 0.0}, "prior=0.0")],
)
def test_settings_are_checked(settings: dict, message: str) -> None:
    with pytest.raises(DovetailError, match=message):
        Aligner(**settings)


def test_files_of_other_kinds_and_models_that_have_learnt_nothing(tmp_path: Path) -> None:
    from dovetail.modelfile import save_model

    with pytest.raises(DovetailError, match="learnt nothing"):
        Aligner().save(tmp_path / "a.dovetail")
    save_model(tmp_path / "b.dovetail", {"kind": "tagger"}, {})
    with pytest.raises(ModelFileError, match="of kind 'tagger'"):
        Aligner.load(tmp_path / "b.dovetail")
    save_model(tmp_path / "c.dovetail", {"kind": "aligner", "settings": {}}, {})
    with pytest.raises(ModelFileError, match="damaged"):
        Aligner.load(tmp_path / "c.dovetail")
