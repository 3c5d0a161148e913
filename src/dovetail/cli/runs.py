"""What ``dovetail curve`` and ``dovetail simulate`` share: their options, their data, their progress, their results."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from statistics import fmean, linear_regression
from typing import TYPE_CHECKING

from dovetail.cli.console import count, say, warn, warn_all
from dovetail.cli.corpus import Corpora
from dovetail.cli.options import REQUIRED, option
from dovetail.cli.paths import Reads, Writes
from dovetail.cli.progress import Reporter
from dovetail.cli.train.doubts import overlap_doubts
from dovetail.errors import DovetailError

if TYPE_CHECKING:
    from dovetail.curves.data import CurveData
    from dovetail.curves.plot import Axis
    from dovetail.curves.runs import Run, RunLog
    from dovetail.text.sentence import Sentence

WRITTEN = ("runs.jsonl", "curve.csv", "curve.svg", "curve.png")
TRAIN = option("FILE", "Annotated text to draw training sentences from.", Reads(), default=REQUIRED)
DEV = option("FILE", "Annotated text to tune and score each model on.", Reads(), default=REQUIRED)
TEST = option("FILE", "Annotated text to score on instead of dev.", Reads(), shown="dev")
TUNE = option(
    None,
    "Use dev to stop early, to calibrate and to balance precision and recall.",
    default=True,
    flag="--tune/--no-tune",
)
OUTPUT = option(
    "FOLDER",
    f"Write {', '.join(WRITTEN[:-1])} and {WRITTEN[-1]} here.",
    Writes(inside=WRITTEN),
    default=REQUIRED,
    short="-o",
)
DRAWS = option("N", "Number of random draws to average over.", default=3, min=1)
SEED = option("N", "Seed of the random draws.", default=1, min=0)
JOBS = option("N", "Number of models to train at a time, one per core.", shown="all cores", min=1)


def prepare(output: Path) -> RunLog:
    """The folder, made if it is not there, and the runs that it holds already."""
    from dovetail.curves.runs import RunLog
    from dovetail.text.files import why_not_written

    try:
        output.mkdir(exist_ok=True)
    except FileExistsError:
        raise DovetailError(f"{output}: results go to a folder, but this is a file") from None
    except OSError as error:
        raise DovetailError(f"{output}: cannot be made: {why_not_written(output, error)}") from None
    if not os.access(output, os.W_OK):
        raise DovetailError(f"{output}: cannot be written: permission denied")
    if find_spec("matplotlib") is None:
        warn('no plots, only numbers, because matplotlib is missing: pip install "dovetail[plot]"')
    return RunLog(output / "runs.jsonl")


def read_data(corpora: Corpora, train: Path, dev: Path, test: Path | None, tune: bool) -> CurveData:
    """The sentences of all files."""
    from dovetail.curves.data import CurveData

    held_out = _read(corpora, dev)
    scored = _read(corpora, test) if test is not None else None
    data = CurveData(_read(corpora, train), held_out, scored, tune)
    corpora.warn()
    warn_all(overlap_doubts(data.train, held_out))
    return data


def _read(corpora: Corpora, path: Path) -> list[Sentence]:
    """The sentences of a file; a .txt file has words separated by spaces, for a segmenter, a sentence a line."""
    from dovetail.text.formats import guess_format
    from dovetail.text.sentence import Sentence
    from dovetail.text.words import read_segmented

    if corpora.format is None and corpora.columns is None and guess_format(path) == "text":
        return [Sentence(tuple(words)) for words in read_segmented(path, corpora.encoding)]
    return corpora.sentences(path)


def default_jobs(jobs: int | None, tasks: int) -> int:
    """How many models to train at a time: no more than there are to train."""
    return max(1, min(jobs or os.cpu_count() or 1, tasks))


def watched(
    runs: Iterable[tuple[Run, bool]], sizes: Sequence[int], jobs: int, reporter: Reporter, output: Path
) -> list[Run]:
    """All runs, with a word about each as it finishes; ``sizes`` are those of all runs to come, done or not."""
    done: list[Run] = []
    fresh: list[Run] = []
    left = Counter(sizes)
    try:
        for run, was_there in runs:
            if not was_there and not fresh and done:
                reporter.doing(f"{len(done)} of {len(sizes)} runs are done already")
            done.append(run)
            left[run.sentences] -= 1
            if was_there:
                continue
            fresh.append(run)
            rest = describe_seconds(seconds_left(fresh, left) / jobs)
            what = f"{run.series}, {run.sentences:,} sentences, draw {run.draw}: {run.score:.2f}"
            reporter.doing(f"run {len(done)} of {len(sizes)}: {what} ({run.seconds:.1f} s); about {rest} left")
    except KeyboardInterrupt:
        say(f"{len(done)} of {len(sizes)} runs are saved in {output}; run the same command again to continue")
        raise
    return done


def seconds_left(done: Sequence[Run], left: Mapping[int, int]) -> float:
    """The time of runs to come, so many of each size, if seconds grow with sentences as they did before."""
    sizes, seconds = [run.sentences for run in done], [run.seconds for run in done]
    typical, size = fmean(seconds), fmean(sizes)
    # Of a single size one cannot tell what grows; half of a run, say, and the other half is scoring on dev.
    slope = linear_regression(sizes, seconds).slope if len(set(sizes)) > 1 else typical / size / 2
    return sum(number * max(typical + max(slope, 0.0) * (n - size), 0.0) for n, number in left.items())


def describe_seconds(seconds: float) -> str:
    """A time that people can take in.

    >>> describe_seconds(50), describe_seconds(600), describe_seconds(7300)
    ('50 s', '10 min', '2 h 2 min')
    """
    minutes = round(seconds / 60)
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60} min"


def results(
    runs: Sequence[Run],
    log: RunLog,
    order: Sequence[str],
    reference: int,
    output: Path,
    title: str,
    axes: Sequence[Axis] = ("sentences",),
) -> None:
    """Write the points as CSV and the pictures; print the table, and what each curve saves over the reference.

    Curves come in this order, others after them. Runs of other data, settings or sizes are left out, with a warning.
    """
    from dovetail.curves import curves_csv, curves_of, curves_table, draw_curves, savings
    from dovetail.text.files import atomic_writer

    strangers = len(log.runs.keys() - {run.fingerprint for run in runs})
    if strangers:
        warn(f"{log.path}: left out {count(strangers, 'run')} of other data, settings or sizes")
    rank = {name: number for number, name in enumerate(order)}
    curves = curves_of(sorted(runs, key=lambda run: rank.get(run.series, len(rank))))
    with atomic_writer(output / "curve.csv") as file:
        file.write(curves_csv(curves))
    if find_spec("matplotlib") is not None:
        metric = "F1" if any(run.precision is not None for run in runs) else "accuracy"
        for suffix in ("svg", "png"):
            draw_curves(curves, output / f"curve.{suffix}", title, metric, axes)
    print("\n".join([curves_table(curves), *savings(curves, curves[reference])]))
