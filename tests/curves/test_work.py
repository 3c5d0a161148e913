"""Work on several processes: Ctrl-C ends it, whatever it is at."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ENDLESS = """
import operator
from dovetail.curves.work import worked

if __name__ == "__main__":
    for number, _ in enumerate(worked(operator.add, range(3000), 1, 2, lambda task, result: task)):
        if number == 200:
            print("ready", flush=True)
"""


@pytest.mark.skipif(os.name == "nt", reason="signals of Unix")
def test_ctrl_c_among_thousands_of_tasks(tmp_path: Path) -> None:
    (tmp_path / "endless.py").write_text(ENDLESS)
    for _ in range(2):
        process = subprocess.Popen(
            [sys.executable, tmp_path / "endless.py"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            start_new_session=True,
        )  # fmt: skip
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        os.killpg(process.pid, signal.SIGINT)
        try:
            _, err = process.communicate(timeout=300)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
        assert "KeyboardInterrupt" in err
        assert process.returncode not in (0, None)
