"""Inject small faults into dovetail, one at a time, and count how many of them its tests notice.

    python tools/mutate.py record                     # run the suite once and note which test executes which line
    python tools/mutate.py record --tests tests/text  # the same of tests that are new, beside what is noted already
    python tools/mutate.py draw --seed 1 --faults 200 # inject faults into lines drawn from those, resumable
    python tools/mutate.py report --seed 1            # the share that was noticed, and every fault that was not

A fault is one mutation (``OPERATORS`` in mutation_operators.py) of one line that the suite executes, drawn with a
seed: a line first, each with the same probability, then one of its mutations. Lines of compiled kernels, which
coverage cannot see, count as executed. For each fault, the tests that mirror its module run first and then every other
test that executes the line, until one fails. That is as good as the whole suite: a test that does not reach the line
cannot fail by it (tests that reach it in a process of their own are the exception, and do not count). A fault that
makes the tests run ten times as long as they should is noticed, too; one that the first two minutes of tests do not
notice is not, so that the share that is printed is rather too low (``--survivors --patience 600`` looks again).

Faults that change nothing that anybody could observe are listed with their reason in tools/equivalent_faults.toml, and
do not count. Files lie in build/mutate. Needs pytest-cov.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import tomllib
import xml.etree.ElementTree as ElementTree
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from functools import cache
from multiprocessing import get_context
from pathlib import Path

import pytest
from imports import ROOT, distances, files_by_module, imports, module_of
from mutation_operators import Fault, faults_by_line

FOLDER = ROOT / "build" / "mutate"
EQUIVALENT = ROOT / "tools" / "equivalent_faults.toml"
MIN_LIMIT_S, MIN_LIMIT_COMPILED_S = 60.0, 240.0
"""A fault is said to hang the tests after this time at the earliest; compiling a kernel anew takes a while."""
PATIENCE_S = 120.0
"""Time for the tests of one fault, after which it counts as not noticed; of a compiled kernel twice as much."""
OUT_OF_TIME = "the time for this fault is over"
ALSO = ("tests/test_settings.py", "tests/cli/test_package.py")
"""Tests that run first where a line runs at its module's import: they look at what is declared then."""
SLOWDOWN_LIMIT = 10.0
"""A fault is said to hang the tests when they take so many times as long as without it."""
WARM_MODULES = (
    "numpy", "numba", "scipy.sparse", "scipy.special", "scipy.optimize", "safetensors.numpy", "hypothesis",
    "typer.testing", "rich.console", "pytest", "_pytest.assertion.rewrite",
)  # fmt: skip
"""Imported once in the process from which the runs of all faults are forked."""


@dataclass(frozen=True)
class Verdict:
    """What the tests made of one fault."""

    fault: Fault
    noticed: bool
    by: str
    """The first test that failed, or why the fault counts as noticed; empty where nothing failed."""
    tests: int
    """Number of tests that execute the line."""
    seconds: float


class Patience:
    """A pytest plugin that ends a run between two tests when its time is over."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    def pytest_runtest_logfinish(self) -> None:
        """Look at the time."""
        if time.monotonic() > self._end:
            pytest.exit(OUT_OF_TIME, pytest.ExitCode.OK)


class Coverage:
    """Which tests execute which line, and how long each test takes."""

    def __init__(self, folder: Path) -> None:
        self._database = sqlite3.connect(folder / "coverage.sqlite")
        self.seconds = json.loads((folder / "seconds.json").read_text(encoding="utf-8"))
        self._contexts = dict(self._database.execute("select id, context from context"))

    def _lines(self, file: str) -> Iterator[tuple[str, set[int]]]:
        """Yield for each test the lines of a file that it executes; the empty test is the import of the module."""
        query = "select context_id, numbits from line_bits join file on file.id = file_id where path like ?"
        for context, bits in self._database.execute(query, [f"%{file}"]):
            lines = {8 * i + j for i, byte in enumerate(bits) for j in range(8) if byte >> j & 1}
            yield self._contexts[context].rpartition("|")[0], lines  # a test, and its phase

    def executed(self, file: str) -> set[int]:
        """Return the lines of a file that any test executes."""
        return set().union(*(lines for _, lines in self._lines(file)))

    def runs_at_import(self, file: str, line: int) -> bool:
        """Whether a line runs when its module is imported."""
        return any(not test and line in lines for test, lines in self._lines(file))

    def tests_of(self, file: str, line: int) -> set[str]:
        """Return the tests that execute a line; all that enter the module, where the line runs at its import."""
        by_test: dict[str, set[int]] = defaultdict(set)
        for test, lines in self._lines(file):
            by_test[test] |= lines
        own = {test for test, lines in by_test.items() if line in lines}
        return set(by_test) - {""} if "" in own or not own else own


def record(arguments: argparse.Namespace) -> int:
    """Run the suite under coverage, one context a test; some of its tests, to add them to what is noted already."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    data, junit = FOLDER / "coverage.sqlite", FOLDER / "junit.xml"
    settings = FOLDER / "coveragerc"
    settings.write_text(f"[run]\ndata_file = {data}\nsource = {ROOT / 'src'}\n", encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-n",
        str(arguments.workers),
        "--dist",
        "loadfile",
        f"--junitxml={junit}",
    ]
    command += ["--cov", f"--cov-config={settings}", "--cov-context=test", "--cov-report=", "-p", "no:cacheprovider"]
    seconds: dict[str, float] = {}
    if arguments.tests:
        command += ["--cov-append", *arguments.tests]
        seconds = json.loads((FOLDER / "seconds.json").read_text(encoding="utf-8"))
    done = subprocess.run(command, cwd=ROOT, check=False)
    for case in ElementTree.parse(junit).iter("testcase"):
        file = case.attrib["classname"].replace(".", "/") + ".py"
        seconds[f"{file}::{case.attrib['name']}"] = float(case.attrib["time"])
    (FOLDER / "seconds.json").write_text(json.dumps(seconds), encoding="utf-8")
    return done.returncode


def sources() -> list[str]:
    """Return the files that faults are drawn from."""
    return sorted(str(file.relative_to(ROOT)) for file in (ROOT / "src" / "dovetail").rglob("*.py"))


def drawn(coverage: Coverage, seed: int, count: int) -> list[Fault]:
    """Draw faults: a line that is executed, each with the same probability, then one of its mutations."""
    lines = []
    for file in sources():
        executed = coverage.executed(file)
        found = faults_by_line(file, (ROOT / file).read_text(encoding="utf-8"))
        lines += [own for line, own in sorted(found.items()) if line in executed or own[0].compiled]
    rng = random.Random(seed)
    return [rng.choice(own) for own in rng.sample(lines, count)]


def ordered_tests(coverage: Coverage, fault: Fault) -> list[str]:
    """Return the tests that execute the line of a fault: those that mirror its module first, then quick files first."""
    tests = coverage.tests_of(fault.file, fault.line)
    module = module_of(ROOT / fault.file) or ""
    if not tests:  # kernels: whatever executes a module that imports this one
        near = sorted(distances([module]).items(), key=lambda item: item[1])
        for importer, steps in near:
            if importer.startswith("dovetail.") and 0 < steps <= 2 and len(tests) < 400:
                tests |= coverage.tests_of(f"src/{importer.replace('.', '/')}.py", 0)
    stem = Path(fault.file).stem
    tests |= {test for test in coverage.seconds if f"/test_{stem}.py::" in test}
    by_file: dict[str, list[str]] = defaultdict(list)
    for test in sorted(tests):
        by_file[test.partition("::")[0]].append(test)
    room = fault.file.removeprefix("src/dovetail/").rpartition("/")[0]

    def order(file: str) -> tuple[bool, bool, float]:
        own_room = bool(room) and file.startswith(f"tests/{room.partition('/')[0]}/")
        return (
            not (own_room and stem in Path(file).stem),
            not own_room,
            sum(coverage.seconds.get(test, 1.0) for test in by_file[file]),
        )

    return [test for file in sorted(by_file, key=order) for test in by_file[file]]


def copy_of_repository(place: Path) -> Path:
    """Copy the working tree with its compiled kernels, but without environments and what was built."""
    left_out = shutil.ignore_patterns(".venv*", ".git", "build", "dist", ".mypy_cache", ".pytest_cache", ".ruff_cache")
    return Path(shutil.copytree(ROOT, place / "dovetail", ignore=left_out, symlinks=True))


def forked_pytest(
    copy: Path, tests: Sequence[str], fault: Fault, log: Path, limit_s: float, patience: Patience
) -> int | None:
    """Run tests on a copy of the repository in a fork of this process; return the exit code, None at the time limit."""
    names = log.with_suffix(".tests")
    names.write_text("\n".join(tests), encoding="utf-8")
    child = os.fork()
    if not child:
        try:
            os.setsid()
            os.chdir(copy)
            output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            os.dup2(output, 1)
            os.dup2(output, 2)
            os.environ |= {"PYTHONPATH": str(copy / "src"), "PYTHONDONTWRITEBYTECODE": "1", "DOVETAIL_MUTATED": "1"}
            sys.dont_write_bytecode = True
            sys.path[:0] = [str(copy / "src"), str(copy)]
            sys.path[:] = [path for path in sys.path if path != str(ROOT / "tools")]
            if not fault.compiled:
                keep_compiled_code(copy / fault.file, ROOT / fault.file)
            options = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:cov", f"@{names}"]
            os._exit(int(pytest.main(options, plugins=[patience])))
        finally:
            os._exit(70)
    end = time.monotonic() + limit_s
    while time.monotonic() < end:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            stop_group(child)
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.05)
    stop_group(child)
    os.waitpid(child, 0)
    return None


def stop_group(leader: int) -> None:
    """Kill whatever is left of a group of processes."""
    with suppress(ProcessLookupError):
        os.killpg(leader, signal.SIGKILL)


def keep_compiled_code(mutated: Path, original: Path) -> None:
    """Let numba take the compiled kernels of the original for those of a file whose kernels did not change."""
    from numba.core.caching import _SourceFileBackedLocatorMixin as Locator

    stamp, own = original.stat(), Locator.get_source_stamp
    Locator.get_source_stamp = lambda self: (
        (stamp.st_mtime, stamp.st_size) if Path(self._py_file) == mutated else own(self)
    )


@cache
def stale_files(file: str) -> list[Path]:
    """Return the files whose compiled kernels a fault in a kernel makes stale: the file, and kernels that import it.

    A kernel that comes by another by way of a module without kernels is missed, and does not show the fault.
    """
    modules = files_by_module()
    kernels = {name for name, own in modules.items() if next(code_of(own), None)}
    stale, grows = {module_of(ROOT / file) or ""}, True
    while grows:
        more = {name for name in kernels - stale if imports()[name] & stale}
        stale, grows = stale | more, bool(more)
    return [modules[name].relative_to(ROOT) for name in stale]


def code_of(file: Path) -> Iterator[Path]:
    """Yield the compiled kernels of a file."""
    return file.parent.glob(f"__pycache__/{file.stem}.*.nb[ic]")


def compiled_code(copy: Path, fault: Fault) -> list[Path]:
    """Return the compiled kernels in a copy of the repository that a fault in a kernel makes stale."""
    return [code for file in stale_files(fault.file) for code in code_of(copy / file)]


@contextmanager
def injected(copy: Path, fault: Fault) -> Iterator[None]:
    """Have a fault in a copy of the repository; afterwards source and compiled kernels are as before."""
    file, original = copy / fault.file, ROOT / fault.file
    aside = {code: code.read_bytes() for code in compiled_code(copy, fault)} if fault.compiled else {}
    for code in aside:
        code.unlink()
    try:
        file.write_text(fault.applied(original.read_text(encoding="utf-8")), encoding="utf-8")
        yield
    finally:
        shutil.copy2(original, file)
        if fault.compiled:
            for code in compiled_code(copy, fault):
                code.unlink()
        for code, content in aside.items():
            code.write_bytes(content)


def judged(copy: Path, fault: Fault, coverage: Coverage, patience_s: float) -> Verdict:
    """Inject a fault into a copy of the repository, run its tests and others, and take the fault out again."""
    first = ALSO if coverage.runs_at_import(fault.file, fault.line) else ()
    tests, began = [*first, *ordered_tests(coverage, fault)], time.monotonic()
    expected = sum(coverage.seconds.get(test, 1.0) for test in tests)
    log = copy.parent / "log"
    patience_s *= 2 if fault.compiled else 1
    least = MIN_LIMIT_COMPILED_S if fault.compiled else MIN_LIMIT_S
    limit_s = max(least, min(SLOWDOWN_LIMIT * expected, 2 * patience_s))
    with injected(copy, fault):
        code = forked_pytest(copy, tests, fault, log, limit_s, Patience(patience_s)) if tests else 0
    text = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
    failed = next((line.split()[1] for line in text.splitlines() if line.startswith(("FAILED ", "ERROR "))), "")
    if code is None:
        failed = f"time limit of {limit_s:.0f} s"
    elif code == pytest.ExitCode.USAGE_ERROR and ("ERROR collecting" in text or "while loading conftest" in text):
        failed = "a test module that cannot be imported"
    elif code in (pytest.ExitCode.USAGE_ERROR, pytest.ExitCode.NO_TESTS_COLLECTED):
        raise RuntimeError(f"{fault}: its tests could not be run: {text[-1000:]}")
    elif code and not failed:
        failed = f"exit code {code}: {text[-200:]}"
    return Verdict(fault, bool(failed), failed, len(tests), time.monotonic() - began)


def judged_by_worker(fault: Fault, folder: Path, patience_s: float) -> Verdict:
    """Judge a fault in the copy of the repository that this process has to itself."""
    own = folder / str(os.getpid())
    if not own.exists():
        own.mkdir()
        copy_of_repository(own)
    return judged(own / "dovetail", fault, Coverage(FOLDER), patience_s)


def draw(arguments: argparse.Namespace) -> int:
    """Inject the faults of a seed that were not judged yet."""
    for module in WARM_MODULES:
        __import__(module)
    coverage = Coverage(FOLDER)
    log = FOLDER / f"seed-{arguments.seed}.jsonl"
    old = {Fault(**json.loads(line)["fault"]) for line in log.read_text().splitlines()} if log.exists() else set()
    faults = [fault for fault in drawn(coverage, arguments.seed, arguments.faults) if fault not in old]
    again = faults if not arguments.survivors else [v.fault for v in unnoticed(read_verdicts(arguments.seed))]
    # Processes, not threads: each forks its runs of pytest, and a fork of a process with threads may hang.
    with (
        tempfile.TemporaryDirectory(prefix="mutate-") as folder,
        ProcessPoolExecutor(arguments.workers, get_context("fork")) as pool,
    ):
        judging = {pool.submit(judged_by_worker, fault, Path(folder), arguments.patience): fault for fault in again}
        for future in as_completed(judging):
            if error := future.exception():
                print(f"NO VERDICT  {judging[future]}: {error!r}", flush=True)
                continue
            verdict = future.result()
            with log.open("a", encoding="utf-8") as lines:
                lines.write(json.dumps(asdict(verdict)) + "\n")
            word = "noticed " if verdict.noticed else "SURVIVED"
            print(f"{word} {verdict.seconds:6.1f} s  {verdict.fault}  {verdict.by}", flush=True)
    return report(arguments)


def read_verdicts(seed: int) -> list[Verdict]:
    """Read the last verdict on each fault of a seed."""
    verdicts = {}
    for line in (FOLDER / f"seed-{seed}.jsonl").read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        fault = Fault(**entry.pop("fault"))
        verdicts[fault] = Verdict(fault, **entry)
    return list(verdicts.values())


def is_listed(fault: Fault, entry: Mapping[str, str]) -> bool:
    """Whether an entry of equivalent_faults.toml speaks of a fault; ``code`` is a part of its line of source."""
    line = (ROOT / fault.file).read_text(encoding="utf-8").splitlines()[fault.line - 1]
    own = {"file": fault.file, "was": fault.was, "became": fault.became}
    return all(entry[name] == value for name, value in own.items()) and entry.get("code", "") in line


def unnoticed(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """Return the verdicts on faults that no test noticed, though they change something."""
    equivalent = tomllib.loads(EQUIVALENT.read_text(encoding="utf-8"))["fault"]
    return [v for v in verdicts if not v.noticed and not any(is_listed(v.fault, entry) for entry in equivalent)]


def report(arguments: argparse.Namespace) -> int:
    """Print the share of faults that were noticed, and each that was not."""
    verdicts = read_verdicts(arguments.seed)
    left, noticed = unnoticed(verdicts), sum(v.noticed for v in verdicts)
    counted = noticed + len(left)
    for verdict in left:
        print(f"not noticed by {verdict.tests} tests: {verdict.fault}")
    print(
        f"{len(verdicts)} faults, {len(verdicts) - counted} change nothing; of the other {counted}, "
        f"{noticed} were noticed: {100 * noticed / max(counted, 1):.1f} %"
    )
    return 0


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["record", "draw", "report"])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--faults", type=int, default=200)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--survivors", action="store_true", help="run the faults again that were not noticed")
    parser.add_argument("--patience", type=float, default=PATIENCE_S, help="seconds of tests for each fault")
    parser.add_argument("--tests", nargs="+", help="test files to record again; their source must not have changed")
    arguments = parser.parse_args()
    return {"record": record, "draw": draw, "report": report}[arguments.command](arguments)


if __name__ == "__main__":
    sys.exit(main())
