"""Brown clusters by dovetail and by a dense implementation in one run: same counts, same number of classes.

    python benchmarks/brown.py TEXT... [--classes 100] [--growth] [--threads N] [--wcluster FILE] [--json]

The peer is ``brown_dense.cc`` beside this file, compiled here with g++: the algorithm as it is usually written (dense
tables, all losses brought up to date at every step), on the same counts, one thread. With --wcluster, a wcluster binary
is run on the same text too; its time includes its reading of the text. Seconds are of processor time, and those of
dovetail are with compiled loops, as any second run finds them. With --growth, the seconds of dovetail alone for more
classes w and more types k, and the exponents of the law c * k^a * w^b that fits them best. With --threads, the seconds
on the clock for one thread and for so many, which means something only where as many cores are idle.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from dovetail.clusters.brown import brown
from dovetail.clusters.clustering import Clustering
from dovetail.clusters.counts import BigramCounts, count_bigrams, count_bigrams_of
from dovetail.clusters.information import mutual_information
from dovetail.text.files import read_whole

Row = dict[str, Any]


def measure_dovetail(counts: BigramCounts, classes: int) -> Row:
    """Seconds and mutual information of dovetail."""
    begin = time.process_time()
    clustering = brown(counts, classes)
    seconds = time.process_time() - begin
    return {
        "seconds": seconds,
        "information": mutual_information(counts, clustering.classes),
        "longest_path": max(map(len, clustering.paths)),
    }


def measure_dense(counts: BigramCounts, classes: int, folder: Path) -> Row:
    """Seconds and mutual information of the dense implementation."""
    binary = folder / "brown_dense"
    source = Path(__file__).with_name("brown_dense.cc")
    subprocess.run(["g++", "-O3", "-std=c++17", "-o", binary, source], check=True)
    first = np.repeat(np.arange(len(counts.words)), np.diff(counts.indptr))
    table = np.stack([first, counts.follower, counts.times], axis=1).astype(np.int64)
    sizes = np.array([len(counts.words), counts.tokens, len(table)], dtype=np.int64)
    numbers = np.concatenate([sizes, counts.count, table.reshape(-1)])
    done, seconds = timed([str(binary), str(classes)], numbers.tobytes())
    found = np.unique(np.array(done.split(), dtype=np.int64), return_inverse=True)[1].astype(np.int32)
    return {"seconds": seconds, "information": mutual_information(counts, found)}


def measure_wcluster(binary: Path, texts: list[Path], counts: BigramCounts, classes: int, folder: Path) -> Row:
    """Seconds and mutual information of a wcluster binary."""
    (folder / "text").write_text("\n".join(map(read_whole, texts)), encoding="utf-8")
    out = folder / "out"
    _, seconds = timed([str(binary), "--text", str(folder / "text"), "--c", str(classes), "--output_dir", str(out)])
    clustering = Clustering.load(out / "paths")
    classes_of = dict(zip(clustering.words, clustering.classes.tolist(), strict=True))
    found = np.array([classes_of[word] for word in counts.words], dtype=np.int32)
    return {"seconds": seconds, "information": mutual_information(counts, found)}


def timed(command: list[str], stdin: bytes | None = None) -> tuple[bytes, float]:
    """What a command prints, and the seconds of processor time that it took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, input=stdin, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done.stdout, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


CLASSES = (100, 200, 400, 800)
SHARES = (16, 8, 4)


def growth(texts: list[Path]) -> tuple[list[Row], tuple[float, float]]:
    """Seconds of dovetail for 100 to 800 classes of an eighth of the types, and for other parts of the types.

    Also the exponents of types and of classes that fit the seconds best.
    """
    whole = len(count_bigrams(tuple(texts)).words)
    rows = []
    for share, classes in [(8, w) for w in CLASSES] + [(share, 200) for share in SHARES if share != 8]:
        counts = count_bigrams(tuple(texts), max_types=whole // share)
        seconds, types = measure_dovetail(counts, classes)["seconds"], len(counts.words)
        rows.append({"types": types, "classes": classes, "seconds": seconds})
        rows[-1]["ns_per_type_and_pair"] = seconds * 1e9 / (types * classes**2)
    logs = np.log([[row["types"], row["classes"], row["seconds"]] for row in rows])
    law = np.linalg.lstsq(np.column_stack([np.ones(len(logs)), logs[:, :2]]), logs[:, 2], rcond=None)[0]
    return rows, (float(law[1]), float(law[2]))


def measure_threads(counts: BigramCounts, classes: int, threads: int) -> Row:
    """Seconds on the clock for one thread and for several, which must find the same tree."""
    found, seconds = [], []
    for number in (1, threads):
        begin = time.monotonic()
        found.append(brown(counts, classes, threads=number))
        seconds.append(time.monotonic() - begin)
    assert found[0].paths == found[1].paths
    assert np.array_equal(found[0].classes, found[1].classes)
    return {"threads": threads, "seconds_alone": seconds[0], "seconds": seconds[1]}


def main() -> None:
    """Run, compare, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("texts", nargs="+", type=Path, metavar="TEXT")
    parser.add_argument("--classes", type=int, default=100)
    parser.add_argument("--wcluster", type=Path, metavar="FILE", help="a wcluster binary to run too")
    parser.add_argument("--growth", action="store_true", help="more classes, more types")
    parser.add_argument("--threads", type=int, metavar="N", help="also compare one thread and so many")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    options = parser.parse_args()
    brown(count_bigrams_of([["a", "b", "c", "a", "d"]]), 2)  # loads the compiled loops
    begin = time.process_time()
    counts = count_bigrams(tuple(options.texts))
    counting = time.process_time() - begin
    rows = {"dovetail": measure_dovetail(counts, options.classes)}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows["dense"] = measure_dense(counts, options.classes, folder)
        if options.wcluster:
            rows["wcluster"] = measure_wcluster(options.wcluster, options.texts, counts, options.classes, folder)
    steps, exponents = growth(options.texts) if options.growth else ([], None)
    result = {
        "tokens": counts.tokens,
        "types": len(counts.words),
        "classes": options.classes,
        "counting_seconds": counting,
        "runs": rows,
        "ratio": {name: row["seconds"] / rows["dovetail"]["seconds"] for name, row in rows.items()},
        "growth": steps,
        "exponents": exponents,
        "threads": measure_threads(counts, options.classes, options.threads) if options.threads else None,
    }
    if options.json:
        print(json.dumps(result))
        return
    print(f"{counts.tokens:,} words, {len(counts.words):,} types, {options.classes} classes")
    print(f"counting: {counting:.2f} s, {counts.tokens / counting / 1e6:.1f} million words a second")
    for name, row in rows.items():
        ratio = result["ratio"][name]
        print(f"{name:10} {row['seconds']:9.2f} s  {ratio:7.1f} x  mutual information {row['information']:.6f}")
    for row in result["growth"]:
        print(
            f"{row['types']:>8,} types {row['classes']:>5} classes {row['seconds']:8.2f} s  "
            f"{row['ns_per_type_and_pair']:.3f} ns for each type and pair of classes"
        )
    if exponents:
        print(f"seconds ~ types^{exponents[0]:.2f} * classes^{exponents[1]:.2f}")
    if row := result["threads"]:
        both = f"{row['seconds']:.1f} s on the clock, one alone {row['seconds_alone']:.1f} s"
        print(f"{row['threads']} threads: {both}, {row['seconds_alone'] / row['seconds']:.2f} x")


if __name__ == "__main__":
    main()
