"""``dovetail curve`` and ``dovetail simulate``: scores against the number of labelled sentences, random or chosen."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from statistics import fmean, linear_regression
from typing import TYPE_CHECKING, Any, Literal

from dovetail.cli import options
from dovetail.cli.console import count, say, warn, warn_all
from dovetail.cli.corpus import Corpora
from dovetail.cli.formats import CorpusFormat
from dovetail.cli.options import REQUIRED, option
from dovetail.cli.paths import Reads, Writes
from dovetail.cli.progress import Reporter, reporting
from dovetail.cli.select import DISCOUNT, DIVERSITY, USUAL, Measure
from dovetail.cli.train.doubts import overlap_doubts
from dovetail.errors import DovetailError
from dovetail.extras import lacking

if TYPE_CHECKING:
    from dovetail.curves.configurations import Configuration
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
OUTPUT = options.output("FOLDER", f"Write {', '.join(WRITTEN[:-1])} and {WRITTEN[-1]} here.", Writes(inside=WRITTEN))
DRAWS = option("N", "Number of random draws to average over.", default=3, min=1)
SEED = option("N", "Seed of the random draws.", default=1, min=0)
JOBS = option("N", "Number of models to train at a time, one per core.", shown="all cores", min=1)


def curve(
    train: Path = TRAIN,
    dev: Path = DEV,
    output: Path = OUTPUT,
    sizes: str = option(
        "N,N,...", "Numbers of sentences to train on; all is the whole file.", default="100,250,500,1000,2500,5000,all"
    ),
    config: list[str] | None = option(
        "NAME=SETTING=VALUE,...",
        "A curve: its name and settings of the tagger, such as plain=features=plain,l2=1; may be repeated.",
        shown="one curve, default settings",
    ),
    config_file: Path | None = option("TOML", "More curves, each a table [NAME] with settings.", Reads()),
    draws: int = DRAWS,
    test: Path | None = TEST,
    tune: bool = TUNE,
    input_format: CorpusFormat | None = options.CORPUS_FORMAT,
    columns: str | None = options.COLUMNS,
    encoding: str = options.ENCODING,
    seed: int = SEED,
    jobs: int | None = JOBS,
    ray: bool = options.RAY,
    quiet: bool = options.QUIET,
) -> None:
    """Draw learning curves, and compare settings along them.

    Models are trained on more and more sentences, several times each. Finished runs are saved in FOLDER: after
    Ctrl-C the same command continues, and one with more sizes, draws or settings only does what is new. Example:

    dovetail curve --train T --dev D --config plain=features=plain --config rich=features=ner --output curves
    """
    chosen = _configurations(config, config_file)
    wanted = parse_sizes(sizes)
    from dovetail.curves import LearningCurve

    plan = LearningCurve(chosen, wanted, draws, seed)
    for configuration in chosen:
        configuration.build()  # a wrong setting is told before anything is read
    corpora = Corpora(input_format, options.names(columns), encoding)
    done, log = _carried_out(plan, corpora, train, dev, test, tune, output, "ray" if ray else jobs, quiet)
    _results(done, log, [configuration.name for configuration in chosen], 0, "Learning curve")


def simulate(
    train: Path = TRAIN,
    dev: Path = DEV,
    output: Path = OUTPUT,
    start: int = option("N", "Number of random sentences to start with.", default=100, min=1),
    step: int = option("N", "Number of sentences to add in each round.", default=100, min=1),
    until: int = option("N", "Number of sentences to stop at.", default=1000, min=1),
    by: list[Measure] | None = option(
        None, "Measure of uncertainty; may be repeated. Random choice is always included.", shown="sequence-entropy"
    ),
    discount: float = DISCOUNT,
    diversity: float = DIVERSITY,
    draws: int = DRAWS,
    settings: str = option("SETTING=VALUE,...", "Settings of the tagger, such as features=plain,l2=1.", default=""),
    test: Path | None = TEST,
    tune: bool = TUNE,
    input_format: CorpusFormat | None = options.CORPUS_FORMAT,
    columns: str | None = options.COLUMNS,
    encoding: str = options.ENCODING,
    seed: int = SEED,
    jobs: int | None = JOBS,
    ray: bool = options.RAY,
    quiet: bool = options.QUIET,
) -> None:
    """Try out active learning on data that is already labelled.

    Starting from a few sentences, train, choose the next ones, and train again; the score is compared with that of
    random choice. Finished runs are saved in FOLDER: after Ctrl-C the same command continues. Example:

    dovetail simulate --train T --dev D --start 100 --step 100 --until 1000 --output simulation
    """
    from dovetail.active.simulation import Simulation, Strategy
    from dovetail.active.uncertainty import SUMS
    from dovetail.curves import parse_configuration

    measures = list(dict.fromkeys(measure.value for measure in by or [USUAL]))
    ways = [Strategy(name, discount if name in SUMS or len(measures) == 1 else 0.0, diversity) for name in measures]
    plan = Simulation(parse_configuration(f"tagger={settings}"), ways, start, step, until, draws, seed)
    plan.configuration.build()  # a wrong setting is told before anything is read
    corpora = Corpora(input_format, options.names(columns), encoding)
    done, log = _carried_out(plan, corpora, train, dev, test, tune, output, "ray" if ray else jobs, quiet)
    names = [way.name for way in ways]  # random comes last
    _results(done, log, names, -1, "Chosen and random sentences", ("sentences", "tokens"))


def _configurations(listed: list[str] | None, file: Path | None) -> list[Configuration]:
    from dovetail.curves.configurations import Configuration, parse_configuration, read_configurations

    found = [parse_configuration(text) for text in listed or []]
    found += read_configurations(file) if file is not None else []
    return found or [Configuration("tagger")]


def parse_sizes(text: str) -> list[int | None]:
    """The sizes in a list with commas; None is all.

    >>> parse_sizes("100, 2500,all")
    [100, 2500, None]
    """
    sizes: list[int | None] = []
    advice = "give a list such as 100,500,all"
    for name in options.names(text) or []:
        if name != "all" and not (name.isascii() and name.isdigit() and int(name)):
            raise DovetailError(f"--sizes {text}: {name!r} is not a number of sentences; {advice}")
        sizes.append(None if name == "all" else int(name))
    if not sizes:
        raise DovetailError(f"--sizes is empty; {advice}")
    return sizes


def _carried_out(
    plan: Any, corpora: Corpora, train: Path, dev: Path, test: Path | None, tune: bool,
    output: Path, jobs: int | Literal["ray"] | None, quiet: bool,
) -> tuple[list[Run], RunLog]:  # fmt: skip
    """All runs of a ``LearningCurve`` or a ``Simulation``, and the log with these and others."""
    log = _prepare(output)
    with reporting(quiet) as reporter:
        reporter.doing(f"reading {train}")
        data = _read_data(corpora, train, dev, test, tune)
        tasks = plan.tasks(data)
        if jobs == "ray":
            return _watched(plan.runs(data, log, jobs), plan.sizes_of_runs(data), 1, reporter, output), log
        jobs = max(1, min(jobs or os.cpu_count() or 1, len(tasks)))
        return _watched(plan.runs(data, log, jobs), plan.sizes_of_runs(data), jobs, reporter, output), log


def _prepare(output: Path) -> RunLog:
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
        warn(f"only numbers: {lacking('a plot', 'matplotlib')}")
    return RunLog(output / "runs.jsonl")


def _read_data(corpora: Corpora, train: Path, dev: Path, test: Path | None, tune: bool) -> CurveData:
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


def _watched(
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


def _results(
    runs: list[Run], log: RunLog, order: list[str], reference: int, title: str, axes: Sequence[Axis] = ("sentences",)
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
    with atomic_writer(log.path.with_name("curve.csv")) as file:
        file.write(curves_csv(curves))
    if find_spec("matplotlib") is not None:
        metric = "F1" if any(run.precision is not None for run in runs) else "accuracy"
        for suffix in ("svg", "png"):
            draw_curves(curves, log.path.with_name(f"curve.{suffix}"), title, metric, axes)
    print("\n".join([curves_table(curves), *savings(curves, curves[reference])]))
