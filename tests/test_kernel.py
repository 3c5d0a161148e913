"""Compiled code that an older version left behind does no harm."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path

import numba

MODULE = """
from dovetail.kernel import kernel

@kernel
def double(x):
    return 2.0 * x
"""


def test_an_index_that_names_classes_which_are_gone(tmp_path: Path) -> None:
    (tmp_path / "doubling.py").write_text(MODULE)
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    code = "import doubling; print(doubling.double(2.0), sum(doubling.double.stats.cache_hits.values()))"

    def run() -> str:
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True
        )
        return done.stdout + done.stderr[-500:]

    assert run() == "4.0 0\n"
    assert run() == "4.0 1\n"
    [index] = (tmp_path / "cache").rglob("*.nbi")
    index.write_bytes(pickle.dumps(numba.__version__) + b"cnosuch_module\nGone\n.")
    assert run() == "4.0 0\n"
    assert run() == "4.0 1\n"
