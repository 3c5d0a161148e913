"""``dovetail select``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dovetail.active import MEASURES
from dovetail.cli.select import Measure
from dovetail.models.segmenter.estimator import Segmenter
from dovetail.models.tagger.estimator import Tagger
from dovetail.text.formats import read, sentences, write
from tests.cli.conftest import Run
from tests.models.corpus import made

TEXT = "Ada left London . Zeno met Plato in Rome . Alan visited Vienna . Platon saw Zork ."


@pytest.fixture
def pool(tmp_path: Path) -> Path:
    path = tmp_path / "pool.conll"
    write(made(40, seed=5), path, columns=("word", "ner"))
    return path


def scores(path: Path, name: str) -> list[float]:
    [document] = read(path)
    found = [c for sentence in document for c in sentence.comments if c.startswith(f"# {name} = ")]
    return [float(comment.rpartition(" ")[2]) for comment in found]


def test_measures_are_those_of_the_library() -> None:
    assert set(Measure) == {*MEASURES, "random"}


@pytest.mark.parametrize("by", Measure)
def test_best_first_with_score_and_tags(run: Run, model: Path, pool: Path, tmp_path: Path, by: str) -> None:
    output = tmp_path / "next.conll"
    code, out, err = run("select", "--model", model, pool, "--number", 5, "--by", by, "--output", output, "--quiet")
    assert (code, out, err) == (0, "", "")
    found = scores(output, by)
    assert len(found) == 5
    assert found == sorted(found, reverse=True)
    chosen = list(sentences(output))
    tagger = Tagger.load(model)
    assert [list(s.layers["ner"]) for s in chosen] == tagger.predict(chosen)
    offered = list(sentences(pool))
    for sentence in chosen:
        [place] = [c for c in sentence.comments if c.startswith("# sentence = ")]
        assert offered[int(place.rpartition(" ")[2]) - 1].words == sentence.words


def test_how_many_sentences_went_by_is_told_every_few_seconds(
    run: Run, model: Path, pool: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = ("select", "--model", model, pool, "--number", 5, "--output", tmp_path / "next.conll")
    assert "1 sentences" not in run(*given).err
    monkeypatch.setattr("dovetail.cli.select.SECONDS_BETWEEN_LINES", 0.0)
    assert "1 sentences\n2 sentences\n3 sentences" in run(*given).err


def test_what_is_labelled_is_left_out(run: Run, model: Path, pool: Path, tmp_path: Path) -> None:
    first, second = tmp_path / "first.conll.gz", tmp_path / "second.jsonl"
    run("select", "-m", model, pool, "-n", 10, "-o", first, "-q")
    assert run("select", "-m", model, pool, "-n", 10, "-o", second, "-q", "--labelled", first).code == 0
    one, two = ({s.words for s in sentences(path)} for path in (first, second))
    assert len(one) == len(two) == 10
    assert not one & two


def test_text_in_and_out(run: Run, model: Path, tmp_path: Path) -> None:
    (tmp_path / "news.txt").write_text(TEXT.replace(" . ", " .\n"))
    asked = ["select", "-m", model, tmp_path / "news.txt", "--sentence-per-line", "--tokenised", "-n", 2]
    code, out, err = run(*asked, "--output-format", "text")
    assert code == 0
    assert len(out.splitlines()) == 2
    assert "Platon saw Zork ." in out.splitlines()
    assert "chose 2 sentences, " in err
    record = json.loads(run(*asked, "--output-format", "jsonl").out.splitlines()[0])
    assert record["rank"] == "1"
    assert float(record["sequence-entropy"]) > 0
    assert len(record["ner"]) == len(record["words"])


def test_diversity_and_discount_change_the_choice(run: Run, model: Path, pool: Path) -> None:
    asked = ["select", "-m", model, pool, "-n", 8, "-q", "--output-format", "text"]
    plain = run(*asked).out
    assert run(*asked, "--diversity", 0.9).out != plain
    lengths = [len(out.split()) for out in (plain, run(*asked, "--discount", 1).out)]
    assert lengths[1] < lengths[0]


def test_too_few_sentences_are_told(run: Run, model: Path, pool: Path) -> None:
    code, out, err = run("select", "-m", model, pool, "-n", 1000, "-q")
    assert code == 0
    assert "to choose from" in err
    assert out


def test_a_segmenter_is_refused(run: Run, pool: Path, tmp_path: Path) -> None:
    Segmenter(iterations=3).fit([["ab", "c"], ["c", "ab"]]).save(tmp_path / "words.dovetail")
    code, _, err = run("select", "-q", "-m", tmp_path / "words.dovetail", pool)
    assert code == 2
    assert "chosen by a tagger" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere.txt"], "no such file"),
        (["some text here"], "no such file"),
        (["{pool}", "--by", "margin", "--discount", "1"], "margin does not grow"),
        (["{pool}", "--output", "next.conllu"], "use .conll, .jsonl or .txt"),
        (["{pool}", "--tokenised"], "are for text"),
        (["{pool}", "--labelled", "nowhere.conll"], "nowhere.conll: no such file"),
        (["{pool}", "--diversity", "3"], "--diversity"),
    ],
)
def test_mistakes(run: Run, model: Path, pool: Path, arguments: list[str], message: str) -> None:
    code, _, err = run("select", "-q", "-m", model, *(a.format(pool=pool) for a in arguments))
    assert code == 2
    assert message in err
    assert len(err.splitlines()) == 1
