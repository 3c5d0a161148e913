"""``tools/compare.py``: the differences it reports, those it ignores, and that it tries every command and setting."""

from __future__ import annotations

import gzip
import json
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import MISSING, fields
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import dovetail
from dovetail.modelfile import load_model, save_model

TOOLS = Path(__file__).parents[1] / "tools"
WEIGHT = np.array([[0.5, -0.0], [1.25, 3.0]], np.float32)
HEADER = {"kind": "tagger", "settings": {"l2": 0.1, "seed": 1}, "dovetail": "0.2.0", "labels": ["O", "B-PER"]}
MODEL, COMMAND, ROUTE = "tagger-plain/model.dovetail", "dovetail info m.dovetail", "serve POST /annotate"


@pytest.fixture(scope="module")
def tools() -> Iterator[SimpleNamespace]:
    """The modules of the tool by the last part of their names."""
    sys.path.insert(0, str(TOOLS))
    names = ("results", "checkouts", "run", "commands", "routes")
    yield SimpleNamespace(main=import_module("compare"), **{n: import_module(f"compare_{n}") for n in names})
    sys.path.remove(str(TOOLS))


def write_results(folder: Path, version: str = "0.2.0") -> Path:
    """Write a small folder of results, as the script does on one side."""
    parts = {
        name: {"seconds": 2.0, "processor": 1.5, "megabytes": 100.0}
        for name in ("models/tagger-plain", "commands/use", "routes/serve")
    }
    about = {"version": version, "paths": {str(folder): "<results>"}, "parts": parts, "skipped": {}}
    model = folder / "models" / "tagger-plain"
    for place in (model, folder / "answers", folder / "commands/use/000", folder / "routes/serve"):
        place.mkdir(parents=True)
    (folder / "about.json").write_text(json.dumps(about))
    save_model(model / "model.dovetail", HEADER | {"dovetail": version}, {"weight": WEIGHT, "keys": np.arange(3)})
    (folder / "answers/tagger-plain.json").write_text('{"best": ["B-PER"], "marginals": [0.1, 1e-300], "seconds": 3}')
    printed = f"{folder}/m.dovetail: written by dovetail {version}\ntrained in 0.31 s\n"
    texts = {"exit code": 0, "stdout": printed, "stderr": "dovetail: warning: odd\n"}
    write_records(
        folder / "commands/use", {"name": COMMAND, "fields": texts, "files": {"a.txt": "000/a.txt", "b": None}}
    )
    (folder / "commands/use/000/a.txt").write_text("Ada\nslept\n")
    answer = {"status": 200, "content-type": "application/json"}
    write_records(folder / "routes/serve", {"name": ROUTE, "fields": answer, "files": {"body": "0.body"}})
    (folder / "routes/serve/0.body").write_text('{"milliseconds": 3, "spans": [{"start": 0}]}')
    return folder


def write_records(folder: Path, *records: dict[str, Any]) -> None:
    (folder / "records.json").write_text(json.dumps(records))


@pytest.fixture
def sides(tmp_path: Path) -> tuple[Path, Path]:
    """Two folders with the same results, of different versions."""
    return write_results(tmp_path / "base"), write_results(tmp_path / "head", "0.3.0")


def find_differences(tools: Any, sides: tuple[Path, Path]) -> list[Any]:
    return list(tools.results.Comparison(*map(tools.results.Results, sides)).differences())


def edit_json(path: Path, change: Callable[[Any], None]) -> None:
    value = json.loads(path.read_text())
    change(value)
    path.write_text(json.dumps(value))


def edit_model(head: Path, change: Callable[[dict[str, Any], dict[str, Any]], None]) -> None:
    path = head / "models/tagger-plain/model.dovetail"
    header, arrays = load_model(path)
    arrays = {name: np.array(array) for name, array in arrays.items()}
    change(header, arrays)
    save_model(path, {k: v for k, v in header.items() if k != "checksums"}, arrays)


def next_float(header: Any, arrays: Any) -> None:
    arrays["weight"][1, 0] = np.nextafter(np.float32(1.25), np.float32(2))


def lose_sign_of_zero(header: Any, arrays: Any) -> None:
    arrays["weight"][0, 1] = 0.0


def test_equal_sides_are_silent_whatever_the_clock_and_the_version_say(tools: Any, sides: tuple[Path, Path]) -> None:
    edit_answers(lambda answers: answers.update(seconds=4))(sides[1])
    edit_command(lambda record: record["fields"].update(stdout=record["fields"]["stdout"].replace("0.31 s", "12.7 s")))(
        sides[1]
    )
    replace_file("routes/serve/0.body", b'{"milliseconds": 4, "spans": [{"start": 0}]}')(sides[1])
    assert find_differences(tools, sides) == []


def edit_command(change: Callable[[dict[str, Any]], Any]) -> Callable[[Path], None]:
    return lambda head: edit_json(head / "commands/use/records.json", lambda records: change(records[0]))


def edit_weights(change: Callable[[dict[str, Any], dict[str, Any]], Any]) -> Callable[[Path], None]:
    return lambda head: edit_model(head, change)


def edit_answers(change: Callable[[dict[str, Any]], Any]) -> Callable[[Path], None]:
    return lambda head: edit_json(head / "answers/tagger-plain.json", change)


def replace_file(name: str, data: bytes) -> Callable[[Path], Any]:
    return lambda head: (head / name).write_bytes(data)


def fail_request(head: Path) -> None:
    edit_json(head / "routes/serve/records.json", lambda records: records[0]["fields"].update(status=422))


CHANGES = [
    (edit_weights(next_float), "weights", f"{MODEL} > weight", "3fa00001"),
    (edit_weights(lose_sign_of_zero), "weights", f"{MODEL} > weight", "00000000"),
    (edit_weights(lambda _, arrays: arrays.pop("keys")), "weights", f"{MODEL} > keys", "absent"),
    (edit_weights(lambda _, arrays: arrays.update(keys=np.arange(4))), "weights", f"{MODEL} > keys", "I64 (4,)"),
    (edit_weights(lambda header, _: header["settings"].update(l2=1)), "header", f"{MODEL} > header.settings.l2", "1"),
    (edit_weights(lambda header, _: header.update(more=None)), "header", f"{MODEL} > header.more", "null"),
    (replace_file("models/tagger-plain/more", b"{}"), "weights", "tagger-plain/more", "written"),
    (
        edit_answers(lambda answers: answers.update(marginals=[0.1, 2e-300])),
        "answers",
        "tagger-plain > marginals.1",
        "2e-300",
    ),
    (
        edit_answers(lambda answers: answers.update(best=answers.pop("best"))),
        "answers",
        "tagger-plain",
        "marginals, seconds, best",
    ),
    (edit_answers(lambda answers: answers["best"].append("O")), "answers", "tagger-plain > best", "2 items"),
    (
        edit_command(lambda record: record["fields"].update(stderr="odd")),
        "commands",
        f"{COMMAND} | stderr: line 1",
        "odd",
    ),
    (
        edit_command(lambda record: record["fields"].update({"exit code": 2})),
        "commands",
        f"{COMMAND} | exit code: line 1",
        "2",
    ),
    (edit_command(lambda record: record["files"].pop("b")), "commands", f"{COMMAND} | b", "absent"),
    (replace_file("commands/use/000/a.txt", b"Ada\nwept\n"), "files", f"{COMMAND} | a.txt: line 2", "wept"),
    (replace_file("commands/use/000/a.txt", b"\xff"), "files", f"{COMMAND} | a.txt: byte 0", "1 bytes"),
    (replace_file("commands/use/records.json", b"[]"), "commands", COMMAND, "absent"),
    (fail_request, "routes", f"{ROUTE} | status: line 1", "422"),
    (
        replace_file("routes/serve/0.body", b'{"milliseconds": 3, "spans": [{"start": 1}]}'),
        "routes",
        f"{ROUTE} | body > spans.0.start",
        "1",
    ),
]


@pytest.mark.parametrize(("change", "sort", "where", "shown"), CHANGES)
def test_one_change_is_found_at_its_place(
    tools: Any, sides: tuple[Path, Path], change: Callable[[Path], Any], sort: str, where: str, shown: str
) -> None:
    change(sides[1])
    [difference] = find_differences(tools, sides)
    assert (difference.sort, difference.where) == (sort, where)
    assert shown in difference.head
    assert difference.base != difference.head


def test_failures_are_reported_even_if_both_sides_fail(tools: Any, sides: tuple[Path, Path]) -> None:
    for side in sides:
        edit_json(side / "about.json", lambda a: a["parts"]["models/tagger-plain"].update(failure="exit code 70: no"))
        edit_json(side / "commands/use/records.json", lambda r: r[0].update(wrong="exit code 1, expected 0"))
    assert [(difference.sort, difference.where) for difference in find_differences(tools, sides)] == [
        ("failed", "models/tagger-plain"), ("failed", COMMAND),
    ]  # fmt: skip


def test_compressed_models_are_read_as_others_are(tools: Any, tmp_path: Path) -> None:
    save_model(tmp_path / "m", HEADER, {"weight": WEIGHT})
    data = (tmp_path / "m").read_bytes()
    header, arrays = tools.results.read_model(tools.results.decompress(gzip.compress(data)))
    assert header["labels"] == ["O", "B-PER"]
    assert arrays["weight"].values().tobytes() == WEIGHT.tobytes()
    assert tools.results.read_model(b"no model at all") is None
    with pytest.raises(ValueError, match="checksum of weight"):
        tools.results.read_model(data[:-1] + b"\x01")


def test_meant_differences_are_left_out_and_stale_entries_returned(
    tools: Any, sides: tuple[Path, Path], tmp_path: Path
) -> None:
    edit_weights(next_float)(sides[1])
    entries = tmp_path / "expected.toml"
    entries.write_text(
        '[[difference]]\nsort = "weights"\nwhere = "tagger-*/model.dovetail > *"\nreason = "summed otherwise"\n'
        'commit = "abc"\n[[difference]]\nsort = "weights"\nwhere = "parser-*"\nreason = "pruned"\ncommit = "abc"\n'
        '[[difference]]\nsort = "routes"\nwhere = "*"\nreason = "a new field"\ncommit = "abc"\n'
    )
    expected = tools.results.load_expected(entries)
    unexpected, stale = tools.results.split_expected(find_differences(tools, sides), expected)
    assert unexpected == []
    assert [(entry.sort, entry.where) for entry in stale] == [("weights", "parser-*"), ("routes", "*")]
    entries.write_text('[[difference]]\nsort = "routes"\nwhere = "*"\nreason = " "\ncommit = "abc"\n')
    with pytest.raises(ValueError, match="entry 1 must have"):
        tools.results.load_expected(entries)


def test_the_list_of_the_repository_can_be_read(tools: Any) -> None:
    assert all(entry.sort in tools.results.SORTS for entry in tools.results.load_expected(tools.main.EXPECTED))


# The command itself, with results that are there already


@pytest.fixture
def compared(
    tools: Any, sides: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., int]:
    """Run the command on the two folders, with a list of expected differences, and other folders of a second run."""
    retrained: list[Path] = []
    if not (TOOLS.parent / ".git").exists():
        pytest.skip("this is no clone of the repository")
    monkeypatch.setattr(tools.checkouts.Checkout, "prepare", lambda self: None)

    def run_sides(runs: list[Any], options: list[str], measure: bool = False) -> None:
        for (_, results), side in zip(runs, retrained if "--vary-addresses" in options else sides, strict=True):
            results.parent.mkdir(parents=True, exist_ok=True)
            results.symlink_to(side)

    def run_compare(*arguments: str, expected: str = "", again: tuple[Path, Path] = sides) -> int:
        retrained[:] = again
        (tmp_path / "expected.toml").write_text(expected)
        monkeypatch.setattr(tools.main, "run_sides", run_sides)
        monkeypatch.setattr(tools.main, "EXPECTED", tmp_path / "expected.toml")
        monkeypatch.setattr(sys, "argv", ["compare.py", "--cache", str(tmp_path / "cache"), *arguments])
        return int(tools.main.main())

    return run_compare


def test_exit_codes(compared: Any, sides: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    assert compared("HEAD", ".") == 0
    assert "no difference" in capsys.readouterr().out
    assert compared("HEAD", "no-such-commit") == 2
    assert "no such version or commit; versions are 0.2.0" in capsys.readouterr().err


def test_reports(compared: Any, sides: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    edit_weights(next_float)(sides[1])
    edit_answers(lambda answers: answers.update(best=["O"], marginals=[]))(sides[1])
    assert compared("HEAD", ".") == 1
    report = capsys.readouterr().out
    assert "weights: 1 difference\n  tagger-plain/model.dovetail > weight\n    base: np.float32(1.25)" in report
    assert "answers: 2 differences\n  tagger-plain > best.0\n    base: B-PER\n    head: O\n  by place (--all" in report
    assert "       2  tagger-plain\n" in report
    assert re.search(r"all parts +4.5 +4.5 +1.00 +100 +100 +1.00\n", report)


def test_a_variation_that_differs_from_run_to_run_is_only_noted(
    compared: Any, sides: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    again = write_results(tmp_path / "base-again"), write_results(tmp_path / "head-again", "0.3.0")
    edit_weights(next_float)(sides[1])
    assert compared("HEAD", ".", again=again) == 0
    assert "note: tagger-plain differs from run to run, on both sides alike" in capsys.readouterr().out


def test_stale_entries_count_and_are_named(compared: Any, capsys: pytest.CaptureFixture[str]) -> None:
    entry = '[[difference]]\nsort = "routes"\nwhere = "serve *"\nreason = "a new field"\ncommit = "no-such-commit"\n'
    assert compared("HEAD", ".", expected=entry) == 1
    report = capsys.readouterr().out
    assert "  routes: serve * (no-such-commit: a new field)" in report
    assert "note: commit no-such-commit is unknown in this clone" in report


# Checkouts


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with a commit, and a working tree that has gone on."""
    folder = tmp_path / "repository"
    files = {
        "src/p/__init__.py": "from p.base import f\n", "src/p/kernel.py": "kernel = lambda f: f\n",
        "pyproject.toml": "", "tests/p.py": "",
        "src/p/base.py": "from p.kernel import kernel\nN = 3\n@kernel\ndef f(x): return x + N\n",
        "src/p/top.py": "from p import f\nfrom p.kernel import kernel\n@kernel\ndef g(x): return f(x)\n",
        "src/p/talk.py": "from p.base import f\ndef say(): print(f(1))\n",
    }  # fmt: skip
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    subprocess.run(["git", "init", "--quiet", str(folder)], check=True)
    commit(folder, "one")
    (folder / "src/p/base.py").write_text(files["src/p/base.py"].replace("N = 3", "N = 4"))
    (folder / "src/p/new.py").write_text("")
    (folder / "src/p/talk.py").unlink()
    return folder


def commit(folder: Path, message: str) -> None:
    who = ["-c", "user.name=a", "-c", "user.email=a@b.example"]
    for command in (["add", "."], [*who, "commit", "--quiet", "-m", message]):
        subprocess.run(["git", "-C", str(folder), *command], check=True)


def test_an_entry_counts_between_the_commit_before_it_and_the_working_tree(
    tools: Any, repository: Path, tmp_path: Path
) -> None:
    commit(repository, "two")
    entry = tools.results.Expected("routes", "*", "a new field", "HEAD")
    sides = [tools.checkouts.Checkout(name, tmp_path, repository) for name in ("HEAD~1", "HEAD", ".")]
    assert tools.main.select_applicable([entry], sides[0], sides[2]) == ([entry], [])
    assert tools.main.select_applicable([entry], sides[0], sides[1]) == ([entry], [])
    assert tools.main.select_applicable([entry], sides[1], sides[2]) == ([], [])
    assert tools.main.select_applicable([entry], sides[0], sides[0]) == ([], [])
    assert tools.main.select_applicable([entry], sides[2], sides[2]) == ([], [])


def test_checkouts_hold_the_files_of_a_commit_and_of_the_working_tree(
    tools: Any, repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tools.checkouts.Checkout, "_install", lambda self, contents: None)
    base, head = (tools.checkouts.Checkout(name, tmp_path / "cache", repository) for name in ("HEAD", "."))
    base.folder.mkdir(parents=True)
    base.prepare()
    compiled = [base.tree / f"src/p/__pycache__/{n}-4.py311.nbi" for n in ("base.f", "top.g", "talk.h", "based.f")]
    for file in compiled:
        file.parent.mkdir(exist_ok=True)
        file.write_text("compiled")
    head.folder.mkdir()
    head.prepare()
    listed = sorted(str(p.relative_to(head.tree)) for p in head.tree.rglob("*") if p.is_file())
    assert listed == [
        "pyproject.toml", "src/p/__init__.py", "src/p/__pycache__/based.f-4.py311.nbi",
        "src/p/base.py", "src/p/kernel.py", "src/p/new.py", "src/p/top.py",
    ]  # fmt: skip
    assert "N = 4" in (head.tree / "src/p/base.py").read_text()
    assert "N = 3" in (base.tree / "src/p/base.py").read_text()
    assert all(file.exists() for file in compiled)
    before = (head.tree / "src/p/base.py").stat().st_mtime_ns
    head.prepare()
    assert (head.tree / "src/p/base.py").stat().st_mtime_ns == before


# What runs on each side


def test_parts_run_in_processes_of_their_own(tools: Any, tmp_path: Path) -> None:
    def work() -> None:
        print(Path.cwd(), sys.stdin.read())
        sys.exit(int("__main__" in sys.modules and not hasattr(sys.modules["__main__"], "__file__")) + 2)

    (tmp_path / "in").write_text("given")
    out, err = tmp_path / "out", tmp_path / "err"
    ran = tools.run.run_forked(work, tmp_path, out, err, tmp_path / "in")
    assert (ran.code, out.read_text()) == (3, f"{tmp_path} given\n")
    assert ran.megabytes > 1
    failed = tools.run.run_forked(lambda: 1 // 0, tmp_path, out, err)
    assert failed.code == 70
    assert "ZeroDivisionError" in err.read_text()


def all_lines(tools: Any) -> list[list[str]]:
    return split(tools, "\n".join([*tools.commands.GROUPS.values(), tools.commands.JSON_LINES]))


def split(tools: Any, text: str) -> list[list[str]]:
    lines = filter(None, text.splitlines())
    return [shlex.split(line.format(**tools.commands.SETTINGS))[1:] for line in lines]


def list_commands() -> dict[str, Any]:
    """All commands by name, such as ``train tagger``."""
    import typer

    from dovetail.cli.app import app

    def below(command: Any, name: str) -> Iterator[tuple[str, Any]]:
        inner = getattr(command, "commands", None) or {}
        if not inner:
            yield name, command
        for key, value in inner.items():
            yield from below(value, f"{name} {key}".strip())

    return dict(below(typer.main.get_command(app), ""))


def test_lines_of_a_part_are_told_apart_by_their_text(tools: Any) -> None:
    for text in [*tools.commands.GROUPS.values(), tools.commands.JSON_LINES]:
        lines = [" ".join(line.split()) for line in text.splitlines()]
        assert len(set(lines)) == len(lines)


def test_every_command_is_tried_besides_its_help(tools: Any) -> None:
    lines = all_lines(tools)
    tried = [" ".join(words) + " " for words in lines if "--help" not in words]
    servers = {"serve", "label"}  # what they answer is tried by requests
    tuned = {
        name for name in list_commands() if name.startswith("tune ") and name != "tune tagger"
    }  # one search for all
    for name in list_commands().keys() - servers - tuned:
        assert any(line.startswith(f"{name} ") for line in tried), name
    for name in list_commands():
        assert [*name.split(), "--help"] in lines, name
    for name, command in list_commands().items():
        if any("--json" in param.opts for param in command.params):
            assert any(line.startswith(f"{name} ") and " --json " in line for line in tried), name


ESTIMATORS = {
    "train tagger": "Tagger", "train segmenter": "Segmenter", "train nested": "NestedTagger", "train parser": "Parser",
    "train joint": "JointParser", "train dependency": "DependencyParser", "train roles": "RoleLabeller",
    "train entailment": "Entailment", "align": "Aligner",
}  # fmt: skip
REQUIRED_OPTIONS = {"patience": "--dev", "sigma": "--trees-only"}
"""Settings that are refused unless another option is there."""


@pytest.mark.parametrize("command", ESTIMATORS)
def test_settings_are_written_out(tools: Any, command: str) -> None:
    """Every setting that has a default stands in every line that trains a model, unless a file of settings does it."""
    options = {p.name: {*p.opts, *p.secondary_opts} for p in list_commands()[command].params}
    settings = [f for f in fields(getattr(dovetail, ESTIMATORS[command])) if f.init]
    defaults = {f.name for f in settings if f.default not in (MISSING, None, False, ())}
    training = f"{tools.commands.TRAINING}\n{tools.commands.TWO_LANGUAGES}\n{tools.commands.JSON_LINES}"
    lines = [set(line) for line in split(tools, training) if " ".join(line).startswith(f"{command} ")]
    assert lines
    for line in lines:
        if line.isdisjoint(("--config", "--model")) or command == "train segmenter":
            refused = {name for name, other in REQUIRED_OPTIONS.items() if other not in line}
            assert [name for name in sorted((defaults & options.keys()) - refused) if not options[name] & line] == []
