"""Taggers of several domains: what they share, what they keep apart, and one file for all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dovetail import MultiDomainTagger, Sentence, Tagger, load
from dovetail.errors import DovetailError, ModelFileError
from dovetail.models.domains.estimator import pooled
from dovetail.models.tagger.domain import with_labels
from dovetail.models.tagger.labels import LabelSet
from dovetail.scorers.restricted import restricted
from tests.models.corpus import made

TEMPLATES = ["word[-1:2]", "shape[0]", "suffix(2, 3)[0]"]


def pattern(**settings: object) -> Tagger:
    given = {"features": TEMPLATES, "l2": 0.1, "min_count": 1, "threads": 1, "iterations": 200} | settings
    return Tagger(**given)  # type: ignore[arg-type]


def renamed(sentences: Sequence[Sentence], old: str, new: str) -> list[Sentence]:
    """The sentences with another name for a type."""
    return [s.with_layer("ner", tuple(tag.replace(old, new) for tag in s.layers["ner"])) for s in sentences]


@pytest.fixture(scope="module")
def data() -> dict[str, list[Sentence]]:
    """Two domains that agree on people and call places differently."""
    return {"news": made(40, seed=1), "web": renamed(made(15, seed=2), "LOC", "SPOT")}


@pytest.fixture(scope="module")
def dev() -> dict[str, list[Sentence]]:
    return {"news": made(20, seed=3), "web": renamed(made(20, seed=4), "LOC", "SPOT")}


@pytest.fixture(scope="module")
def trained(data: dict[str, list[Sentence]]) -> MultiDomainTagger:
    return MultiDomainTagger(tagger=pattern(iterations=30)).fit(data)


def same_probabilities(a: Tagger, b: Tagger, sentences: Sequence[Sentence], tolerance: float = 0.01) -> bool:
    pairs = zip(a.predict_marginals(sentences), b.predict_marginals(sentences), strict=True)
    return a.classes_ == b.classes_ and all(np.allclose(x, y, atol=tolerance) for x, y in pairs)


@pytest.mark.parametrize("order", [1, 2])
def test_all_is_one_tagger_of_pooled_data(data: dict[str, list[Sentence]], order: int) -> None:
    same = {"news": data["news"], "web": renamed(data["web"], "SPOT", "LOC")}
    one = pattern(order=order).fit(same["news"] + same["web"])
    several = MultiDomainTagger(tagger=pattern(order=order), strategy="all").fit(same)
    for domain in (None, "news", "web"):
        assert same_probabilities(several.tagger_of(domain), one, same["web"])


@pytest.mark.parametrize("templates", [TEMPLATES, [*TEMPLATES, "edge(word[0])"]])
def test_target_is_a_tagger_for_each_domain(data: dict[str, list[Sentence]], templates: list[str]) -> None:
    several = MultiDomainTagger(tagger=pattern(features=templates), strategy="target").fit(data)
    for name, sentences in data.items():
        alone = pattern(features=templates).fit(sentences)
        assert same_probabilities(several.tagger_of(name), alone, made(10, seed=5))


def test_sigma_goes_from_pooled_to_augmented(data: dict[str, list[Sentence]]) -> None:
    def fitted(**settings: object) -> MultiDomainTagger:
        return MultiDomainTagger(tagger=pattern(), **settings).fit(data)  # type: ignore[arg-type]

    for strategy, sigma in (("all", 1e-3), ("augment", 1.0)):
        a, b = fitted(strategy=strategy), fitted(sigma=sigma)
        assert same_probabilities(a.tagger_of("web"), b.tagger_of("web"), data["news"])


def test_a_domain_learns_from_the_other(data: dict[str, list[Sentence]]) -> None:
    """What web has not seen, news has: a name of several words that only news knows to be a person."""
    few = {"news": data["news"], "web": data["web"][:3]}
    test = renamed(made(40, seed=9), "LOC", "SPOT")
    alone = MultiDomainTagger(tagger=pattern(), strategy="target").fit(few).score(test, "web")
    linked = MultiDomainTagger(tagger=pattern()).fit(few).score(test, "web")
    assert linked > alone + 5


def test_domains_answer_their_own_labels(trained: MultiDomainTagger) -> None:
    assert trained.domains_ == ("news", "web")
    assert trained.tagger_of("news").classes_ == ("O", "B-LOC", "I-LOC", "B-PER", "I-PER")
    assert trained.tagger_of("web").classes_ == ("O", "B-PER", "I-PER", "B-SPOT", "I-SPOT")
    assert trained.tagger_of().classes_ == ("O", "B-LOC", "I-LOC", "B-PER", "I-PER", "B-SPOT", "I-SPOT")
    sentence = ["Ada", "visited", "Vienna", "."]
    assert trained.predict([sentence], "news") == [["B-PER", "O", "B-LOC", "O"]]
    assert trained.predict([sentence], "web") == [["B-PER", "O", "B-SPOT", "O"]]
    assert trained.predict([sentence])[0][:2] == ["B-PER", "O"]
    [annotated] = trained.annotate([Sentence(tuple(sentence))], "web")
    assert [span.label for span in annotated.spans] == ["PER", "SPOT"]
    assert all(span.probability for span in annotated.spans)


def test_a_domain_spells_entities_longer_than_it_has_seen(data: dict[str, list[Sentence]]) -> None:
    short = [Sentence(("ada", "slept"), {"ner": ("B-PER", "O")}), Sentence(("in", "rome"), {"ner": ("O", "O")})]
    several = MultiDomainTagger(tagger=pattern(iterations=30)).fit({"news": data["news"], "chat": short})
    assert several.tagger_of("chat").classes_ == ("O", "B-PER", "I-PER")
    assert several.predict([["Ada", "Lovelace", "slept"]], "chat") == [["B-PER", "I-PER", "O"]]


def test_labels_need_not_be_restricted(data: dict[str, list[Sentence]]) -> None:
    free = MultiDomainTagger(tagger=pattern(iterations=30), restrict=False).fit(data)
    assert free.tagger_of("web").classes_ == free.tagger_of().classes_
    assert "SPOT" in {s.label for x in free.annotate(data["web"], "web") for s in x.spans}


def test_dev_chooses_sigma_and_tunes_each_domain(
    data: dict[str, list[Sentence]], dev: dict[str, list[Sentence]]
) -> None:
    chosen = MultiDomainTagger(tagger=pattern(iterations=20)).fit(data, dev=dev)
    assert chosen.card_["sigma"] in (0.1, 0.3)
    assert chosen.card_["dev"] == pytest.approx(
        np.mean([chosen.score(sentences, name) for name, sentences in dev.items()]), abs=2.0
    )
    fixed = MultiDomainTagger(tagger=pattern(iterations=20), sigma=0.5).fit(data, dev={"web": dev["web"]})
    assert fixed.card_["sigma"] == 0.5
    assert fixed.model_ is not None
    assert fixed.model_.domains["news"].tuning.factor == 1.0
    assert fixed.model_.domains["web"].tuning.factor != 1.0


@pytest.mark.parametrize("optimiser", ["sgd", "adagrad", "perceptron"])
def test_online_optimisers(data: dict[str, list[Sentence]], optimiser: str) -> None:
    tagger = pattern(optimiser=optimiser, iterations=8)
    assert MultiDomainTagger(tagger=tagger).fit(data).score(data["web"], "web") > 90


def test_one_file_serves_every_domain(trained: MultiDomainTagger, tmp_path: Path) -> None:
    trained.save(tmp_path / "m")
    loaded = load(tmp_path / "m")
    assert isinstance(loaded, MultiDomainTagger)
    assert loaded.domains_ == trained.domains_
    sentences = made(10, seed=8)
    for domain in (None, "news", "web"):
        assert same_probabilities(loaded.tagger_of(domain), trained.tagger_of(domain), sentences, 1e-6)
    trained.save(tmp_path / "half", half=True)
    assert MultiDomainTagger.load(tmp_path / "half").predict(sentences, "web") == trained.predict(sentences, "web")
    assert (tmp_path / "half").stat().st_size < (tmp_path / "m").stat().st_size
    trained.save(tmp_path / "compact", compact=True)
    assert MultiDomainTagger.load(tmp_path / "compact").predict(sentences, "web") == trained.predict(sentences, "web")
    with pytest.raises(ModelFileError, match="not 'tagger'"):
        Tagger.load(tmp_path / "m")


def test_what_domains_share_can_be_saved_as_a_plain_tagger(trained: MultiDomainTagger, tmp_path: Path) -> None:
    shared = trained.tagger_of()
    shared.save(tmp_path / "shared")
    loaded = load(tmp_path / "shared")
    assert isinstance(loaded, Tagger)
    assert same_probabilities(loaded, shared, made(10, seed=8), 1e-6)
    assert loaded.card_["domains"] == trained.card_["domains"]


def test_what_a_domain_adds_is_less_than_a_model(trained: MultiDomainTagger) -> None:
    assert trained.model_ is not None
    for name, added in trained.model_.domains.items():
        assert len(added.parts["node"].weight) < len(trained.model_.untuned(name).node.weight)


def test_unknown_domains_are_told(trained: MultiDomainTagger, data: dict[str, list[Sentence]]) -> None:
    with pytest.raises(DovetailError, match=r"no domain 'radio'; the model knows news, web \(leave the domain out"):
        trained.predict([["Ada"]], "radio")
    apart = MultiDomainTagger(tagger=pattern(iterations=3), strategy="target").fit(data)
    with pytest.raises(DovetailError, match="share no weights"):
        apart.predict([["Ada"]])


def test_layers_that_a_domain_lacks_are_not_read(data: dict[str, list[Sentence]]) -> None:
    without = [Sentence(s.words, {"ner": s.layers["ner"]}) for s in data["web"]]
    several = MultiDomainTagger(tagger=pattern(features="ner", iterations=5)).fit(
        {"news": data["news"], "web": without}
    )
    several.predict([["Ada", "slept"]], "news")  # needs no part of speech


def test_no_label_in_common(data: dict[str, list[Sentence]]) -> None:
    strangers = {"news": data["news"], "web": renamed(data["web"], "PER", "NAME")}
    several = MultiDomainTagger(tagger=pattern(iterations=30)).fit(strangers)
    assert several.score(strangers["web"], "web") > 90


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: {}, "give the training sentences of each domain"),
        (lambda d: d | {"empty": []}, "the domain 'empty' has no training data"),
        (lambda d: d | {"bare": [Sentence(("Ada",))]}, "domain 'bare': training sentence 1 has no layer 'ner'"),
        (lambda d: d | {"pos": [Sentence(("Ada",), {"ner": ("NNP",)})]}, "the tags of pos are plain labels"),
    ],
)
def test_data_that_cannot_be_used_is_told(data: dict[str, list[Sentence]], change: object, message: str) -> None:
    with pytest.raises(DovetailError, match=message):
        MultiDomainTagger(tagger=pattern()).fit(change(data))  # type: ignore[operator]


@pytest.mark.parametrize(
    ("dev", "message"),
    [({"radio": made(1)}, "without training data: radio"), ({"web": []}, "the dev data of web has no sentences")],
)
def test_dev_data_that_cannot_be_used_is_told(
    data: dict[str, list[Sentence]], dev: dict[str, list[Sentence]], message: str
) -> None:
    with pytest.raises(DovetailError, match=message):
        MultiDomainTagger(tagger=pattern()).fit(data, dev=dev)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"strategy": "none"}, "strategy='none'"),
        ({"sigma": -1.0}, "zero or positive"),
        ({"sigma": 0.1, "strategy": "all"}, "sigma is for the strategy hierarchical"),
        ({"tagger": Tagger(l1=1.0)}, "l1 must be 0"),
        ({"tagger": Tagger(order=7)}, "order=7"),
    ],
)
def test_settings_that_cannot_be_are_told(
    data: dict[str, list[Sentence]], settings: dict[str, object], message: str
) -> None:
    with pytest.raises(DovetailError, match=message):
        MultiDomainTagger(**settings).fit(data)  # type: ignore[arg-type]


def test_untrained_is_told() -> None:
    with pytest.raises(DovetailError, match="not trained"):
        MultiDomainTagger().predict([["Ada"]])


# the parts


def test_restricted_scorers_score_their_sentences_as_the_whole_does() -> None:
    corpus = made(12)
    tagger = pattern(features=[*TEMPLATES, "word[-1] & word[0]", "bag(word, 2)"])
    training = tagger.prepared(corpus, tagger.features_for(corpus, None))
    whole, kept = training.scorer.parts["node"], np.array([0, 3, 4])
    weight = np.random.default_rng(0).normal(size=whole.layout.parameters)
    scores, offsets = whole.forward(weight), training.scorer.offsets
    for first, last in ((0, 5), (5, 12), (3, 3)):
        part, share = restricted(whole, first, last, kept)
        expected = scores[offsets[first] : offsets[last], kept]
        np.testing.assert_allclose(part.forward(weight[share]), expected)
        slope = np.random.default_rng(1).normal(size=expected.shape)
        everywhere = np.zeros_like(scores)
        everywhere[offsets[first] : offsets[last], kept] = slope
        gradient = whole.backward(everywhere)
        np.testing.assert_allclose(part.backward(slope), gradient[share])
        assert np.count_nonzero(gradient) == np.count_nonzero(gradient[share])


@pytest.mark.parametrize("order", [1, 2])
def test_a_model_within_labels_is_the_model_without_the_others(order: int) -> None:
    corpus = made(20)
    model = pattern(order=order, features=[*TEMPLATES, "edge(word[0])"], iterations=10).fit(corpus).model_
    assert model is not None
    fewer = LabelSet(("O", "B-LOC", "I-LOC"), "iob2")
    expected = with_labels(model.batch(corpus, 1), np.array([0, 1, 2]), order)
    np.testing.assert_allclose(model.within(fewer).batch(corpus, 1).log_partition(), expected.log_partition())


def test_sums_of_weights() -> None:
    one, two = (pattern(iterations=5).fit(made(8, seed=seed)).model_ for seed in (1, 2))
    assert one is not None
    assert two is not None
    scores = [model.batch(made(5), 1).potentials.unary for model in (one, two)]
    both = replace(one, parts={"node": one.node.plus(two.node)})
    np.testing.assert_allclose(both.batch(made(5), 1).potentials.unary, scores[0] + scores[1], atol=1e-5)


def test_documents_of_domains_do_not_clash() -> None:
    first = [Sentence(("a",), document=0), Sentence(("b",), document=3)]
    second = [Sentence(("c",), document=0), Sentence(("d",))]
    assert [s.document for s in pooled([first, second])] == [0, 3, 4, None]
