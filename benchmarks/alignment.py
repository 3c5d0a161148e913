"""Word alignment: dovetail beside eflomal, on the same text in one run.

    pip install eflomal
    DOVETAIL_DATA=/path/to/corpora python benchmarks/alignment.py zhen enes

The text is ``bitext/zh-en.*`` and ``bitext/en-es.*`` with the sentences of ``align-gold`` before it, in lower case; gold
links are those of ``align-gold/PAIR-dev``. Each aligner is a process of its own, on one core: seconds are those of the
processor, memory is the peak. Peers that are not installed are left out.
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
from pathlib import Path

from dovetail.evaluate.alignment import alignment_scores, link_calibration
from dovetail.models.aligner.symmetrise import WAYS
from dovetail.text.links import Link, read_links

DATA = Path(os.environ.get("DOVETAIL_DATA", "data"))
PAIRS = {"zhen": ("zh-en.zh", "zh-en.en"), "enes": ("en-es.en", "en-es.es")}


def lines(path: Path) -> list[str]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return file.read().split("\n")[:-1]


def prepare(name: str, folder: Path, limit: int | None) -> int:
    """Write the text of both sides; how many pairs have gold links."""
    gold = [line.split(" ||| ") for line in lines(DATA / "align-gold" / f"{name}-dev.src-tgt.txt.gz")]
    for place, (side, file) in enumerate(zip(("src", "tgt"), PAIRS[name], strict=True)):
        text = [pair[place].strip() for pair in gold] + lines(DATA / "bitext" / f"{file}.txt.gz")[:limit]
        (folder / side).write_text("\n".join(text).lower() + "\n", encoding="utf-8")
    return len(gold)


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


def show(name: str, what: str, gold: list[list[Link]], found: list[list[Link]], cost: tuple[float, float]) -> float:
    scores, promise = alignment_scores(gold, found), link_calibration(gold, found)
    error = "" if promise is None else f"  calibration {promise.expected_calibration_error:.3f}"
    print(
        f"{name}  {what:28} error rate {scores.error_rate:5.2f}  precision {scores.precision:5.2f}  recall "
        f"{scores.recall:5.2f}  {cost[0]:6.1f} s  {cost[1]:5.0f} MB{error}",
        flush=True,
    )
    return scores.error_rate


def of_dovetail(name: str, folder: Path, gold: list[list[Link]]) -> tuple[float, tuple[float, float]]:
    command = [sys.executable, "-m", "dovetail", "align", "--source", "src", "--target", "tgt", "--output", "links"]
    cost = timed([*command, "--probabilities", "--threads", "1", "--quiet"], folder)
    found = list(read_links(folder / "links"))[: len(gold)]
    return show(name, "dovetail", gold, found, cost), cost


def of_eflomal(name: str, folder: Path, gold: list[list[Link]]) -> tuple[float, tuple[float, float]] | None:
    script = shutil.which("eflomal-align", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    if script is None:
        print("eflomal is not installed: pip install eflomal")
        return None
    cost = timed([script, "-s", "src", "-t", "tgt", "-f", "forward", "-r", "backward", "-m", "3"], folder)
    sides = [list(read_links(folder / side))[: len(gold)] for side in ("forward", "backward")]
    cells = [[{(link.source, link.target) for link in some} for some in side] for side in sides]
    best = 100.0
    for way, make in WAYS.items():
        found = [[Link(*cell) for cell in make(a, b)] for a, b in zip(*cells, strict=True)]
        best = min(best, show(name, f"eflomal, {way}", gold, found, cost))
    return best, cost


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", nargs="*", default=list(PAIRS), choices=list(PAIRS))
    parser.add_argument("--limit", type=int, help="use only so many pairs besides those with gold links")
    arguments = parser.parse_args()
    for name in arguments.pairs:
        gold = list(read_links(DATA / "align-gold" / f"{name}-dev.gold.txt.gz", first=1))
        with tempfile.TemporaryDirectory() as folder:
            prepare(name, Path(folder), arguments.limit)
            ours = of_dovetail(name, Path(folder), gold)
            theirs = of_eflomal(name, Path(folder), gold)
        if theirs is not None:
            print(
                f"{name}  error rate {ours[0] - theirs[0]:+.2f} points; seconds {ours[1][0] / theirs[1][0]:.2f} of "
                "eflomal's\n"
            )


if __name__ == "__main__":
    main()
