"""Word alignment: dovetail beside eflomal and fast_align, on the same text in one run.

    pip install eflomal systran-align
    DOVETAIL_DATA=/path/to/corpora python benchmarks/alignment.py zhen enes deen enfr roen
    DOVETAIL_DATA=/path/to/corpora python benchmarks/alignment.py zhen --growth --only dovetail

The text is ``bitext/zh-en.*``, ``bitext/en-es.*`` and ``bitext/en-de.*`` with the sentences of ``align-gold`` before,
in lower case; gold links are those of ``align-gold/PAIR-dev``. German and English have none here: times and memory
alone. French and Romanian have no bitext: the sentences with gold links alone. Each aligner is a process of its own, on
one core: seconds are those of the processor, memory is the peak. Peers that are not installed are left out. fast_align
is the one that ``systran-align`` binds (Dyer, Chahuneau and Smith 2013), with the options that its authors advise, and
grow-diag-final-and.
"""

from __future__ import annotations

import argparse
import gzip
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

from dovetail.evaluate.alignment import alignment_scores, link_calibration
from dovetail.models.aligner.symmetrise import WAYS
from dovetail.text.links import Link, read_links

DATA = Path(os.environ.get("DOVETAIL_DATA", "data"))
PAIRS = {
    "zhen": ("zh-en.zh", "zh-en.en"), "enes": ("en-es.en", "en-es.es"), "deen": ("en-de.de", "en-de.en"),
    "enfr": None, "roen": None,
}  # fmt: skip
FAST_ALIGN = """
import systran_align
how = dict(iterations=5, favor_diagonal=True, optimize_tension=True, variational_bayes=True)
systran_align.generate_alignment_probabilities("both", "forward.probabilities", "backward.probabilities", **how)
aligner = systran_align.Aligner("forward.probabilities", "backward.probabilities")
with open("both", encoding="utf-8") as file, open("symmetrised", "w") as out:
    for line in file:
        source, target = (side.split() for side in line.split(" ||| "))
        links = aligner.align(source, target)["alignments"]
        out.write(" ".join(f"{i}-{j}" for i, j in links) + "\\n")
"""
"""A process of its own: the probabilities of both directions, and then the links of all pairs."""
GROWTH = (20_000, 40_000, 80_000)


def lines(path: Path) -> list[str]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return file.read().split("\n")[:-1]


def gold_links(name: str) -> list[list[Link]]:
    """Those of the pairs that come first; none where there is no part to be measured on."""
    for file in (f"{name}-dev.gold.txt.gz", f"{name}.gold.txt.gz"):
        if (DATA / "align-gold" / file).exists():
            return list(read_links(DATA / "align-gold" / file, first=1))
    return []


def prepare(name: str, folder: Path, limit: int | None) -> int:
    """Write the text of both sides, and of both in one; how many pairs there are."""
    paths = [DATA / "align-gold" / f"{name}{part}.src-tgt.txt.gz" for part in ("-dev", "")]
    gold = [line.split(" ||| ") for path in paths if path.exists() for line in lines(path)]
    sides = []
    for place, side in enumerate(("src", "tgt")):
        text = [pair[place].strip() for pair in gold]
        if (files := PAIRS[name]) is not None:
            text += lines(DATA / "bitext" / f"{files[place]}.txt.gz")[:limit]
        sides.append("\n".join(text).lower().split("\n"))
        (folder / side).write_text("\n".join(sides[-1]) + "\n", encoding="utf-8")
    both = "".join(f"{source} ||| {target}\n" for source, target in zip(*sides, strict=True))
    (folder / "both").write_text(both, encoding="utf-8")
    return len(sides[0])


def timed(command: list[str], folder: Path) -> tuple[float, float]:
    """Seconds of the processor, and peak memory in MB, of a command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    wrapper = "import resource,subprocess,sys;c=subprocess.call(sys.argv[1:]);"
    wrapper += "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss,file=sys.stderr);sys.exit(c)"
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", wrapper, *command], cwd=folder, env=environment, capture_output=True, text=True
    )
    if done.returncode:
        raise SystemExit(done.stderr)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, int(done.stderr.split()[-1]) / 1e3


Measured = tuple[float | None, tuple[float, float]]
"""The error rate, where there are gold links, and what it cost."""


def show(name: str, what: str, gold: list[list[Link]], found: list[list[Link]], cost: tuple[float, float]) -> Measured:
    told, rate = "", None
    if gold:
        scores, promise = alignment_scores(gold, found), link_calibration(gold, found)
        rate = scores.error_rate
        told = f"error rate {rate:5.2f}  precision {scores.precision:5.2f}  recall {scores.recall:5.2f}  "
        if promise is not None:
            told = f"calibration {promise.expected_calibration_error:.3f}  {told}"
    print(f"{name}  {what:28} {cost[0]:6.1f} s  {cost[1]:5.0f} MB  {told}".rstrip(), flush=True)
    return rate, cost


def of_dovetail(name: str, folder: Path, gold: list[list[Link]]) -> Measured:
    command = [sys.executable, "-m", "dovetail", "align", "--source", "src", "--target", "tgt", "--output", "links"]
    cost = timed([*command, "--probabilities", "--threads", "1", "--quiet"], folder)
    found = list(read_links(folder / "links"))[: len(gold)]
    return show(name, "dovetail", gold, found, cost)


def best(measured: list[Measured]) -> Measured:
    return min(measured, key=lambda one: one[0] or 0.0)


def of_eflomal(name: str, folder: Path, gold: list[list[Link]]) -> Measured | None:
    script = shutil.which("eflomal-align", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    if script is None:
        print("eflomal is not installed: pip install eflomal")
        return None
    cost = timed([script, "-s", "src", "-t", "tgt", "-f", "forward", "-r", "backward", "-m", "3"], folder)
    if not gold:
        return show(name, "eflomal", [], [], cost)
    sides = [list(read_links(folder / side))[: len(gold)] for side in ("forward", "backward")]
    cells = [[{(link.source, link.target) for link in some} for some in side] for side in sides]
    ways = {
        way: [[Link(*cell) for cell in make(a, b)] for a, b in zip(*cells, strict=True)] for way, make in WAYS.items()
    }
    return best([show(name, f"eflomal, {way}", gold, found, cost) for way, found in ways.items()])


def of_fast_align(name: str, folder: Path, gold: list[list[Link]]) -> Measured | None:
    if find_spec("systran_align") is None:
        print("fast_align is not installed: pip install systran-align")
        return None
    cost = timed([sys.executable, "-c", FAST_ALIGN], folder)
    return show(name, "fast_align", gold, list(read_links(folder / "symmetrised"))[: len(gold)], cost)


ALIGNERS = {"dovetail": of_dovetail, "eflomal": of_eflomal, "fast_align": of_fast_align}


def compare(name: str, only: list[str], limit: int | None) -> None:
    """All aligners on one pair of languages, and dovetail beside each of the others."""
    gold = gold_links(name)
    with tempfile.TemporaryDirectory() as folder:
        print(f"{name}  {prepare(name, Path(folder), limit):,} pairs")
        found = {aligner: ALIGNERS[aligner](name, Path(folder), gold) for aligner in only}
    ours = found.pop("dovetail", None)
    for aligner, theirs in found.items():
        if ours is None or theirs is None:
            continue
        told = f"seconds {ours[1][0] / theirs[1][0]:.2f} of {aligner}'s"
        if ours[0] is not None and theirs[0] is not None:
            told = f"error rate {ours[0] - theirs[0]:+.2f} points; {told}"
        print(f"{name}  {told}")
    print(flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", nargs="*", default=["zhen", "enes"], choices=list(PAIRS))
    parser.add_argument("--limit", type=int, help="use only so many pairs besides those with gold links")
    parser.add_argument("--growth", action="store_true", help=f"with {', '.join(map(str, GROWTH))} pairs in turn")
    parser.add_argument("--only", nargs="+", default=list(ALIGNERS), choices=list(ALIGNERS), help="these aligners")
    arguments = parser.parse_args()
    for name in arguments.pairs:
        for limit in GROWTH if arguments.growth else (arguments.limit,):
            compare(name, arguments.only, limit)


if __name__ == "__main__":
    main()
