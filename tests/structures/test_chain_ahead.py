"""What a second process compiles is found on disk by the first, and nobody waits for what never comes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from dovetail.structures import ahead

TRY = """
import numpy as np
from dovetail.structures import ahead
from dovetail.structures.chain import ChainBatch, ChainPotentials
from dovetail.structures.chain.sums import forward_backward

ahead.compile_chains()
started = ahead._running is not None
potentials = ChainPotentials.of(np.zeros((3, 4)), np.zeros((4, 4)))
ChainBatch(potentials, np.array([0, 1, 3])).log_partition_and_marginals()
print(started, ahead._running is None, len(ahead.waits), sum(forward_backward.stats.cache_misses.values()))
"""


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="with a single core nothing is compiled ahead")
def test_the_first_run_waits_and_the_second_finds_everything(tmp_path: Path) -> None:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    tries = [subprocess.run([sys.executable, "-c", TRY], env=environment, capture_output=True, text=True) for _ in "12"]
    assert [done.stdout.split() for done in tries] == [["True", "True", "1", "0"], ["False", "True", "0", "0"]], tries


def test_nobody_waits_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    endless = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    monkeypatch.setattr(ahead, "_running", endless)
    monkeypatch.setattr(ahead, "PATIENCE", 0.01)
    monkeypatch.setattr(ahead, "waits", [])
    ahead.wait()
    assert endless.wait(10) != 0
    assert len(ahead.waits) == 1
