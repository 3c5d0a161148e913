"""Compilation is told to those who wait, and is left out of the time that is left."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable
from types import SimpleNamespace

import pytest
from numba import njit

from dovetail.cli import progress
from dovetail.cli.progress import NOTICE, Watch
from dovetail.learning.monitor import Progress
from dovetail.structures import ahead

START, END = SimpleNamespace(is_start=True, is_end=False), SimpleNamespace(is_start=False, is_end=True)


def test_long_compilation_is_told_once(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    timers: list[FakeTimer] = []
    told: list[str] = []

    class FakeTimer:
        """A timer of the clock ``now``, on which nothing takes longer on a slow machine."""

        def __init__(self, seconds: float, function: Callable[[], None]) -> None:
            self.due, self.function = now[0] + seconds, function

        def start(self) -> None:
            timers.append(self)

        def cancel(self) -> None:
            timers[:] = [timer for timer in timers if timer is not self]

    def later(seconds: float) -> None:
        now[0] += seconds
        for timer in [timer for timer in timers if timer.due <= now[0]]:
            timer.cancel()
            timer.function()

    monkeypatch.setattr(progress.time, "perf_counter", lambda: now[0])
    monkeypatch.setattr(progress, "Timer", FakeTimer)
    monkeypatch.setattr(progress, "PATIENCE", 5.0)
    monkeypatch.setattr(ahead, "waits", [])
    watch = Watch(told.append)
    watch.notify(START)
    watch.notify(END)
    later(10.0)
    assert told == []  # it took no time at all
    for _ in range(2):
        watch.notify(START)
        watch.notify(START)  # a function that the first one calls
        before = list(told)
        later(4.0)
        assert told == before
        later(16.0)
        watch.notify(END)
        watch.notify(END)
    assert told == [NOTICE]
    assert len(watch.periods) == 3
    assert watch.seconds() == 40.0
    assert watch.seconds(within=0.0) == 0.0
    assert not timers


def test_real_compilation_is_noticed() -> None:
    progress.watch()
    before = progress.WATCH.seconds()
    njit(lambda x: x + 1)(1)
    assert progress.WATCH.seconds() > before


def test_time_left_is_reckoned_without_compilation(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = time.perf_counter()
    watch = Watch(lambda _: None)
    watch.periods = [(now - 100, now - 60), (now - 12, now - 2)]  # the first before training began
    monkeypatch.setattr(progress, "WATCH", watch)
    progress.Lines().trained(Progress(iteration=1, limit=101, objective=1.0, seconds=12.0))
    assert "12 s, at most 200 s left" in capsys.readouterr().err


def test_a_log_gets_a_line_and_quiet_none(capsys: pytest.CaptureFixture[str]) -> None:
    with progress.reporting(quiet=False):
        progress.WATCH.tell(NOTICE)
    assert capsys.readouterr().err == f"{NOTICE}\n"
    with progress.reporting(quiet=True):
        progress.WATCH.tell(NOTICE)
    progress.WATCH.tell(NOTICE)  # not within any reporting, and no terminal
    assert capsys.readouterr().err == ""


def test_who_waits_at_a_terminal_is_told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    progress.on_a_terminal(NOTICE)
    told = " ".join(capsys.readouterr().err.split())
    assert re.fullmatch(r"compiling.* about \d+ s.* (once|only the first time)\b.*", told)
