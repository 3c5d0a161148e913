"""The course of every command that trains: check the options, read, doubt, add resources, fit, save, sum up."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

from dovetail.cli import options
from dovetail.cli.command import place_of
from dovetail.cli.console import count, say, warn_all
from dovetail.cli.corpus import Corpora
from dovetail.cli.formats import CorpusFormat
from dovetail.cli.kinds import KINDS
from dovetail.cli.layers import will_need, will_predict
from dovetail.cli.progress import Reporter, reporting
from dovetail.cli.scores import score
from dovetail.cli.train.domains import Domains
from dovetail.cli.train.doubts import dev_doubts
from dovetail.cli.train.options import DEFAULTS, choices_of, common_options, given_settings, setting_options
from dovetail.cli.train.resources import raw_sentences, word_resources
from dovetail.errors import DovetailError, InputError

ENDING = "Ctrl-C ends training early and saves the best weights so far; the exit code is then 0."
NOISE_WORDS = 5
"""So many raw words are noised for each labelled one: more of them make each pass longer, and say little more."""
STOPPED = {
    "converged": "the objective no longer falls",
    "dev": "the score on dev no longer rises",
    "cross-validation": "after the number of iterations that scored best in cross-validation",
    "limit": "reached the maximum number of iterations",
    "interrupted": "interrupted; these are the best weights so far",
}


class Training:
    """A command that trains: a subclass says what its kind of model has of its own."""

    kind: ClassVar[str]
    """``dovetail train KIND``."""
    model: ClassVar[str]
    """The name of the estimator in ``dovetail``, which is imported when training begins."""
    settings: ClassVar[type]
    """The settings of the estimator."""
    domains: ClassVar[type[Domains] | None] = None
    """How several domains are trained, if they can be."""
    takes: ClassVar[str]
    """The options that are no settings, besides those of all commands."""
    learns: ClassVar[str]
    """What ``--train`` names."""
    own: ClassVar[Mapping[str, Any]] = {}
    """Options that are written otherwise here."""
    first: ClassVar[str] = ""
    """What fitting begins with, if the estimator does not tell."""
    trained_on: ClassVar[Mapping[str, str]] = {"sentences": "sentence", "tokens": "token"}
    """What the card counts of the data, each with its noun."""
    answers: ClassVar[str] = "label"
    """What the model has so many of."""
    too_long: ClassVar[str] = "{} of the training data left out as too long"
    """What is said of so many sentences that training could not use."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.given: Any = SimpleNamespace(**{**DEFAULTS, **values})
        self.chosen = given_settings(self.settings, values)
        self.several = self.domains(values) if self.domains is not None else None
        format = self.given.input_format
        names = options.names(self.given.columns)
        self.corpora = Corpora(CorpusFormat(format.value) if format is not None else None, names, self.given.encoding)

    def run(self) -> None:
        """Train, and write the model."""
        self.check_options()
        given, several = self.given, self.several if self.several is not None and self.several.files else None
        files = several.files if several else {"": given.train} if given.train is not None else {}
        dev_files = several.dev_files if several else {"": given.dev} if given.dev is not None else {}
        pattern = self.new()
        model = several.new(pattern) if several else pattern
        start = type(pattern).load(given.init) if given.init is not None else None
        checkpoint = given.output.with_name(given.output.name + ".checkpoint") if given.resume else None
        began = time.perf_counter()
        with reporting(given.quiet) as reporter:
            data = self.read_all(files, reporter)
            for name, path in files.items():
                self.check_data(data[name], path)
            data = data or {"": []}
            held_out = self.read_all(dev_files, reporter)
            more = self.read_more(reporter)
            warn_all(self.repairs())
            warn_all(several.doubts(self, data, held_out) if several else self.doubts(data[""], held_out.get("")))
            [*every] = data.values()
            self.prepare(pattern, every[0] if len(every) == 1 else list(chain.from_iterable(every)), reporter)
            dev = (held_out if several else held_out.get("")) or None
            if given.ray:
                more["sharing"] = self.sharing(several)
            more |= {"init": start, "checkpoint": checkpoint, "progress": reporter.trained, "doing": reporter.doing}
            model.fit(data if several else data[""], dev=dev, **more)
            seconds = time.perf_counter() - began
            reporter.doing(f"writing {given.output}")
            model.save(given.output, **{name: True for name in ("half", "compact") if getattr(given, name)})
        card = model.card_
        warn_all(self.left_out(card) if several else self.remarks(model, held_out.get("", [])))
        if checkpoint is not None and checkpoint.exists():
            say(f"run the same command again to continue from {checkpoint}")
        if several:
            lines, parts = several.results(self, model, held_out), count(len(model.domains_), "domain")
            lines.append(f"trained in {seconds:.1f} s")
        else:
            lines, parts = self.results(model, held_out.get("", [])), self.parts(model)
            lines = [*pool_lines(card), *template_lines(card), *lines]
            lines += [*([""] if lines else []), f"trained on {self.data(card)} in {seconds:.1f} s"]
        print(*lines, f"stopped: {STOPPED.get(card['stopped'], card['stopped'])}", sep="\n")
        print(f"model: {given.output} ({file_size(given.output)}, {parts})")

    def read_all(self, files: Mapping[str, Path], reporter: Reporter) -> dict[str, list[Any]]:
        """The sentences of files, by their names."""
        found = {}
        for name, path in files.items():
            reporter.doing(f"reading {path}")
            found[name] = self.read(path)
        return found

    def check_options(self) -> None:
        """Refuse options that do not go together."""
        given, chosen = self.given, self.chosen
        if self.several is not None:
            self.several.check_options(given)
        if given.half and given.compact:
            raise DovetailError("--half and --compact are two ways to store weights: choose one (compact is smaller)")
        optimiser = chosen.get("optimiser", getattr(self.settings, "optimiser", None))
        if chosen.get("encoder") is not None and "optimiser" not in chosen:
            optimiser = "adam"  # whatever is usual
        if "batch" in chosen and optimiser == "lbfgs":
            *some, last = [name for name in choices_of(self.settings, "optimiser") if name != "lbfgs"]
            raise DovetailError(f"--batch is for --optimiser {', '.join(some)} or {last}")
        if "gain" in chosen and optimiser not in ("sgd", "adagrad", "adam"):
            raise DovetailError("--gain is for --optimiser sgd, adagrad or adam")
        if "decay" in chosen and optimiser != "adam":
            raise DovetailError("--decay is for --optimiser adam")
        if given.noise_text and "noise" not in chosen:
            raise DovetailError("--noise-text is raw text for noise: choose some, such as --noise dropout:0.5")
        if given.noise_text and self.several is not None and self.several.files:
            raise DovetailError("--noise-text is for one domain: leave it out, or give --train in place of --domain")
        held_out = given.dev is not None or given.dev_domain
        parts = self.parts_held_out()
        if parts and held_out:
            raise DovetailError("--cross-validate is for training without dev data: leave out one of the two")
        if parts and given.domain:
            raise DovetailError("--cross-validate is not for several domains: give --dev-domain, or leave it out")
        if "patience" in chosen and not held_out and parts == 0:
            raise DovetailError("--patience counts scores on dev or in cross-validation, so it needs --dev")
        if missing := [path for path in given.clusters or () if not path.exists()]:
            raise InputError("no such file", missing[0])

    def parts_held_out(self) -> int | None:
        """Into how many parts the training data is dealt where there is no dev; None where the data decides."""
        found: int | None = self.chosen.get("cross_validate", getattr(self.settings, "cross_validate", 0))
        return found

    def new(self) -> Any:
        """The estimator with its settings, which are right, not trained."""
        import dovetail

        model = getattr(dovetail, self.model)(**self.chosen)
        model.check_settings()
        return model

    def prepare(self, model: Any, sentences: Sequence[Any], reporter: Reporter) -> None:
        """Say which layers the model will read, and give it what is known of words."""
        from dovetail.models.layers import learnable

        needed = self.needs(model, sentences)
        known = learnable(needed, sentences) if getattr(model, "predict_layers", False) else []
        warn_all(will_need(self.kind, [name for name in needed if name not in known]))
        for line in will_predict(known):
            say(line)
        self.add_resources(model, reporter)
        if self.given.noise_text:
            words = NOISE_WORDS * sum(map(len, sentences))
            model.noise_text, rest = raw_sentences(self.given.noise_text, self.given.encoding, words)
            if rest:
                say(f"noise: the first {count(len(model.noise_text), 'sentence')} of the raw text, and not the rest")
        if self.first:
            reporter.doing(self.first)

    def sharing(self, several: Domains | None) -> Any:
        """What shares training out over a cluster; an error where it cannot be."""
        if several:
            raise DovetailError("--ray is for one corpus: several domains are trained on one machine")
        from dovetail.machines.objective import Ray
        from dovetail.machines.ray import imported

        imported()
        return Ray()

    # what kinds do in ways of their own

    def read(self, path: Path) -> list[Any]:
        """The sentences of a file."""
        return self.corpora.sentences(path)

    def read_more(self, reporter: Reporter) -> dict[str, Any]:
        """What else ``fit`` is given."""
        return {}

    def check_data(self, sentences: Sequence[Any], path: Path) -> None:
        """An error if there is nothing to learn from in the file that was read."""
        self.corpora.check_training(sentences, path)

    def repairs(self) -> list[str]:
        """What had to be repaired in the files."""
        return list(self.corpora.report.lines())

    def doubts(self, sentences: Sequence[Any], dev: Sequence[Any] | None) -> list[str]:
        """What a careful user would ask about the data."""
        return dev_doubts(sentences, dev)

    def needs(self, model: Any, sentences: Sequence[Any]) -> list[str]:
        """The layers that the model will read besides the words."""
        return [name for name in model.features_for(sentences).columns if name != "word"]

    def add_resources(self, model: Any, reporter: Reporter) -> None:
        """Give the model what raw text, clusters, vectors and lists say of words; some models know clusters alone."""
        real = hasattr(model, "resources")
        made = word_resources(reporter, self.given, model.threads, real)
        if real:
            model.resources = made
        elif made:
            made.pop("casing", None)
            model.clusters = made

    def remarks(self, model: Any, dev: Sequence[Any]) -> list[str]:
        """What a careful user would ask about the trained model."""
        return self.left_out(model.card_)

    def left_out(self, card: Mapping[str, Any]) -> list[str]:
        """What training could not use."""
        some = card.get("left_out")
        return [self.too_long.format(count(some, "sentence"))] if some else []

    def results(self, model: Any, dev: Sequence[Any]) -> list[str]:
        """The scores on dev, as ``dovetail evaluate`` prints them."""
        from dovetail.evaluate import scores_table

        if not dev:
            return cross_validation_lines(model.card_)
        found, kind = list(model.annotate(dev)), KINDS.get(self.kind)
        scores = scores_table(score(dev, found, model.target)) if kind is None else kind.report(kind.scores(dev, found))
        return [scores]

    def data(self, card: Mapping[str, Any]) -> str:
        """What the model was trained on."""
        return ", ".join(count(card[name], noun) for name, noun in self.trained_on.items())

    def parts(self, model: Any) -> str:
        """How large the model is, besides its bytes."""
        return count(len(model.classes_), self.answers)


def cross_validation_lines(card: Mapping[str, Any]) -> list[str]:
    """The score that took the place of one on dev, if there is one."""
    if "cross_validated" not in card:
        return []
    return [f"cross-validated: {card['cross_validated']:.2f} ({count(card['parts'], 'part')} held out in turn)"]


def command_of(training: type[Training]) -> Callable[..., None]:
    """The function that typer makes a command of."""

    def train(**values: Any) -> None:
        training(values).run()

    own = setting_options(training.settings)
    several = setting_options(training.domains.settings) if training.domains is not None else ()
    all_of_them = [*common_options(training.takes, training.learns, training.own), *several, *own]
    train.__name__ = f"train_{training.kind}"
    train.__doc__ = f"{inspect.getdoc(training)}\n\n{ENDING}"
    return options.with_parameters(train, sorted(all_of_them, key=lambda one: place_of(one.name)))


def template_lines(card: Mapping[str, Any]) -> list[str]:
    """Which templates were selected, the weightiest first, and which were not."""
    if "templates" not in card:
        return []
    kept, dropped = card["templates"]["kept"], card["templates"]["dropped"]
    lines = [f"{norm:8.2f}  {name}" for name, norm in sorted(kept.items(), key=lambda one: -one[1])]
    gone = f"{count(len(dropped), 'template')} dropped: {'; '.join(dropped)}" if dropped else "no template dropped"
    return [f"{count(len(kept), 'template')} kept, with the norm of their weights:", *lines, gone, ""]


def pool_lines(card: Mapping[str, Any]) -> list[str]:
    """The experts of a pool, and how much each counts."""
    shares = card.get("pool", {})
    return ["experts:", *(f"{share:8.3f}  {name}" for name, share in shares.items()), ""] if shares else []


def file_size(path: Path) -> str:
    """How large a file is."""
    stored = path.stat().st_size
    return f"{stored / 1e6:.1f} MB" if stored >= 1e5 else f"{stored / 1e3:.0f} kB"
