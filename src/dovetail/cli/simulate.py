"""``dovetail simulate``: what active learning would have saved, tried out on text that is labelled already."""

from __future__ import annotations

from pathlib import Path

from dovetail.cli import options, runs
from dovetail.cli.corpus import Corpora, CorpusFormat
from dovetail.cli.options import option
from dovetail.cli.progress import reporting
from dovetail.cli.select import DISCOUNT, DIVERSITY, Measure


def simulate(
    train: Path = runs.TRAIN,
    dev: Path = runs.DEV,
    output: Path = runs.OUTPUT,
    start: int = option("N", "Number of random sentences to start with.", default=100, min=1),
    step: int = option("N", "Number of sentences to add in each round.", default=100, min=1),
    until: int = option("N", "Number of sentences to stop at.", default=1000, min=1),
    by: list[Measure] | None = option(
        None, "Measure of uncertainty; may be repeated. Random choice is always included.", shown="sequence-entropy"
    ),
    discount: float = DISCOUNT,
    diversity: float = DIVERSITY,
    draws: int = runs.DRAWS,
    settings: str = option("SETTING=VALUE,...", "Settings of the tagger, such as features=plain,l2=1.", default=""),
    test: Path | None = runs.TEST,
    tune: bool = runs.TUNE,
    input_format: CorpusFormat | None = options.CORPUS_FORMAT,
    columns: str | None = options.COLUMNS,
    encoding: str = options.ENCODING,
    seed: int = runs.SEED,
    jobs: int | None = runs.JOBS,
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

    measures = list(dict.fromkeys(measure.value for measure in by or [Measure.sequence_entropy]))
    ways = [Strategy(name, discount if name in SUMS or len(measures) == 1 else 0.0, diversity) for name in measures]
    plan = Simulation(parse_configuration(f"tagger={settings}"), ways, start, step, until, draws, seed)
    plan.configuration.build()  # a wrong setting is told before anything is read
    log = runs.prepare(output)
    with reporting(quiet) as reporter:
        reporter.doing(f"reading {train}")
        data = runs.read_data(Corpora(input_format, options.names(columns), encoding), train, dev, test, tune)
        series = len(plan.rounds(data))
        jobs = runs.default_jobs(jobs, series)
        done = runs.watched(plan.runs(data, log, jobs), plan.sizes(data) * series, jobs, reporter, output)
    names = [way.name for way in ways]  # random comes last
    runs.results(done, log, names, -1, output, "Chosen and random sentences", ("sentences", "tokens"))
