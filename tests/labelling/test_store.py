"""Answers outlive what may happen to the process that writes them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from dovetail.errors import DovetailError
from dovetail.labelling.store import Entry, open_store

ANSWER = Entry(("Ada", "slept"), "ann", "done", [[0, 1, "PER"]])
LABELS = ["PER"]


def entries(path: Path) -> list[Entry]:
    store = open_store(path, "entities", LABELS)
    store.close()
    return store.entries


def test_a_torn_last_line_is_told_and_what_comes_after_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    store = open_store(path, "entities", LABELS)
    store.add(ANSWER, ANSWER)
    store.close()
    whole = path.read_bytes()
    for cut in range(len(whole.rstrip().rpartition(b"\n")[0]) + 2, len(whole) - 1):
        path.write_bytes(whole[:cut])
        store = open_store(path, "entities", LABELS)
        assert store.entries == [ANSWER]
        assert store.warnings == [f"{path}:3: an answer that was not written to its end, left out"]
        store.add(ANSWER)
        store.close()
        assert entries(path) == [ANSWER, ANSWER]


def test_a_damaged_line_costs_that_line_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    store = open_store(path, "entities", LABELS)
    store.add(ANSWER)
    store.close()
    good = path.read_text()
    path.write_text(
        good + '{"words": 3}\n\n[]\n{"words": ["a"], "annotator": "b", "state": "odd"}\n' + good.splitlines()[1] + "\n"
    )
    store = open_store(path, "entities", LABELS)
    store.close()
    assert store.entries == [ANSWER, ANSWER]
    assert [w.partition(": ")[0] for w in store.warnings] == [f"{path}:{n}" for n in (3, 5, 6)]


def test_other_files_and_other_tasks_are_refused_and_stay_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"words": ["my", "corpus"]}\n')
    with pytest.raises(DovetailError, match="no file of dovetail label"):
        open_store(path, "entities", LABELS)
    assert path.read_text() == '{"words": ["my", "corpus"]}\n'
    other = tmp_path / "b.jsonl"
    open_store(other, "nested", LABELS).close()
    with pytest.raises(DovetailError, match="--task nested"):
        open_store(other, "entities", LABELS)


def test_two_sessions_do_not_share_a_file(tmp_path: Path) -> None:
    store = open_store(tmp_path / "a.jsonl", "entities", LABELS)
    with pytest.raises(DovetailError, match="another dovetail label"):
        open_store(tmp_path / "a.jsonl", "entities", LABELS)
    store.close()
    open_store(tmp_path / "a.jsonl", "entities", ["LOC"]).close()


def test_labels_are_added_to_those_of_the_file(tmp_path: Path) -> None:
    open_store(tmp_path / "a.jsonl", "entities", ["PER", "LOC"]).close()
    store = open_store(tmp_path / "a.jsonl", "entities", ["ORG", "PER"])
    store.close()
    assert store.labels == ("PER", "LOC", "ORG")


def test_what_add_has_returned_from_outlives_kill_9(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    program = (
        "import sys; from pathlib import Path; from dovetail.labelling.store import *\n"
        f"store = open_store(Path({str(path)!r}), 'entities', ['PER'])\n"
        "for n in range(10**9): store.add(Entry((str(n),), 'ann', 'done', [])); print(n, flush=True)\n"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for _ in range(20):
            last = int(process.stdout.readline())
        os.kill(process.pid, signal.SIGKILL)
        told = [last, *map(int, process.stdout.read().split())]
    assert [e.words for e in entries(path)][: told[-1] + 1] == [(str(n),) for n in range(told[-1] + 1)]
