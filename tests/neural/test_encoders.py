"""Networks in every kind of model: they learn, their gradients are right, and one file has all of them."""

from __future__ import annotations

import shutil
from dataclasses import replace

import numpy as np
import pytest

from tests.extras import NEEDS

pytest.importorskip("torch", reason=NEEDS["torch"])
pytest.importorskip("transformers", reason=NEEDS["transformers"])

import torch

from dovetail.errors import DovetailError
from dovetail.models.dependency.estimator import DependencyParser
from dovetail.models.nested.estimator import NestedTagger
from dovetail.models.parser.estimator import Parser
from dovetail.models.segmenter.estimator import Segmenter
from dovetail.models.tagger.estimator import Tagger
from dovetail.models.training import Run
from dovetail.neural.encoders import WordEncoder
from dovetail.neural.pretrained import PretrainedEncoder
from dovetail.text.sentence import Sentence
from tests.neural.encoders import NAMES, corpus, tiny_encoder

SMALL = {"encoder_size": 6, "seed": 3, "threads": 1, "dropout": 0.0, "batch": 4, "patience": 40}


def kinds():
    """A model of every structure, to be given an encoder."""
    return {
        "tagger": Tagger(features="none", iterations=25, gain=0.01, **SMALL),
        "segmenter": Segmenter(target="ner", features="none-spans", iterations=25, gain=0.01, **SMALL),
        "nested": NestedTagger(features="none", iterations=25, gain=0.01, **SMALL),
        "parser": Parser(kind="labelled", tags="given", iterations=15, gain=0.01, threshold=0.0, **SMALL),
        "ruled": Parser(kind="labelled-rules", tags="given", iterations=15, gain=0.01, **SMALL),
        "dependency": DependencyParser(bits=10, iterations=15, gain=0.01, relations=False, **SMALL),
    }


every = pytest.mark.parametrize("kind", kinds())


def corpus_for(kind, count=24):
    """The segmenter finds what does not lie in anything else."""
    flat = kind == "segmenter"
    return [replace(s, spans=(s.spans[0], s.spans[2])) if flat else s for s in corpus(count)]


def training_of(model, sentences):
    return model._prepare(model._examples(sentences, None, "training"), None, Run(None, None, None, lambda what: None))


@every
def test_the_gradient_of_a_model_with_an_encoder(kind):
    model = kinds()[kind].set_params(encoder="lstm")
    training = training_of(model, corpus_for(kind, 4))
    objective, which = training.objective, np.array([2, 0, 3])
    objective.scorer.training = False  # nothing is left out
    module = (training.model.network).module.double()
    rng = np.random.default_rng(0)
    weight = training.start() + rng.normal(scale=0.1, size=objective.parameters)
    for some in (which, None):
        gradient = np.zeros(objective.parameters)
        objective._add(weight, some, gradient)
        assert module is training.model.network.module
        for _ in range(3):
            way = rng.normal(size=len(weight))
            way[: len(weight) - 50] *= rng.random() < 0.7  # now and then the last weights alone: those of the head
            ends = [objective._add(weight + step * way, some, np.zeros(len(weight))) for step in (1e-5, -1e-5)]
            assert (ends[0] - ends[1]) / 2e-5 == pytest.approx(gradient @ way, rel=1e-4, abs=1e-4)


@every
def test_a_model_with_an_encoder_learns_and_is_one_file(kind, tmp_path):
    sentences, model = corpus_for(kind), kinds()[kind].set_params(encoder="cnn")
    model.fit(sentences, dev=sentences[:6])
    assert model.score(sentences) > 90
    model.save(tmp_path / "model")
    again = type(model).load(tmp_path / "model")
    new = [Sentence(("Gus", "met", "old", "Ada", "."), {"pos": ("NNP", "VBD", "JJ", "NNP", ".")})]
    assert again.predict(new) == model.predict(new)
    assert again.score(sentences) == model.score(sentences)
    if kind == "parser":
        assert any("encoder" in str(e) for e in model.explain(sentences[0], 2, 4).evidence)


@pytest.mark.parametrize("tuned", [False, True])
def test_an_encoder_of_a_folder(tuned, tmp_path):
    sentences, folder = corpus(), tmp_path / "encoder"
    shutil.copytree(tiny_encoder(), folder)
    model = kinds()["tagger"].set_params(encoder=str(folder), tune_encoder=tuned, gain=0.02)
    before = PretrainedEncoder.from_folder(folder).model.state_dict()
    model.fit(sentences, dev=sentences[:6])
    after = model.model_.network.module.encoder.model.state_dict()
    same = [torch.equal(before[name], after[name]) for name in before]
    assert not any(same[:3]) if tuned else all(same)
    network = model.model_.network
    copy = network.with_weights(network.weights())  # whatever the pace of its parameters is
    assert all(torch.equal(a, b) for a, b in zip(copy.module.parameters(), network.module.parameters(), strict=True))
    assert max((after[name] - before[name]).abs().max() for name in before) < 0.5
    assert tuned or model.score(sentences) > 90  # of random weights the steps are too short to learn much
    model.save(tmp_path / "model")
    shutil.rmtree(folder)  # the file works alone
    again = Tagger.load(tmp_path / "model")
    found, wanted = again.predict_marginals([["Ada", "met", "Zoe"]]), model.predict_marginals([["Ada", "met", "Zoe"]])
    np.testing.assert_allclose(found[0], wanted[0], atol=1e-6)


@pytest.mark.parametrize("pooled", ["first", "mean"])
def test_long_sentences_are_read_in_windows(pooled):
    encoder = PretrainedEncoder.from_folder(tiny_encoder(), tuned=True, pooled=pooled).eval()
    rng = np.random.default_rng(1)
    long = [str(rng.choice([*NAMES, "\u200b", "x" * 40])) for _ in range(40)]
    read = encoder.read([long, [], long[:2], ["Ada"] * 24])
    found = encoder(read(np.array([0, 1, 2, 3])))
    assert found.shape == (66, 16)
    assert torch.allclose(found[40:42], encoder(encoder.read([long[:2]])(np.array([0]))), atol=1e-6)
    assert torch.isfinite(found).all()


def test_words_and_letters():
    encoder = WordEncoder.learn([["Ada", "met", "Ada"], ["met", "Bob"]], "lstm", size=3).eval()
    assert list(encoder.number) == ["ada", "met"]
    every = [["Ada", "slept"], [], ["Bob", "met", "Ada"]]
    together = encoder(encoder.read(every)(np.array([0, 1, 2])))
    apart = [encoder(encoder.read([words])(np.array([0]))) for words in every]
    torch.testing.assert_close(together, torch.cat(apart))  # a sentence is read for itself
    given = WordEncoder.learn([["a"]], "cnn", vectors={"zoo": np.arange(4.0)})
    assert given.word.weight[given.number["zoo"]].tolist() == [0, 1, 2, 3]


def test_training_again_gives_the_same_weights():
    sentences = corpus(6)
    ends = []
    for _ in range(2):
        model = Tagger(features="none", iterations=2, encoder="cnn", encoder_size=4, threads=1).fit(sentences)
        ends.append(model.model_.network.weights())
    assert np.array_equal(*ends)


@pytest.mark.parametrize(
    ("lost", "named"),
    [("config.json", "config.json"), ("model.safetensors", "model.safetensors"), (None, "tokenizer.json")],
)
def test_a_folder_that_lacks_a_file(lost, named, tmp_path):
    folder = tmp_path / "encoder"
    shutil.copytree(tiny_encoder(), folder)
    for name in [lost] if lost else ["tokenizer.json", "vocab.txt"]:
        (folder / name).unlink(missing_ok=True)
    with pytest.raises(DovetailError, match=f"lacks {named}") as told:
        Tagger(encoder=str(folder)).fit(corpus(2))
    assert "\n" not in str(told.value)


def test_what_cannot_be():
    with pytest.raises(DovetailError, match="no such folder"):
        Tagger(encoder="no/such/folder").fit(corpus(2))
    with pytest.raises(DovetailError, match="trained by adam"):
        Tagger(encoder="lstm", optimiser="sgd").fit(corpus(2))
    with pytest.raises(DovetailError, match="give dev data"):
        Tagger(encoder="lstm", cross_validate=5).fit(corpus(9))
    with pytest.raises(DovetailError, match="scores spans"):
        Parser(encoder="lstm").fit(corpus(2))
