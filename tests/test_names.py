"""No name that is a format is lost: tables of names, and readers of every kind of file that know old spellings.

`tools/names.py` makes the tables. Each test of a reader renames something for as long as it runs, and shows that what
was written under the old name is still read.
"""

from __future__ import annotations

import json
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dovetail
from dovetail import spellings
from dovetail.cli.main import main
from dovetail.curves.configurations import Configuration
from dovetail.curves.log import Log
from dovetail.curves.runs import Run
from dovetail.errors import DovetailError, InputError, NewerVersionWarning
from dovetail.labelling.store import Entry, open_store
from dovetail.learning.checkpoint import Checkpoint
from dovetail.learning.monitor import Monitor
from dovetail.learning.optimisers.lbfgs import LBFGS
from dovetail.learning.priors import Prior
from dovetail.modelfile import load_model, save_model
from dovetail.models.pair.table import TypeTable
from dovetail.tuning.search import tuning_log
from dovetail.tuning.trials import Outcome
from tests.learning.test_optimisers import LogisticRegression

ROOT = Path(__file__).parents[1]
MODELS = ROOT / "tests" / "data" / "models"
sys.path.insert(0, str(ROOT / "tools"))
names: Any = import_module("names")
sys.path.pop(0)
NEURAL, SERVED = ("torch", "transformers"), ("fastapi", "httpx")
EXTRAS = {
    "header": NEURAL,
    "arrays": NEURAL,
    "request": SERVED,
    "answer": SERVED,
    "python": ("torch", "spacy", "fastapi"),
}

Rename = Callable[..., None]


@pytest.fixture
def rename(monkeypatch: pytest.MonkeyPatch) -> Rename:
    """Give a name an old spelling, for one test."""

    def add(table: str, old: str, new: str | None) -> None:
        monkeypatch.setitem(spellings.OLD_SPELLINGS[table], old, new)

    return add


@pytest.fixture(scope="module", autouse=True)
def servers_end() -> Iterator[None]:
    """End the servers that a test has started."""
    yield
    if names.servers.cache_info().currsize:
        names.servers()[2].close()
        names.servers.cache_clear()


# the tables


@pytest.mark.parametrize("table", names.TABLES)
def test_no_name_is_gone_and_all_are_in_the_table(table: str) -> None:
    for extra in EXTRAS.get(table, ()):
        pytest.importorskip(extra)
    now = names.TABLES[table]()
    assert not names.gone(table, now), "give them old spellings in src/dovetail/spellings.py"
    assert not names.fresh(table, now), "run python tools/names.py --write"
    if table in spellings.OLD_SPELLINGS:  # an old spelling means nothing else where it is read
        assert all(spellings.present(table, name, place) == name for place in now for name in now[place])


@pytest.mark.parametrize(
    ("table", "place", "name", "spelled", "key"),
    [
        ("settings", "tagger", "l2", "settings", "l2"),
        ("header", "parser", "grammar.symbols", "header", "grammar.symbols"),
        ("header", "domains", "domains.*.tuning", "header", "domains.*.tuning"),
        ("header", "domains", "domains.*.tuning.factor", "header", "tuning.factor"),
        ("header", "tagger", "scheme", "header", "tagger.scheme"),
        ("arrays", "parser", "tagger.node.keys", "arrays", "node.keys"),
        ("state", "lbfgs", "steps", "state", "steps"),
        ("labels", "entry", "annotator", "labels", "annotator"),
        ("log", "Run", "series", "log", "Run.series"),
        ("request", "/annotate", "text", "request", "text"),
        ("command", "", "annotate", "command", "annotate"),
        ("option", "train tagger", "--l2", "option", "train tagger.--l2"),
        ("python", "dovetail", "pool", "python", "dovetail.pool"),
        ("python", "Tagger", "explain", "settings", "Annotator.explain"),
        ("python", "Tagger.__init__", "l2", "settings", "tagger.l2"),
    ],
)
def test_a_renamed_name_is_noticed_unless_it_has_an_old_spelling(
    table: str, place: str, name: str, spelled: str, key: str, rename: Rename, monkeypatch: pytest.MonkeyPatch
) -> None:
    new = name.rpartition(".")[0] + "." + "renamed" if table == "header" and "." in name else "renamed"
    new = name.replace("node.keys", "node.renamed") if table == "arrays" else new
    now = {place: [new], "dovetail": ["Tagger"]} if place != "dovetail" else {place: [new]}
    monkeypatch.setattr(names, "stored", lambda table: {place: [name]})
    assert names.gone(table, {place: [name]}) == []
    assert names.gone(table, now) == [f"{place}: {name}" if place else name]
    rename(spelled, key, {"arrays": "node.renamed"}.get(table, "renamed"))
    assert names.gone(table, now) == []


def test_what_others_name_is_renamed_and_never_dropped() -> None:
    for table in ("arrays", "option", "command", "python"):
        assert all(isinstance(new, str) for new in spellings.OLD_SPELLINGS[table].values())


def test_what_checkpoints_hash_and_what_servers_answer_stays(rename: Rename, monkeypatch: pytest.MonkeyPatch) -> None:
    for table, place, name in (("hashed", "tagger", "l2"), ("answer", "/annotate", "model")):
        monkeypatch.setattr(names, "stored", lambda table, place=place, name=name: {place: [name]})
        for spelled in spellings.OLD_SPELLINGS:
            rename(spelled, name, "renamed")
        assert names.gone(table, {place: ["renamed"]}) == [f"{place}: {name}"]


def test_a_name_that_is_gone_is_not_written_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    (tmp_path / "command.json").write_text('{"": ["annotate", "lost"]}')
    monkeypatch.setattr(names, "FOLDER", tmp_path)
    monkeypatch.setattr(names, "TABLES", {"command": lambda: {"": ["annotate", "found"]}})
    monkeypatch.setattr(sys, "argv", ["names.py", "--write"])
    assert names.main() == 1
    assert capsys.readouterr().out.startswith("- command: lost\n+ command: found\n1 names are gone")
    monkeypatch.setattr(names, "TABLES", {"command": lambda: {"": ["annotate", "found", "lost"]}})
    assert names.main() == 0
    assert json.loads((tmp_path / "command.json").read_text()) == {"": ["annotate", "found", "lost"]}


# model files


def rewritten(file: Path, path: Path, change: Callable[[dict[str, Any], dict[str, Any]], None]) -> Path:
    """Write a model file again with other names."""
    header, arrays = load_model(file)
    change(header, arrays)
    save_model(path, {name: value for name, value in header.items() if name != "checksums"}, arrays)
    return path


def moved(about: dict[str, Any], new: str, old: str) -> None:
    """Call a field as it was called once."""
    about[old] = about.pop(new)


def test_settings_of_model_files(rename: Rename, tmp_path: Path) -> None:
    def change(header: dict[str, Any], arrays: dict[str, Any]) -> None:
        for about in (header, header["tagger"]):
            moved(about["settings"], "l2", "penalty")
        header["settings"]["later"] = header["tagger"]["settings"]["later"] = 1

    file = next(MODELS.glob("dependency-tags.*"))
    path = rewritten(file, tmp_path / "a", change)
    with pytest.warns(NewerVersionWarning) as told:
        dovetail.load(path)
    [of_model, inside] = [str(one.message) for one in told]
    assert of_model.startswith(f"{path}: left out ")
    assert "'penalty'" in of_model
    assert "'later'" in of_model
    assert "newer version" in of_model
    assert "answers may differ" in of_model
    assert inside.startswith("a model inside the model file: left out")
    rename("settings", "penalty", "l2")
    rename("settings", "later", None)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = dovetail.load(path)
    assert (model.l2, model.tagger_.l2) == (dovetail.load(file).l2, dovetail.load(file).tagger_.l2)


def test_settings_of_taggers_of_domains(rename: Rename, tmp_path: Path) -> None:
    def change(header: dict[str, Any], arrays: dict[str, Any]) -> None:
        header["settings"]["tagger"]["order_of_labels"] = 2
        del header["settings"]["tagger"]["order"]

    path = rewritten(MODELS / "domains.dovetail", tmp_path / "a", change)
    with pytest.warns(NewerVersionWarning, match=f"{path}: left out 'order_of_labels'"):
        dovetail.load(path)
    rename("settings", "tagger.order_of_labels", "order")
    assert dovetail.load(path).tagger.order == 2


@pytest.mark.parametrize(
    ("file", "table", "key", "new", "change"),
    [
        ("tagger", "header", "tagger.spelling", "scheme", lambda h, a: moved(h, "scheme", "spelling")),
        ("parser", "header", "tagger.spelling", "scheme", lambda h, a: moved(h["tagger"], "scheme", "spelling")),
        ("parser", "header", "grammar.nodes", "symbols", lambda h, a: moved(h["grammar"], "symbols", "nodes")),
        ("domains", "header", "tuning.by", "factor", lambda h, a: moved(h["domains"]["a"]["tuning"], "factor", "by")),
        ("domains", "header", "domains.*.t", "tuning", lambda h, a: moved(h["domains"]["a"], "tuning", "t")),
        ("tagger", "arrays", "node.hashes", "node.keys", lambda h, a: moved(a, "node.keys", "node.hashes")),
        (
            "parser",
            "arrays",
            "node.hashes",
            "node.keys",
            lambda h, a: moved(a, "tagger.node.keys", "tagger.node.hashes"),
        ),
    ],
)
def test_fields_and_arrays_of_model_files(
    file: str, table: str, key: str, new: str, change: Any, rename: Rename, tmp_path: Path
) -> None:
    path = rewritten(MODELS / f"{file}.dovetail", tmp_path / "a", change)
    with pytest.raises(DovetailError):
        dovetail.load(path)
    rename(table, key, new)
    found = dovetail.load(path)
    words = [["Ada", "saw", "Bern", "."]]
    assert found.predict(words) == dovetail.load(MODELS / f"{file}.dovetail").predict(words)


def test_aligners(rename: Rename, tmp_path: Path) -> None:
    from dovetail.text.bitext import Pair

    pairs = [Pair(("das", "Haus"), ("the", "house")), Pair(("ein", "Haus"), ("a", "house"))]
    dovetail.Aligner(threads=1, sweeps=4, threshold=0.75).fit(pairs).save(tmp_path / "a")
    path = rewritten(tmp_path / "a", tmp_path / "b", lambda h, a: moved(h["settings"], "threshold", "cut"))
    with pytest.warns(NewerVersionWarning, match="left out 'cut'"):
        assert dovetail.Aligner.load(path).threshold != 0.75
    rename("settings", "aligner.cut", "threshold")
    assert dovetail.Aligner.load(path).threshold == 0.75
    with pytest.warns(FutureWarning, match="cut is called threshold now"):
        assert dovetail.Aligner(cut=0.5).threshold == 0.5  # type: ignore[call-arg]


def test_pipelines(rename: Rename, tmp_path: Path) -> None:
    pipeline = dovetail.Pipeline.of(dovetail.load(MODELS / "tagger.dovetail"), samples=7)
    pipeline.save(tmp_path / "a")
    path = rewritten(tmp_path / "a", tmp_path / "b", lambda h, a: moved(h["settings"], "samples", "draws"))
    table = tmp_path / "c.toml"
    table.write_text(f'draws = 7\n[[stages]]\ncalled = "ner"\nmodel = "{MODELS / "tagger.dovetail"}"\n')
    with pytest.warns(NewerVersionWarning, match="left out 'draws'"):
        assert dovetail.Pipeline.load(path).samples == 50
    with pytest.raises(InputError, match="draws"):
        dovetail.Pipeline.load(table)
    rename("settings", "pipeline.draws", "samples")
    rename("settings", "stage.called", "name")
    assert dovetail.Pipeline.load(path).samples == dovetail.Pipeline.load(table).samples == 7
    with pytest.warns(FutureWarning, match="draws is called samples now"):
        assert pipeline.set_params(draws=3).draws == 3


def test_configurations_of_learning_curves(rename: Rename) -> None:
    with pytest.raises(DovetailError, match="no setting 'penalty'"):
        Configuration("a", {"penalty": 3.0}).build()
    rename("settings", "tagger.penalty", "l2")
    assert Configuration("a", {"penalty": 3.0}).build().l2 == 3.0


# checkpoints


def test_checkpoints_outlive_the_renaming_of_a_setting(rename: Rename, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dovetail.models.base.Checkpoint.of", lambda path, settings, *data: settings)
    training, run = type("", (), {"fingerprint": list}), type("", (), {"checkpoint": "file"})
    domains = dovetail.MultiDomainTagger()
    before = domains._checkpoint(training, None, run)  # type: ignore[arg-type]
    rename("settings", "penalty", "l2")
    rename("settings", "l2_penalty", "l2")
    rename("settings", "tagger.kind_of_loss", "loss")
    rename("settings", "parser.kind_of_optimiser", "optimiser")
    after = domains._checkpoint(training, None, run)  # type: ignore[arg-type]
    assert before.pop("tagger__l2") == after.pop("tagger__penalty")  # the oldest spelling
    assert before.pop("tagger__loss") == after.pop("tagger__kind_of_loss")
    assert before == after


def test_arrays_of_checkpoints(rename: Rename, tmp_path: Path) -> None:
    problem = LogisticRegression(np.eye(4), np.array([1.0, -1.0, 1.0, -1.0]))
    checkpoint = Checkpoint(tmp_path / "a", "task")

    def trained(passes: int, resume: Any = None) -> Any:
        monitor = Monitor(save=checkpoint.save, save_every=1, watched=False)
        if resume is not None:
            monitor.restore(resume)
        return LBFGS(limit=passes).minimise(problem, Prior(0.1), np.zeros(4), monitor, resume)

    whole = trained(3)
    trained(2)
    state = checkpoint.load()
    assert state is not None
    checkpoint.save({("slope" if name == "gradient" else name): array for name, array in state.items()})
    with pytest.raises(DovetailError, match="the checkpoint has no 'gradient'"):
        trained(3, checkpoint.load())
    rename("state", "slope", "gradient")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert (trained(3, checkpoint.load()) == whole).all()
    checkpoint.save({**state, "momentum": np.zeros(1)})
    with pytest.warns(NewerVersionWarning, match="the checkpoint: left out 'momentum'"):
        trained(3, checkpoint.load())


# stores and logs


def test_the_labelling_store(rename: Rename, tmp_path: Path) -> None:
    path, entry = tmp_path / "a", Entry(("Ada",), "ann", "done", [[0, 1, "PER"]])
    store = open_store(path, "entities", ["PER"])
    store.add(entry)
    store.close()

    def entries(text: str) -> list[Entry]:
        path.write_text(text)
        store = open_store(path, "entities", ["PER"])
        store.close()
        return store.entries

    text = path.read_text()
    with pytest.warns(NewerVersionWarning, match=f"{path}: left out 'mood', which"):
        assert entries(text.replace('"state"', '"mood": 1, "state"')) == [entry]
    with pytest.warns(NewerVersionWarning, match="left out 'colours'"):
        assert entries(text.replace('"labels"', '"colours": [], "labels"')) == [entry]
    old = text.replace('"annotator"', '"who"').replace('"task"', '"job"')
    with pytest.raises(InputError, match="--task None"), pytest.warns(NewerVersionWarning, match="left out 'job'"):
        entries(old)
    rename("labels", "who", "annotator")
    rename("labels", "job", "task")
    assert entries(old) == [entry]


@pytest.mark.parametrize(
    ("entry", "new"),
    [
        (Run("f", "plain", 1, 10, 70, 50.0, 1.0, None, None, [3]), "series"),
        (Outcome("f", {"l2": 1}, 1, {}, 2.0), "deal"),
    ],
)
def test_logs(entry: Any, new: str, rename: Rename, tmp_path: Path) -> None:
    path, kind = tmp_path / "a", type(entry)
    Log(path, kind).add(entry)
    text = path.read_text()
    path.write_text(text.replace("}\n", ', "host": "here"}\n'))
    with pytest.warns(NewerVersionWarning, match=f"{path}: left out 'host', which"):
        assert (Log(path, kind) if kind is Run else tuning_log(path)).runs == {"f": entry}
    path.write_text(text.replace(f'"{new}"', '"old"'))
    with pytest.raises(InputError, match="this is not a finished run"), pytest.warns(NewerVersionWarning):
        Log(path, kind)
    rename("log", f"{kind.__name__}.old", new)
    assert Log(path, kind).runs == {"f": entry}


def test_a_store_of_a_newer_format_is_refused(tmp_path: Path) -> None:
    open_store(tmp_path / "a", "entities", ["PER"]).close()
    (tmp_path / "a").write_text((tmp_path / "a").read_text().replace('"dovetail-label": 1', '"dovetail-label": 2'))
    with pytest.raises(InputError, match="of a newer dovetail"):
        open_store(tmp_path / "a", "entities", ["PER"])


def test_tables_of_types(rename: Rename, tmp_path: Path) -> None:
    TypeTable(("PER",), ("LOC",), np.ones((1, 1))).save(tmp_path / "a.json")
    text = (tmp_path / "a.json").read_text()
    (tmp_path / "a.json").write_text(text.replace('"counts"', '"pairs"'))
    with (
        pytest.raises(InputError, match="no table of types"),
        pytest.warns(NewerVersionWarning, match="left out 'pairs'"),
    ):
        TypeTable.load(tmp_path / "a.json")
    rename("log", "TypeTable.pairs", "counts")
    assert TypeTable.load(tmp_path / "a.json").counts == 1.0


# servers


def test_requests(rename: Rename) -> None:
    pytest.importorskip("fastapi")
    served, labelled, _ = names.servers()
    asked: list[Callable[[], Any]] = [
        lambda: served.post("/annotate", json={"input": "Ada saw Bern ."}),
        lambda: served.post("/batch", content=b'{"input": "Ada"}', headers={"content-type": names.NDJSON}),
        lambda: labelled.post("/label/next", json={"window": "b"}),
        lambda: labelled.get("/label/status?window=b&annotator="),
    ]
    assert [ask().status_code for ask in asked] == [422, 200, 422, 422]
    assert "error" in asked[1]().json()
    rename("request", "input", "text")
    rename("request", "/label/next.window", "tab")
    rename("request", "window", "tab")
    found = [ask() for ask in asked]
    assert [each.status_code for each in found] == [200] * 4
    assert found[0].json() == served.post("/annotate", json={"text": "Ada saw Bern ."}).json()
    assert found[1].json()["sentences"][0]["words"] == ["Ada"]
    assert served.post("/annotate", json={"text": "a", "more": 1}).status_code == 422


# the command line


def test_commands_and_options(rename: Rename, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model, out = str(MODELS / "tagger.dovetail"), tmp_path / "out.conll"
    line = ["tag", "--file", model, f"--result={out}", "--tokenised", "--", "--file=Ada left"]
    assert main(line) == 2
    rename("command", "tag", "annotate")
    with pytest.warns(FutureWarning, match="tag is called annotate now"):
        assert main(line) == 2
    capsys.readouterr()
    rename("option", "annotate.--file", "--model")
    rename("option", "--result", "--output")
    with pytest.warns(FutureWarning) as told:
        assert main(line) == 0, capsys.readouterr()
    assert [str(one.message) for one in told] == [
        "tag is called annotate now", "--file is called --model now", "--result is called --output now",
    ]  # fmt: skip
    assert out.read_text().split()[0] == "--file=Ada"
    rename("command", "learn words", "train segmenter")
    with pytest.warns(FutureWarning, match="learn words is called train segmenter now"):
        assert main(["learn", "words", "--help"]) == 0


def test_options_in_configurations(rename: Rename, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.toml").write_text('file = "nowhere.conll"\n')
    line = ["train", "tagger", "--config", str(tmp_path / "a.toml"), "-o", str(tmp_path / "m")]
    assert main(line) == 2
    assert "there is no option 'file'" in capsys.readouterr().err
    rename("option", "train tagger.--file", "--train")
    with pytest.warns(FutureWarning, match="--file is called --train now"):
        assert main(line) == 2
    assert "nowhere.conll" in capsys.readouterr().err


def test_what_is_left_out_of_a_file_is_a_line_on_standard_error(tmp_path: Path) -> None:
    path = rewritten(MODELS / "tagger.dovetail", tmp_path / "a", lambda h, a: h["settings"].update(later=1))
    done = subprocess.run([sys.executable, "-m", "dovetail", "info", path], capture_output=True, text=True, check=True)
    [line] = done.stderr.splitlines()
    assert line.startswith(
        f"dovetail: warning: {path}: left out 'later', which this version of dovetail does not know; "
    )


# Python


def test_settings_and_attributes_of_models(rename: Rename) -> None:
    with pytest.raises(TypeError, match="penalty"):
        dovetail.Tagger(penalty=3.0)  # type: ignore[call-arg]
    model = dovetail.load(MODELS / "tagger.dovetail")
    rename("settings", "tagger.penalty", "l2")
    rename("settings", "Annotator.calls_for", "needs")
    rename("settings", "Tagger.gone", None)
    with pytest.warns(FutureWarning, match="penalty is called l2 now") as told:
        assert dovetail.Tagger(penalty=3.0).l2 == 3.0  # type: ignore[call-arg]
    assert told[0].filename == __file__
    with pytest.warns(FutureWarning, match="penalty is called l2 now") as told:
        assert (model.set_params(penalty=2.0).l2, model.penalty) == (2.0, 2.0)
    assert {one.filename for one in told} == {__file__}
    with pytest.warns(FutureWarning, match="gone has no effect any more"):
        assert dovetail.Tagger(gone=3.0, l2=1.0).l2 == 1.0  # type: ignore[call-arg]
    with pytest.warns(FutureWarning, match="calls_for is called needs now"):
        assert model.calls_for == ()
    with pytest.raises(AttributeError, match="'Tagger' object has no attribute 'nothing'"):
        _ = model.nothing
    with pytest.raises(TypeError, match="penalty"):
        dovetail.Parser(penalty=3.0)  # type: ignore[call-arg]


def test_names_of_packages(rename: Rename) -> None:
    with pytest.raises(AttributeError, match="no attribute 'Labeller'"):
        _ = dovetail.Labeller
    rename("python", "dovetail.Labeller", "Tagger")
    rename("python", "dovetail.text.load", "read")
    with pytest.warns(FutureWarning, match="Labeller is called Tagger now") as told:
        assert dovetail.Labeller is dovetail.Tagger
    assert told[0].filename == __file__
    with pytest.warns(FutureWarning, match="load is called read now"):
        from dovetail.text import load  # type: ignore[attr-defined]
    assert load is dovetail.read


def test_parameters(rename: Rename) -> None:
    @spellings.reads_old_spellings
    def grow(size: int = 1) -> int:
        return size

    rename("python", f"{grow.__qualname__}.width", "size")
    with pytest.warns(FutureWarning, match="width is called size now") as told:
        assert grow(width=3) == 3
    assert told[0].filename == __file__
    assert grow(size=2) == 2
