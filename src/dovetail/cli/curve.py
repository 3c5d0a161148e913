"""``dovetail curve``: scores against the number of labelled sentences."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dovetail.cli import options, runs
from dovetail.cli.corpus import Corpora, CorpusFormat
from dovetail.cli.options import option
from dovetail.cli.paths import Reads
from dovetail.cli.progress import reporting
from dovetail.errors import DovetailError

if TYPE_CHECKING:
    from dovetail.curves.configurations import Configuration


def curve(
    train: Path = runs.TRAIN,
    dev: Path = runs.DEV,
    output: Path = runs.OUTPUT,
    sizes: str = option(
        "N,N,...", "Numbers of sentences to train on; all is the whole file.", default="100,250,500,1000,2500,5000,all"
    ),
    config: list[str] | None = option(
        "NAME=SETTING=VALUE,...",
        "A curve: its name and settings of the tagger, such as plain=features=plain,l2=1; may be repeated.",
        shown="one curve, default settings",
    ),
    config_file: Path | None = option("TOML", "More curves, each a table [NAME] with settings.", Reads()),
    draws: int = runs.DRAWS,
    test: Path | None = runs.TEST,
    tune: bool = runs.TUNE,
    input_format: CorpusFormat | None = options.CORPUS_FORMAT,
    columns: str | None = options.COLUMNS,
    encoding: str = options.ENCODING,
    seed: int = runs.SEED,
    jobs: int | None = runs.JOBS,
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
    log = runs.prepare(output)
    with reporting(quiet) as reporter:
        reporter.doing(f"reading {train}")
        data = runs.read_data(Corpora(input_format, options.names(columns), encoding), train, dev, test, tune)
        tasks = plan.tasks(data)
        jobs = runs.default_jobs(jobs, len(tasks))
        done = runs.watched(plan.runs(data, log, jobs), [task.size for task in tasks], jobs, reporter, output)
    runs.results(done, log, [configuration.name for configuration in chosen], 0, output, "Learning curve")


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
    for name in options.names(text) or []:
        if name != "all" and not (name.isascii() and name.isdigit() and int(name)):
            raise DovetailError(
                f"--sizes {text}: {name!r} is not a number of sentences; give a list such as 100,500,all"
            )
        sizes.append(None if name == "all" else int(name))
    if not sizes:
        raise DovetailError("--sizes is empty; give a list such as 100,500,all")
    return sizes
