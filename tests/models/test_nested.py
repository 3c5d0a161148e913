"""NestedTagger: entities within entities, from fit to files."""

from __future__ import annotations

import os
import signal
import threading
from collections import Counter
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest

import dovetail
from dovetail.errors import DovetailError, ModelFileError
from dovetail.features.resources.clusters import Clusters
from dovetail.learning.monitor import Progress
from dovetail.models.nested.estimator import NestedTagger
from dovetail.models.nested.gold import as_tree
from dovetail.text.sentence import Sentence, Span
from tests.models.corpus import made

PLACES = ["Bern", "Basel", "Padua", "Leiden", "Uppsala"]
VERBS = ["hired", "praised", "left"]
TEMPLATES = ["word[0]", "word[inside]", "word[start - 1:start + 1]", "word[end:end + 2]", "bias[start]", "phrase"]


def university(place: str, verb: str, other: str) -> Sentence:
    """``University of Bern hired Ada of Basel``: a place in a university, and a place by itself."""
    words = ("University", "of", place, verb, "Ada", "of", other)
    pos = tuple("NNP" if word[0].isupper() else "IN" if word == "of" else "VBD" for word in words)
    return Sentence(words, {"pos": pos}, (Span(0, 3, "ORG"), Span(2, 3, "LOC"), Span(4, 5, "PER"), Span(6, 7, "LOC")))


CORPUS = [university(*each) for each in product(PLACES, VERBS, PLACES)]


def tagger(**settings: object) -> NestedTagger:
    return NestedTagger(**{"features": TEMPLATES, "l2": 0.1, "iterations": 5, "threads": 1} | settings)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def trained() -> NestedTagger:
    return tagger().fit(CORPUS[::2], dev=CORPUS[1::2])


def labelled(spans: list[Span]) -> list[tuple[int, int, str]]:
    return [(s.start, s.end, s.label) for s in spans]


def test_entities_within_entities_are_found(trained: NestedTagger) -> None:
    new = university("Bern", "left", "Padua")
    assert labelled(trained.predict([new])[0]) == labelled(list(new.spans))
    assert trained.score(CORPUS) > 99
    assert trained.scores(CORPUS).inner.f1 > 99
    assert trained.classes_ == ("LOC", "ORG", "PER")


def test_probabilities_are_of_every_entity(trained: NestedTagger) -> None:
    [spans] = trained.predict_marginals([CORPUS[0]], 1e-4)
    answered = {(s.start, s.end, s.label): s.probability for s in trained.predict([CORPUS[0]])[0]}
    found = {(s.start, s.end, s.label): s.probability for s in spans}
    assert len(found) > len(answered)
    assert all(found[key] == pytest.approx(p) and 0.5 < (p or 0) <= 1 for key, p in answered.items())
    assert trained.predict([CORPUS[0]], threshold=1.0) == [[]]


def test_best_trees_and_samples_come_from_the_same_distribution(trained: NestedTagger) -> None:
    [trees] = trained.kbest([CORPUS[0]], 3)
    assert labelled(trees[0].spans) == labelled(CORPUS[0].spans)
    assert trees[0].probability > trees[1].probability > trees[2].probability
    drawn = trained.sample([CORPUS[0]], 200, seed=1)[0]
    share = sum(labelled(answer.spans) == labelled(trees[0].spans) for answer in drawn) / 200
    assert share == pytest.approx(trees[0].probability, abs=0.12)


def test_each_sample_of_a_sentence_without_words_is_a_list_of_its_own(trained: NestedTagger) -> None:
    first, last = trained.sample([Sentence(()), CORPUS[0]], 2, seed=1)[0]
    assert first.spans == last.spans == ()
    assert first is not last
    [[only]] = trained.kbest([Sentence(())], 2)
    assert (only.spans, only.probability) == ((), 1.0)


def test_annotate_keeps_nested_spans_and_writes_outermost_tags(trained: NestedTagger) -> None:
    [sentence] = trained.annotate([Sentence(CORPUS[0].words)])
    assert labelled(list(sentence.spans)) == labelled(list(CORPUS[0].spans))
    assert sentence.layers["ner"] == ("B-ORG", "I-ORG", "I-ORG", "O", "B-PER", "O", "B-LOC")
    assert all(span.probability is not None for span in sentence.spans)
    [plain] = trained.annotate([Sentence(CORPUS[0].words)], probabilities=False)
    assert all(span.probability is None for span in plain.spans)


def test_files_give_the_same_answers(trained: NestedTagger, tmp_path: Path) -> None:
    trained.save(tmp_path / "m")
    again = dovetail.load(tmp_path / "m")
    assert isinstance(again, NestedTagger)
    assert again.predict(CORPUS[:5]) == trained.predict(CORPUS[:5])
    assert again.card_ == trained.card_
    trained.save(tmp_path / "half", half=True)
    assert (tmp_path / "half").stat().st_size < (tmp_path / "m").stat().st_size
    halved = NestedTagger.load(tmp_path / "half").predict(CORPUS[:5])
    assert [labelled(s) for s in halved] == [labelled(s) for s in trained.predict(CORPUS[:5])]
    with pytest.raises(ModelFileError, match="not 'tagger'"):
        dovetail.Tagger.load(tmp_path / "m")


def test_clusters_travel_with_the_model(tmp_path: Path) -> None:
    clusters = Clusters.of_paths({place: "0110" for place in [*PLACES, "Delft"]} | {verb: "10" for verb in VERBS})
    model = NestedTagger(resources={"mine": clusters}, l2=0.1, threads=1, iterations=5).fit(CORPUS)
    model.save(tmp_path / "m")
    sentence = university("Delft", "hired", "Delft")
    assert labelled(NestedTagger.load(tmp_path / "m").predict([sentence])[0]) == labelled(list(sentence.spans))


def test_flat_tags_serve_as_entities() -> None:
    model = NestedTagger(l2=0.1, threads=1, iterations=5).fit(made(80, seed=1))
    assert model.score(made(20, seed=2)) > 95
    assert model.scores(made(20, seed=2)).inner.predicted == 0


def test_the_pos_layer_is_read_unless_ignored() -> None:
    given, ignored = (NestedTagger(l2=1.0, threads=1, iterations=1, ignore=i).fit(CORPUS[:10]) for i in ((), ("pos",)))
    assert "pos" in given._model().features.columns
    assert "pos" not in ignored._model().features.columns
    assert ignored.predict([CORPUS[0].words])
    assert (given.predicts, ignored.predicts) == (("pos",), ())
    assert given.predict([CORPUS[0].words])


def test_settings_can_be_read_and_changed() -> None:
    model = NestedTagger(l2=2.0)
    assert model.get_params()["l2"] == 2.0
    assert model.set_params(l2=1.0).l2 == 1.0
    for wrong in ({"optimiser": "magic"}, {"l2": -1.0}, {"longest": 0}, {"iterations": 0}):
        with pytest.raises(DovetailError):
            NestedTagger(**wrong).fit(CORPUS)  # type: ignore[arg-type]
    with pytest.raises(DovetailError, match="not trained"):
        model.predict(CORPUS)
    with pytest.raises(DovetailError, match="looks like a single one"):
        model.fit(CORPUS[0])  # type: ignore[arg-type]
    with pytest.raises(DovetailError, match="no training sentence has an entity"):
        model.fit([Sentence(("nothing", "here"))])
    with pytest.raises(DovetailError, match="no tokens"):
        model.fit([])


def test_long_sentences_are_left_out_on_demand() -> None:
    model = tagger(max_length=7).fit([*CORPUS[:5], Sentence(("very",) * 8)])
    assert model.card_["too_long"] == 1
    assert model.card_["sentences"] == 5


def test_parts_of_speech_are_found_with_the_entities(tmp_path: Path) -> None:
    model = NestedTagger(pos="joint", l2=0.1, threads=1, iterations=5).fit(CORPUS[::2], dev=CORPUS[1::2])
    assert "pos" not in model._model().features.columns
    seen = model._model().parts["joint"].layout.label // len(model._model().tags)
    assert set(seen.tolist()) == {0, 1, 2, 3}  # parts of speech inside entities of three types, and outside of all
    model.save(tmp_path / "m")
    for one in (model, NestedTagger.load(tmp_path / "m")):
        [found] = one.annotate([Sentence(CORPUS[0].words)])
        assert found.layers["pos"] == CORPUS[0].layers["pos"]
        assert labelled(list(found.spans)) == labelled(list(CORPUS[0].spans))
    with pytest.raises(DovetailError, match="no layer 'pos'"):
        NestedTagger(pos="joint").fit([Sentence(("a",), spans=(Span(0, 1, "X"),))])


# what no tree can hold


def test_crossing_repeated_and_third_entities_are_counted() -> None:
    reasons: Counter[str] = Counter()
    spans = [Span(0, 2, "A"), Span(1, 4, "B"), Span(1, 4, "B"), Span(1, 4, "C"), Span(1, 4, "A"), Span(0, 9, "A")]
    assert labelled(as_tree(spans, 5, reasons)) == [(1, 4, "A"), (1, 4, "B")]
    assert sum(reasons.values()) == len(spans) - 2
    assert reasons["crossing a longer entity"] == 1
    assert reasons["longer than the model allows"] == 1


def test_what_is_left_out_of_training_is_on_the_card() -> None:
    crossing = Sentence(("a", "b", "c"), spans=(Span(0, 2, "ORG"), Span(1, 3, "ORG")))
    model = tagger().fit([*CORPUS[:5], crossing])
    assert model.card_["left_out"] == {"crossing a longer entity": 1}
    assert model.card_["entities"] == 21


# training


def test_threads_do_not_change_the_model() -> None:
    one, two = (tagger(threads=n).fit(CORPUS[:20]) for n in (1, 2))
    assert one.predict_marginals(CORPUS[:5]) == two.predict_marginals(CORPUS[:5])


def test_training_goes_on_from_a_checkpoint(tmp_path: Path) -> None:
    whole = tagger(iterations=4).fit(CORPUS)

    def interrupt(progress: Progress) -> None:
        if progress.iteration == 2:
            assert threading.current_thread() is threading.main_thread()
            os.kill(os.getpid(), signal.SIGINT)

    path = tmp_path / "checkpoint"
    stopped = tagger(iterations=4).fit(CORPUS, checkpoint=path, progress=interrupt)
    assert stopped.card_["stopped"] == "interrupted"
    assert path.exists()
    resumed = tagger(iterations=4).fit(CORPUS, checkpoint=path)
    assert not path.exists()
    assert resumed.predict_marginals(CORPUS[:5]) == whole.predict_marginals(CORPUS[:5])


def test_a_very_long_sentence_is_answered(trained: NestedTagger) -> None:
    words = CORPUS[0].words * 200
    [spans] = trained.predict([Sentence(words)])
    assert len(spans) > 2 * 200
    assert max(span.end for span in spans) > len(words) - len(CORPUS[0])


def test_labels_of_dev_that_training_lacks_do_no_harm() -> None:
    dev = [replace(CORPUS[0], spans=(Span(0, 1, "NEW"),)), *CORPUS[1:5]]
    assert tagger().fit(CORPUS, dev=dev).score(CORPUS) > 90
