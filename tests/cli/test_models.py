"""``dovetail models``, and names of models wherever a model file may stand; with whatever models are there."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import dovetail
from dovetail import DovetailError, Segmenter, Tagger
from dovetail.catalogue import LANGUAGES, Entry, entries, names_model
from dovetail.modelfile import load_header, load_model, save_model
from dovetail.shipped import ALIASES, FOLDERS, find, located, named, own_folder
from tests.cli.conftest import Run

ENGLISH = "english-names"
SHIPPED = sorted(path.stem for path in own_folder().glob("*.dovetail"))
TEXT = "Ada Lovelace was born in London."


@pytest.fixture
def more(model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a model of a user, and a file that is no model."""
    folder = tmp_path / "more"
    folder.mkdir()
    shutil.copy(model, folder / "my-names.dovetail")
    (folder / "broken.dovetail").write_bytes(b"no model")
    monkeypatch.setenv(FOLDERS, str(folder))
    return folder


def test_every_model_that_comes_with_dovetail_is_listed(run: Run) -> None:
    code, out, err = run("models")
    assert (code, err) == (0, "")
    assert [line.split()[0] for line in out.splitlines() if line[0] != " "] == SHIPPED
    assert all(len(line) <= 80 for line in out.splitlines())
    assert "names, English: LOC, ORG, PER" in out
    records = json.loads(run("models", "--json").out)["models"]
    assert [record["name"] for record in records] == SHIPPED


@pytest.mark.parametrize("name", SHIPPED)
def test_each_says_what_it_is(run: Run, name: str) -> None:
    [record] = json.loads(run("models", name, "--json").out)["models"]
    assert record["licence"] == "CC BY-SA 4.0" or record["licence"].startswith("CC BY")
    assert record["languages"] == [LANGUAGES[name.partition("-")[0]]]
    assert record["scores"]
    assert record["size"] == Path(record["file"]).stat().st_size < 12_000_000
    card = Path(record["card"]).read_text(encoding="utf-8")
    assert run("models", name).out == card.rstrip() + "\n"
    assert record["licence"] in card
    assert "calibration" in card.lower()
    assert load_header(name)["kind"] == record["kind"]


@pytest.mark.parametrize("name", SHIPPED)
def test_each_is_loaded_by_its_name(name: str) -> None:
    assert type(dovetail.load(name)).stored_kind() == load_header(name)["kind"]


def test_short_and_old_names() -> None:
    for name, whole in ALIASES.items():
        assert located(name) == find(whole) == own_folder() / f"{whole}.dovetail"
    assert names_model("en") == ENGLISH
    assert names_model("tlh") is None


def test_a_name_stands_where_a_file_does(run: Run, data: Path, tmp_path: Path) -> None:
    by_default = run("annotate", TEXT).out
    assert "Ada Lovelace" in by_default
    for name in (ENGLISH, "english", "english-ner"):
        assert run("annotate", "--model", name, TEXT).out == by_default
    assert "CC BY-SA" in run("info", ENGLISH).out
    assert run("explain", "--model", ENGLISH, TEXT).out == run("explain", TEXT).out
    assert run("evaluate", "--model", "english", data / "dev.conll").code == 0
    assert isinstance(Tagger.load(ENGLISH), Tagger)
    (tmp_path / "pipe.toml").write_text(f'[[stages]]\nname = "ner"\nmodel = "{ENGLISH}"\n')
    assert run("annotate", "--pipeline", tmp_path / "pipe.toml", TEXT).code == 0
    (tmp_path / "a.txt").write_text("Ada saw London .\n")
    (tmp_path / "links.txt").write_text("0-0 1-1 2-2\n")
    pair = ["--links", tmp_path / "links.txt", tmp_path / "a.txt", tmp_path / "a.txt", "--quiet"]
    assert run("annotate-pair", "--source-model", "english", "--target-model", ENGLISH, *pair).code == 0


@pytest.mark.parametrize("name", ["english", ENGLISH])
def test_hints_by_name(run: Run, data: Path, tmp_path: Path, name: str) -> None:
    files = ["--train", data / "train.conll", "--hints", name, "--iterations", 2, "--quiet"]
    assert run("train", "tagger", *files, "--output", tmp_path / "m").code == 0
    assert f"{name.replace('-', '_')} (hints)" in run("info", tmp_path / "m").out
    code, _, err = run("train", "tagger", *files[:2], "--hints", "klingon", "--output", tmp_path / "m")
    assert code == 2
    assert "--hints klingon: give english" in err


def test_a_file_comes_before_a_name(run: Run, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(model, tmp_path / ENGLISH)
    found, own = load_model(ENGLISH)[0], load_model(model)[0]
    assert found["checksums"] == own["checksums"]


def test_an_unknown_name_says_which_there_are(run: Run) -> None:
    code, out, err = run("annotate", "--model", "english-name", TEXT)
    assert (code, out) == (2, "")
    assert "english-name: cannot be read: there is no such file" in err
    assert "did you mean english-names? There are " in err
    assert all(name in err for name in SHIPPED)
    assert FOLDERS in err
    for name in ("Klingon", "klingon-trees"):
        with pytest.raises(DovetailError, match=r"no model of this name .*english-names"):
            dovetail.load(name)
    with pytest.raises(DovetailError, match=r"there is no such file$"):
        dovetail.load("english-names.bin")
    code, _, err = run("models", "english-name")
    assert code == 2
    assert "did you mean english-names?" in err


def test_the_kind_must_be_the_right_one() -> None:
    with pytest.raises(DovetailError, match="kind 'tagger', not 'segmenter'"):
        Segmenter.load(ENGLISH)


def test_folders_of_a_user(run: Run, more: Path) -> None:
    assert "my-names" in named()
    assert [entry.name for entry in entries()] == sorted([*SHIPPED, "my-names"])  # what is no model is left out
    assert "my-names" in run("models").out
    assert "no licence told" in run("models", "my-names").out
    assert run("annotate", "--model", "my-names", "--output-format", "conll", "Ada visited London .").code == 0
    assert run("annotate", "--model", "broken", TEXT).code == 2


def test_a_model_of_a_user_comes_before_ours(more: Path) -> None:
    (more / "my-names.dovetail").rename(more / f"{ENGLISH}.dovetail")
    assert located("english") == more / f"{ENGLISH}.dovetail"
    assert dovetail.embedded(dovetail.ENGLISH_MODEL).parent == own_folder()


def test_a_folder_to_list(run: Run, more: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(FOLDERS)
    assert "my-names" not in run("models").out
    assert "my-names" in run("models", "--folder", more).out
    code, _, err = run("models", "--folder", more / "nosuch")
    assert code == 2
    assert "there is no such folder" in err


def test_a_model_is_not_overwritten(run: Run, more: Path) -> None:
    before = (more / "my-names.dovetail").read_bytes()
    target = more / "my-names.dovetail"
    code, _, err = run("annotate", "--model", "my-names", "--output-format", "conll", "--output", target, TEXT)
    assert code == 2
    assert "would overwrite what --model reads" in err
    assert target.read_bytes() == before


def test_nothing_is_downloaded(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object, **how: object) -> None:
        raise AssertionError("a connection was opened")

    monkeypatch.setattr("socket.socket.connect", refuse)
    assert run("models").code == 0
    assert run("annotate", "--model", "klingon-names", TEXT).code == 2


def test_a_model_without_a_card_has_an_entry(tmp_path: Path) -> None:
    header, arrays = load_model(next((Path(__file__).parents[1] / "data" / "models").glob("tagger.dovetail*")))
    for card in (None, {}):
        path = tmp_path / "german-own.dovetail"
        save_model(path, {"kind": "tagger", "labels": header["labels"], "card": card}, arrays)
        entry = Entry.read(path)
        assert (entry.name, entry.kind, entry.languages) == ("german-own", "tagger", ("de",))
