"""Pipelines in files, one with all models or TOML that names them, and the commands that use them."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

import dovetail
from dovetail.cli.console import warn
from dovetail.cli.main import main
from dovetail.cli.pipeline import load
from dovetail.errors import DovetailError, InputError
from dovetail.models.dependency.estimator import DependencyParser
from dovetail.models.parser.estimator import Parser
from dovetail.models.roles.estimator import RoleLabeller
from dovetail.models.tagger.estimator import Tagger
from dovetail.pipeline.pipeline import Pipeline
from dovetail.pipeline.stage import Stage
from dovetail.text.brackets import parse_tree
from dovetail.text.frames import Frame
from dovetail.text.sentence import Sentence
from tests.models.treebank import treebank

TOML = """
strategy = "sample"
samples = 20

[[stages]]
name = "pos"
model = "pos.dovetail"

[[stages]]
name = "heads"
model = "parser.dovetail"
reads = ["pos"]
temperature = 1.4
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two models, a pipeline of them, and text in several formats."""
    path = tmp_path_factory.mktemp("pipeline")
    train, dev = treebank(20), treebank(4, 9)
    Tagger(target="pos", features=["word[0]", "shape[0]"], iterations=5, threads=1).fit(train).save(
        path / "pos.dovetail"
    )
    own = DependencyParser(bits=10, iterations=4, predict_tags=True, threads=1).fit(train)
    own.save(path / "parser.dovetail")
    (path / "pipe.toml").write_text(TOML)
    dovetail.write(dev, path / "dev.conllu")
    (path / "raw.txt").write_text("Ada saw Bob. Eve met Max in the garden.")
    return path


def test_one_file_answers_as_the_models_did(folder, tmp_path):
    pipeline, text = Pipeline.load(folder / "pipe.toml"), treebank(4, 9)
    assert [(s.name, s.reads, s.temperature) for s in pipeline.stages] == [
        ("pos", (), 1.0), ("heads", ("pos",), 1.4)
    ]  # fmt: skip
    pipeline.save(tmp_path / "all.dovetail")
    again = dovetail.load(tmp_path / "all.dovetail")
    assert isinstance(again, Pipeline)
    assert list(again.annotate(text)) == list(pipeline.annotate(text))
    assert (again.strategy, again.samples, again.stages[1].temperature) == ("sample", 20, 1.4)


def test_a_model_taken_apart_is_in_its_file_once(folder, tmp_path):
    model, text = dovetail.load(folder / "parser.dovetail"), [Sentence(s.words) for s in treebank(4, 9)]
    pipeline = Pipeline.of(model, samples=10)
    pipeline.save(tmp_path / "all.dovetail")
    again = dovetail.load(tmp_path / "all.dovetail")
    assert again.predict(text) == pipeline.predict(text)
    grown = (tmp_path / "all.dovetail").stat().st_size / (folder / "parser.dovetail").stat().st_size
    assert grown < 1.1


def test_functions_are_given_again(folder, tmp_path):
    def loud(sentence):
        return sentence.with_layer("loud", tuple(word.upper() for word in sentence.words))

    pipeline = Pipeline([Stage("loud", loud, (), ("loud",))], strategy="greedy")
    pipeline.save(tmp_path / "loud.dovetail")
    with pytest.raises(DovetailError, match="the stage 'loud' is a function of yours"):
        dovetail.load(tmp_path / "loud.dovetail")
    again = Pipeline.load(tmp_path / "loud.dovetail", {"loud": loud})
    assert again.predict([["a", "b"]]) == [("A", "B")]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("strategy = 3", "there are no stages"),
        ("stages = 3", "there are no stages"),
        ("x = 1\n[[stages]]\nname='a'\nmodel='pos.dovetail'", "no setting 'x'"),
        ("[[stages]]\nmodel='pos.dovetail'", "a stage needs a name"),
        ("[[stages]]\nname='a'\nmodel='pos.dovetail'\ny=1", "a stage has no 'y'"),
        ("[[stages]]\nname='a'", "is a function of yours"),
        ("[[stages]]\nname='a'\nmodel='none.dovetail'", "there is no such file"),
        ("[[stages]]\nname='a'\nmodel='pos.dovetail'\nreads=['ner']", "does not read 'ner'"),
        ("strategy='best'\n[[stages]]\nname='a'\nmodel='pos.dovetail'", "choose greedy, kbest or sample"),
        ("[[stages]\n", "not a TOML file"),
    ],
)
def test_files_that_are_wrong(folder, text, told):
    path = folder / "wrong.toml"
    path.write_text(text)
    with pytest.raises((InputError, DovetailError), match=told):
        Pipeline.load(path)


def run(capsys, *arguments):
    code = main(list(map(str, arguments)))
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def test_commands(folder, capsys):
    code, out, _ = run(
        capsys, "annotate", folder / "raw.txt", "--pipeline", folder / "pipe.toml", "--output-format", "jsonl"
    )
    assert code == 0
    first = json.loads(out.splitlines()[0])
    assert {"pos", "heads", "deprels"} <= first.keys()
    code, told, _ = run(capsys, "pipeline", folder / "pipe.toml", "-o", folder / "all.dovetail")
    assert code == 0
    assert "saved" in told
    again = run(capsys, "annotate", folder / "raw.txt", "-m", folder / "all.dovetail", "--output-format", "jsonl")
    assert again[:2] == (0, out)
    for how in (["--strategy", "greedy"], ["--strategy", "kbest"], ["--samples", "5", "--seed", "2"]):
        code, out, _ = run(capsys, "evaluate", folder / "dev.conllu", "-m", folder / "all.dovetail", "--json", *how)
        assert code == 0
        assert json.loads(out)["uas"] > 50
    code, out, _ = run(capsys, "annotate", folder / "raw.txt", "-m", folder / "all.dovetail", "--k-best", "2")
    assert code == 0
    assert 1 <= len(json.loads(out.splitlines()[0])["k_best"]) <= 2
    assert run(capsys, "info", folder / "all.dovetail")[0] == 0


@pytest.mark.parametrize("seed", [None, 2])
def test_what_fails_in_a_pipeline_is_a_warning_of_the_command(folder, seed):
    made = load(None, folder / "pipe.toml", None, None, None, seed, 1)
    assert made.told is warn


def test_a_single_model_is_taken_apart_by_a_strategy(folder, capsys):
    code, out, _ = run(
        capsys, "annotate", folder / "raw.txt", "-m", folder / "parser.dovetail", "--strategy", "sample", "--samples", 9
    )
    assert code == 0
    assert out.startswith("# ")
    code, _, told = run(capsys, "annotate", folder / "raw.txt", "-m", folder / "parser.dovetail", "--samples", 9)
    assert code == 2
    assert "are of pipelines" in told


def test_commands_that_cannot_be(folder, capsys):
    pipe = folder / "pipe.toml"
    for arguments, message in (
        (["annotate", folder / "raw.txt", "--pipeline", pipe, "-m", folder / "pos.dovetail"], "leave out --model"),
        (
            ["evaluate", "--gold", pipe, "--predicted", pipe, "--pipeline", pipe],
            "give --pipeline or --predicted, not both",
        ),
        (["annotate", folder / "raw.txt", "--pipeline", pipe, "--marginals"], "of single models"),
        (["annotate", folder / "raw.txt", "--pipeline", folder / "none.toml"], "none.toml"),
    ):
        code, _, told = run(capsys, *arguments)
        assert code == 2
        assert message in told


def test_temperatures_are_chosen_on_dev(folder, capsys):
    code, told, _ = run(
        capsys, "pipeline", folder / "pipe.toml", "-o", folder / "tuned.dovetail", "--dev", folder / "dev.conllu",
        "--samples", "3",
    )  # fmt: skip
    assert code == 0
    assert "stage heads: temperature " in told
    pipeline, dev = Pipeline.load(folder / "pipe.toml"), treebank(4, 9)
    before = pipeline.set_params(samples=3).score(dev)
    assert dovetail.load(folder / "tuned.dovetail").score(dev) >= before


def test_text_to_trees_to_roles(tmp_path):
    tree = parse_tree("(S (NP (NNP Ada)) (VP (VBD sold) (NP (NNS boats))))")
    frame = Frame(1, "sell.01", "sell", [(0, 1, "ARG0"), (2, 3, "ARG1")])
    train = [Sentence(tuple(tree.words()), {"pos": tree.tags()}, tree=tree, frames=[frame])] * 8
    parser = Parser(kind="labelled-rules", iterations=2, threads=1)
    labeller = RoleLabeller(gold_trees=True, ranked=0, parser=parser, threads=1).fit(train)
    pipeline = Pipeline.of(labeller, samples=10)
    assert [s.writes for s in pipeline.stages] == [("pos",), ("tree",), ("frames",)]
    for strategy in ("greedy", "kbest", "sample"):
        [found] = pipeline.set_params(strategy=strategy).annotate([Sentence(tuple(tree.words()))])
        assert [(f.predicate, f.sense, [a.label for a in f.arguments]) for f in found.frames] == [
            (1, "sell.01", ["ARG0", "ARG1"])
        ]
        assert "NP" in {span.label for span in found.tree.spans()}
        assert pipeline.score(train[:1]) == 100.0
    assert all(0.3 < a.probability <= 1.0 for a in found.frames[0].arguments)
    pipeline.set_params(strategy="sample", k=0).save(tmp_path / "roles.dovetail")
    again = dovetail.load(tmp_path / "roles.dovetail")
    assert again.predict([["Ada", "sold", "boats"]]) == pipeline.predict([["Ada", "sold", "boats"]])


def test_arguments_have_the_mean_of_their_probabilities_over_trees():
    trees = [
        parse_tree("(S (NP (NNP Ada)) (VP (VBD sold) (NP (NP (NNS boats)) (PP (IN in) (NP (NNP Rome))))))"),
        parse_tree("(S (NP (NNP Ada)) (VP (VBD sold) (NP (NNS boats)) (PP (IN in) (NP (NNP Rome)))))"),
    ]
    frames = [
        Frame(1, "sell.01", "sell", [(0, 1, "ARG0"), (2, 5, "ARG1")]),
        Frame(1, "sell.01", "sell", [(0, 1, "ARG0"), (2, 3, "ARG1"), (3, 5, "ARGM-LOC")]),
    ]
    words = tuple(trees[0].words())
    train = [Sentence(words, tree=t, frames=[f]) for t, f in zip(trees, frames, strict=True)] * 6
    labeller = RoleLabeller(gold_trees=True, ranked=2, folds=2, iterations=4, threads=1).fit(train)
    chances = (0.6, 0.4)

    def parsed(sentence):
        return [(replace(sentence, tree=tree), p) for tree, p in zip(trees, chances, strict=True)]

    stages = [Stage("tree", parsed, writes=["tree"]), Stage("roles", labeller, reads=["tree"])]
    given = Sentence(words, frames=[Frame(1, "sell.01", "sell", [])])
    [found] = Pipeline(stages, strategy="kbest").annotate([given])
    alone = replace(labeller.model_, joint=None)
    mean: dict[tuple[int, int, str], float] = {}
    for tree, p in zip(trees, chances, strict=True):
        [[frame]] = labeller._all_arguments([replace(given, tree=tree)], 0.0, alone)
        for a in frame.arguments:
            mean[a.start, a.end, a.label] = mean.get((a.start, a.end, a.label), 0.0) + p * a.probability
    assert len(found.frames[0].arguments) >= 2
    for a in found.frames[0].arguments:
        assert a.probability == pytest.approx(mean[a.start, a.end, a.label], abs=0.01)
        assert a.probability > labeller.least
    sure = {(a.start, a.end, a.label) for a in found.frames[0].arguments}
    assert (0, 1, "ARG0") in sure
    assert found.tree == trees[0]
