"""``dovetail project`` and ``annotate-pair``, and training on what the first writes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import dovetail
from dovetail.models.aligner.aligner import Aligner
from dovetail.text.links import read_links, write_links
from tests.cli.conftest import Run
from tests.models.pair.made import bitext, english, gold, tagger, unsure

SIDES = ("--source", "s.txt", "--target", "t.txt", "--links", "links", "--source-model", "s.dovetail")


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    pairs, links = bitext()
    for name, side in (("s.txt", 0), ("t.txt", 1)):
        Path(name).write_text("".join(" ".join(pair[side]) + "\n" for pair in pairs))
    write_links("links", links, probabilities=True)
    Path("features.toml").write_text('templates = ["word[-1:2]"]\n')
    rows = ("".join(f"{w}\t{t}\n" for w, t in zip(words, tags, strict=True)) for words, tags in english())
    Path("gold.conll").write_text("\n".join(rows))
    tagger().save("s.dovetail")
    unsure().save("t.dovetail")
    return tmp_path


def test_project_and_train(run: Run, files: Path) -> None:
    made = run("project", *SIDES, "-o", "expected.jsonl.gz", "--confusion", "gold.conll", "--unlinked", "0.2", "-q")
    assert (made.code, made.out) == (0, "expected.jsonl.gz: 36 sentences, 144 words\n"), made.err
    how = ("--features", "features.toml", "--min-count", "1", "--l2", "0.01", "--quiet")
    trained = run("train", "tagger", "--expectations", "expected.jsonl.gz", "-o", "new.dovetail", *how)
    assert trained.code == 0, trained.err
    assert "trained on 0 sentences, 0 tokens, expectations of 36 sentences" in trained.out
    assert dovetail.load("new.dovetail").predict([pair.target for pair in bitext()[0]]) == gold()
    few = ("--train", "gold.conll", "--expectation-loss", "squared", "--expectation-weight", "0.5")
    both = run("train", "tagger", "--expectations", "expected.jsonl.gz", *few, "-o", "both.dovetail", *how)
    assert both.code == 0, both.err
    assert "trained on 36 sentences, 144 tokens, expectations of 36 sentences" in both.out


def test_project_tags(run: Run, files: Path) -> None:
    assert run("project", *SIDES, "--how", "tags", "-o", "tags.conll", "-q").code == 0
    tags = [[t[2:] for t in s.layers["ner"]] for d in dovetail.read("tags.conll") for s in d]
    assert tags == [[tag[2:] for tag in own] for own in gold()]
    assert (
        "expectations, and tags have none" in run("project", *SIDES, "--how", "tags", "--unlinked", "1", "-o", "x").err
    )


def test_annotate_pair(run: Run, files: Path) -> None:
    models = ("--source-model", "s.dovetail", "--target-model", "t.dovetail", "--links", "links")
    more = (
        "--save-table",
        "table.json",
        "--target-output",
        "t.conll",
        "--output",
        "both.jsonl",
        "--teach",
        "more.jsonl",
    )
    found = run("annotate-pair", *models, *more, "s.txt", "t.txt", "--strength", "2", "--quiet")
    assert found.code == 0, found.err
    assert "36 pairs, 100.0% of them proved to be the best; " in found.out
    first = json.loads(Path("both.jsonl").read_text().splitlines()[0])
    assert [span[:3] for span in first["source"]["entities"]] == [[0, 1, "PER"], [2, 3, "LOC"]]
    assert first["certain"] is True
    assert len([s for d in dovetail.read("t.conll") for s in d]) == 36
    assert len(Path("more.jsonl").read_text().splitlines()) == 36
    again = run("annotate-pair", *models, "s.txt", "t.txt", "--table", "table.json", "--engine", "gibbs", "--quiet")
    assert again.code == 0, again.err
    assert len(again.out.splitlines()) == 36
    assert "proved" not in again.err
    hard = run("annotate-pair", *models, "s.txt", "t.txt", "--agreement", "hard", "--quiet")
    assert hard.code == 0, hard.err
    joint = ("--agreement", "joint", "--links-output", "new.links", "-o", "x.jsonl")
    assert run("annotate-pair", *models, "s.txt", "t.txt", *joint, "--quiet").code == 0
    assert len(Path("new.links").read_text().splitlines()) == 36
    Path("documents").write_text("one\n" * 36)
    seen = ("--documents", "documents", "--changes-output", "changes.txt", "-o", "x.jsonl", "--strength", "2")
    shown = run("annotate-pair", *models, "s.txt", "t.txt", *seen, "--quiet")
    assert shown.code == 0, shown.err
    assert "pair 4\ntarget Ado  B-LOC -> B-PER  Ada B-PER 0.90\n\n" in Path("changes.txt").read_text()
    Path("documents").write_text("one\n")
    short = run("annotate-pair", *models, "s.txt", "t.txt", *seen, "--quiet")
    assert "the documents end here" in short.err
    wrong = run("annotate-pair", *models, "s.txt", "t.txt", "--links-output", "new.links", "--quiet")
    assert "--links-output is for --agreement joint" in wrong.err


def test_annotate_pair_with_an_aligner(run: Run, files: Path) -> None:
    Aligner(samplers=2, threads=1).fit(bitext()[0]).save("a.dovetail")
    models = ("--source-model", "s.dovetail", "--target-model", "t.dovetail", "s.txt", "t.txt", "--quiet")
    for engine in ("dual", "bp"):
        how = ("--aligner", "a.dovetail", "--agreement", "joint", "--engine", engine, "--links-output", "new.links")
        found = run("annotate-pair", *models, *how, "-o", "x.jsonl")
        assert found.code == 0, found.err
        links = [sorted(link[:2] for link in one) for one in read_links("new.links")]
        assert links[0] == [(0, 0), (1, 2), (2, 1), (3, 3)]
        assert len(links) == 36
    soft = run("annotate-pair", *models, "--aligner", "a.dovetail", "-o", "x.jsonl")
    assert soft.code == 0, soft.err
    none = run("annotate-pair", *models, "-o", "x.jsonl")
    assert none.code == 2
    assert "--links FILE, or by an aligner, --aligner FILE" in none.err
    wrong = run("annotate-pair", *models, "--aligner", "s.dovetail", "-o", "x.jsonl")
    assert wrong.code == 2
    assert "s.dovetail" in wrong.err


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"t.txt": "Ado Berno vidis .\n"}, "s.txt:2: t.txt ends after line 1"),
        ({"links": "9-0\n" * 36}, "links:1: the link 9-0 names word 9 of the source, which has 4"),
        ({"links": "0-0\n" * 3}, "links:4: the links end here"),
        ({"links": "0-0\n" * 40}, "links:37: the bitext end here"),
        ({"links": "zero\n" * 36}, "links:1: 'zero' is no link"),
    ],
)
def test_files_that_do_not_fit(run: Run, files: Path, change: dict[str, str], told: str) -> None:
    for name, text in change.items():
        Path(name).write_text(text)
    found = run("project", *SIDES, "-o", "expected.jsonl", "--quiet")
    assert found.code == 2
    assert told in found.err
    assert not Path("expected.jsonl").exists()


def test_types_that_do_not_map(run: Run, files: Path) -> None:
    other = dovetail.Tagger(features=["word[0]"], min_count=1).fit([["Bern"], ["x"]] * 3, [["B-GPE"], ["O"]] * 3)
    other.save("s.dovetail")
    models = ("--source-model", "s.dovetail", "--target-model", "t.dovetail", "--links", "links")
    found = run("annotate-pair", *models, "s.txt", "t.txt", "--quiet")
    assert found.code == 2
    assert "say what it is there with a map, such as GPE=" in found.err
    assert run("annotate-pair", *models, "s.txt", "t.txt", "--types", "GPE=LOC", "--quiet").code == 0
    assert "give two names" in run("annotate-pair", *models, "s.txt", "t.txt", "--types", "GPE").err


def test_what_is_no_tagger_and_no_expectation(run: Run, files: Path) -> None:
    dovetail.Segmenter(iterations=1).fit([["ab", "c"]] * 3).save("cut.dovetail")
    found = run("project", *SIDES[:-1], "cut.dovetail", "-o", "x.jsonl")
    assert "this is a Segmenter, and a tagger is wanted" in found.err
    Path("empty.jsonl").write_text("")
    assert "no sentences in this file" in run("train", "tagger", "--expectations", "empty.jsonl", "-o", "x").err
    assert "give --train FILE" in run("train", "tagger", "-o", "x").err
    several = run("train", "tagger", "--expectations", "s.txt", "--domain", "a=gold.conll", "-o", "x")
    assert "--expectations are for one domain" in several.err
