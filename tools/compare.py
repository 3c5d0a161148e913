"""Compare everything that two versions of dovetail compute, print, write and serve on this machine.

    python tools/compare.py 0.2.0 .                        # release 0.2.0 and the working tree
    python tools/compare.py main~3 main --only tagger      # two commits, taggers only
    python tools/compare.py 0.2.0 . --only commands --only routes

Both sides are checked out and installed, each in its own environment, and run the same script. The report shows the
first difference of each sort, and where the others are. Differences that are meant are listed in
tools/expected_differences.toml. Exit codes: 0 no other difference; 1 a difference, or an entry of that list without
one; 2 wrong use.
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
from itertools import groupby, product
from pathlib import Path

from compare_checkouts import REPOSITORY, Checkout, CheckoutError, delete_oldest_checkouts, git, is_ancestor
from compare_results import (
    SORTS,
    Comparison,
    Difference,
    Expected,
    Results,
    load_expected,
    pair_figures,
    split_expected,
)
from compare_run import ENVIRONMENT

RUNNER = Path(__file__).with_name("compare_run.py")
EXPECTED = Path(__file__).with_name("expected_differences.toml")
MAX_PLACES = 20
"""Number of places that a report names for each sort."""
MAX_PLACE_CHARS = 120
NOTABLE_RATIO = 1.25
"""Ratio of time or memory from which a part gets a row of its own."""
MAX_RETRAINED, N_RETRAININGS = 5, 4
"""Variations that are trained again because they differ, at most, and how often."""
MIN_SECONDS = 1.0
"""Parts that take less get no row: their times are mostly noise."""


def make_environment(side: Checkout, results: Path) -> dict[str, str]:
    """Return the environment variables of a side, which are the same on both but for its folders."""
    home = results.parent / "home"
    home.mkdir(parents=True, exist_ok=True)
    path = f"{side.venv / 'bin'}{os.pathsep}{os.defpath}"
    inherited = {name: os.environ[name] for name in ("LD_LIBRARY_PATH",) if name in os.environ}
    return inherited | ENVIRONMENT | {"PATH": path, "HOME": str(home), "TMPDIR": str(home)}


def start_side(side: Checkout, results: Path, core: int, options: list[str]) -> subprocess.Popen[bytes]:
    """Start the script of one side on a core."""
    folders = {"tree": side.tree, "environment": side.venv, "home": results.parent / "home", "repository": REPOSITORY}
    command = [str(side.python), str(RUNNER), str(results), "--core", str(core)]
    command += [f"--path={name}={folder}" for name, folder in folders.items()]
    command += options
    progress = None if sys.stderr.isatty() else subprocess.DEVNULL
    return subprocess.Popen(command, env=make_environment(side, results), cwd=results.parent, stdout=progress)


def run_sides(runs: list[tuple[Checkout, Path]], options: list[str], measure: bool = False) -> None:
    """Run the script of all sides at the same time, each on a core of its own, or one after the other to measure it."""
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else [0]
    processes = []
    for number, (side, results) in enumerate(runs):
        processes.append(start_side(side, results, cores[0 if measure else number % len(cores)], options))
        if measure:
            processes[-1].wait()
    if any([process.wait() for process in processes]):
        raise CheckoutError("one side could not run; see above")


def find_unstable(differences: list[Difference], base: Checkout, head: Checkout, folder: Path) -> set[str]:
    """Return the variations that differ from run to run: some run of one side agrees with some run of the other.

    Those that differ are trained again, at other memory addresses, unless they are too many for chance.
    """
    suspects = sorted({difference.variation for difference in differences} - {None})
    if len(suspects) > MAX_RETRAINED:
        return set()
    results: dict[str, list[Results]] = {"base": [], "head": []}
    for number in range(N_RETRAININGS if suspects else 0):
        runs = [(side, folder / f"{name}-{number}" / "results") for name, side in (("base", base), ("head", head))]
        run_sides(runs, ["--vary-addresses", *(f"--only={name}" for name in suspects)])
        for name, (_, path) in zip(results, runs, strict=True):
            results[name].append(Results(path))
    pairs = list(product(results["base"], results["head"]))
    return {name for name in suspects if any(not [*Comparison(*pair).compare_variation(name)] for pair in pairs)}


def select_applicable(entries: list[Expected], base: Checkout, head: Checkout) -> tuple[list[Expected], list[str]]:
    """Return the entries whose commits lie between the two sides, and notes on entries whose commits are unknown."""
    applicable, notes, repository = [], [], head.repository
    tip = head.commit or git("rev-parse", "HEAD", repository=repository).decode().strip()
    for entry in entries:
        try:
            git("rev-parse", "--verify", "--quiet", f"{entry.commit}^{{commit}}", repository=repository)
        except CheckoutError:
            notes.append(f"commit {entry.commit} is unknown in this clone; its entry is applied: {entry.where}")
            applicable.append(entry)
            continue
        in_base = base.commit is None or is_ancestor(entry.commit, base.commit, repository)
        if not in_base and is_ancestor(entry.commit, tip, repository):
            applicable.append(entry)
    return applicable, notes


def format_differences(differences: list[Difference], show_all: bool) -> Iterator[str]:
    """Yield report lines: the first difference of each sort, or all of them, and counts by place."""
    order = {sort: number for number, sort in enumerate(SORTS)}
    ordered = sorted(differences, key=lambda difference: order[difference.sort])
    for sort, group in groupby(ordered, key=lambda difference: difference.sort):
        of_sort = list(group)
        yield f"\n{sort}: {len(of_sort)} difference{'s' if len(of_sort) > 1 else ''}"
        for difference in of_sort if show_all else of_sort[:1]:
            yield f"  {difference.where}\n    base: {_indent(difference.base)}\n    head: {_indent(difference.head)}"
        if not show_all and len(of_sort) > 1:
            counts = Counter(difference.place for difference in of_sort)
            yield "  by place (--all shows every difference)"
            yield from (f"    {count:4}  {place[:MAX_PLACE_CHARS]}" for place, count in [*counts.items()][:MAX_PLACES])
            if len(counts) > MAX_PLACES:
                yield f"          ... and {len(counts) - MAX_PLACES} more places"


def _indent(text: str) -> str:
    return text.replace("\n", "\n          ")


def format_figures(base: Results, head: Results, clock: str) -> Iterator[str]:
    """Yield a table of time and memory: all parts together, then each part that differs notably."""
    rows = list(pair_figures(base, head, clock))
    if not rows:
        return
    seconds = [sum(row[i] for row in rows) for i in (1, 2)]
    peak = [max(row[i] for row in rows) for i in (3, 4)]
    unit = "seconds" if clock == "seconds" else "CPU seconds"
    yield f"\n{unit:>44}    base    head   ratio     peak MB    base    head   ratio"
    for name, *values in [("all parts", *seconds, *peak), *rows]:
        base_seconds, head_seconds, base_mb, head_mb = values
        ratios = head_seconds / max(base_seconds, 1e-9), head_mb / base_mb
        is_notable = any(not 1 / NOTABLE_RATIO < ratio < NOTABLE_RATIO for ratio in ratios)
        if name == "all parts" or (is_notable and max(base_seconds, head_seconds) > MIN_SECONDS):
            times = f"{base_seconds:7.1f} {head_seconds:7.1f} {ratios[0]:7.2f}"
            yield f"{name:44} {times} {base_mb:19.0f} {head_mb:7.0f} {ratios[1]:7.2f}"


def main() -> int:
    """Compare two versions as the command line says, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("base", help="a version such as 0.2.0, or any name that git has for a commit")
    parser.add_argument("head", help="the same, or . for the working tree as it is")
    only = "a kind of model, one variation, commands, routes or json; may be repeated"
    parser.add_argument("--only", action="append", default=[], metavar="KIND", help=only)
    parser.add_argument("--all", action="store_true", help="show every difference in full")
    parser.add_argument("--measure", action="store_true", help="run one side after the other, and show elapsed time")
    parser.add_argument("--check-determinism", action="store_true", help="also run BASE a second time, and compare")
    cache = Path(tempfile.gettempdir()) / "dovetail-compare"
    cache_help = "folder of checkouts, environments and compiled kernels (default: %(default)s)"
    parser.add_argument("--cache", type=Path, default=cache, help=cache_help)
    options = parser.parse_args()
    try:
        entries = load_expected(EXPECTED)
        base, head = (Checkout(name, options.cache.resolve()) for name in (options.base, options.head))
        return compare(base, head, entries, options)
    except (CheckoutError, ValueError) as error:
        print(f"compare: error: {error}", file=sys.stderr)
        return 2


def compare(base: Checkout, head: Checkout, entries: list[Expected], options: argparse.Namespace) -> int:
    """Prepare and run two checkouts, print the report, and return the exit code."""
    with ExitStack() as stack:
        # Locks are taken in one order, so that two runs of this tool never wait for each other.
        for side in sorted({side.key: side for side in (base, head)}.values(), key=lambda side: side.key):
            stack.enter_context(side.lock())
            side.prepare()
        delete_oldest_checkouts(base.cache, (base.folder, head.folder))
        folder = head.folder / "results" / base.key
        runs = [(base, folder / "base" / "results"), (head, folder / "head" / "results")]
        if options.check_determinism:
            runs.append((base, folder / "redo" / "results"))
        n_kernels = [side.count_kernels() for side in (base, head)]
        run_sides(runs, [f"--only={kind}" for kind in options.only], options.measure)
        results = [Results(path) for _, path in runs]
        applicable, notes = select_applicable(entries, base, head)
        differences, stale = split_expected(Comparison(*results[:2]).differences(), applicable)
        unstable = find_unstable(differences, base, head, folder)
        differences = [difference for difference in differences if difference.variation not in unstable]
        notes += [f"{name} differs from run to run, on both sides alike" for name in sorted(unstable)]
        for again in results[2:]:
            repeated = Comparison(results[0], again).differences()
            differences += [Difference("determinism", f"{d.sort} {d.where}", d.base, d.head) for d in repeated]
        for side, side_results, before in zip((base, head), results, n_kernels, strict=False):
            if side.count_kernels() > before:
                notes.append(f"kernels were compiled for {side.name}; run it again for its seconds")
            notes += [f"{name} did not run on {side.name}: no {extra}" for name, extra in side_results.skipped.items()]
    clock = "seconds" if options.measure else "processor"
    print(f"{options.base} and {options.head}: {len(results[0].parts.keys() & results[1].parts.keys())} parts on both")
    print(*format_figures(*results[:2], clock), *format_differences(differences, options.all), sep="\n")
    if stale and not options.only:
        print("\nexpected differences that no longer occur; remove them from tools/expected_differences.toml:")
        print(*(f"  {entry.sort}: {entry.where} ({entry.commit}: {entry.reason})" for entry in stale), sep="\n")
    print("", *(f"note: {note}" for note in notes), sep="\n")
    print(f"{len(differences)} difference{'s' if len(differences) > 1 else ''}" if differences else "no difference")
    return int(bool(differences) or bool(stale and not options.only))


if __name__ == "__main__":
    sys.exit(main())
