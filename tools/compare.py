"""Compare all that two versions of dovetail compute, print, write and serve, on this machine.

    python tools/compare.py 0.2.0 .                        # the release 0.2.0 and the working tree, all of it
    python tools/compare.py main~3 main --only tagger      # two commits, taggers alone
    python tools/compare.py 0.2.0 . --only commands --only routes

Both sides are checked out and installed by themselves, and run the same script. The first difference of each sort is
shown, and the places of the others. Differences that are meant stand in tools/expected_differences.toml. The exit code
is 0 if there is no other difference, 1 if there is one, or if nothing matches an entry any more, 2 for wrong use.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import groupby
from pathlib import Path

from compare_checkouts import REPOSITORY, Checkout, CheckoutError, drop_oldest, git, is_ancestor
from compare_results import SORTS, Difference, Expected, Results, differences, figures, read_expected, settled
from compare_run import ENVIRONMENT

RUNNER = Path(__file__).with_name("compare_run.py")
EXPECTED = Path(__file__).with_name("expected_differences.toml")
MAX_PLACES = 20
"""Number of places that a report names for each sort."""
MAX_PLACE_CHARS = 120
NOTABLE_RATIO = 1.25
"""Ratio of seconds or memory from which a part has a line of its own in the report."""
MIN_SECONDS = 1.0
"""Shorter parts say nothing about speed."""


def environment_of(side: Checkout, results: Path) -> dict[str, str]:
    """Return the variables that a side runs with: those that find its programs, and the same for both else."""
    home = results.parent / "home"
    home.mkdir(parents=True, exist_ok=True)
    found = f"{side.venv / 'bin'}{os.pathsep}{os.defpath}"
    kept = {name: os.environ[name] for name in ("LD_LIBRARY_PATH", "SYSTEMROOT") if name in os.environ}
    return kept | ENVIRONMENT | {"PATH": found, "HOME": str(home), "TMPDIR": str(home)}


def start(side: Checkout, results: Path, core: int, only: list[str]) -> subprocess.Popen[bytes]:
    """Start the script on one side."""
    paths = {"tree": side.tree, "environment": side.venv, "home": results.parent / "home", "repository": REPOSITORY}
    command = [str(side.python), str(RUNNER), str(results), "--core", str(core)]
    command += [f"--path={name}={folder}" for name, folder in paths.items()]
    command += [f"--only={name}" for name in only]
    shown = None if sys.stderr.isatty() else subprocess.DEVNULL
    return subprocess.Popen(command, env=environment_of(side, results), cwd=results.parent, stdout=shown)


def run_sides(runs: list[tuple[Checkout, Path, list[str]]], measure: bool) -> None:
    """Run the script on all sides, at the same time on a core each, or to measure them one after the other."""
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else [0]
    started = []
    for number, (side, results, only) in enumerate(runs):
        process = start(side, results, cores[0 if measure else number % len(cores)], only)
        if measure:
            process.wait()
        started.append(process)
    codes = [process.wait() for process in started]
    if any(codes):
        raise CheckoutError("a side could not run; what is above says why")


def applying(expected: list[Expected], base: Checkout, head: Checkout) -> tuple[list[Expected], list[str]]:
    """Return the entries whose commits lie between the sides, and remarks on those whose commits are not known."""
    found, remarks, where = [], [], head.repository
    tip = head.commit or git("rev-parse", "HEAD", repository=where).decode().strip()
    for entry in expected:
        try:
            git("rev-parse", "--verify", "--quiet", f"{entry.commit}^{{commit}}", repository=where)
        except CheckoutError:
            remarks.append(f"no commit {entry.commit} is known here; its entry is taken to count: {entry.where}")
            found.append(entry)
            continue
        before = base.commit is None or is_ancestor(entry.commit, base.commit, where)
        if not before and is_ancestor(entry.commit, tip, where):
            found.append(entry)
    return found, remarks


def report(found: list[Difference], every: bool) -> Iterator[str]:
    """Yield the lines that show the first difference of each sort, and where others are; of ``every``, all."""
    order = {sort: number for number, sort in enumerate(SORTS)}
    for sort, group in groupby(sorted(found, key=lambda one: order[one.sort]), key=lambda one: one.sort):
        several = list(group)
        yield f"\n{sort}: {len(several)} difference{'s' if len(several) > 1 else ''}"
        for one in several if every else several[:1]:
            yield f"  {one.where}\n    base: {_indented(one.base)}\n    head: {_indented(one.head)}"
        if not every and len(several) > 1:
            places = Counter(one.place for one in several)
            yield "  by place, all of them with --all"
            yield from (f"    {count:4}  {place[:MAX_PLACE_CHARS]}" for place, count in [*places.items()][:MAX_PLACES])
            if len(places) > MAX_PLACES:
                yield f"          ... and {len(places) - MAX_PLACES} more places"


def _indented(text: str) -> str:
    return text.replace("\n", "\n          ")


def table(base: Results, head: Results, clock: str) -> Iterator[str]:
    """Yield the lines on time and memory: of all parts together, and of those that differ notably."""
    rows = list(figures(base, head, clock))
    if not rows:
        return
    seconds = [sum(row[i] for row in rows) for i in (1, 2)]
    peak = [max(row[i] for row in rows) for i in (3, 4)]
    unit = "seconds" if clock == "seconds" else "seconds of processor"
    yield f"\n{unit:>44}    base    head   ratio  MB at peak    base    head   ratio"
    for name, *values in [("all parts", *seconds, *peak), *rows]:
        ours, theirs, less, more = values
        ratios = theirs / max(ours, 1e-9), more / less
        notable = any(not 1 / NOTABLE_RATIO < r < NOTABLE_RATIO for r in ratios) and max(ours, theirs) > MIN_SECONDS
        if notable or name == "all parts":
            yield f"{name:44} {ours:7.1f} {theirs:7.1f} {ratios[0]:7.2f} {less:19.0f} {more:7.0f} {ratios[1]:7.2f}"


def main() -> int:
    """Compare two versions as the command line says, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("base", help="a version such as 0.2.0, or whatever names a commit for git")
    parser.add_argument("head", help="the same, or . for the working tree as it is")
    only = "a kind of model, one of its variations, commands, routes or json; may be repeated"
    parser.add_argument("--only", action="append", default=[], metavar="KIND", help=only)
    parser.add_argument("--all", action="store_true", help="show all differences in full")
    parser.add_argument("--measure", action="store_true", help="run one side after the other, for times on the clock")
    parser.add_argument(
        "--check-determinism", action="store_true", help="train the models of BASE a second time as well"
    )
    cache = Path(tempfile.gettempdir()) / "dovetail-compare"
    kept = "where checkouts, environments and compiled kernels are kept (default: %(default)s)"
    parser.add_argument("--cache", type=Path, default=cache, help=kept)
    given = parser.parse_args()
    try:
        expected = read_expected(EXPECTED)
        base, head = (Checkout(name, given.cache.resolve()) for name in (given.base, given.head))
        return compare(base, head, expected, given)
    except (CheckoutError, ValueError) as error:
        print(f"compare: error: {error}", file=sys.stderr)
        return 2


def compare(base: Checkout, head: Checkout, expected: list[Expected], given: argparse.Namespace) -> int:
    """Prepare and run two checkouts, print the report, and return the exit code."""
    with ExitStack() as stack:
        for side in sorted({one.key: one for one in (base, head)}.values(), key=lambda one: one.key):
            stack.enter_context(side.locked())  # in one order, so that two runs do not wait for each other
            side.prepare()
        drop_oldest(base.cache, (base.folder, head.folder))
        place = head.folder / "results" / base.key
        folders = {name: place / name / "results" for name in ("base", "head", "again")}
        compiled = base.kernels(), head.kernels()
        runs = [(base, folders["base"], given.only), (head, folders["head"], given.only)]
        if given.check_determinism:
            runs.append((base, folders["again"], given.only))
        run_sides(runs, given.measure)
        cold = [side.name for side, before in zip((base, head), compiled, strict=True) if side.kernels() > before]
    ours, theirs = Results(folders["base"]), Results(folders["head"])
    counting, remarks = applying(expected, base, head)
    found, stale = settled(differences(ours, theirs), counting)
    if given.check_determinism:
        again = differences(ours, Results(folders["again"]))
        found += [Difference("determinism", f"{one.sort} {one.where}", one.base, one.head) for one in again]
    remarks += [f"kernels were compiled on {side} in this run, so its seconds say nothing" for side in cold]
    remarks += [f"skipped on {side}: {name}, no {missing}" for side, results in (("base", ours), ("head", theirs))
                for name, missing in results.about["skipped"].items()]  # fmt: skip
    print(f"{given.base} and {given.head}: {len(ours.parts.keys() & theirs.parts.keys())} parts on both sides")
    print(*table(ours, theirs, "seconds" if given.measure else "processor"), *report(found, given.all), sep="\n")
    if stale and not given.only:
        print("\nexpected differences that nothing matches any more; remove them from tools/expected_differences.toml:")
        print(*(f"  {entry.sort}: {entry.where} ({entry.commit}: {entry.reason})" for entry in stale), sep="\n")
    print(*(f"note: {remark}" for remark in remarks), sep="\n")
    print("no difference" if not found else f"{len(found)} differences")
    return int(bool(found) or bool(stale and not given.only))


if __name__ == "__main__":
    sys.exit(main())
