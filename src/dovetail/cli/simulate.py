"""``dovetail simulate``: what active learning would have saved, tried out on text that is labelled already."""

from __future__ import annotations

from typing import Annotated

import typer

from dovetail.cli import options, runs
from dovetail.cli.corpus import Corpora
from dovetail.cli.progress import reporting
from dovetail.cli.select import Discount, Diversity, Measure


def simulate(
    train: runs.Train,
    dev: runs.Dev,
    output: runs.Output,
    start: Annotated[int, typer.Option(metavar="N", min=1, help="Number of random sentences to start with.")] = 100,
    step: Annotated[int, typer.Option(metavar="N", min=1, help="Number of sentences to add in each round.")] = 100,
    until: Annotated[int, typer.Option(metavar="N", min=1, help="Number of sentences to stop at.")] = 1000,
    by: Annotated[
        list[Measure] | None,
        typer.Option(
            "--by",
            help="Measure of uncertainty; may be repeated. Random choice is always included.",
            show_default="sequence-entropy",
        ),
    ] = None,
    discount: Discount = 0.0,
    diversity: Diversity = 0.0,
    draws: runs.Draws = 3,
    settings: Annotated[
        str,
        typer.Option(
            "--settings", metavar="SETTING=VALUE,...", help="Settings of the tagger, such as features=plain,l2=1."
        ),
    ] = "",
    test: runs.Test = None,
    tune: runs.Tune = True,
    input_format: options.InputFormat = None,
    columns: options.Columns = None,
    encoding: options.Encoding = "utf-8",
    seed: runs.Seed = 1,
    jobs: runs.Jobs = None,
    quiet: options.Quiet = False,
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
