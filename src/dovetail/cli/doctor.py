"""``dovetail doctor``: whether the installation is well: versions, cores, memory, extras, the cache, and its speed."""

from __future__ import annotations

import json
import os
import platform
import sys
import time
from collections.abc import Iterator
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from dovetail.cli import options
from dovetail.cli.options import option, switch
from dovetail.cli.progress import reporting
from dovetail.extras import EXTRAS, install

PACKAGES = ("numpy", "numba", "scipy", "safetensors", "typer", "rich")
SECONDS = 10.0
SLOW = 20_000
"""Words a second on one core below which something is wrong: a laptop does several times as much."""


def doctor(
    speed: bool = option(None, "Measure how fast this machine is.", default=True, flag="--speed/--no-speed"),
    as_json: bool = options.AS_JSON,
    quiet: bool = switch("Show no progress, only results, warnings and errors.", short="-q"),
) -> None:
    """Check versions, cores, extras, cache and speed.

    What may be wrong is told at the end, with what to do. The check of the speed annotates the sample that comes with
    dovetail, and trains on it, for about ten seconds. Example:

    dovetail doctor --no-speed
    """
    record: dict[str, Any] = {
        "dovetail": metadata_version("dovetail"),
        "python": f"{platform.python_version()}, {sys.executable}",
        "system": f"{platform.system()} {platform.machine()}",
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "memory": memory(),
        "packages": {name: metadata_version(name) for name in PACKAGES},
        "extras": {extra: {name: metadata_version(name) for name in names} for extra, names in EXTRAS.items()},
        "cache": cache(),
    }
    if speed:
        with reporting(quiet) as work:
            work.doing("measuring the speed, about 10 s")
            record["speed"] = measured()
    record["advice"] = list(advice(record))
    print(json.dumps(record, ensure_ascii=False) if as_json else "\n".join(lines(record)))


def metadata_version(name: str) -> str | None:
    """The version of a package that is installed; None of one that is not."""
    if name == "dovetail":
        from dovetail.version import __version__

        return __version__
    try:
        return metadata.version(name) if find_spec(name) else None
    except metadata.PackageNotFoundError:
        return "of unknown version"


def memory() -> str:
    """What the machine has, where it tells."""
    try:
        return f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.1f} GB"
    except (ValueError, OSError, AttributeError):
        return "unknown"


def cache() -> dict[str, Any]:
    """Where compiled loops are kept, whether there is room to write, and how many there are."""
    import dovetail

    told = os.environ.get("NUMBA_CACHE_DIR")
    folder = Path(told) if told else Path(dovetail.__file__).parent
    number = sum(1 for _ in folder.rglob("*.nbi"))
    return {"folder": str(folder), "writable": os.access(folder, os.W_OK), "compiled": number}


def measured() -> dict[str, Any]:
    """Words annotated and trained on in a second, on one core, once the loops are compiled."""
    import dovetail

    began = time.perf_counter()
    english = dovetail.load()
    english.set_params(threads=1)
    sample = [s for d in dovetail.read(dovetail.embedded("sample-dev.conll.gz")) for s in d]
    english.predict(sample[:5])
    start = time.perf_counter()
    words = 0
    while not words or time.perf_counter() - start < SECONDS / 4:
        english.predict(sample)
        words += sum(map(len, sample))
    annotating = time.perf_counter() - start
    train = [s for d in dovetail.read(dovetail.embedded("sample-train.conll.gz")) for s in d][:300]
    how: dict[str, Any] = {"threads": 1, "cross_validate": 0}
    dovetail.Tagger(iterations=1, **how).fit(train[:20])
    passes, start = 10, time.perf_counter()
    dovetail.Tagger(iterations=passes, **how).fit(train)
    training = time.perf_counter() - start
    return {
        "annotated": round(words / annotating),
        "trained": round(passes * sum(map(len, train)) / training),
        "ready": round(start - began - annotating, 1),
    }


def advice(record: dict[str, Any]) -> Iterator[str]:
    """What may be wrong, and what to do."""
    for name, version in record["packages"].items():
        if version is None:
            yield f"{name} is missing: {install([name])}"
    if not record["cache"]["writable"]:
        folder = record["cache"]["folder"]
        yield f"{folder} cannot be written: loops are compiled anew each time; set NUMBA_CACHE_DIR to a folder of yours"
    for extra, brought in record["extras"].items():
        missing = [name for name, version in brought.items() if version is None]
        if missing and len(missing) < len(brought):
            yield f"the extra {extra} lacks {', '.join(missing)}: {install(missing)}"
    speed = record.get("speed")
    if speed is not None and speed["annotated"] < SLOW:
        yield "this machine is slow at present: see whether other programs are running"


def lines(record: dict[str, Any]) -> Iterator[str]:
    """The record for people."""
    yield f"{'dovetail':12}{record['dovetail']}"
    for name in ("python", "system", "cores", "memory"):
        yield f"{name:12}{record[name]}"
    yield f"{'packages':12}{', '.join(f'{name} {version}' for name, version in record['packages'].items())}"
    for number, (extra, brought) in enumerate(record["extras"].items()):
        there = ", ".join(f"{name} {version}" for name, version in brought.items() if version is not None)
        told = there or f"not installed: {install(brought)}"
        yield f"{'' if number else 'extras':12}{extra}: {told}"
    cached = record["cache"]
    can = "writable" if cached["writable"] else "NOT writable"
    yield f"{'cache':12}{cached['folder']}, {can}, {cached['compiled']:,} compiled loops"
    if (speed := record.get("speed")) is not None:
        yield (
            f"{'speed':12}{speed['annotated']:,} words a second annotated, {speed['trained']:,} a pass of training, "
            f"on one core; ready after {speed['ready']:.1f} s"
        )
    yield from (f"! {one}" for one in record["advice"])
    if not record["advice"]:
        yield "all is well"
