"""The script that ``tools/compare.py`` runs on each side, in the environment of that side.

    python tools/compare_run.py RESULTS --core 0 --only tagger --only commands

It writes a folder of results. Every part runs in a child process, forked from one that has imported all of dovetail, so
that it starts at once and sees nothing of the parts before it. ``about.json`` has the time and memory of each part.
"""

from __future__ import annotations

import argparse
import atexit
import ctypes
import json
import os
import shutil
import signal
import sys
import time
import traceback
import types
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from importlib import import_module
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

ENVIRONMENT = {
    "COLUMNS": "100", "LINES": "40", "NO_COLOR": "1", "TERM": "dumb", "LC_ALL": "C.UTF-8", "LANG": "C.UTF-8",
    "PYTHONHASHSEED": "0", "PYTHONUTF8": "1", "TZ": "UTC", "USER": "ada", "LOGNAME": "ada", "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "SOURCE_DATE_EPOCH": "0",
    "MPLBACKEND": "agg",
}  # fmt: skip
"""Environment variables that are the same on both sides, whatever the user has set."""
TIMEOUT_S = 1800
"""Time limit of a part, and of a command; compiling its kernels may take minutes."""
CRASH = 70
"""Exit code of a child process that an exception ends."""
MAX_FAILURE_CHARS = 2000
ADDR_NO_RANDOMIZE, QUERY_PERSONALITY = 0x0040000, 0xFFFFFFFF
"""Of personality(2)."""
COMMAND = "dovetail"
"""The console script."""


class Part(NamedTuple):
    """A unit of work: its name, ``SORT/NAME``, and a function that is called with the folder of its results."""

    name: str
    work: Callable[[Path], None]


class Run(NamedTuple):
    """Exit code, time and memory of a child process and of the processes that it started."""

    code: int
    seconds: float
    processor: float
    """CPU seconds, which do not depend on what else runs on the machine."""
    megabytes: float
    """Peak of resident memory."""

    def figures(self) -> dict[str, float]:
        """Return time and memory by name."""
        return {name: round(getattr(self, name), 3) for name in ("seconds", "processor", "megabytes")}


def run_forked(work: Callable[[], Any], folder: Path, out: Path, err: Path, stdin: Path = Path(os.devnull)) -> Run:
    """Call a function in a child process with its own folder and standard streams, and wait for it.

    ``SystemExit`` sets the exit code as usual; any other exception prints a traceback and gives 70.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    start = time.perf_counter()
    child = os.fork()
    if child == 0:
        code = CRASH
        try:
            _set_up_child(folder, out, err, stdin)
            work()
            code = 0
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
        except BaseException:
            traceback.print_exc()
        finally:
            atexit._run_exitfuncs()
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
    _, status, usage = os.wait4(child, 0)
    megabytes = usage.ru_maxrss / (1024 if sys.platform != "darwin" else 1024**2)
    processor = usage.ru_utime + usage.ru_stime
    return Run(os.waitstatus_to_exitcode(status), time.perf_counter() - start, processor, megabytes)


def _set_up_child(folder: Path, out: Path, err: Path, stdin: Path) -> None:
    signal.signal(signal.SIGALRM, _time_out)
    signal.alarm(TIMEOUT_S)
    os.chdir(folder)
    writing = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    for number, path, flags in ((0, stdin, os.O_RDONLY), (1, out, writing), (2, err, writing)):
        os.dup2(os.open(path, flags, 0o644), number)
    sys.stdin, sys.stdout = open(0, closefd=False), open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", buffering=1, errors="backslashreplace", closefd=False)  # noqa: SIM115
    # multiprocessing imports the main module in the processes that it spawns; that must not be this script.
    sys.modules["__main__"] = types.ModuleType("__main__")


def _time_out(number: int, frame: Any) -> None:
    raise TimeoutError(f"longer than {TIMEOUT_S} s")


def fix_addresses() -> None:
    """Start this script again with the same memory addresses in every run, where the system allows it (Linux).

    Some kernels add up in an order that depends on how far apart their arrays lie (see ``dovetail.kernel``), so that
    the last bit of a weight may change from run to run.
    """
    if sys.platform != "linux":
        return
    personality = ctypes.CDLL(None).personality
    current = personality(QUERY_PERSONALITY)
    if current != -1 and not current & ADDR_NO_RANDOMIZE and personality(current | ADDR_NO_RANDOMIZE) != -1:
        os.execv(sys.executable, [sys.executable, *sys.argv])


def import_dovetail() -> None:
    """Import everything that the public names of dovetail need, so that child processes start at once."""
    import dovetail

    for name in dovetail.__all__:
        with suppress(ImportError):  # an extra is missing
            getattr(dovetail, name)
    for name in ("dovetail.cli.app", "typer.completion", "rich", "safetensors.numpy", "scipy.optimize", "numba"):
        with suppress(ImportError):  # another version may not have this module
            import_module(name)


def run_command_line(arguments: list[str]) -> None:
    """Call the console script with these arguments, as the shell does."""
    # The first is that of this side, whatever the environment that it borrows packages from has under another name.
    script = next(entry for entry in entry_points(group="console_scripts") if entry.name == COMMAND)
    sys.argv = [COMMAND, *arguments]
    sys.exit(script.load()())


def select_parts(results: Path, only: frozenset[str], skipped: dict[str, str]) -> list[Part]:
    """Return the parts of the selected kinds and variations, all of them if none is selected.

    Variations that lack an extra are left out, and entered in ``skipped`` with its name.
    """
    from compare_commands import list_command_parts
    from compare_routes import list_route_parts
    from variations import VARIATIONS

    others = [*list_command_parts(), *list_route_parts()]
    kinds = {variation.kind for variation in VARIATIONS.values()} | {part.name.partition("/")[0] for part in others}
    if unknown := only - kinds - VARIATIONS.keys():
        sys.exit(f"--only {', '.join(sorted(unknown))}: choose from {', '.join(sorted(kinds))}, or name a variation")
    parts = []
    for name, variation in VARIATIONS.items():
        if only and only.isdisjoint((variation.kind, name)):
            continue
        if missing := [extra for extra in variation.requires if not find_spec(extra)]:
            skipped[f"models/{name}"] = ", ".join(missing)
            continue
        parts.append(Part(f"models/{name}", partial(train_and_answer, variation, results / "answers" / f"{name}.json")))
    return [*parts, *(part for part in others if not only or part.name.partition("/")[0] in only)]


def train_and_answer(variation: Any, answers: Path, folder: Path) -> None:
    """Train a variation of a model in a folder, and write its answers to a JSON file."""
    variation.train(folder)
    answers.write_text(json.dumps(variation.answers(folder), ensure_ascii=False), "utf-8")


def run_part(part: Part, results: Path) -> dict[str, Any]:
    """Run a part, and return its time and memory, and how it failed if it did."""
    folder, log = results / part.name, results / "log" / part.name.replace("/", "-")
    folder.mkdir(parents=True)
    err = Path(f"{log}.err")
    run = run_forked(partial(part.work, folder), folder, Path(f"{log}.out"), err)
    print(f"{part.name}: {run.seconds:.1f} s, {run.megabytes:.0f} MB", flush=True)
    failure = {"failure": f"exit code {run.code}: {err.read_text('utf-8', 'replace').strip()[-MAX_FAILURE_CHARS:]}"}
    return run.figures() | (failure if run.code else {})


def main() -> None:
    """Run the selected parts, and write their results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path)
    parser.add_argument("--core", type=int, help="the core to run on")
    parser.add_argument("--only", action="append", default=[], help="a kind of model, a variation, or another sort")
    parser.add_argument("--path", action="append", default=[], help="NAME=FOLDER: replace FOLDER by NAME in texts")
    parser.add_argument("--vary-addresses", action="store_true", help="do not fix memory addresses")
    options = parser.parse_args()
    if not options.vary_addresses:
        fix_addresses()
    if options.core is not None and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {options.core})
    results = options.results.resolve()
    shutil.rmtree(results, ignore_errors=True)
    for name in ("answers", "log"):
        (results / name).mkdir(parents=True)
    paths = {str(results): "<results>"}
    paths |= {folder: f"<{name}>" for name, _, folder in (path.partition("=") for path in options.path)}
    own = import_module("dovetail").__version__
    about: dict[str, Any] = {"version": own, "paths": paths, "parts": {}, "skipped": {}}
    parts = select_parts(results, frozenset(options.only), about["skipped"])
    import_dovetail()
    for part in parts:
        about["parts"][part.name] = run_part(part, results)
    (results / "about.json").write_text(json.dumps(about, indent=1))


if __name__ == "__main__":
    main()
