"""The Tagger keeps its promises: answers with exact probabilities, files, manners, and clear errors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dovetail.errors import DovetailError
from dovetail.models.answer import Answer
from dovetail.models.tagger.estimator import Tagger
from dovetail.text.sentence import Sentence, Span
from dovetail.text.tags import tags_to_spans
from tests.models.corpus import made

FEATURES = ["bias", "word[-1:2]", "shape[0]", "suffix(1, 3)[0]"]


@pytest.fixture(scope="module")
def tagger() -> Tagger:
    return Tagger(features=FEATURES, l2=0.5, iterations=30).fit(made(30))


def quick(**settings: Any) -> Tagger:
    return Tagger(**({"features": FEATURES, "l2": 0.1, "iterations": 20} | settings))


@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize("scheme", ["iob2", "iobes"])
def test_learns_the_made_up_language(order: int, scheme: str) -> None:
    model = quick(order=order, scheme=scheme).fit(made(60))
    assert model.score(made(30, seed=5)) > 95


@pytest.mark.parametrize("optimiser", ["lbfgs", "sgd", "adagrad", "adam", "perceptron"])
def test_every_optimiser_learns_it(optimiser: str) -> None:
    assert quick(optimiser=optimiser).fit(made(60)).score(made(30, seed=5)) > 95


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("scheme", ["iob2", "iobes"])
def test_entity_probabilities_are_sums_over_all_taggings(order: int, scheme: str) -> None:
    model = Tagger(features=["bias", "word[0]"], order=order, scheme=scheme, l2=2.0, iterations=10).fit(made(8))
    sentence = Sentence(("Ada", "Lovelace", "left", "New"))
    everything: list[Answer] = model.kbest([sentence], k=20_000)[0]
    assert sum(t.probability for t in everything) == pytest.approx(1.0)
    expected: dict[tuple[int, int, str], float] = {}
    for tagging in everything:
        for span in tags_to_spans(tagging.tags):
            expected[span] = expected.get(span, 0.0) + tagging.probability
    assert len(expected) > 10
    for (start, end, label), probability in expected.items():
        found = model.span_probability(sentence, Span(start, end, label))
        assert found == pytest.approx(probability, abs=1e-9)


def test_entity_probabilities_without_constraints_count_entities_that_begin_with_inside() -> None:
    model = Tagger(features=["bias", "word[0]"], constrain=False, l2=2.0, iterations=10).fit(made(8))
    sentence = Sentence(("Ada", "Lovelace", "left"))
    expected: dict[tuple[int, int, str], float] = {}
    for tagging in model.kbest([sentence], k=20_000)[0]:
        for span in tags_to_spans(tagging.tags):
            expected[span] = expected.get(span, 0.0) + tagging.probability
    for (start, end, label), probability in expected.items():
        assert model.span_probability(sentence, Span(start, end, label)) == pytest.approx(probability, abs=1e-9)


def test_entities_of_the_best_tagging_carry_probabilities(tagger: Tagger) -> None:
    sentences = made(5, seed=3)
    for sentence, spans in zip(sentences, tagger.predict_entities(sentences), strict=True):
        [tags] = tagger.predict([sentence])
        assert [(s.start, s.end, s.label) for s in spans] == tags_to_spans(tags)
        assert all(s.probability is not None and 0 < s.probability <= 1 for s in spans)
    confident = tagger.predict_entities(sentences, threshold=0.9)
    assert all((s.probability or 0) >= 0.9 for each in confident for s in each)


def test_marginals_are_probabilities(tagger: Tagger) -> None:
    sentences = [*made(3, seed=2), Sentence(())]
    marginals = tagger.predict_marginals(sentences)
    assert [m.shape for m in marginals] == [(len(s), len(tagger.classes_)) for s in sentences]
    assert np.allclose(np.concatenate(marginals).sum(axis=1), 1)


def test_k_best_is_ranked_and_begins_with_the_best(tagger: Tagger) -> None:
    [sentence] = made(1, seed=8)
    ranked = tagger.kbest([sentence], k=5)[0]
    assert list(ranked[0].tags) == tagger.predict([sentence])[0]
    probabilities = [t.probability for t in ranked]
    assert probabilities == sorted(probabilities, reverse=True)
    assert len({t.tags for t in ranked}) == 5


def test_samples_follow_the_marginals(tagger: Tagger) -> None:
    sentence = ["Ada", "left", "Noether"]
    drawn = tagger.sample([sentence], n=4000, seed=1)[0]
    marginals = tagger.predict_marginals([sentence])[0]
    for position in range(3):
        for label, name in enumerate(tagger.classes_):
            share = np.mean([answer.tags[position] == name for answer in drawn])
            assert share == pytest.approx(marginals[position, label], abs=0.03)


def test_plain_labels_are_scored_by_token() -> None:
    model = quick(target="pos").fit(made(40))
    assert model.classes_ == (".", "NNP", "VBD")
    assert model.score(made(10, seed=4)) == pytest.approx(100.0)


def test_any_scheme_is_understood() -> None:
    iob2 = made(30)
    from dovetail.text.tags import convert

    for scheme in ("iob1", "iobes", "bilou"):
        tags = [convert(s.layers["ner"], "iob2", scheme) for s in iob2]
        assert quick().fit(iob2, tags).predict(iob2[:5]) == quick().fit(iob2).predict(iob2[:5])


@pytest.mark.parametrize("half", [False, True])
@pytest.mark.parametrize("name", ["model.dovetail", "model.dovetail.gz"])
def test_files_keep_the_model(tmp_path: Path, half: bool, name: str) -> None:
    model = quick(features=[*FEATURES, "edge(pos[0])"], order=2).fit(made(30))
    model.save(tmp_path / name, half=half, card={"licence": "none"})
    loaded = Tagger.load(tmp_path / name)
    sentences = made(20, seed=6)
    assert loaded.predict(sentences) == model.predict(sentences)
    assert loaded.card_["licence"] == "none"
    assert loaded.classes_ == model.classes_
    if not half:
        before, after = model.predict_marginals(sentences), loaded.predict_marginals(sentences)
        assert all(np.array_equal(a, b) for a, b in zip(before, after, strict=True))


def test_half_precision_is_smaller(tmp_path: Path, tagger: Tagger) -> None:
    tagger.save(tmp_path / "whole")
    tagger.save(tmp_path / "half", half=True)
    assert (tmp_path / "half").stat().st_size < (tmp_path / "whole").stat().st_size


def test_tiny_weights_are_not_kept() -> None:
    model = quick(l1=0.5, l2=0.0).fit(made(30))
    assert model.model_ is not None
    assert np.all(model.model_.node.weight != 0)
    assert len(model.model_.node.weight) < len(quick().fit(made(30)).model_.node.weight)  # type: ignore[union-attr]


def length_of(sentence: Sentence) -> list[dict[str, float]]:
    return [{"length": float(len(w))} for w in sentence.words]


def test_a_model_with_a_function_is_loaded_with_it(tmp_path: Path) -> None:
    from dovetail.features.algebra.templates import call, word

    model = quick(features=[word[0], call(length_of)]).fit(made(20))
    model.save(tmp_path / "m")
    with pytest.raises(DovetailError, match=r"Python function 'length_of'"):
        Tagger.load(tmp_path / "m")
    loaded = Tagger.load(tmp_path / "m", functions=[length_of])
    assert loaded.predict(made(5, seed=1)) == model.predict(made(5, seed=1))


def test_a_layer_may_have_the_name_of_an_attribute(tmp_path: Path) -> None:
    sentences = [s.with_layer("type", s.layers["pos"]).with_layer("my layer", s.layers["pos"]) for s in made(20)]
    model = quick(features=["column(type)[0]", "type[0]", "shape(of='my layer')[0]", "column('my layer')[-1]"]).fit(
        sentences
    )
    model.save(tmp_path / "m")
    assert Tagger.load(tmp_path / "m").model_.features == model.model_.features  # type: ignore[union-attr]
    assert Tagger.load(tmp_path / "m").predict(sentences) == model.predict(sentences)


def test_many_labels_with_edge_features(tmp_path: Path) -> None:
    words = [[f"w{i}", f"w{i}"] for i in range(260)]
    tags = [[f"T{i}", f"T{i}"] for i in range(260)]  # 260 * 260 pairs of tags do not fit into 16 bits
    model = quick(features=["word[0]", "edge(bias)"], min_count=1, observed_only=True, iterations=2).fit(words, tags)
    assert model.model_ is not None
    assert model.model_.edge is not None
    assert model.model_.edge.layout.label.max() > 65_535
    model.save(tmp_path / "m")
    assert Tagger.load(tmp_path / "m").predict(words[:20]) == model.predict(words[:20])


def test_a_loaded_tagger_can_be_trained_again(tmp_path: Path) -> None:
    quick().fit(made(10)).save(tmp_path / "m")
    assert Tagger.load(tmp_path / "m").fit(made(20)).score(made(10, seed=3)) > 50


def test_features_of_too_few_documents_are_dropped(tmp_path: Path) -> None:
    def told(words: str, tags: str, document: int | None) -> Sentence:
        return Sentence(tuple(words.split()), {"ner": tuple(tags.split())}, document=document)

    first = [told("Ada met Bob", "B-PER O B-PER", 0), told("Ada left", "B-PER O", 0)]
    second = [told("Cy met Bob", "B-PER O B-PER", 1), told("Cy left", "B-PER O", 1)]
    model = quick(features=["word[0]"], min_documents=2, min_count=1).fit(first + second)

    def knows(model: Tagger, word: str) -> bool:
        return any("word" in evidence.feature for evidence in model.explain([word], 0).evidence)

    known = {word: knows(model, word) for word in ("Ada", "met", "Bob", "Cy", "left")}
    assert known == {"Ada": False, "met": True, "Bob": True, "Cy": False, "left": True}
    model.save(tmp_path / "model")
    assert Tagger.load(tmp_path / "model").min_documents == 2
    with pytest.raises(DovetailError, match=r"in 2 documents.*min_count=1 .*min_documents=1"):
        quick(features=["word[0]"], min_documents=2).fit(first)
    loose = [told("Ada met Bob", "B-PER O B-PER", None), told("Ada left", "B-PER O", None)]
    assert knows(quick(features=["word[0]"], min_documents=2).fit(loose), "Ada")


def test_hashing_bounds_the_model() -> None:
    model = quick(hash_bits=8).fit(made(60))
    assert model.model_ is not None
    assert len(model.model_.node.index.keys) <= 256
    assert model.score(made(20, seed=2)) > 80


def test_partly_known_tags_teach() -> None:
    rng = np.random.default_rng(0)
    sentences = made(80)
    tags = [[t if rng.random() < 0.5 else "?" for t in s.layers["ner"]] for s in sentences]
    assert quick().fit(sentences, tags).score(made(20, seed=2)) > 90


def test_training_goes_on_from_a_model(tagger: Tagger) -> None:
    objectives: list[float] = []
    settings: dict[str, Any] = {"features": FEATURES, "l2": 0.5, "iterations": 3}
    Tagger(**settings).fit(made(30), init=tagger, progress=lambda p: objectives.append(p.objective))
    from_start: list[float] = []
    Tagger(**settings).fit(made(30), progress=lambda p: from_start.append(p.objective))
    assert objectives[0] < 0.5 * from_start[0]


def test_training_resumes_from_a_checkpoint(tmp_path: Path) -> None:
    class PowerCut(Exception):
        pass

    def cut(progress: Any) -> None:
        if progress.iteration == 30:
            raise PowerCut

    whole = quick(iterations=40, l2=1e-4).fit(made(60))
    with pytest.raises(PowerCut):
        quick(iterations=40, l2=1e-4).fit(made(60), checkpoint=tmp_path / "c", progress=cut)
    assert (tmp_path / "c").exists()
    seen: list[int] = []
    resumed = quick(iterations=40, l2=1e-4).fit(
        made(60), checkpoint=tmp_path / "c", progress=lambda p: seen.append(p.iteration)
    )
    assert seen[0] == 26
    assert not (tmp_path / "c").exists()
    assert np.array_equal(resumed.model_.node.weight, whole.model_.node.weight)  # type: ignore[union-attr]


def test_a_checkpoint_of_another_run_is_refused(tmp_path: Path) -> None:
    from dovetail.learning.checkpoint import Checkpoint

    Checkpoint.of(tmp_path / "c", {"other": 1}).save({"weight": np.zeros(3)})
    with pytest.raises(DovetailError, match="other data or settings"):
        quick().fit(made(5), checkpoint=tmp_path / "c")
    (tmp_path / "c").write_bytes(b"rubbish")
    with pytest.raises(DovetailError, match="not a usable checkpoint"):
        quick().fit(made(5), checkpoint=tmp_path / "c")


def test_dev_data_chooses_the_weights() -> None:
    scores: list[float] = []
    model = quick(iterations=60, patience=1, balance=False, calibrate=False).fit(
        made(20), dev=made(20, seed=3), progress=lambda p: scores.append(p.dev) if p.dev is not None else None
    )
    assert model.score(made(20, seed=3)) == pytest.approx(max(scores))


def test_explanations_add_up(tagger: Tagger) -> None:
    sentence = Sentence(("Ada", "left", "Vienna"))
    for position in range(3):
        explanation = tagger.explain(sentence, position)
        assert explanation.tag == tagger.predict([sentence])[0][position]
        assert sum(p for _, p in explanation.alternatives) == pytest.approx(1.0)
        chains = tagger.model_.batch([sentence], 1)  # type: ignore[union-attr]
        row = chains.potentials.unary[position]
        names = tagger.classes_
        score = sum(e.weight for e in explanation.evidence if not e.feature.startswith("after "))
        assert score == pytest.approx(row[names.index(explanation.tag)], abs=1e-4)
    with pytest.raises(DovetailError, match="tokens 0 to 2"):
        tagger.explain(sentence, 3)


def test_scikit_learn_manners() -> None:
    model = Tagger(order=2, l2=0.3)
    assert model.get_params()["order"] == 2
    assert model.set_params(order=1).order == 1
    assert Tagger(**model.get_params()).get_params() == model.get_params()
    with pytest.raises(ValueError, match="no setting 'ordre'"):
        model.set_params(ordre=1)
    with pytest.raises(DovetailError, match="not trained"):
        model.predict([["a"]])


# Bad input: each gives a clear message or a documented result.


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"order": 3}, "order=3: choose one of 0, 1, 2"),
        ({"scheme": "iob7"}, "choose one of iob2, iobes"),
        ({"loss": "hinge"}, "choose one of likelihood"),
        ({"optimiser": "newton"}, "choose one of lbfgs"),
        ({"loss": "perceptron"}, "not smooth"),
        ({"hash_bits": 40}, "choose 8 to 31"),
        ({"features": "nerr"}, "no feature set"),
        ({"features": ["nosuchlayer[0]"]}, "layer 'nosuchlayer'"),
        ({"target": "nosuchlayer"}, "no layer 'nosuchlayer' to learn from"),
    ],
)
def test_bad_settings_say_what_to_choose(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(DovetailError, match=message):
        quick(**settings).fit(made(3))


def test_empty_training_data() -> None:
    for nothing in ([], [Sentence((), {"ner": ()})]):
        with pytest.raises(DovetailError, match="no tokens"):
            quick().fit(nothing)


def test_wrong_shapes() -> None:
    with pytest.raises(DovetailError, match="1 training sentences but 2 tag sequences"):
        quick().fit([["a"]], [["O"], ["O"]])
    with pytest.raises(DovetailError, match="sentence 1 has 1 words but 2 tags"):
        quick().fit([["a"]], [["O", "O"]])
    with pytest.raises(DovetailError, match="looks like a single one"):
        quick().fit(["a", "b"], [["O"]])  # type: ignore[arg-type]


def test_one_label_only() -> None:
    model = quick().fit([["a", "b"], ["c"]], [["O", "O"], ["O"]])
    assert model.predict([["a", "z"], []]) == [["O", "O"], []]


def test_odd_sentences(tagger: Tagger) -> None:
    odd = [[], [" "], ["x" * 10_000], ["\x00", "\x1b[31m", "\u2028", "\ud800"], ["Ada"] * 20_000]
    tags = tagger.predict(odd)
    assert [len(t) for t in tags] == [len(s) for s in odd]
    assert all(np.isfinite(m).all() for m in tagger.predict_marginals(odd))
    assert quick(iterations=3).fit(odd, tags).predict(odd[:3])


def test_unknown_tags_when_scoring(tagger: Tagger) -> None:
    score = tagger.score([["Ada", "left"]], [["B-ROBOT", "O"]])
    assert score == 0.0


def test_labels_seen_only_in_dev() -> None:
    dev = [Sentence(("Robbie", "left"), {"ner": ("B-ROBOT", "O")}), *made(5, seed=2)]
    assert quick().fit(made(20), dev=dev).score(dev) > 0


def test_a_layer_that_the_input_lacks() -> None:
    model = quick(features=["word[0]", "pos[0]"], predict_layers=False).fit(made(10))
    with pytest.raises(DovetailError, match="layer 'pos', which sentence 1 lacks"):
        model.predict([["Ada", "left"]])
    assert quick(features=["word[0]", "pos[0]"], ignore=["pos"]).fit(made(10)).predict([["Ada"]])


def test_a_named_set_does_without_layers_that_are_not_there() -> None:
    bare = [Sentence(s.words, {"ner": s.layers["ner"]}) for s in made(20)]
    assert quick(features="plain").fit(bare).predict(bare[:1])


@pytest.mark.parametrize("scheme", ["iob2", "iobes"])
def test_partly_known_tags_in_any_scheme(scheme: str) -> None:
    tags = [["B-PER", "I-PER", "?"], ["?", "I-PER", "O"], ["O", "B-PER", "?"], ["?", "O", "B-PER"], ["I-PER", "?", "O"]]
    words = [["Ada", "Lovelace", "left"]] * 5
    assert quick(scheme=scheme, min_count=1).fit(words, tags).predict([["Ada", "Lovelace", "left"]])


def test_an_entity_whose_beginning_nobody_saw() -> None:
    model = quick(min_count=1).fit([["a", "b"], ["c"]], [["?", "I-X"], ["O"]])
    assert model.classes_ == ("O", "B-X", "I-X")


def test_a_checkpoint_is_bound_to_its_words(tmp_path: Path) -> None:
    def stop(progress: Any) -> None:
        if progress.iteration == 26:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        quick(iterations=40, l2=1e-4).fit(made(60), checkpoint=tmp_path / "c", progress=stop)
    others = [Sentence(tuple("x" + w for w in s.words), s.layers) for s in made(60)]
    with pytest.raises(DovetailError, match="other data or settings"):
        quick(iterations=40, l2=1e-4).fit(others, checkpoint=tmp_path / "c")
    longer = quick(iterations=45, l2=1e-4).fit(made(60), checkpoint=tmp_path / "c")  # a longer run may go on
    assert longer.model_ is not None


def test_real_values_of_any_size_are_learnt(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    values = [[str(v) for v in rng.uniform(5e4, 1e5, 5) * rng.choice([-1, 1], 5)] for _ in range(40)]
    sentences = [Sentence(("w",) * 5, {"x": tuple(v), "y": tuple("AB"[float(n) > 0] for n in v)}) for v in values]
    model = Tagger(features=["number(x)[0]"], target="y", order=0, l2=0.0, iterations=200).fit(sentences)
    assert model.score(sentences) > 95
    tiny = [
        Sentence(s.words, {"x": tuple(str(float(v) * 1e-12) for v in s.layers["x"]), "y": s.layers["y"]})
        for s in sentences
    ]
    model = Tagger(features=["number(x)[0]"], target="y", order=0, l2=0.0, iterations=200).fit(tiny)
    with pytest.raises(DovetailError, match="too large for half precision"):
        model.save(tmp_path / "m", half=True)


def test_other_processes_can_predict(tagger: Tagger) -> None:
    import multiprocessing

    sentences = made(3000)
    expected = tagger.predict(sentences)  # starts the threads, which a fork does not inherit
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert pool.apply_async(tagger.predict, (sentences,)).get(timeout=300) == expected


def test_nested_entities_outlive_another_layer() -> None:
    model = quick(target="pos").fit(made(20))
    sentence = Sentence(("Ada", "left"), spans=(Span(0, 2, "A"), Span(0, 1, "B")))
    [answer] = model.annotate([sentence])
    assert answer.spans == sentence.spans


def test_functions_have_names_of_their_own() -> None:
    with pytest.raises(DovetailError, match="give the function a name"):
        quick(features=[lambda s: [["x"] for _ in s.words]]).fit(made(3))
    with pytest.raises(DovetailError, match="a list of features a word, not 'abc'"):
        quick(features=[strings_for_lists]).fit(made(3))


def strings_for_lists(sentence: Sentence) -> list[str]:
    return ["abc" for _ in sentence.words]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"l2": -1.0}, "l2=-1.0"),
        ({"l1": float("inf")}, "l1=inf"),
        ({"batch": 0, "optimiser": "sgd"}, "batch=0: choose 1 or more"),
        ({"seed": -1}, "seed=-1"),
        ({"gain": 0.0, "optimiser": "sgd"}, "step size is positive"),
        ({"order": 0, "features": ["bias", "edge(bias)"]}, "each label stands alone"),
    ],
)
def test_impossible_settings(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(DovetailError, match=message):
        quick(**settings).fit(made(3))


def test_spans_outside_the_sentence(tagger: Tagger) -> None:
    for span in (Span(1, 1, "PER"), Span(0, 3, "PER")):
        with pytest.raises(DovetailError, match="does not lie in a sentence of 2 words"):
            tagger.span_probability(["Ada", "left"], span)


def test_second_order_training_goes_on_from_its_transitions() -> None:
    first = quick(order=2, iterations=30).fit(made(60))
    objectives: list[float] = []
    quick(order=2, iterations=1).fit(made(60), init=first, progress=lambda p: objectives.append(p.objective))
    reached: list[float] = []
    quick(order=2, iterations=30).fit(made(60), progress=lambda p: reached.append(p.objective))
    assert objectives[0] < 0.2 * reached[0]
