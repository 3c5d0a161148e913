"""Files of finished work: what was written is there again, whatever it was, and however often the file was opened."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dovetail.curves.log import Log
from dovetail.curves.runs import Run, RunLog
from dovetail.tuning import tuning_log
from dovetail.tuning.trials import Outcome

TEXT, NUMBER = st.text(max_size=5), st.floats(-1e9, 1e9)
RUNS = st.builds(
    Run,
    fingerprint=TEXT,
    series=TEXT,
    draw=st.integers(1, 9),
    sentences=st.integers(0, 10**6),
    tokens=st.integers(0, 10**9),
    score=NUMBER,
    seconds=NUMBER,
    precision=st.none() | NUMBER,
    recall=st.none() | NUMBER,
    chosen=st.lists(st.integers(0, 99), max_size=3) | st.just(()),
)
SETTINGS = st.dictionaries(TEXT, st.none() | st.booleans() | NUMBER | TEXT | st.lists(TEXT, max_size=2), max_size=3)
OUTCOMES = st.builds(
    Outcome,
    fingerprint=TEXT,
    settings=SETTINGS,
    deal=st.integers(1, 9),
    parts=st.dictionaries(st.integers(0, 9).map(str), st.lists(NUMBER, min_size=3, max_size=3), max_size=3),
    seconds=NUMBER,
)


@pytest.mark.parametrize(("opened", "entries"), [(RunLog, RUNS), (tuning_log, OUTCOMES)], ids=["runs", "trials"])
@settings(max_examples=30, deadline=None)
@given(st.data())
def test_what_was_added_is_there_when_the_file_is_opened_again(opened, entries, data) -> None:
    sittings = data.draw(st.lists(st.lists(entries, max_size=3), max_size=3))
    with TemporaryDirectory() as folder:
        path = Path(folder, "log.jsonl")
        expected = {}
        for sitting in sittings:
            log: Log = opened(path)
            assert log.runs == expected
            for entry in sitting:
                log.add(entry)
                expected[entry.fingerprint] = entry
        assert opened(path).runs == expected
