"""Answers outlive what may happen to the process that writes them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dovetail.errors import DovetailError
from dovetail.labelling.store import STATES, Entry, open_store

ANSWER = Entry(("Ada", "slept"), "ann", "done", [[0, 1, "PER"]])
LABELS = ["PER"]


def entries(path: Path) -> list[Entry]:
    store = open_store(path, "entities", LABELS)
    store.close()
    return store.entries


TEXT = st.text(max_size=6)
ENTRIES = st.builds(
    Entry,
    words=st.lists(st.text(min_size=1, max_size=6), max_size=4).map(tuple),
    annotator=st.text(min_size=1, max_size=6),
    state=st.sampled_from(STATES),
    answer=st.lists(st.tuples(st.integers(0, 5), st.integers(0, 9), TEXT).map(list), max_size=3),
    note=TEXT,
    time=TEXT,
    seconds=st.none() | st.floats(0, 1e6),
)
POINTS = st.lists(st.floats(-1e9, 1e9), min_size=5, max_size=5)


@settings(max_examples=15, deadline=None)
@given(st.lists(st.lists(ENTRIES | POINTS, max_size=4), max_size=3), st.lists(TEXT, unique=True))
def test_whatever_was_written_is_there_again_when_the_file_is_opened(
    sittings: list[list[Entry | list[float]]], labels: list[str]
) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder, "a.jsonl")
        for sitting in [*sittings, []]:
            store = open_store(path, "entities", labels)
            for item in sitting:
                if isinstance(item, Entry):
                    store.add(item)
                else:
                    store.add_point(item)
            store.close()
        items = [item for sitting in sittings for item in sitting]
        assert store.entries == [item for item in items if isinstance(item, Entry)]
        assert store.points == [item for item in items if not isinstance(item, Entry)]
        assert store.labels == tuple(labels)
        assert not store.warnings


def test_a_file_of_a_newer_version_may_say_more_and_less_than_this_is_a_damaged_line(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    store = open_store(path, "entities", LABELS)
    store.add(ANSWER)
    store.add_point([1, 2, 3, 4, 5])
    store.close()
    lines = path.read_text().splitlines()
    newer = [json.dumps(json.loads(line) | {"mood": "good"}) for line in lines]
    odd = ['{"point": [1, 2, 3]}', '{"point": [1, 2, 3, 4, "x"]}', '{"point": 5}']
    path.write_text("\n".join([*newer, *odd]) + "\n")
    store = open_store(path, "entities", LABELS)
    store.close()
    assert store.entries == [ANSWER]
    assert store.points == [[1, 2, 3, 4, 5]]
    assert [w.partition(": ")[0] for w in store.warnings] == [f"{path}:{n}" for n in (4, 5, 6)]


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
