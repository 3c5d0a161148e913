"""``dovetail tune KIND``: settings that suit the training data, found by cross-validation inside it."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping
from enum import StrEnum
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from dovetail.cli import options
from dovetail.cli.command import Commands, place_of
from dovetail.cli.config import flag_name, given_options, role_names, write_config
from dovetail.cli.console import count, say, warn_all
from dovetail.cli.curve import describe_seconds
from dovetail.cli.options import Param, option
from dovetail.cli.paths import Reads, Writes, roles
from dovetail.cli.progress import Reporter, reporting
from dovetail.cli.train import KINDS
from dovetail.cli.train.options import COMMON, common_options, setting_options
from dovetail.cli.train.training import Training

if TYPE_CHECKING:
    from dovetail.tuning import Search, Verdict

LOG = ".trials"
"""The ending of the log beside the configuration."""
LEFT_OUT = frozenset(
    "dev domain dev_domain expectations trees_only entities_only save_clusters init resume half compact read_config "
    "save_config output ray scratch".split()
)
"""Options of training that a search has no use for."""
OWN: dict[str, tuple[Any, Param]] = {
    "output": (Path, options.output("TOML", "Write settings here, for train --config.", Writes(beside=(LOG,)))),
    "candidates": (int, option("N", "Number of settings to try at first, the defaults among them.", default=12, min=2)),
    "jobs": (int, option("N", "Number of models to train at a time, one per core.", default=1, min=1,
                         shown="1, on all cores")),
    "ray": (bool, options.RAY),
}  # fmt: skip

app = Commands("Find the settings that suit your training data.")


class Tuning:
    """A search of the settings of a kind of model: everything that training does before it fits, then the search."""

    def __init__(self, training: type[Training], values: Mapping[str, Any]) -> None:
        every = {name: None for name in (*COMMON, *_domain_settings(training))}
        switches = {name: one.default for name, (_, one) in COMMON.items() if one.default is False}
        self.training = training({**every, **switches, **values})
        self.kind, self.values = training, values
        self.output: Path = values["output"]
        self.log = self.output.with_name(self.output.name + LOG)

    def run(self, context: Any) -> None:
        """Search, write the settings, and say what was found."""
        training, values = self.training, self.values
        training.check_options()
        model = training.new()
        with reporting(values["quiet"]) as reporter:
            [sentences] = training.read_all({"": values["train"]}, reporter).values()
            training.check_data(sentences, values["train"])
            training.read_more(reporter)
            warn_all(training.repairs())
            warn_all(training.doubts(sentences, None))
            training.prepare(model, sentences, reporter)
            search = self.search(model, sentences, context)
            search.check()
            self.carry_out(search, reporter)
        verdict = search.verdict()
        about = f"Settings for dovetail train {self.kind.kind} --config; found by dovetail tune {self.kind.kind}."
        known = roles(inspect.unwrap(context.command.callback))
        given = {name: v for name, v in given_options(context).items() if name not in OWN}
        names = {p.name: flag_name(p) for p in context.command.params}
        chosen = {names[name]: value for name, value in verdict.settings.items()}
        write_config(self.output, given | chosen, role_names(known, context.command.params), about)
        print("\n".join(lines_of(verdict)))
        print(f"{self.output}: dovetail train {self.kind.kind} --config {self.output} --output FILE")

    def search(self, model: Any, sentences: list[Any], context: Any) -> Search:
        """The search: what was given stays, and the rest is searched."""
        from dovetail.tuning import Search, TuneData

        fixed = tuple(sorted(training_settings(self.kind, context)))
        resources = getattr(getattr(model, "features", None), "resources", {})
        data = TuneData(model, sentences, dict(resources), self.sources(context))
        return Search(data, self.values["candidates"], self.values.get("seed") or 1, fixed=fixed)

    def sources(self, context: Any) -> list[Any]:
        """The options that were given, and what is in the files that they name."""
        from dovetail.curves.configurations import contents_of

        known = roles(inspect.unwrap(context.command.callback))
        found: list[Any] = []
        for name, value in self.values.items():
            given = context.get_parameter_source(name)
            if given is None or given.name == "DEFAULT" or name in ("quiet", "threads", *OWN):
                continue
            listed = [str(one) for one in (value if isinstance(value, list) else [value])]
            found.append([name, listed])
            if isinstance(known.get(name), Reads):
                paths = [Path(one.rpartition("=")[2]) for one in listed]
                found += [contents_of(path) for path in paths if path.exists()]
        return found or [sha256(b"").hexdigest()]

    def carry_out(self, search: Search, reporter: Reporter) -> None:
        """All trials, with a word about each."""
        from dovetail.tuning import tuning_log

        log, fresh, seconds, kept = tuning_log(self.log), 0, 0.0, 0
        jobs: Any = "ray" if self.values["ray"] else self.values["jobs"]
        workers = (os.cpu_count() or 1) if jobs == "ray" else jobs
        try:
            for step in search.run(log, jobs, self.values.get("threads")):
                if step.was_there:
                    kept += 1
                    continue
                if not fresh and kept:
                    reporter.doing(f"{count(kept, 'trial')} done already, in {self.log}")
                fresh, seconds = fresh + len(step.outcome.parts), seconds + step.outcome.seconds
                left = seconds / fresh * (step.of - step.done) / workers
                told = f"round {step.rung}, best {step.best:.2f}; about {describe_seconds(left)} left"
                reporter.standing(step.done, step.of, told, f"model {step.done} of {step.of}")
        except KeyboardInterrupt:
            say(f"{count(len(log.runs), 'trial')} saved in {self.log}; run the same command again to continue")
            raise


def training_settings(training: type[Training], context: Any) -> set[str]:
    """The settings of the model that were given as options."""
    own = {one.name for one in setting_options(training.settings)}
    found = set()
    for name in own:
        source = context.get_parameter_source(name)
        if source is not None and source.name != "DEFAULT":
            found.add(name)
    return found


def _domain_settings(training: type[Training]) -> list[str]:
    return [one.name for one in setting_options(training.domains.settings)] if training.domains is not None else []


def lines_of(verdict: Verdict) -> list[str]:
    """What was found, for people: those that came to the end, and what was chosen.

    A score is that of all parts that were held out. Differences are to the defaults, with their standard errors.
    """
    from dovetail.evaluate.report import align_columns
    from dovetail.tuning.search import PARTS
    from dovetail.tuning.trials import described

    usual = next(one for one in verdict.finalists if not one.settings)
    rows = [["settings", "cross-validated", "to the defaults"]]
    for one in verdict.finalists:
        told = "" if one is usual else str(one.gain(usual, PARTS))
        rows.append([described(one.settings), f"{one.score:.2f}", told])
    tried = len(verdict.everything)
    if verdict.settings:
        last = f"best of {tried}: {described(verdict.settings)}"
    else:
        last = f"the defaults stay: none of {tried} settings is better by more than the noise"
    return [align_columns(rows), "", last]


def command_of(training: type[Training]) -> Callable[..., None]:
    """The function that typer makes a command of."""

    def tune(context: typer.Context, **values: Any) -> None:
        Tuning(training, {name: v.value if isinstance(v, StrEnum) and name not in SETTINGS else v
                          for name, v in values.items()}).run(context)  # fmt: skip

    SETTINGS = {one.name for one in setting_options(training.settings)} | {"input_format"}
    common = [one for one in common_options(training.takes, training.learns, training.own)
              if one.name not in LEFT_OUT and one.name != "train"]  # fmt: skip
    own = [one.named(name, type_) for name, (type_, one) in OWN.items()]
    required = training.own.get(
        "train", (Path, option("FILE", f"{training.learns}.", Reads(), default=options.REQUIRED))
    )
    train = required[1].named("train", required[0])
    every = [train, *common, *own, *setting_options(training.settings)]
    tune.__name__ = f"tune_{training.kind}"
    tune.__doc__ = (
        f"Find settings for dovetail train {training.kind}.\n\n"
        "Settings are tried by cross-validation inside the training data: many on a part of it, better ones on more. "
        "The best replace the defaults if they are better by more than the noise. Options given here stay as they are. "
        f"Finished trials are saved in OUTPUT{LOG}: after Ctrl-C the same command continues."
    )
    first = inspect.Parameter("context", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context)
    return options.with_parameters(tune, [first, *sorted(every, key=lambda one: place_of(one.name))])


for kind in KINDS:
    app.command(kind.kind)(command_of(kind))
