"""``dovetail simulate``: what active learning would have saved, tried out on text that is labelled already."""

from __future__ import annotations

from typing import Annotated

import typer

from dovetail.cli import options, runs
from dovetail.cli.corpus import Corpora, CorpusFormat
from dovetail.cli.progress import reporting
from dovetail.cli.select import Discount, Diversity, Measure


def simulate(
    train: runs.Train,
    dev: runs.Dev,
    output: runs.Output,
    start: Annotated[int, typer.Option(metavar="N", min=1, help="Random sentences to begin with.")] = 100,
    step: Annotated[int, typer.Option(metavar="N", min=1, help="Sentences chosen a round.")] = 100,
    until: Annotated[int, typer.Option(metavar="N", min=1, help="Sentences at the end.")] = 1000,
    by: Annotated[
        list[Measure] | None,
        typer.Option(
            "--by",
            help="How to choose; may be repeated. Random choice is always there.",
            show_default="sequence-entropy",
        ),
    ] = None,
    discount: Discount = 0.0,
    diversity: Diversity = 0.0,
    draws: runs.Draws = 3,
    settings: Annotated[
        str,
        typer.Option("--settings", metavar="SETTING=VALUE,...", help="Of the tagger, such as features=plain,l2=1."),
    ] = "",
    test: runs.Test = None,
    tune: runs.Tune = True,
    input_format: Annotated[
        CorpusFormat | None, typer.Option(help="Of all files.", show_default="told by the name, else conll")
    ] = None,
    columns: options.Columns = None,
    encoding: options.Encoding = "utf-8",
    seed: runs.Seed = 1,
    jobs: runs.Jobs = None,
    quiet: options.Quiet = False,
) -> None:
    """Compare chosen with random sentences: label a few, train, choose the next ones, train again.

    The labels are there already, so nobody need wait for them. Finished runs are kept in FOLDER: after Ctrl-C the
    same command goes on. Example:

    dovetail simulate --train T --dev D --start 100 --step 100 --until 1000 --output simulation
    """
    from dovetail.active.simulation import Simulation, Strategy
    from dovetail.active.uncertainty import SUMS
    from dovetail.curves import curves_of, curves_table, parse_configuration, savings

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
    runs.warn_of_strangers(log, done)
    order = {way.name: number for number, way in enumerate(ways)}
    curves = curves_of(sorted(done, key=lambda run: order.get(run.series, len(order))))  # random last
    runs.write_results(curves, output, "Chosen and random sentences", runs.metric_of(done), ("sentences", "tokens"))
    print(curves_table(curves))
    for line in savings(curves, curves[-1]):
        print(line)
