"""What raw text, clusters and lists add to ``dovetail train tagger``, and what goes wrong with them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dovetail import Tagger
from dovetail.modelfile import load_model
from dovetail.text.formats import sentences
from dovetail.text.jsonl import write_jsonl
from dovetail.text.sentence import Sentence, Span
from tests.cli.conftest import Run
from tests.cli.test_train_tagger import train

ARCS = {"head": ("2", "0"), "deprel": ("nsubj", "root"), "pos": ("NNP", "VBD")}


@pytest.fixture
def raw(data: Path, tmp_path: Path) -> Path:
    """The words of the dev part and of the training part, a sentence a line."""
    path = tmp_path / "raw.txt"
    lines = [" ".join(s.words) for name in ("dev", "train") for s in sentences(data / f"{name}.conll")]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def resources(model: Path) -> dict[str, str]:
    loaded = Tagger.load(model).model_
    assert loaded is not None
    return {name: resource.kind for name, resource in loaded.features.resources.items()}


MADE = {"brown": "clusters", "exchange": "clusters", "fine": "clusters", "casing": "clusters"}


def test_raw_text_makes_clusters_that_the_model_carries(run: Run, data: Path, raw: Path, tmp_path: Path) -> None:
    output = tmp_path / "m"
    code, _, err = train(run, data, output, "--dev", data / "dev.conll", "--unlabelled", raw)
    assert code == 0, err
    assert "clustering" in err
    assert resources(output) == MADE


def test_clusters_that_were_kept_give_the_same_model(run: Run, data: Path, raw: Path, tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    assert train(run, data, one, "--unlabelled", raw, "--save-clusters", tmp_path / "kept").code == 0
    assert sorted(p.name for p in (tmp_path / "kept").iterdir()) == ["brown.paths", "exchange.paths", "fine.paths"]
    assert train(run, data, other, "--clusters", tmp_path / "kept").code == 0
    words = [s.words for s in sentences(data / "dev.conll")]
    assert Tagger.load(one).predict(words) == Tagger.load(other).predict(words)
    assert resources(other) == MADE


def test_vectors_are_made_and_read(run: Run, data: Path, raw: Path, tmp_path: Path) -> None:
    for name in ("one.vec", "two.bin"):
        made = run("embed", raw, "--dimensions", 4, "--min-count", 1, "--output", tmp_path / name, "--quiet")
        assert made.code == 0, made.err
        assert "vectors of 4 dimensions" in made.out
    given = ("--vectors", tmp_path / "one.vec", "--vectors", f"other={tmp_path / 'two.bin'}", "--compact")
    code, _, err = train(run, data, tmp_path / "m", *given)
    assert code == 0, err
    assert resources(tmp_path / "m") == {"one": "vectors", "other": "vectors"}
    lines = load_model(tmp_path / "m", "tagger")[0]["features"]["templates"]
    assert {"vector(one)[-2]", "vector(other)[2]"} <= set(lines)


def test_vectors_are_made_step_by_step(run: Run, raw: Path, tmp_path: Path) -> None:
    made = run("embed", raw, "--dimensions", 4, "--min-count", 1, "--output", tmp_path / "v.vec")
    steps = [line for line in made.err.splitlines() if " words" not in line or "dimensions" in line]
    assert steps == [
        "counting neighbours", "weighing neighbours", steps[2], f"writing {tmp_path / 'v.vec'}"
    ]  # fmt: skip
    assert steps[2].startswith("finding 4 dimensions of ")


@pytest.mark.parametrize(("kind", "layers"), [("nested", {}), ("dependency", ARCS)])
def test_other_models_take_vectors(run: Run, tmp_path: Path, kind: str, layers: dict[str, tuple[str, ...]]) -> None:
    """Nested taggers as they are, dependency parsers as a tree of classes."""
    (tmp_path / "a.vec").write_text("3 2\nAda 1 0\nwrote 0 1\nAda 5 5\n", encoding="utf-8")
    some = [Sentence(("Ada", "wrote"), layers, (Span(0, 1, "PER"),), id=str(i)) for i in range(8)]
    write_jsonl(some, tmp_path / "train.jsonl")
    given = ("--train", tmp_path / "train.jsonl", "--vectors", f"v={tmp_path / 'a.vec'}", "--output", tmp_path / "m")
    code, _, err = run("train", kind, *given, "--iterations", 2)
    assert code == 0, err
    assert "word that already has a vector, left out" in err
    stored = json.dumps(load_model(tmp_path / "m", kind)[0])
    assert ("vector(v)" in stored) == (kind == "nested")


@pytest.mark.parametrize(("kind", "layers"), [("nested", {}), ("dependency", ARCS)])
def test_other_models_take_raw_text_as_well(
    run: Run, raw: Path, tmp_path: Path, kind: str, layers: dict[str, tuple[str, ...]]
) -> None:
    write_jsonl([Sentence(("Ada", "slept"), layers, (Span(0, 1, "PER"),))] * 4, tmp_path / "t.jsonl")
    files = ("--train", tmp_path / "t.jsonl", "--output", tmp_path / "m", "--unlabelled", raw)
    more = ("--save-clusters", tmp_path / "kept", "--iterations", 1, "--quiet")
    code, _, err = run("train", kind, *files, *more)
    assert code == 0, err
    assert {p.name for p in (tmp_path / "kept").iterdir()} == {"brown.paths", "exchange.paths", "fine.paths"}
    assert {"brown", "exchange", "fine"} <= set(json.dumps(load_model(tmp_path / "m")[0]).split('"'))


def test_raw_text_may_be_an_annotated_file(run: Run, data: Path, tmp_path: Path) -> None:
    code, _, err = train(run, data, tmp_path / "m", "--unlabelled", data / "dev.conll", "--quiet")
    assert (code, err) == (0, "")


def test_lists_and_association_join_in(run: Run, data: Path, raw: Path, tmp_path: Path) -> None:
    places = tmp_path / "places.txt"
    places.write_text("London\n\nNew York\nLondon\n", encoding="utf-8")
    output = tmp_path / "m"
    code, _, err = train(run, data, output, "--lexicon", f"places={places}", "--association", raw, "--quiet")
    assert code == 0
    assert "empty entry" in err
    assert "there before" in err
    assert resources(output) == {"places": "lexicon", "association": "association"}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("--unlabelled", "nothing.txt"), "no such file"),
        (("--unlabelled", "empty.txt"), "no words"),
        (("--unlabelled", "latin.txt"), "not valid UTF-8"),
        (("--clusters", "empty.txt"), "no words"),
        (("--clusters", "bad.paths"), "bad.paths:2: 1 column"),
        (("--clusters", "."), "no clusters in this folder"),
        (("--lexicon", "places.txt"), "NAME=FILE"),
        (("--lexicon", "casing=places.txt"), "another one"),
        (("--vectors", "empty.txt"), "empty file"),
        (("--vectors", "bad.vec"), "bad.vec:3: 1 numbers where 2"),
        (("--vectors", "bin.vec"), "ends within word 1 of 9"),
        (("--vectors", "v="), "FILE or NAME=FILE"),
        (("--vectors", "casing=places.txt"), "another one"),
        (("--save-clusters", "kept"), "needs --unlabelled"),
    ],
)
def test_what_is_wrong_is_told_in_one_line(
    run: Run,
    data: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    given: tuple[str, str],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("empty.txt").touch()
    Path("latin.txt").write_bytes(b"caf\xe9 au lait\n")
    Path("places.txt").write_text("London\n", encoding="utf-8")
    Path("bad.vec").write_text("2 2\nrose 1 2\nlily 1\n", encoding="utf-8")
    Path("bin.vec").write_bytes(b"9 2\nrose \0\1")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "bad.paths").write_text("01\tLondon\t3\nnonsense\n", encoding="utf-8")
    given = (given[0], given[1].replace("bad.paths", str(tmp_path / "sub" / "bad.paths")))
    code, out, err = train(run, data, tmp_path / "m", *given, "--quiet")
    assert (code, out) == (2, "")
    assert message in err
    assert len(err.splitlines()) == 1
    assert not (tmp_path / "m").exists()


def test_text_on_disk_gives_the_model_of_memory(run: Run, data: Path, tmp_path: Path) -> None:
    command = ["train", "tagger", "--train", data / "train.conll", "--dev", data / "dev.conll", "--output"]
    assert run(*command, tmp_path / "alone.dovetail", "--quiet").code == 0
    told = run(*command, tmp_path / "disk.dovetail", "--scratch", tmp_path / "scratch")
    assert told.code == 0, told.err
    assert [*(tmp_path / "scratch").iterdir()] == []
    scores = [
        run("evaluate", "--model", tmp_path / f"{name}.dovetail", data / "dev.conll").out for name in ("alone", "disk")
    ]
    assert scores[0] == scores[1]
    refused = run(*command, tmp_path / "no.dovetail", "--scratch", tmp_path / "scratch", "--optimiser", "adagrad")
    assert refused.code == 2
    assert "use lbfgs" in refused.err
