"""What ``tools/compare.py`` runs on each side, with the environment of that side: it writes a folder of results.

    python tools/compare_run.py RESULTS --core 0 --only tagger --only commands

Every part runs in a process of its own, forked from one that has imported all of dovetail: quick, and yet no part sees
what another has left behind. ``about.json`` says how each part went, with its seconds and its peak of memory.
"""

from __future__ import annotations

import argparse
import atexit
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
from importlib.metadata import entry_points, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

ENVIRONMENT = {
    "COLUMNS": "100", "LINES": "40", "NO_COLOR": "1", "TERM": "dumb", "LC_ALL": "C.UTF-8", "LANG": "C.UTF-8",
    "PYTHONHASHSEED": "0", "PYTHONUTF8": "1", "TZ": "UTC", "USER": "ada", "LOGNAME": "ada", "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "SOURCE_DATE_EPOCH": "0",
    "MPLBACKEND": "agg",
}  # fmt: skip
"""Variables that are the same on both sides, whatever the shell of the user says."""
TIMEOUT_S = 1800
"""Time that a part, or a command, may take; where nothing is compiled yet, it takes long."""
COMMAND = "dovetail"
"""The console script that commands are given to."""


class Part(NamedTuple):
    """A piece of work: its name, ``SORT/NAME``, and a function that is called in the folder of its results."""

    name: str
    work: Callable[[Path], None]


class Ran(NamedTuple):
    """How a child process ended, and what it needed, with the processes that it has started itself."""

    code: int
    seconds: float
    processor: float
    """Seconds that it has computed, which other work on the machine does not make longer."""
    megabytes: float
    """Its peak of memory."""

    def figures(self) -> dict[str, float]:
        """Return what is kept of it."""
        return {name: round(getattr(self, name), 3) for name in ("seconds", "processor", "megabytes")}


def forked(work: Callable[[], Any], folder: Path, out: Path, err: Path, stdin: Path = Path(os.devnull)) -> Ran:
    """Call a function in a child process with its own folder and standard streams, and wait for its end.

    ``SystemExit`` gives the exit code as usual, any other exception a traceback and 70.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    began = time.perf_counter()
    child = os.fork()
    if child == 0:
        code = 70
        try:
            signal.signal(signal.SIGALRM, _end_late)
            signal.alarm(TIMEOUT_S)
            os.chdir(folder)
            for number, path, flags in ((0, stdin, os.O_RDONLY), (1, out, os.O_WRONLY), (2, err, os.O_WRONLY)):
                os.dup2(os.open(path, flags | (0 if number == 0 else os.O_CREAT | os.O_TRUNC), 0o644), number)
            sys.stdin, sys.stdout = open(0, closefd=False), open(1, "w", closefd=False)  # noqa: SIM115
            sys.stderr = open(2, "w", buffering=1, errors="backslashreplace", closefd=False)  # noqa: SIM115
            # Processes that the child spawns must not import this script as their main module.
            sys.modules["__main__"] = types.ModuleType("__main__")
            work()
            code = 0
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
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
    return Ran(os.waitstatus_to_exitcode(status), time.perf_counter() - began, processor, megabytes)


def _end_late(number: int, frame: Any) -> None:
    raise TimeoutError(f"this took longer than {TIMEOUT_S} s")


def load_everything() -> None:
    """Import all of dovetail that its public names need, so that children start at once."""
    import dovetail

    for name in dovetail.__all__:
        with suppress(ImportError):  # of what needs an extra
            getattr(dovetail, name)
    for name in ("dovetail.cli.app", "typer.completion", "rich", "safetensors.numpy", "scipy.optimize", "numba"):
        with suppress(ImportError):  # of another version, which has no such module
            import_module(name)


def command_line(arguments: list[str]) -> None:
    """Run the console script with these arguments, as the shell would."""
    [script] = (one for one in entry_points(group="console_scripts") if one.name == COMMAND)
    sys.argv = [COMMAND, *arguments]
    sys.exit(script.load()())


def wanted_parts(results: Path, only: frozenset[str], skipped: dict[str, str]) -> list[Part]:
    """Return the parts to run: all, or those of some kinds and variations; ``skipped`` gets those that cannot run."""
    from compare_commands import command_parts
    from compare_routes import route_parts
    from variations import VARIATIONS

    others = [*command_parts(), *route_parts()]
    kinds = {one.kind for one in VARIATIONS.values()} | {part.name.partition("/")[0] for part in others}
    if unknown := only - kinds - VARIATIONS.keys():
        sys.exit(f"--only {', '.join(sorted(unknown))}: choose of {', '.join(sorted(kinds))}, or a single variation")
    parts = []
    for name, variation in VARIATIONS.items():
        missing = [extra for extra in variation.requires if not find_spec(extra)]
        if only and only.isdisjoint((variation.kind, name)):
            continue
        if missing:
            skipped[f"models/{name}"] = ", ".join(missing)
            continue
        parts.append(Part(f"models/{name}", partial(train_and_answer, variation, results / "answers" / f"{name}.json")))
    return [*parts, *(part for part in others if not only or part.name.partition("/")[0] in only)]


def train_and_answer(variation: Any, answers: Path, folder: Path) -> None:
    """Train a variation of a model in a folder, and write its answers to a file beside it."""
    variation.train(folder)
    answers.write_text(json.dumps(variation.answers(folder), ensure_ascii=False), "utf-8")


def main() -> None:
    """Run the parts that are asked for, and write what came of them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path)
    parser.add_argument("--core", type=int)
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--path", action="append", default=[], help="NAME=FOLDER: this name stands for it in texts")
    given = parser.parse_args()
    if given.core is not None and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {given.core})
    results = given.results.resolve()
    shutil.rmtree(results, ignore_errors=True)
    for name in ("answers", "log"):
        (results / name).mkdir(parents=True)
    about: dict[str, Any] = {
        "version": version(COMMAND), "paths": {str(results): "<results>"}, "parts": {}, "skipped": {},
    }  # fmt: skip
    about["paths"] |= {folder: f"<{name}>" for name, _, folder in (one.partition("=") for one in given.path)}
    parts = wanted_parts(results, frozenset(given.only), about["skipped"])
    load_everything()
    (results / "about.json").write_text(json.dumps(about))
    for part in parts:
        folder = results / part.name
        folder.mkdir(parents=True)
        log = results / "log" / part.name.replace("/", "-")
        ran = forked(lambda part=part, folder=folder: part.work(folder), folder, Path(f"{log}.out"), Path(f"{log}.err"))
        told: dict[str, Any] = ran.figures()
        if ran.code:
            told["failure"] = (
                f"exit code {ran.code}: {Path(f'{log}.err').read_text('utf-8', 'replace').strip()[-2000:]}"
            )
        about["parts"][part.name] = told
        print(f"{part.name}: {ran.seconds:.1f} s, {ran.megabytes:.0f} MB", flush=True)
        (results / "about.json").write_text(json.dumps(about, indent=1))


if __name__ == "__main__":
    main()
